"""Programs with flags (`tf.app`): `tf.app.run()` reads the command line and calls `main(argv)`."""

import sys
from typing import Any, Callable, List, Optional

from millstream import flags


def run(main: Optional[Callable[[List[str]], Any]] = None, argv: Optional[List[str]] = None) -> None:
    """Parses flags, calls `main` with the remaining arguments, and exits with its result.

    Undefined flags are left in `argv`.

    Args:
      main: A function of a list of strings; by default that of the program.
      argv: The command line; `sys.argv` by default.

    Raises:
      SystemExit: Always, at the end.

    Example:
      >>> try:
      ...     tf.app.run(lambda argv: print(argv[1:]), ["program", "input.txt"])
      ... except SystemExit as end:
      ...     print(end.code)
      ['input.txt']
      None
    """
    from absl import app

    def read(arguments: List[str]) -> Any:
        return flags.FLAGS(arguments, known_only=True)

    app.run(main or sys.modules["__main__"].main, argv=argv, flags_parser=read)
