"""Internal names: the parts of loops, gradient functions, what functions capture, files, servers."""

import os
import tempfile

from programs.tools import WHOLE, caught, inside


def loop_of_single_operations(tf):
    flow = inside("python.ops.control_flow_ops")

    x = tf.constant(2.0, name="x")
    entered, counter = flow._Enter(x, "f"), flow._Enter(tf.constant(0), "f")
    limit, one = (flow._Enter(tf.constant(n), "f", is_constant=True) for n in (3, 1))
    value, _ = flow.merge([entered, entered])
    count, _ = flow.merge([counter, counter])
    going = flow.loop_cond(tf.less(count, limit))
    done, value_in = flow.switch(value, going)
    _, count_in = flow._SwitchRefOrTensor(count, going)
    value.op._update_input(1, flow._NextIteration(value_in * value_in))
    count.op._update_input(1, flow._NextIteration(tf.add(count_in, one)))
    left = flow.exit(done)
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 1]), tf.constant([3]))
    held = flow._Enter(slices, "g")
    names = [held.values.name, held.indices.name, held.dense_shape.name, flow.exit(held).values.name]
    kinds = [caught(lambda: tf.gradients(left, [x]))[0] in ("AttributeError", "ValueError")]
    sizes = [flow._ShapeLessThanOrEqual(tf.TensorShape(a), tf.TensorShape(b)) for a in ([2], [None], None) for b in ([2], [None], None)]
    single = [flow._UnpackIfSingleton([3]), flow._UnpackIfSingleton([3, 4]), flow._UnpackIfSingleton([])]
    with tf.Session() as sess:
        parts = sess.run(flow.switch(slices, tf.constant(True))[1].values)
        return sess.run(left), names, kinds, sizes, single, parts


def gradient_functions(tf):
    ops = inside("python.framework.ops")
    array_grad = inside("python.ops.array_grad")
    math_grad = inside("python.ops.math_grad")
    nn_grad = inside("python.ops.nn_grad")

    a, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
    found = []
    product = tf.matmul(a, b)
    found += math_grad._MatMulGrad(product.op, tf.constant([[2.0]]))
    square = a * a
    found += math_grad._MulGrad(square.op, tf.constant([[1.0, 10.0]]))
    found.append(nn_grad._ReluGrad(tf.nn.relu(a - 1.5).op, tf.constant([[7.0, 8.0]])))
    found += array_grad._ReshapeGrad(tf.reshape(a, [2, 1]).op, b)[:1]
    found.append(ops.get_gradient_function(tf.tanh(a).op)(tf.tanh(a).op, tf.ones([1, 2])))

    @tf.RegisterGradient("PiecesTwice")
    def twice(op, grad):
        return grad * 2.0

    with tf.get_default_graph().gradient_override_map({"Identity": "PiecesTwice"}):
        other = tf.identity(a)
    function = ops.get_gradient_function(other.op)
    none = [ops.get_gradient_function(tf.shape(a).op), ops.get_gradient_function(a.op)]
    with tf.get_default_graph()._attr_scope({"_gradient_op_type": tf.AttrValue(s=b"PiecesUnknown")}):
        unknown = tf.identity(a)
    wrong = caught(lambda: ops.get_gradient_function(unknown.op), WHOLE)
    with tf.Session() as sess:
        return sess.run(found), function is twice, none, wrong


def captures_of_a_function(tf):
    function = inside("python.framework.function")

    outside, told = tf.constant(5.0, name="outside"), []

    def tell():
        told.append([[v.name for v in function.get_extra_vars()], [t.name for t in function.get_extra_inputs()], len(function.get_extra_args())])

    tell()

    @function.Defun(tf.float32)
    def scaled(x):
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        y = x * outside * w
        tell()
        return y

    @function.Defun(tf.float32)
    def alone(x):
        tell()
        return x * 2.0

    results = [scaled(tf.constant(2.0)), alone(tf.constant(3.0))]
    tell()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return told, sess.run(results)


def files(tf):
    file_io = inside("python.lib.io.file_io")

    folder = tempfile.mkdtemp()
    a, b = os.path.join(folder, "a"), os.path.join(folder, "b")
    file_io.atomic_write_string_to_file(a, "hello")
    kept = caught(lambda: file_io.atomic_write_string_to_file(a, "x", overwrite=False), "file already exists")
    found = [file_io.read_file_to_string(a), sorted(os.listdir(folder)), file_io.file_crc32(a), file_io.file_crc32(a, block_size=2)]
    for text in ("hello", "hallo", "hi"):
        file_io.write_string_to_file(b, text)
        found.append(file_io.filecmp(a, b))
    file_io.recursive_create_dir_v2(os.path.join(folder, "c", "d"))
    file_io.copy_v2(a, os.path.join(folder, "c", "e"))
    file_io.rename_v2(b, os.path.join(folder, "f"))
    found += [file_io.file_exists_v2(b), file_io.is_directory_v2(folder), file_io.stat_v2(a).length, sorted(file_io.list_directory_v2(folder))]
    found.append(sorted(os.path.basename(name) for name in file_io.get_matching_files_v2(os.path.join(folder, "?"))))
    found.append(sorted((os.path.basename(top), sorted(inner), sorted(names)) for top, inner, names in file_io.walk_v2(os.path.join(folder, "c"))))
    file_io.delete_file_v2(a)
    file_io.delete_recursively_v2(os.path.join(folder, "c"))
    return kept, found, sorted(os.listdir(folder))


def servers(tf):
    server_lib = inside("python.training.server_lib")

    made = server_lib._make_server_def
    one = made({"w": ["a:1"]}, None, None, "grpc", tf.ConfigProto(inter_op_parallelism_threads=3))
    found = [str(one), str(made({"w": ["a:1", "b:2"]}, "w", 1, None, None)), str(made(one, "v", 2, "other", None))]
    found.append(str(tf.train.Server({"local": ["localhost:0"]}, start=False).server_def))
    found.append(str(tf.train.Server(tf.train.ServerDef(cluster=tf.train.ClusterSpec({"x": ["localhost:0"]}).as_cluster_def(), job_name="x"), protocol="grpc", start=False).server_def))
    wrong = [
        caught(lambda: made({"w": ["a:1", "b"]}, None, None, None, None), WHOLE),
        caught(lambda: made({"w": ["a:1"], "v": ["b:1"]}, None, None, None, None), WHOLE),
        caught(lambda: made({"w": ["a:1"]}, "x", None, None, None), WHOLE),
        caught(lambda: made(3, None, None, None, None), WHOLE),
    ]
    return found, wrong


def conversions(tf):
    constant_op = inside("python.framework.constant_op")
    resource_variable_ops = inside("python.ops.resource_variable_ops")
    tf_export = inside("python.util.tf_export")

    of_shape, of_size = constant_op._tensor_shape_tensor_conversion_function, constant_op._dimension_tensor_conversion_function
    made = [of_shape(tf.TensorShape([1, 2])), of_size(tf.Dimension(2)), of_shape(tf.TensorShape([2**31])), of_shape(tf.TensorShape([3]), dtype=tf.int64, name="q")]
    made.append(constant_op._constant_tensor_conversion_function([1], name="r"))
    wrong = [
        caught(lambda: of_shape(tf.TensorShape([None])), WHOLE),
        caught(lambda: of_size(tf.Dimension(None)), WHOLE),
        caught(lambda: of_shape(tf.TensorShape([1]), dtype=tf.float32), "Cannot convert a TensorShape to dtype"),
        caught(lambda: of_shape(tf.TensorShape([2**31]), dtype=tf.int32), WHOLE),
    ]
    v = tf.get_variable("v", [2], use_resource=True)
    again = resource_variable_ops._from_proto_fn(resource_variable_ops._to_proto_fn(v))
    names = [tf_export.get_canonical_name_for_symbol(one) for one in (tf.nn.relu, tf.add, tf.get_variable, tf.train.AdamOptimizer, tf.layers.dense, 3)]
    with tf.Session() as sess:
        return [t.name for t in made], sess.run(made), wrong, again.name, type(again).__name__, names


def input_hooks_and_keys(tf):
    estimator = inside("python.estimator.estimator")
    model_fn = inside("python.estimator.model_fn")
    util = inside("python.estimator.util")

    iterator = tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(3))
    following = iterator.get_next()
    with tf.train.MonitoredSession(hooks=[util._DatasetInitializerHook(iterator)]) as sess:
        first = sess.run(following)
    spec = model_fn._TPUEstimatorSpec(mode="eval", loss=tf.constant(1.0))

    def good(features, labels, params):
        return None

    def bad(x):
        return None

    checked = [estimator._verify_model_fn_args(good, {}), caught(lambda: estimator._verify_model_fn_args(bad, None), "must include features argument")]
    return first, model_fn.LOSS_METRIC_KEY, model_fn.AVERAGE_LOSS_METRIC_KEY, spec.loss.name, spec.mode, checked
