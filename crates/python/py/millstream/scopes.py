"""Names under name scopes: taken out of one, put into one. For what is exported from a part of a graph, and imported into one."""

from __future__ import annotations

import re
from typing import Any, Optional

# What may stand before a name: a control input's mark, a colocation's.
_MARK = r"([\^]|loc:@|^)"


def strip_name_scope(name: Any, export_scope: Optional[str]) -> Any:
    """`a/b` of scope `a` is `b`."""
    if not export_scope:
        return name
    scope = re.escape(export_scope.rstrip("/"))
    return re.sub(_MARK + scope + r"[\/]+(.*)", r"\1\2", _text(name), count=1)


def prepend_name_scope(name: Any, import_scope: Optional[str]) -> Any:
    """`b` in scope `a` is `a/b`."""
    if not import_scope:
        return name
    scope = import_scope.rstrip("/")
    return re.sub(_MARK + r"(.*)", lambda m: f"{m.group(1)}{scope}/{m.group(2)}", _text(name), count=1)


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
