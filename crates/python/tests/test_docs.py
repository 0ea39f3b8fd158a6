"""What `help` says: every public name has a docstring, and the examples in them run."""

import doctest
import importlib
import inspect
import pathlib
import pydoc

import numpy
import pytest

import millstream as tf
from test_typing import SPACES, public

PACKAGE = pathlib.Path(tf.__file__).parent


def documented():
    """Everything public that can have a docstring, by name."""
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
        if not doc or not doc.strip() or doc.startswith(value.__name__ + "("):  # What a named tuple has of itself.
            lacking.append(name)
        if inspect.isclass(value) and not hasattr(value, "DESCRIPTOR"):
            for method, m in vars(value).items():
                if not method.startswith("_") and (inspect.isfunction(m) or isinstance(m, property)) and not inspect.getdoc(getattr(value, method)):
                    lacking.append(name + "." + method)
    assert not lacking, lacking


def modules():
    """The modules of the package that are files."""
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
    module = importlib.import_module(name)
    if type(module).__name__ == "_Alias":
        return  # The package itself.
    # What the package makes only when it is asked for would grow it while it is looked through.
    run_examples(doctest.DocTestFinder(exclude_empty=True, recurse=name != "millstream").find(module, extraglobs={"tf": tf, "np": numpy}))


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
