"""Sums of `LinearOperator`s, operators as modules, types of values, and internal modules about graphs."""

import importlib

import numpy as np

from programs.tools import WHOLE, caught, run


def _module(tf, path):
    """Returns an internal module, or what has its names here."""
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow." + path)
    return importlib.import_module("millstream.programs.hook")._Module("tensorflow." + path)


def sums_of_operators(tf):
    add = _module(tf, "python.ops.linalg.linear_operator_addition")
    o = tf.linalg
    diag, same = o.LinearOperatorDiag([1.0, 2.0], name="A", is_positive_definite=True), o.LinearOperatorIdentity(2, name="B")
    scaled, low = o.LinearOperatorScaledIdentity(2, 3.0, name="C"), o.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]], name="D")
    full = o.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]], name="E")
    out = []
    for parts in ([diag, same], [same, scaled], [same, same], [diag, low], [low, full], [diag, full, same], [full]):
        (found,) = add.add_operators(parts)
        hints = [found.is_non_singular, found.is_self_adjoint, found.is_positive_definite]
        out.append([type(found).__name__, hints, run(tf, found.to_dense())])
    left = add.add_operators([diag, same, full], addition_tiers=[[add._AddAndReturnDiag()]])
    named = add._AddAndReturnMatrix().add(diag, full, "mine", add._Hints(is_non_singular=True, is_self_adjoint=False))
    return out, sorted(type(one).__name__ for one in left), named.name, named.is_non_singular, add._AddAndReturnDiag().can_add(diag, full)


def operators_as_modules(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    a = tf.linalg.LinearOperatorDiag(v)
    b = tf.linalg.LinearOperatorComposition([a, a])
    return isinstance(a, tf.Module), [x.name for x in a.variables], [x.name for x in b.trainable_variables], [x.name for x in b.submodules]


def subscriptions(tf):
    subscribe = _module(tf, "python.framework.subscribe")
    c, seen = tf.constant(1.0, name="c"), []
    y = c * 2.0

    def watch(tensor):
        return tf.py_func(lambda x: (seen.append(float(x)), x)[1], [tensor], [tensor.dtype])

    s = subscribe.subscribe(c, watch)
    again = subscribe.subscribe(c, watch)
    both = subscribe.subscribe({"y": y, "z": [y + 1.0]}, watch)
    with tf.Session() as sess:
        value = sess.run(y)
        n = len(seen)
        sess.run(both["z"][0])
    return s.name, again is s, value, n, sorted(seen[n:]), y.op.inputs[0].name, caught(lambda: subscribe.subscribe("x", watch))


def tags_of_messages(tf):
    ei = _module(tf, "python.framework.error_interpolation")
    a = tf.constant(1, name="a")
    text = "at {{node a}} and {{node gone}}, {{bad}} {{node ^x}}"
    told = ei.interpolate(text, a.graph)
    parts = ei.parse_message("{{node Foo}} bar {{node_x a/b}} {{bad}} {{node ^x}}{{colocation_node Z}}!")
    return parts[0], [tuple(tag) for tag in parts[1]], told.startswith("at node a (defined at "), told.endswith("and {{node gone}}, {{bad}} {{node ^x}}"), ei.interpolate("no tags", a.graph)


def dependencies_of_a_block(tf):
    acd = _module(tf, "python.framework.auto_control_deps")
    v = tf.Variable(1.0, use_resource=True, name="v")
    with acd.AutomaticControlDependencies() as block:
        v.assign_add(1.0)
        v.assign(v * 2.0)
        result = block.mark_as_return(v.read_value())
    with tf.Session() as sess:
        sess.run(v.initializer)
        return sess.run(result), sess.run(result), acd.op_is_stateful(v.op), acd.op_is_stateful(result.op)


def types_of_values(tf):
    spec = _module(tf, "python.framework.type_spec")
    structure = _module(tf, "python.data.util.structure")
    sparse = tf.SparseTensor([[0, 1]], [5], [2, 3])
    texts = [repr(spec.type_spec_from_value(x)) for x in (np.zeros([2, 3]), sparse, tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([0])), [1, 2])]
    both = structure.type_spec_from_value((tf.zeros([2]), {"a": sparse}))
    lists = structure.to_tensor_list(both, (tf.zeros([2]), {"a": sparse}))
    back = structure.from_tensor_list(both, lists)
    values = run(tf, [back[0], back[1]["a"].values])
    return (
        texts,
        repr(both),
        [t.dtype.name for t in lists],
        values,
        [t.name for t in structure.get_flat_tensor_types(both)],
        [str(s) for s in structure.get_flat_tensor_shapes(both)],
        repr(structure.convert_legacy_structure((tf.int32, {"a": tf.int64}), ([], {"a": [2]}), (tf.Tensor, {"a": tf.SparseTensor}))),
        structure.are_compatible(tf.TensorSpec([None]), tf.TensorSpec([2])),
        structure.are_compatible((tf.TensorSpec([None]),), tf.TensorSpec([2])),
        caught(lambda: structure.from_tensor_list(tf.TensorSpec([2]), []), WHOLE),
        caught(lambda: structure.from_tensor_list(tf.TensorSpec([2]), [tf.zeros([3])]), "is incompatible with"),
        caught(lambda: structure.to_batched_tensor_list(tf.TensorSpec([]), tf.constant(1.0)), "has insufficient rank for batching"),
        caught(lambda: structure.convert_legacy_structure(tf.int32, tf.TensorShape([]), int), WHOLE),
    )


def types_of_ones_own(tf):
    class Pair(tf.TypeSpec):
        value_type = property(lambda self: tuple)

        def __init__(self, shape, word="w"):
            self.shape, self.word = tf.TensorShape(shape), word

        def _serialize(self):
            return (self.shape, self.word)

        @property
        def _component_specs(self):
            return {"a": tf.TensorSpec(self.shape, tf.float32), "b": [tf.TensorSpec([], tf.int32)]}

        def _to_components(self, value):
            return {"a": value[0], "b": [value[1]]}

        def _from_components(self, components):
            return (components["a"], components["b"][0])

    a, b, c = Pair([2, 3]), Pair([2, None]), Pair([2, 4])
    x, y = tf.zeros([2, 3]), tf.constant(1)
    listed = a._to_tensor_list((x, y))
    return (
        repr(a),
        a == Pair([2, 3]),
        a != c,
        hash(a) == hash(Pair([2, 3])),
        [a.is_compatible_with(one) for one in (b, c, Pair([2, 3], "v"))],
        repr(a.most_specific_compatible_type(c)),
        [t.name for t in listed],
        [t.name for t in a._from_tensor_list(listed)],
        [repr(s) for s in a._flat_tensor_specs],
        caught(lambda: a.most_specific_compatible_type(Pair([2, 3], "v")), WHOLE),
        caught(lambda: a._from_tensor_list([x])),
    )


def settings_of_ones_own(tf):
    options = _module(tf, "python.data.util.options")

    class Own(options.OptionsBase):
        x = options.create_option("x", int, "A number.")
        y = options.create_option("y", float, "Another.", lambda: 1.5)

    a, b = Own(), Own()
    a.x, b.y = 1, 2.0
    m = options.merge_options(a, b)
    return (
        (m.x, m.y, a == b, a != Own(), Own() == Own()),
        caught(lambda: setattr(a, "z", 1), WHOLE),
        caught(lambda: setattr(a, "x", "s"), "must be of type"),
        caught(options.merge_options, WHOLE),
        caught(lambda: options.merge_options(Own(), 1), "Incompatible options type"),
    )


def random_matrices(tf):
    u = _module(tf, "python.ops.linalg.linear_operator_test_util")
    tf.set_random_seed(1)
    made = [u.random_positive_definite_matrix([2, 3, 3], tf.float64, force_well_conditioned=True), u.random_tril_matrix([3, 3], tf.complex64), u.random_sign_uniform([50], 1.0, 2.0)]
    definite, lower, signs = run(tf, made)
    return (
        bool((np.linalg.eigvalsh(definite) > 0).all()),
        bool((np.triu(lower, 1) == 0).all()),
        bool(((np.abs(signs) >= 1) & (np.abs(signs) <= 2)).all() and (signs < 0).any() and (signs > 0).any()),
        [m.dtype.name for m in made],
    )
