"""`tf.signal`: frames of signals, windows, short-time Fourier transforms, mel scales and cosine transforms.

Transforms are products with matrices of cosines and sines, unless the engine has the op `RFFT`. Their time is
that of such a product: quadratic in the length of a frame, and short for the frames of speech.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Optional

import numpy as np

from millstream import _engine
from millstream.framework import constant, convert_to_tensor, dtypes, get_static_value, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops

__all__ = [
    "dct",
    "fftshift",
    "frame",
    "hamming_window",
    "hann_window",
    "idct",
    "ifftshift",
    "inverse_stft",
    "inverse_stft_window_fn",
    "irfft",
    "irfft2d",
    "irfft3d",
    "linear_to_mel_weight_matrix",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "rfft",
    "rfft2d",
    "rfft3d",
    "stft",
]


def _scalar(value: Any, name: str) -> Any:
    tensor = convert_to_tensor(value, name=name)
    tensor.shape.assert_has_rank(0)
    return tensor


def _number(value: Any, name: str) -> Any:
    """Returns an integer: a Python one if it is known."""
    known = get_static_value(_scalar(value, name))
    return _scalar(value, name) if known is None else int(known)


# Frames ---------------------------------------------------------------------------------------------------


def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: int = -1, name: Optional[str] = None
) -> Any:
    """Returns the frames of a signal: pieces of one length, which may overlap, on a new axis.

    Args:
      signal: A tensor.
      frame_length: The length of a frame.
      frame_step: The distance between the starts of frames.
      pad_end: If true, frames that reach beyond the end are filled with `pad_value`; otherwise left out.
      pad_value: A scalar.
      axis: The axis of time.
      name: A name for the operations.

    Returns:
      A tensor with one more axis: that of frames, before that of time.

    Raises:
      ValueError: The signal is a scalar, or a length is none.

    Example:
      >>> print(tf.Session().run(tf.signal.frame(tf.range(7), frame_length=3, frame_step=2)))
      [[0 1 2]
       [2 3 4]
       [4 5 6]]
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        rank = signal.shape.with_rank_at_least(1).ndims
        length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
        at_axis: Any = axis
        if axis < 0:
            at_axis = axis + (array_ops.rank(signal) if rank is None else rank)
        known = signal.shape[at_axis].value if rank is not None else None
        n = known if known is not None else array_ops.shape(signal)[at_axis]
        count: Any = -(-n // step) if pad_end else (n - length) // step + 1
        count = max(count, 0) if isinstance(count, int) else op("Maximum")(count, 0)
        if pad_end:
            signal = _padded(signal, at_axis, (count - 1) * step + length - n, pad_value)
        if isinstance(count, int) and isinstance(step, int) and isinstance(length, int):
            at: Any = constant(np.add.outer(np.arange(count) * step, np.arange(length)).astype(np.int32))
        else:
            at = array_ops.expand_dims(math_ops.range(count) * step, 1) + array_ops.expand_dims(math_ops.range(length), 0)
        if rank is None or at_axis == 0:
            # The gradient is a tensor, as in TensorFlow: that of rows which are gathered would be slices.
            signal = array_ops.reshape(signal, array_ops.shape(signal))
        return op("GatherV2")(signal, at, at_axis)


def _padded(signal: Any, axis: Any, more: Any, value: Any) -> Any:
    """Returns a signal with further elements at its end along an axis."""
    more = max(more, 0) if isinstance(more, int) else op("Maximum")(more, 0)
    if isinstance(more, int) and more == 0:
        return signal
    shape = array_ops.shape(signal)
    after = array_ops.concat([shape[:axis], [more], shape[axis + 1 :]], 0)
    return array_ops.concat([signal, array_ops.fill(after, math_ops.cast(value, signal.dtype))], axis)


def overlap_and_add(signal: Any, frame_step: Any, name: Optional[str] = None) -> Any:
    """Returns the signal that frames add up to: the inverse of `frame`, with sums where frames overlap.

    Args:
      signal: A tensor whose last two axes are frames and the elements of a frame.
      frame_step: The distance between the starts of frames.
      name: A name for the operations.

    Returns:
      A tensor with one axis less.

    Raises:
      ValueError: The signal has a rank below 2.

    Example:
      >>> print(tf.Session().run(tf.signal.overlap_and_add(tf.ones([3, 4]), frame_step=2)))
      [1. 1. 2. 2. 2. 2. 1. 1.]
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        static = signal.shape.with_rank_at_least(2)
        step, shape = _number(frame_step, "frame_step"), array_ops.shape(signal)
        count = shape[-2] if static.ndims is None or static[-2].value is None else static[-2].value
        length = shape[-1] if static.ndims is None or static[-1].value is None else static[-1].value
        at = array_ops.expand_dims(math_ops.range(count) * step, 1) + array_ops.expand_dims(math_ops.range(length), 0)
        total = (count - 1) * step + length
        flat = array_ops.transpose(array_ops.reshape(signal, [-1, count * length]))
        summed = array_ops.transpose(op("UnsortedSegmentSum")(flat, array_ops.reshape(at, [-1]), total))
        result = array_ops.reshape(summed, array_ops.concat([shape[:-2], [total]], 0))
        if static.ndims is not None:
            result.set_shape(static[:-2].concatenate(total if isinstance(total, int) else None))
        return result


# Windows --------------------------------------------------------------------------------------------------


def _raised_cosine(default: str, a: float, b: float, length: Any, periodic: Any, dtype: Any, name: Optional[str]) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("dtype must be a floating point type. Found %s" % dtype)
    with name_scope(name, default, [length, periodic]):
        n = _number(length, "window_length")
        if isinstance(n, int) and isinstance(periodic, bool):
            if n == 1:
                return array_ops.ones([1], dtype)
            turns = n - 1 + int(periodic and n % 2 == 0)
            return constant(a - b * np.cos(2 * np.pi * np.arange(n) / turns), dtype)
        n = convert_to_tensor(n)
        even = math_ops.cast(convert_to_tensor(periodic), n.dtype) * (1 - n % 2)
        turns = math_ops.cast(n + even - 1, dtype)
        count = math_ops.cast(math_ops.range(n), dtype)
        window = a - b * op("Cos")(2 * math.pi * count / op("Maximum")(turns, 1))
        return array_ops.where(array_ops.fill([n], math_ops.equal(n, 1)), array_ops.ones([n], dtype), window)


def hann_window(window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Any:
    """Returns a Hann window: a raised cosine that is zero at its ends.

    Args:
      window_length: The length.
      periodic: If true and the length is even, the window is one period of the cosine; otherwise it is
        symmetric.
      dtype: The dtype, a float.
      name: A name for the operations.

    Returns:
      A vector.

    Raises:
      ValueError: `dtype` is no float.

    Example:
      >>> print(tf.Session().run(tf.signal.hann_window(4)))
      [0.  0.5 1.  0.5]
    """
    return _raised_cosine("hann_window", 0.5, 0.5, window_length, periodic, dtype, name)


def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Any:
    """Returns a Hamming window: a raised cosine of at least 0.08.

    The arguments, the result and the errors are those of `hann_window`.

    Example:
      >>> print(tf.Session().run(tf.signal.hamming_window(4)))
      [0.08 0.54 1.   0.54]
    """
    return _raised_cosine("hamming_window", 0.54, 0.46, window_length, periodic, dtype, name)


def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: Optional[str] = None) -> Callable[..., Any]:
    """Returns the function of the window with which `inverse_stft` undoes `stft`.

    Args:
      frame_step: The distance between the starts of frames.
      forward_window_fn: The function of the window of `stft`.
      name: A name for the operations.

    Returns:
      A function of a length and a dtype that returns a window.

    Example:
      >>> window = tf.signal.inverse_stft_window_fn(frame_step=2)
      >>> print(tf.Session().run(window(4, tf.float32)))
      [0. 1. 1. 1.]
    """

    def window(frame_length: Any, dtype: Any) -> Any:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
            forward = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            square = op("Pad")(op("Square")(forward), [[0, overlaps * step - length]])
            total = reduction_ops.reduce_sum(array_ops.reshape(square, [overlaps, step]), 0, keepdims=True)
            return forward / array_ops.reshape(op("Tile")(total, [overlaps, 1]), [-1])[:length]

    return window


# Transforms -----------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _has_fft() -> bool:
    return {"RFFT", "IRFFT"} <= set(_engine.op_names())


def _fitted(x: Any, n: int) -> Any:
    """Returns a tensor whose last axis has `n` elements: cut, or with zeros at the end."""
    length = x.shape[-1].value if x.shape.ndims is not None else None
    if length is None:
        x = x[..., :n]
        more = array_ops.reshape(n - array_ops.shape(x)[-1], [1])
        before = array_ops.zeros(array_ops.reshape(array_ops.rank(x) - 1, [1]), dtypes.int32)
        more = array_ops.concat([before, more], 0)
        made = op("Pad")(x, array_ops.stack([array_ops.zeros_like(more), more], 1))
        made.set_shape(x.shape[:-1].concatenate(n))
        return made
    if n < length:
        return x[..., :n]
    return op("Pad")(x, [[0, 0]] * (x.shape.ndims - 1) + [[0, n - length]]) if length < n else x


def _product(x: Any, matrix: Any) -> Any:
    """Returns the products of the rows of the last axis with a matrix."""
    is_known = isinstance(matrix, np.ndarray)
    rows, columns = matrix.shape if is_known else array_ops.unstack(array_ops.shape(matrix), 2)
    weights = constant(matrix, x.dtype) if is_known else math_ops.cast(matrix, x.dtype)
    flat = math_ops.matmul(array_ops.reshape(x, array_ops.stack([-1, rows])), weights)
    made = array_ops.reshape(flat, array_ops.concat([array_ops.shape(x)[:-1], array_ops.stack([columns])], 0))
    made.set_shape(x.shape[:-1].concatenate(columns if is_known else None))
    return made


def _rfft(x: Any, n: int) -> Any:
    x = _fitted(x, n)
    if _has_fft() and x.dtype == dtypes.float32:
        return op("RFFT")(x, [n])
    angles = 2 * np.pi * np.outer(np.arange(n), np.arange(n // 2 + 1)) / n
    return op("Complex")(_product(x, np.cos(angles)), _product(x, -np.sin(angles)))


def _irfft(x: Any, n: int) -> Any:
    x = _fitted(x, n // 2 + 1)
    if _has_fft() and x.dtype == dtypes.complex64:
        return op("IRFFT")(x, [n])
    real = dtypes.float32 if x.dtype == dtypes.complex64 else dtypes.float64
    k = np.arange(n // 2 + 1)
    weight = np.where((k == 0) | (2 * k == n), 1.0, 2.0)[:, None] / n
    angles = 2 * np.pi * np.outer(k, np.arange(n)) / n
    return _product(op("Real")(x, Tout=real), weight * np.cos(angles)) - _product(op("Imag")(x, Tout=real), weight * np.sin(angles))


def _power_of_two(length: Any) -> int:
    return 1 << max(0, (int(length) - 1).bit_length())


def _static(value: Any, name: str) -> int:
    known = _number(value, name)
    if not isinstance(known, int):
        raise NotImplementedError("`%s` as a tensor without a known value is not part of Millstream yet: use a Python integer" % name)
    return known


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Optional[Callable[..., Any]] = hann_window,
    pad_end: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Returns the short-time Fourier transform of real signals: the spectrum of each frame.

    Args:
      signals: A float tensor whose last axis is time.
      frame_length: The length of a frame.
      frame_step: The distance between the starts of frames.
      fft_length: The length of the transform; by default the next power of two.
      window_fn: A function of a length and a dtype that returns a window, or None.
      pad_end: Whether frames that reach beyond the end are filled with zeros.
      name: A name for the operations.

    Returns:
      A complex tensor: frames, and `fft_length // 2 + 1` frequencies.

    Raises:
      NotImplementedError: A length is not known while the graph is built.

    Example:
      >>> tone = np.sin(2 * np.pi * 4 * np.arange(64) / 16).astype(np.float32)
      >>> spectrum = tf.signal.stft(tone, frame_length=16, frame_step=8)
      >>> print(spectrum.shape, tf.Session().run(tf.argmax(tf.abs(spectrum)[0])))
      (7, 9) 4
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length = _static(frame_length, "frame_length")
        n = _power_of_two(length) if fft_length is None else _static(fft_length, "fft_length")
        framed = frame(signals, length, frame_step, pad_end=pad_end)
        framed.set_shape(framed.shape[:-1].concatenate(length))
        if window_fn is not None:
            framed = framed * window_fn(length, dtype=framed.dtype)
        return _rfft(framed, n)


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Optional[Callable[..., Any]] = hann_window,
    name: Optional[str] = None,
) -> Any:
    """Returns the signals of short-time Fourier transforms: frames from spectra, added where they overlap.

    Args:
      stfts: A complex tensor: frames, and frequencies.
      frame_length: The length of a frame.
      frame_step: The distance between the starts of frames.
      fft_length: The length of the transform; by default the next power of two.
      window_fn: The function of the window: `inverse_stft_window_fn` undoes that of `stft`.
      name: A name for the operations.

    Returns:
      A float tensor.

    Raises:
      NotImplementedError: A length is not known while the graph is built.

    Example:
      >>> signal = np.arange(32, dtype=np.float32)
      >>> spectrum = tf.signal.stft(signal, 8, 4)
      >>> back = tf.signal.inverse_stft(spectrum, 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
      >>> bool(np.allclose(tf.Session().run(back)[4:-4], signal[4:-4], atol=1e-4))
      True
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        length = _static(frame_length, "frame_length")
        n = _power_of_two(length) if fft_length is None else _static(fft_length, "fft_length")
        frames = _fitted(_irfft(stfts, n), length)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: Optional[str] = None,
) -> Any:
    """Returns a matrix that maps the frequencies of spectra to the mel scale, by triangles that overlap.

    Args:
      num_mel_bins: The number of bins of the mel scale.
      num_spectrogram_bins: The number of frequencies.
      sample_rate: The samples in a second.
      lower_edge_hertz: The lowest frequency of the scale.
      upper_edge_hertz: The highest frequency of the scale.
      dtype: The dtype, a float.
      name: A name for the operation.

    Returns:
      A matrix with a row for each frequency.

    Raises:
      ValueError: A number is not positive, or the edges are not between 0 and half of the rate.

    Example:
      >>> m = tf.signal.linear_to_mel_weight_matrix(2, 5, 8000.0, 0.0, 4000.0)
      >>> print(tf.Session().run(m).round(2))
      [[0.   0.  ]
       [0.6  0.4 ]
       [0.   0.87]
       [0.   0.38]
       [0.   0.  ]]
    """
    rate = get_static_value(convert_to_tensor(sample_rate))
    if rate is None:
        raise NotImplementedError("`sample_rate` as a tensor without a known value is not part of Millstream yet: use a Python number")
    dtype = dtypes.as_dtype(dtype)
    if num_mel_bins <= 0:
        raise ValueError("num_mel_bins must be positive. Got: %s" % num_mel_bins)
    if lower_edge_hertz < 0.0:
        raise ValueError("lower_edge_hertz must be non-negative. Got: %s" % lower_edge_hertz)
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError("lower_edge_hertz %.1f >= upper_edge_hertz %.1f" % (lower_edge_hertz, upper_edge_hertz))
    if rate <= 0:
        raise ValueError("sample_rate must be positive. Got: %s" % sample_rate)
    if rate / 2 < upper_edge_hertz:
        words = "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got: %s for sample_rate: %s"
        raise ValueError(words % (upper_edge_hertz, sample_rate))
    if not dtype.is_floating:
        raise ValueError("dtype must be a floating point type. Got: %s" % dtype)
    if num_spectrogram_bins <= 0:
        raise ValueError("Requires num > 0: %d for `num_spectrogram_bins`" % num_spectrogram_bins)

    def mel(hertz: Any) -> Any:
        return 1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0)

    # The constant part of a spectrum, its first bin, has no place on the scale.
    bins = mel(np.linspace(0.0, float(rate) / 2, num_spectrogram_bins)[1:])[:, None]
    edges = np.linspace(mel(lower_edge_hertz), mel(upper_edge_hertz), num_mel_bins + 2)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    weights = np.maximum(0.0, np.minimum((bins - lower) / (center - lower), (upper - bins) / (upper - center)))
    return constant(np.pad(weights, [[1, 0], [0, 0]]), dtype, name=name or "linear_to_mel_weight_matrix")


def dct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Optional[str] = None, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the discrete cosine transform of the last axis.

    Args:
      input: A float tensor.
      type: 1, 2 or 3.
      n: The length of the transform. Longer inputs are cut, shorter ones filled with zeros.
      axis: -1.
      norm: None, or `"ortho"` for a matrix with orthogonal rows (types 2 and 3).
      name: A name for the operations.

    Returns:
      A tensor.

    Raises:
      ValueError: An argument is not one of the above.

    Example:
      >>> print(tf.Session().run(tf.signal.dct([1.0, 1.0, 1.0, 1.0])).round(3) + 0.0)
      [8. 0. 0. 0.]
    """
    if axis != -1:
        raise NotImplementedError("axis must be -1. Got: %s" % axis)
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if norm not in (None, "ortho"):
        raise ValueError("Unknown normalization. Expected None or 'ortho', got: %s" % norm)
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input)
        size = int(n) if n is not None else None if x.shape.ndims is None else x.shape[-1].value
        if type == 1 and size is not None and size < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
        if size is None:
            made = _product(x, _unknown_cosines(type, array_ops.shape(x)[-1], norm))
            made.set_shape(x.shape)
            return made
        return _product(_fitted(x, size), _cosines(type, size, norm))


def _cosines(kind: int, n: int, norm: Optional[str]) -> np.ndarray:
    """Returns the matrix of a cosine transform: a column for each result."""
    at = np.arange(n)
    if kind == 1:
        weight = np.where((at == 0) | (at == n - 1), 1.0, 2.0)[:, None]
        return weight * np.cos(np.pi * np.outer(at, at) / (n - 1))
    forward = 2 * np.cos(np.pi * np.outer(2 * at + 1, at) / (2 * n))
    scale = np.where(at == 0, math.sqrt(1 / (4 * n)), math.sqrt(1 / (2 * n)))
    if kind == 2:
        return forward * scale if norm == "ortho" else forward
    return (forward * (scale if norm == "ortho" else np.where(at == 0, 0.5, 1.0))).T


def _unknown_cosines(kind: int, n: Any, norm: Optional[str]) -> Any:
    """Returns the matrix of `_cosines` for a length that only the run knows."""
    at, size = math_ops.cast(math_ops.range(n), dtypes.float64), math_ops.cast(n, dtypes.float64)
    row, column = array_ops.expand_dims(at, 0), array_ops.expand_dims(at, 1)
    if kind == 1:
        inner = op("LogicalAnd")(column > 0, column < size - 1)
        weight = 1.0 + math_ops.cast(inner, dtypes.float64)
        return weight * op("Cos")(math.pi * column * row / (size - 1))
    forward = 2.0 * op("Cos")(math.pi * (2.0 * column + 1.0) * row / (2.0 * size))
    is_first = math_ops.cast(math_ops.equal(row, 0), dtypes.float64)
    scale = op("Rsqrt")(size * (2.0 + 2.0 * is_first))
    if kind == 2:
        return forward * scale if norm == "ortho" else forward
    return array_ops.transpose(forward * (scale if norm == "ortho" else 1.0 - 0.5 * is_first))


def idct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Optional[str] = None, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the inverse discrete cosine transform of the last axis, up to a factor `2 n` without `norm`.

    The other arguments are those of `dct`.

    Args:
      n: None.

    Returns:
      A tensor.

    Raises:
      ValueError: As `dct`.
      NotImplementedError: `n` is given.

    Example:
      >>> x = tf.constant([1.0, 2.0, 4.0])
      >>> back = tf.signal.idct(tf.signal.dct(x, norm="ortho"), norm="ortho")
      >>> print(tf.Session().run(back).round(3).tolist())
      [1.0, 2.0, 4.0]
    """
    if n is not None:
        raise NotImplementedError("`n` of an inverse transform is not part of Millstream yet: cut or pad the input")
    return dct(input, type={2: 3, 3: 2}.get(type, type), axis=axis, norm=norm, name=name or "idct")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: Optional[str] = None) -> Any:
    """Returns the mel frequency cepstral coefficients of logarithms of spectra on the mel scale.

    Args:
      log_mel_spectrograms: A float tensor whose last axis is that of the mel scale.
      name: A name for the operations.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The number of bins is 0.

    Example:
      >>> print(tf.Session().run(tf.signal.mfccs_from_log_mel_spectrograms([[1.0, 1.0]])).round(3).tolist())
      [[2.0, 0.0]]
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = convert_to_tensor(log_mel_spectrograms)
        static = spectra.shape.with_rank_at_least(1)
        bins = None if static.ndims is None else static[-1].value
        if bins == 0:
            raise ValueError("num_mel_bins must be positive. Got: %s" % log_mel_spectrograms)
        if bins is None:
            count = math_ops.cast(array_ops.shape(spectra)[-1], spectra.dtype)
            return dct(spectra, type=2) * op("Rsqrt")(count * 2.0)
        return dct(spectra, type=2) * (1 / math.sqrt(bins * 2.0))


# Fourier transforms of real numbers -----------------------------------------------------------------------


def _lengths(x: Any, axes: int, inverts: bool) -> Any:
    """Returns the lengths of the transform that has the sizes of the last axes."""
    known = x.shape[-axes:]
    if known.is_fully_defined():
        sizes = known.as_list()
        return constant(sizes[:-1] + [max(0, 2 * (sizes[-1] - 1)) if inverts else sizes[-1]], dtypes.int32)
    shape = array_ops.shape(x)[-axes:]
    if not inverts:
        return shape
    sizes = array_ops.unstack(shape)
    return array_ops.stack(sizes[:-1] + [op("Maximum")(0, 2 * (sizes[-1] - 1))])


def _filled(x: Any, axes: int, lengths: Any, inverts: bool) -> Any:
    """Returns a tensor with zeros appended, so that its last axes reach the lengths."""
    if x.shape.ndims is not None and any(dim.value == 0 for dim in x.shape.dims or []):
        return x
    if inverts:
        lengths = array_ops.concat([lengths[:-1], lengths[-1:] // 2 + 1], 0)
    value, has = get_static_value(lengths), x.shape[-axes:]
    if value is not None and len(value) != axes:
        return x  # The op says what is wrong.
    if value is not None and has.is_fully_defined():
        more = [max(int(n) - int(m), 0) for n, m in zip(value, has.as_list())]
        if not any(more):
            return x
        return array_ops.pad(x, [[0, 0]] * (x.shape.ndims - axes) + [[0, n] for n in more])
    after = op("Maximum")(0, lengths - array_ops.shape(x)[-axes:])
    pads = array_ops.concat([array_ops.zeros([op("Maximum")(0, array_ops.rank(x) - axes)], dtypes.int32), after], 0)
    return array_ops.pad(x, array_ops.stack([array_ops.zeros_like(pads), pads], 1))


_FOURIER = """Returns {what} over the last {axes}.

Args:
  input_tensor: A tensor of `{dtype}`.
  fft_length: A vector of the {sizes} along these axes, to which the input is cut or filled with zeros; by
    default that of the input.
  name: A name for the operations.

Returns:
  A tensor of `{result}`.

Raises:
  ValueError: The rank is lower.

Example:
  >>> print(tf.Session().run(tf.signal.{name}({example})))
  {value}
"""


def _fourier(kind: str, axes: int, value: str) -> Any:
    """Returns the function of an op of transforms of real numbers."""
    inverts, called = kind.startswith("I"), kind.lower()
    dtype = dtypes.complex64 if inverts else dtypes.float32

    def transform(input_tensor: Any, fft_length: Any = None, name: Optional[str] = None) -> Any:
        with name_scope(name, called, [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(input_tensor, dtype)
            x.shape.with_rank_at_least(axes)
            lengths = _lengths(x, axes, inverts) if fft_length is None else convert_to_tensor(fft_length, dtypes.int32)
            if lengths.shape.ndims == 0 and get_static_value(lengths) is not None:
                raise ValueError("Received a scalar value '%s' as shape; it must have an entry for each axis." % get_static_value(lengths))
            return op(kind)(_filled(x, axes, lengths, inverts), lengths, name=scope)

    ones = "tf.ones([%s]%s)" % (", ".join(["2"] * axes), ", tf.complex64" if inverts else "")
    transform.__name__ = transform.__qualname__ = called
    transform.__doc__ = _FOURIER.format(
        what="the inverse of the discrete Fourier transform of real numbers" if inverts else "the discrete Fourier transform of real numbers",
        axes={1: "axis", 2: "two axes", 3: "three axes"}[axes],
        dtype="complex64" if inverts else "float32",
        result="float32" if inverts else "complex64",
        sizes="lengths of the result" if inverts else "lengths",
        name=called,
        example=ones,
        value=value,
    )
    return transform


rfft = _fourier("RFFT", 1, "[2.+0.j 0.+0.j]")
rfft2d = _fourier("RFFT2D", 2, "[[4.+0.j 0.+0.j]\n   [0.+0.j 0.+0.j]]")
rfft3d = _fourier("RFFT3D", 3, "[[[8.+0.j 0.+0.j]\n    [0.+0.j 0.+0.j]]\n  <BLANKLINE>\n   [[0.+0.j 0.+0.j]\n    [0.+0.j 0.+0.j]]]")
irfft = _fourier("IRFFT", 1, "[1. 0.]")
irfft2d = _fourier("IRFFT2D", 2, "[[1. 0.]\n   [0. 0.]]")
irfft3d = _fourier("IRFFT3D", 3, "[[[1. 0.]\n    [0. 0.]]\n  <BLANKLINE>\n   [[0. 0.]\n    [0. 0.]]]")


def _shifted(x: Any, axes: Any, back: bool, name: Optional[str], called: str) -> Any:
    with name_scope(name, called):
        x = convert_to_tensor(x)
        if axes is None:
            axes = list(range(x.shape.ndims)) if x.shape.ndims is not None else math_ops.range(array_ops.rank(x))
        sign = -1 if back else 1
        if isinstance(axes, int):
            return op("Roll")(x, sign * (array_ops.shape(x)[axes] // 2), axes)
        sizes = indexing_ops.gather(array_ops.shape(x), axes)
        return op("Roll")(x, sign * (sizes // 2), axes)


def fftshift(x: Any, axes: Any = None, name: Optional[str] = None) -> Any:
    """Moves the frequency zero to the middle of axes.

    Args:
      x: A tensor.
      axes: An int or several; by default all axes.
      name: A name for the operations.

    Returns:
      A tensor of the same shape.

    Example:
      >>> print(tf.Session().run(tf.signal.fftshift([0, 1, 2, -2, -1])))
      [-2 -1  0  1  2]
    """
    return _shifted(x, axes, False, name, "fftshift")


def ifftshift(x: Any, axes: Any = None, name: Optional[str] = None) -> Any:
    """Moves the frequency zero from the middle of axes to their start: the inverse of `fftshift`.

    The arguments and the result are those of `fftshift`.

    Example:
      >>> print(tf.Session().run(tf.signal.ifftshift([-2, -1, 0, 1, 2])))
      [ 0  1  2 -2 -1]
    """
    return _shifted(x, axes, True, name, "ifftshift")
