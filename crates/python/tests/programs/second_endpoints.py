"""Functions of TensorFlow 2's signatures in internal modules, and internal helpers without graphs."""

import collections
import importlib
import inspect

import numpy as np

from programs.raised import WHOLE, caught
from programs.tools import mistakes, run, static

NAMES = """
array_ops batch_gather_nd batch_to_space_v2 boolean_mask_v2 depth_to_space_v2 expand_dims_v2 extract_image_patches_v2 gather_nd_v2 ones_like_v2 reverse_sequence_v2 shape_v2 size_v2 space_to_batch_v2 space_to_depth_v2 squeeze_v2 transpose_v2 zeros_like_v2
check_ops assert_equal_v2 assert_greater_equal_v2 assert_greater_v2 assert_integer_v2 assert_less_equal_v2 assert_less_v2 assert_near_v2 assert_negative_v2 assert_non_negative_v2 assert_non_positive_v2 assert_none_equal_v2 assert_positive_v2 assert_rank_at_least_v2 assert_rank_in_v2 assert_rank_v2 assert_scalar_v2 assert_shapes_v2 assert_type_v2
confusion_matrix confusion_matrix_v1
control_flow_ops case_v2 cond_for_tf_v2 tuple_v2 while_loop_v2
embedding_ops embedding_lookup_sparse_v2 embedding_lookup_v2 safe_embedding_lookup_sparse_v2
gradients_impl HessiansV2 gradients_v2
image_ops_impl crop_and_resize_v1 crop_and_resize_v2 draw_bounding_boxes_v2
linalg_ops norm_v2
math_ops argmax_v2 argmin_v2 bincount_v1 count_nonzero_v2 matvec reduce_all_v1 reduce_any_v1 reduce_logsumexp_v1 reduce_max_v1 reduce_mean_v1 reduce_min_v1 reduce_prod_v1 reduce_sum_v1 scalar_mul_v2 sparse_segment_mean_v2 sparse_segment_sqrt_n_v2 sparse_segment_sum_v2
nn_impl batch_norm_with_global_normalization_v2 depthwise_conv2d_v2 l2_normalize_v2 moments_v2 nce_loss_v2 sampled_softmax_loss_v2 separable_conv2d_v2 sigmoid_cross_entropy_with_logits_v2 sufficient_statistics_v2 weighted_cross_entropy_with_logits_v2 weighted_moments_v2
nn_ops conv1d_v2 conv2d_transpose_v2 conv2d_v2 conv3d_transpose_v2 conv3d_v1 conv3d_v2 convolution_v2 crelu_v2 dropout_v2 in_top_k_v2 log_softmax_v2 max_pool_with_argmax_v1 pool_v2 softmax_cross_entropy_with_logits_v2_helper softmax_v2 sparse_softmax_cross_entropy_with_logits_v2 xw_plus_b_v1
parsing_ops decode_csv_v2 decode_raw_v1 parse_example_v2 parse_single_example_v2 parse_single_example_v2_unoptimized
sparse_ops serialize_many_sparse_v2 serialize_sparse_v2 sparse_add_v2 sparse_concat_v2 sparse_split_v2
string_ops reduce_join_v2 string_length_v2 string_to_hash_bucket_v1 string_to_number_v1 substr_deprecated substr_v2
variable_scope variable_creator_scope_v1
"""


def _module(tf, path):
    """Returns the internal module `tensorflow.PATH` of the library under test."""
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow." + path)
    modules = importlib.import_module("millstream.programs.modules")

    class Module:
        def __getattr__(self, name):
            return modules.attribute(path, name)

    return Module()


def _text(default):
    if default is inspect.Parameter.empty:
        return "-"
    return getattr(default, "value", None) or str(default)


def _arguments(function):
    return ["%s=%s" % (p.name, _text(p.default)) for p in inspect.signature(inspect.unwrap(function)).parameters.values()]


def signatures(tf):
    """The names and defaults of arguments."""
    found = []
    for line in NAMES.strip().split("\n"):
        module, *names = line.split()
        for name in names:
            found.append([module, name, _arguments(getattr(_module(tf, "python.ops." + module), name))])
    return found


def arrays(tf):
    of = _module(tf, "python.ops.array_ops")
    x = tf.constant(np.arange(24).reshape(2, 3, 4), tf.float32)
    made = [
        of.boolean_mask_v2(x, [True, False, True], axis=1),
        of.expand_dims_v2(x, -1),
        of.gather_nd_v2(x, [[0], [2]], batch_dims=1),
        of.ones_like_v2(x, tf.int32),
        of.zeros_like_v2([1, 2]),
        of.shape_v2(x, tf.int64),
        of.size_v2(x),
        of.squeeze_v2(tf.zeros([1, 2, 1]), 0),
        of.transpose_v2(x, [2, 0, 1], conjugate=True),
        of.reverse_sequence_v2(x, [1, 3], 1, 0),
        of.space_to_depth_v2(tf.reshape(x, [1, 4, 6, 1]), 2),
        of.depth_to_space_v2(tf.reshape(x, [1, 3, 2, 4]), 2),
        of.space_to_batch_v2(tf.reshape(x, [1, 4, 6, 1]), [2, 3], [[0, 0], [0, 0]]),
        of.batch_to_space_v2(tf.reshape(x, [4, 2, 3, 1]), [2, 2], [[0, 0], [0, 0]]),
        of.listdiff([1, 2, 3, 4], [2, 4]),
    ]
    return static(*made[:-1]), run(tf, made)


def numbers(tf):
    of, nn, impl = (_module(tf, "python.ops." + name) for name in ("math_ops", "nn_ops", "nn_impl"))
    x = tf.constant([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]])
    made = [
        of.argmax_v2(x), of.argmin_v2(x, 1, tf.int32), of.count_nonzero_v2(x, 0, keepdims=True), of.matvec(x, [1.0, 2.0, 3.0]),
        of.scalar_mul_v2(2.0, x), of.sparse_segment_sum_v2(x, [0, 1], [0, 0]), of.sparse_segment_mean_v2(x, [0, 1, 1], [0, 0, 2], num_segments=4),
        of.reduce_sum_v1(x, 1, keep_dims=True), of.reduce_max_v1(x, reduction_indices=[0]), of.bincount_v1([1, 1, 3]),
        nn.softmax_v2(x), nn.log_softmax_v2(x, 0), nn.crelu_v2(x, 0), nn.in_top_k_v2([0, 1], x, 1),
        nn.sparse_softmax_cross_entropy_with_logits_v2([0, 1], x), nn.softmax_cross_entropy_with_logits_v2_helper([[1.0, 0, 0], [0, 1.0, 0]], x),
        impl.l2_normalize_v2(x, 1), impl.moments_v2(x, [0], keepdims=True), impl.weighted_moments_v2(x, [1], 2.0),
        impl.sigmoid_cross_entropy_with_logits_v2(labels=tf.ones([2, 3]), logits=x), impl.weighted_cross_entropy_with_logits_v2(tf.ones([2, 3]), x, 2.0),
        _module(tf, "python.ops.linalg_ops").norm_v2(x, axis=1),
    ]  # fmt: skip
    return run(tf, made)


def convolutions(tf):
    nn, impl = (_module(tf, "python.ops." + name) for name in ("nn_ops", "nn_impl"))
    x = tf.constant(np.arange(50).reshape(1, 5, 5, 2) % 7, tf.float32)
    k = tf.constant(np.arange(24).reshape(2, 2, 2, 3) % 5, tf.float32)
    made = [
        nn.conv2d_v2(x, k, 1, "SAME"), nn.conv2d_v2(x, k, [1, 2, 2, 1], [[0, 0], [1, 1], [1, 0], [0, 0]]), nn.convolution_v2(x, k, dilations=[2, 2]),
        nn.conv2d_transpose_v2(x, tf.transpose(k, [0, 1, 3, 2]), [1, 6, 6, 3], 1, "VALID"), nn.pool_v2(x, [2, 2], "MAX", [2, 2]),
        nn.conv1d_v2(x[0], k[0], 2, "SAME"), impl.depthwise_conv2d_v2(x, k, [1, 1, 1, 1], "VALID"),
        impl.separable_conv2d_v2(x, k, tf.ones([1, 1, 6, 2]), [1, 1, 1, 1], "VALID", dilations=[1, 2]),
        nn.conv3d_v2(x[tf.newaxis], tf.ones([1, 2, 2, 2, 1]), [1, 1, 1, 1, 1], "VALID"),
    ]  # fmt: skip
    return run(tf, made)


def checks(tf):
    of = _module(tf, "python.ops.check_ops")
    x = tf.constant([1.0, 2.0])
    fine = [of.assert_equal_v2(x, x), of.assert_rank_v2(x, 1), of.assert_positive_v2(x, message="m"), of.assert_type_v2(x, tf.float32)]
    made = mistakes(
        tf,
        equal=lambda: of.assert_equal_v2([1, 2], [1, 3], message="unequal", summarize=2),
        less=lambda: of.assert_less_v2([1, 2], [1, 3]),
        rank=lambda: of.assert_rank_v2([1.0], 2, message="rank"),
        scalar=lambda: of.assert_scalar_v2([1.0]),
        kind=lambda: of.assert_type_v2(tf.constant(1), tf.float32, "kind"),
        unknown=lambda: of.assert_negative_v2(tf.placeholder_with_default([1.0], None), name="neg"),
    )
    return len(fine), made


def flows(tf):
    of = _module(tf, "python.ops.control_flow_ops")
    i = of.while_loop_v2(lambda i: i < 5, lambda i: [i + 2], [tf.constant(0)])
    c = of.cond_for_tf_v2(tf.constant(True), lambda: [tf.constant(1)], lambda: [tf.constant(2)])
    d = of.case_v2([(tf.constant(False), lambda: tf.constant(1))], lambda: tf.constant(7))
    t = of.tuple_v2([tf.constant(1), tf.constant(2)], name="pair")
    return type(i).__name__, type(c).__name__, [x.name for x in t], run(tf, [i, c, d, t])


def lookups(tf):
    of = _module(tf, "python.ops.embedding_ops")
    parts = [tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0]])]
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0, 2, 1], tf.int64), [3, 2])
    return run(tf, [of.embedding_lookup_v2(parts, [2, 0, 1]), of.embedding_lookup_sparse_v2(parts, ids, None, "sum"), of.safe_embedding_lookup_sparse_v2(parts, ids)])


def gradients_in_second_form(tf):
    of = _module(tf, "python.ops.gradients_impl")
    x = tf.constant([1.0, 2.0])
    return run(tf, [of.gradients_v2(x * x, x), of.HessiansV2(tf.reduce_sum(x * x * x), x)])


def class_of_variables(tf):
    info = tf.Variable.SaveSliceInfo("a/w", [4, 2], [2, 0], [2, 2])
    again = tf.Variable.SaveSliceInfo(save_slice_info_def=info.to_proto(), import_scope="b")
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    h = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    rows = tf.IndexedSlices(tf.constant([[9.0], [8.0]]), tf.constant([[0], [1]]))
    names = ["assign", "assign_add", "assign_sub", "count_up_to", "read_value", "sparse_read", "gather_nd", "batch_scatter_update", "dtype"]
    wrong = [
        caught(lambda: tf.Variable.assign(v, 1.0)), caught(lambda: tf.Variable.read_value(v)), caught(lambda: v.sparse_read([0])), caught(lambda: v.gather_nd([0])),
        caught(lambda: v.batch_scatter_update(3)), caught(lambda: h.batch_scatter_update(3), WHOLE),
    ]  # fmt: skip
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        updated = sess.run(v.batch_scatter_update(rows)), sess.run(h.batch_scatter_update(rows))
    return info.spec, str(info.to_proto("a")), info.to_proto("c"), again.full_name, again.spec, [hasattr(tf.Variable, n) for n in names], wrong, updated


def raw_names(tf):
    """The generated modules have ops under their own names, with keywords alone."""
    of = _module(tf, "python.ops.gen_data_flow_ops")
    q = of.FIFOQueueV2(component_types=[tf.int32], name="q")
    training = _module(tf, "python.training.gen_training_ops")
    v = tf.Variable(2.0)
    step = training.ApplyGradientDescent(var=v._ref(), alpha=0.5, delta=1.0)
    return q.name, q.op.type, run(tf, step), caught(lambda: of.FIFOQueueV2([tf.int32]))


def objects_as_keys(tf):
    of = _module(tf, "python.util.object_identity")
    a, b = [1], [1]
    d, s = of.ObjectIdentityDictionary(), of.ObjectIdentitySet([a, b, a])
    d[a], d[b] = 3, 4
    r = of.Reference(a)
    other = of.ObjectIdentitySet([b])
    return (
        len(d), d[a], list(d.keys()), a in d, [1] in d, list(d.items()), repr(d), len(s), a in s, [1] in s, len(s.difference(other)), len(s.intersection([a])),
        r == of.Reference(a), r == of.Reference(b), r.deref() is a, repr(r), caught(lambda: d[[1]]),
    )  # fmt: skip


def registries(tf):
    r = _module(tf, "python.framework.registry").Registry("thing")
    r.register(3, "a")
    r.register(len)
    stack = _module(tf, "python.framework.traceable_stack").TraceableStack()
    stack.push_obj("x"), stack.push_obj("y")
    one = list(stack.peek_traceable_objs())[0]
    return (
        r.lookup("a"), sorted(r.list()), caught(lambda: r.lookup("b"), WHOLE), caught(lambda: r.register(4, "a"), "Registering two thing with name 'a'!"),
        len(stack), stack.peek_top_obj(), list(stack.peek_objs()), one.filename.endswith("second_endpoints.py"), stack.pop_obj(), len(stack),
    )  # fmt: skip


def decorators(tf):
    of = _module(tf, "python.util.tf_decorator")
    old = _module(tf, "python.util.deprecation")
    export = _module(tf, "python.util.tf_export")

    def target(a, b=2):
        """Adds."""
        return a + b

    def wrapper(*args, **kwargs):
        return 10 * target(*args, **kwargs)

    made = of.make_decorator(target, wrapper, "ten", "Ten times.")
    found, inner = of.unwrap(made)
    lookup = old.deprecated_argument_lookup
    only = export.kwarg_only(target)
    return (
        made(1), made.__name__, made.__doc__, [d.decorator_name for d in found], inner is target, of.unwrap(target)[0],
        lookup("new", 1, "old", None), lookup("new", None, "old", 2), caught(lambda: lookup("new", 1, "old", 2), WHOLE), only(a=1), caught(lambda: only(1), WHOLE),
        old.rewrite_argument_docstring("Takes `a`.\na: the a", "a", "b"), export.get_canonical_name(["old", "new"], ["old"]),
    )  # fmt: skip


def dispatchers(tf):
    of = _module(tf, "python.util.dispatch")

    @of.add_dispatch_support
    def double(x):
        if not isinstance(x, int):
            raise TypeError("not an int")
        return 2 * x

    class Box:
        n = 5

    before = caught(lambda: double(Box()), WHOLE)
    of.dispatch_for_types(double, Box)(lambda x: double((x[0] if isinstance(x, list) else x).n))
    return double(3), before, double(Box()), double([Box()]), caught(lambda: double("a"), WHOLE), caught(lambda: of.add_dispatch_list(double))


def messages(tf):
    of = _module(tf, "python.util.protobuf.compare")
    a, b = tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=1.5)]), tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=1.5)])
    c = tf.Summary(value=[tf.Summary.Value(tag="y")])
    return of.ProtoEq(a, b), of.ProtoEq(a, c), of.ProtoEq([1, 2], [1, 2]), str(of.NormalizeNumberFields(tf.Summary(value=[tf.Summary.Value(simple_value=0.5)])))


def conversion(tf):
    ops, slices = _module(tf, "python.framework.ops"), _module(tf, "python.framework.indexed_slices")
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    part = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    same = [ops.convert_to_tensor_or_composite(sparse) is sparse, ops.convert_n_to_tensor_or_composite([part, None, 3])[:2] == [part, None]]
    made = ops.internal_convert_n_to_tensor([1, 2.0], name="n") + slices.convert_n_to_tensor_or_indexed_slices([5], tf.int64, "m")
    return same, [x.name for x in made], static(*made), caught(lambda: ops.internal_convert_n_to_tensor(3), WHOLE)


def scopes_and_settings(tf):
    ops = _module(tf, "python.framework.ops")
    with ops.name_scope_v2("a") as outer, ops.name_scope_v2("b") as inner:
        name, here = tf.constant(1).name, ops.get_name_scope()
    stats = ops.OpStats("flops", 3)
    stats += ops.OpStats("flops", 4)
    config = _module(tf, "python.framework.config")
    settings = config.get_soft_device_placement(), config.get_intra_op_parallelism_threads(), config.get_optimizer_jit(), [d.name for d in config.list_logical_devices("CPU")]
    return outer, inner, name, here, stats.value, ops.inside_function(), ops.executing_eagerly_outside_functions(), settings, mistakes(
        tf, scope=lambda: ops.name_scope_v2(None), device=lambda: ops.device_v2(lambda op: "/cpu:0")
    )


def devices_and_shapes(tf):
    device, util, common = _module(tf, "python.framework.device"), _module(tf, "python.framework.tensor_util"), _module(tf, "python.framework.common_shapes")
    proto = tf.make_tensor_proto([[1, 2]])
    shape = tf.TensorShape
    x = tf.placeholder(tf.float32)
    util.maybe_set_static_shape(x, tf.stack([2, tf.placeholder(tf.int32, [])]))
    return (
        device.canonical_name("/cpu:0"), device.canonical_name(None), device.is_device_spec("/cpu:0"), util.ShapeEquals(proto, [1, 2]), util.ShapeEquals(proto, [2, 1]),
        util.TensorShapeProtoToList(proto.tensor_shape), util.is_tensor(x), util.is_tensor(3), util.is_tensor(tf.SparseTensor([[0]], [1.0], [2])), str(x.shape),
        [common.is_broadcast_compatible(shape(a), shape(b)) for a, b in (([2, 3], [3]), ([2, 3], [2]), ([None, 3], [4, 1]), (None, [1]))],
        common.unchanged_shape_with_rank(2)(tf.identity(tf.zeros([2, 3])).op)[0].as_list(), common.no_outputs(x.op),
    )  # fmt: skip


def branches_that_are_known(tf):
    of = _module(tf, "python.framework.smart_cond").smart_case
    yes, no = tf.constant(True), tf.constant(False)
    late = of([(tf.placeholder_with_default(False, []), lambda: tf.constant(1)), (yes, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    return of([(no, lambda: 1), (yes, lambda: 2)]), of(collections.OrderedDict([(False, lambda: 1)]), default=lambda: 4), run(tf, late)


def statistics(tf):
    ops = _module(tf, "python.framework.ops")
    y = tf.matmul(tf.zeros([2, 3]), tf.zeros([3, 4]))
    graph = tf.get_default_graph()
    return [int(ops.get_stats_for_node_def(graph, op.node_def, "flops").value or 0) for op in (y.op, y.op.inputs[0].op)], ops.get_stats_for_node_def(graph, y.op.node_def, "other").value
