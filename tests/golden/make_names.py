"""Writes names/*.txt: the nodes that TensorFlow 1.15 makes for loops and branches.

Run with TensorFlow 1.15: `python make_names.py`. The test `names` of crates/graph builds the same graphs and
compares line by line. A line is

    name op input,input ^control attr=value ... -> shape, shape

with controls sorted, attributes of the control-flow primitives only, and shapes only for Enter, Merge, Switch
and Exit nodes. The contexts come after the nodes.
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {}
SHAPED = {"Enter", "Merge", "Switch", "Exit", "RefEnter", "RefMerge", "RefSwitch", "RefExit"}


def case(build):
    CASES[build.__name__] = build
    return build


def shape_text(shape):
    if shape.ndims is None:
        return "[..]"
    return "[%s]" % ",".join("?" if d is None else str(d) for d in shape.as_list())


def dump(graph):
    lines = []
    for op in graph.get_operations():
        line = [op.name, op.type, ",".join(t.name for t in op.inputs) or "-"]
        line += sorted("^" + c.name for c in op.control_inputs)
        if "Enter" in op.type:
            line.append("frame_name=" + op.get_attr("frame_name").decode())
            line.append("is_constant=" + str(op.get_attr("is_constant")).lower())
            line.append("parallel_iterations=" + str(op.get_attr("parallel_iterations")))
        if op.type in SHAPED:
            line.append("-> " + " ".join(shape_text(t.shape) for t in op.outputs))
        lines.append(" ".join(line))
    for key in ("while_context", "cond_context"):
        for context in graph.get_collection(key):
            lines += proto_lines(context, 0)
    return "\n".join(lines) + "\n"


def proto_lines(context, depth):
    from tensorflow.core.protobuf import control_flow_pb2
    holder = control_flow_pb2.ControlFlowContextDef()
    context.to_control_flow_context_def(holder)
    return def_lines(holder, depth)


def def_lines(holder, depth):
    kind = holder.WhichOneof("ctxt")
    c = getattr(holder, kind)
    if kind == "while_ctxt":
        head = "while %s parallel=%d back_prop=%s swap=%s pivot=%s pred=%s body=%s enters=%s exits=%s max=%s" % (
            c.context_name, c.parallel_iterations, str(c.back_prop).lower(), str(c.swap_memory).lower(), c.pivot_name,
            c.pivot_for_pred_name, c.pivot_for_body_name, ",".join(c.loop_enter_names), ",".join(c.loop_exit_names),
            c.maximum_iterations_name or "-")
    else:
        head = "cond %s pred=%s pivot=%s branch=%d" % (c.context_name, c.pred_name, c.pivot_name, c.branch)
    external = sorted("%s=%s" % item for item in c.values_def.external_values.items())
    lines = ["  " * depth + "# " + head, "  " * depth + "#   external " + (" ".join(external) or "-")]
    lines.append("  " * depth + "#   values " + " ".join(sorted(c.values_def.values)))
    for inner in c.nested_contexts:
        lines += def_lines(inner, depth + 1)
    return lines


@case
def counter():
    tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [tf.constant(0)])


@case
def literals():
    tf.while_loop(lambda i, x: tf.less(i, 10), lambda i, x: (tf.add(i, 1), x * 2.0), (0, 1.0))


@case
def two_loops():
    for _ in range(2):
        tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [tf.constant(0)], parallel_iterations=3,
                      back_prop=False, swap_memory=True)


@case
def captured():
    n = tf.placeholder(tf.int32, [], name="n")
    tf.while_loop(lambda i, x: tf.less(i, n), lambda i, x: (tf.add(i, n), x + n), [tf.constant(0), tf.constant(1)])


@case
def captured_everywhere():
    n = tf.placeholder(tf.int32, [], name="n")
    m = tf.placeholder(tf.int32, [], name="m")
    p = tf.placeholder(tf.bool, [], name="p")
    tf.while_loop(lambda i, x: p, lambda i, x: (n, tf.add(n, m)), [tf.constant(0), n])


@case
def invariant_constant():
    tf.while_loop(lambda i, x: tf.less(i, 3), lambda i, x: (tf.add(i, 1), 5), [tf.constant(0), tf.constant(1)])


@case
def nested():
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s):
        _, t = tf.while_loop(lambda j, t: tf.less(j, n), lambda j, t: (tf.add(j, 1), tf.add(t, i)), [tf.constant(0), s])
        return tf.add(i, 1), t

    tf.while_loop(lambda i, s: tf.less(i, 3), body, [tf.constant(0), tf.constant(0)])


@case
def nested_over_outer_values():
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i):
        t = tf.while_loop(lambda t: tf.less(t, i), lambda t: tf.add(t, n), [n])
        return tf.add(i, t)

    tf.while_loop(lambda i: tf.less(i, 3), body, [tf.constant(0)])


@case
def three_deep():
    n = tf.placeholder(tf.int32, [], name="n")

    def loop(depth):
        def body(i):
            return tf.add(i, n) if depth == 0 else tf.add(i, loop(depth - 1))
        return tf.while_loop(lambda i: tf.less(i, n), body, [tf.constant(0)])

    loop(2)


@case
def bounded():
    tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [tf.constant(0)], maximum_iterations=5)


@case
def bounded_by_tensor():
    n = tf.placeholder(tf.int32, [], name="n")
    tf.while_loop(lambda i, x: tf.less(i, 10), lambda i, x: [tf.add(i, 1), x], [tf.constant(0), n], maximum_iterations=n,
                  name="bound")


@case
def invariants():
    m = tf.placeholder(tf.float32, [2, 2], name="m")
    tf.while_loop(lambda i, m: tf.less(i, 10), lambda i, m: (tf.add(i, 1), tf.concat([m, m], 0)), [tf.constant(0), m],
                  shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])


@case
def sparse_default():
    s = tf.sparse_placeholder(tf.float32, [3, 4], name="s")
    tf.while_loop(lambda i, s: tf.less(i, 10), lambda i, s: (tf.add(i, 1), s), [tf.constant(0), s])


@case
def sparse_invariant():
    s = tf.SparseTensor(tf.placeholder(tf.int64, [5, 2], name="i"), tf.placeholder(tf.float32, [5], name="v"),
                        tf.placeholder(tf.int64, [2], name="d"))
    tf.while_loop(lambda i, s: tf.less(i, 10), lambda i, s: (tf.add(i, 1), s), [tf.constant(0), s],
                  shape_invariants=[tf.TensorShape([]), tf.TensorShape([2])])


@case
def slices_default():
    s = tf.IndexedSlices(tf.placeholder(tf.float32, [5, 2], name="v"), tf.placeholder(tf.int32, [5], name="i"),
                         tf.placeholder(tf.int32, [2], name="d"))
    tf.while_loop(lambda i, s: tf.less(i, 10), lambda i, s: (tf.add(i, 1), s), [tf.constant(0), s])


@case
def slices_default_flat():
    s = tf.IndexedSlices(tf.placeholder(tf.float32, [5, 2], name="v"), tf.placeholder(tf.int32, [5], name="i"))
    tf.while_loop(lambda i, s: tf.less(i, 10), lambda i, s: (tf.add(i, 1), s), [tf.constant(0), s])


@case
def slices_invariant():
    s = tf.IndexedSlices(tf.placeholder(tf.float32, [5, 2], name="v"), tf.placeholder(tf.int32, [5], name="i"),
                         tf.placeholder(tf.int32, [2], name="d"))
    tf.while_loop(lambda i, s: tf.less(i, 10), lambda i, s: (tf.add(i, 1), s), [tf.constant(0), s],
                  shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])


@case
def dictionaries():
    tf.while_loop(lambda v: tf.less(v["i"], 10), lambda v: [{"i": tf.add(v["i"], 1), "a": v["a"]}],
                  [{"i": tf.constant(0), "a": tf.constant(1.0)}])


@case
def cond_simple():
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.int32, [], name="x")
    tf.cond(p, lambda: tf.add(x, 1), lambda: tf.add(x, x))


@case
def cond_outer_values():
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.int32, [2], name="x")
    y = tf.placeholder(tf.int32, [3], name="y")
    tf.cond(p, lambda: (x, tf.constant(1.0)), lambda: (y, tf.constant(2.0)))


@case
def cond_uses_pred():
    p = tf.placeholder(tf.bool, [], name="p")
    tf.cond(p, lambda: tf.logical_not(p), lambda: p)


@case
def cond_operations():
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.int32, [], name="x")
    tf.cond(p, lambda: tf.group(tf.add(x, 1)), lambda: tf.no_op())


@case
def conds_nested():
    p = tf.placeholder(tf.bool, [], name="p")
    q = tf.placeholder(tf.bool, [], name="q")
    x = tf.placeholder(tf.int32, [], name="x")
    tf.cond(p, lambda: tf.cond(q, lambda: tf.add(x, 1), lambda: x), lambda: tf.add(x, 2))


@case
def conds_nested_capture_order():
    p = tf.placeholder(tf.bool, [], name="p")
    q = tf.placeholder(tf.bool, [], name="q")
    x = tf.placeholder(tf.int32, [], name="x")

    def deep():
        y = tf.add(x, 1)
        return tf.cond(q, lambda: tf.add(x, y), lambda: y)

    tf.cond(p, deep, lambda: x)


@case
def cond_in_loop():
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, x):
        return tf.add(i, 1), tf.cond(tf.less(i, n), lambda: tf.add(x, n), lambda: tf.constant(7))

    tf.while_loop(lambda i, x: tf.less(i, 10), body, [tf.constant(0), tf.constant(1)])


@case
def cond_in_condition():
    tf.while_loop(lambda i: tf.cond(tf.less(i, 3), lambda: tf.less(i, 5), lambda: tf.less(i, 2)), lambda i: tf.add(i, 1),
                  [tf.constant(0)])


@case
def loop_in_cond():
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.int32, [], name="x")
    tf.cond(p, lambda: tf.while_loop(lambda i: tf.less(i, x), lambda i: tf.add(i, 1), [tf.constant(0)]), lambda: x)


@case
def loop_in_cond_in_loop():
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i):
        return tf.cond(tf.less(i, n),
                       lambda: tf.while_loop(lambda j: tf.less(j, n), lambda j: tf.add(j, i), [n]),
                       lambda: tf.add(i, 1))

    tf.while_loop(lambda i: tf.less(i, 10), body, [tf.constant(0)])


@case
def controls_around_loop():
    a = tf.placeholder(tf.int32, [], name="a")
    n = tf.placeholder(tf.int32, [], name="n")
    with tf.control_dependencies([a]):
        tf.while_loop(lambda i: tf.less(i, n), lambda i: tf.add(i, 1), [tf.constant(0)])


@case
def controls_inside_loop():
    a = tf.placeholder(tf.int32, [], name="a")

    def body(i):
        j = tf.add(i, 2)
        with tf.control_dependencies([a, j]):
            k = tf.constant(3)
            return tf.add(i, k)

    tf.while_loop(lambda i: tf.less(i, 10), body, [tf.constant(0)])


@case
def outer_op_controls():
    a = tf.no_op(name="a")
    b = tf.placeholder(tf.int32, [], name="b")

    def body(i):
        with tf.control_dependencies([a, b]):
            return tf.add(i, 1)

    tf.while_loop(lambda i: tf.less(i, 10), body, [tf.constant(0)])


@case
def outer_controls_without_inputs():
    a = tf.no_op(name="a")
    b = tf.placeholder(tf.int32, [], name="b")

    def body(i):
        with tf.control_dependencies([a]):
            c = tf.constant(1)
        with tf.control_dependencies([b]):
            d = tf.constant(2)
        return tf.add(i, tf.add(c, d))

    tf.while_loop(lambda i: tf.less(i, 10), body, [tf.constant(0)])


@case
def controls_around_cond():
    a = tf.placeholder(tf.int32, [], name="a")
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.int32, [], name="x")
    with tf.control_dependencies([a]):
        tf.cond(p, lambda: tf.add(x, 1), lambda: x)


@case
def controls_in_nested_loops():
    b = tf.placeholder(tf.int32, [], name="b")

    def body(i):
        c = tf.add(i, 1)
        with tf.control_dependencies([b, c]):
            t = tf.while_loop(lambda j: tf.less(j, b), lambda j: tf.add(j, 1), [tf.constant(0)])
        return tf.add(i, t)

    tf.while_loop(lambda i: tf.less(i, 10), body, [tf.constant(0)])


@case
def controls_in_cond_in_loop():
    b = tf.placeholder(tf.int32, [], name="b")

    def body(i):
        def branch():
            with tf.control_dependencies([b]):
                return tf.constant(4)
        return tf.cond(tf.less(i, 3), branch, lambda: tf.add(i, 1))

    tf.while_loop(lambda i: tf.less(i, 10), body, [tf.constant(0)])


@case
def reference_captured():
    v = tf.Variable(1, name="v", use_resource=False)
    tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, tf.assign_add(v, i)), [tf.constant(0)])


@case
def scopes():
    with tf.name_scope("outer"):
        n = tf.placeholder(tf.int32, [], name="n")

        def body(i):
            with tf.name_scope("inner"):
                return tf.add(i, n)

        tf.while_loop(lambda i: tf.less(i, 10), body, [tf.constant(0)], name="loop")


@case
def used_after():
    n = tf.placeholder(tf.int32, [], name="n")
    ii, nn = tf.while_loop(lambda i, n: tf.less(i, n), lambda i, n: (tf.add(i, 1), n), [tf.constant(0), n])
    tf.add(ii, 3)
    tf.add(nn, 4)


@case
def value_of_a_branch_in_a_loop():
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.int32, [], name="x")

    def branch():
        y = tf.add(x, 1)
        return tf.while_loop(lambda i: tf.less(i, y), lambda i: tf.add(i, y), [tf.constant(0)])

    tf.cond(p, branch, lambda: x)


@case
def case_with_default():
    x = tf.placeholder(tf.int32, [], name="x")
    tf.case([(tf.less(x, 1), lambda: tf.constant(1)), (tf.less(x, 2), lambda: tf.add(x, 2))], default=lambda: tf.constant(3))


@case
def case_without_default():
    x = tf.placeholder(tf.int32, [], name="x")
    tf.case([(tf.less(x, 1), lambda: tf.constant(1)), (tf.less(x, 2), lambda: tf.add(x, 2))])


@case
def case_exclusive():
    x = tf.placeholder(tf.int32, [], name="x")
    tf.case([(tf.less(x, 1), lambda: tf.constant(1)), (tf.less(x, 2), lambda: tf.add(x, 2))], default=lambda: tf.constant(3),
            exclusive=True)


@case
def grouped():
    a = tf.placeholder(tf.int32, [], name="a")
    b = tf.placeholder(tf.int32, [], name="b")
    tf.group(a, b)
    tf.tuple([a, b])


def main():
    wanted = sys.argv[1:]
    for name, build in CASES.items():
        if wanted and name not in wanted:
            continue
        graph = tf.Graph()
        with graph.as_default():
            build()
        with open(os.path.join(HERE, "names", name + ".txt"), "w") as out:
            out.write(dump(graph))


main()
