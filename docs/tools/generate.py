"""Writes the generated parts of the documentation, with the package itself: `python docs/tools/generate.py`.

- `pages/pictures/*.svg`: graphs, drawn by the engine (`GRAPHS`);
- `pages/names.md`: what became of every public name of TensorFlow 1.15 (`tensorflow_names.txt`);
- `pages/reference/*.md`: the public names of each namespace, whose docs mkdocstrings reads from the sources.

The package must be importable. `--check` lists the stale files instead, as the tests do.
"""

import collections
import inspect
import pathlib
import re
import sys

import millstream as tf
from millstream.programs import check

PAGES = pathlib.Path(__file__).resolve().parents[1] / "pages"
PACKAGE = pathlib.Path(tf.__file__).parent


# Pictures ---------------------------------------------------------------------------------------------------


def loop():
    """A loop that squares a number until 100 is reached."""
    x = tf.placeholder(tf.float32, [], name="x")
    tf.while_loop(lambda y: y < 100.0, lambda y: y * y, [x], name="square")


def branch():
    """A branch, of which one side runs."""
    x = tf.placeholder(tf.float32, [], name="x")
    tf.cond(x < 0.0, lambda: -x, lambda: tf.sqrt(x), name="root")


def gradient():
    """A loop and the loop of its gradient, which runs backwards."""
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.while_loop(lambda y: y < 100.0, lambda y: y * y, [x], name="square")
    tf.gradients(y, x)


def nested():
    """A loop in a loop."""

    def row(i, total):
        _, total = tf.while_loop(lambda j, _: j < i, lambda j, t: (j + 1, t + j), [0, total], name="columns")
        return i + 1, total

    tf.while_loop(lambda i, _: i < 10, row, [0, 0], name="rows")


GRAPHS = [loop, branch, gradient, nested]


def picture(build):
    """Returns the picture of the graph that a function builds."""
    with tf.Graph().as_default() as graph:
        build()
    return graph.to_svg().rstrip() + "\n"


# Names of TensorFlow ----------------------------------------------------------------------------------------

STATES = {"there": "there", "differs": "partly", "not yet": "not yet", "unknown": "not yet", "never": "never", "renamed": "renamed"}

NAMES_HEAD = """# TensorFlow 1, name by name

The state of each of the {total:,} public names of TensorFlow 1.15 in Millstream. `docs/tools/generate.py` makes this page from what
the package says about itself, and a test fails if the page is stale.
`python -m millstream check program.py` answers the same question for the names that a program uses.

| state | names | meaning |
|---|---|---|
| there | {there:,} | The name exists. Of {space} names outside of `contrib`, Keras and `raw_ops`, {space_there} do. |
| partly | {partly:,} | The name exists, and does less than in TensorFlow, or something else. |
| not yet | {not_yet:,} | The name does not exist. It may come. |
| never | {never:,} | The name will not come, for the reason given. |

`tf.compat.v1` repeats all names. Most private modules that programs import (`tensorflow.python.ops.array_ops`) exist too, under
`python -m millstream` and after `millstream.as_tensorflow()`.
"""


def names():
    """Returns the page of TensorFlow's names."""
    listed = (pathlib.Path(__file__).parent / "tensorflow_names.txt").read_text(encoding="utf-8").split()
    spaces = collections.defaultdict(lambda: collections.defaultdict(list))
    counts, core = collections.Counter(), collections.Counter()
    for name in listed:
        decides, kind, text = check.judged(name)
        state = STATES[kind]
        counts[state] += 1
        if not name.startswith(("contrib.", "keras.", "raw_ops.")):
            core[state] += 1
        parts = name.split(".")
        n = 2 if parts[0] == "contrib" else 1
        space = ".".join(parts[:n]) if len(parts) > n else ".".join(parts[:-1])
        spaces[space][state].append((name, "" if kind == "unknown" else advice(text), decides))
    core_total = sum(core.values())
    out = [
        NAMES_HEAD.format(
            total=len(listed), there=counts["there"], partly=counts["partly"], not_yet=counts["not yet"], never=counts["never"], space="{:,}".format(core_total), space_there="{:,}".format(core["there"])
        )
    ]
    for space in sorted(spaces, key=lambda s: (s.startswith("contrib"), s)):
        out += section(space, spaces[space])
    return "\n".join(out)


def section(space, states):
    """Returns the lines about one namespace."""
    lines = ["## tf%s" % ("." + space if space else ""), ""]
    lines += [", ".join("%d %s" % (len(states[s]), s) for s in ("there", "partly", "not yet", "never") if states[s]) + ".", ""]
    rows = collections.OrderedDict()
    for state in ("partly", "not yet", "never"):
        for name, text, _ in states[state]:
            rows.setdefault((state, text), []).append(name)
    if rows:
        lines += ["| state | names | what to know |", "|---|---|---|"]
        lines += ["| %s | %s | %s |" % (state, ", ".join("`%s`" % name for name in found), text.replace("|", "\\|")) for (state, text), found in rows.items()]
        lines.append("")
    if states["there"]:
        lines += ['<details markdown="1"><summary>there</summary>', "", ", ".join("`%s`" % name for name, _, _ in states["there"]), "", "</details>", ""]
    return lines


def advice(text):
    """Returns the part of a reason that does not repeat the name and the state."""
    text = re.sub(r"^`[^`]*` is not part of Millstream( yet: |, and never will be, )", "", text)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


# Reference --------------------------------------------------------------------------------------------------

SPACES = (
    "", "func", "func.numpy", "bitwise", "data", "data.experimental", "debugging", "distributions", "errors", "estimator", "feature_column", "gfile", "image", "initializers", "io",
    "layers", "linalg", "lookup", "losses", "math", "metrics", "nest", "nn", "nn.rnn_cell", "profiler", "python_io", "queue", "random", "saved_model",
    "sets", "signal", "sparse", "strings", "summary", "test", "train", "contrib.crf", "contrib.framework", "contrib.graph_editor", "contrib.layers",
    "contrib.legacy_seq2seq", "contrib.lookup", "contrib.rnn", "contrib.seq2seq", "contrib.slim", "contrib.training",
)  # fmt: skip


def reference():
    """Returns the pages of the reference by file name."""
    pages, seen = {}, {}
    for space in SPACES:
        module = tf
        for part in filter(None, space.split(".")):
            module = getattr(module, part)
        found, also = [], []
        for name in sorted(n for n in dir(module) if not n.startswith("_")):
            path = source(getattr(module, name), name)
            if path is None:
                continue
            if path in seen:
                also.append((name, *seen[path]))
                continue
            seen[path] = (space, name)
            found.append((name, path))
        if found:
            pages[(space or "tf") + ".md"] = page(space, module, found, also)
    links = ["- [`tf%s`](%s)" % ("" if f == "tf.md" else "." + f[:-3], f) for f in pages]
    pages["index.md"] = REFERENCE_HEAD + "\n".join(links) + "\n"
    return pages


REFERENCE_HEAD = """# Reference of Python

The public names, by namespace; `import millstream as tf`. Names of one op each have the page of the namespace where TensorFlow
lists them first. `tf.raw_ops` holds the functions of all op types, with TensorFlow's names and arguments:
`help(tf.raw_ops.MatMul)` describes one, as `millstream ops MatMul` does.

The reference of the Rust crate is what `cargo doc -p millstream --open` shows.

"""


def source(value, name):
    """Returns the path under which mkdocstrings finds a value, or None if it has no docs of its own."""
    if isinstance(getattr(value, "__wrapped__", None), tf._engine.OpType):
        value = value.__wrapped__  # The function of an op that also takes rows.
    if isinstance(value, tf._engine.OpType):
        home = value.__module__.replace("millstream", "endpoints", 1).replace(".", "_")
        file = PACKAGE / "_generated" / (home + ".pyi")
        at = "millstream._generated." + home
        return "%s.%s" % (at, value.__name__) if file.exists() and re.search(r"^def %s\(" % value.__name__, file.read_text(encoding="utf-8"), re.M) else None
    module = getattr(value, "__module__", "") or ""
    if not (inspect.isfunction(value) or inspect.isclass(value)) or not module.startswith("millstream") or hasattr(value, "DESCRIPTOR"):
        return None
    if module == "millstream" or module.startswith("millstream._engine"):
        return "millstream._engine.%s" % value.__name__ if value.__module__.startswith("millstream._engine") else None
    file = PACKAGE.joinpath(*module.split(".")[1:])
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    written = file.exists() and re.search(r"^(def|class) %s\b" % re.escape(value.__name__), file.read_text(encoding="utf-8"), re.M)
    return "%s.%s" % (module, value.__name__) if written and not value.__name__.startswith("_") else None


def page(space, module, found, also):
    """Returns the page of a namespace."""
    title = "tf" + ("." + space if space else "")
    first = (module.__doc__ or "").strip().split("\n\n")[0]
    lines = ["# %s" % title, "", " ".join(first.split()), ""]
    for name, path in found:
        lines += ["::: %s" % path, "    options:", "      heading: %s.%s" % (title, name), "      toc_label: %s" % name, ""]
    if also:
        lines += ["## Also here", ""]
        lines += ["- `%s.%s` is [`tf%s%s`](%s.md)" % (title, name, "." + at if at else "", "." + first_name, at or "tf") for name, at, first_name in also if at != space]
    return "\n".join(lines).rstrip() + "\n"


# ------------------------------------------------------------------------------------------------------------


def files():
    """Returns the texts of all generated files, by path."""
    made = {PAGES / "pictures" / (build.__name__ + ".svg"): picture(build) for build in GRAPHS}
    made[PAGES / "names.md"] = names()
    made.update({PAGES / "reference" / name: text for name, text in reference().items()})
    return made


def stale():
    """Returns the generated files that are missing, differ, or should not exist."""
    made = files()
    known = {*(PAGES / "pictures").glob("*"), *(PAGES / "reference").glob("*")}
    return sorted({path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text} | (known - set(made)))


def main():
    """Writes the files, or lists the stale ones."""
    if "--check" in sys.argv[1:]:
        found = stale()
        for path in found:
            print("stale: %s" % path)
        return 1 if found else 0
    made = files()
    for path in {*(PAGES / "pictures").glob("*"), *(PAGES / "reference").glob("*")} - set(made):
        path.unlink()
    for path, text in made.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
