"""`python -m millstream check`: which names of TensorFlow a program uses that are missing here, or differ.

Programs are read, not run. A name is a chain of attributes that starts at an import of `tensorflow` or of
something in it, or at a variable that such a chain was assigned to (`slim = tf.contrib.slim`). Attributes of
objects that functions return are not followed.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import types
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from millstream.framework import left_out
from millstream.programs import modules
from millstream.programs.inside import absent


class Use(NamedTuple):
    """A use of a name: its path without `tensorflow.`, and the line."""

    path: str
    line: int


class _Uses(ast.NodeVisitor):
    """Finds the uses in a file."""

    def __init__(self) -> None:
        # The paths of variables; the empty path is `tensorflow`.
        self.variables: Dict[str, str] = {}
        self.found: List[Use] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            head, _, path = alias.name.partition(".")
            if head == "tensorflow":
                self.variables[alias.asname or head] = path if alias.asname else ""
                if path:
                    self.found.append(Use(path, node.lineno))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        head, _, path = (node.module or "").partition(".")
        if head != "tensorflow" or node.level:
            return
        for alias in node.names:
            if alias.name == "*":
                self.found.append(Use(path, node.lineno))
                continue
            full = (path + "." + alias.name).lstrip(".")
            self.variables[alias.asname or alias.name] = full
            self.found.append(Use(full, node.lineno))

    def visit_Assign(self, node: ast.Assign) -> None:
        path = self.path(node.value)
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and path is not None and modules.is_module(path):
                self.variables[target.id] = path
            else:
                self.visit(target)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self.path(node)
        if path is None:
            self.generic_visit(node)
        else:
            self.found.append(Use(path, node.lineno))

    def path(self, node: ast.AST) -> Optional[str]:
        """Returns the path of a chain of attributes, or None."""
        if isinstance(node, ast.Name):
            return self.variables.get(node.id)
        if isinstance(node, ast.Attribute):
            above = self.path(node.value)
            return None if above is None else (above + "." + node.attr).lstrip(".")
        return None


def uses(source: str) -> List[Use]:
    """Returns the uses of TensorFlow's names in a program.

    Raises:
      SyntaxError: The text is not a program.
    """
    visitor = _Uses()
    visitor.visit(ast.parse(source))
    return visitor.found


def judged(path: str) -> Tuple[str, str, str]:
    """Returns the name that decides about a path, its kind ("there", "differs" or a reason's) and a text."""
    at, value = "", None
    for part in path.split(".") if path else []:
        full = (at + "." + part).lstrip(".")
        if value is None and modules.is_module(full):
            at = full
            continue
        try:
            value = modules.attribute(at, part) if value is None else getattr(value, part)
        except (AttributeError, ImportError) as error:
            if isinstance(error.__cause__, ImportError):
                return full, "not installed", str(error)
            return full, *modules.missing(full)
        at = full
        if absent.is_refused(value):
            return at, *modules.missing(at)
        if left_out.different(at):
            return at, "differs", str(left_out.different(at))
        if not isinstance(value, (type, types.ModuleType)):
            break  # The attributes of objects are not known.
    return at, "there", ""


def files(arguments: List[str]) -> Iterator[str]:
    """Yields the files, and the `.py` files of folders."""
    for argument in arguments:
        if not os.path.isdir(argument):
            yield argument
            continue
        for folder, _, names in sorted(os.walk(argument)):
            yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".py"))


def report(arguments: List[str]) -> Dict[str, Any]:
    """Returns the names in files and folders with their kinds, texts and places, and the files without."""
    found: Dict[str, Dict[str, Any]] = {}
    unread: Dict[str, str] = {}
    n_files = 0
    for file in files(arguments):
        n_files += 1
        try:
            with open(file, encoding="utf-8-sig") as source:
                here = uses(source.read())
        except (OSError, SyntaxError, ValueError) as error:
            unread[file] = str(error)
            continue
        for path, line in here:
            name, kind, text = judged(path)
            entry = found.setdefault(name, {"kind": kind, "text": text, "places": []})
            entry["places"].append("%s:%d" % (file, line))
    return {"files": n_files, "names": dict(sorted(found.items())), "unread": unread}


_USAGE = """usage: python -m millstream check [--json] FILE_OR_FOLDER..

Lists, without running anything, which of the TensorFlow names that programs use are missing here, or differ. Folders
are searched for `.py` files. The exit status is 1 if a name is missing or a file cannot be read.

  --json      print all names, with their kinds and places, as JSON
  -h, --help  print this text
"""


def main(arguments: List[str]) -> int:
    """Prints the report on files and folders; returns 1 if a name is missing or a file cannot be read."""
    if "-h" in arguments or "--help" in arguments:
        print(_USAGE, end="")
        return 0
    as_json = "--json" in arguments
    result = report([a for a in arguments if a != "--json"])
    if not result["files"]:
        print(_USAGE, end="", file=sys.stderr)
        return 2
    names = {name: entry for name, entry in result["names"].items() if name}
    kinds = [entry["kind"] for entry in names.values()]
    n_there, n_differ = kinds.count("there"), kinds.count("differs")
    n_missing = len(kinds) - n_there - n_differ
    if as_json:
        print(json.dumps(result, indent=1))
    else:
        for name, entry in names.items():
            if entry["kind"] != "there":
                places = entry["places"]
                more = " and %d more" % (len(places) - 3) if 3 < len(places) else ""
                text = "differs: " + entry["text"] if entry["kind"] == "differs" else entry["text"]
                print("%s (%s%s)\n    %s" % (left_out.named(name), ", ".join(places[:3]), more, text))
        for file, why in result["unread"].items():
            print("%s\n    cannot be read: %s" % (file, why))
        print("files: %d, names: %d, there: %d, different: %d, missing: %d" % (result["files"], len(names), n_there, n_differ, n_missing))
    return 1 if n_missing or result["unread"] else 0

