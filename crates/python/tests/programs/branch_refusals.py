"""Errors of branches, assertions and other composed operations."""

import numpy as np

from programs.raised import WHOLE, caught
from programs.tools import run


def predicates_that_are_no_bool(tf):
    one, two = lambda: 1, lambda: 2
    return [caught(lambda p=p: tf.cond(p, one, two), WHOLE) for p in (1, tf.constant(1), "a", tf.constant(2.0))]


def branches_that_differ(tf):
    x = tf.constant(2)
    return (
        caught(lambda: tf.cond(x > 1, lambda: tf.no_op(), lambda: x), WHOLE),
        caught(lambda: tf.cond(x > 1, lambda: x, lambda: tf.no_op()), WHOLE),
        caught(lambda: tf.cond(x > 1, lambda: tf.SparseTensor([[0]], [1], [1]), lambda: x), "Incompatible return values of true_fn and false_fn: The two structures don't have the same nested structure."),
    )


def cases_that_differ(tf):
    x = tf.constant(1)
    return caught(lambda: tf.switch_case(x, [lambda: 1, lambda: 2.0]), "branches[0] and branches[1] arguments to tf.switch_case must have the same number, type, and overall structure of return values.")


def predicate_of_another_graph(tf):
    with tf.Graph().as_default():
        p = tf.constant(True)
    c = tf.cond(p, lambda: 1, lambda: 2)
    with tf.Session(graph=p.graph) as sess:
        return c.graph is p.graph, sess.run(c)


def tuples(tf):
    v = tf.Variable(0)
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    first, second, third = tf.tuple([slices, tf.constant(2), 3], control_inputs=[v.initializer])
    return first.values.name, second.name, third.name, run(tf, [first, second, third])


def loop_shapes_that_are_none(tf):
    x = tf.ones([2, 3])
    grow = lambda i, m: (i + 1, tf.concat([m, m], 0))
    keep = lambda i, m: (i + 1, m * 2)
    loop = lambda body: tf.while_loop(lambda i, m: i < 3, body, [0, x], shape_invariants=[tf.TensorShape([]), None])
    return caught(lambda: loop(grow), "enters the loop with shape (2, 3), but has shape (4, 3) after one iteration"), str(loop(keep)[1].shape)


def asserted_of_a_python_bool(tf):
    no, yes, other = tf.Assert(False, ["x"], name="no"), tf.Assert(True, ["x"]), tf.Assert(False, [1.5, "y"])
    with tf.Session() as sess:
        return no.name, [caught(lambda o=o: sess.run(o), WHOLE) for o in (no, yes, other)], caught(lambda: tf.Assert(tf.constant(True), []), WHOLE)


def asserted_of_signs(tf):
    p = tf.placeholder(tf.int32, name="p")
    c = tf.constant([1, -1], name="c")
    with tf.Session() as sess:
        checks = (tf.assert_negative, tf.assert_positive, tf.assert_non_negative, tf.assert_non_positive)
        return [(caught(lambda f=f: sess.run(f(p, message="told"), {p: [1, -1]}), WHOLE), caught(lambda f=f: f(c), WHOLE)) for f in checks]


def printed_data_that_is_no_list(tf):
    x = tf.constant([1, 2])
    return caught(lambda: tf.Print(x, x), "Expected list for 'data' argument to 'Print' Op, not Tensor("), caught(lambda: tf.Print(x, None), WHOLE)


def rows_of_a_sparse_tensor(tf):
    return caught(lambda: tf.map_fn(lambda x: x, tf.SparseTensor([[0]], [1], [1])), WHOLE)


def cells_that_are_none(tf):
    cell, n = tf.nn.rnn_cell.GRUCell(3), None
    x = tf.placeholder(tf.float32, [n, n, n])
    return (
        caught(lambda: tf.nn.dynamic_rnn(5, tf.zeros([2, 3, 4]), dtype=tf.float32), WHOLE),
        caught(lambda: tf.nn.dynamic_rnn(cell, x, dtype=tf.float32), WHOLE),
        caught(lambda: tf.nn.dynamic_rnn(cell, tf.zeros([2]), dtype=tf.float32, scope="other"), "Expected input tensor Tensor("),
    )


def producer_of_matching_files(tf):
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    for name in ("a.x", "b.x", "c.y"):
        open(os.path.join(folder, name), "w").close()
    names = tf.train.match_filenames_once(os.path.join(folder, "*.x"))
    one = tf.train.string_input_producer(names, num_epochs=1, shuffle=False).dequeue()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        found = [os.path.basename(sess.run(one)) for _ in range(2)]
        end = caught(lambda: sess.run(one))
        coord.request_stop()
        coord.join(threads)
        return found, end, caught(lambda: tf.train.string_input_producer(None), WHOLE), caught(lambda: tf.train.string_input_producer(np.array([], "S")), WHOLE) if False else None


def names_of_a_recurrent_loop(tf):
    x = tf.placeholder(tf.float32, [None, None, 3])
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, dtype=tf.float32)
    return state.name, [o.inputs[0].name for o in tf.get_default_graph().get_operations() if o.type == "Enter" and not o.get_attr("is_constant")]
