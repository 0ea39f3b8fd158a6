"""`tf.signal`: frames, windows, short-time Fourier transforms, mel scales and cosine transforms."""

from millstream.framework import namespaces
from millstream.ops.signal_ops import (
    dct,
    fftshift,
    frame,
    hamming_window,
    hann_window,
    idct,
    ifftshift,
    inverse_stft,
    inverse_stft_window_fn,
    irfft,
    irfft2d,
    irfft3d,
    linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms,
    overlap_and_add,
    rfft,
    rfft2d,
    rfft3d,
    stft,
)

__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
