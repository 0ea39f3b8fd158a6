"""Control flow built by hand from the primitives, for values and for references."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case

raw = tf.raw_ops


def close(merge, back):
    """Replaces the second input of a Merge by the loop's back edge."""
    merge.op._update_input(1, back)


def counter(frame, start, limit, step, parallel=10):
    """A hand-made counting loop. Returns (exit, pivot, merge)."""
    enter = raw.Enter(data=start, frame_name=frame, parallel_iterations=parallel)
    end = raw.Enter(data=limit, frame_name=frame, is_constant=True, parallel_iterations=parallel)
    by = raw.Enter(data=step, frame_name=frame, is_constant=True, parallel_iterations=parallel)
    merge, _ = raw.Merge(inputs=[enter, enter])
    pivot = raw.LoopCond(input=tf.less(merge, end))
    off, on = raw.Switch(data=merge, pred=pivot)
    close(merge, raw.NextIteration(data=on + by))
    return raw.Exit(data=off), pivot, merge


@case('raw_counter', 'raw', 'A counting loop from Enter, Merge, LoopCond, Switch, NextIteration and Exit.')
def raw_counter(c):
    c.fetch(counter('hand', c.feed('a', np.int32(2)), c.feed('b', np.int32(20)), tf.constant(3))[0])


@case('raw_counter_one_parallel', 'raw', 'The same loop with parallel_iterations=1.')
def raw_counter_one(c):
    c.fetch(counter('hand', c.feed('a', np.int32(2)), c.feed('b', np.int32(200)), tf.constant(3), 1)[0])


@case('raw_counter_zero_trips', 'raw', 'A hand-made loop that makes no trip.')
def raw_counter_zero(c):
    c.fetch(counter('hand', c.feed('a', np.int32(9)), c.feed('b', np.int32(3)), tf.constant(3))[0])


@case('raw_switch_merge', 'raw', 'A hand-made branch; value and value_index of the Merge, predicate true.')
def raw_switch_merge(c):
    off, on = raw.Switch(data=c.feed('x', np.float32(4)), pred=c.feed('p', np.bool_(True)))
    value, index = raw.Merge(inputs=[tf.negative(off), tf.sqrt(on)])
    c.fetch(value, index, exact=True)


@case('raw_switch_merge_false', 'raw', 'The same branch with the predicate false and the Merge inputs the other way round.')
def raw_switch_merge_false(c):
    off, on = raw.Switch(data=c.feed('x', np.float32(4)), pred=c.feed('p', np.bool_(False)))
    value, index = raw.Merge(inputs=[tf.sqrt(on), tf.negative(off)])
    c.fetch(value, index, exact=True)


@case('raw_dead_branch_feeds_merge', 'raw', 'A long dead chain and a live short one meet in a Merge of three.')
def raw_dead_branch(c):
    p = c.feed('p', np.bool_(True))
    off, on = raw.Switch(data=c.feed('x', np.array([1, 2], np.int32)), pred=p)
    dead = off
    for k in range(20):
        dead = dead * k + off
    value, index = raw.Merge(inputs=[dead, dead + 1, on * 7])
    c.fetch(value, index)


@case('raw_merge_of_merge', 'raw', 'Two branches whose results go through a second Switch and Merge.')
def raw_merge_of_merge(c):
    p, q = c.feed('p', np.bool_(True)), c.feed('q', np.bool_(False))
    x = c.feed('x', np.int32(6))
    f1, t1 = raw.Switch(data=x, pred=p)
    one, _ = raw.Merge(inputs=[f1 - 1, t1 + 1])
    f2, t2 = raw.Switch(data=one, pred=q)
    value, index = raw.Merge(inputs=[f2 * 2, t2 * 3])
    c.fetch(value, index)


@case('raw_dead_control', 'raw', 'An op with a dead control input is dead itself; the Merge takes the other side.')
def raw_dead_control(c):
    p = c.feed('p', np.bool_(True))
    off, on = raw.Switch(data=p, pred=p)
    with tf.control_dependencies([tf.identity(off)]):
        dead = tf.constant(1)
    with tf.control_dependencies([tf.identity(on)]):
        live = tf.constant(2)
    value, index = raw.Merge(inputs=[dead, live])
    c.fetch(value, index)


@case('raw_dead_two_switches', 'raw', 'A Switch of a dead value is dead on both sides.')
def raw_dead_two_switches(c):
    p, q = c.feed('p', np.bool_(False)), c.feed('q', np.bool_(True))
    off, on = raw.Switch(data=c.feed('x', np.int32(5)), pred=p)
    off2, on2 = raw.Switch(data=on, pred=q)
    value, index = raw.Merge(inputs=[off2 + 1, on2 + 2, off + 3])
    c.fetch(value, index)


@case('raw_control_trigger', 'raw', 'ControlTrigger runs live under a dead control input.')
def raw_control_trigger(c):
    p = c.feed('p', np.bool_(True))
    off, _ = raw.Switch(data=p, pred=p)
    with tf.control_dependencies([tf.identity(off)]):
        trigger = tf.raw_ops.ControlTrigger()
    with tf.control_dependencies([trigger]):
        c.fetch(tf.constant(11))


@case('raw_two_variables', 'raw', 'Two hand-made loop variables with one pivot; a Fibonacci pair.')
def raw_two_variables(c):
    names = dict(frame_name='pair', parallel_iterations=4)
    n = raw.Enter(data=c.feed('n', np.int64(1000)), is_constant=True, **names)
    starts = [raw.Enter(data=tf.constant(v, tf.int64), **names) for v in (0, 1)]
    merges = [raw.Merge(inputs=[s, s])[0] for s in starts]
    pivot = raw.LoopCond(input=tf.less(merges[1], n))
    (off_a, a), (off_b, b) = [raw.Switch(data=m, pred=pivot) for m in merges]
    close(merges[0], raw.NextIteration(data=tf.identity(b)))
    close(merges[1], raw.NextIteration(data=a + b))
    c.fetch(raw.Exit(data=off_a), raw.Exit(data=off_b))


@case('raw_nested_frames', 'raw', 'A hand-made loop inside a hand-made loop.')
def raw_nested(c):
    outer = dict(frame_name='outer', parallel_iterations=3)
    start = [raw.Enter(data=tf.constant(v), **outer) for v in (1, 0)]
    i, s = [raw.Merge(inputs=[v, v])[0] for v in start]
    limit = raw.Enter(data=c.feed('n', np.int32(5)), is_constant=True, **outer)
    pivot = raw.LoopCond(input=tf.less(i, limit))
    (i_off, i_on), (s_off, s_on) = raw.Switch(data=i, pred=pivot), raw.Switch(data=s, pred=pivot)
    with tf.control_dependencies([i_on]):
        one, three = tf.constant(1), tf.constant(3)
    inner = dict(frame_name='inner', parallel_iterations=2)
    j0, t0 = [raw.Enter(data=v, **inner) for v in (i_on, s_on)]
    stop = raw.Enter(data=i_on * three, is_constant=True, **inner)
    j, t = [raw.Merge(inputs=[v, v])[0] for v in (j0, t0)]
    pivot2 = raw.LoopCond(input=tf.less(j, stop))
    (j_off, j_on), (t_off, t_on) = raw.Switch(data=j, pred=pivot2), raw.Switch(data=t, pred=pivot2)
    del j_off
    with tf.control_dependencies([j_on]):
        two = tf.constant(2)
    close(j, raw.NextIteration(data=j_on + two))
    close(t, raw.NextIteration(data=t_on + j_on))
    close(s, raw.NextIteration(data=raw.Exit(data=t_off)))
    close(i, raw.NextIteration(data=i_on + one))
    c.fetch(raw.Exit(data=i_off), raw.Exit(data=s_off))


@case('raw_value_index_of_loop', 'raw', 'The value_index of a loop Merge, summed over the iterations.')
def raw_value_index(c):
    names = dict(frame_name='hand', parallel_iterations=10)
    i0 = raw.Enter(data=tf.constant(0), **names)
    s0 = raw.Enter(data=tf.constant(0), **names)
    i, which = raw.Merge(inputs=[i0, i0])
    s, _ = raw.Merge(inputs=[s0, s0])
    with tf.control_dependencies([i]):
        six = tf.constant(6)
    pivot = raw.LoopCond(input=tf.less(i, six))
    (_, i_on), (s_off, s_on) = raw.Switch(data=i, pred=pivot), raw.Switch(data=s, pred=pivot)
    (_, which_on) = raw.Switch(data=which, pred=pivot)
    with tf.control_dependencies([i_on]):
        one, ten = tf.constant(1), tf.constant(10)
    close(i, raw.NextIteration(data=i_on + one))
    close(s, raw.NextIteration(data=s_on + ten * which_on + one))
    c.fetch(raw.Exit(data=s_off))


@case('raw_exit_in_the_middle', 'raw', 'The exit value is taken from a later op than the Switch: the last result of the body test.')
def raw_exit_middle(c):
    names = dict(frame_name='hand', parallel_iterations=10)
    x0 = raw.Enter(data=c.feed('x', np.float32(3)), **names)
    x, _ = raw.Merge(inputs=[x0, x0])
    y = tf.sqrt(x)
    with tf.control_dependencies([x]):
        bound = tf.constant(1.01)
    pivot = raw.LoopCond(input=tf.greater(y, bound))
    (x_off, _), (y_off, y_on) = raw.Switch(data=x, pred=pivot), raw.Switch(data=y, pred=pivot)
    close(x, raw.NextIteration(data=y_on))
    c.fetch(raw.Exit(data=x_off), raw.Exit(data=y_off * y_off))


@case('raw_dead_enter', 'raw', 'A hand-made loop entered from the dead side of a Switch: its exit is dead and the Merge takes the other side.')
def raw_dead_enter(c):
    p = c.feed('p', np.bool_(True))
    off, on = raw.Switch(data=c.feed('x', np.int32(4)), pred=p)
    out = counter('hand', off, off + 100, off * 0 + 1)[0]
    value, index = raw.Merge(inputs=[out, on])
    c.fetch(value, index)


def variable(name, value, dtype=tf.float32):
    """A reference variable."""
    return tf.Variable(tf.constant(value, dtype), name=name, use_resource=False)


@case('ref_switch_merge', 'raw', 'RefSwitch and RefMerge: an assignment in the branch taken only.')
def ref_switch_merge(c):
    v = variable('v', 10.0)
    off, on = raw.RefSwitch(data=v._ref(), pred=c.feed('p', np.bool_(True)))
    merged, index = raw.RefMerge(inputs=[tf.assign_add(off, 1.0), tf.assign_sub(on, 4.0)])
    c.init()
    c.fetch(merged, index, exact=True)


@case('ref_identity', 'raw', 'RefIdentity passes the reference on; the assignment goes through it.')
def ref_identity(c):
    v = variable('v', [1.0, 2.0])
    through = raw.RefIdentity(input=v._ref())
    c.init()
    c.target(tf.assign(through, [5.0, 6.0]).op)
    c.fetch(v, exact=True)


@case('ref_select', 'raw', 'RefSelect picks one of three variables by index; it alone is changed.')
def ref_select(c):
    vs = [variable('v%d' % k, float(k)) for k in range(3)]
    chosen = raw.RefSelect(index=c.feed('i', np.int32(1)), inputs=[v._ref() for v in vs])
    c.init()
    c.target(tf.assign_add(chosen, 100.0).op)
    c.fetch(*vs, exact=True)


def ref_loop(c, v, change, trips):
    """A loop whose variable is a reference: RefEnter, RefMerge, RefSwitch, RefNextIteration, RefExit."""
    names = dict(frame_name='refs', parallel_iterations=10)
    i0 = raw.Enter(data=tf.constant(0), **names)
    r0 = raw.RefEnter(data=v._ref(), **names)
    n = raw.Enter(data=c.feed('n', np.int32(trips)), is_constant=True, **names)
    i, _ = raw.Merge(inputs=[i0, i0])
    r, _ = raw.RefMerge(inputs=[r0, r0])
    pivot = raw.LoopCond(input=tf.less(i, n))
    (i_off, i_on), (r_off, r_on) = raw.Switch(data=i, pred=pivot), raw.RefSwitch(data=r, pred=pivot)
    with tf.control_dependencies([i_on]):
        one = tf.constant(1)
    close(i, raw.NextIteration(data=i_on + one))
    close(r, raw.RefNextIteration(data=change(r_on, i_on)))
    return raw.Exit(data=i_off), raw.RefExit(data=r_off)


@case('ref_loop_assign_add', 'raw', 'A loop over a reference: assign_add of the counter in each iteration.')
def ref_loop_assign_add(c):
    v = variable('v', 100)
    i, r = ref_loop(c, v, lambda r, i: tf.assign_add(r, tf.cast(i, tf.float32)), 6)
    c.init()
    c.fetch(i, r, exact=True)


@case('ref_loop_zero_trips', 'raw', 'The loop over a reference makes no trip.')
def ref_loop_zero(c):
    v = variable('v', 100, tf.int32)
    i, r = ref_loop(c, v, lambda r, i: tf.assign_sub(r, i), 0)
    c.init()
    c.fetch(i, r)


@case('ref_loop_string', 'raw', 'A loop over a reference to a string variable.')
def ref_loop_string(c):
    v = tf.Variable(tf.constant(['a', 'b']), name='v', use_resource=False)
    i, r = ref_loop(c, v, lambda r, i: tf.assign(r, tf.string_join([tf.identity(r), tf.as_string(i)])), 3)
    c.init()
    c.fetch(i, r)


@case('ref_enter_constant', 'raw', 'A reference captured by a loop: RefEnter with is_constant, changed in each iteration.')
def ref_enter_constant(c):
    v = variable('v', [0, 0, 0], tf.int32)

    def body(i):
        with tf.control_dependencies([tf.scatter_add(v, i % 3, i)]):
            return i + 1
    i = tf.while_loop(lambda i: i < 10, body, [0], parallel_iterations=1)
    with tf.control_dependencies([i]):
        after = tf.identity(v.read_value())
    c.init()
    c.fetch(i, after)
