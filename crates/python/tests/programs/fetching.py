"""Fetches and feeds: structures, names, composite values, errors."""

import collections

import numpy as np

from programs.tools import WHOLE, caught, initialize, run

AB = collections.namedtuple("AB", "a, b")
Nothing = collections.namedtuple("Nothing", "")


class Words(collections.OrderedDict):
    """A subclass of a mapping."""


class Many(list):
    """A subclass of list."""


def _sparse(tf):
    return tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 2])


# Fetches.


def structures_of_structures(tf):
    x, y = tf.constant(1, name="x"), tf.constant([2, 3], name="y")
    with tf.Session() as sess:
        return [
            sess.run([[[x]]]),
            sess.run(((x,), (y, x))),
            sess.run({"a": {"b": {"c": x}}}),
            sess.run({"a": (x, [y, {"z": x}]), "b": AB(x, AB(y, x))}),
            sess.run([(), [], {}, Nothing()]),
            sess.run(()),
            sess.run([x, x.op, "x:0", "x"]),
            sess.run({1: x, (2, 3): y}),
        ]


def classes_of_structures(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        names = lambda f: type(sess.run(f)).__name__
        return [names(f) for f in ([x], (x,), {"a": x}, AB(x, x), collections.OrderedDict(a=x), Words(a=x), Many([x]), Nothing())]


def order_of_a_mapping(tf):
    x, y = tf.constant(1), tf.constant(2)
    with tf.Session() as sess:
        out = sess.run(collections.OrderedDict([("z", x), ("a", y), ("m", x)]))
        return list(out.items()), list(sess.run({"z": x, "a": y}))


def default_dict_of_fetches(tf):
    x = tf.constant(1)
    d = collections.defaultdict(list)
    d["a"] = x
    with tf.Session() as sess:
        out = sess.run(d)
        return type(out).__name__, dict(out)


def the_same_thing_many_times(tf):
    x = tf.constant([1, 2])
    with tf.Session() as sess:
        a, b, (c,) = sess.run([x, x, [x]])
        return a.tolist(), b.tolist(), c.tolist(), sess.run([x.op, x.op]), sess.run({"a": x, "b": x})["b"].tolist()


def random_fetched_twice_is_one(tf):
    r = tf.random_uniform([])
    with tf.Session() as sess:
        a, b = sess.run([r, r])
        return bool(a == b)


def fetches_that_are_nothing(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        run_ = lambda f: caught(lambda: sess.run(f), WHOLE)
        return [run_(f) for f in (None, 3, 2.5, [None], [x, None], {"a": None}, (x, 3), True, [[x], [2]], b"nope", {1, 2})]


def fetches_by_names_that_are_not_there(tf):
    tf.constant(1, name="x")
    with tf.Session() as sess:
        return [caught(lambda f=f: sess.run(f), WHOLE) for f in ("y", "y:0", "x:1", "x:", "a:b:c", "", ["x", "nope"], "^x", {"a": "y:0"})]


def fetch_of_another_graph(tf):
    tf.constant(1)
    with tf.Graph().as_default():
        x = tf.constant(1, name="x")
        n = tf.no_op(name="n")
    with tf.Session() as sess:
        return caught(lambda: sess.run(x), WHOLE), caught(lambda: sess.run([n]), WHOLE), caught(lambda: sess.run({"a": x}), WHOLE)


def fetch_by_bytes_and_text(tf):
    tf.constant(1, name="x")
    with tf.Session() as sess:
        return sess.run("x:0"), sess.run(b"x:0"), sess.run(b"x")


def fetch_of_a_variable(tf):
    v, r = tf.Variable(1.0, name="v", use_resource=False), tf.Variable([2.0], name="r", use_resource=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(v), sess.run([v, r]), sess.run({"r": r}), sess.run("v:0")


def fetch_of_a_resource_handle(tf):
    r = tf.Variable([2.0], name="r", use_resource=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run("r/Read/ReadVariableOp:0"), sess.run(r.read_value())


def fetch_of_a_sparse_tensor(tf):
    s = _sparse(tf)
    with tf.Session() as sess:
        value = sess.run(s)
        return value, type(value).__name__, sess.run([s, {"a": s}])[1]["a"].values, isinstance(value, tf.SparseTensorValue), s.eval()


def fetch_of_indexed_slices(tf):
    a = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]))
    b = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), tf.constant([5, 1]))
    with tf.Session() as sess:
        return sess.run(a), sess.run([b]), type(sess.run(a)).__name__


def fetch_of_ragged_and_arrays(tf):
    ta = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    with tf.Session() as sess:
        return sess.run(ta.stack()), caught(lambda: sess.run(ta))[0]


def fetch_of_operations(tf):
    v = tf.Variable(0, use_resource=False)
    add = v.assign_add(1)
    with tf.Session() as sess:
        initialize(tf, sess)
        one = sess.run(add.op)
        two = sess.run([add.op, tf.no_op()])
        sess.run("AssignAdd")
        return one, two, sess.run({"op": add.op, "group": tf.group(add)}), sess.run(v)


def fetch_of_a_group_and_values(tf):
    v = tf.Variable(0, use_resource=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        _, value = sess.run([tf.group(v.assign_add(5)), tf.constant(3)])
        return _, value, sess.run(v)


def fetch_kinds_of_values(tf):
    things = [tf.constant(1), tf.constant([1]), tf.constant(1.5), tf.constant(True), tf.constant("a"), tf.constant(["a", "b"]), tf.constant(1j), tf.constant([], tf.float32), tf.constant(1, tf.int8), tf.constant(2.0, tf.float16), tf.constant(7, tf.uint8)]
    with tf.Session() as sess:
        out = sess.run(things)
        return out, [type(v).__name__.rstrip("_") for v in out]


def fetch_of_strings(tf):
    with tf.Session() as sess:
        a = sess.run(tf.constant(["a", "bc"]))
        b = sess.run(tf.constant([], tf.string))
        return a.dtype.name, a.tolist(), a.shape, b.shape, b.dtype.name, sess.run(tf.constant("x\0y")), sess.run(tf.constant(["", "\u00e9"])).tolist()


def fetches_are_ones_own(tf):
    v = tf.Variable([1.0, 2.0], use_resource=False)
    with tf.Session() as sess:
        initialize(tf, sess)
        a = sess.run(v)
        a[0] = 9
        b = sess.run(v)
        sess.run(v.assign_add([1.0, 1.0]))
        return a, b, sess.run(v), a.flags.writeable


def fetch_that_is_prevented(tf):
    x = tf.constant(1, name="x")
    y = tf.identity(x, name="y")
    tf.get_default_graph().prevent_fetching(x.op)
    with tf.Session() as sess:
        return caught(lambda: sess.run(x), WHOLE), caught(lambda: sess.run([x.op]), WHOLE), caught(lambda: sess.run({"a": "x:0"}), WHOLE), sess.run(y)


def fetch_inside_of_a_loop(tf):
    inside = []
    r = tf.while_loop(lambda i: i < 3, lambda i: inside.append(i + 1) or inside[0], [0])
    with tf.Session() as sess:
        g = tf.get_default_graph()
        return caught(lambda: sess.run(inside[0]), WHOLE), caught(lambda: sess.run(inside[0].op), WHOLE), caught(lambda: sess.run("while/add:0"), WHOLE), sess.run(r), g.is_fetchable(inside[0]), g.is_feedable(inside[0])


def fetch_inside_of_a_branch(tf):
    inside = []
    r = tf.cond(tf.constant(True), lambda: inside.append(tf.constant(5) + 1) or inside[0], lambda: tf.constant(0))
    g = tf.get_default_graph()
    with tf.Session() as sess:
        return caught(lambda: sess.run(inside[0]), WHOLE), sess.run(r), g.is_fetchable(inside[0]), g.is_feedable(inside[0])


def fetch_and_feed_the_same(tf):
    x = tf.placeholder(tf.float32, [2])
    y = x * 2.0
    with tf.Session() as sess:
        return sess.run(x, {x: [1, 2]}), sess.run([x, y], {x: [1, 2], y: [9, 9]}), sess.run([x, x], {x: [3, 4]})


def fetch_with_attrs(tf):
    import attr

    @attr.s
    class Sample(object):
        first = attr.ib()
        second = attr.ib()

    x, y = tf.constant(1), tf.constant(2)
    with tf.Session() as sess:
        out = sess.run(Sample(x, [y]))
        return type(out).__name__, out.first, out.second, sess.run([Sample(Sample(x, y), x)])[0].first.second


def fetch_nested_twice_over(tf):
    x = tf.constant([1.0])
    s = _sparse(tf)
    with tf.Session() as sess:
        out = sess.run({"a": [s, (x, AB(s, x))]})
        return out["a"][0].values, out["a"][1][1].a.indices, type(out["a"][1][1]).__name__


def fetch_of_a_generator(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        return caught(lambda: sess.run(v for v in [x]))


def fetch_of_a_dict_view(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        return caught(lambda: sess.run({"a": x}.values())), caught(lambda: sess.run({x}))


def fetch_by_element_protocol(tf):
    x = tf.constant(7)

    class Mine(object):
        def _as_graph_element(self):
            return x

    class Wrong(object):
        def _as_graph_element(self):
            return 3

    with tf.Session() as sess:
        return sess.run(Mine()), sess.run([Mine(), {"a": Mine()}]), caught(lambda: sess.run(Wrong()))


# Feeds.


def feeds_of_every_kind_of_value(tf):
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        values = [1, 2.5, True, np.float64(3), np.int8(4), [1, 2], (1, 2), [[1], [2]], np.arange(3), np.ones([2, 1], np.float64), [np.float32(1), 2], np.array(5), [], [[]], range(3)]
        return [sess.run(x, {x: v}) for v in values]


def feeds_of_other_dtypes(tf):
    with tf.Session() as sess:
        out = []
        for dtype, value in [(tf.int32, 2.5), (tf.int32, [1.0]), (tf.int32, np.float64(2)), (tf.int32, True), (tf.int64, np.int32(7)), (tf.float16, 1), (tf.uint8, 200), (tf.bool, 1), (tf.bool, [0, 2]), (tf.complex64, 2), (tf.float64, np.float32(0.5))]:
            x = tf.placeholder(dtype)
            out.append(sess.run(x, {x: value}))
        return out


def feeds_that_do_not_convert(tf):
    with tf.Session() as sess:
        out = []
        for dtype, value in [(tf.float32, "a"), (tf.int32, "1x"), (tf.float32, object()), (tf.float32, 1j), (tf.float32, {}), (tf.int32, [1, "a"]), (tf.int32, [[1], [2, 3]])]:
            x = tf.placeholder(dtype, name="x")
            out.append(caught(lambda: sess.run(x, {x: value})))
        return out


def feeds_out_of_range(tf):
    x, y = tf.placeholder(tf.int32, name="x"), tf.placeholder(tf.float32)
    with tf.Session() as sess:
        return caught(lambda: sess.run(x, {x: 2**31}), WHOLE), caught(lambda: sess.run(x, {x: -(2**40)}), WHOLE), caught(lambda: sess.run(x, {x: 2**70}))


def feeds_of_the_wrong_shape(tf):
    x = tf.placeholder(tf.float32, [2, None], name="x")
    s = tf.placeholder(tf.float32, [], name="s")
    with tf.Session() as sess:
        return [caught(lambda v=v: sess.run(x, {x: v}), WHOLE) for v in (1.0, [1.0, 2.0], [[1.0]], np.zeros([3, 2]), np.zeros([2, 2, 2]))], caught(lambda: sess.run(s, {s: [1.0]}), WHOLE), sess.run(x, {x: np.zeros([2, 0])})


def feeds_of_an_unknown_shape(tf):
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        return [sess.run(tf.shape(x), {x: np.zeros(s)}) for s in ([], [0], [2, 3], [1, 1, 1, 1])]


def feeds_by_name(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        return sess.run(x, {"x:0": 1.0}), [caught(lambda k=k: sess.run(x, {k: 1.0}), WHOLE) for k in ("x", "y:0", "x:1", "y", "", "a:b:c")]


def feeds_by_other_keys(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Graph().as_default():
        other = tf.placeholder(tf.float32, [], name="o")
    with tf.Session() as sess:
        return [caught(lambda k=k: sess.run(x, {k: 1.0}), WHOLE) for k in (3, None, other, x.op, object)]


def feeds_of_operations_and_names_of_operations(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        return caught(lambda: sess.run(x, {x.op: 1}), WHOLE), caught(lambda: sess.run(x, {"x": 1}), WHOLE)


def feeds_that_are_tensors(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.constant(1.0, name="y")
    with tf.Session() as sess:
        return caught(lambda: sess.run(x, {x: y}), WHOLE), caught(lambda: sess.run(x, {"x:0": y}), WHOLE)


def feeds_that_are_no_mapping(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        return [caught(lambda f=f: sess.run(x, f)) for f in ([1], 3, "a", [(x, 1)])], sess.run(x, {}), sess.run(x, None), sess.run(x, feed_dict=None)


def feeds_of_constants_and_results(tf):
    a = tf.constant(1, name="a")
    b = a + 1
    c = b * 10
    v = tf.Variable(5, use_resource=False)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(c, {a: 7}), sess.run(c, {b: 7}), sess.run([a, b, c], {b: 3}), sess.run(v + 1, {v: 40}), sess.run(c, {"a:0": 0})


def feeds_of_variables(tf):
    v, r = tf.Variable(1.0, use_resource=False, name="v"), tf.Variable(1.0, use_resource=True, name="r")
    with tf.Session() as sess:
        initialize(tf, sess)
        a = sess.run(v * 2.0, {v: 5.0})
        b = sess.run(r._graph_element * 2.0, {r: 5.0})
        return a, b, sess.run([v, r])


def feeds_that_are_prevented(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    tf.get_default_graph().prevent_feeding(x)
    with tf.Session() as sess:
        return caught(lambda: sess.run(x, {x: 1.0}), WHOLE), caught(lambda: sess.run(x, {"x:0": 1.0}), WHOLE)


def feeds_inside_of_a_loop(tf):
    inside = []
    r = tf.while_loop(lambda i: i < 3, lambda i: inside.append(i) or i + 1, [0])
    with tf.Session() as sess:
        return caught(lambda: sess.run(r, {inside[0]: 1}), WHOLE), caught(lambda: sess.run(r, {"while/Identity:0": 1}), WHOLE), sess.run(r, {"while/Exit:0": 77})


def feeds_of_sparse_tensors(tf):
    s = tf.sparse_placeholder(tf.float32)
    dense = tf.sparse_tensor_to_dense(s)
    value = tf.SparseTensorValue([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    with tf.Session() as sess:
        return sess.run(dense, {s: value}), sess.run(dense, {s: ([[0, 0]], [3.0], [1, 2])}), sess.run(s, {s: value}), sess.run(s.values, {s: value})


def feeds_of_sparse_tensors_wrongly(tf):
    s = tf.sparse_placeholder(tf.float32)
    with tf.Session() as sess:
        return caught(lambda: sess.run(s, {s: [1.0]})), caught(lambda: sess.run(s, {s: 3}))


def feeds_of_indexed_slices(tf):
    a = tf.IndexedSlices(tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.int32, [None]))
    b = tf.IndexedSlices(tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [1]))
    with tf.Session() as sess:
        one = sess.run(a, {a: (np.ones([1, 1]), [4])})
        two = sess.run(b, {b: ([1.0], [4], [7])})
        return one, two, sess.run(a, {a: one}), sess.run(b, {b: type(two)([2.0], [5], [8])})


def feeds_of_structures(tf):
    a, b, c = [tf.placeholder(tf.int32, []) for _ in range(3)]
    with tf.Session() as sess:
        return sess.run([a, b, c], {(a, b): (1, 2), c: 3}), sess.run([a, b, c], {(a, (b, c)): (1, (2, 3))}), sess.run(a, {(a,): [5]})


def feeds_of_structures_that_do_not_fit(tf):
    a, b = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    with tf.Session() as sess:
        return caught(lambda: sess.run(a, {(a, b): (1,)})), caught(lambda: sess.run(a, {(a, b): 3}))


def feeds_of_text(tf):
    x = tf.placeholder(tf.string, name="x")
    y = tf.identity(x)
    with tf.Session() as sess:
        out = [sess.run(y, {x: v}) for v in ("a", b"a", "\u00e9", ["a", b"b"], np.array(["a", "bc"]), np.array([b"a\0"], object), [["a"], ["b"]], [], np.array(["\u00e9"], object))]
        return [o.tolist() if isinstance(o, np.ndarray) else o for o in out]


def feeds_of_text_come_back_as_they_are(tf):
    x = tf.placeholder(tf.string)
    with tf.Session() as sess:
        out = [sess.run(x, {x: v}) for v in (["a", b"b"], np.array(["a", "bc"]), np.array([b"a"], object))]
        return [[type(v).__name__ for v in o.tolist()] for o in out]


def feeds_come_back_as_arrays(tf):
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        out = [sess.run(x, {x: v}) for v in (1, [1], np.float32(1), np.array([1.0]))]
        return [type(v).__name__ for v in out], [str(v.dtype) for v in out]


def feeds_of_strided_arrays(tf):
    x = tf.placeholder(tf.int32)
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    with tf.Session() as sess:
        return [sess.run(x + 0, {x: v}) for v in (a.T, a[:, ::-1], a[..., 1], np.asfortranarray(a), a[::2, 1:, ::3], np.broadcast_to(np.int32(3), [2, 2]), a.astype(">i4"))]


def feeds_do_not_change_what_is_fed(tf):
    x = tf.placeholder(tf.float32, [2])
    value = np.array([1, 2], np.float32)
    with tf.Session() as sess:
        out = sess.run(x + 1.0, {x: value})
        same = sess.run(x, {x: value})
        same = np.array(same)
        same[0] = 9
        return value, out


def feeds_of_bools_and_small_types(tf):
    out = []
    with tf.Session() as sess:
        for dtype in (tf.bool, tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int64, tf.float16, tf.float64, tf.complex64, tf.complex128):
            x = tf.placeholder(dtype, [None])
            out.append(sess.run(tf.identity(x), {x: [0, 1]}))
    return out


def feeds_of_a_placeholder_with_default(tf):
    x = tf.placeholder_with_default([1.0, 2.0], [None])
    with tf.Session() as sess:
        return sess.run(x * 2.0), sess.run(x * 2.0, {x: [5.0]}), caught(lambda: sess.run(x, {x: 3.0}), WHOLE)


def feeds_missing(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.placeholder(tf.int32, name="y")
    with tf.Session() as sess:
        return caught(lambda: sess.run(x), WHOLE), caught(lambda: sess.run(x * 2.0), WHOLE), caught(lambda: sess.run(y), WHOLE), caught(lambda: sess.run([x, y], {x: [1, 2]}), WHOLE)


def feeds_that_nobody_needs(tf):
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.constant(3)
    with tf.Session() as sess:
        return sess.run(y, {x: 1.0}), caught(lambda: sess.run(y, {x: "a"}), WHOLE)


def feeds_of_the_same_by_two_keys(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        return sess.run(x, collections.OrderedDict([(x, 1.0), ("x:0", 2.0)]))


def feeds_of_frames(tf):
    class Frame(object):
        def __init__(self, rows):
            self.rows = rows

        def __array__(self, dtype=None, copy=None):
            return np.array(self.rows, dtype)

    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        return sess.run(x, {x: Frame([[1, 2]])})


def feeds_by_element_protocol(tf):
    x = tf.placeholder(tf.float32, [])

    class Mine(object):
        def _as_graph_element(self):
            return x

    with tf.Session() as sess:
        return sess.run(x, {Mine(): 4.0})


def own_conversion_of_fetches_and_feeds(tf):
    import importlib

    ours = tf.__name__.split(".")[0]
    module = importlib.import_module("tensorflow.python.client.session" if ours.startswith("tensorflow") else ours + ".framework.session")

    class Squared(object):
        def __init__(self, t):
            self.t = t

    module.register_session_run_conversion_functions(Squared, fetch_function=lambda s: ([s.t], lambda v: v[0] * v[0]), feed_function=lambda s, v: [(s.t, v)], feed_function_for_partial_run=lambda s: [s.t])
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        return sess.run(Squared(x), {Squared(x): 3.0}), sess.run([Squared(x), x], {x: 4.0}), caught(lambda: module.register_session_run_conversion_functions(Squared, None, None, None))


def a_handle_kept_in_the_session(tf):
    h = tf.get_session_handle(tf.constant([1.0, 2.0]) * 2.0)
    with tf.Session() as sess:
        handle = sess.run(h)
        place, value = tf.get_session_tensor(handle.handle, tf.float32)
        return type(handle).__name__, sess.run(value + 1.0, {place: handle.handle}), handle.eval()
