"""Neural-net basics, strings, control-flow ops by themselves, sparse ops."""
import numpy as np

from . import E, INF, NAN, b1, f16, f32, f64, family, i32, i64, maker, text, u8

BAD = 'INVALID_ARGUMENT'


@family
def nn():
    """Softmax, activations, cross entropies, pooling and convolution at small sizes."""
    out = []
    x = f32([[1, 2, 3], [-1, 0, 1000], [0, 0, 0], [-INF, 0, 1]])
    for op in ('Softmax', 'LogSoftmax'):
        out += [E(op, x), E(op, x.astype(np.float64)), E(op, x[:1].astype(np.float16)), E(op, f32([1, 2])), E(op, np.zeros((0, 3), np.float32)), E(op, f32([[NAN, 1]])), E(op, x.reshape(2, 2, 3)), E(op, f32(1), error=BAD)]
    edges = [0.0, -0.0, 0.5, -0.5, 6.5, 3.0, -20.0, 20.0, 100.0, -100.0, NAN, INF, -INF, 1e-5]
    for op in 'Relu Relu6 Elu Selu Softplus Softsign LeakyRelu'.split():
        out += [E(op, f32(edges)), E(op, f64(edges)), E(op, f16(edges)), E(op, f32([]))]
    out += [E('LeakyRelu', f32(edges), alpha=0.01), E('Relu', i32([-1, 5])), E('Relu6', i32([-1, 5, 9]))]
    g, v = f32([1, 2, 3, 4, 5]), f32([-1, 0, 0.5, 6, 7])
    for op in 'ReluGrad Relu6Grad EluGrad SeluGrad SoftplusGrad SoftsignGrad LeakyReluGrad'.split():
        out += [E(op, g, v), E(op, g.astype(np.float64), v.astype(np.float64))]
    logits, labels = f32([[1, 2, 3], [3, -1, 0]]), f32([[0, 1, 0], [0.2, 0.3, 0.5]])
    out += [E('SoftmaxCrossEntropyWithLogits', logits, labels), E('SoftmaxCrossEntropyWithLogits', logits.astype(np.float64), labels.astype(np.float64)), E('SoftmaxCrossEntropyWithLogits', logits, labels[:1]), E('SoftmaxCrossEntropyWithLogits', logits, labels[:, :2], error=BAD),
            E('SparseSoftmaxCrossEntropyWithLogits', logits, i32([2, 0])), E('SparseSoftmaxCrossEntropyWithLogits', logits, i64([0, 1])), E('SparseSoftmaxCrossEntropyWithLogits', logits, i32([3, 0]), error=BAD), E('SparseSoftmaxCrossEntropyWithLogits', logits, i32([-1, 0]), error=BAD),
            E('SparseSoftmaxCrossEntropyWithLogits', np.zeros((0, 3), np.float32), i32([])), E('SoftmaxCrossEntropyWithLogits', f32([[1000, -1000]]), f32([[0, 1]]))]
    image, kernel = np.arange(50, dtype=np.float32).reshape(1, 5, 5, 2) % 7, (np.arange(24).reshape(2, 2, 2, 3) % 5 - 2).astype(np.float32)
    for pad in ('SAME', 'VALID'):
        out += [E('Conv2D', image, kernel, strides=[1, 1, 1, 1], padding=pad), E('Conv2D', image, kernel, strides=[1, 2, 2, 1], padding=pad), E('MaxPool', image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=pad), E('AvgPool', image, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding=pad)]
    out += [E('FusedBatchNorm', image[:, :2, :2], f32([1, 2]), f32([0, 1]), f32([1, 2]), f32([1, 4]), is_training=False), E('LRN', image[:, :1, :1])]
    return out


@family
def strings():
    """String ops."""
    out = []
    s = text(['abc', '', 'x y', 'Hello World'])
    out += [E('StringJoin', [s, text('!'), s]), E('StringJoin', [s, s], separator=', '), E('StringJoin', [text('a'), text('b')]), E('StringJoin', [text(['a', 'b']), text(['c', 'd', 'e'])], error=BAD), E('StringJoin', [text([])]), E('StringJoin', [text([['a']]), text([['b']])], separator='--')]
    for t, v in (('int32', [0, -5, 2147483647]), ('int64', [1 << 60, -1]), ('float32', [0, -0.0, 1.5, 1e10, 1e-10, NAN, INF, -INF, 123456.789, 0.1]), ('float64', [3.14159265358979, 1e300, -2.5]), ('bool', [True, False]), ('int8', [-128]), ('complex64', [1 + 2j])):
        out.append(E('AsString', maker(t)(v)))
    v = f32([0, 1.5, -1234.5678, 1e20, 1e-7])
    for attrs in (dict(precision=2), dict(scientific=True), dict(shortest=True), dict(width=12), dict(width=12, fill='0'), dict(width=12, fill=' ', precision=1), dict(scientific=True, precision=3), dict(width=12, fill='-'), dict(width=10, fill='+')):
        out.append(E('AsString', v, **attrs))
    out += [E('AsString', i32([5, -42]), width=6, fill=f) for f in ('', '0', ' ', '-', '+')] + [E('AsString', i32([5]), precision=2, error=True), E('AsString', f32([1]), scientific=True, shortest=True, error=True), E('AsString', i32([1]), width=3, fill='ab', error=True)]
    numbers = text(['0', '-1', '42', ' 8 ', '2147483647', '-2147483648', '007'])
    out += [E('StringToNumber', text(['+7']), out_type=t) for t in ('int32', 'int64', 'float32', 'float64')]
    for t in ('int32', 'int64', 'float32', 'float64'):
        out.append(E('StringToNumber', numbers, out_type=t))
        out += [E('StringToNumber', text([bad]), out_type=t, error=True) for bad in ('', 'x', '1 2', '99999999999999999999', '1.5.', '0x10', '1e', '--1')]
    for t in ('float32', 'float64'):
        out.append(E('StringToNumber', text(['1.5', '-2e3', 'inf', '-inf', 'nan', '.5', '5.', '3.4028236e38', 'INF', 'infinity', '+1.5', '1e-3']), out_type=t))
        out.append(E('StringToNumber', text(['1e39']), out_type=t))
        out.append(E('StringToNumber', text(['1e-46']), out_type=t))
    out.append(E('StringToNumber', text(['1.5']), out_type='int32', error=True))
    utf = np.array(['h\u00e9llo'.encode('utf8'), '\u65e5\u672c\u8a9e'.encode('utf8'), b'abc'])
    out += [E('StringLength', s), E('StringLength', utf), E('StringLength', utf, unit='UTF8_CHAR'), E('StringLower', s), E('StringUpper', s), E('StringStrip', text([' a ', '\tb\n', 'c'])), E('StringLower', utf, encoding='utf-8'), E('StringUpper', utf, encoding='utf-8')]
    w = text(['Hello', 'World', 'Rusty'])
    for p, n in ((0, 2), (1, 100), (-3, 2), (-5, 5), (4, 1), (5, 1), (0, 0), (2, 0)):
        out += [E('Substr', w, i32(p), i32(n)), E('Substr', w[0], i64(p), i64(n))]
    out += [E('Substr', w, i32(6), i32(1), error=BAD), E('Substr', w, i32(-6), i32(1), error=BAD), E('Substr', w, i32([0, 1, 2]), i32([1, 2, 3])), E('Substr', w[0], i32([0, 1, 2]), i32([1, 2, 3])), E('Substr', w, i32([[0], [1]]), i32([[1], [2]])), E('Substr', w, i32([1, 2]), i32([1, 2]), error=BAD),
            E('Substr', utf, i32(1), i32(1), unit='UTF8_CHAR'), E('Substr', utf, i32(-2), i32(2), unit='UTF8_CHAR'), E('Substr', w, i32([0, 1, 2]), i32([1]), error=BAD), E('Substr', w, i32(0), i32(-1))]
    lines = text(['a b  c', '', ' x ', 'one'])
    out += [E('StringSplit', lines, text(' ')), E('StringSplit', lines, text(' '), skip_empty=False), E('StringSplit', lines, text('')), E('StringSplit', lines, text('bx ')), E('StringSplitV2', lines, text('')), E('StringSplitV2', lines, text(' ')), E('StringSplitV2', text(['a<>b<>c', '<>']), text('<>')), E('StringSplitV2', lines, text(' '), maxsplit=1),
            E('StringSplit', text([['a']]), text(' '), error=True), E('StringSplit', text([]), text(' '))]
    out += [E('StringToHashBucketFast', s, num_buckets=100), E('StringToHashBucketStrong', s, num_buckets=100, key=[1, 2]), E('StringToHashBucket', s, num_buckets=100), E('RegexReplace', s, text('[aeiou]'), text('_')), E('RegexReplace', s, text('[aeiou]'), text('_'), replace_global=False), E('RegexFullMatch', s, text('[a-c]*')),
            E('StaticRegexReplace', s, pattern='l+', rewrite='L'), E('EncodeBase64', s), E('DecodeBase64', text(['YWJj'])), E('ReduceJoin', text([['a', 'b'], ['c', 'd']]), i32([0])), E('ReduceJoin', text([['a', 'b'], ['c', 'd']]), i32([1, 0]), separator='-'), E('ReduceJoin', text([['a', 'b'], ['c', 'd']]), i32(-1), keep_dims=True),
            E('DecodeRaw', text(['abcdefgh']), out_type='int32'), E('DecodeRaw', text(['ab', 'cd']), out_type='uint8'), E('DecodeRaw', text(['abcd']), out_type='int16', little_endian=False), E('DecodeRaw', text(['abc']), out_type='int32', error=BAD), E('StringFormat', [i32([1, 2]), text('x')], template='a {} b {}', placeholder='{}'),
            E('UnsortedSegmentJoin', text(['a', 'b', 'c']), i32([1, 0, 1]), i32(2), separator=':')]
    return out


@family
def control():
    """Control-flow ops by themselves, checks, sparse conversions, optimizer-free leftovers."""
    out = []
    x = f32([1, 2])
    out += [E('Switch', x, b1([True]), error=None), E('LoopCond', b1(True)), E('LoopCond', b1(False)), E('NextIteration', x), E('Merge', [x, x]), E('Print', x, [x, i32(3)], message='m'), E('CheckNumerics', x, message='m'), E('CheckNumerics', f32([NAN]), message='m', error=BAD), E('CheckNumerics', f64([INF]), message='m', error=BAD),
            E('CheckNumerics', f16([1, 2]), message='m'), E('Assert', b1(True), [x]), E('Assert', b1(False), [x, text('bad'), i32([[1, 2], [3, 4]])], error=BAD), E('PlaceholderWithDefault', x, shape=[2]), E('GuaranteeConst', x), E('Assert', b1(False), [x], error=BAD)]
    index, values, dense = i64([[0, 1], [2, 0]]), f32([5, 6]), i64([3, 3])
    out += [E('SparseToDense', i32([[0, 1], [2, 0]]), i32([3, 3]), values, f32(-1)), E('SparseToDense', i64([1, 3]), i64([5]), i32(9), i32(0)), E('SparseToDense', i32([[2, 0], [0, 1]]), i32([3, 3]), values, f32(0), error=BAD), E('SparseToDense', i32([[2, 0], [0, 1]]), i32([3, 3]), values, f32(0), validate_indices=False),
            E('SparseTensorDenseMatMul', index, values, dense, f32([[1, 2], [3, 4], [5, 6]])), E('SparseAdd', index, values, dense, i64([[0, 1], [1, 1]]), f32([1, -2]), dense, f32(0)), E('SparseAdd', index, values, dense, index, -values, dense, f32(0.1)),
            E('SparseReorder', i64([[2, 0], [0, 1]]), f32([6, 5]), dense), E('SparseConcat', [index, index], [values, values], [dense, dense], concat_dim=1), E('SparseReshape', index, dense, i64([9, -1])), E('SparseTensorDenseAdd', index, values, dense, f32(np.ones((3, 3)))), E('SparseSlice', index, values, dense, i64([0, 0]), i64([1, 3])),
            E('SparseReduceSum', index, values, dense, i32([0])), E('SparseSoftmax', index, values, dense), E('SparseFillEmptyRows', index, values, dense, f32(-1)), E('SparseDenseCwiseMul', index, values, dense, f32([[1, 2, 3]] * 3))]
    return out


@family
def special():
    """Functions around the gamma function, inverses, Bessel functions."""
    a = f64([0.01, 0.5, 1, 2, 3.7, 20, 20, 150, 150, 1])
    x = f64([0.3, 1e-8, 1, 3, 0.2, 2, 60, 140, 170, 30])
    out = [E(op, v(a), v(x)) for op in ('Igamma', 'Igammac', 'IgammaGradA') for v in (f32, f64)]
    out += [E('Igamma', f64([1, 1, -1, 0, 0]), f64([0, INF, 1, 1, 0])), E('Igammac', f64([1, 1, -1, 0]), f64([0, INF, 1, 1])), E('Igamma', f32([[1], [2]]), f32([1, 2, 3]))]
    for v in (f32, f64):
        out += [E('Zeta', v([2, 2, 3, 2.5, 30, 2, 3, 1, 0.5]), v([1, 0.3, 7, 2, 2, -1.5, -2.5, 3, 3])), E('Polygamma', v([0, 1, 2, 3, 2, 10, 1.5, -1]), v([2, 2, 2, 0.5, -1.5, 0.7, 1, 1])),
                E('Betainc', v([2, 2, 2, 50, 0.01, 3, 0.5]), v([3, 3, 3, 50, 0.01, 1, 20]), v([0, 1, 0.5, 0.4, 0.3, 0.99, 0.2])), E('Betainc', v(2), v([1, 2]), v(0.5)), E('Betainc', v([0, -1, 2]), v(2), v([0.5, 0.5, -0.1]))]
        for op in ('BesselI0e', 'BesselI1e'):
            out.append(E(op, v([0, 1, -1, 7.9, 8, 8.1, 30, -39, 41, 800])))
    out += [E('Betainc', f32([1]), f32([1, 2]), f32(0.5), error=BAD), E('Bucketize', f32([-1, 0, 1.5, NAN, INF]), boundaries=[0.0, 1.5, 3.0]), E('Bucketize', f64([[1, 2]]), boundaries=[]), E('Bucketize', f64([1]), boundaries=[2.0, 1.0], error=BAD),
            E('Cross', i32([[1, 2, 3], [4, 5, 6]]), i32([[4, 5, 6], [7, 8, 10]])), E('Cross', f32([1, 2]), f32([1, 2]), error=BAD)]
    return out


@family
def sparse():
    """Sparse tensors."""
    index, values, dense = i64([[0, 1], [2, 0], [2, 2]]), f32([5, 6, 7]), i64([3, 3])
    cube, in_cube, sizes = i64([[0, 1, 2], [1, 0, 0], [1, 1, 3]]), f64([1, 2, 3]), i64([2, 2, 4])
    none, nothing = np.zeros((0, 2), np.int64), f32([])
    out = []
    for at, v, shape in ((index, values, dense), (cube, in_cube, sizes), (none, nothing, dense)):
        rank, thresh = len(shape), v.dtype.type(2)
        out += [E('SparseAdd', at, v, shape, at[1:], -v[1:], shape, thresh), E('SparseAdd', at, v, shape, at[:1], v[:1], shape, thresh), E('SparseReorder', at[::-1].copy(), v[::-1].copy(), shape), E('SparseReshape', at, shape, i64([-1])), E('SparseReshape', at, shape, i64([1, -1, 1])),
                E('SparseSlice', at, v, shape, i64([1] * rank), i64([9] * rank)), E('SparseSlice', at, v, shape, i64([0] * rank), i64([1] * rank)), E('SparseConcat', [at, at], [v, v], [shape, shape], concat_dim=0), E('SparseConcat', [at, at], [v, v], [shape, shape], concat_dim=-1),
                E('SparseSplit', i64(rank - 1), at, v, shape, num_split=2), E('SparseDenseCwiseMul', at, v, shape, v.dtype.type(3)), E('SparseDenseCwiseMul', at, v, shape, np.arange(shape[-1]).astype(v.dtype)), E('SparseDenseCwiseDiv', at, v, shape, np.arange(1, 1 + shape[-1]).astype(v.dtype)), E('SparseDenseCwiseAdd', at, v, shape, np.arange(shape[-2]).reshape(-1, 1).astype(v.dtype)),
                E('SparseFillEmptyRows', at, v, shape, v.dtype.type(-1)), E('SparseSoftmax', at, v, shape), E('SparseSparseMaximum', at, v, shape, at[1:], v[1:] * 2, shape), E('SparseSparseMinimum', at, v, shape, at[1:], v[1:] * -2, shape), E('SparseTensorDenseAdd', at, v, shape, np.ones(shape, v.dtype))]
        for op in ('SparseReduceSum', 'SparseReduceMax', 'SparseReduceSumSparse', 'SparseReduceMaxSparse'):
            out += [E(op, at, v, shape, i32(axes), keep_dims=keep) for axes in ([0], [-1], [0, 1], list(range(rank)), []) for keep in (False, True)]
    b = f32([[1, 2], [3, 4], [5, 6]])
    out += [E('SparseTensorDenseMatMul', index, values, dense, b), E('SparseTensorDenseMatMul', index, values, dense, b, adjoint_a=True), E('SparseTensorDenseMatMul', index, values, dense, b.T.copy(), adjoint_b=True), E('SparseTensorDenseMatMul', index.astype(np.int32), values.astype(np.complex64) * 1j, dense, b.astype(np.complex64) * (1 + 1j), adjoint_a=True),
            E('SparseTensorDenseMatMul', index, values, dense, b[:2], error=BAD), E('SparseTensorDenseMatMul', index + 1, values, dense, b, error=BAD), E('SparseAdd', index, values, dense, index, values, i64([3, 4]), f32(0), error=BAD), E('SparseReshape', index, dense, i64([2, -1]), error=BAD), E('SparseReshape', index, dense, i64([-1, -1]), error=BAD), E('SparseReshape', index, dense, i64([8]), error=BAD),
            E('SparseConcat', [index, index], [values, values], [dense, i64([4, 4])], concat_dim=0, error=BAD), E('SparseFillEmptyRows', index[[2, 0, 1]], values, dense, f32(0)), E('SparseFillEmptyRowsGrad', i64([2, 0]), f32([1, 2, 3, 4])), E('SparseAddGrad', f32([1, 2, 3]), index[:2], index[1:], index), E('SparseSliceGrad', f32([8]), index, i64([1, 0]), i64([[1, 0]])), E('SparseSplit', i64(0), index, values, dense, num_split=4, error=BAD),
            E('SparseReorder', i64([[1, 0], [0, 1]]), text(['b', 'a']), i64([2, 2])), E('SparseDenseCwiseMul', index, values, dense, f32([1, 2]), error=BAD), E('SparseReduceSum', index, values, dense, i32([2]), error=True)]
    return out


@family
def leftovers():
    """Mirrored margins, order statistics, histograms, joined segments, systems of equations, parts of
    tensors."""
    out = []
    x = f32([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    for mode in ('REFLECT', 'SYMMETRIC'):
        out += [E('MirrorPadGrad', x, i32([[1, 0], [1, 1]]), mode=mode), E('MirrorPadGrad', x.astype(np.float64), i64([[0, 1], [0, 2]]), mode=mode), E('MirrorPadGrad', x, i32([[0, 0], [0, 0]]), mode=mode), E('MirrorPadGrad', x, i32([[2, 2], [0, 0]]), mode=mode, error=BAD), E('MirrorPadGrad', x, i32([[0, 0], [3, 0]]), mode=mode, error=BAD)]
    v = f32([[3, 1, 2], [9, 7, 8]])
    out += [E('NthElement', v, i32(0)), E('NthElement', v, i32(2), reverse=True), E('NthElement', i32([4, 4, 1]), i32(1)), E('NthElement', v, i32(3), error=BAD), E('NthElement', v, i32(-1), error=BAD), E('NthElement', f32(1), i32(0), error=BAD),
            E('HistogramFixedWidth', f32([-1, 0, 1.5, 2, 5, 15]), f32([0, 5]), i32(5)), E('HistogramFixedWidth', i32([[1, 2], [3, 9]]), i32([0, 10]), i32(2)), E('HistogramFixedWidth', f64([]), f64([0, 1]), i32(3)), E('HistogramFixedWidth', f32([1]), f32([2, 1]), i32(5), error=BAD), E('HistogramFixedWidth', f32([1]), f32([1, 2]), i32(0), error=BAD)]
    words = text([['a', 'b'], ['c', 'd'], ['e', 'f']])
    out += [E('UnsortedSegmentJoin', words, i32([1, 0, 1]), i32(3), separator='-'), E('UnsortedSegmentJoin', words, i64([[0, 1], [1, 0], [0, 0]]), i64(2), separator=','), E('UnsortedSegmentJoin', words, i32([0, 0, 3]), i32(3), error=BAD), E('UnsortedSegmentJoin', words, i32([0, 0, -1]), i32(3), error=True), E('UnsortedSegmentJoin', words, i32([0, 0]), i32(3), error=BAD)]
    m = f64([[4, 1, 0.5], [1, 3, -1], [0.5, -1, 2]])
    b = f64([[1, 2], [3, 4], [5, 6]])
    c = (m + 1j * f64([[0, 1, 2], [-1, 0, 3], [-2, -3, 0]]) * 0.2).astype(np.complex128)
    for a in (m, m.astype(np.float32), c, np.stack([m, m @ m if hasattr(m, '__matmul__') else m.dot(m)])):
        rhs = np.broadcast_to(b.astype(a.dtype), a.shape[:-2] + (3, 2)).copy()
        out += [E('Cholesky', a), E('MatrixDeterminant', a), E('LogMatrixDeterminant', a)]
        for adjoint in (False, True):
            out += [E('MatrixInverse', a, adjoint=adjoint), E('MatrixSolve', a, rhs, adjoint=adjoint)] + [E('MatrixTriangularSolve', a, rhs, lower=lower, adjoint=adjoint) for lower in (False, True)]
    out += [E('Cholesky', -m, error=BAD), E('MatrixInverse', m * 0, error=BAD), E('MatrixSolve', m * 0, b, error=BAD), E('MatrixTriangularSolve', m * 0, b, error=BAD), E('MatrixSolve', m, b[:2], error=BAD), E('Cholesky', b, error=BAD), E('MatrixDeterminant', np.zeros((2, 0, 0), np.float32)), E('MatrixInverse', f64([[0, 1], [2, 0]])),
            E('ScatterNdNonAliasingAdd', f32([1, 2, 3]), i32([[0], [2], [0]]), f32([10, 20, 30])), E('ScatterNdNonAliasingAdd', b1([True, False]), i64([[1]]), b1([True]))]
    for parameters in ((0.0, 1.0, -2.0, 2.0), (1.0, 2.0, 0.0, INF), (0.0, 1.0, 5.0, INF), (0.0, 1.0, 0.0, 0.1), (0.0, 1.0, -INF, -1.0), (3.0, 0.5, -1.0, 1.0), (0.0, 1.0, -1.5, 1.5), (0.0, 1.0, -1.4, 1.0)):
        out.append(E('ParameterizedTruncatedNormal', i32([7, 3]), *[f32(p) for p in parameters], seed=3, seed2=4, runs=2))
        out.append(E('ParameterizedTruncatedNormal', i32([5]), *[f64(p) for p in parameters], seed=3, seed2=9))
    out += [E('ParameterizedTruncatedNormal', i32([3, 5]), f32([0, 1, 2]), f32([1, 2, 0.5]), f32([-1, 0, 5]), f32([1, 9, 6]), seed=1, seed2=2, runs=2), E('ParameterizedTruncatedNormal', i32([150, 2]), f32(0), f32(1), f32(-1), f32(3), seed=1, seed2=2), E('ParameterizedTruncatedNormal', i32([2]), f32(0), f32(-1), f32(-1), f32(1), seed=1, error=BAD), E('ParameterizedTruncatedNormal', i32([2]), f32(0), f32(1), f32(1), f32(1), seed=1, error=BAD),
            E('ParameterizedTruncatedNormal', i32([2]), f32(0), f32(1), f32(-INF), f32(INF), seed=1, error=BAD), E('ParameterizedTruncatedNormal', i32([2, 2]), f32([0, 1, 2]), f32(1), f32(-1), f32(1), seed=1, error=BAD)]
    return out


@family
def new_leftovers():
    """Diagonals by their numbers, running logarithms of sums, parts replaced, what to do with bad indices."""
    out = []
    a = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    for align in ('RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT', 'RIGHT_RIGHT'):
        for k in (i32(0), i32(2), i32(-1), i32([-1, 1]), i32([1, 3]), i32([-2, -1]), i32([-2, 3])):
            low, high = (int(k), int(k)) if k.ndim == 0 else (int(k[0]), int(k[1]))
            longest = min(3 + min(high, 0), 4 - max(low, 0))
            shape = (2, longest) if low == high else (2, high - low + 1, longest)
            d = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
            out += [E('MatrixDiagPartV3', a, k, f32(-1), align=align), E('MatrixSetDiagV3', a, d, k, align=align), E('MatrixDiagV3', d, k, i32(-1), i32(-1), f32(9), align=align), E('MatrixDiagV3', d, k, i32(3), i32(4), f32(9), align=align)]
            if align == 'LEFT_LEFT':
                out += [E('MatrixDiagPartV2', a, k, f32(-1)), E('MatrixSetDiagV2', a, d, k), E('MatrixDiagV2', d, k, i32(-1), i32(-1), f32(9))]
    out += [E('MatrixDiagPartV3', a, i32(4), f32(0), error=BAD), E('MatrixDiagPartV3', a, i32([1, 0]), f32(0), error=BAD), E('MatrixDiagV3', f32([1, 2]), i32(0), i32(3), i32(3), f32(0), error=BAD), E('MatrixDiagV3', f32([[1, 2]]), i32([0, 1]), i32(-1), i32(-1), f32(0), error=BAD), E('MatrixSetDiagV3', a, f32([1]), i32(0), error=BAD)]
    x = f32([[1, 2, 3], [-1, 0, 1000]])
    for exclusive in (False, True):
        for reverse in (False, True):
            out += [E('CumulativeLogsumexp', x, i32(1), exclusive=exclusive, reverse=reverse), E('CumulativeLogsumexp', x.astype(np.float64), i64(0), exclusive=exclusive, reverse=reverse)]
    out += [E('TensorStridedSliceUpdate', f32([1, 2, 3]), i32([0]), i32([3]), i32([2]), f32([8, 9])), E('TensorStridedSliceUpdate', a, i32([0, 0]), i32([2, 0]), i32([1, 1]), f32([[7] * 4] * 2), shrink_axis_mask=2), E('TensorStridedSliceUpdate', f32([1, 2, 3]), i32([0]), i32([2]), i32([1]), f32(5)), E('TensorStridedSliceUpdate', f32([1, 2, 3]), i32([0]), i32([2]), i32([1]), f32([1, 2, 3]), error=BAD),
            E('TensorStridedSliceUpdate', text(['a', 'b']), i64([1]), i64([2]), i64([1]), text(['c']))]
    for policy in ('', 'DEFAULT', 'ERROR', 'IGNORE'):
        error = None if policy == 'IGNORE' else BAD
        out += [E('GatherNd', f32([[1, 2], [3, 4]]), i32([[0], [2]]), bad_indices_policy=policy, error=error), E('ScatterNd', i32([[0], [9]]), f32([1, 2]), i32([3]), bad_indices_policy=policy, error=error), E('TensorScatterUpdate', f32([1, 2]), i32([[1], [-1]]), f32([5, 6]), bad_indices_policy=policy, error=error), E('TensorScatterAdd', f32([1, 2]), i32([[1], [2]]), f32([5, 6]), bad_indices_policy=policy, error=error),
                E('TensorScatterMax', f32([1, 2]), i32([[1], [2]]), f32([5, 6]), bad_indices_policy=policy, error=error), E('ScatterNdNonAliasingAdd', f32([1, 2]), i32([[1], [2]]), f32([5, 6]), bad_indices_policy=policy, error=error)]
    out += [E('BatchMatMulV3', f32([[1, 2]]), f64([[3], [4]]), Tout='float64'), E('BatchMatMulV3', maker('int8')([[100, 100]]), maker('int8')([[2], [3]]), Tout='int32'), E('BatchMatMulV3', u8([[[1, 2]]]), u8([[3, 4]]), Tout='int32', adj_y=True), E('GatherNd', f32([1, 2]), maker('int16')([[1]])), E('ScatterNd', maker('int16')([[1]]), f32([2]), maker('int16')([3])), E('TensorScatterUpdate', f32([1, 2]), maker('int16')([[1]]), f32([5]))]
    values = f64([1e-300, 0.01, 0.3, 0.5, 0.77, 0.999])
    out += [E(op, v) for op in ('Erfinv', 'Ndtri') for v in (values, values.astype(np.float32), f64([0, 1, -1, 2, NAN]))] + [E('BesselI0e', f16([1, 30])), E('Igamma', f16([1]), f16([2]))]
    return out


@family
def new_ops():
    """Ops that TensorFlow 1.15 does not have."""
    x = f32([[1, 2], [3, 4]])
    out = [E('Xlog1py', f32([0, 1, 2]), f32([-1, 0.5, 3])), E('Erfinv', f32([0, 0.5, -0.9, 1, -1])), E('Ndtri', f32([0.5, 0.1, 0.9, 0, 1])), E('SoftmaxCrossEntropyWithLogits', x, x / 5),
           E('TensorScatterMax', x, i32([[0]]), f32([[5, 0]])), E('TensorScatterMin', x, i32([[0]]), f32([[5, 0]])), E('ResourceGatherNd', x, x, error=True),
           E('StatelessRandomUniformV2', i32([3]), maker('uint64')([7]), maker('uint64')([1, 2]), i32(1)), E('StatelessRandomNormalV2', i32([3]), maker('uint64')([7]), maker('uint64')([1, 2]), i32(1)), E('MatrixDiagV3', x, i32(0), i32(-1), i32(-1), f32(0)), E('MatrixDiagPartV3', x, i32(0), f32(0)), E('MatrixSetDiagV3', x, f32([8, 9]), i32(0)),
           E('SegmentSumV2', x, i32([0, 2]), i32(4)), E('SegmentMaxV2', x, i32([0, 2]), i32(4)), E('BatchMatMulV3', x, x, Tout='float32'), E('BatchMatMulV3', u8([[1, 2]]), u8([[3], [4]]), Tout='int32'), E('CumulativeLogsumexp', x, i32(0)), E('TensorStridedSliceUpdate', f32([1, 2, 3]), i32([0]), i32([2]), i32([1]), f32([8, 9])),
           E('Where', b1([True, False])), E('StringLower', text(['AB']))]
    return [e for e in out if e.op not in ('SoftmaxCrossEntropyWithLogits', 'ResourceGatherNd', 'Where', 'StringLower')]
