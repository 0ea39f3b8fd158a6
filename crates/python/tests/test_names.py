"""Coverage of public names: each is used by a program that agrees with TensorFlow 1.15.

`names.txt` lists the names; `programs` and `expressions` are compared with TensorFlow's results. Uses are
found in the source of programs: attribute chains that start with `tf`, or with a variable assigned from such
a chain, and attributes of any object.
"""

import ast
import os
import re

import millstream as tf
import pytest

from programs import run

HERE = os.path.dirname(os.path.abspath(__file__))


def _lists():
    """Returns the words of each section of `names.txt`."""
    parts, words = {}, None
    with open(os.path.join(HERE, "names.txt")) as source:
        for line in source:
            if line.startswith("["):
                words = parts.setdefault(line.strip("[]\n"), [])
            elif line.strip() and not line.startswith("#"):
                words.extend(line.split())
    return parts


LISTS = _lists()


def _open_programs():
    with open(os.path.join(HERE, "programs_open.txt")) as source:
        return {line.split("#")[0].strip() for line in source} - {""}


class _Uses(ast.NodeVisitor):
    """The attribute chains used by a function, and the functions of its module that it calls."""

    def __init__(self):
        self.aliases = {"tf": ""}
        self.chains, self.attributes, self.called = set(), set(), set()

    def chain(self, node):
        """Returns `a.b` for `tf.a.b`, otherwise None."""
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id)
        if isinstance(node, ast.Attribute):
            above = self.chain(node.value)
            return None if above is None else (above + "." + node.attr).lstrip(".")
        return None

    def visit_Assign(self, node):
        targets, values = node.targets[0], node.value
        pairs = zip(targets.elts, values.elts) if isinstance(targets, ast.Tuple) and isinstance(values, ast.Tuple) else [(targets, values)]
        for target, value in pairs:
            found = self.chain(value)
            if isinstance(target, ast.Name) and found:
                self.aliases[target.id] = found
        self.generic_visit(node)

    def visit_Attribute(self, node):
        found = self.chain(node)
        if found:
            self.chains.add(found)
        self.attributes.add(node.attr)
        self.generic_visit(node)

    def visit_Name(self, node):
        self.called.add(node.id)

    def visit_Call(self, node):
        # Attributes accessed by name as well: `getattr(x, "name")`.
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            self.attributes.add(node.args[1].value)
            above = self.chain(node.args[0])
            if above is not None:
                self.chains.add((above + "." + str(node.args[1].value)).lstrip("."))
        self.generic_visit(node)


def _used():
    """Returns what programs that agree use: chains of `tf`, and attributes."""
    opened, chains, attributes = _open_programs(), set(), set()
    for module in run.modules():
        with open(os.path.join(run.HERE, module + ".py")) as source:
            tree = ast.parse(source.read())
        functions = {}
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                uses = functions[node.name] = _Uses()
                uses.visit(node)
        for name, uses in functions.items():
            if name.startswith("_") or "%s.%s" % (module, name) in opened:
                continue
            reached, waiting = set(), [name]
            while waiting:
                one = waiting.pop()
                if one not in reached and one in functions:
                    reached.add(one)
                    waiting.extend(functions[one].called)
            for one in reached:
                chains |= functions[one].chains
                attributes |= functions[one].attributes
    return chains, attributes


def _used_by_expressions():
    """Returns what expressions use; they are compared in the same way."""
    chains, attributes = set(), set()
    folder = os.path.join(HERE, "expressions")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as source:
            text = source.read()
        attributes.update(re.findall(r"\.([A-Za-z_]\w*)", text))
        for space, chain in re.findall(r"\b(tf|nest|errors)\.([A-Za-z_][\w.]*)", text):
            parts = chain.split(".")
            chains.update(("" if space == "tf" else space + ".") + ".".join(parts[: i + 1]) for i in range(len(parts)))
    return chains, attributes


CHAINS, ATTRIBUTES = (a | b for a, b in zip(_used(), _used_by_expressions()))


def _there(name):
    value = tf
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", LISTS["names"])
def test_a_name_is_shown_at_work(name):
    _there(name)
    # Aliases of a module share uses: `tf.nest` and `tf.contrib.framework.nest` are the same.
    also = {name, name.replace("contrib.framework.nest.", "nest."), "compat.v1." + name, name.replace("nest.", "contrib.framework.nest.")}
    assert not also.isdisjoint(CHAINS), "no program in `programs` that agrees uses tf.%s" % name


@pytest.mark.parametrize("name", LISTS["attributes"])
def test_an_attribute_is_shown_at_work(name):
    assert name in ATTRIBUTES, "no program in `programs` that agrees uses an attribute `%s`" % name


@pytest.mark.parametrize("name", LISTS["open"])
def test_an_open_name_is_still_open(name):
    assert name not in CHAINS, "tf.%s is shown at work now: move it from [open] to [names] in names.txt" % name


def test_dir_shows_names_of_users_only():
    for space in ("", "layers", "losses", "math", "metrics", "nest", "nn", "strings", "summary", "test", "train", "contrib.training", "contrib.rnn", "contrib.lookup"):
        module = tf
        for part in space.split(".") if space else ():
            module = getattr(module, part)
        shown = [name for name in dir(module) if not name.startswith("_")]
        assert len(shown) > 3, space
        odd = {"np", "tf", "op", "words", "annotations"} | {"Any", "Callable", "Dict", "Iterator", "List", "Optional", "Sequence", "Tuple", "Union"}
        assert not odd & set(shown), (space, odd & set(shown))
        assert [name for name in shown if not hasattr(module, name)] == [], space
