"""`raw_ops`: every op by name and keyword arguments, and graphs built from primitive control flow ops."""

import numpy as np

from programs.tools import caught, initialize, nodes, run, static


def by_keywords_only(tf):
    x = tf.raw_ops.Add(x=1, y=2)
    return x.op.type, x.op.name, run(tf, x), caught(lambda: tf.raw_ops.Add(1, 2))


def named(tf):
    return tf.raw_ops.Mul(x=2.0, y=3.0, name="product").name


def missing_and_unknown_arguments(tf):
    return caught(lambda: tf.raw_ops.Add(x=1)), caught(lambda: tf.raw_ops.Add(x=1, y=2, z=3)), caught(lambda: tf.raw_ops.NoSuchOp(x=1))


def several_outputs(tf):
    r = tf.raw_ops.TopKV2(input=[3.0, 1.0, 2.0], k=2, sorted=True)
    return type(r).__name__, r._fields, run(tf, r)


def lists(tf):
    return run(tf, [tf.raw_ops.Pack(values=[1, 2, 3], axis=0), tf.raw_ops.ConcatV2(values=[[1], [2]], axis=0), tf.raw_ops.AddN(inputs=[1.0, 2.0])])


def dtype_attributes(tf):
    return run(tf, [tf.raw_ops.Cast(x=1.7, DstT=tf.int32), tf.raw_ops.ZerosLike(x=[1, 2])])


def switch(tf):
    p = tf.placeholder(tf.bool, [])
    s = tf.raw_ops.Switch(data=5, pred=p)
    with tf.Session() as sess:
        return s._fields, sess.run(s.output_true, {p: True}), sess.run(s.output_false, {p: False}), caught(lambda: sess.run(s.output_true, {p: False}), "does not have value")


def merge(tf):
    p = tf.placeholder(tf.bool, [])
    s = tf.raw_ops.Switch(data=5, pred=p)
    m = tf.raw_ops.Merge(inputs=[tf.raw_ops.Neg(x=s.output_false), tf.raw_ops.Identity(input=s.output_true)])
    with tf.Session() as sess:
        return m._fields, sess.run(m, {p: True}), sess.run(m, {p: False})


def enter_and_exit(tf):
    e = tf.raw_ops.Enter(data=[1.0, 2.0], frame_name="f", is_constant=False, parallel_iterations=4)
    x = tf.raw_ops.Exit(data=tf.raw_ops.Mul(x=e, y=e))
    return run(tf, x)


def stacks(tf):
    raw = tf.raw_ops
    h = raw.StackV2(max_size=-1, elem_type=tf.float32, stack_name="s")
    a = raw.StackPushV2(handle=h, elem=1.0, swap_memory=False)
    with tf.control_dependencies([a]):
        b = raw.StackPushV2(handle=h, elem=2.0, swap_memory=False)
    with tf.control_dependencies([b]):
        c = raw.StackPopV2(handle=h, elem_type=tf.float32)
    with tf.control_dependencies([c]):
        d = raw.StackPopV2(handle=h, elem_type=tf.float32)
    return run(tf, [c, d])


def stack_popped_when_empty(tf):
    raw = tf.raw_ops
    h = raw.StackV2(max_size=-1, elem_type=tf.float32, stack_name="s")
    return caught(lambda: run(tf, raw.StackPopV2(handle=h, elem_type=tf.float32)), "is empty when calling Pop()")


def stack_closed(tf):
    raw = tf.raw_ops
    h = raw.StackV2(max_size=-1, elem_type=tf.float32, stack_name="s")
    close = raw.StackCloseV2(handle=h)
    return close.type, run(tf, close)


def older_stacks(tf):
    raw = tf.raw_ops
    h = raw.Stack(elem_type=tf.float32, stack_name="s")
    a = raw.StackPush(handle=h, elem=[4.0], swap_memory=False)
    with tf.control_dependencies([a]):
        b = raw.StackPop(handle=h, elem_type=tf.float32)
    return run(tf, b)


def reference_ops(tf):
    raw = tf.raw_ops
    v = raw.Variable(shape=[], dtype=tf.float32)
    init = tf.assign(v, 3.0)
    p = tf.placeholder(tf.bool, [])
    s = raw.RefSwitch(data=v, pred=p)
    m = raw.RefMerge(inputs=[raw.RefIdentity(input=s.output_false), raw.RefIdentity(input=s.output_true)])
    with tf.Session() as sess:
        sess.run(init)
        return v.dtype.name, m.output.dtype.name, sess.run(m, {p: True}), sess.run(m, {p: False})


def reference_select(tf):
    raw = tf.raw_ops
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    s = raw.RefSelect(index=1, inputs=[a._ref(), b._ref()])
    return run(tf, s)


def resource_ops(tf):
    raw = tf.raw_ops
    h = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="h")
    write = raw.AssignVariableOp(resource=h, value=[1.0, 2.0])
    with tf.control_dependencies([write]):
        read = raw.ReadVariableOp(resource=h, dtype=tf.float32)
        shape = raw.VariableShape(input=h)
        there = raw.VarIsInitializedOp(resource=h)
    return static(read), run(tf, [read, shape, there])


def resource_of_another_dtype(tf):
    raw = tf.raw_ops
    h = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="h")
    return caught(lambda: run(tf, raw.AssignVariableOp(resource=h, value=[1, 2])))


def tensor_array_ops(tf):
    raw = tf.raw_ops
    ta = raw.TensorArrayV3(size=2, dtype=tf.float32, element_shape=None, dynamic_size=False, clear_after_read=True, identical_element_shapes=False, tensor_array_name="")
    f = raw.TensorArrayWriteV3(handle=ta.handle, index=0, value=7.0, flow_in=ta.flow)
    return run(tf, [raw.TensorArrayReadV3(handle=ta.handle, index=0, flow_in=f, dtype=tf.float32), raw.TensorArraySizeV3(handle=ta.handle, flow_in=f)])


def tensor_array_gradient_with_a_shape(tf):
    raw = tf.raw_ops
    ta = tf.TensorArray(tf.float32, 2, element_shape=[2])
    flow = ta.write(0, [1.0, 2.0]).write(1, [3.0, 4.0]).flow
    g = raw.TensorArrayGradWithShape(handle=ta.handle, flow_in=flow, shape_to_prepend=[3], source="g")
    w = raw.TensorArrayWriteV3(handle=g.grad_handle, index=0, value=tf.ones([3, 2]), flow_in=g.flow_out)
    return run(tf, raw.TensorArrayReadV3(handle=g.grad_handle, index=0, flow_in=w, dtype=tf.float32))


def control_trigger(tf):
    return tf.raw_ops.ControlTrigger().type, run(tf, tf.raw_ops.ControlTrigger())


def loop_with_two_variables(tf):
    raw = tf.raw_ops
    enter = lambda x, constant=False: raw.Enter(data=x, frame_name="loop", is_constant=constant, parallel_iterations=10)
    i, s = enter(tf.constant(0)), enter(tf.constant(0))
    mi, ms = raw.Merge(inputs=[i, i]), raw.Merge(inputs=[s, s])
    go = raw.LoopCond(input=raw.Less(x=mi.output, y=enter(tf.constant(5), True)))
    si, ss = raw.Switch(data=mi.output, pred=go), raw.Switch(data=ms.output, pred=go)
    ni = raw.NextIteration(data=raw.Add(x=si.output_true, y=enter(tf.constant(1), True)))
    ns = raw.NextIteration(data=raw.Add(x=ss.output_true, y=si.output_true))
    mi.output.op._update_input(1, ni)
    ms.output.op._update_input(1, ns)
    return run(tf, [raw.Exit(data=si.output_false), raw.Exit(data=ss.output_false)])


def queue_ops(tf):
    raw = tf.raw_ops
    q = raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[]], capacity=3, container="", shared_name="")
    put = raw.QueueEnqueueV2(handle=q, components=[5], timeout_ms=-1)
    with tf.control_dependencies([put]):
        get = raw.QueueDequeueV2(handle=q, component_types=[tf.int32], timeout_ms=-1)
    return type(get).__name__, run(tf, get)


def shapes_are_inferred(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    return static(tf.raw_ops.MatMul(a=x, b=tf.zeros([3, 4]), transpose_a=False, transpose_b=False), tf.raw_ops.Shape(input=x, out_type=tf.int64))
