"""Typical programs for the type checker: no errors, and the asserted types. They are not run."""

from typing import Any, List

import numpy as np
from typing_extensions import assert_type

import millstream as tf
import millstream.compat.v1 as v1

# Constants, placeholders, and functions that are one op each.
a = tf.constant([1.0, 2.0])
x = tf.placeholder(tf.float32, [None, 2], name="x")
assert_type(a, tf.Tensor)
assert_type(x, tf.Tensor)
assert_type(tf.add(a, 1), tf.Tensor)
assert_type(tf.math.add(a, [1, 2]), tf.Tensor)
assert_type(tf.nn.relu(a, name="r"), tf.Tensor)
assert_type(tf.bitwise.bitwise_and(1, 2), tf.Tensor)
assert_type(tf.raw_ops.AddV2(x=a, y=np.float32(1)), tf.Tensor)
assert_type(tf.matmul(x, np.ones([2, 3], np.float32), transpose_b=False), tf.Tensor)
assert_type(tf.reduce_sum(a), tf.Tensor)
assert_type(tf.raw_ops.Unpack(value=a, num=2), List[tf.Tensor])
assert_type(tf.no_op(), tf.Operation)
assert_type(v1.add(1, 2), tf.Tensor)
assert_type(tf.compat.v1.constant(1), tf.Tensor)

# Operators and attributes of tensors.
assert_type(a + 1, tf.Tensor)
assert_type(1 - a, tf.Tensor)
assert_type(a * [1.0, 2.0], tf.Tensor)
assert_type(a < 2.0, tf.Tensor)
assert_type(-a, tf.Tensor)
assert_type(a[0], tf.Tensor)
assert_type(a[..., tf.newaxis], tf.Tensor)
assert_type(a.name, str)
assert_type(a.dtype, tf.DType)
assert_type(a.shape, tf.TensorShape)
assert_type(a.get_shape().as_list(), List[Any])
assert_type(a.op, tf.Operation)
assert_type(a.op.outputs, List[tf.Tensor])
assert_type(a.graph, tf.Graph)
assert_type(tf.float32, tf.DType)
assert_type(tf.as_dtype("int32").name, str)

# Loops and branches.
i = tf.while_loop(lambda i: tf.less(i, 10), lambda i: i + 1, [tf.constant(0)])
m = tf.cond(tf.less(a[0], 2.0), lambda: a, lambda: a * 2.0)
total = tf.scan(lambda acc, e: acc + e, a)
array = tf.TensorArray(tf.float32, size=3).write(0, 1.0)
assert_type(array, tf.TensorArray)
assert_type(array.stack(), tf.Tensor)

# Variables and training.
v = tf.Variable(1.0, name="v")
w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer())
assert_type(v, tf.Variable)
assert_type(v + 1.0, tf.Tensor)
v.assign_add(1.0)
with tf.variable_scope("scope", reuse=tf.AUTO_REUSE) as scope:
    tf.get_variable("w", [2], tf.float32)
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(v))
saver = tf.train.Saver(max_to_keep=1)
assert_type(saver, tf.train.Saver)

# Queues and threads.
queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
assert_type(queue.enqueue([1.0]), tf.Operation)
coord = tf.train.Coordinator()
assert_type(coord, tf.train.Coordinator)
assert_type(coord.should_stop(), bool)

# Graphs and sessions.
with tf.Graph().as_default() as g, tf.device("/cpu:0"), tf.name_scope("s"), tf.control_dependencies([tf.no_op()]):
    tf.zeros([2, 3], tf.int32)
config = tf.ConfigProto(intra_op_parallelism_threads=1, device_count={"CPU": 1})
with tf.Session(graph=tf.get_default_graph(), config=config) as sess:
    assert_type(sess, tf.Session)
    value = sess.run([a, {"m": m}], feed_dict={x: np.ones([1, 2])})
    f = sess.make_callable(a, [x])
    f(np.zeros([1, 2]))
    try:
        sess.run(a, options=tf.RunOptions(timeout_in_ms=10), run_metadata=tf.RunMetadata())
    except (tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError) as e:
        assert_type(e.message, str)
definition = tf.get_default_graph().as_graph_def()
assert_type(tf.GraphDef(node=[tf.NodeDef(name="n", op="NoOp")]), tf.GraphDef)
assert_type(tf.GraphDef().versions.producer, Any)
assert_type(tf.NodeDef().name, str)


class Twice(tf.train.SessionRunHook):
    """A user-defined hook."""

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(a)


cell = tf.nn.rnn_cell.LSTMCell(3)
out, state = tf.nn.dynamic_rnn(cell, tf.zeros([1, 2, 3]), dtype=tf.float32)
tf.logging.info("%d", 1)
tf.summary.scalar("s", a[0])
tf.contrib.training.bucket([a], 0, 2, 2)
