"""The table of single-op cases, by family. Each family is a function that returns a list of entries."""
import collections

import numpy as np

Entry = collections.namedtuple('Entry', 'op inputs attrs runs error compare')
FAMILIES = collections.OrderedDict()


def family(function):
    """Registers a function as a family of op cases."""
    FAMILIES[function.__name__] = function
    return function


def E(op, *inputs, **attrs):  # noqa: N802, the table is read by its columns
    """One case. `error=True` or a code says that it must fail; `runs` how often it runs in one session."""
    runs, error, compare = attrs.pop('runs', 1), attrs.pop('error', None), attrs.pop('compare', None)
    return Entry(op, [[np.asarray(v) for v in i] if isinstance(i, list) else np.asarray(i) for i in inputs],
                 attrs, runs, error, compare)


def maker(dtype):
    """A short constructor of arrays of one dtype."""
    return lambda value: np.array(value, dtype)


f16, f32, f64 = maker('float16'), maker('float32'), maker('float64')
i8, i16, i32, i64 = maker('int8'), maker('int16'), maker('int32'), maker('int64')
u8, u16, c64, c128, b1, text = maker('uint8'), maker('uint16'), maker('complex64'), maker('complex128'), maker('bool'), maker('S')
NAN, INF = float('nan'), float('inf')

from . import arrays, kernels, linear, math, misc, random  # noqa: E402,F401
