"""Variables of both kinds: initialisation, assignments, scatters, counters."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case

raw = tf.raw_ops
KINDS = (('ref', False), ('resource', True))


def var(name, value, resource, dtype=None):
    """A variable of one of the two kinds."""
    return tf.Variable(tf.constant(value, dtype), name=name, use_resource=resource, dtype=dtype)


def both(name, about):
    """Registers a case once for reference variables and once for resource variables."""
    def add(build):
        for kind, resource in KINDS:
            def one(c, resource=resource):
                build(c, resource)
            case('var_%s_%s' % (kind, name), 'state', about + ' (%s variables)' % kind)(one)
        return build
    return add


@both('init_and_read', 'Variables of seven dtypes are initialised and read.')
def init_and_read(c, resource):
    vs = [var('v%d' % k, value, resource, dtype) for k, (value, dtype) in enumerate([
        ([1.5, -2], tf.float32), (3, tf.int32), ([[2 ** 40]], tf.int64), ([True, False], tf.bool), (0.1, tf.float64),
        (['x', 'yz'], tf.string), ([1 + 2j], tf.complex64)])]
    c.init()
    c.fetch([v.read_value() for v in vs], exact=True)


@both('init_separately', 'Each variable has its own initialiser target; the second is initialised from the first.')
def init_separately(c, resource):
    a = var('a', [1.0, 2.0], resource)
    b = tf.Variable(a.initialized_value() * 10, name='b', use_resource=resource)
    c.target(a.initializer, b.initializer)
    c.fetch(a.read_value(), b.read_value(), exact=True)


@both('assign_family', 'assign, assign_add and assign_sub as targets, some more than once.')
def assign_family(c, resource):
    v = var('v', [1.0, 2.0], resource)
    x = c.feed('x', np.array([0.5, 4], np.float32))
    add, sub, put = v.assign_add(x), v.assign_sub([3.0, 1.0]), v.assign(x * 100)
    c.init()
    ops = [t.op for t in (add, sub, put)]
    c.target(ops[0], ops[0], ops[1], ops[2], ops[0])
    c.fetch(v.read_value(), exact=True)


@both('assign_then_read', 'The value of an assignment is fetched, then used under control dependencies.')
def assign_then_read(c, resource):
    v = var('v', 5, resource)
    with tf.control_dependencies([v.assign_add(2)]):
        with tf.control_dependencies([v.assign(v.read_value() * 10)]):
            after = tf.identity(v.read_value())
    c.init()
    c.fetch(after)


@both('assign_in_loop', 'assign_add in a loop body in a fixed order: one iteration at a time, the read before the next.')
def assign_in_loop(c, resource):
    v = var('v', 1, resource)

    def body(i, s):
        with tf.control_dependencies([v.assign_add(i)]):
            now = tf.identity(v.read_value())
        with tf.control_dependencies([now]):
            return i + 1, s * 3 + now
    i, s = tf.while_loop(lambda i, s: i < 6, body, [0, 0], parallel_iterations=1)
    with tf.control_dependencies([i, s]):
        after = v.read_value()
    c.init()
    c.fetch(i, s, after)


@both('assign_vector_in_loop', 'assign and assign_sub of vectors in a loop; the update is a function of the variable.')
def assign_vector_in_loop(c, resource):
    v = var('v', [1.0, 2.0, 4.0], resource)

    def body(i):
        with tf.control_dependencies([v.assign(v.read_value() * 2)]):
            with tf.control_dependencies([v.assign_sub([1.0, 1.0, 1.0])]):
                return i + 1
    i = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.control_dependencies([i]):
        after = v.read_value()
    c.init()
    c.fetch(after, exact=True)


@both('condition_reads', 'The loop condition reads a variable that the body changes.')
def condition_reads(c, resource):
    v = var('v', 100, resource)

    def body(i):
        with tf.control_dependencies([v.assign_sub(i + 7)]):
            return i + 1

    def condition(i):
        with tf.control_dependencies([i]):
            return v.read_value() > 0
    i = tf.while_loop(condition, body, [0], parallel_iterations=1)
    with tf.control_dependencies([i]):
        after = v.read_value()
    c.init()
    c.fetch(i, after)


@both('kept_across_runs', 'A counter variable is advanced by a loop in each of three target runs.')
def kept_across_runs(c, resource):
    v = var('v', 0, resource)

    def body(i):
        with tf.control_dependencies([v.assign_add(1)]):
            return i + 1
    i = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)
    step = tf.group(i, name='step')
    c.init()
    c.target(step, step, step)
    c.fetch(v.read_value())


@both('uninitialized', 'Reading a variable before its initialiser ran fails.')
def uninitialized(c, resource):
    v = var('v', [1.0], resource)
    c.fetch(v.read_value() + 1.0)
    c.fails('FAILED_PRECONDITION')


@case('var_ref_uninitialized_assign_add', 'state', 'assign_add to a reference variable that was never initialised fails.')
def uninitialized_assign_add(c):
    c.fetch(var('v', [1.0], False).assign_add([2.0]))
    c.fails('FAILED_PRECONDITION')


@case('var_resource_uninitialized_assign_add', 'state',
      'assign_add to a resource variable that was never created: NOT_FOUND, where a read says FAILED_PRECONDITION.')
def uninitialized_resource_assign_add(c):
    c.fetch(var('v', [1.0], True).assign_add([2.0]))
    c.fails('NOT_FOUND')


@both('is_initialized', 'is_variable_initialized for one variable that is and one that is not.')
def is_initialized(c, resource):
    a, b = var('a', 1.0, resource), var('b', 2.0, resource)
    c.target(a.initializer)
    c.fetch(tf.is_variable_initialized(a), tf.is_variable_initialized(b))


@both('count_up_to', 'count_up_to: three target runs, then the fetched count.')
def count_up_to(c, resource):
    v = var('v', 4, resource, tf.int64)
    count = v.count_up_to(8)
    c.init()
    c.target(count.op, count.op, count.op)
    c.fetch(count)


@both('count_up_to_end', 'count_up_to at its limit ends with OUT_OF_RANGE.')
def count_up_to_end(c, resource):
    v = var('v', 0, resource)
    count = v.count_up_to(2)
    c.init()
    c.target(count.op, count.op)
    c.fetch(count)
    c.fails('OUT_OF_RANGE')


@both('count_up_to_in_loop', 'count_up_to as the counter inside a loop body.')
def count_up_to_in_loop(c, resource):
    v = var('v', 0, resource)
    c.init()
    c.fetch(tf.while_loop(lambda i, s: i < 4, lambda i, s: (v.count_up_to(10), s * 10 + i), [0, 0], parallel_iterations=1))


@both('shape_and_dtype', 'The run-time shape of a variable, after an assignment of another shape.')
def shape_and_dtype(c, resource):
    v = tf.Variable(tf.zeros([2, 3]), name='v', use_resource=resource, validate_shape=False)
    put = tf.assign(v, tf.ones([4, 1]), validate_shape=False) if not resource else None
    c.init()
    if put is not None:
        c.target(put.op)
        c.fetch(tf.shape(v._ref()), v.read_value(), exact=True)
    else:
        c.fetch(raw.VariableShape(input=v.handle), raw.VariableShape(input=v.handle, out_type=tf.int64))


@both('sparse_read', 'gather from a variable, with indices of rank one and two.')
def sparse_read(c, resource):
    v = var('v', [[1.0, 2], [3, 4], [5, 6]], resource)
    i = c.feed('i', np.array([[2, 0], [1, 1]], np.int64))
    c.init()
    c.fetch(tf.gather(v, [2, 2, 0]), tf.gather(v, i), tf.nn.embedding_lookup(v, i), exact=True)


@both('uses_in_cond', 'A variable read in one branch and changed in the other.')
def uses_in_cond(c, resource):
    v = var('v', 3.0, resource)
    p = c.feed('p', np.bool_(False))
    r = tf.cond(p, lambda: v.read_value() * 2, lambda: tf.identity(v.assign_add(10.0)))
    c.init()
    c.target(r.op)
    c.fetch(r, exact=True)


@both('gradient', 'The gradient of a loss for a variable and one descent step by hand.')
def gradient(c, resource):
    w = var('w', [[1.0, -1.0], [0.5, 2.0]], resource)
    x = c.feed('x', np.array([[1, 2], [3, 4]], np.float32))
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
    g = tf.gradients(loss, w)[0]
    step = w.assign_sub(0.01 * g)
    c.init()
    c.target(step.op)
    c.fetch(loss, g, w.read_value())


@both('gradient_gather', 'The gradient of a gather is IndexedSlices; applied with scatter_sub.')
def gradient_gather(c, resource):
    w = var('w', [[1.0, -1.0], [0.5, 2.0], [3.0, 4.0]], resource)
    i = c.feed('i', np.array([2, 0, 2], np.int32))
    loss = tf.reduce_sum(tf.square(tf.gather(w, i)))
    g = tf.gradients(loss, w)[0]
    if isinstance(g, tf.IndexedSlices):
        step = tf.scatter_sub(w, g.indices, 0.1 * g.values)
    else:
        step = w.assign_sub(0.1 * g)
    c.init()
    c.target(step.op)
    c.fetch(loss, w.read_value())


SCATTERS = ('update', 'add', 'sub', 'mul', 'div', 'min', 'max')


def scatter(kind):
    """One scatter op for both kinds of variables: repeated indices, scalar updates, two dtypes."""
    @both('scatter_' + kind, 'scatter_%s with vector and scalar updates, with an index that is repeated.' % kind)
    def build(c, resource):
        v = var('v', [[1.0, 2], [3, 4], [5, 6], [7, 8]], resource)
        w = var('w', [10, -20, 30, -40, 50], resource, tf.int64)
        i = c.feed('i', np.array([3, 0] if kind == 'update' else [3, 0, 3], np.int32))
        x = c.feed('x', np.array([[2, 4], [-8, 0.5], [1, -2]][:2 if kind == 'update' else 3], np.float32))
        name = 'Scatter' + kind.title()
        if resource:
            op = getattr(raw, 'Resource' + name)
            first = op(resource=v.handle, indices=i, updates=x)
            second = op(resource=w.handle, indices=tf.constant([[4, 1]], tf.int64), updates=tf.constant(3, tf.int64))
        else:
            op = getattr(raw, name)
            first = op(ref=v._ref(), indices=i, updates=x).op
            second = op(ref=w._ref(), indices=tf.constant([[4, 1]], tf.int64), updates=tf.constant([[3, 3]], tf.int64)).op
        c.init()
        c.target(first, second, second)
        c.fetch(v.read_value(), w.read_value(), exact=True)


for _kind in SCATTERS:
    scatter(_kind)


def scatter_nd(kind):
    """One scatter_nd op for both kinds of variables."""
    @both('scatter_nd_' + kind, 'scatter_nd_%s with full and partial indices.' % kind)
    def build(c, resource):
        v = var('v', [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]], resource)
        full = c.feed('full', np.array([[0, 2], [2, 0]], np.int32))
        rows = tf.constant([[1], [2]], tf.int64)
        x = c.feed('x', np.array([100, 200], np.float32))
        y = tf.constant([[1.0, 1.5, 2.0], [-1, -2, -3]])
        name = 'ScatterNd' + kind.title()
        if resource:
            op = getattr(raw, 'Resource' + name)
            ops = [op(ref=v.handle, indices=full, updates=x), op(ref=v.handle, indices=rows, updates=y)]
        else:
            op = getattr(raw, name)
            ops = [op(ref=v._ref(), indices=full, updates=x).op, op(ref=v._ref(), indices=rows, updates=y).op]
        c.init()
        c.target(*ops)
        c.fetch(v.read_value(), exact=True)


for _kind in ('update', 'add', 'sub'):
    scatter_nd(_kind)


@both('scatter_in_loop', 'scatter_add in a loop: a histogram of a fed vector.')
def scatter_in_loop(c, resource):
    v = var('v', [0, 0, 0, 0], resource)
    x = c.feed('x', np.array([3, 1, 3, 0, 3, 1], np.int32))

    def body(i):
        if resource:
            done = raw.ResourceScatterAdd(resource=v.handle, indices=x[i], updates=1)
        else:
            done = raw.ScatterAdd(ref=v._ref(), indices=x[i], updates=1)
        with tf.control_dependencies([done]):
            return i + 1
    i = tf.while_loop(lambda i: i < 6, body, [0], parallel_iterations=1)
    with tf.control_dependencies([i]):
        after = v.read_value()
    c.init()
    c.fetch(after)


@both('scatter_bad_index', 'scatter_update with an index outside the variable.')
def scatter_bad_index(c, resource):
    v = var('v', [1.0, 2.0], resource)
    i = c.feed('i', np.array([5], np.int32))
    c.init()
    if resource:
        c.target(raw.ResourceScatterUpdate(resource=v.handle, indices=i, updates=[1.0]))
    else:
        c.target(raw.ScatterUpdate(ref=v._ref(), indices=i, updates=[1.0]).op)
    c.fetch(v.read_value())
    c.fails('INVALID_ARGUMENT')


@both('assign_bad_shape', 'Assigning a fed value of another shape to a variable whose shape is fixed.')
def assign_bad_shape(c, resource):
    v = var('v', [1.0, 2.0], resource)
    x = c.feed('x', np.array([1, 2, 3], np.float32), shape=None)
    c.init()
    c.target(v.assign_add(x).op)
    c.fetch(v.read_value())
    c.fails('INVALID_ARGUMENT')


@case('var_resource_handles_shared', 'state', 'Two VarHandleOps with one shared_name are one variable.')
def handles_shared(c):
    a = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name='both', container='')
    b = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name='both', container='')
    c.target(raw.AssignVariableOp(resource=a, value=[1.0, 2.0]), raw.AssignAddVariableOp(resource=b, value=[10.0, 20.0]))
    c.fetch(raw.ReadVariableOp(resource=a, dtype=tf.float32), exact=True)


@case('var_resource_destroy', 'state', 'A destroyed resource variable is uninitialised again.')
def destroy(c):
    a = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name='gone')
    c.target(raw.AssignVariableOp(resource=a, value=[1.0, 2.0]), raw.DestroyResourceOp(resource=a, ignore_lookup_error=False))
    c.fetch(raw.VarIsInitializedOp(resource=a))


@case('var_resource_handle_in_cond', 'state', 'A resource handle passes through Switch and Merge: the chosen variable is changed.')
def handle_in_cond(c):
    vs = [var('v%d' % k, float(k), True) for k in range(2)]
    p = c.feed('p', np.bool_(True))
    handle = tf.cond(p, lambda: tf.identity(vs[0].handle), lambda: tf.identity(vs[1].handle))
    c.init()
    c.target(raw.AssignAddVariableOp(resource=handle, value=5.0))
    c.fetch(vs[0].read_value(), vs[1].read_value(), exact=True)


@case('var_ref_old_op', 'state', 'The first Variable op (not VariableV2) with Assign.')
def old_op(c):
    v = raw.Variable(shape=[2], dtype=tf.float32)
    put = raw.Assign(ref=v, value=[3.0, 4.0])
    c.target(put.op, raw.AssignAdd(ref=v, value=[1.0, 1.0]).op)
    c.fetch(tf.identity(v), exact=True)


@case('var_ref_temporary', 'state', 'TemporaryVariable: made, changed and destroyed within one step.')
def temporary(c):
    v = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name='scratch')
    v = raw.Assign(ref=v, value=[1.0, 2.0])
    v = raw.AssignAdd(ref=v, value=c.feed('x', np.array([5, 7], np.float32)))
    c.fetch(raw.DestroyTemporaryVariable(ref=v, var_name='scratch'), exact=True)
