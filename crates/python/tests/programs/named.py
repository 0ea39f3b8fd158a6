"""Names of the public API that no other program here uses."""

import numpy as np

from programs.tools import caught, run


def comparisons_by_name(tf):
    a, b = [1, 2, 3], [2, 2, 2]
    f = [1.5, np.nan], [1.5, 1.0]
    return run(tf, [tf.greater(a, b), tf.greater_equal(a, b), tf.greater(*f), tf.greater_equal(*f), tf.greater([[1], [3]], [2, 0])])


def instances_of_tensor(tf):
    things = [tf.constant(1), tf.Variable(1), 3, np.zeros(1), tf.SparseTensor([[0]], [1], [2]), tf.no_op(), tf.TensorShape([1])]
    return [isinstance(t, tf.Tensor) for t in things]


def containers(tf):
    with tf.container("mine"):
        q = tf.FIFOQueue(2, [tf.int32], shapes=[[]])
        v = tf.Variable(1, name="v")
    r = tf.FIFOQueue(2, [tf.int32], shapes=[[]])
    return [x.op.node_def.attr["container"].s for x in (q.queue_ref, v, r.queue_ref)]


def errors_raised_and_caught(tf):
    e = tf.errors
    out = []
    for kind in (e.FailedPreconditionError, e.PermissionDeniedError, e.ResourceExhaustedError, e.UnavailableError, e.UnimplementedError):
        try:
            raise kind(None, None, "why")
        except tf.errors.OpError as error:
            out.append([type(error).__name__, error.error_code, error.message, error.node_def, error.op])
    return out


def cells_by_their_public_names(tf):
    x, out = tf.constant([[[1.0, 2.0], [0.5, -1.0]]]), []
    c = tf.nn.rnn_cell
    with tf.variable_scope("cells", initializer=tf.constant_initializer(0.1)):
        for i, cell in enumerate((c.BasicRNNCell(2), c.BasicLSTMCell(2), c.GRUCell(2), c.LSTMCell(2))):
            with tf.variable_scope("c%d" % i):
                state = cell.get_initial_state(batch_size=1, dtype=tf.float32)
                output, final = cell(x[0, :1], state)
                again = tf.nn.dynamic_rnn(cell, x, initial_state=state)[0]
                out.append([output, final, again])
    initial = c.GRUCell(3).get_initial_state(inputs=tf.zeros([4, 2]))
    return run(tf, out), str(initial.shape), run(tf, initial)


def stacks_closed(tf):
    stack = tf.raw_ops.Stack(elem_type=tf.float32, stack_name="s")
    pushed = tf.raw_ops.StackPush(handle=stack, elem=3.0)
    with tf.control_dependencies([pushed]):
        close = tf.raw_ops.StackClose(handle=stack)
    with tf.Session() as sess:
        return sess.run([pushed, close])


def gradients_of_arrays_by_hand(tf):
    array = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    with tf.control_dependencies([array.flow]):
        gradient = array.grad("g")
    written = gradient.write(0, 5.0).write(1, 6.0)
    return run(tf, [written.read(0), written.read(1), array.read(1)])


def coordinators_inside(tf):
    coordinator = tf.train.Coordinator()
    with coordinator._lock:
        inside = len(coordinator._registered_threads)
    return inside, coordinator.should_stop()
