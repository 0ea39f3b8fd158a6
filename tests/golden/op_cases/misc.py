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
def new_ops():
    """Ops that TensorFlow 1.15 does not have."""
    x = f32([[1, 2], [3, 4]])
    out = [E('Xlog1py', f32([0, 1, 2]), f32([-1, 0.5, 3])), E('Erfinv', f32([0, 0.5, -0.9, 1, -1])), E('Ndtri', f32([0.5, 0.1, 0.9, 0, 1])), E('SoftmaxCrossEntropyWithLogits', x, x / 5),
           E('TensorScatterMax', x, i32([[0]]), f32([[5, 0]])), E('TensorScatterMin', x, i32([[0]]), f32([[5, 0]])), E('ResourceGatherNd', x, x, error=True),
           E('StatelessRandomUniformV2', i32([3]), maker('uint64')([7]), maker('uint64')([1, 2]), i32(1)), E('StatelessRandomNormalV2', i32([3]), maker('uint64')([7]), maker('uint64')([1, 2]), i32(1)), E('MatrixDiagV3', x, i32(0), i32(-1), i32(-1), f32(0)), E('MatrixDiagPartV3', x, i32(0), f32(0)), E('MatrixSetDiagV3', x, f32([8, 9]), i32(0)),
           E('SegmentSumV2', x, i32([0, 2]), i32(4)), E('SegmentMaxV2', x, i32([0, 2]), i32(4)), E('BatchMatMulV3', x, x, Tout='float32'), E('BatchMatMulV3', u8([[1, 2]]), u8([[3], [4]]), Tout='int32'), E('CumulativeLogsumexp', x, i32(0)), E('TensorStridedSliceUpdate', f32([1, 2, 3]), i32([0]), i32([2]), i32([1]), f32([8, 9])),
           E('Where', b1([True, False])), E('StringLower', text(['AB']))]
    return [e for e in out if e.op not in ('SoftmaxCrossEntropyWithLogits', 'ResourceGatherNd', 'Where', 'StringLower')]
