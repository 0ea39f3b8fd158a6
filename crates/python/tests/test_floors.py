"""Layers of the package: modules import only modules of their own layer (floor) and of layers below.

Imports are read from the sources with `ast`: at the top of modules, in functions, and in the tables of
`namespaces.place`. Imports for type checkers only (`if TYPE_CHECKING:`) are ignored, since they are not
executed.

If a module needs something from a layer above, the module above registers a function or class with it when it
is imported (`register_conversion`, `register_composite`, `register_scope`, `register_variables`,
`_engine.set_hooks`).
"""

import ast
import pathlib
import re

import millstream as tf

PACKAGE = pathlib.Path(tf.__file__).parent

# The layers from the bottom: packages, and single modules of these names.
FLOORS = (
    ("_engine", "_generated", "framework"),
    ("ops",),
    ("variables",),
    ("nn", "rnn", "layers", "losses", "metrics", "distributions", "image"),
    ("io", "data"),
    ("train", "feature_column"),
    ("contrib", "estimator", "func", "programs", "saved_model", "test"),
)

# The top layer: the package itself, and modules that are namespaces of TensorFlow and are not imported by
# others.
ROOF = len(FLOORS)

# Allowed imports in functions, of modules that few programs need and that are slow to import.
LATE = {
    ("framework.namespaces", "_generated.api"): "a table of 1,700 lines, which is read when a name is first looked up",
    ("framework.op_functions", "_generated.api"): "the same table",
    ("framework.session", "framework.progress"): "few programs show their progress",
}


def modules():
    """Returns the modules of the package, named relative to it (itself: the empty name), and their files."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found["_engine"] = None
    found.update({"_generated." + path.stem: None for path in (PACKAGE / "_generated").glob("*.pyi")})
    return found


MODULES = modules()


def floor(module):
    """Returns the index of a module's layer."""
    head = module.partition(".")[0]
    return next((i for i, names in enumerate(FLOORS) if head in names), ROOF)


def named(floor):
    return "the roof (the namespaces)" if floor == ROOF else "`%s`" % "`, `".join(FLOORS[floor])


class Imports(ast.NodeVisitor):
    """The imports of a file from the package: name, line, and whether the import is in a function."""

    def __init__(self):
        self.found, self.depth = [], 0

    def add(self, name, node):
        while name not in MODULES:
            name = name.rpartition(".")[0]  # A name in the module.
        self.found.append((name, node.lineno, 0 < self.depth))

    def visit_Import(self, node):
        for alias in node.names:
            head, _, name = alias.name.partition(".")
            if head == "millstream":
                self.add(name, node)

    def visit_ImportFrom(self, node):
        head, _, module = (node.module or "").partition(".")
        if head == "millstream":
            for alias in node.names:
                self.add((module + "." + alias.name).lstrip("."), node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "place":
            self.places(node)
        self.generic_visit(node)

    def visit_Assign(self, node):
        if any(isinstance(target, ast.Name) and target.id == "_PLACES" for target in node.targets):
            self.places(node)
        self.generic_visit(node)

    def places(self, table):
        for node in ast.walk(table):
            place = isinstance(node, ast.Constant) and re.match(r"millstream\.([a-z_.]+)", str(node.value))
            if place:
                self.add(place.group(1).rstrip("."), node)

    def visit_If(self, node):
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)
        for statement in node.orelse:
            self.visit(statement)

    def visit_FunctionDef(self, node):
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_Lambda = visit_FunctionDef


def imports():
    """Returns the imports of each module."""
    found = {}
    for module, path in MODULES.items():
        if path is not None:
            visitor = Imports()
            visitor.visit(ast.parse(path.read_text()))
            found[module] = visitor.found
    return found


IMPORTS = imports()


def upward():
    """Returns the imports of layers above: module, line, imported module."""
    return [(m, line, other) for m, found in IMPORTS.items() for other, line, _ in found if floor(m) < floor(other)]


def circles():
    """Returns groups of modules that import each other, at any place."""
    edges = {m: {other for other, _, _ in found if other != m} for m, found in IMPORTS.items()}
    for module, others in edges.items():
        # Importing `a.b` also runs `a`, unless the importing module is in it.
        inside = {module.rpartition(".")[0], module}
        others |= {o.rpartition(".")[0] for o in others if "." in o and o.rpartition(".")[0] not in inside}
        others.discard("")
        others.discard(module)
    order, low, stack, found = {}, {}, [], []

    def visit(m):
        order[m] = low[m] = len(order)
        stack.append(m)
        for other in sorted(edges.get(m, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[m] = min(low[m], low[other])
        if low[m] == order[m]:
            group = stack[stack.index(m) :]
            del stack[stack.index(m) :]
            if 1 < len(group):
                found.append(sorted(group))

    for m in sorted(edges):
        if m not in order:
            visit(m)
    return found


def test_imports_run_down():
    problems = [
        "millstream/%s.py:%d imports millstream.%s: %s is above %s. Move what it needs down, or have the module above register it below"
        % (m.replace(".", "/"), line, other, named(floor(other)), named(floor(m)))
        for m, line, other in upward()
    ]
    assert not problems, "\n".join(problems)


def test_no_modules_import_each_other():
    problems = ["these import each other: %s. Split one, or have one register with the other" % ", ".join(group) for group in circles()]
    assert not problems, "\n".join(problems)


def test_imports_stand_at_the_top():
    late = {(m, other) for m, found in IMPORTS.items() for other, _, within in found if within}
    problems = ["millstream.%s imports millstream.%s within a function: import it at the top, or name the reason in LATE" % pair for pair in sorted(late - set(LATE))]
    assert not problems, "\n".join(problems)
    assert set(LATE) <= late, "no longer there: %s" % (set(LATE) - late)


def test_every_folder_has_a_floor():
    on_floors = {name for names in FLOORS for name in names}
    packages = {m.partition(".")[0] for m in MODULES if "." in m}
    assert packages - on_floors == {"compat"}, "give these a floor in FLOORS: %s" % (packages - on_floors - {"compat"})


if __name__ == "__main__":
    print("%d upward imports, %d circles" % (len(upward()), len(circles())))
    print("\n".join("%s:%d -> %s" % u for u in upward()))
    print("\n".join(" ".join(c) for c in circles()))
