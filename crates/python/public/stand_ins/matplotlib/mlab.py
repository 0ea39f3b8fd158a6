"""A stand-in for `matplotlib.mlab`."""

from matplotlib import Nothing


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Nothing()
