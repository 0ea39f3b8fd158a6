"""Ops at their edges: no elements, single ones, and refusals in TensorFlow's words."""

import numpy as np

from programs.raised import mistakes


def later(tf, x, dtype=None):
    """A tensor of which nothing is known before the run."""
    return tf.placeholder_with_default(tf.constant(x, dtype), None)


def waves(*shape):
    """Numbers between -1 and 1."""
    return np.sin(np.arange(1, 1 + np.prod(shape)) * 1.7).reshape(shape).astype(np.float32)


def norms_of_single_elements(tf):
    x = tf.constant([[-3.0, 4.0]])
    made = [tf.math.reduce_euclidean_norm(x, a) for a in (0, 1, [], None)] + [tf.math.reduce_euclidean_norm(tf.constant([-3 - 4j]))]
    with tf.Session() as sess:
        return sess.run(made)


def entropies_of_no_classes(tf):
    logits = tf.zeros([2, 0])
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.zeros([2, 0]), logits=logits)
    with tf.Session() as sess:
        return sess.run([loss] + tf.gradients(loss, logits))


def softly_suppressed_boxes(tf):
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 0.6, 1.0, 1.6], [0.0, 2.0, 1.0, 3.0]]
    made = [tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8, 0.7, 0.6], 4, t, soft_nms_sigma=s) for t in (0.5, 0.9, 0.2) for s in (0.0, 0.5)]
    with tf.Session() as sess:
        return [list(pair) for pair in sess.run(made)]


def zeros_of_unknown_dimensions(tf):
    return [str(tf.tile(tf.placeholder("float32", [None, 3]), [0, 2]).shape)]


def arrays_refused(tf):
    x = waves(3, 4)
    return mistakes(
        tf,
        ellipses=lambda: tf.strided_slice(x, [1], [2], ellipsis_mask=3),
        slice_scalar=lambda: tf.slice(later(tf, x), later(tf, 0), later(tf, 1)),
        strided_scalar=lambda: tf.strided_slice(later(tf, x), later(tf, 1), later(tf, 2), later(tf, 1)),
        gather_axis=lambda: tf.gather(later(tf, x), [0], axis=later(tf, [0])),
        gather_nd_scalar=lambda: tf.gather_nd(later(tf, 5.0), [[0]]),
        gather_nd_index=lambda: tf.gather_nd(later(tf, x), later(tf, 0)),
        scatter_scalar=lambda: tf.scatter_nd([0, 1], 5.0, [4]),
        scatter_shape=lambda: tf.scatter_nd([[0]], [5.0], later(tf, 4)),
        scatter_deep=lambda: tf.scatter_nd([[0, 0, 0]], [5.0], [2, 2]),
        tensor_scatter_scalar=lambda: tf.tensor_scatter_add(x[0], [0], 5.0),
        reshape_empty=lambda: tf.reshape(x, [0, -1]),
        reshape_empty_later=lambda: tf.reshape(later(tf, x), later(tf, [0, -1])),
        tile_scalar=lambda: tf.tile(later(tf, x), later(tf, 2)),
        transpose_scalar=lambda: tf.transpose(later(tf, x), later(tf, 0)),
        concat_ranks=lambda: tf.concat([x[0], x], 1),
        concat_axis=lambda: tf.concat([later(tf, x), later(tf, x)], later(tf, [0])),
        stack_axis=lambda: tf.stack([later(tf, x), later(tf, x[:1])], 3),
        stack_nothing=lambda: tf.stack([], 1),
        unstack_axis=lambda: tf.unstack(x, 2, 2),
        split_rests=lambda: tf.split(x, [-1, -1], 0),
        reversed_lengths=lambda: tf.reverse_sequence(later(tf, x), later(tf, [1, 2]), seq_axis=1),
        reversed_scalar=lambda: tf.reverse_sequence(later(tf, x), later(tf, 2), seq_axis=1),
        reversed_nowhere=lambda: tf.reverse_sequence(x, [1, 2, 3]),
        squeeze_tensor=lambda: tf.squeeze(x[:1], tf.constant(0)),
        contracted=lambda: tf.tensordot(x, x, [[5], [0]]),
        contracted_thrice=lambda: tf.tensordot(x, x, [[0], [0], [0]]),
        mask_length=lambda: tf.sequence_mask([1], [4]),
        blocks=lambda: tf.space_to_batch(waves(1, 4, 4), [[0, 0], [0, 0]], 2),
    )


def choices_refused(tf):
    pairs = ([True, False], 1.0, 2.0), ([True, False], waves(0), waves(0)), ([[True]], waves(2), waves(2)), (True, waves(2), waves(3)), ([True], waves(2, 1), waves(1, 2))
    record = []
    for choose in (tf.where, tf.where_v2):
        for c, x, y in pairs:
            record.append(mistakes(tf, known=lambda: choose(c, x, y), unknown=lambda: choose(later(tf, c), later(tf, x), later(tf, y))))
    return record


def numbers_refused(tf):
    x = tf.constant
    return mistakes(
        tf,
        quotient=lambda: tf.truediv(x([1], tf.uint32), x([2], tf.uint32)),
        quotient_of_bools=lambda: x([True]) / x([True]),
        cast_to_nothing=lambda: tf.raw_ops.Cast(x=x(1.0), DstT=None),
        halves=lambda: tf.complex(x([1.0], tf.float16), x([1.0], tf.float16)),
        nothing=lambda: tf.add(x([1.0]), None),
        nothing_first=lambda: tf.atan2(None, x([1.0])),
        no_gradient=lambda: tf.gradients(tf.cast(tf.random_shuffle(x([1.0, 2.0])), tf.float32), tf.get_default_graph().get_tensor_by_name("Const:0")),
        random_shape=lambda: tf.random_normal(later(tf, [[2]])),
        stateless_shape=lambda: tf.random.stateless_uniform(later(tf, [[2]]), [1, 2]),
    )


def layers_refused(tf):
    x = waves(2, 3)
    return mistakes(
        tf,
        softmax=lambda: tf.nn.softmax(later(tf, 1.0)),
        bias_of_vector=lambda: tf.nn.bias_add(later(tf, x[0]), later(tf, x[0])),
        bias_matrix=lambda: tf.nn.bias_add(later(tf, x), later(tf, x)),
        bias_format=lambda: tf.nn.bias_add(x, x[0], data_format="X"),
        padding=lambda: tf.nn.conv2d(waves(1, 5, 5, 2), waves(2, 2, 2, 3), [1, 1, 1, 1]),
        entropy_shapes=lambda: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=later(tf, x), labels=later(tf, waves(2, 4)))[0],
        entropy_vector=lambda: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=later(tf, x[0]), labels=later(tf, x[0]))[0],
        entropy_classes=lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 0], logits=tf.zeros([2, 0])),
        decoded=lambda: tf.nn.ctc_greedy_decoder(later(tf, waves(4, 2, 3)), later(tf, [4]))[1],
    )


def strings_refused(tf):
    return mistakes(
        tf,
        encoding=lambda: tf.strings.upper(["a"], encoding="latin"),
        join=lambda: tf.strings.join([later(tf, ["a", "b"]), later(tf, ["c"])]),
        split=lambda: tf.string_split(later(tf, "a b")),
        delimiter=lambda: tf.string_split(later(tf, ["a b"]), later(tf, [" "])),
        start=lambda: tf.strings.substr(["hello"], 6, 2),
        starts=lambda: tf.strings.substr(later(tf, ["a", "b"]), later(tf, [1, 2, 3]), later(tf, [1, 2, 3])),
        pattern=lambda: tf.strings.regex_replace(["a"], later(tf, ["a"]), "b"),
        rewrite=lambda: tf.strings.regex_replace(["a"], later(tf, "a"), later(tf, ["b"])),
        match=lambda: tf.strings.regex_full_match(["a"], later(tf, ["a"])),
        fill=lambda: tf.as_string([1], fill="x"),
        raw=lambda: tf.decode_raw(["ab", "c"], tf.uint8),
        columns=lambda: tf.decode_csv(["1,2"], [[1], [1]], select_cols=[0]),
        order=lambda: tf.decode_csv(["1,2"], [[1], [1]], select_cols=[1, 0]),
        number=lambda: tf.decode_csv(["1,x"], [[1], [1.0]]),
    )
