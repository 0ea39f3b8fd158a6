"""Manual control flow: `Enter`, `Merge`, `Switch`, `NextIteration`, `Exit`, reference variants, stacks."""

import numpy as np

from programs.tools import WHOLE, caught, initialize, run, static


def _loop(tf, start, more, step, frame="frame", parallel=10):
    """Builds a loop with one variable."""
    raw = tf.raw_ops
    enter = raw.Enter(data=start, frame_name=frame, is_constant=False, parallel_iterations=parallel)
    merge = raw.Merge(inputs=[enter, enter]).output
    switch = raw.Switch(data=merge, pred=raw.LoopCond(input=more(merge)))
    following = raw.NextIteration(data=step(switch.output_true))
    merge.op._update_input(1, following)
    return raw.Exit(data=switch.output_false)


def _constant(tf, value, frame="frame"):
    return tf.raw_ops.Enter(data=value, frame_name=frame, is_constant=True, parallel_iterations=10)


def counter(tf):
    ten, one = _constant(tf, tf.constant(10)), _constant(tf, tf.constant(1))
    r = _loop(tf, tf.constant(0), lambda i: tf.less(i, ten), lambda i: tf.add(i, one))
    return r.dtype.name, run(tf, r)


def counter_of_each_parallelism(tf):
    out = []
    for n in (1, 2, 10):
        ten = tf.raw_ops.Enter(data=tf.constant(10), frame_name="f%d" % n, is_constant=True, parallel_iterations=n)
        one = tf.raw_ops.Enter(data=tf.constant(1), frame_name="f%d" % n, is_constant=True, parallel_iterations=n)
        out.append(_loop(tf, tf.constant(0), lambda i: tf.less(i, ten), lambda i: tf.add(i, one), "f%d" % n, n))
    return run(tf, out)


def no_iteration(tf):
    ten, one = _constant(tf, tf.constant(10)), _constant(tf, tf.constant(1))
    return run(tf, _loop(tf, tf.constant(50), lambda i: tf.less(i, ten), lambda i: tf.add(i, one)))


def of_strings(tf):
    mark = _constant(tf, tf.constant("!"))
    five = _constant(tf, tf.constant(5))
    return run(tf, _loop(tf, tf.constant("a"), lambda s: tf.less(tf.strings.length(s), five), lambda s: tf.strings.join([s, mark])))


def enter_twice(tf):
    raw = tf.raw_ops
    outer = raw.Enter(data=tf.constant([1.0, 2.0]), frame_name="outer", is_constant=False, parallel_iterations=1)
    inner = raw.Enter(data=outer, frame_name="inner", is_constant=False, parallel_iterations=1)
    back = raw.Exit(data=raw.Exit(data=raw.Neg(x=inner)))
    return back.dtype.name, run(tf, back)


def merge_of_one_side(tf):
    raw = tf.raw_ops
    p = tf.placeholder(tf.bool, [])
    s = raw.Switch(data=tf.constant([1, 2]), pred=p)
    m = raw.Merge(inputs=[raw.Add(x=s.output_false, y=[10, 10]), raw.Mul(x=s.output_true, y=[10, 10])])
    with tf.Session() as sess:
        return static(m.output, m.value_index), sess.run(m, {p: True}), sess.run(m, {p: False})


def merge_of_three(tf):
    raw = tf.raw_ops
    p, q = tf.constant(False), tf.constant(True)
    s, t = raw.Switch(data=1, pred=p), raw.Switch(data=2, pred=q)
    m = raw.Merge(inputs=[s.output_true, t.output_false, s.output_false])
    return run(tf, m)


def merge_of_different_shapes(tf):
    raw = tf.raw_ops
    s = raw.Switch(data=tf.ones([2, 3]), pred=True)
    m = raw.Merge(inputs=[s.output_false, tf.reduce_sum(s.output_true, 0, keepdims=True)])
    n = raw.Merge(inputs=[s.output_false, tf.reduce_sum(s.output_true)])
    return static(m.output, n.output), run(tf, m.output)


def switch_of_a_fed_predicate(tf):
    p = tf.placeholder(tf.bool, [])
    s = tf.raw_ops.Switch(data=tf.constant(3), pred=p)
    with tf.Session() as sess:
        return sess.run(s.output_true, {p: True}), caught(lambda: sess.run(s.output_false, {p: True}), WHOLE)


def switch_by_no_scalar(tf):
    return caught(lambda: run(tf, tf.raw_ops.Switch(data=1, pred=[True, False])))


def switch_by_an_int(tf):
    return caught(lambda: tf.raw_ops.Switch(data=1, pred=1), WHOLE)


def dead_through_operations(tf):
    raw = tf.raw_ops
    s = raw.Switch(data=tf.constant(3.0), pred=False)
    dead = raw.Sqrt(x=raw.Neg(x=s.output_true))
    m = raw.Merge(inputs=[dead, s.output_false])
    return run(tf, m)


def dead_by_a_control_edge(tf):
    raw = tf.raw_ops
    s = raw.Switch(data=tf.constant(3.0), pred=False)
    with tf.control_dependencies([s.output_true]):
        x = tf.constant(1.0)
    m = raw.Merge(inputs=[x, s.output_false])
    return run(tf, m)


def control_trigger_runs_all_the_same(tf):
    raw = tf.raw_ops
    v = tf.Variable(0)
    s = raw.Switch(data=tf.constant(3.0), pred=False)
    with tf.control_dependencies([s.output_true]):
        t = raw.ControlTrigger()
    with tf.control_dependencies([t]):
        a = tf.assign_add(v, 1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return t.type, sess.run(a)


def fetching_what_is_dead(tf):
    s = tf.raw_ops.Switch(data=tf.constant(3.0), pred=False)
    return caught(lambda: run(tf, tf.negative(s.output_true)), WHOLE)


def reference_switch_and_merge(tf):
    raw = tf.raw_ops
    v = tf.Variable([1, 2])
    p = tf.placeholder(tf.bool, [])
    s = raw.RefSwitch(data=v._ref(), pred=p)
    m = raw.RefMerge(inputs=[tf.assign_add(s.output_false, [10, 10]), tf.assign_sub(s.output_true, [1, 1])])
    with tf.Session() as sess:
        initialize(tf, sess)
        return m.output.dtype.name, sess.run(m, {p: True}), sess.run(m, {p: False}), sess.run(v)


def reference_enter_and_exit(tf):
    raw = tf.raw_ops
    v = tf.Variable([1, 2])
    e = raw.RefEnter(data=v._ref(), frame_name="f", is_constant=False, parallel_iterations=10)
    x = raw.RefExit(data=e)
    with tf.Session() as sess:
        initialize(tf, sess)
        return e.dtype.name, x.dtype.name, sess.run(x)


def reference_identity(tf):
    v = tf.Variable([1, 2])
    r = tf.raw_ops.RefIdentity(input=v._ref())
    a = tf.assign_add(r, [1, 1])
    with tf.Session() as sess:
        initialize(tf, sess)
        return r.dtype.name, sess.run(a), sess.run(v)


def reference_selection(tf):
    a, b = tf.Variable(1), tf.Variable(2)
    i = tf.placeholder(tf.int32, [])
    r = tf.raw_ops.RefSelect(index=i, inputs=[a._ref(), b._ref()])
    with tf.Session() as sess:
        initialize(tf, sess)
        return r.dtype.name, sess.run(r, {i: 0}), sess.run(r, {i: 1}), caught(lambda: sess.run(r, {i: 2}), WHOLE)


def reference_loop(tf):
    raw = tf.raw_ops
    v = tf.Variable(0)
    enter = raw.RefEnter(data=v._ref(), frame_name="f", is_constant=False, parallel_iterations=10)
    five = raw.Enter(data=5, frame_name="f", is_constant=True, parallel_iterations=10)
    one = raw.Enter(data=1, frame_name="f", is_constant=True, parallel_iterations=10)
    merge = raw.RefMerge(inputs=[enter, enter]).output
    switch = raw.RefSwitch(data=merge, pred=raw.LoopCond(input=tf.less(merge, five)))
    following = raw.RefNextIteration(data=tf.assign_add(switch.output_true, one))
    merge.op._update_input(1, following)
    r = raw.RefExit(data=switch.output_false)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def operation_that_needs_a_reference(tf):
    return caught(lambda: tf.raw_ops.RefIdentity(input=tf.constant(1)), WHOLE)


def assign_to_what_is_no_reference(tf):
    return caught(lambda: tf.raw_ops.Assign(ref=tf.constant(1), value=2), WHOLE)


def stack_last_in_first_out(tf):
    raw = tf.raw_ops
    h = raw.StackV2(max_size=-1, elem_type=tf.int32)
    last, out = [], []
    for n in range(3):
        with tf.control_dependencies(last):
            last = [raw.StackPushV2(handle=h, elem=n)]
    for n in range(3):
        with tf.control_dependencies(last):
            last = [raw.StackPopV2(handle=h, elem_type=tf.int32)]
            out += last
    return run(tf, out)


def stack_of_different_shapes(tf):
    raw = tf.raw_ops
    h = raw.StackV2(max_size=-1, elem_type=tf.float32)
    with tf.control_dependencies([raw.StackPushV2(handle=h, elem=[1.0, 2.0])]):
        a = raw.StackPushV2(handle=h, elem=[[3.0]])
    with tf.control_dependencies([a]):
        b = raw.StackPopV2(handle=h, elem_type=tf.float32)
    with tf.control_dependencies([b]):
        c = raw.StackPopV2(handle=h, elem_type=tf.float32)
    return static(b, c), run(tf, [b, c])


def older_stack_by_reference(tf):
    raw = tf.raw_ops
    h = raw.Stack(elem_type=tf.float32, stack_name="s")
    a = raw.StackPush(handle=h, elem=[4.0])
    with tf.control_dependencies([a]):
        b = raw.StackPop(handle=h, elem_type=tf.float32)
    return h.dtype.name, run(tf, b)


def update_input_out_of_range(tf):
    a = tf.add(tf.constant(1), tf.constant(2))
    return caught(lambda: a.op._update_input(2, tf.constant(2)))


def update_input_of_another_graph(tf):
    a = tf.add(tf.constant(1), tf.constant(2))
    with tf.Graph().as_default():
        b = tf.constant(5)
    return caught(lambda: a.op._update_input(1, b), WHOLE)


def update_input_changes_the_value(tf):
    a = tf.add(tf.constant(1), tf.constant(2))
    b = tf.constant(40)
    a.op._update_input(1, b)
    return [t.name for t in a.op.inputs], [op.name for op in b.consumers()], run(tf, a)


def add_a_control_input(tf):
    v = tf.Variable(0)
    add = tf.assign_add(v, 5)
    x = tf.constant(1)
    x.op._add_control_input(add.op)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [op.name for op in x.op.control_inputs], sess.run(x), sess.run(v)


def remove_the_control_inputs(tf):
    v = tf.Variable(0)
    with tf.control_dependencies([tf.assign_add(v, 5)]):
        x = tf.constant(1)
    x.op._remove_all_control_inputs()
    with tf.Session() as sess:
        initialize(tf, sess)
        return x.op.control_inputs, sess.run(x), sess.run(v)


def loop_cond_is_a_bool(tf):
    c = tf.raw_ops.LoopCond(input=True)
    return static(c), run(tf, c)


def frames_do_not_mix(tf):
    e = tf.raw_ops.Enter(data=1, frame_name="f", is_constant=False, parallel_iterations=10)
    return caught(lambda: run(tf, tf.add(e, tf.constant(1))))[0] != "nothing was raised"


def constant_enter_seen_in_each_iteration(tf):
    x = _constant(tf, np.float32([1.0, 2.0]))
    r = _loop(tf, np.float32([0.0, 0.0]), lambda s: tf.reduce_sum(s, _constant(tf, 0)) < _constant(tf, 20.0), lambda s: s + x)
    return run(tf, r)


def enter_of_a_resource(tf):
    v = tf.get_variable("v", initializer=3.0, use_resource=True)
    raw = tf.raw_ops
    h = raw.Enter(data=v.handle, frame_name="f", is_constant=False, parallel_iterations=10)
    return run(tf, raw.Exit(data=raw.ReadVariableOp(resource=h, dtype=tf.float32)))


def next_iteration_outside(tf):
    return static(tf.raw_ops.NextIteration(data=[1.0]))


def two_variables(tf):
    raw = tf.raw_ops
    enters = [raw.Enter(data=d, frame_name="f", is_constant=False, parallel_iterations=10) for d in (0, 1)]
    merges = [raw.Merge(inputs=[e, e]).output for e in enters]
    hundred = raw.Enter(data=100, frame_name="f", is_constant=True, parallel_iterations=10)
    p = raw.LoopCond(input=tf.less(merges[1], hundred))
    switches = [raw.Switch(data=m, pred=p) for m in merges]
    a, b = [s.output_true for s in switches]
    for m, n in zip(merges, [tf.identity(b), a + b]):
        m.op._update_input(1, raw.NextIteration(data=n))
    return run(tf, [raw.Exit(data=s.output_false) for s in switches])
