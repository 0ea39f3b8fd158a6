"""Type checking of the package, the examples and `typing/*.py`; stubs contain every name of the package."""

import os
import pathlib
import re
import subprocess
import sys
import types

import pytest

import millstream as tf

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(tf.__file__).parent
EXAMPLES = HERE.parents[2] / "examples" / "python"
SPACES = (
    "bitwise compat contrib contrib.crf contrib.data contrib.distributions contrib.framework contrib.graph_editor contrib.layers contrib.legacy_seq2seq "
    "contrib.cudnn_rnn contrib.rnn contrib.seq2seq contrib.slim contrib.staging contrib.summary contrib.training data data.experimental debugging distributions dtypes errors estimator "
    "estimator.export estimator.inputs feature_column func graph_util image initializers io linalg logging manip math nest nn nn.rnn_cell queue random "
    "raw_ops saved_model sets signal sparse strings summary train"
).split()


def public(module):
    """Returns the public names of a module, without its imports."""
    for name in sorted(dir(module)):
        if name.startswith("_") or name == "annotations":
            continue
        value = getattr(module, name, None)
        if value is not None and not isinstance(value, types.ModuleType) and getattr(value, "__module__", None) != "typing":
            yield name


def every_name():
    """Returns a program that uses every name."""
    lines = ["import millstream as tf"]
    for space in ["", *SPACES]:
        module = tf
        for part in filter(None, space.split(".")):
            module = getattr(module, part)
        where = "tf." + space + "." if space else "tf."
        lines += ["tf.%s" % space] if space else []
        lines += [where + name for name in public(module)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Returns all errors of mypy: file, line, code, message."""
    folder = tmp_path_factory.mktemp("typing")
    names = folder / "every_name.py"
    names.write_text(every_name())
    files = [PACKAGE, names, *sorted((HERE / "typing").glob("*.py")), *sorted(EXAMPLES.glob("*.py"))]
    env = dict(os.environ, MYPYPATH=str(PACKAGE.parent), MYPY_FORCE_COLOR="0")
    command = [sys.executable, "-m", "mypy", "--config-file", str(HERE / "typing" / "mypy.ini"), "--cache-dir", str(folder / "cache")]
    command += ["--no-error-summary", "--show-absolute-path", "--hide-error-context", "--disable-error-code", "func-returns-value"]
    done = subprocess.run(command + [str(f) for f in files], capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode in (0, 1) and not done.stderr.strip(), done.stdout + done.stderr
    found = []
    for line in done.stdout.splitlines():
        m = re.match(r"(.+?):(\d+): error: (.*?)(?:  \[([a-z-]+)\])?$", line)
        if m:
            found.append((pathlib.Path(m.group(1)), int(m.group(2)), m.group(4), m.group(3)))
    return found


def shown(errors):
    return "\n".join("%s:%d: %s [%s]" % (f.name, line, text, code) for f, line, code, text in errors)


def test_the_package_is_typed(report):
    errors = [e for e in report if PACKAGE in e[0].parents]
    assert not errors, shown(errors)


def test_every_name_is_known(report):
    errors = [e for e in report if e[0].name == "every_name.py"]
    assert not errors, shown(errors)


def test_programs_and_examples_have_no_errors(report):
    errors = [e for e in report if e[0].name == "programs_typed.py" or EXAMPLES in e[0].parents]
    assert not errors, shown(errors)


def test_mistakes_are_reported(report):
    source = (HERE / "typing" / "mistakes.py").read_text().splitlines()
    wanted = {i: set(m.group(1).split()) for i, line in enumerate(source, 1) for m in [re.search(r"# E: (.*)", line)] if m}
    got = {}
    for file, line, code, _ in report:
        if file.name == "mistakes.py":
            got.setdefault(line, set()).add(code)
    assert 20 < len(wanted)
    missed = [source[i - 1] for i, codes in wanted.items() if not codes & got.get(i, set())]
    assert not missed, "not reported: " + "\n".join(missed)
    assert set(got) <= set(wanted), [source[i - 1] for i in set(got) - set(wanted)]


def test_stubs_are_current():
    sys.path.insert(0, str(HERE.parent / "tools"))
    try:
        import stubs
    finally:
        sys.path.pop(0)
    stale = [os.path.basename(path) for path in stubs.stale()]
    assert not stale, "stale stubs: run `python crates/python/tools/stubs.py` with the package importable: %s" % stale


def test_the_extension_is_typed():
    import ast

    tree = ast.parse((PACKAGE / "_engine.pyi").read_text())
    typed = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    typed["__version__"] = None
    missing = [n for n in dir(tf._engine) if n not in typed and not n.startswith("__")]
    for name in dir(tf._engine):
        value = getattr(tf._engine, name)
        if isinstance(value, type) and name in typed:
            own = {n.name if isinstance(n, ast.FunctionDef) else n.target.id for n in typed[name].body if isinstance(n, (ast.FunctionDef, ast.AnnAssign))}
            missing += [name + "." + m for m in vars(value) if m not in own and not m.startswith("__")]
    assert not missing, "not in _engine.pyi: %s" % missing
