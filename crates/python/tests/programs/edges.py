"""Arguments at the edge of what functions of measures, layers, matrices, sparse tensors and pools take."""

import numpy as np

from programs.raised import mistakes


def measures_of_mixed_types(tf):
    whole, part = [1, 0, 1], [1.0, 0.5, 0.0]
    return mistakes(
        tf,
        error=lambda: tf.metrics.mean_absolute_error(tf.constant(whole), tf.constant(part)),
        squared=lambda: tf.metrics.mean_squared_error(tf.constant(whole), tf.constant(part)),
        rooted=lambda: tf.metrics.root_mean_squared_error(tf.constant(whole), tf.constant(part)),
        wide_weights=lambda: tf.metrics.accuracy(tf.zeros([6, 3]), tf.zeros([6, 3]), weights=np.ones(18)),
        counted=lambda: tf.metrics.true_positives(tf.ones([6, 3]), tf.ones([6, 3]), weights=tf.ones([6, 2])),
    )


def counts_of_classes(tf):
    matrix = tf.confusion_matrix([[0], [1], [2]], [0, 2, 1], num_classes=4)
    weighted = tf.confusion_matrix([0, 1, 1], [0, 1, 1], weights=tf.constant([1.0, 2.0, 0.5]), dtype=tf.float64)
    value, update = tf.metrics.mean_iou(tf.constant([[0, 1]]), tf.constant([[0, 0]]), 2, weights=tf.constant([[1.0, 3.0]]))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        return [matrix.name, sess.run([matrix, weighted]), sess.run(update), sess.run(value), value.name]


def classes_out_of_bounds(tf):
    return mistakes(
        tf,
        labels=lambda: tf.confusion_matrix([0, 3], [0, 1], num_classes=2),
        weights=lambda: tf.confusion_matrix([0, 1], [0, 1], weights=tf.constant([1.0])),
    )


def layers_of_other_inputs(tf):
    images = lambda: tf.ones([2, 6, 6, 3])  # noqa: E731

    def twice(layer, *inputs):
        return [layer(x) for x in inputs]

    return mistakes(
        tf,
        whole=lambda: tf.layers.dense(tf.constant([[1, 2]]), 2),
        wider=lambda: twice(tf.layers.Dense(2, name="d"), tf.ones([2, 3]), tf.ones([2, 5])),
        channels=lambda: twice(tf.layers.Conv2D(2, 3, name="c"), tf.ones([1, 6, 6, 3]), tf.ones([1, 6, 6, 4])),
        two=lambda: tf.layers.Dense(2, name="d").apply([tf.ones([2, 3]), tf.ones([2, 3])]),
        strided=lambda: tf.layers.conv2d(images(), 2, 3, strides=2, dilation_rate=2),
        no_strides=lambda: tf.layers.max_pooling2d(images(), 2, None),
        no_rank=lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32)),
        no_depth=lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32, [None, None])),
        unbuilt=lambda: tf.layers.Dense(2).kernel,
        output=lambda: tf.layers.Dense(2).compute_output_shape([None, None]),
    )


def names_of_both_directions(tf):
    cells = [tf.nn.rnn_cell.GRUCell(2) for _ in range(2)]
    outputs, states = tf.nn.bidirectional_dynamic_rnn(*cells, inputs=tf.ones([1, 2, 3]), sequence_length=[1], dtype=tf.float32)
    return [t.name for t in outputs + states] + [v.name for v in tf.global_variables()]


def pools_of_distant_cells(tf):
    x = np.arange(30.0).reshape(1, 5, 6, 1).astype(np.float32)
    largest = tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 3])
    mean = tf.nn.pool(x[:, :, 0], [2], "AVG", "VALID", dilation_rate=[3])
    with tf.Session() as sess:
        values = sess.run([largest, mean])
    wrong = mistakes(
        tf,
        same=lambda: tf.nn.pool(x, [2, 2], "MAX", "SAME", dilation_rate=[2, 2]),
        strided=lambda: tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 2], strides=[2, 2]),
        channels=lambda: tf.nn.convolution(x, tf.ones([2, 2, 3, 1]), "SAME"),
        rank=lambda: tf.nn.convolution(tf.ones([2, 3]), tf.ones([2, 2, 3, 1]), "SAME"),
    )
    return [values, wrong]


def matrices_of_unknown_rank(tf):
    x = tf.placeholder_with_default(np.arange(6.0).reshape(1, 2, 3), None)
    square = tf.placeholder_with_default(np.diag([0.0, 1.0]), None)
    transposed, power = tf.matrix_transpose(x), tf.linalg.expm(square)
    with tf.Session() as sess:
        values = sess.run([transposed, tf.linalg.adjoint(x)])
        values.append(np.round(sess.run(power), 6))
    wrong = mistakes(
        tf,
        vector=lambda: tf.matrix_transpose([1.0, 2.0]),
        whole=lambda: tf.linalg.expm([[1, 2], [3, 4]]),
    )
    return [values, transposed.shape.ndims, transposed.name, power.name, tf.linalg.expm(tf.ones([2, 0, 0])).shape.as_list(), wrong]


def sparse_tensors_that_do_not_fit(tf):
    def sparse(shape=(3, 3)):
        return tf.SparseTensor([[0, 1], [1, 0], [2, 2]], [1.0, 2.0, 3.0], shape)

    ids = lambda: tf.SparseTensor([[0, 0]], tf.constant([2], tf.int64), [2, 2])  # noqa: E731
    values = lambda: tf.SparseTensor([[0, 0]], [1.0], [2, 2])  # noqa: E731
    return mistakes(
        tf,
        retained=lambda: tf.sparse_retain(sparse(), [True, False]),
        turned=lambda: tf.sparse_transpose(sparse(), [0]),
        reset=lambda: tf.sparse_reset_shape(sparse(), [4]),
        added=lambda: tf.sparse_add(sparse(), sparse((4, 3))),
        dense=lambda: tf.sparse_add(tf.constant(1.0), tf.constant(2.0)),
        size=lambda: tf.sparse_merge(ids(), values(), "a"),
        sizes=lambda: tf.sparse_merge([ids()], values(), 5),
    )


def names_of_sparse_results(tf):
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    product = tf.sparse_tensor_dense_matmul(sparse, tf.ones([2, 1]))
    joined = tf.reduce_join([["a", "b"]], 1, separator="-")
    return [product.name, joined.name, tf.sparse_reset_shape(sparse).indices.op.type]
