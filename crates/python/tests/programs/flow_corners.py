"""Rare forms of branches, hand-made loops, `Defun`s, staging areas and datasets."""

import importlib

from programs.raised import WHOLE, caught, mistakes
from programs.tools import late, run


def _module(tf, path):
    """Returns the internal module `tensorflow.PATH` of the library under test."""
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow." + path)
    modules = importlib.import_module("millstream.programs.modules")

    class Module:
        def __getattr__(self, name):
            return modules.attribute(path, name)

    return Module()


def slices_with_two_kinds_of_rows(tf):
    p = tf.placeholder(tf.bool, [])
    narrow = lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([1], tf.int32))
    wide = lambda: tf.IndexedSlices(tf.constant([2.0]), tf.constant([2], tf.int64))
    made = [tf.cond(p, narrow, wide), tf.cond(p, wide, narrow), tf.cond(p, narrow, narrow)]
    with tf.Session() as sess:
        values = [sess.run([one.values, one.indices], {p: taken}) for one in made for taken in (True, False)]
    return [one.indices.dtype for one in made], values


def merged_slices_and_tensors(tf):
    flow = _module(tf, "python.ops.control_flow_ops")
    p = tf.placeholder(tf.bool, [])
    rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3], tf.int64), tf.constant([4, 2]))
    left, _ = flow.switch(rows, p)
    _, right = flow.switch(tf.constant([[5.0, 6.0], [7.0, 8.0]]), p)
    merged, number = flow.merge([left, right])
    with tf.Session() as sess:
        return type(merged).__name__, merged.indices.dtype, [sess.run([merged.values, merged.indices, number], {p: taken}) for taken in (True, False)]


def switched_references(tf):
    flow = _module(tf, "python.ops.control_flow_ops")
    v = tf.Variable([1.0, 2.0], name="v")
    made = flow._SwitchRefOrTensor(v._ref(), tf.constant(True))
    plain = flow._SwitchRefOrTensor(tf.constant([1.0, 2.0]), tf.constant(True))
    return made[0].dtype.name, made[0].op.type, made[0].op.colocation_groups(), plain[0].dtype.name, plain[0].op.type


def groups_of_parts(tf):
    sparse, rows = tf.SparseTensor([[0]], [1.0], [2]), tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    both = tf.group(sparse, {"a": rows})
    passed = tf.tuple([tf.constant(1), tf.no_op(name="nothing")])
    return [o.name for o in both.control_inputs], type(passed[1]).__name__, passed[1].type, run(tf, passed[0])


def contexts_of_messages(tf):
    flow = _module(tf, "python.ops.control_flow_ops")
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="loop")
    tf.cond(late(tf, True), lambda: 1, lambda: 2, name="branch")
    loop, branch = tf.get_collection("while_context")[0], tf.get_collection("cond_context")[0]
    again, taken = flow.WhileContext.from_proto(loop.to_proto()), flow.CondContext.from_proto(branch.to_proto())
    return again.name, again.parallel_iterations, again.grad_state, taken.name, taken.branch, taken.pred.name


def functions_of_collections(tf):
    ops = _module(tf, "python.framework.ops")
    v = tf.Variable(1.0, name="v")
    message = ops.get_to_proto_function("variables")(v)
    again = ops.get_from_proto_function("variables")(message)
    kinds = [ops.get_collection_proto_type(key).__name__ for key in ("variables", "savers", "queue_runners", "while_context", "cond_context")]
    return kinds, message.variable_name, again.name, ops.get_to_proto_function("of nothing")


def arrays_of_flows(tf):
    of = _module(tf, "python.ops.tensor_array_ops")
    array = tf.TensorArray(tf.float32, 2, element_shape=[])
    written = array.write(0, 3.0)
    return run(tf, of.build_ta_with_new_flow(array, written.flow).read(0)), caught(lambda: written.grad(None), WHOLE), caught(lambda: written.grad(3), WHOLE)


def captured_by_functions(tf):
    Defun = _module(tf, "python.framework.function").Defun
    x, fed = tf.constant(5.0), tf.placeholder(tf.float32, name="fed")
    times = Defun(tf.float32, func_name="times")(lambda y: x * y)
    random = Defun(func_name="random")(lambda: tf.random_uniform([]))
    shaped = Defun(tf.float32, func_name="shaped", shape_func=lambda op: [tf.TensorShape([3, 4])])(lambda y: tf.identity(y))
    value = run(tf, times(2.0))
    random()
    refused = Defun(tf.float32, func_name="by_value", capture_by_value=True)(lambda y: fed * y)
    return (
        value, [t.name for t in times.captured_inputs], [kind for _, kind in random.stateful_ops],
        shaped(tf.placeholder(tf.float32)).shape.as_list(), caught(lambda: refused(1.0), WHOLE),
    )  # fmt: skip


def names_of_created_operations(tf):
    graph = tf.get_default_graph()
    create = lambda name: caught(lambda: graph.create_op("NoOp", [], [], name=name), WHOLE)
    with tf.name_scope("inner"):
        inner = create("_below"), graph.create_op("NoOp", [], [], name="below").name
    return create("bad name"), create("_x"), inner, graph.create_op("NoOp", [], [], name="q/").name


def keys_of_a_staging_map(tf):
    Area = _module(tf, "python.ops.data_flow_ops").MapStagingArea
    area = Area([tf.float32, tf.int32], shapes=[[], []], names=["x", "y"], ordered=True)
    key = lambda n: tf.constant(n, tf.int64)
    put = [area.put(key(n), {"x": tf.constant(n / 2.0), "y": tf.constant(n * 2)}) for n in (7, 3)]
    taken, known = area.get(), area.get(key(7))
    with tf.Session() as sess:
        for one in put:
            sess.run(one)
        return sess.run(taken), sess.run(known[1]), sess.run(area.size())


def refusals_of_datasets(tf):
    D = tf.data.Dataset
    d = D.range(3)
    return mistakes(
        tf,
        map_of_a_number=lambda: D.range(3).map(3),
        filter_of_a_number=lambda: D.range(3).filter(3),
        flat_map_of_a_number=lambda: D.range(3).flat_map(3),
        concatenation_with_a_number=lambda: D.range(3).concatenate(3),
        
        options_of_a_number=lambda: D.range(3).with_options(3),
        padding_of_another_dtype=lambda: D.range(3).padded_batch(2, [], padding_values=-1),
        elements_without_parts=lambda: D.from_tensors(()),
        state_of_another_dtype=lambda: D.range(3).reduce(0, lambda a, b: tf.cast(b, tf.float32)),
    ), d.make_initializable_iterator().initializer.name


def names_of_initializers(tf):
    it = tf.data.Iterator.from_structure(tf.int64, [])
    return it.make_initializer(tf.data.Dataset.range(3)).name, it.make_initializer(tf.data.Dataset.range(3), name="mine").name


def _elements(tf, dataset, n=200):
    it = dataset.make_initializable_iterator()
    element, found = it.get_next(), []
    with tf.Session() as sess:
        sess.run(it.initializer)
        try:
            for _ in range(n):
                found.append(sess.run(element))
        except tf.errors.OutOfRangeError:
            found.append("end")
    return found


def rejected_elements(tf):
    tf.set_random_seed(5)
    resample, d = tf.data.experimental.rejection_resample, tf.data.Dataset.range(60)
    kind = lambda x: tf.cast(x % 4 < 1, tf.int32)
    shares = {
        "told": resample(kind, [0.5, 0.5], [0.75, 0.25], seed=7),
        "estimated": resample(kind, [0.5, 0.5], seed=7),
        "as they are": resample(kind, [0.75, 0.25], [0.75, 0.25], seed=7),
        "one alone": resample(kind, [0.0, 1.0], [0.75, 0.25], seed=7),
    }
    return {key: [pair if pair == "end" else [int(part) for part in pair] for pair in _elements(tf, d.apply(by))] for key, by in shares.items()}


def rejected_pairs(tf):
    D = tf.data.Dataset
    pairs = D.zip((D.range(20), D.range(20).map(lambda x: x * 2)))
    made = pairs.apply(tf.contrib.data.rejection_resample(lambda x, _: tf.cast(x % 2, tf.int32), [0.2, 0.8], [0.5, 0.5], seed=3))
    return made.output_shapes, made.output_types, _elements(tf, made)


def former_windows(tf):
    contrib, d = tf.contrib.data, tf.data.Dataset.range(7)
    by = [contrib.sliding_window_batch(3), contrib.sliding_window_batch(3, 2), contrib.sliding_window_batch(2, window_shift=3, window_stride=2)]
    pairs = tf.data.Dataset.zip((d, d)).apply(contrib.sliding_window_batch(3, 3))
    return [_elements(tf, d.apply(one)) for one in by], _elements(tf, pairs), caught(lambda: contrib.sliding_window_batch(2, 2, 2), WHOLE)


def reduced_at_once(tf):
    import numpy as np

    contrib = tf.contrib.data
    total = contrib.Reducer(lambda _: np.int64(0), lambda s, x: s + x, lambda s: s * 2)
    return run(tf, contrib.reduce_dataset(tf.data.Dataset.range(7), total)), caught(lambda: contrib.reduce_dataset(3, total), WHOLE)


def shapes_of_elements(tf):
    of, D = tf.contrib.data.assert_element_shape, tf.data.Dataset
    fixed, ragged = D.from_tensors([1, 2]), D.range(1, 4).map(lambda x: tf.fill([x], x))
    known = ragged.apply(of(tf.TensorShape([1])))
    return _elements(tf, fixed.apply(of(tf.TensorShape([2])))), known.output_shapes, _elements(tf, known, 1), caught(lambda: fixed.apply(of(tf.TensorShape([3]))), WHOLE)


def inputs_of_contexts(tf):
    util, node = _module(tf, "python.ops.control_flow_util"), tf.get_default_graph().get_operation_by_name
    first = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], name="a")
    tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], name="b")
    taken = tf.cond(late(tf, True), lambda: tf.constant(1, name="t"), lambda: tf.constant(2, name="f"), name="c")
    pairs = [
        ("a/add", "a/Identity"), ("a/add", "b/Identity"), (taken.op.name, "a/add"), ("a/add", first.op.name), ("a/add", "c/t"), (first.op.name, "a/add")
    ]  # fmt: skip
    return [caught(lambda one=one, other=other: util.CheckInputFromValidContext(node(one), node(other)), WHOLE) for one, other in pairs]


def devices_and_tensors_of_tests(tf):
    import unittest

    util = _module(tf, "python.framework.test_util")

    class Case(util.TensorFlowTestCase):
        @util.assert_no_new_tensors
        def test_nothing_left(self):
            tf.Graph()

    result = unittest.TestResult()
    Case("test_nothing_left").run(result)
    with tf.Graph().as_default(), util.device(use_gpu=False):
        return tf.constant(1).op.device, len(result.errors), len(result.failures)


def bounds_that_are_fractions(tf):
    loops = [tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=bound) for bound in (1.5, 2.0, 0.2)]
    refused = caught(lambda: tf.while_loop(lambda i: i < 9, lambda i: i + 1, [0], parallel_iterations=1.5), WHOLE)
    return run(tf, loops), refused, caught(lambda: tf.switch_case(tf.constant(0), None), WHOLE)


def one_value_for_all_elements(tf):
    made = [tf.make_tensor_proto(3, shape=[2, 2]), tf.make_tensor_proto([1.5], shape=[3]), tf.make_tensor_proto("a", shape=[2]), tf.make_tensor_proto([1, 2])]
    return [(list(p.int_val), list(p.float_val), list(p.string_val), len(p.tensor_content), tf.make_ndarray(p)) for p in made]


def scopes_of_context_messages(tf):
    with tf.name_scope("outer"):
        x = tf.constant(1, name="x")
        with tf.name_scope("inner"):
            tf.while_loop(lambda i: i < 5, lambda i: i + x, [0], name="a", maximum_iterations=4)
            tf.cond(tf.constant(True, name="p"), lambda: x * 2, lambda: x + 1, name="c")
    loop, branch = tf.get_collection("while_context")[0], tf.get_collection("cond_context")[1]

    def told(message):
        names = sorted(message.values_def.values), sorted(message.values_def.external_values.items())
        return (message.context_name, message.pivot_name, *names)

    exits = list(loop.to_proto("outer").loop_exit_names), loop.to_proto("outer").maximum_iterations_name
    return [told(c.to_proto(s)) for c in (loop, branch) for s in ("outer", "outer/inner", None)], loop.to_proto("other"), exits
