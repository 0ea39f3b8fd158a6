"""Calls by every form of arguments: by position, by keyword, and by the deprecated names of keywords."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, mistakes, run, static


def _forms(tf, *calls):
    """Returns the values of calls, each in a graph of its own."""
    found = []
    for call in calls:
        with tf.Graph().as_default():
            found.append(run(tf, call()))
    return found


def _x(tf):
    return tf.constant([[1.0, 4.0, 2.0], [3.0, 0.0, 5.0]])


def reductions_by_old_names(tf):
    found = []
    for name in ("sum", "mean", "prod", "max", "min", "logsumexp"):
        f = getattr(tf, "reduce_" + name)
        found += _forms(
            tf,
            lambda: f(_x(tf), reduction_indices=1),
            lambda: f(_x(tf), reduction_indices=[0, 1], keep_dims=True),
            lambda: f(_x(tf), 1, keep_dims=True),
            lambda: f(_x(tf), 1, True, None, None, None),
            lambda: f(_x(tf), None, None, "name", 0, True),
            lambda: f(input_tensor=_x(tf), axis=0, keepdims=True, name="r"),
        )
    for f in (tf.reduce_all, tf.reduce_any):
        found += _forms(
            tf,
            lambda: f(_x(tf) > 1.0, reduction_indices=1),
            lambda: f(_x(tf) > 1.0, None, None, None, 0, True),
            lambda: f(_x(tf) > 1.0, 1, keep_dims=True),
        )
    return found


def reductions_by_both_names(tf):
    return mistakes(
        tf,
        axis=lambda: tf.reduce_sum(_x(tf), axis=1, reduction_indices=0),
        keep=lambda: tf.reduce_sum(_x(tf), keepdims=True, keep_dims=False),
        any_axis=lambda: tf.reduce_any(_x(tf) > 0, 1, reduction_indices=0),
        log=lambda: tf.reduce_logsumexp(_x(tf), 1, keepdims=True, keep_dims=True),
        count=lambda: tf.count_nonzero(_x(tf), axis=0, reduction_indices=1),
        squeeze=lambda: tf.squeeze(tf.ones([1, 2]), axis=0, squeeze_dims=[0]),
        expand=lambda: tf.expand_dims(_x(tf), axis=0, dim=1),
        argmax=lambda: tf.argmax(_x(tf), axis=0, dimension=1),
        argmin=lambda: tf.argmin(_x(tf), 0, dimension=1),
        softmax=lambda: tf.nn.softmax(_x(tf), 0, dim=1),
        log_softmax=lambda: tf.nn.log_softmax(_x(tf), axis=0, dim=1),
        l2=lambda: tf.nn.l2_normalize(_x(tf), axis=0, dim=1),
        join=lambda: tf.reduce_join([["a", "b"]], axis=0, reduction_indices=1),
        sequence=lambda: tf.reverse_sequence(_x(tf), [1, 1], seq_axis=1, seq_dim=1),
        batch=lambda: tf.reverse_sequence(_x(tf), [1, 1], seq_axis=1, batch_axis=0, batch_dim=0),
        moments=lambda: tf.nn.moments(_x(tf), [0], keep_dims=True, keepdims=True),
        norm=lambda: tf.norm(_x(tf), keepdims=True, keep_dims=True),
        cond=lambda: tf.cond(tf.constant(True), lambda: 1, lambda: 2, fn1=lambda: 3),
        cosine=lambda: tf.losses.cosine_distance(_x(tf), _x(tf), axis=0, dim=0),
        dropout=lambda: tf.nn.dropout(_x(tf), 0.5, rate=0.5),
        split=lambda: tf.string_split(["a b"], sep=" ", delimiter=" "),
        finite=lambda: tf.verify_tensor_all_finite(_x(tf), "m", x=_x(tf)),
        logits_2=lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=_x(tf), logits=_x(tf), dim=0, axis=0),
        conv=lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), filter=tf.ones([1, 1, 1, 1]), filters=tf.ones([1, 1, 1, 1]), strides=1, padding="SAME"),
    )


def axes_by_old_names(tf):
    return _forms(
        tf,
        lambda: tf.count_nonzero(_x(tf), None, None, tf.int32, None, 1, True),
        lambda: tf.count_nonzero(_x(tf), reduction_indices=[0], keep_dims=True),
        lambda: tf.count_nonzero(input=_x(tf), axis=1),
        lambda: tf.argmax(_x(tf), dimension=1),
        lambda: tf.argmax(_x(tf), None, None, 0, tf.int32),
        lambda: tf.argmin(_x(tf), dimension=0),
        lambda: tf.arg_max(_x(tf), 1, tf.int32),
        lambda: tf.arg_min(input=_x(tf), dimension=0),
        lambda: tf.squeeze(tf.ones([1, 2, 1]), squeeze_dims=[0]),
        lambda: tf.squeeze(tf.ones([1, 2, 1]), None, None, [-1]),
        lambda: tf.expand_dims(_x(tf), dim=1),
        lambda: tf.expand_dims(_x(tf), None, None, -1),
        lambda: tf.norm(_x(tf), 1, 0, keep_dims=True),
        lambda: tf.norm(_x(tf), "euclidean", None, None, None, True),
        lambda: tf.nn.l2_normalize(_x(tf), dim=1),
        lambda: tf.nn.l2_normalize(_x(tf), None, 1e-3, None, 0),
        lambda: tf.nn.softmax(_x(tf), dim=0),
        lambda: tf.nn.softmax(_x(tf), None, None, 0),
        lambda: tf.nn.log_softmax(_x(tf), dim=0),
        lambda: tf.reverse_sequence(_x(tf), [2, 3], seq_dim=1, batch_dim=0),
        lambda: tf.reverse_sequence(_x(tf), [2, 3], 1, 0, None, None, None),
        lambda: tf.reverse_sequence(_x(tf), [2, 3], None, None, None, 1, 0),
        lambda: tf.reverse(_x(tf), [1]),
        lambda: tf.concat([_x(tf), _x(tf)], 1, "name"),
        lambda: tf.concat(values=[_x(tf)], axis=0),
        lambda: tf.stack([_x(tf), _x(tf)], 1, "name"),
        lambda: tf.unstack(_x(tf), 3, 1, "name"),
        lambda: tf.split(_x(tf), 3, 1, None, "name"),
        lambda: tf.split(value=_x(tf), num_or_size_splits=[1, 2], axis=1, num=2),
        lambda: tf.gather(_x(tf), [1], None, None, 0),
        lambda: tf.gather(_x(tf), [1], True, "name", 1, 0),
        lambda: tf.cumsum(_x(tf), 1, True, True, "name"),
        lambda: tf.one_hot([1], 3, 5, 4, -1, tf.int32, "name"),
        lambda: tf.pad(_x(tf), [[1, 0], [0, 0]], "CONSTANT", "name", 7.0),
        lambda: tf.tile(_x(tf), multiples=[1, 2]),
        lambda: tf.transpose(_x(tf), [1, 0], "name", True),
        lambda: tf.matmul(_x(tf), _x(tf), False, True, False, False, False, False, "name"),
        lambda: tf.range(1, 5, 2, tf.int64, "name"),
        lambda: tf.where(_x(tf) > 1.0, _x(tf), -_x(tf), "name"),
        lambda: tf.sequence_mask([1, 2], 3, tf.int32, "name"),
    )


def moments_by_old_names(tf):
    found = _forms(
        tf,
        lambda: tf.nn.moments(_x(tf), [0], keep_dims=True),
        lambda: tf.nn.moments(_x(tf), [1], None, None, None, True),
        lambda: tf.nn.moments(x=_x(tf), axes=[0, 1], shift=1.0, keepdims=True),
        lambda: tf.nn.weighted_moments(_x(tf), [0], 2.0, keep_dims=True),
        lambda: tf.nn.weighted_moments(_x(tf), [0], [[1.0], [3.0]], None, None, True),
        lambda: tf.nn.sufficient_statistics(_x(tf), [0], keep_dims=True)[1:3],
        lambda: tf.nn.sufficient_statistics(_x(tf), [0], 1.0, None, None, True)[1:],
        lambda: tf.nn.normalize_moments(4.0, _x(tf), _x(tf), 1.0, "name"),
    )
    return found


def convolutions_by_old_names(tf):
    images, line, block = (tf.constant(np.arange(n).reshape(shape), tf.float32) for n, shape in ((32, [1, 4, 4, 2]), (8, [1, 4, 2]), (16, [1, 2, 2, 2, 2])))
    weights = tf.constant(np.arange(16).reshape([2, 2, 2, 2]), tf.float32)
    one = tf.constant(np.arange(8).reshape([2, 2, 2]), tf.float32)
    cube = tf.constant(np.arange(32).reshape([2, 2, 2, 2, 2]), tf.float32)
    made = [
        tf.nn.conv2d(images, weights, [1, 1, 1, 1], "SAME", True, "NHWC", [1, 1, 1, 1], "name"),
        tf.nn.conv2d(images, filters=weights, strides=2, padding="VALID"),
        tf.nn.conv2d(input=images, filter=weights, strides=1, padding="SAME"),
        tf.nn.conv1d(value=line, filters=one, stride=1, padding="SAME"),
        tf.nn.conv1d(input=line, filters=one, stride=1, padding="SAME"),
        tf.nn.conv1d(line, one, 1, "VALID", None, "NWC", "name"),
        tf.nn.conv2d_transpose(value=images, filter=weights, output_shape=[1, 8, 8, 2], strides=[1, 2, 2, 1]),
        tf.nn.conv2d_transpose(input=images, filters=weights, output_shape=[1, 8, 8, 2], strides=2, padding="SAME"),
        tf.nn.conv2d_transpose(images, weights, [1, 4, 4, 2], [1, 1, 1, 1], "SAME", "NHWC", "name"),
        tf.nn.conv3d(block, filter=cube, strides=[1, 1, 1, 1, 1], padding="SAME"),
        tf.nn.conv3d(block, filters=cube, strides=[1, 1, 1, 1, 1], padding="SAME"),
        tf.nn.conv3d_transpose(value=block, filter=cube, output_shape=[1, 2, 2, 2, 2], strides=[1, 1, 1, 1, 1]),
        tf.nn.conv3d_transpose(block, filters=cube, output_shape=[1, 2, 2, 2, 2], strides=[1, 1, 1, 1, 1]),
        tf.nn.convolution(images, weights, "SAME", None, None, "name"),
        tf.nn.convolution(images, weights, padding="VALID", dilations=[2, 2]),
        tf.nn.convolution(images, filter=weights, padding="VALID", dilation_rate=[1, 2]),
        tf.nn.depthwise_conv2d(images, weights, [1, 1, 1, 1], "SAME", [2, 2], "name"),
        tf.nn.depthwise_conv2d(images, weights, [1, 1, 1, 1], "SAME", dilations=[1, 2]),
        tf.nn.separable_conv2d(images, weights, tf.ones([1, 1, 4, 1]), [1, 1, 1, 1], "SAME", dilations=[1, 1]),
        tf.nn.conv2d_backprop_input([1, 4, 4, 2], filter=weights, out_backprop=images, strides=[1, 1, 1, 1], padding="SAME"),
        tf.nn.conv2d_backprop_input([1, 4, 4, 2], filters=weights, out_backprop=images, strides=[1, 1, 1, 1], padding="SAME"),
        tf.nn.conv2d_backprop_filter(images, [2, 2, 2, 2], images, [1, 1, 1, 1], "SAME"),
        tf.nn.avg_pool(value=images, ksize=2, strides=2, padding="SAME"),
        tf.nn.avg_pool(None, input=images, ksize=2, strides=2, padding="SAME"),
        tf.nn.avg_pool2d(images, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", "NHWC", "name"),
        tf.nn.max_pool(value=images, ksize=2, strides=1, padding="SAME"),
        tf.nn.max_pool(None, input=images, ksize=2, strides=1, padding="SAME"),
        tf.nn.max_pool(images, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", "NHWC", "name"),
        tf.nn.pool(images, [2, 2], "MAX", "SAME", [1, 1], [1, 1], "name"),
        tf.nn.pool(input=images, window_shape=[2, 2], pooling_type="AVG", padding="VALID"),
        tf.nn.atrous_conv2d(images, weights, 2, "SAME", "name"),
        tf.space_to_depth(images, 2, "name"),
        tf.nn.bias_add(images, [1.0, 2.0], "NHWC", "name"),
        tf.nn.bias_add(value=images, bias=[1.0, 2.0]),
        tf.nn.lrn(images, 2, 1.0, 0.5, 0.5, "name"),
    ]
    return static(*made), [v.sum() for v in run(tf, made)]


def losses_by_old_names(tf):
    x = _x(tf)
    labels = tf.constant([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    unit = tf.nn.l2_normalize(x, 1)
    made = [
        tf.nn.softmax_cross_entropy_with_logits(None, labels, x, 1, "name"),
        tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x, dim=0),
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x, dim=0),
        tf.nn.softmax_cross_entropy_with_logits_v2(labels, x, None, "name", 1),
        tf.nn.sparse_softmax_cross_entropy_with_logits(None, [0, 2], x, "name"),
        tf.nn.sigmoid_cross_entropy_with_logits(None, labels, x, "name"),
        tf.nn.weighted_cross_entropy_with_logits(labels, x, 2.0, "name"),
        tf.nn.weighted_cross_entropy_with_logits(targets=labels, logits=x, pos_weight=2.0),
        tf.losses.cosine_distance(unit, unit, dim=1),
        tf.losses.cosine_distance(unit, unit, None, 2.0, None, tf.GraphKeys.LOSSES, "none", 1),
        tf.losses.mean_squared_error(labels, x, 2.0, "scope", "mine", "weighted_sum"),
        tf.losses.absolute_difference(labels=labels, predictions=x, weights=0.5, reduction="weighted_mean"),
        tf.losses.hinge_loss(labels, x, 1.0, "scope", None),
        tf.losses.huber_loss(labels, x, 1.0, 0.5, "scope"),
        tf.losses.log_loss(labels, tf.sigmoid(x), 1.0, 1e-3, "scope"),
        tf.losses.softmax_cross_entropy(labels, x, 1.0, 0.1, "scope"),
        tf.losses.sigmoid_cross_entropy(multi_class_labels=labels, logits=x, label_smoothing=0.2),
        tf.losses.sparse_softmax_cross_entropy([0, 2], x, 3.0, "scope"),
        tf.contrib.losses.cosine_distance(unit, unit, dim=1),
        tf.contrib.losses.cosine_distance(unit, unit, None, 2.0, None, 1),
        tf.contrib.losses.mean_squared_error(x, labels, 2.0, "scope"),
    ]
    return [t.shape.as_list() for t in made], run(tf, made)


def sparse_by_old_names(tf):
    def x():
        return tf.SparseTensor([[0, 1], [1, 0]], [3.0, 4.0], [2, 2])

    found = []
    for make in (
        lambda: tf.sparse_concat(1, [x(), x()]),
        lambda: tf.sparse_concat(0, [x(), x()], "name", True),
        lambda: tf.sparse_concat(None, [x(), x()], concat_dim=1),
        lambda: tf.sparse.concat(axis=0, sp_inputs=[x(), tf.SparseTensor([[0, 2]], [5.0], [1, 3])], expand_nonconcat_dim=True),
        lambda: tf.sparse_concat(-1, [x(), tf.SparseTensor([[0, 2]], [5.0], [1, 3])], None, True),
        lambda: tf.sparse_split(sp_input=x(), num_split=2, axis=0)[1],
        lambda: tf.SparseTensor.from_value(sparse_tensor_value=tf.SparseTensorValue([[0]], [5], [3])),
        lambda: tf.sparse_add(x(), x(), 0, None),
        lambda: tf.sparse_add(a=x(), b=x(), thresh=7.0),
        lambda: tf.sparse_reorder(sp_input=x(), name="name"),
    ):
        with tf.Graph().as_default():
            made = make()
            found.append(run(tf, [made.indices, made.values, made.dense_shape]))
    return found + _forms(
        tf,
        lambda: tf.sparse_reduce_sum(x(), axis=0, keep_dims=True),
        lambda: tf.sparse_reduce_sum(x(), None, None, [1], True),
        lambda: tf.sparse_reduce_sum(sp_input=x(), reduction_axes=1),
        lambda: tf.sparse_reduce_max(x(), 0, True),
        lambda: tf.sparse_tensor_to_dense(x(), 7.0, True, "name"),
        lambda: tf.sparse_to_dense([1], [3], 5, 2, True, "name"),
        lambda: tf.sparse_tensor_dense_matmul(x(), [[1.0, 2.0], [3.0, 4.0]], True, False, "name"),
    )


def strings_by_old_names(tf):
    def words(made):
        return [made.indices, made.values, made.dense_shape]

    return _forms(
        tf,
        lambda: words(tf.string_split(["a b", "c"], delimiter=" ")),
        lambda: words(tf.string_split(["a,,b"], ",", False, None, "SparseTensor", "name")),
        lambda: words(tf.string_split(source=["a-b"], sep="-", name="name")),
        lambda: words(tf.strings.split(source=["a b"])),
        lambda: words(tf.strings.split(["a,b"], ",", -1, "SparseTensor", None, "name")),
        lambda: tf.regex_replace(["banana"], "an", "AN", False, "name"),
        lambda: tf.regex_replace(input=["banana"], pattern="an", rewrite="AN"),
        lambda: tf.strings.regex_replace(input="banana", pattern=tf.constant("a"), rewrite=tf.constant("o"), replace_global=False),
        lambda: tf.string_to_number(["1.5"], tf.float64, "name"),
        lambda: tf.string_to_number(input=["1"]),
        lambda: tf.strings.to_number(string_tensor=["7"], out_type=tf.int32),
        lambda: tf.string_to_hash_bucket(["a"], 10, "name"),
        lambda: tf.string_to_hash_bucket(input=["a"], num_buckets=10),
        lambda: tf.reduce_join([["a", "b"], ["c", "d"]], reduction_indices=[0], keep_dims=True),
        lambda: tf.reduce_join([["a", "b"], ["c", "d"]], 1, False, "-", "name"),
        lambda: tf.reduce_join([["a", "b"]], None, None, "", None, 1, True),
        lambda: tf.string_join(["a", ["b", "c"]], "-", "name"),
        lambda: tf.substr("hello", 1, 2, "name"),
        lambda: tf.substr(input="hello", pos=1, len=2),
        lambda: tf.as_string(1.5, 2, False, False, 8, "0", "name"),
        lambda: tf.decode_raw("abcd", tf.int16, True, "name"),
        lambda: tf.decode_raw(bytes="ab", out_type=tf.uint8),
        lambda: tf.decode_raw(input_bytes="ab", out_type=tf.uint8),
    )


def refusals(tf):
    def x():
        return tf.SparseTensor([[0, 1], [1, 0]], [3.0, 4.0], [2, 2])

    return mistakes(tf, concat=lambda: tf.sparse_concat(0, [x(), x()], concat_dim=1), kind=lambda: tf.string_split(["a"], result_type="List"))


def names_of_splits(tf):
    return [tf.string_split(["a"]).values.name, tf.string_split(["a"], name="mine").indices.name, tf.regex_replace(["a"], "a", "b").name]


def branches_by_old_names(tf):
    one = tf.constant(True)
    made = [
        tf.cond(one, fn1=lambda: 1, fn2=lambda: 2),
        tf.cond(one, lambda: 1, lambda: 2, True, "name"),
        tf.cond(pred=one, true_fn=lambda: 1, false_fn=lambda: 2),
        tf.cond(one, None, None, False, None, lambda: 3, lambda: 4),
        tf.case([(one, lambda: [tf.constant(5)])], lambda: [tf.constant(6)], True, True, "name")[0],
        tf.case(pred_fn_pairs={one: lambda: tf.constant(5)}, exclusive=True),
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], None, 1, False, True, "name", 2, False),
    ]
    return run(tf, made)


def variables_by_position(tf):
    initializer = tf.constant_initializer(3.0)
    local = tf.get_local_variable("l", [2], tf.float64, initializer, None, True, ["mine"], None, None, True, False, None, None)
    lasting = tf.get_variable("v", [2], tf.float32, initializer, None, False, None, None, None, True, True)
    with tf.variable_op_scope([local], "scope", None, initializer, None, None, None, None, tf.AUTO_REUSE, tf.float64) as scope:
        scoped = tf.get_variable("w", [1])
        again = tf.get_variable("w", [1])
    ready = [tf.is_variable_initialized(variable=lasting), tf.is_variable_initialized(local)]
    named = tf.Variable(1.0, False, None, True, None, "named")
    with tf.Session() as sess:
        before = sess.run(ready)
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        values = sess.run([local, lasting, scoped, named])
    return (
        before,
        values,
        [v.name for v in tf.local_variables()],
        [v.name for v in tf.get_collection("mine")],
        [v.trainable for v in (local, lasting, scoped, named)],
        again is scoped,
        scope.name,
        scoped.dtype.base_dtype,
    )


def layers_by_position(tf):
    images = tf.constant(np.arange(16).reshape([1, 2, 4, 2]), tf.float32)
    first, last = tf.layers.Flatten("channels_first"), tf.layers.Flatten(data_format="channels_last")
    made = [first(images), last(images), tf.layers.flatten(images, "name", "channels_first"), tf.layers.Flatten()(tf.placeholder_with_default(images, [None, 2, 4, None]))]
    norm = tf.layers.BatchNormalization(
        -1, 0.9, 1e-2, True, True, tf.ones_initializer(), tf.ones_initializer(), tf.zeros_initializer(), tf.ones_initializer(),
        None, None, None, None, False, None, 0.99, False, False, None, None, "norm"
    )  # fmt: skip
    made.append(norm(images))
    made.append(tf.layers.dense(images, 2, None, True, tf.ones_initializer()))
    made.append(tf.layers.conv2d(images, 1, (1, 1), (1, 1), "same", "channels_last", (1, 1), None, False, tf.ones_initializer()))
    made.append(tf.layers.max_pooling2d(images, 2, 2, "same", "channels_last", "name"))
    made.append(tf.layers.dropout(images, 0.5, None, 3, False, "name"))
    return static(*made), run(tf, made), [v.name for v in tf.global_variables()], len(tf.trainable_variables())


def layer_mistakes(tf):
    return mistakes(tf, order=lambda: tf.layers.Flatten("first"), flatten=lambda: tf.layers.flatten(tf.ones([1, 2]), data_format="last"))


def weights_of_layers(tf):
    class Own(tf.layers.Layer):
        def build(self, shape):
            ones, slow = tf.ones_initializer(), tf.VariableSynchronization.ON_READ
            self.a = self.add_weight("a", [2], None, ones, None, True, None, True)
            self.b = self.add_variable(name="b", shape=[2], initializer=ones, synchronization=slow)
            self.c = self.add_weight("c", [2], partitioner=tf.fixed_size_partitioner(2), initializer=ones, aggregation=tf.VariableAggregation.SUM)
            self.built = True

        def call(self, x):
            return x + self.a + self.b + tf.convert_to_tensor(self.c)

    layer = Own()
    y = layer(tf.constant([1.0, 2.0]))
    return run(tf, y), [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()], type(layer.a).__name__


def weight_mistakes(tf):
    layer = tf.layers.Layer()
    return mistakes(
        tf,
        unknown=lambda: layer.add_weight("a", [2], what=1),
        both=lambda: layer.add_weight("a", [2], trainable=True, synchronization=tf.VariableSynchronization.ON_READ),
    )


def datasets_of_several_files(tf):
    folder = tempfile.mkdtemp()
    names = [os.path.join(folder, "%d.txt" % i) for i in range(3)]
    for i, name in enumerate(names):
        with open(name, "w") as out:
            out.write("".join("%d%d\n" % (i, j) for j in range(3)))
    found = []
    for make in (
        lambda: tf.data.TextLineDataset(names, None, None, 2),
        lambda: tf.data.TextLineDataset(names, num_parallel_reads=3),
        lambda: tf.data.FixedLengthRecordDataset(names, 3, None, None, None, None, 2),
        lambda: tf.data.FixedLengthRecordDataset(tf.data.Dataset.from_tensor_slices(names), 3, num_parallel_reads=1),
        lambda: tf.data.Dataset.range(4).apply(tf.data.experimental.map_and_batch_with_legacy_function(lambda x: x + 1, 2, None, True, 1)),
    ):
        with tf.Graph().as_default(), tf.Session() as sess:
            element, found_here = tf.data.make_one_shot_iterator(make()).get_next(), []
            try:
                while True:
                    found_here.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                found.append(found_here)
    with tf.Graph().as_default(), tf.Session() as sess:
        lines = tf.data.TextLineDataset(names, num_parallel_reads=tf.data.experimental.AUTOTUNE).batch(20)
        found.append(sorted(sess.run(tf.data.make_one_shot_iterator(lines).get_next()).tolist()))
    return found


def checkpoints_by_name(tf):
    tf.get_variable("v", initializer=[1.0, 2.0]), tf.get_variable("w", initializer=3)
    folder = tempfile.mkdtemp()
    with tf.Session() as sess:
        initialize(tf, sess)
        path = tf.train.Saver().save(sess, os.path.join(folder, "model"))
    framework = tf.contrib.framework
    return (
        framework.list_variables(checkpoint_dir=folder),
        framework.load_variable(checkpoint_dir=folder, name="v"),
        framework.load_variable(path, "w:0"),
        sorted(framework.load_checkpoint(filepattern=path).get_variable_to_shape_map().items()),
        tf.train.list_variables(ckpt_dir_or_file=path),
        tf.train.load_variable(folder, name="w"),
    )


def functions_of_structures(tf):
    py_func = tf.contrib.framework.py_func

    def move(point, by):
        return {"x": point["x"] + by, "y": [point["y"] * by]}

    kinds, shapes = {"x": tf.float32, "y": [tf.float32]}, {"x": [], "y": [[2]]}
    point = {"x": tf.constant(1.0), "y": tf.constant([2.0, 3.0])}
    by = np.float32(5.0)
    made = [
        py_func(move, [point, by], {}, kinds, shapes),
        py_func(move, [point], {"by": tf.constant(by)}, output_types=kinds, output_shapes=shapes, stateful=False, name="mine"),
        py_func(move, (point,), {"by": by}, lambda point, by: kinds, lambda point, by: shapes),
        py_func(func=lambda: np.int64(7), output_types=tf.int64),
        py_func(lambda a, b: (a, b), [1, 2.0], output_types=(tf.int32, tf.float32)),
    ]
    return run(tf, made), made[1]["x"].name, static(made[0]["x"], made[0]["y"][0], made[3])


def function_mistakes(tf):
    py_func = tf.contrib.framework.py_func
    return mistakes(
        tf,
        kwargs=lambda: py_func(lambda a: a, [1.0], [2], tf.float32),
        shapes=lambda: py_func(lambda a: a, [1.0], output_types=[tf.float32], output_shapes=[[2], [3]]),
    )


def recomputed_layers(tf):
    told = []

    def layer(x, is_recomputing=False):
        told.append(is_recomputing)
        w = tf.get_variable("w", [2], initializer=tf.constant_initializer(3.0))
        return tf.contrib.layers.fully_connected(x * w, 2, None, weights_initializer=tf.ones_initializer())

    def several(x, y):
        return x * y, x + y

    x = tf.constant([[1.0, 2.0]])
    recompute = tf.contrib.layers.recompute_grad
    with tf.variable_scope("s", use_resource=True):
        y = recompute(use_data_dep=False, tupleize_grads=True)(layer)(x)
        a, b = recompute(several)(x, y)
    found = tf.gradients([a, b], [x] + tf.trainable_variables())
    return run(tf, [y, a, b, found]), told, [v.name for v in tf.trainable_variables()]


def recomputed_mistakes(tf):
    x = tf.constant(1.0)
    w = tf.Variable(2.0, name="w")
    return mistakes(
        tf,
        tensor=lambda: tf.contrib.layers.recompute_grad(lambda y: x * y),
        variable=lambda: tf.contrib.layers.recompute_grad(lambda y: w * y),
    )


def tables_by_base(tf):
    lookup = tf.contrib.lookup
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [1]), -1, "shared", "mine")
    other = lookup.HashTable(initializer=lookup.KeyValueTensorInitializer(["a"], [1]), default_value=-1, shared_name=None)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer()) if tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS) else sess.run([table.init, other.init])
        values = sess.run([table.lookup(tf.constant(["a", "b"])), other.size()])
    return isinstance(table, lookup.InitializableLookupTableBase), table.name, values


def settings_by_name(tf):
    tf.config.threading.set_inter_op_parallelism_threads(num_threads=0)
    tf.config.threading.set_intra_op_parallelism_threads(num_threads=0)
    tf.config.set_soft_device_placement(enabled=True)
    tf.config.optimizer.set_jit(enabled=False)
    found = tf.config.threading.get_inter_op_parallelism_threads(), tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(enabled=False)  # As it was, for the programs that come after.
    return found


def metrics_by_position(tf):
    streaming, k = tf.contrib.metrics, tf.constant([True, False, True])
    right, scores = tf.constant([True, True, True]), tf.constant([0.2, 0.6, 0.9])
    made = [
        streaming.streaming_mean(scores, [1.0, 0.0, 1.0], ["kept"], ["steps"], "name"),
        streaming.streaming_accuracy(predictions=k, labels=right, weights=[1.0, 1.0, 0.0]),
        streaming.streaming_auc(scores, k, None, 50, None, None, "PR", "name"),
        streaming.streaming_mean_iou(tf.cast(k, tf.int32), tf.cast(right, tf.int32), 2, None, ["kept"]),
        streaming.streaming_percentage_less(scores, 0.5, None, None, None, "name"),
        streaming.streaming_mean_cosine_distance(scores, scores, 0),
        tf.metrics.accuracy(right, k, None, ["kept"], None, "name"),
        tf.metrics.precision_at_k(tf.constant([[1]], tf.int64), [[0.1, 0.9]], 1, None, None, None, None, "name"),
        tf.metrics.mean_relative_error(scores, scores + 0.5, tf.constant([1.0, 2.0, 3.0]), None, None, None, "name"),
    ]
    with tf.Session() as sess:
        initialize(tf, sess)
        updates = sess.run([update for _, update in made])
        return updates, sess.run([value for value, _ in made]), [t.name for t in tf.get_collection("kept") + tf.get_collection("steps")]


def keys_of_argument_scopes(tf):
    slim = tf.contrib.slim
    with slim.arg_scope([slim.dropout], keep_prob=0.5) as scope:
        return scope[slim.arg_scope_func_key(op=slim.dropout)]


def graphs_compared(tf):
    def graph(name, shared):
        with tf.Graph().as_default() as g:
            tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name=shared, name=name)
            return g.as_graph_def()

    same = tf.test.assert_equal_graph_def
    return (
        same(graph("t", "hash_table_1"), graph("t", "hash_table_1"), True, True),
        caught(lambda: same(graph("t", "hash_table_1"), graph("t", "hash_table_2"), hash_table_shared_name=False)),
        caught(lambda: same(actual=graph("t", ""), expected=graph("u", "")), WHOLE),
    )


def operators_by_name(tf):
    operator = tf.linalg.LinearOperatorIdentity(2, batch_shape=None, dtype=tf.float64, is_non_singular=True)
    scaled = tf.linalg.LinearOperatorScaledIdentity(num_rows=2, multiplier=3.0)
    return run(tf, [operator.add_to_tensor(mat=tf.ones([2, 2], tf.float64)), scaled.add_to_tensor(tf.ones([2, 2]), "name")])


def checks_by_old_names(tf):
    return _forms(
        tf,
        lambda: tf.verify_tensor_all_finite(_x(tf), "words", "name"),
        lambda: tf.verify_tensor_all_finite(t=_x(tf), msg="words"),
        lambda: tf.verify_tensor_all_finite(x=_x(tf), message="words"),
        lambda: tf.debugging.assert_all_finite(x=_x(tf), message="words"),
        lambda: tf.nn.dropout(_x(tf), keep_prob=1.0),
        lambda: tf.nn.dropout(_x(tf), None, None, 3, "name", 0.0),
        lambda: tf.nn.embedding_lookup(_x(tf), [1], "mod", "name", True, None),
        lambda: tf.nn.top_k(_x(tf), 1, False, "name"),
        lambda: tf.nn.in_top_k(predictions=_x(tf), targets=[1, 0], k=1),
        lambda: tf.clip_by_value(t=_x(tf), clip_value_min=1.0, clip_value_max=2.0),
        lambda: tf.clip_by_norm(_x(tf), 1.0, [1], "name"),
        lambda: tf.confusion_matrix([0, 1], [1, 1], 2, tf.int64, "name", [2, 3]),
        lambda: tf.random_normal([2], 1.0, 0.0, tf.float32, 3, "name"),
        lambda: tf.random_uniform([2], 1, 2, tf.int32, 3, "name"),
        lambda: tf.multinomial([[0.0, 99.0]], 3, 5, "name", tf.int32),
        lambda: tf.linspace(0.0, 1.0, 3, "name"),
        lambda: tf.unsorted_segment_sum(_x(tf), [0, 0], 1, "name"),
        lambda: tf.tensordot(_x(tf), _x(tf), [[1], [1]], "name"),
        lambda: tf.map_fn(lambda x: x * 2.0, _x(tf), None, 1, False, True, True, "name"),
        lambda: tf.scan(lambda a, x: a + x, _x(tf), None, 1, False, True, True, True, "name"),
        lambda: tf.foldl(lambda a, x: a + x, _x(tf), None, 1, False, True, "name"),
    )
