"""Matrices, segments, sets and words: the rest of linear algebra, and ops on rows."""
import numpy as np

from . import E, INF, NAN, b1, c128, f32, f64, family, i32, i64, text

BAD = 'INVALID_ARGUMENT'


@family
def linear():
    """Functions of matrices, least squares, tridiagonal systems, and the first names of matrix ops."""
    out = []
    whole = f64([[4, 1, 0.5], [0.25, 3, -1], [1, 0.5, 5]])
    turn = f64([[0, -1], [1, 0]])
    ladder = f64([[1, 1, 0], [0, 1, 1], [0, 0, 1]])
    rng = np.random.RandomState(7)
    large = rng.randn(12, 12) + 6 * np.eye(12)
    spread = c128(rng.randn(2, 5, 5) + 1j * rng.randn(2, 5, 5))
    for m in (whole, turn, ladder, large, np.stack([whole, whole.T]), np.zeros((2, 0, 0)), f64([[1, 0], [0, 0]]), f64([[-1, 0], [0, 2]])):
        out += [E('MatrixSquareRoot', m), E('MatrixSquareRoot', m.astype(np.float32)), E('MatrixSquareRoot', c128(m))]
        if m.size != 4 or abs(np.linalg.det(m)) > 0:
            out.append(E('MatrixLogarithm', c128(m)))
    out += [E('MatrixSquareRoot', spread), E('MatrixLogarithm', spread), E('MatrixLogarithm', spread.astype(np.complex64)), E('MatrixLogarithm', c128(turn)), E('MatrixLogarithm', c128([[-1, 0], [0, 2]])), E('MatrixLogarithm', c128([[2, 0], [0, 2]]))]
    a, b = f64([[1, 2], [3, 4], [5, 7]]), f64([[1, -1], [2, 0], [4, 3]])
    for fast in (True, False):
        for m, r in ((a, b), (a.T.copy(), b[:2]), (np.stack([a, a + 1]), np.stack([b, b])), (f64([[2]]), f64([[3]]))):
            out += [E('MatrixSolveLs', m, r, f64(0), fast=fast), E('MatrixSolveLs', m.astype(np.float32), r.astype(np.float32), f64(0.5), fast=fast), E('MatrixSolveLs', c128(m) * (1 + 0.5j), c128(r), f64(0.25), fast=fast)]
        low = f64([[1, 2], [2, 4], [3, 6]])
        out += [E('MatrixSolveLs', low, b, f64(0), fast=fast, error=BAD if fast else None), E('MatrixSolveLs', low.T.copy(), b[:2], f64(0), fast=fast, error=BAD if fast else None), E('MatrixSolveLs', a, b, f64(-1), fast=fast, error=BAD), E('MatrixSolveLs', a, b, f64([1]), fast=fast, error=BAD)]
    out += [E('MatrixSolveLs', low, b, f64(0.5)), E('MatrixSolveLs', a, b[:2], f64(0), error=BAD)]
    l, g = f64([[2, 7, 1], [1, 3, 5], [0.5, 2, 4]]), f64([[1, 2, 3], [4, 5, 6], [7, 8, 10]])
    out += [E('CholeskyGrad', l, g), E('CholeskyGrad', l.astype(np.float32), g.astype(np.float32)), E('CholeskyGrad', np.stack([l, l.T]), np.stack([g, g])), E('CholeskyGrad', l, g[:2], error=BAD), E('CholeskyGrad', l[:2], g[:2], error=BAD), E('CholeskyGrad', np.zeros((0, 2, 2)), np.zeros((0, 2, 2)))]
    d, r = f64([[1, 2, 9], [4, 5, 6], [9, 7, 8]]), f64([[1, 2], [3, 4], [5, 6]])
    for x, y in ((d, r), (np.stack([d, d + 1]), np.stack([r, r])), (d[:, :1], r[:1]), (np.zeros((3, 0)), np.zeros((0, 2)))):
        out += [E('TridiagonalMatMul', x[..., 0:1, :], x[..., 1:2, :], x[..., 2:3, :], y), E('TridiagonalMatMul', c128(x[..., 0:1, :]), 1j * x[..., 1:2, :], c128(x[..., 2:3, :]), c128(y)), E('TridiagonalMatMul', *[v.astype(np.float32) for v in (x[..., 0:1, :], x[..., 1:2, :], x[..., 2:3, :], y)])]
        for pivots in (True, False):
            out += [E('TridiagonalSolve', x, y, partial_pivoting=pivots), E('TridiagonalSolve', c128(x) + 1j, c128(y), partial_pivoting=pivots), E('TridiagonalSolve', x.astype(np.float32), y.astype(np.float32), partial_pivoting=pivots)]
    zero = f64([[1, 0, 9], [0, 0, 6], [9, 2, 8]])
    singular = f64([[1, 1, 0], [0, 0, 0], [0, 1, 1]])
    out += [E('TridiagonalSolve', zero, r), E('TridiagonalSolve', zero, r, partial_pivoting=False, error=BAD), E('TridiagonalSolve', singular, r, error=BAD), E('TridiagonalSolve', d[:2], r, error=BAD), E('TridiagonalSolve', d[:, :2], r, error=BAD), E('TridiagonalSolve', f64([[1], [0], [0]]), r[:1], error=BAD), E('TridiagonalMatMul', d[:1, :2], d[1:2], d[2:], r, error=BAD)]
    p, q = f32([[1, 2, 3], [0, 4, 5]]), f32([[5, 6], [7, 0]])
    out += [E('SparseMatMul', p, q, transpose_a=True, a_is_sparse=True), E('SparseMatMul', q, p, b_is_sparse=True), E('SparseMatMul', p, q, transpose_a=True, transpose_b=True), E('SparseMatMul', p, p, transpose_b=True), E('SparseMatMul', p, q, error=BAD), E('SparseMatMul', p[0], q, error=BAD), E('SparseMatMul', f32([[0, INF]]), f32([[INF], [0]])), E('SparseMatMul', np.zeros((0, 2), np.float32), q)]
    s = f64([[[4, 2], [2, 5]], [[9, 3], [3, 6]]])
    out += [E('BatchCholesky', s), E('BatchCholeskyGrad', s, s), E('BatchMatrixBandPart', s, i64(0), i64(1)), E('BatchMatrixDeterminant', s), E('BatchMatrixDiag', s[0]), E('BatchMatrixDiagPart', s), E('BatchMatrixInverse', s), E('BatchMatrixInverse', s, adjoint=True), E('BatchMatrixSetDiag', s, f64([[7, 8], [9, 1]])), E('BatchMatrixSolve', s, s), E('BatchMatrixSolveLs', s, s, f64(0)), E('BatchMatrixTriangularSolve', s, s), E('BatchCholesky', s[0] * -1, error=BAD), E('SelfAdjointEig', f64([[3]])), E('BatchSelfAdjointEig', f64([[[3]], [[-1]]])), E('SelfAdjointEig', f64([[1, 2, 3]]), error=BAD)]
    return out


@family
def rows():
    """Rows that are replaced, added up, packed, hashed: leftovers of arrays and segments."""
    out = []
    image = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
    none = i32([[0, 0], [0, 0]])
    blocks = image.reshape(4, 2, 2, 2)
    out += [E('SpaceToBatch', image, none, block_size=2), E('SpaceToBatch', image, i64([[1, 1], [0, 2]]), block_size=2), E('SpaceToBatch', image, i32([[1, 0], [0, 0]]), block_size=2, error=BAD), E('SpaceToBatch', image[0], none, block_size=2, error=BAD), E('SpaceToBatch', image, i32([[-1, 1], [0, 0]]), block_size=2, error=BAD),
            E('BatchToSpace', blocks, none, block_size=2), E('BatchToSpace', blocks, i64([[1, 0], [0, 2]]), block_size=2), E('BatchToSpace', image, none, block_size=2, error=BAD), E('BatchToSpace', blocks, i32([[3, 2], [0, 0]]), block_size=2, error=BAD)]
    x = f32([[1, 2], [3, 4], [5, 6]])
    for op in ('InplaceUpdate', 'InplaceAdd', 'InplaceSub'):
        for v in (x, x.astype(np.int64)):
            out += [E(op, v.copy(), i32([0, 2]), v[:2] * 10), E(op, v.copy(), i32([-1, 7]), v[:2] * 10), E(op, v.copy(), i32([1, 1]), v[:2] * 10), E(op, v.copy(), i32([]), v[:0])]
        out += [E(op, x, i32(0), x[:1], error=BAD), E(op, x, i32([0, 1]), x[:1], error=BAD), E(op, x, i32([0]), x[:1, :1], error=BAD), E(op, text(['a', 'b']), i32([0]), text(['c']), error=None if op == 'InplaceUpdate' else BAD)]
    y = np.arange(32).reshape(2, 16)
    out += [E('CompareAndBitpack', y.astype(t), np.asarray(7, t)) for t in (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64)] + [E('CompareAndBitpack', y % 3 == 0, b1(False)), E('CompareAndBitpack', f32([1, NAN, INF, -INF, 0, -0.0, 2, 3]), f32(0)), E('CompareAndBitpack', f32([1, 2]), f32(0), error=BAD), E('CompareAndBitpack', f32(1), f32(0), error=BAD), E('CompareAndBitpack', y, i64([1]), error=BAD)]
    farm = text('farmhash64')
    out += [E('Fingerprint', v, farm) for v in (x, x[0], y, y % 2 == 0, text(['abc', '', 'x' * 200]), text([['abc', 'd'], ['', '']]), c128(x), np.zeros((2, 0), np.float32))] + [E('Fingerprint', f32(1), farm, error=BAD), E('Fingerprint', x, text('md5'), error=BAD), E('Fingerprint', x, text(['farmhash64']), error=BAD)]
    data = f32([[1, 2], [3, 4], [5, 6], [7, 9]])
    for op in ('Sum', 'Mean', 'SqrtN'):
        name = 'SparseSegment%sWithNumSegments' % op
        for v in (data, data.astype(np.float64)):
            out += [E(name, v, i32([0, 2, 1, 3]), i32([0, 0, 2, 2]), i32(4)), E(name, v, i32([0, 2]), i32([1, 1]), i64(2)), E(name, v, i32([]), i32([]), i32(2))]
        out += [E(name, data, i32([0, 2]), i32([0, 2]), i32(2), error=BAD), E(name, data, i32([0, 2]), i32([0, 1]), i32(-1), error=BAD), E(name, data, i32([0, 2]), i32([1, 0]), i32(2), error=BAD), E(name, data, i32([0, 9]), i32([0, 1]), i32(2), error=BAD), E(name, data, i32([0, 2]), i32([0, 1]), i32([2]), error=BAD)]
        if op != 'Sum':
            name = 'SparseSegment%sGrad' % op
            for v in (data, data.astype(np.float64)):
                out += [E(name, v, i32([0, 2, 1, 2]), i32([0, 0, 1, 3]), i32(4)), E(name, v, i32([0, 1]), i32([1, 0]), i32(2)), E(name, v, i32([]), i32([]), i32(3))]
            out += [E(name, data, i32([0, 2]), i32([0, 4]), i32(4), error=BAD), E(name, data, i32([0, 4]), i32([0, 1]), i32(4), error=BAD), E(name, data, i32([0, 4]), i32([0]), i32(4), error=BAD), E(name, data, i32([0]), i32([0]), i32([4]), error=BAD)]
    t, m, v, b, g = np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2), f32([1, 2]), f32([1, 4]), f32([0.5, 1]), f32([2, 3])
    for scales in (True, False):
        for w in (np.float32, np.float64):
            t, m, v, b, g = [z.astype(w) for z in (t, m, v, b, g)]
            out += [E('BatchNormWithGlobalNormalization', t, m, v, b, g, variance_epsilon=0.1, scale_after_normalization=scales), E('BatchNormWithGlobalNormalizationGrad', t, m, v, g, t * t, variance_epsilon=0.1, scale_after_normalization=scales)]
    out += [E('BatchNormWithGlobalNormalization', t[0], m, v, b, g, variance_epsilon=0.1, scale_after_normalization=True, error=BAD)]
    return out


@family
def sets():
    """Sets, and n-grams of words."""
    out = []
    a, b = i64([[1, 2, 2, 3], [4, 4, 4, 4]]), i64([[3, 2, 9], [5, 4, 5]])
    at, values, shape = i64([[0, 0], [0, 1], [1, 0]]), i64([2, 7, 5]), i64([2, 2])
    cube = i64([[0, 0, 0], [1, 0, 0], [1, 0, 2]])
    words = text([['b', 'a', ''], ['x', 'x', 'a']])
    for how in ('a-b', 'b-a', 'intersection', 'union', 'UNION'):
        out += [E('DenseToDenseSetOperation', a.astype(t), b.astype(t), set_operation=how) for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16)]
        out += [E('DenseToDenseSetOperation', words, words[:, ::-1][:, :2].copy(), set_operation=how), E('DenseToDenseSetOperation', a.reshape(2, 1, 4), b.reshape(2, 1, 3), set_operation=how), E('DenseToSparseSetOperation', a, at, values, shape, set_operation=how), E('SparseToSparseSetOperation', at, values, shape, i64([[0, 1], [1, 1]]), i64([2, 8]), i64([2, 9]), set_operation=how), E('SparseToSparseSetOperation', cube, values, i64([2, 1, 3]), cube[:1], values[:1], i64([2, 1, 7]), set_operation=how)]
        out += [E('DenseToDenseSetOperation', a[:, :0], b, set_operation=how), E('DenseToDenseSetOperation', a[:0], b[:0], set_operation=how), E('SparseToSparseSetOperation', at[:0], values[:0], shape, at, values, shape, set_operation=how)]
    out += [E('DenseToDenseSetOperation', a[0], b[0], set_operation='union', error=BAD), E('DenseToDenseSetOperation', a[:1], b, set_operation='union', error=BAD), E('DenseToDenseSetOperation', a, b, set_operation='xor', error=BAD), E('DenseToSparseSetOperation', a, at[::-1].copy(), values, shape, set_operation='union', error=BAD), E('DenseToSparseSetOperation', a, at + 1, values, shape, set_operation='union', error=BAD), E('SparseToSparseSetOperation', at, values, shape, at, values, i64([3, 2]), set_operation='union', error=BAD)]
    out += [E('SetSize', at, v, shape) for v in (values, values * 0, text(['a', 'a', 'b']), values.astype(np.uint8))] + [E('SetSize', cube, values, i64([2, 1, 3])), E('SetSize', at[:0], values[:0], shape), E('SetSize', at[::-1].copy(), values, shape, error=BAD), E('SetSize', at[[0, 0, 1]], values, shape, error=BAD), E('SetSize', at, values, i64([1, 1]), error=BAD), E('SetSize', at, values[:2], shape, error=BAD), E('SetSize', i64([[0], [1]]), values[:2], i64([2]), error=BAD)]
    letters = text(['a', 'b', 'c', 'd', 'e'])
    for widths in ([1], [2], [1, 3], [9], [3, 2], []):
        for pad in (-1, 0, 1, 5):
            for keeps in (True, False) if widths else (False,):
                out.append(E('StringNGrams', letters, i64([0, 4, 5]), separator='-', ngram_widths=widths, left_pad='<', right_pad='>', pad_width=pad, preserve_short_sequences=keeps))
    plain = dict(separator=' ', left_pad='', right_pad='', pad_width=-1, preserve_short_sequences=False)
    out += [E('StringNGrams', letters, i32([0, 3]), ngram_widths=[2], **plain), E('StringNGrams', letters, i64([1, 5]), ngram_widths=[2], **plain), E('StringNGrams', letters, i64([0, 9]), ngram_widths=[2], error=BAD, **plain), E('StringNGrams', letters, i64([-1, 3]), ngram_widths=[2], error=BAD, **plain), E('StringNGrams', letters, i64([0]), ngram_widths=[2], **plain)]
    for t in ('int16', 'uint8', 'float32', 'int64'):
        out += [E('DecodePaddedRaw', text(['abcdefgh']), i32(8), out_type=t), E('DecodePaddedRaw', text(['abcdefghij']), i32(8), out_type=t), E('DecodePaddedRaw', text(['abcde']), i32(8), out_type=t), E('DecodePaddedRaw', text(['abcdefgh']), i32(8), out_type=t, little_endian=False)]
    out += [E('DecodePaddedRaw', text(['abc']), i32(3), out_type='int16', error=BAD), E('DecodePaddedRaw', text(['abc']), i32(0), out_type='int16', error=BAD), E('DecodePaddedRaw', text(['abc']), i32([2]), out_type='int16', error=BAD)]
    return out
