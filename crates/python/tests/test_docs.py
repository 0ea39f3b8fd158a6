"""Docstrings: every public name has one, handwritten ones are complete, and their examples run.

`python test_docs.py` prints the missing parts.
"""

import ast
import collections
import doctest
import importlib
import inspect
import pathlib
import pydoc
import re
import sys
import textwrap

import numpy
import pytest

import millstream as tf
from test_typing import SPACES, public

PACKAGE = pathlib.Path(tf.__file__).parent
MORE_SPACES = "app contrib.lookup flags gfile losses layers lookup metrics python_io test".split()


def documented():
    """Returns everything public that can have a docstring, by name."""
    found = {}
    for space in ["", *SPACES]:
        module = tf
        for part in filter(None, space.split(".")):
            module = getattr(module, part)
        for name in public(module):
            value = getattr(module, name)
            own = str(getattr(value, "__module__", "")).startswith("millstream")
            if own and (inspect.isfunction(value) or inspect.isclass(value) or isinstance(value, tf._engine.OpType)):
                found[(space + "." + name).lstrip(".")] = value
    return found


def test_every_public_name_has_a_docstring():
    names = documented()
    assert 1000 < len(names)
    lacking = []
    for name, value in names.items():
        doc = value.__doc__
        # The generated docstring of a named tuple.
        if not doc or not doc.strip() or doc.startswith(value.__name__ + "("):
            lacking.append(name)
        if inspect.isclass(value) and not hasattr(value, "DESCRIPTOR"):
            for method, m in vars(value).items():
                if not method.startswith("_") and (inspect.isfunction(m) or isinstance(m, property)) and not inspect.getdoc(getattr(value, method)):
                    lacking.append(name + "." + method)
    assert not lacking, lacking


# Handwritten docstrings ---------------------------------------------------------------------------------
#
# A docstring has a summary line, "Args", an example, and "Raises" if the function has a `raise` statement.
# The example of a class covers the methods that it calls; that of a base class covers overriding methods.


class Written:
    """A function, class, method or property of the package's Python code, and the parts of its docstring."""

    def __init__(self, name, value, owner=None):
        self.name, self.value, self.owner = name, value, owner
        self.doc = _doc(value)

    def lacks(self):
        """Returns the missing parts."""
        parts = []
        summary = self.doc.split("\n\n")[0].strip()
        if not re.search(r"[.:!?]`?$", summary) or len(summary.split()) < 2:
            parts.append("summary")
        if not self.has_example():
            parts.append("example")
        if self.raises() and "Raises:" not in self.doc:
            parts.append("raises")
        if not self.has_arguments():
            parts.append("arguments")
        return parts

    def has_arguments(self):
        """Whether "Args" names only parameters, and all of a function unless it refers to other docs."""
        if isinstance(self.value, property):
            return True
        function = self.value.__init__ if isinstance(self.value, type) else getattr(self.value, "__func__", self.value)
        if not inspect.isfunction(function):
            return True
        parameters = inspect.signature(function).parameters.values()
        several = {p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
        names = [p.name for p in parameters if p.name not in several and p.name != "self" and not p.name.startswith("_")]
        section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", self.doc, re.S | re.M)
        listed = re.findall(r"^  \*{0,2}(\w+):", section.group(1), re.M) if section else []
        if section and not several and set(listed) - set(names):
            return False
        told = self.owner is not None or isinstance(self.value, type) or "rguments" in self.doc or not section and len(names) < 2
        return told or not set(names) - set(listed) - {"name"}

    def has_example(self):
        """Whether there is an example, or a reason for having none."""
        if ">>> " in self.doc or isinstance(self.value, type) and issubclass(self.value, Exception):
            return True  # The classes in `tf.errors` share the example of `OpError`.
        if self.owner is None:
            return isinstance(self.value, type) and ">>> " in (self.value.__init__.__doc__ or "")
        short = self.name.rpartition(".")[2]
        for base in self.owner.__mro__:
            if base.__module__.startswith("millstream") and ">>> " in (base.__doc__ or ""):
                if re.search(r"\.%s\b|\bdef %s\b" % (short, short), base.__doc__):
                    return True
            if ">>> " in _doc(vars(base).get(short)):
                return True
        return False

    def raises(self):
        """Whether it has a `raise` that does more than re-raise a caught exception."""
        functions = [self.value]
        if isinstance(self.value, property):
            functions = [f for f in (self.value.fget, self.value.fset) if f]
        elif isinstance(self.value, (classmethod, staticmethod)):
            functions = [self.value.__func__]
        elif isinstance(self.value, type):
            functions = [f for f in [vars(self.value).get("__init__")] if inspect.isfunction(f)]
        return any(_raises(inspect.unwrap(f)) for f in functions)


def _doc(value):
    # Before Python 3.10, a static method has its own docstring.
    return inspect.getdoc(getattr(value, "__func__", value)) or ""


def _raises(function):
    if not inspect.isfunction(function) or function.__name__ == "<lambda>":
        return False  # The function of an op, which takes rows, has no source.
    left = list(ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Raise) and node.exc is not None:
            return True
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            left.extend(ast.iter_child_nodes(node))
    return False


def written():
    """Returns everything public that is handwritten, under its first name."""
    # By their ids, which are theirs only while they exist: many are made when they are asked for.
    seen, found, classes = {}, [], []
    for space in ["", *SPACES, *MORE_SPACES]:
        module = tf
        for part in filter(None, space.split(".")):
            module = getattr(module, part)
        for name in public(module):
            value = getattr(module, name)
            home = sys.modules.get(str(getattr(value, "__module__", "")))
            own = re.match(r"millstream\.(?!_)", str(getattr(value, "__module__", ""))) and getattr(home, "__file__", "").endswith(".py")
            if not own or id(value) in seen or hasattr(value, "DESCRIPTOR") or not (inspect.isfunction(value) or inspect.isclass(value)):
                continue
            seen[id(value)] = value
            full = (space + "." + name).lstrip(".")
            found.append(Written(full, value))
            if inspect.isclass(value):
                classes.append((full, value))
    shown = {value for _, value in classes}
    return found + [m for full, value in classes for m in methods(full, value, shown, seen)]


def methods(full, value, shown, seen):
    """Yields the methods that a class defines, or inherits from bases without a public name."""
    for base in value.__mro__:
        if base is not value and base in shown or not base.__module__.startswith("millstream."):
            continue
        for name, method in vars(base).items():
            written = inspect.isfunction(method) or isinstance(method, (property, classmethod, staticmethod))
            written = written and str(getattr(method, "__module__", None) or base.__module__).startswith("millstream")
            if written and not name.startswith("_") and id(method) not in seen:
                seen[id(method)] = method
                yield Written(full + "." + name, method, value)


def gaps():
    """Returns the missing parts by name."""
    return {w.name: w.lacks() for w in written() if w.lacks()}


def test_docstrings_have_all_their_parts():
    assert not gaps()


# Examples -----------------------------------------------------------------------------------------------


# Modules for users of another framework, and what they need.
NEEDED = {"millstream.torch": "torch", "millstream.jax": "jax"}


def modules():
    """Returns the modules of the package that are files."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        yield name[: -len(".__init__")] if name.endswith(".__init__") else name


def run_examples(tests):
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    out = []
    for test in tests:
        tf.reset_default_graph()
        runner.run(test, out=out.append)
    assert not runner.failures, "".join(out)[:6000]
    return runner.tries


@pytest.mark.parametrize("name", list(modules()))
def test_examples_of_modules_run(name):
    needs = NEEDED.get(name)
    module = importlib.import_module(name) if needs is None else pytest.importorskip(name, reason="%s is not installed" % needs, exc_type=ModuleNotFoundError)
    if type(module).__name__ == "_Alias":
        return  # The package itself.
    # Lazily created members of the package would change it during iteration.
    run_examples(doctest.DocTestFinder(exclude_empty=True, recurse=name != "millstream").find(module, globs={"tf": tf, "np": numpy}))


@pytest.mark.parametrize("kind", [tf.Tensor, tf.Operation, tf._engine.Session])
def test_examples_of_the_engine_run(kind):
    docs = {name: method.__doc__ for name, method in vars(kind).items() if not name.startswith("_") and method.__doc__}
    docs[kind.__name__] = kind.__doc__
    parser = doctest.DocTestParser()
    tests = [parser.get_doctest(doc, {"tf": tf, "np": numpy}, name, None, None) for name, doc in docs.items()]
    assert 10 < run_examples([test for test in tests if test.examples]), "the engine is older than its sources"


def test_examples_of_ops_run():
    parser, tests = doctest.DocTestParser(), []
    for name in tf._engine.op_names():
        op = getattr(tf.raw_ops, name)
        tests.append(parser.get_doctest(op.__doc__, {"tf": tf, "numpy": numpy, "nan": numpy.nan, "inf": numpy.inf}, name, None, None))
    assert 300 < run_examples([t for t in tests if t.examples])


def test_help_of_an_op():
    text = pydoc.plain(pydoc.render_doc(tf.nn.relu))
    for part in ("relu(features, name=None)", "max(features, 0)", "features: A `Tensor` of float16", "Returns:", "Raises:", "TypeError", "Example:", ">>> tf.Session().run(tf.nn.relu(features=", "tf.raw_ops.Relu"):
        assert part in text, text
    assert (tf.nn.relu.__name__, tf.nn.relu.__module__, tf.add.__module__) == ("relu", "millstream.nn", "millstream")
    assert str(inspect.signature(tf.raw_ops.AddV2)) == "(*, x, y, name=None)"
    assert tf.math.add is tf.add and tf.compat.v1.add is tf.add


def main():
    """Prints a count, and the names with missing parts."""
    have, of = gaps(), written()
    counts = collections.Counter(part for parts in have.values() for part in parts)
    for name, parts in sorted(have.items()):
        print("%s: %s" % (name, ", ".join(parts)))
    print("%d written by hand, %d lack something: %s" % (len(of), len(have), dict(counts)))


if __name__ == "__main__":
    main()
