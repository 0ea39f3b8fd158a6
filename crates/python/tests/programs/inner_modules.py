"""`module`: an inner module of TensorFlow, of either package."""

import importlib


def module(tf, path):
    """Returns TensorFlow's module of a path without `tensorflow.`, or the one that Millstream has for it."""
    if tf.__name__.startswith("tensorflow"):
        return importlib.import_module("tensorflow." + path)
    return importlib.import_module("millstream.programs.hook")._Module("tensorflow." + path)
