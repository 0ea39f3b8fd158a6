"""`tf.contrib.signal`: the names of `tf.signal` that were here before."""

from millstream.framework import namespaces
from millstream.ops.signal_ops import (
    frame,
    hamming_window,
    hann_window,
    inverse_stft,
    inverse_stft_window_fn,
    linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms,
    overlap_and_add,
    stft,
)

__dir__ = namespaces.dir_of(globals())
