"""Writes `_generated/api.py`: parameters and public names of TensorFlow 1.15's functions for ops.

Run with a Python that has TensorFlow 1.15: `python crates/python/tools/tf_api.py >
crates/python/py/millstream/_generated/api.py`. The file contains only names and defaults.
"""

import ast
import inspect
import textwrap

import tensorflow as tf
from tensorflow.python.util import tf_decorator


def unwrap(function):
    return tf_decorator.unwrap(function)[1]


def op_of(function):
    """Returns the op of a generated function, and a dict from the op's arguments to the function's."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "_apply_op_helper":
            names = {k.arg: k.value.id for k in call.keywords if isinstance(k.value, ast.Name)}
            return call.args[0].s, names
    return None, None


def signature(function, names):
    """Formats a signature as `x y=2 z->op_z`: arguments with defaults, and the op's name if different."""
    spec = inspect.getfullargspec(function)
    defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ())))
    back = {v: k for k, v in names.items()}
    parts = []
    for arg in spec.args:
        if arg == "name":
            continue
        part = arg if back.get(arg, arg) == arg else arg + "->" + back[arg]
        if arg in defaults:
            value = defaults[arg]
            value = value.name if isinstance(value, tf.DType) else value
            part += "=" + repr(value).replace(" ", "")
        parts.append(part)
    return " ".join(parts)


def walk(module, prefix, seen, found):
    for name in sorted(dir(module)):
        if name.startswith("_") or (prefix == "" and name in ("compat", "contrib", "raw_ops", "keras", "estimator")):
            continue
        value = getattr(module, name)
        if inspect.ismodule(value):
            if "tensorflow" in value.__name__ and id(value) not in seen:
                walk(value, prefix + name + ".", seen | {id(value)}, found)
        elif inspect.isfunction(value):
            function = unwrap(value)
            if getattr(function, "__module__", "").startswith("tensorflow.python.ops.gen_"):
                op, _ = op_of(function)
                if op:
                    found[prefix + name] = op


def aliases(module, prefix, seen, tops, found):
    """Yields names in modules that are aliases of top-level names."""
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or (prefix == "" and name in ("compat", "contrib", "raw_ops", "keras", "estimator")):
            continue
        if inspect.ismodule(value):
            if "tensorflow" in value.__name__ and id(value) not in seen:
                aliases(value, prefix + name + ".", seen | {id(value)}, tops, found)
        elif prefix and callable(value) and id(value) in tops:
            found[prefix + name] = tops[id(value)]


def main():
    print('"""What TensorFlow 1.15 calls each op and its arguments. Written by `tools/tf_api.py`; not edited by hand."""\n')
    print("# An op's arguments in order: `name`, `name=default`, `name->word of the op`.")
    print("ARGUMENTS = {")
    for name in sorted(n for n in dir(tf.raw_ops) if not n.startswith("_")):
        function = unwrap(getattr(tf.raw_ops, name))
        called = ast.parse(inspect.getsource(function)).body[0].body[0].value.func.id
        op, names = op_of(unwrap(inspect.getmodule(function).__dict__[called]))
        if op:
            print("    %r: %r," % (op, signature(function, names)))
    print("}\n\n# Public functions that are an op each.\nENDPOINTS = {")
    found = {}
    walk(tf, "", set(), found)
    for name, op in sorted(found.items()):
        print("    %r: %r," % (name, op))
    print("}\n\n# Names in modules of what also stands at the top.\nALIASES = {")
    tops = {}
    for name in sorted(dir(tf), key=lambda n: (-len(n), n)):
        if not name.startswith("_") and callable(getattr(tf, name, None)):
            tops[id(getattr(tf, name))] = name
    same = {}
    aliases(tf, "", set(), tops, same)
    for name, top in sorted(same.items()):
        if name not in found:
            print("    %r: %r," % (name, top))
    print("}")


main()
