"""`tf.spectral`: Fourier and cosine transforms, as `tf.signal` has them."""

from millstream.framework import namespaces
from millstream.ops.signal_ops import dct, idct, irfft, irfft2d, irfft3d, rfft, rfft2d, rfft3d

__all__ = ["dct", "idct", "irfft", "irfft2d", "irfft3d", "rfft", "rfft2d", "rfft3d"]

__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
