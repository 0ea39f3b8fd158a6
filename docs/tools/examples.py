"""Lets mkdocstrings show examples as code: it knows the section "Examples", ours is "Example"."""

from typing import Any

import griffe


class Examples(griffe.Extension):
    """Renames the section while the sources are read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Renames the section in an object's docstring."""
        if obj.docstring:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")
