"""Beam search for connectionist temporal classification."""

import numpy as np

from programs.tools import mistakes, run, static


def _logits(steps, batch, classes, scale=3.0):
    n = steps * batch * classes
    return (scale * np.sin(np.arange(n) * 12.9898) * np.cos(np.arange(n) * 0.37)).reshape(steps, batch, classes).astype(np.float32)


def _decoded(tf, found):
    decoded, score = found
    parts = [[d.indices, d.values, d.dense_shape] for d in decoded]
    return static(*(p for one in parts for p in one)), static(score), run(tf, [parts, score])


def searches(tf):
    decode = tf.nn.ctc_beam_search_decoder
    lengths = np.array([7, 4, 0], np.int32)
    return [
        _decoded(tf, decode(_logits(7, 3, 5), lengths, beam_width=width, top_paths=paths, merge_repeated=merges))
        for width, paths, merges in ((1, 1, True), (3, 1, False), (10, 1, True), (20, 1, False), (100, 1, True))
    ]


def several_paths(tf):
    decode = tf.nn.ctc_beam_search_decoder
    lengths = np.array([9, 5], np.int32)
    return [_decoded(tf, decode(_logits(9, 2, 4, scale), lengths, beam_width=16, top_paths=4, merge_repeated=False)) for scale in (1.0, 5.0)]


def later_search(tf):
    lengths = tf.placeholder_with_default(np.array([6, 6], np.int32), [None])
    found = tf.nn.ctc_beam_search_decoder_v2(tf.placeholder_with_default(_logits(6, 2, 6), [None, None, None]), lengths, 8, 3)
    return _decoded(tf, found), found[0][1].values.name


def their_mistakes(tf):
    decode = tf.nn.ctc_beam_search_decoder
    return mistakes(
        tf,
        paths=lambda: decode(tf.zeros([2, 1, 3]), [2], 4, 5)[1],
        leaves=lambda: decode(tf.zeros([1, 1, 2]), [1], 4, 3)[1],
        long=lambda: decode(tf.zeros([2, 1, 3]), [3], 4)[1],
        lengths=lambda: decode(tf.zeros([2, 1, 3]), [2, 2], 4)[1],
    )
