"""Comments and docstrings wrap at the width of the code, 110 columns, as CONTRIBUTING.md asks."""

import ast
import io
import pathlib
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[3]
WIDTH = 110


def sources():
    for folder in ("crates/python/py", "crates/python/public", "crates/python/tests", "crates/python/tools", "docs", "examples/python", "tests/golden"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def docstring_lines(tree, lines):
    """The numbers of the lines in docstrings, without their examples."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if ast.get_docstring(node, clean=False) is None:
            continue
        in_example = False
        for number in range(node.body[0].lineno, node.body[0].end_lineno + 1):
            line = lines[number - 1].strip()
            in_example = line.startswith(">>>") or in_example and line != ""
            if not in_example:
                yield number


def too_wide(path):
    """The numbers of the lines of prose that are too wide. A link, which cannot be broken, is exempt."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    wide = {number for number, line in enumerate(lines, 1) if len(line) > WIDTH and " " in line.strip(" #")}
    wide_prose = wide & set(docstring_lines(ast.parse(text), lines)) if wide else set()
    comments = {number for number in wide if lines[number - 1].lstrip().startswith("#")}
    if comments:  # Some may be lines of a string. Only the tokens tell, which take seconds for all files.
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        wide_prose |= comments & {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    return sorted(wide_prose)


def test_comments_and_docstrings_wrap():
    findings = [f"{path.relative_to(ROOT)}:{number}" for path in sources() for number in too_wide(path)]
    assert not findings, f"wider than {WIDTH} columns: " + " ".join(findings)
