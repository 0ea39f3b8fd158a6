"""Error messages for variables, stacks, tensor arrays and queues."""

from programs.tools import late, mistakes
from programs.tools import initialize


def _initialized(tf, make):
    """Runs the result of `make()` after initializing variables."""
    fetch = make()
    with tf.Session() as sess:
        initialize(tf, sess)
        for each in fetch if isinstance(fetch, list) else [fetch]:
            sess.run(each)


def uninitialized(tf):
    v = lambda: tf.Variable([1.0, 2.0], name="v")
    r = lambda: tf.Variable([1.0, 2.0], name="r", use_resource=True)
    return mistakes(
        tf,
        read=lambda: v().read_value(),
        value=lambda: v() + 1.0,
        assign_add=lambda: tf.assign_add(v(), [1.0, 1.0]),
        scatter=lambda: tf.scatter_add(v(), [0], [1.0]),
        count=lambda: tf.Variable(0, name="n").count_up_to(3),
        resource=lambda: r().read_value(),
        resource_value=lambda: r() + 1.0,
        resource_add=lambda: r().assign_add([1.0, 1.0]),
        local=lambda: tf.get_local_variable("l", [2]) + 1.0,
        asserted=lambda: tf.assert_variables_initialized([v()]),
        train=lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v())),
    )


def uninitialized_otherwise(tf):
    v = lambda: tf.Variable([1.0, 2.0], name="v")
    r = lambda: tf.Variable([1.0, 2.0], name="r", use_resource=True)
    return mistakes(
        tf,
        resource_train=lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(r())),
    )


def assigning(tf):
    v = lambda: tf.Variable([1.0, 2.0], name="v")
    r = lambda: tf.Variable([1.0, 2.0], name="r", use_resource=True)
    run = lambda make: (lambda: _initialized(tf, make))
    return mistakes(
        tf,
        shape=lambda: tf.assign(v(), [1.0, 2.0, 3.0]),
        method=lambda: v().assign([[1.0]]),
        late=run(lambda: tf.assign(v(), late(tf, [1.0, 2.0, 3.0]))),
        add=lambda: tf.assign_add(v(), [1.0, 2.0, 3.0]),
        late_add=run(lambda: tf.assign_add(v(), late(tf, [1.0, 2.0, 3.0]))),
        late_sub=run(lambda: tf.assign_sub(v(), late(tf, [1.0, 2.0, 3.0]))),
        dtype=lambda: tf.assign(v(), [1, 2]),
        tensor_dtype=lambda: tf.assign(v(), tf.constant([1, 2])),
        resource=lambda: r().assign([1.0, 2.0, 3.0]),
        resource_dtype=lambda: r().assign(tf.constant([1, 2])),
        late_resource_add=run(lambda: r().assign_add(late(tf, [1.0, 2.0, 3.0]))),
        not_a_loop=lambda: list(v()),
    )


def assigning_otherwise(tf):
    v = lambda: tf.Variable([1.0, 2.0], name="v")
    r = lambda: tf.Variable([1.0, 2.0], name="r", use_resource=True)
    run = lambda make: (lambda: _initialized(tf, make))
    return mistakes(
        tf,
        of_tensor=lambda: tf.assign(tf.constant([1.0]), [1.0]),
        late_resource=run(lambda: r().assign(late(tf, [1.0, 2.0, 3.0]))),
        in_graph=lambda: v().assign(v().op),
    )


def scattering(tf):
    v = lambda: tf.Variable([1.0, 2.0], name="v")
    r = lambda: tf.Variable([1.0, 2.0], name="r", use_resource=True)
    run = lambda make: (lambda: _initialized(tf, make))
    return mistakes(
        tf,
        update=run(lambda: tf.scatter_update(v(), [2], [1.0])),
        negative=run(lambda: tf.scatter_add(v(), [0, -1], [1.0, 1.0])),
        matrix=run(lambda: tf.scatter_sub(v(), [[0, 5]], [[1.0, 1.0]])),
        late_shape=run(lambda: tf.scatter_update(v(), late(tf, [0, 1]), late(tf, [1.0]))),
        nd=run(lambda: tf.scatter_nd_update(v(), [[2]], [1.0])),
        nd_shape=lambda: tf.scatter_nd_update(v(), [[0]], [1.0, 2.0]),
        resource=run(lambda: tf.scatter_update(r(), [2], [1.0])),
        sparse=run(lambda: r().scatter_sub(tf.IndexedSlices([1.0], [7]))),
        gather=run(lambda: tf.gather(r(), [7])),
        sparse_read=run(lambda: r().sparse_read([7])),
        resource_shape=lambda: tf.scatter_update(r(), [0, 1], [1.0]),
        shape=lambda: tf.scatter_update(v(), [0, 1], [1.0]),
    )


def scattering_otherwise(tf):
    v = lambda: tf.Variable([1.0, 2.0], name="v")
    r = lambda: tf.Variable([1.0, 2.0], name="r", use_resource=True)
    run = lambda make: (lambda: _initialized(tf, make))
    return mistakes(
        tf,
        nd_depth=lambda: tf.scatter_nd_add(v(), [[0, 0]], [1.0]),
        of_tensor=lambda: tf.scatter_update(tf.constant([1.0]), [0], [1.0]),
    )


def counting(tf):
    def past(use_resource):
        n = tf.Variable(0, name="n", use_resource=use_resource)
        count = n.count_up_to(1)
        with tf.Session() as sess:
            sess.run(n.initializer)
            sess.run(count)
            sess.run(count)

    return mistakes(
        tf,
        reference=lambda: past(False),
        resource=lambda: past(True),
    )


def counting_otherwise(tf):
    def past(use_resource):
        n = tf.Variable(0, name="n", use_resource=use_resource)
        count = n.count_up_to(1)
        with tf.Session() as sess:
            sess.run(n.initializer)
            sess.run(count)
            sess.run(count)

    return mistakes(
        tf,
        floats=lambda: tf.Variable(0.0).count_up_to(3),
    )


def getting(tf):
    def twice(**given):
        tf.get_variable("v", [2])
        return tf.get_variable("v", **given)

    def reused(name="v", **given):
        tf.get_variable("v", [2])
        with tf.variable_scope("", reuse=True):
            return tf.get_variable(name, **given)

    def partial():
        with tf.variable_scope(None):
            pass

    return mistakes(
        tf,
        reuse_other_shape=lambda: reused(shape=[3]),
        reuse_other_dtype=lambda: reused(shape=[2], dtype=tf.int32),
        reuse_unknown=lambda: reused("w", shape=[2]),
        no_shape=lambda: tf.get_variable("v"),
        unknown_shape=lambda: tf.get_variable("v", [None]),
        shape_of_initializer=lambda: tf.get_variable("v", [2], initializer=tf.constant([1.0, 2.0])),
        text=lambda: tf.get_variable("v", [2], dtype=tf.string),
        no_name=partial,
        no_value=lambda: tf.Variable(),
        unknown_value=lambda: tf.Variable(tf.placeholder(tf.float32)),
        in_a_loop=lambda: tf.while_loop(lambda i: i < 3, lambda i: i + tf.Variable(1), [0]),
        trainable=lambda: tf.Variable(1.0, trainable=None, collections=3),
        initial_callable=lambda: tf.Variable(lambda: tf.placeholder(tf.float32)),
        of_dtype=lambda: tf.Variable([1.5], dtype=tf.int32),
    )


def getting_otherwise(tf):
    def twice(**given):
        tf.get_variable("v", [2])
        return tf.get_variable("v", **given)

    def reused(name="v", **given):
        tf.get_variable("v", [2])
        with tf.variable_scope("", reuse=True):
            return tf.get_variable(name, **given)

    def partial():
        with tf.variable_scope(None):
            pass

    return mistakes(
        tf,
        other_dtype=lambda: tf.get_variable("v", dtype=tf.int32, initializer=tf.constant([1.0])),
    )


def stacks(tf):
    def ops(elem_type=tf.float32, size=-1):
        return tf.raw_ops.StackV2(max_size=size, elem_type=elem_type, stack_name="s")

    def pushed(*values, size=-1):
        h = ops(size=size)
        after = []
        for value in values:
            with tf.control_dependencies(after):
                after = [tf.raw_ops.StackPushV2(handle=h, elem=value)]
        return h, after

    def popped(dtype=tf.float32, pushes=(1.0,), pops=1):
        h, after = pushed(*pushes)
        for _ in range(pops):
            with tf.control_dependencies(after):
                after = [tf.raw_ops.StackPopV2(handle=h, elem_type=dtype)]
        return after

    def closed():
        h = ops()
        with tf.control_dependencies([tf.raw_ops.StackCloseV2(handle=h)]):
            return tf.raw_ops.StackPushV2(handle=h, elem=1.0)

    return mistakes(
        tf,
        empty=lambda: tf.raw_ops.StackPopV2(handle=ops(), elem_type=tf.float32),
        once_too_often=lambda: popped(pops=2),
    )


def stacks_otherwise(tf):
    def ops(elem_type=tf.float32, size=-1):
        return tf.raw_ops.StackV2(max_size=size, elem_type=elem_type, stack_name="s")

    def pushed(*values, size=-1):
        h = ops(size=size)
        after = []
        for value in values:
            with tf.control_dependencies(after):
                after = [tf.raw_ops.StackPushV2(handle=h, elem=value)]
        return h, after

    def popped(dtype=tf.float32, pushes=(1.0,), pops=1):
        h, after = pushed(*pushes)
        for _ in range(pops):
            with tf.control_dependencies(after):
                after = [tf.raw_ops.StackPopV2(handle=h, elem_type=dtype)]
        return after

    def closed():
        h = ops()
        with tf.control_dependencies([tf.raw_ops.StackCloseV2(handle=h)]):
            return tf.raw_ops.StackPushV2(handle=h, elem=1.0)

    return mistakes(
        tf,
        size_rank=lambda: tf.raw_ops.StackV2(max_size=[1, 2], elem_type=tf.float32, stack_name="s"),
    )


def tensor_arrays(tf):
    ta = lambda *args, **given: tf.TensorArray(tf.float32, *args, **given)

    def twice(make):
        return make(make(ta(3)))

    return mistakes(
        tf,
        read_unwritten=lambda: ta(3).read(0),
        read_range=lambda: ta(3).read(5),
        read_negative=lambda: ta(3).read(-1),
        write_range=lambda: ta(3).write(3, 1.0).flow,
        write_negative=lambda: ta(3).write(-1, 1.0).flow,
        write_twice=lambda: ta(3).write(0, 1.0).write(0, 2.0).flow,
        write_dtype=lambda: ta(3).write(0, 1),
        write_shape=lambda: ta(3, element_shape=[2]).write(0, [1.0]),
        late_write_shape=lambda: ta(3, element_shape=[2]).write(0, late(tf, [1.0])).flow,
        infer_shape=lambda: ta(3).write(0, [1.0]).write(1, [1.0, 2.0]),
        late_infer_shape=lambda: ta(3, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack(),
        stack_unwritten=lambda: ta(3).write(1, 1.0).stack(),
        concat_scalars=lambda: ta(2, infer_shape=False).write(0, 1.0).write(1, 2.0).concat(),
        concat_unwritten=lambda: ta(2).write(0, [1.0]).concat(),
        concat_shapes=lambda: ta(2, infer_shape=False).write(0, [[1.0]]).write(1, [[1.0, 2.0]]).concat(),
        gather_range=lambda: ta(2).unstack([1.0, 2.0]).gather([2]),
        unstack_size=lambda: ta(2).unstack([1.0, 2.0, 3.0]).flow,
        unstack_scalar=lambda: ta(2).unstack(1.0),
        scatter_range=lambda: ta(2).scatter([5], [[1.0]]).flow,
        split_lengths=lambda: ta(2).split([1.0, 2.0, 3.0], [1, 1]).flow,
        split_count=lambda: ta(3).split([1.0, 2.0, 3.0], [1, 2]).flow,
        read_cleared=lambda: [_twice_read(tf, ta(1))],
        size_negative=lambda: ta(-1).size(),
        handle_and_name=lambda: tf.TensorArray(tf.float32, handle=ta(1).handle, tensor_array_name="a"),
        handle_and_size=lambda: tf.TensorArray(tf.float32, size=1, handle=ta(1).handle),
        no_size=lambda: tf.TensorArray(tf.float32),
        grad_twice=lambda: ta(3, clear_after_read=False).write(0, 1.0).grad("g").write(0, 1.0).write(0, [1.0]).flow,
        grad_dynamic=lambda: ta(0, dynamic_size=True).grad("g").write(3, 1.0).flow,
        closed=lambda: _closed_read(tf, ta(1)),
        stack_zero=lambda: ta(0).stack(),
    )


def tensor_arrays_otherwise(tf):
    ta = lambda *args, **given: tf.TensorArray(tf.float32, *args, **given)

    def twice(make):
        return make(make(ta(3)))

    return mistakes(
        tf,
        scatter_counts=lambda: ta(2).scatter([0], [1.0, 2.0]).flow,
        split_scalar=lambda: ta(2).split(1.0, [1, 2]),
    )


def _twice_read(tf, ta):
    ta = ta.write(0, 1.0)
    with tf.control_dependencies([ta.read(0)]):
        return ta.read(0)


def _closed_read(tf, ta):
    ta = ta.write(0, 1.0)
    with tf.control_dependencies([ta.close()]):
        return ta.read(0)


def queue_building(tf):
    fifo = lambda *args, **given: tf.FIFOQueue(3, *args, **given)
    return mistakes(
        tf,
        enqueue_dtype=lambda: fifo([tf.int32]).enqueue(tf.constant(1.0)),
        enqueue_value=lambda: fifo([tf.int32]).enqueue("a"),
        enqueue_shape=lambda: fifo([tf.int32], [[2]]).enqueue([[1, 2, 3]]),
        enqueue_many_shape=lambda: fifo([tf.int32], [[2]]).enqueue_many([[[1, 2, 3]]]),
        enqueue_many_scalar=lambda: fifo([tf.int32], [[]]).enqueue_many([1]),
        enqueue_many_counts=lambda: fifo([tf.int32, tf.int32], [[], []]).enqueue_many([[1, 2], [1]]),
        shapes_count=lambda: fifo([tf.int32], [[], []]),
        partial_shapes=lambda: fifo([tf.int32], [[None]]),
        names_count=lambda: fifo([tf.int32], names=["a", "b"]),
        dictionary=lambda: fifo([tf.int32]).enqueue({"a": 1}),
        other_names=lambda: fifo([tf.int32], names=["a"]).enqueue({"b": 1}),
        list_for_names=lambda: fifo([tf.int32], names=["a"]).enqueue([1]),
        no_dtype=lambda: fifo([]),
        padding_without_shapes=lambda: tf.PaddingFIFOQueue(3, [tf.int32], [[], []]),
        padding_unknown_rank=lambda: tf.PaddingFIFOQueue(3, [tf.int32], [None]),
        priority_dtype=lambda: tf.PriorityQueue(3, [tf.int32], [[]]).enqueue((tf.constant(1.0), 1)),
        from_list=lambda: tf.QueueBase.from_list(0, [fifo([tf.int32]), fifo([tf.float32])]),
        from_nothing=lambda: tf.QueueBase.from_list(0, []),
        from_others=lambda: tf.QueueBase.from_list(0, [1]),
    )


def queue_building_otherwise(tf):
    fifo = lambda *args, **given: tf.FIFOQueue(3, *args, **given)
    return mistakes(
        tf,
        enqueue_count=lambda: fifo([tf.int32, tf.int32], [[], []]).enqueue([1]),
        dequeue_many_without_shapes=lambda: fifo([tf.int32]).dequeue_many(2),
        dequeue_up_to_without_shapes=lambda: fifo([tf.int32]).dequeue_up_to(2),
        dequeue_many_negative=lambda: fifo([tf.int32], [[]]).dequeue_many(-1),
    )


def queue_running(tf):
    fifo = lambda *args, **given: tf.FIFOQueue(3, *args, **given)

    def after(first, then, queue):
        q = queue()
        with tf.control_dependencies([first(q)]):
            return then(q)

    close = lambda q: q.close()
    scalar = lambda: fifo([tf.int32], [[]], name="q")
    return mistakes(
        tf,
        late_shape=lambda: fifo([tf.int32], [[2]]).enqueue(late(tf, [1, 2, 3])),
        late_many_shape=lambda: fifo([tf.int32], [[2]]).enqueue_many(late(tf, [[1, 2, 3]])),
        late_many_counts=lambda: fifo([tf.int32, tf.int32], [[], []]).enqueue_many([late(tf, [1, 2]), late(tf, [1])]),
        late_dequeue_many=lambda: fifo([tf.int32], [[]]).dequeue_many(late(tf, -1)),
        enqueue_closed=lambda: after(close, lambda q: q.enqueue(1), scalar),
        enqueue_many_closed=lambda: after(close, lambda q: q.enqueue_many([[1, 2]]), scalar),
        dequeue_closed=lambda: after(close, lambda q: q.dequeue(), scalar),
        dequeue_many_closed=lambda: after(close, lambda q: q.dequeue_many(2), scalar),
        dequeue_up_to_closed=lambda: after(close, lambda q: q.dequeue_up_to(2), scalar),
        close_twice=lambda: after(close, close, scalar),
        random_closed=lambda: after(close, lambda q: q.dequeue(), lambda: tf.RandomShuffleQueue(3, 1, [tf.int32], [[]], name="r")),
        random_many_closed=lambda: after(close, lambda q: q.dequeue_many(2), lambda: tf.RandomShuffleQueue(3, 1, [tf.int32], [[]], name="r")),
        padding_closed=lambda: after(close, lambda q: q.dequeue_many(2), lambda: tf.PaddingFIFOQueue(3, [tf.int32], [[None]], name="p")),
        priority_closed=lambda: after(close, lambda q: q.dequeue(), lambda: tf.PriorityQueue(3, [tf.int32], [[]], name="p")),
        padding_rank=lambda: tf.PaddingFIFOQueue(3, [tf.int32], [[None]]).enqueue(late(tf, [[1]])),
        padding_shape=lambda: tf.PaddingFIFOQueue(3, [tf.int32], [[None, 2]]).enqueue(late(tf, [[1]])),
        random_least=lambda: tf.RandomShuffleQueue(3, 4, [tf.int32], [[]]).size(),
        priority_rank=lambda: tf.PriorityQueue(3, [tf.int32], [[]]).enqueue((late(tf, [1], tf.int64), 1)),
    )


def shared_queues(tf):
    def again(first, second):
        return [first.queue_ref.op, second.queue_ref.op, second.size()]

    fifo = lambda capacity=3, dtypes=(tf.int32,), shapes=None: tf.FIFOQueue(capacity, list(dtypes), shapes, shared_name="s", name="q")
    shuffle = lambda seed=1, least=0: tf.RandomShuffleQueue(3, least, [tf.int32], [[]], seed=seed, shared_name="s", name="q")
    return mistakes(
        tf,
        capacity=lambda: again(fifo(), fifo(4)),
        dtypes=lambda: again(fifo(), fifo(dtypes=[tf.float32])),
        shapes=lambda: again(fifo(), fifo(shapes=[[]])),
        least=lambda: again(shuffle(), shuffle(least=1)),
        padding=lambda: again(tf.PaddingFIFOQueue(3, [tf.int32], [[None]], shared_name="s"), tf.PaddingFIFOQueue(3, [tf.int32], [[2]], shared_name="s")),
    )


def shared_queues_otherwise(tf):
    def again(first, second):
        return [first.queue_ref.op, second.queue_ref.op, second.size()]

    fifo = lambda capacity=3, dtypes=(tf.int32,), shapes=None: tf.FIFOQueue(capacity, list(dtypes), shapes, shared_name="s", name="q")
    shuffle = lambda seed=1, least=0: tf.RandomShuffleQueue(3, least, [tf.int32], [[]], seed=seed, shared_name="s", name="q")
    return mistakes(
        tf,
        kind=lambda: again(fifo(shapes=[[]]), shuffle()),
        seed=lambda: again(shuffle(), shuffle(seed=2)),
    )
