"""Initializers of `python.ops.init_ops_v2`."""

from programs.internal_modules import _inner
from programs.raised import WHOLE, caught
from programs.tools import run, static


def _of(tf, name, *args, **kwargs):
    return _inner(tf, "python.ops.init_ops_v2", name)(*args, **kwargs)


def numbers_of_a_seed(tf):
    made = [
        _of(tf, "RandomNormal", 0.5, 0.1, 3),
        _of(tf, "RandomUniform", seed=3),
        _of(tf, "TruncatedNormal", seed=2),
        _of(tf, "VarianceScaling", seed=1),
        _of(tf, "VarianceScaling", 2.0, "fan_avg", "untruncated_normal", 5),
        _of(tf, "VarianceScaling", 1.0, "fan_out", "Uniform", 5),
        _of(tf, "GlorotUniform", 4),
        _of(tf, "glorot_normal_initializer", 1),
        _of(tf, "he_normal", 1),
        _of(tf, "lecun_uniform", 2),
    ]
    tensors = [f([2, 3]) for f in made] + [made[0]([2, 3]), made[3]([2, 3], tf.float64), _of(tf, "RandomUniform", 1, 9, 3)([4], tf.int32)]
    return static(*tensors), run(tf, tensors), [f.get_config() for f in made], [type(f).from_config(f.get_config()).get_config() for f in made[:6]]


def numbers_of_none(tf):
    tf.set_random_seed(7)
    made = [_of(tf, name) for name in ("RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling", "GlorotUniform")]
    return run(tf, [f([2]) for f in made])


def values_of_second_initializers(tf):
    tensors = [
        _of(tf, "Zeros")([2], tf.int32),
        _of(tf, "ones_initializer")([2, 1]),
        _of(tf, "Constant", 2)([2, 2]),
        _of(tf, "constant_initializer", [1, 2, 3, 4])([2, 2], tf.float32),
        _of(tf, "Identity", 2.0)([2, 3]),
    ]
    q = _of(tf, "Orthogonal", seed=1)([3, 2])
    return static(*tensors), run(tf, tensors), run(tf, tf.abs(tf.matmul(q, q, transpose_a=True))).round(4), _of(tf, "Constant", [1]).get_config()


def refusals_of_second_initializers(tf):
    return [
        caught(lambda: _of(tf, "Ones")([2], tf.string), WHOLE),
        caught(lambda: _of(tf, "RandomNormal")([2], tf.int32), WHOLE),
        caught(lambda: _of(tf, "RandomUniform")([2], tf.bool), WHOLE),
        caught(lambda: _of(tf, "VarianceScaling")([2], tf.int32), WHOLE),
        caught(lambda: _of(tf, "Constant", [1, 2])([2, 2]), "Expected Tensor's shape: (2, 2), got (2,)."),
        caught(lambda: _of(tf, "Constant", object()), WHOLE),
        caught(lambda: _of(tf, "Orthogonal")([2]), WHOLE),
        caught(lambda: _of(tf, "Identity")([2]), WHOLE),
        caught(lambda: _of(tf, "Identity")([2, 2], tf.int32), WHOLE),
        caught(lambda: _of(tf, "VarianceScaling", -1), WHOLE),
        caught(lambda: _of(tf, "VarianceScaling", 1, "x"), WHOLE),
        caught(lambda: _of(tf, "VarianceScaling", 1, "fan_in", "x"), WHOLE),
    ]
