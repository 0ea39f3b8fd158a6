"""The documentation's Python code runs and prints what it says, and its generated parts are fresh.

The blocks of a page run in order, in one namespace and a folder of their own. A comment at the end of a line
with a `print` is what the line prints. A block of text titled "prints" tells all that the block above prints,
or the error that ends it; "..." matches anything. Blocks with `import torch` or `import jax` run where these
are installed. Commands of `python -m millstream` run, with the files that
a block's title names. `python test_pages.py PAGE` runs the blocks of a page.
"""

import contextlib
import functools
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import traceback

import numpy
import pytest

import millstream as tf

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.S | re.M)


def pages():
    """Returns the pages, and the README."""
    return sorted(p.name for p in (DOCS / "pages").glob("*.md")) + ["../../README.md"]


def fits(said, printed):
    """Returns whether a text is what was said: "..." matches anything, and lines may break anywhere."""
    # Older versions of NumPy print scalars without their type.
    pattern = re.escape(" ".join(said.split())).replace(r"\ \.\.\.", ".*").replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, " ".join(printed.split()), re.S) is not None


@functools.lru_cache(maxsize=None)
def installed(name):
    """Returns whether a framework is there, whose blocks are skipped otherwise."""
    return importlib.util.find_spec(name) is not None


class Page:
    """A page whose blocks run."""

    def __init__(self, name):
        self.name = name
        self.text = (DOCS / "pages" / name).read_text(encoding="utf-8")
        self.space = {"__name__": "page"}
        self.printed = ""

    def blocks(self):
        """Yields the language, the options, the text and the line of each block."""
        for found in BLOCK.finditer(self.text):
            yield found.group(1), found.group(2), found.group(3), self.text.count("\n", 0, found.start()) + 2

    def run(self):
        """Runs all blocks. Raises `AssertionError` where a block does not do what the page says."""
        last = None
        for language, options, text, line in self.blocks():
            where = "%s:%d" % (self.name, line)
            title = re.search(r'title="([^"]*)"', options)
            if language == "python" and any(not installed(name) for name in re.findall(r"^import (torch|jax)$", text, re.M)):
                continue
            if language == "python":
                assert last is None, "%s ended with an error that the page does not show: %s" % last
                if title:
                    pathlib.Path(title.group(1)).write_text(text, encoding="utf-8")
                else:
                    last = self.python(text, line, where)
            elif language == "text" and title and title.group(1) == "prints":
                printed, last = self.printed if last is None else last[1], None
                assert fits(text, printed), "%s says\n%sbut this is printed:\n%s" % (where, text, printed)
            elif language == "console":
                self.console(text, where)
        assert last is None, "%s ended with an error that the page does not show: %s" % last

    def python(self, text, line, where):
        """Runs a block. Returns its place and the text of its error, or None."""
        said = {n: m.group(1) for n, source in enumerate(text.split("\n"), 1) for m in [re.search(r"print\(.*  # (.*)$", source)] if m}
        lines, out, error = {}, io.StringIO(), None

        def show(*values, **options):
            n = sys._getframe(1).f_lineno - line + 1
            with io.StringIO() as one:
                print(*values, file=one, **{k: v for k, v in options.items() if k != "file"})
                lines[n] = lines.get(n, "") + one.getvalue()
                out.write(one.getvalue())

        self.space["print"] = show
        code = compile("\n" * (line - 1) + text, str(DOCS / "pages" / self.name), "exec")
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                exec(code, self.space)
        except Exception as e:
            error = where, "".join(traceback.format_exception_only(type(e), e))
        self.printed = out.getvalue()
        for n, expected in said.items():
            if error is None or n in lines:
                printed = " | ".join(lines.get(n, "").strip().split("\n"))
                assert fits(expected, printed), "%s, line %d, prints %r, not %r" % (where, n, printed, expected)
        return error

    def console(self, text, where):
        """Runs the commands of a block that are `python -m millstream`."""
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, _, said = part.partition("\n")
            if not command.startswith("python "):
                continue
            environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tf.__file__))}
            done = subprocess.run([sys.executable, *command.split()[1:]], capture_output=True, text=True, timeout=120, env=environment)
            assert fits(said, done.stdout), "%s: %s\n%s%s" % (where, command, done.stdout, done.stderr)


@pytest.mark.parametrize("name", pages())
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.reset_default_graph()
    numpy.random.seed(0)
    Page(name).run()


def test_every_block_has_a_language_that_is_tested():
    # "sh": what installs something. The others of no language of ours: what is printed, and files.
    for name in pages():
        fences = re.findall(r"^```(\w*)", (DOCS / "pages" / name).read_text(encoding="utf-8"), re.M)
        assert set(fences[::2]) <= {"python", "rust", "console", "text", "toml", "sh", "yaml", "dockerfile"}, (name, fences)


def test_generated_parts_are_fresh():
    # In a process of its own: it makes names that are otherwise made when they are first requested.
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tf.__file__))}
    done = subprocess.run([sys.executable, str(DOCS / "tools" / "generate.py"), "--check"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr + "run `python docs/tools/generate.py`"


if __name__ == "__main__":
    Page(sys.argv[1]).run()
