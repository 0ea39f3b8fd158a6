"""`python -m millstream program.py ..` runs a TensorFlow 1 program; `.. check program.py` reads it."""

from __future__ import annotations

import os
import platform
import runpy
import sys
from typing import List

import numpy

import millstream
from millstream.programs import check

_USAGE = """usage: python -m millstream PROGRAM.py [ARGUMENTS..]
       python -m millstream -m MODULE [ARGUMENTS..]
       python -m millstream check [--json] FILE_OR_FOLDER..
       python -m millstream --version

Runs a program written for TensorFlow 1, in which `import tensorflow` is Millstream; or lists, without running
anything, which of the TensorFlow names that programs use are missing here, or differ; or prints the versions, the
engine's features and the processor.
"""


def main(arguments: List[str]) -> int:
    """Runs the command of these arguments and returns the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "--version":
        print(about())
        return 0
    if arguments[0] == "check":
        return check.main(arguments[1:])
    if arguments[0] == "-m" and (len(arguments) < 2 or arguments[1] in ("-h", "--help")):
        print(_USAGE, end="", file=sys.stdout if 1 < len(arguments) else sys.stderr)
        return 0 if 1 < len(arguments) else 2
    millstream.as_tensorflow()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    if not os.path.exists(arguments[0]):
        print("python -m millstream: there is no file %r" % arguments[0], file=sys.stderr)
        return 2
    # As `python program.py` has them: the arguments, and the program's folder to import from.
    sys.argv, sys.path[0] = arguments, os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


def about() -> str:
    """Returns the versions, the engine's features and the processor, a line each."""
    lines = ["millstream %s" % millstream._engine.__about__, "interface: TensorFlow %s" % millstream.__version__]
    lines.append("python: %s %s, numpy %s" % (platform.python_implementation(), platform.python_version(), numpy.__version__))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
