"""Names relative to name scopes, for exported and imported parts of graphs."""

from __future__ import annotations

import re
from typing import Any, Optional

# Prefixes of names: the mark of a control input or of a colocation group.
_MARK = r"([\^]|loc:@|^)"


def strip_name_scope(name: Any, export_scope: Optional[str]) -> Any:
    """Returns a name relative to a scope: `a/b` relative to `a` is `b`.

    Args:
      name: The name.
      export_scope: The scope, or None.

    Example:
      >>> tf.contrib.framework.strip_name_scope("a/b", "a")
      'b'
    """
    if not export_scope:
        return name
    scope = re.escape(export_scope.rstrip("/"))
    return re.sub(_MARK + scope + r"[\/]+(.*)", r"\1\2", _text(name), count=1)


def prepend_name_scope(name: Any, import_scope: Optional[str]) -> Any:
    """Returns a name within a scope: `b` within `a` is `a/b`.

    Args:
      name: The name.
      import_scope: The scope, or None.

    Example:
      >>> tf.contrib.framework.prepend_name_scope("b", "a")
      'a/b'
    """
    if not import_scope:
        return name
    scope = import_scope.rstrip("/")
    return re.sub(_MARK + r"(.*)", lambda m: f"{m.group(1)}{scope}/{m.group(2)}", _text(name), count=1)


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
