"""Programs with flags (`tf.app`): `tf.app.run()` reads the command line and calls `main(argv)`."""

import sys
from typing import Any, Callable, List, Optional

from millstream import flags


def run(main: Optional[Callable[[List[str]], Any]] = None, argv: Optional[List[str]] = None) -> None:
    """Reads the flags, calls `main` (that of the program, by default) with what is no flag, and exits with what it returns.

    Flags that nobody defined are left in `argv`.
    """
    from absl import app

    def read(arguments: List[str]) -> Any:
        return flags.FLAGS(arguments, known_only=True)

    app.run(main or sys.modules["__main__"].main, argv=argv, flags_parser=read)
