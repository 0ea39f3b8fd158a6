"""`control_flow_util`: which loop or branch an operation is in."""

from programs.internal_modules import _inner


class _Util:
    def __init__(self, tf):
        self._tf = tf

    def __getattr__(self, name):
        return _inner(self._tf, "python.ops.control_flow_util", name)


def _seen(tf, util, x):
    op = x.op
    context = op._get_control_flow_context()
    name = lambda c: None if c is None else c.name  # noqa: E731
    return {
        "loop": name(util.GetContainingWhileContext(context)),
        "branch": name(util.GetContainingCondContext(context)),
        "xla": name(util.GetContainingXLAContext(context)),
        "of_op": name(util.GetWhileContext(op)),
        "in_loop": util.IsInWhileLoop(op),
        "in_branch": util.IsInCond(op),
        "in_xla": util.IsInXLAContext(op),
        "output": name(util.GetOutputContext(op)),
        "in_own": util.OpInContext(op, context),
        "tensor": util.TensorInContext(x, context),
    }


def around(tf):
    util, seen, contexts = _Util(tf), [], []

    def body(i, x):
        seen.append(_seen(tf, util, x + 1.0))
        contexts.append(tf.get_default_graph()._get_control_flow_context())

        def inner():
            seen.append(_seen(tf, util, x * 2.0))
            contexts.append(tf.get_default_graph()._get_control_flow_context())
            return x * 3.0

        return i + 1, tf.cond(i < 2, inner, lambda: x)

    outside = tf.constant(1.0)
    _, found = tf.while_loop(lambda i, x: i < 3, body, [0, outside], name="loop")
    seen.append(_seen(tf, util, outside))
    left = [util.GetWhileContext(found.op).name, util.IsInWhileLoop(found.op), util.IsInCond(found.op), util.GetOutputContext(found.op) is None]
    loop, branch = contexts
    inside = [util.IsContainingContext(branch, loop), util.IsContainingContext(loop, branch), util.IsContainingContext(loop, loop)]
    stopped = util.GetContainingWhileContext(branch, stop_ctxt=branch), util.GetContainingWhileContext(branch, stop_ctxt=loop)
    return seen, left, inside, [s is None for s in stopped], util.InXlaContext(tf.get_default_graph()), util.GraphOrParentsInXlaContext(tf.get_default_graph())


def kinds(tf):
    util = _Util(tf)
    k = tf.constant(2.0, name="k")
    tf.while_loop(lambda i: i < 3.0, lambda i: i + k, [0.0], name="loop")
    tf.cond(tf.constant(True), lambda: k + 1.0, lambda: k, name="branch")
    found = []
    for op in tf.get_default_graph().get_operations():
        constant = util.GetLoopConstantEnter(op.outputs[0]) if op.outputs else None
        found.append((op.type, bool(util.IsLoopConstantEnter(op)), bool(util.IsCondMerge(op)), None if constant is None else constant.name))
    return [f for f in sorted(found, key=str) if f[0] in ("Enter", "Merge", "Switch", "Add", "AddV2", "Exit", "Const", "Less")]
