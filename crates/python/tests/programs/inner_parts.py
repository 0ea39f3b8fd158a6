"""Inner modules that programs import: fetches taken apart, functions as graphs, bounded specifications."""

import collections
import os
import tempfile

import numpy as np

from programs.inner_modules import module
from programs.raised import WHOLE, caught

Pair = collections.namedtuple("Pair", "x y")


def bounded_specifications(tf):
    spec = module(tf, "python.framework.tensor_spec").BoundedTensorSpec
    given = (
        ((1, 2), tf.float32, 0, 1.5), ((1, 2), tf.float32, [0, 1], (1.5, 3.0), "a"), ([None, 2], "float32", [1, 2], 1), (None, tf.float64, [[1, 2]], 1),
    )
    shown = [repr(spec(*arguments)) for arguments in given]
    wrong = [caught(lambda: spec(*arguments), WHOLE) for arguments in (((1, 2), tf.uint8, 0, [1, 2, 3]), ((1, 2), tf.uint8, None, 3))]
    one = spec((1, 2), tf.int32, np.zeros(2), 5)
    by_dtype = [repr(spec.from_spec(tf.TensorSpec([1], dtype, "q"))) for dtype in (tf.int8, tf.float32)]
    equal = [spec.from_spec(one) == one, one == spec((1, 2), tf.int32, 0, 5), one != spec((1, 2), tf.int32, 0, 4), one != tf.TensorSpec((1, 2), tf.int32)]
    return shown, wrong, by_dtype, equal, one.minimum, one.maximum, one.is_compatible_with(tf.zeros([1, 2], tf.int32)), tf.contrib.framework.BoundedTensorSpec is spec


def fetches_taken_apart(tf):
    session = module(tf, "python.client.session")
    a, b, n = tf.constant(1.0), tf.constant(2.0), tf.no_op(name="n")

    def apart(fetch):
        mapper = session._FetchMapper.for_fetch(fetch)
        unique = mapper.unique_fetches()
        return type(mapper).__name__, [x.name for x in unique], mapper.build_results(list(range(len(unique))))

    sound = (a, [a, [b, a]], {"a": a, "b": [b, a]}, Pair(a, b), (a, b), tf.SparseTensor([[0]], [1.0], [2]), tf.IndexedSlices(a, b), n, "Const:0")
    wrong = (None, 3.5, [None], "zz", [1], "Const:7")
    handler = session._FetchHandler(tf.get_default_graph(), [a, "n", {"k": b}], {})
    fed = session._FetchHandler(tf.get_default_graph(), [a, b, a], {a: 9.0})
    return (
        [apart(fetch) for fetch in sound],
        [caught(lambda: apart(fetch), WHOLE) for fetch in wrong],
        [x.name for x in handler.fetches()],
        [x.name for x in handler.targets()],
        handler.build_results(None, [5.0, 6.0]),
        [x.name for x in fed.fetches()],
        session._FetchHandler(tf.get_default_graph(), ["n"], {}).build_results(None, []),
    )


def functions_as_graphs(tf):
    function = module(tf, "python.framework.function")
    bodies = module(tf, "python.framework.function_def_to_graph")

    @function.Defun(tf.float32, tf.float32, func_name="foo")
    def foo(x, y):
        a, b = tf.split(x, 2)
        return a + y, tf.reduce_sum(b, name="red")

    if hasattr(foo, "add_to_graph"):
        foo.add_to_graph(tf.get_default_graph())
    out = []
    for given in (None, [tf.TensorShape([4]), tf.TensorShape([2])], [None, tf.TensorShape([2])]):
        graph = bodies.function_def_to_graph(foo.definition, input_shapes=given)
        with tf.Session(graph=graph) as sess:
            results = sess.run(graph.outputs, {graph.inputs[0]: [1.0, 2.0, 3.0, 4.0], graph.inputs[1]: [10.0, 20.0]})
        out.append([graph.name, [(x.name, str(x.shape), x.dtype.name) for x in graph.inputs], [str(x.shape) for x in graph.outputs], results])
    flat = bodies.function_def_to_graph_def(foo.definition)[1]
    wrong = caught(lambda: bodies.function_def_to_graph(foo.definition, input_shapes=[None]), WHOLE)
    return out, sorted(name for name in flat if ":" not in name and "^" not in name), wrong, bodies.is_function("nope")


def graphs_as_functions(tf):
    to_function = module(tf, "python.framework.graph_to_function_def").graph_to_function_def
    a, b = tf.placeholder(tf.float32, name="A/b"), tf.placeholder(tf.float32, name="c")
    first, second = tf.split(tf.add(a, b, name="add"), 2, name="sp")
    result = tf.identity(second, name="r")
    graph = tf.get_default_graph()
    body = [op for op in graph.get_operations() if op.name in ("A/b", "c", "add", "sp", "sp/split_dim", "r")]

    def made(names):
        found = to_function(graph, body, [a, b], [first, result], names)
        arguments = [[(x.name, x.type) for x in group] for group in (found.signature.input_arg, found.signature.output_arg)]
        return arguments, sorted([n.name, n.op, list(n.input)] for n in found.node_def), sorted(found.ret.items())

    return made(None), made(["o1", "o2"]), [caught(lambda: made(names), WHOLE) for names in (["o"], ["o", "o"])]


def shapes_of_operations(tf):
    common = module(tf, "python.framework.common_shapes")
    x = tf.zeros([2, 5, 7, 3])
    shapes = [
        common.conv2d_shape(tf.nn.conv2d(x, tf.zeros([2, 2, 3, 4]), [1, 2, 2, 1], "SAME").op),
        common.max_pool_shape(tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID").op),
        common.avg_pool_shape(tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID").op),
        common.depthwise_conv2d_native_shape(tf.nn.depthwise_conv2d_native(x, tf.zeros([2, 2, 3, 2]), [1, 1, 1, 1], "VALID").op),
        common.matmul_shape(tf.matmul(tf.zeros([2, 3]), tf.zeros([3, 4])).op),
    ]
    sizes = [common.get2d_conv_output_size(5, 7, 2, 2, 1, 2, padding) for padding in (b"VALID", b"SAME")]
    sizes += [common.get_conv_output_size((None, 7), (2, None), (1, 2), padding) for padding in (b"VALID", b"SAME")]
    wrong = [caught(lambda: common.get2d_conv_output_size(*arguments), WHOLE) for arguments in ((5, 7, 2, 2, 1, 2, "X"), (5, 7, 6, 2, 1, 2, b"VALID"))]
    return [[str(s) for s in group] for group in shapes], sizes, wrong


def attributes_of_eager_operations(tf):
    execute = module(tf, "python.eager.execute")
    cases = (
        ("make_bool", 1), ("make_bool", True), ("make_int", "a"), ("make_int", 2.7), ("make_int", "3"), ("make_float", "a"), ("make_float", 2),
        ("make_str", 2), ("make_str", "b"), ("make_type", "float32"), ("make_type", tf.float32), ("make_type", "bad"), ("make_shape", [1, None]),
        ("make_shape", None), ("make_shape", [-2]), ("make_shape", 3), ("make_tensor", 1),
    )  # fmt: skip
    out = []
    for name, value in cases:
        try:
            out.append(getattr(execute, name)(value, "x"))
        except (TypeError, ValueError):
            out.append(caught(lambda: getattr(execute, name)(value, "x"), WHOLE))
    return out


def missing_gradients(tf):
    default = module(tf, "python.ops.default_gradient")
    v = tf.get_variable("v", [2, 3], use_resource=True)
    tensors = (tf.zeros([2]), v.handle, v, tf.ones([2], tf.int32), tf.constant(True))
    shapes = [(str(shape), tf.as_dtype(dtype).name) for shape, dtype in map(default.shape_and_dtype, tensors)]
    with tf.Session() as sess:
        sess.run(v.initializer)
        return shapes, [tf.as_dtype(default.get_zeros_dtype(t)).name for t in tensors], sess.run([default.zeros_like(t) for t in tensors])


def bits_of_small_floats(tf):
    util = module(tf, "python.framework.tensor_util")
    message = tf.make_tensor_proto(np.array([1.0], np.float16))
    util.SlowAppendFloat16ArrayToTensorProto(message, np.array([1.0, 2.0], np.float16))
    return [util.ExtractBitsFromBFloat16(x) for x in (1.5, 1.003, -2.7, 1e30, 0.1)], util.ExtractBitsFromFloat16(1.5), list(message.half_val)[-2:]


def messages_to_a_board(tf):
    board = module(tf, "python.training.tensorboard_logging")
    board._clear_summary_writer()
    folder = tempfile.mkdtemp()
    wrong = [caught(lambda: board.info("x"), WHOLE)]
    writer = tf.summary.FileWriter(folder)
    board.set_summary_writer(writer)
    board.set_verbosity(board.WARN)
    for function in (board.debug, board.info, board.warn, board.error):
        function("m %d %s", 1, "b")
    wrong += [caught(lambda: board.log("bad", "x"), WHOLE), caught(lambda: board.set_verbosity("x"), WHOLE)]
    board.set_verbosity(board.ERROR)
    board.warn("no")
    writer.close()
    board._clear_summary_writer()
    events = tf.train.summary_iterator(os.path.join(folder, os.listdir(folder)[0]))
    return wrong, board.get_verbosity(), [(e.log_message.level, e.log_message.message) for e in events]


def events_of_summaries(tf):
    class Kept:
        def __init__(self):
            self.events = []

        def add_event(self, event):
            self.events.append(event)

    kept = Kept()
    made = module(tf, "python.summary.writer.writer").SummaryToEventTransformer(kept)
    made.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2)]), 3)
    made.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 4)
    node = tf.NodeDef(name="a", op="TensorSummary")
    node.attr["description"].s = b'{"typeHint": "abc"}'
    describe = module(tf, "python.summary.summary").get_summary_description
    wrong = caught(lambda: describe(tf.summary.scalar("a", 1.0).op.node_def), WHOLE)
    return [(e.WhichOneof("what"), e.step) for e in kept.events], describe(node).type_hint, wrong


def parameters_as_messages(tf):
    hparams = tf.contrib.training.HParams
    given = hparams(a=1, b=2.5, c="x", d=[1, 2], e=True, f=["a"], g=[1.5], h=[True, False])
    message = given.to_proto()
    again = hparams(hparam_def=message)
    wrong = [caught(lambda: hparams(a=1, hparam_def=message), WHOLE), caught(lambda: hparams(x=None).to_proto(), WHOLE)]
    return sorted(again.values().items(), key=str), sorted(hparams.from_proto(message).values().items(), key=str), len(message.SerializeToString()), wrong


def zeros_of_variables(tf):
    zero = tf.contrib.framework.zero_initializer
    plain, resource = tf.get_variable("v", [2]), tf.get_variable("r", [3], use_resource=True)
    first, second = zero(plain), zero(resource)
    with tf.Session() as sess:
        values = [sess.run(first), sess.run(plain)]
        sess.run(second.op)
        wrong = caught(lambda: sess.run(zero(plain)), "input is already initialized")
        return values, sess.run(resource), first.dtype.name, second.dtype.name, wrong


def optimizers_of_estimators(tf):
    optimizers = module(tf, "python.estimator.canned.optimizers")
    names = [type(optimizers.get_optimizer_instance(name, 0.1)).__name__ for name in ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD")]
    called = type(optimizers.get_optimizer_instance(lambda: tf.train.AdamOptimizer())).__name__
    wrong = [caught(lambda: optimizers.get_optimizer_instance(*arguments), WHOLE) for arguments in (("x", 1), ("Adam",), (3,))]
    metrics = module(tf, "python.estimator.canned.metric_keys").MetricKeys
    predictions = module(tf, "python.estimator.canned.prediction_keys").PredictionKeys
    keys = [sorted((k, v) for k, v in vars(group).items() if k.isupper()) for group in (metrics, predictions)]
    same = module(tf, "python.estimator.canned.dnn").DNNClassifier is tf.estimator.DNNClassifier
    return names, called, wrong, keys, same
