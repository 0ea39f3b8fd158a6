"""Random ops: the stateful ones with two runs in one session, and the stateless ones."""
from . import E, f16, f32, f64, family, i32, i64, text

SEEDS = [(0, 1), (1, 0), (87654321, 42), (5, 7), (-3, 1 << 40)]
SIZES = [[0], [1], [3], [4], [5], [17], [2, 3], [2, 2, 2], []]


@family
def random():
    """Stateful random ops; runs=2 shows that the kernel goes on where it stopped."""
    out = []
    for seed, seed2 in SEEDS:
        for op in ('RandomUniform', 'RandomStandardNormal', 'TruncatedNormal'):
            for size in SIZES if (seed, seed2) == SEEDS[3] else SIZES[4:6]:
                for dtype in ('float32', 'float64', 'float16') if size in ([5], [17]) else ('float32',):
                    out.append(E(op, i32(size), seed=seed, seed2=seed2, dtype=dtype, runs=2))
            out.append(E(op, i64([3]), seed=seed, seed2=seed2, dtype='float32', runs=3))
        for make in (i32, i64):
            for low, high in ((0, 10), (-5, 5), (0, 1), (-2 ** 31, 2 ** 31 - 1)):
                out.append(E('RandomUniformInt', i32([7]), make(low), make(high), seed=seed, seed2=seed2, runs=2))
        for t in ('int64', 'int32'):
            out.append(E('Multinomial', f32([[1, 2, 3], [0, 0, 0]]), i32(6), seed=seed, seed2=seed2, output_dtype=t, runs=2))
        for value in (i32(range(10)), f32([[1, 2], [3, 4], [5, 6]]), text(['a', 'b', 'c']), i64([5]), f32([])):
            out.append(E('RandomShuffle', value, seed=seed, seed2=seed2, runs=2))
        for make in (f32, f64):
            out.append(E('RandomGamma', i32([4]), make([0.5, 1, 3.5]), seed=seed, seed2=seed2, runs=2))
        for make in (f32, f64, i32):
            out.append(E('RandomPoissonV2', i32([4]), make([1, 5, 20]), seed=seed, seed2=seed2, runs=2))
        out.append(E('ParameterizedTruncatedNormal', i32([5]), f32([1]), f32([2]), f32([-1]), f32([3]), seed=seed, seed2=seed2, runs=2))
    for op in ('RandomUniform', 'RandomStandardNormal', 'TruncatedNormal'):
        out.append(E(op, i32([600]), seed=9, seed2=9, dtype='float32', runs=2))
        out.append(E(op, i32([300]), seed=9, seed2=9, dtype='float64', runs=2))
        out.append(E(op, i32([-1]), seed=9, seed2=9, dtype='float32', error=True))
    out += [E('RandomUniformInt', i32([3]), i32(5), i32(5), seed=1, seed2=1, error='INVALID_ARGUMENT'), E('RandomUniformInt', i32([3]), i32(6), i32(5), seed=1, seed2=1, error='INVALID_ARGUMENT')]
    return out


@family
def stateless():
    """Stateless random ops."""
    out = []
    for seed in ([0, 0], [1, 2], [123456789, -5], [2 ** 31 - 1, -2 ** 31]):
        for op in ('StatelessRandomUniform', 'StatelessRandomNormal', 'StatelessTruncatedNormal'):
            for size in SIZES if seed == [1, 2] else SIZES[4:6]:
                for dtype in ('float32', 'float64', 'float16') if size == [5] else ('float32',):
                    out.append(E(op, i32(size), i32(seed), dtype=dtype))
            out.append(E(op, i64([3]), i64(seed), dtype='float32', runs=2))
        for make in (i32, i64):
            out.append(E('StatelessRandomUniformInt', i32([7]), i32(seed), make(-5), make(100)))
        out.append(E('StatelessMultinomial', f32([[1, 2, 3], [0, 0, 0]]), i32(6), i32(seed)))
    for op in ('StatelessRandomUniform', 'StatelessRandomNormal', 'StatelessTruncatedNormal'):
        out += [E(op, i32([300]), i32([9, 9]), dtype='float32'), E(op, i32([3]), i32([9]), dtype='float32', error='INVALID_ARGUMENT')]
    return out
