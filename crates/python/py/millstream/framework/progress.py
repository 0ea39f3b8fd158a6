"""Display of the progress of long runs: the engine reports it, this module writes it."""

from __future__ import annotations

import sys
import time
from typing import Any

# The interval in seconds between lines where a line cannot be overwritten.
_EVERY = 10.0


class ProgressBlock:
    """The context manager of `Session.progress`."""

    def __init__(self, session: Any, file: Any) -> None:
        self._session = session
        self._file = file

    def __enter__(self) -> Any:
        show = _Notebook() if self._file is None and _in_notebook() else _Line(self._file)
        self._session._show_progress(show)
        return self._session

    def __exit__(self, *why: Any) -> None:
        self._session._hide_progress()


def _in_notebook() -> bool:
    # A program in a notebook has imported IPython.
    shell = sys.modules.get("IPython")
    shell = shell and shell.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Line:
    """A line of a terminal that is overwritten, or successive lines of a file."""

    def __init__(self, file: Any) -> None:
        self._given = file
        self._width = 0
        self._next = 0.0

    @property
    def _file(self) -> Any:
        # Looked up for each line, as `print` does.
        return sys.stderr if self._given is None else self._given

    def __call__(self, text: str, over: bool) -> None:
        file = self._file
        if file is None:  # The program has no console.
            return
        if getattr(file, "isatty", lambda: False)():
            self._rewrite(file, text, over)
        elif over or self._next <= time.monotonic():
            self._next = 0.0 if over else time.monotonic() + _EVERY
            file.write(text + "\n")
        file.flush()

    def _rewrite(self, file: Any, text: str, over: bool) -> None:
        import shutil

        # A wrapped line could not be overwritten.
        text = text[: max(shutil.get_terminal_size().columns - 1, 20)]
        file.write("\r" + text.ljust(self._width) + ("\n" if over else ""))
        self._width = 0 if over else len(text)


class _Notebook:
    """A changing text in a cell's output."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, text: str, over: bool) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)
        if over:
            self._handle = None
