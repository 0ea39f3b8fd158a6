"""Ops that programs build by name, or that imported graphs hold: `Einsum`, block cells, `GatherTree`, CTC."""

import numpy as np

from programs.tools import run


def _numbers(*shape):
    return np.sin(np.arange(1.0 * np.prod(shape))).reshape(shape).astype(np.float32)


def sums_of_products(tf):
    found = []
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
        ("abc,cd->dab", (2, 3, 4), (4, 2)),
        ("ij->ji", (2, 3)),
        ("ij->i", (2, 3)),
        ("ii->i", (3, 3)),
        ("ii->", (3, 3)),
        ("i,j->ij", (2,), (3,)),
        ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
        ("i...,...i->...", (3, 2), (2, 3)),
        ("ij,k->ik", (2, 3), (4,)),
    ):
        inputs = [tf.constant(_numbers(*shape)) for shape in shapes]
        y = tf.raw_ops.Einsum(inputs=inputs, equation=equation)
        found.append([str(y.shape), run(tf, y)])
    return found


def _lstm(tf, time=None):
    x = tf.constant(_numbers(*([time] if time else []), 2, 3))
    cs, h, w, b = (tf.constant(0.5 * _numbers(*shape)) for shape in ((2, 4), (2, 4), (7, 16), (16,)))
    wci, wcf, wco = (tf.constant(k * _numbers(4)) for k in (0.3, 0.7, 1.1))
    return dict(x=x, cs_prev=cs, h_prev=h, w=w, wci=wci, wcf=wcf, wco=wco, b=b)


def _with_gradients(tf, outputs, inputs):
    loss = tf.reduce_sum(outputs.h * _numbers(*outputs.h.shape.as_list())) + tf.reduce_sum(tf.square(outputs.cs))
    gradients = [g for g in tf.gradients(loss, list(inputs.values())) if g is not None]
    return run(tf, [list(outputs), gradients])


def steps_of_memories(tf):
    assert tf.contrib.rnn.LSTMBlockCell  # TensorFlow registers the gradients with it.
    inputs = _lstm(tf)
    cells = [tf.raw_ops.LSTMBlockCell(use_peephole=peephole, cell_clip=clip, **inputs) for peephole, clip in ((False, 3), (True, 0))]
    return [_with_gradients(tf, cell, inputs) for cell in cells]


def sequences_of_memories(tf):
    assert tf.contrib.rnn.LSTMBlockCell
    inputs = _lstm(tf, 5)
    cells = [tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(5, tf.int64), use_peephole=peephole, **inputs) for peephole in (False, True)]
    cells.append(tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(5, tf.int64), forget_bias=0.5, cell_clip=0.2, **inputs))
    return [_with_gradients(tf, cell, inputs) for cell in cells]


def short_sequences_of_memories(tf):
    cell = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(3, tf.int64), **_lstm(tf, 5))
    return run(tf, [cell.cs, cell.h])


def steps_of_gated_units(tf):
    assert tf.contrib.rnn.GRUBlockCell
    x, h, w_ru, w_c, b_ru, b_c = (tf.constant(_numbers(*s)) for s in ((2, 3), (2, 4), (7, 8), (7, 4), (8,), (4,)))
    cell = tf.raw_ops.GRUBlockCell(x=x, h_prev=h, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c)
    gradients = tf.gradients(tf.reduce_sum(cell.h * _numbers(2, 4)), [x, h, w_ru, w_c, b_ru, b_c])
    return run(tf, [list(cell), gradients])


def imported_by_name(tf):
    """A graph that was written with these ops runs after it was read again."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 2, 3], name="x")
        inputs = _lstm(tf, 4)
        inputs["x"] = x
        cell = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(4, tf.int64), **inputs)
        labels = tf.SparseTensor([[0, 0], [1, 0]], [0, 1], [2, 1])
        loss, _ = tf.raw_ops.CTCLoss(inputs=cell.h, labels_indices=labels.indices, labels_values=labels.values, sequence_length=[4, 3])
        decoded = tf.raw_ops.CTCGreedyDecoder(inputs=cell.h, sequence_length=[4, 3])
        tf.group(loss, name="done")
        names = [loss.name, decoded.decoded_values.name]
        definition = graph.as_graph_def()
    with tf.Graph().as_default():
        found = tf.import_graph_def(definition, {"x": _numbers(4, 2, 3)}, names, name="again")
        return run(tf, found), sorted({node.op for node in definition.node})


def beams(tf):
    ids, parents = tf.constant(np.arange(12).reshape(3, 2, 2), tf.int32), tf.constant([[[0, 0], [0, 0]], [[1, 0], [0, 1]], [[0, 1], [1, 1]]])
    tree = tf.contrib.seq2seq.gather_tree(ids, parents, [3, 2], 9)
    return tree.op.type, str(tree.shape), run(tf, tree)


def lengths_of_ranges(tf):
    """Static shapes follow from floats that are known."""
    x = tf.zeros([3, 5])
    n = tf.shape(x)[0]
    return [
        str(tf.range(*limits).shape)
        for limits in (
            [tf.cast(n, tf.float32)],
            [tf.cast(n, tf.float32) * 2.0],
            [tf.cast(n, tf.int64) * 2],
            [1.0, tf.cast(n, tf.float64) + 0.5, 0.25],
            [tf.cast(tf.cast(n, tf.float32) / 2.0, tf.int32)],
            [tf.to_int32(tf.ceil(tf.to_float(n) * 1.5))],
            [tf.cast(tf.shape(tf.placeholder(tf.float32, [None, 2]))[0], tf.float32)],
        )
    ]
