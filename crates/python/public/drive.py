"""Runs one public program in this process and writes the numbers that it fetches.

    python drive.py NAME FOLDER RESULT.json [SHAKE]             # under TensorFlow
    python -m millstream drive.py NAME FOLDER RESULT.json       # under Millstream

With SHAKE, such as 1e-7, each initial value of a variable is changed by a random part of it, of about
that size.
"""

import importlib
import os
import random
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import numpy as np  # noqa: E402

import watch  # noqa: E402


def main():
    """Prepares the data, watches the sessions, runs the program, and writes what was seen."""
    name, folder, result = sys.argv[1:4]
    program = importlib.import_module("programs." + name)
    for needed in tuple(getattr(program, "USES", ())) + (name,):
        if getattr(importlib.import_module("programs." + needed), "PYTHON_2", False):
            watch.to_python_3(os.path.join(folder, needed))
        sys.path.insert(0, os.path.join(folder, needed))
    sys.path.append(os.path.join(HERE, "stand_ins"))
    data = os.path.join(folder, "data-made")
    os.mkdir(data)
    random.seed(1)
    np.random.seed(1)
    program.prepare(data)
    os.chdir(os.path.join(folder, name))
    random.seed(1)
    np.random.seed(1)
    records = watch.Records(result, float((sys.argv[4:] or [0])[0]))
    try:
        program.drive(data, records)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    records.write()
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads that a program leaves behind


if __name__ == "__main__":
    main()
