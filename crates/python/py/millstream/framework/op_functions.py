"""Op types as functions, created at first use: `op("AddV2")(x, y)`, `raw("AddV2")(x=x, y=y)`.

Names and arguments are TensorFlow 1.15's (`_generated/api.py`); ops that TensorFlow lacks have their own.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream import _engine

# An op's function has docs of its own, written at first use.
setattr(_engine.OpType, "__doc__", property(_engine.OpType._doc))

_made: Dict[Tuple[str, str], Any] = {}

# For public names, functions that return another form of the function of an op: one that also takes rows.
forms: Dict[str, Callable[[Any], Any]] = {}


def _parameters(op: str) -> Optional[List[Tuple[str, str, Any]]]:
    from millstream._generated.api import ARGUMENTS

    text = ARGUMENTS.get(op)
    if text is None:
        return None
    parameters: List[Tuple[str, str, Any]] = []
    for part in _words(text):
        name, _, default = part.partition("=")
        name, _, word = name.partition("->")
        parameters.append((name, word or name, (_default(default),) if default else None))
    return parameters


def _default(text: str) -> Any:
    """Returns a default as a value.

    For the text of a message it is None, which means the op's own default.
    """
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None


def _words(text: str) -> List[str]:
    """Splits a signature; quoted defaults may hold spaces."""
    words, word, quote = [], "", ""
    for c in text:
        if quote or c != " ":
            word += c
            quote = "" if c == quote else quote or (c if c in "'\"" else "")
        elif word:
            words.append(word)
            word = ""
    return words + [word] if word else words


def op(name: str, public: str = "") -> Any:
    """Returns the op type `name` as a function with positional arguments, named `public` after `tf.`."""
    return _get(name, public or name, False)


def raw(name: str) -> Any:
    """Returns the op type `name` as a function with keyword arguments."""
    return _get(name, "raw_ops." + name, True)


def _get(name: str, public: str, keyword_only: bool) -> Any:
    found = _made.get((name, public))
    if found is None:
        space, _, short = public.rpartition(".")
        module = "millstream." + space if space else "millstream"
        # One function for all threads: programs compare functions, and set attributes on them.
        made = _engine.OpType(name, short, _parameters(name), keyword_only, module)
        form = None if keyword_only else forms.get(public)
        found = _made.setdefault((name, public), made if form is None else form(made))
    return found


def is_made(name: str) -> bool:
    """Returns whether the function of an op type has been asked for by the package or a program."""
    return any(made == name for made, _ in tuple(_made))
