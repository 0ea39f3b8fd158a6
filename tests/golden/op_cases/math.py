"""Arithmetic, comparison, logic, bitwise, reductions, cumulative ops, matrix products, casts."""
import numpy as np

from . import E, INF, NAN, b1, c128, c64, f16, f32, f64, family, i16, i32, i64, i8, maker, text, u16, u8

I32MIN, I32MAX = -2 ** 31, 2 ** 31 - 1
I64MIN, I64MAX = -2 ** 63, 2 ** 63 - 1

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.7, -3.7, 1e-3, -1e-3, 10.0, -10.0, 30.0, -30.0, NAN, INF, -INF]
WIDE = EDGES + [1e30, -1e30, 1e-30, 88.5, 89.5, -88.0, -104.0, 0.9999999, 1.0000001, 5e5]
INTS = {'int8': [0, 1, -1, 5, -5, 127, -128, 100], 'int16': [0, 1, -1, 300, -300, 32767, -32768],
        'int32': [0, 1, -1, 7, -7, 46341, I32MAX, I32MIN], 'int64': [0, 1, -1, 7, -7, 1 << 40, I64MAX, I64MIN],
        'uint8': [0, 1, 7, 128, 255], 'uint16': [0, 1, 300, 65535]}
COMPLEX = [0, 1, -1, 1j, -1j, 1 + 2j, -3 + 0.5j, 0.25 - 4j]


@family
def unary():
    """Elementwise functions of one argument."""
    out = []
    everything = ('Abs Neg Sign Square').split()
    floats = ('Floor Ceil Rint Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh '
              'Sigmoid Reciprocal Inv Erf Erfc Lgamma Digamma Round').split()
    for op in everything + floats:
        for make in (f32, f64):
            out.append(E(op, make(WIDE)))
        if op not in ('Lgamma', 'Digamma'):
            out.append(E(op, f16([v for v in EDGES])))
        out.append(E(op, np.zeros((2, 0), np.float32)))
    for op in everything + ['Round']:
        for name in ('int32', 'int64') if op != 'Abs' else ('int8', 'int16', 'int32', 'int64'):
            out.append(E(op, maker(name)(INTS[name])))
    for op in ('Neg Square Sign Sqrt Rsqrt Exp Log Sin Cos Tan Tanh Sigmoid Reciprocal Sinh Cosh Asinh Acosh Atanh Log1p Expm1 Inv').split():
        out.append(E(op, c64(COMPLEX[1:])))
        out.append(E(op, c128([1 + 2j, -3 + 0.5j])))
    for make, name in ((c64, 'float32'), (c128, 'float64')):
        out += [E(op, make(COMPLEX), Tout=name) for op in ('Real', 'Imag', 'ComplexAbs', 'Angle')] + [E('Conj', make(COMPLEX))]
    for op in ('IsNan', 'IsInf', 'IsFinite'):
        out += [E(op, make(WIDE if make is not f16 else EDGES)) for make in (f16, f32, f64)]
    out += [E('LogicalNot', b1([True, False])), E('LogicalNot', b1(True))]
    out += [E('Invert', maker(n)(v)) for n, v in sorted(INTS.items())]
    x, y = f32([0.1, 0.5, -0.9, 1.0, 2.0]), f32([1.0, -2.0, 0.5, 3.0, INF])
    for op in 'TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad'.split():
        out += [E(op, x, y), E(op, x.astype(np.float64), y.astype(np.float64))]
    out += [E('BesselI0e', x), E('BesselI1e', x)]
    return out


@family
def binary():
    """Elementwise functions of two arguments, with broadcasting."""
    out = []
    grid = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, -7.0, 1e-3, NAN, INF, -INF])
    some = np.array([0.0, 1.0, -1.0, 2.5, -2.5, 7.0, -7.0])
    arithmetic = 'Add AddV2 Sub Mul RealDiv Div Maximum Minimum SquaredDifference FloorDiv FloorMod DivNoNan Pow Atan2 Mod TruncateDiv'.split()
    for op in arithmetic:
        for make in (f32, f64):
            if op in ('TruncateDiv', ):
                continue
            out.append(E(op, make(grid).reshape(-1, 1), make(grid)))
        if op not in ('Atan2', 'Mod', 'TruncateDiv'):
            out.append(E(op, f16(some).reshape(-1, 1), f16(some)))
    for op in 'MulNoNan Xdivy Xlogy TruncateMod NextAfter'.split():
        for make in (f32, f64):
            out.append(E(op, make(grid).reshape(-1, 1), make(grid)))
    for op in 'Add AddV2 Sub Mul Maximum Minimum SquaredDifference'.split():
        for name in ('int32', 'int64'):
            v = maker(name)(INTS[name])
            out.append(E(op, v.reshape(-1, 1), v))
    for op in 'Add AddV2 Mul Sub'.split():
        for name in ('int8', 'int16', 'uint8') if op != 'Sub' else ('int8', 'int16'):
            v = maker(name)(INTS[name])
            out.append(E(op, v.reshape(-1, 1), v))
    for op in 'FloorDiv FloorMod TruncateDiv TruncateMod Div Mod RealDiv'.split():
        for name in ('int32', 'int64', 'int8', 'int16', 'uint8', 'uint16'):
            if op == 'RealDiv' or name not in ('int32', 'int64') and op not in ('FloorDiv', 'TruncateDiv', 'Div'):
                continue
            v = maker(name)([7, 9, 100, 3])
            w = maker(name)([3, 5, 7] if name.startswith('u') else [3, -3, 7, -7])
            out.append(E(op, v.reshape(-1, 1) if name.startswith('u') else np.concatenate([v, -v]).reshape(-1, 1), w))
            if name in ('int32', 'int64') and op != 'RealDiv':  # narrow types divide by zero as the processor does
                out.append(E(op, maker(name)([1, 2]), maker(name)([0, 1]), error=True))
        out.append(E(op, i32([0, 0]), i32([5, -5])))
    for name in ('int32', 'int64'):
        out.append(E('Pow', maker(name)([[0], [1], [-1], [2], [-3], [10]]), maker(name)([0, 1, 2, 5, 31])))
        out.append(E('Pow', maker(name)([2]), maker(name)([-1]), error='INVALID_ARGUMENT'))
    for op in 'Add AddV2 Sub Mul RealDiv Div Pow SquaredDifference DivNoNan Xlogy Xdivy'.split():
        out.append(E(op, c64(COMPLEX[1:]).reshape(-1, 1), c64(COMPLEX[1:4])))
    for op in ('Add', 'AddV2', 'Mul'):
        out.append(E(op, c128(COMPLEX), c128(2 - 1j)))
    out += [E('Add', text(['a', 'b']), text('xyz'))]
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    shapes = [((2, 3, 4), ()), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 1)), ((2, 3, 4), (2, 1, 1)), ((1, 3, 1), (2, 1, 4)),
              ((), (2, 2)), ((0, 3), (1, 3)), ((2, 1, 0), (3, 1)), ((1,), (0,)), ((2, 3, 4), (2, 1, 4)), ((1, 1, 1, 1), (2,)),
              ((1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 1))]
    for a, b in shapes:
        for op in ('AddV2', 'Sub', 'Less', 'Maximum'):
            size = lambda s: int(np.prod(s)) if s else 1  # noqa: E731
            out.append(E(op, x.ravel()[:size(a)].reshape(a), (x.ravel()[:size(b)].reshape(b) * np.float32(2))))
    out += [E('AddV2', f32([1, 2, 3]), f32([1, 2]), error='INVALID_ARGUMENT'), E('Less', f32([[1, 2, 3]]), f32([1, 2]), error='INVALID_ARGUMENT')]
    out += [E('BiasAdd', x, f32([1, 2, 3, 4])), E('BiasAdd', x[:, :, :, None], f32([1])), E('BiasAdd', i32([[1, 2]]), i32([10, 20])),
            E('BiasAdd', x.reshape(2, 3, 2, 2), f32([10, 20, 30]), data_format='NCHW'),
            E('BiasAddGrad', x), E('BiasAddGrad', x.reshape(2, 3, 2, 2), data_format='NCHW'), E('BiasAddV1', x, f32([1, 2, 3, 4]))]
    out += [E('AddN', [x, x, x * 2]), E('AddN', [i32([1, 2])]), E('AddN', [i64([I64MAX, 1]), i64([1, 1])]), E('AddN', [f32([1]), f32([1, 2])], error='INVALID_ARGUMENT'),
            E('AccumulateNV2', [x, x], shape=[2, 3, 4])]
    for a, b in shapes[:9]:
        out.append(E('BroadcastGradientArgs', i32(a), i32(b)))
        out.append(E('BroadcastArgs', i32(a), i32(b)))
    out += [E('BroadcastGradientArgs', i32([2, 3]), i32([2, 4]), error=True), E('BroadcastTo', f32([[1], [2]]), i32([2, 3])),
            E('BroadcastTo', f32(5), i64([2, 2])), E('BroadcastTo', i32([1, 2, 3]), i32([0, 3])), E('BroadcastTo', f32([1, 2]), i32([3]), error=True)]
    out += [E('ClipByValue', f32(EDGES), f32(-1), f32(2)), E('ClipByValue', i32([-5, 0, 9]), i32(-1), i32(2)),
            E('Complex', f32([1, 2]), f32([3, -4])), E('Complex', f64([1, 2]), f64([3, -4]), Tout='complex128'),
            E('LinSpace', f32(0), f32(10), i32(5)), E('LinSpace', f64(-1), f64(1), i32(1)), E('LinSpace', f32(0), f32(1), i32(0), error=True),
            E('Cross', f32([[1, 2, 3]]), f32([[4, 5, 6.5]])), E('Betainc', f32([1, 2]), f32([3, 0.5]), f32([0.5, 0.25])),
            E('Igamma', f32([1, 2]), f32([3, 0.5])), E('Igammac', f32([1, 2]), f32([3, 0.5])), E('Zeta', f32([2, 3]), f32([1, 0.5])),
            E('Polygamma', f32([1, 2]), f32([1, 0.5]))]
    return out


@family
def compare():
    """Comparisons, logic, bitwise ops, Select."""
    out = []
    grid = np.array([0.0, -0.0, 1.0, -1.0, NAN, INF, -INF])
    for op in 'Less LessEqual Greater GreaterEqual Equal NotEqual ApproximateEqual'.split():
        for make in (f16, f32, f64) if op != 'ApproximateEqual' else ():
            out.append(E(op, make(grid).reshape(-1, 1), make(grid)))
        for name, v in sorted(INTS.items()):
            if op == 'ApproximateEqual' or name == 'uint16':
                continue
            out.append(E(op, maker(name)(v).reshape(-1, 1), maker(name)(v)))
    out += [E('ApproximateEqual', f32(grid), f32(grid)), E('ApproximateEqual', f32([1, 1]), f32([1.05, 1.2]), tolerance=0.1)]
    for op in ('Equal', 'NotEqual'):
        out += [E(op, b1([[True], [False]]), b1([True, False])), E(op, text(['a', 'b', 'abc']), text('b')), E(op, text(['', 'x']), text(['', 'y'])),
                E(op, c64([1, 1j, 2 + 2j]), c64([1, -1j, 2 + 2j]))]
    for op in ('LogicalAnd', 'LogicalOr'):
        out += [E(op, b1([[True], [False]]), b1([True, False])), E(op, b1([True, False]), b1(True)), E(op, b1([True] * 2), b1([True] * 3), error=True)]
    for name, v in sorted(INTS.items()):
        make = maker(name)
        for op in 'BitwiseAnd BitwiseOr BitwiseXor'.split():
            out.append(E(op, make(v).reshape(-1, 1), make(v)))
        for op in 'LeftShift RightShift'.split():
            out.append(E(op, make(v).reshape(-1, 1), make([0, 1, 3, 7])))
        out.append(E('PopulationCount', make(v)))
    for op in ('LeftShift', 'RightShift'):
        out += [E(op, i32([1, -8, I32MIN]), i32([31, 40, -1])), E(op, i64([1, -8]), i64([63, 64])), E(op, i8([1, -8]), i8([8, 100]))]
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), -np.arange(6, dtype=np.float32).reshape(2, 3)
    out += [E('Select', b1([[True, False, True], [False, False, True]]), x, y), E('Select', b1([True, False]), x, y), E('Select', b1(True), x, y),
            E('Select', b1(False), x, y), E('Select', b1([True, False, True]), x, y, error=True), E('Select', b1([True, False]), text(['a', 'b']), text(['c', 'd'])),
            E('Select', b1([True, False]), i64([1, 2]), i64([3, 4])), E('Select', b1(True), f32([1]), f32([1, 2]), error=True),
            E('Select', b1([True, False]), b1([True, True]), b1([False, False])), E('Select', b1(np.zeros((0,))), f32(np.zeros((0, 2))), f32(np.zeros((0, 2))))]
    out += [E('SelectV2', b1([True, False, True]), x, y), E('SelectV2', b1([[True], [False]]), x, f32(9)), E('SelectV2', b1(True), f32([1, 2]), f32([[3], [4]])),
            E('SelectV2', b1([[True, False]]), i32(1), i32([[5], [6]])), E('SelectV2', b1([True, False]), x, y, error=True)]
    return out


@family
def reduce():
    """Reductions, cumulative ops, ArgMax and ArgMin."""
    out = []
    x = (np.arange(24).reshape(2, 3, 4) * 7 % 11 - 4.5).astype(np.float32)
    axes = [[0], [1], [2], [-1], [0, 1], [0, 2], [1, 2], [-3, 2], [0, 1, 2], []]
    for op in 'Sum Mean Prod Max Min'.split():
        for a in axes:
            for keep in (False, True):
                out.append(E(op, x, i32(a), keep_dims=keep))
        out += [E(op, x.astype(np.float64), i64([1])), E(op, (x * 2).astype(np.int32), i32(1)), E(op, (x * 2).astype(np.int64), i32([0, 2])),
                E(op, np.zeros((0, 3), np.float32), i32([0])), E(op, np.zeros((2, 0), np.float32), i32([0])), E(op, np.zeros((0,), np.int32), i32([0])),
                E(op, f32(3.5), i32([])), E(op, f32([1, NAN, 2, INF]), i32([0])), E(op, f32([[-INF, INF], [NAN, 1]]), i32([1])),
                E(op, x, i32([3]), error=True), E(op, x, i32([-4]), error=True), E(op, x, i32([0, 0]), error=True), E(op, x.astype(np.float16), i32([2])),
                E(op, (x * 2).astype(np.int8), i32([1])), E(op, (np.abs(x) * 2).astype(np.uint8), i32([1]))]
        if op in ('Sum', 'Mean', 'Prod'):
            out.append(E(op, c64(x + 1j), i32([0, 1])))
    out += [E('Sum', i32([I32MAX, 1]), i32([0])), E('Sum', i8([100, 100]), i32([0])), E('Mean', i32([1, 2, 4]), i32([0])), E('Mean', i32([-1, -2, -4]), i32([0]))]
    b = b1([[True, False, True], [True, True, True]])
    for op in ('All', 'Any'):
        for a in ([0], [1], [0, 1], [], [-1]):
            for keep in (False, True):
                out.append(E(op, b, i32(a), keep_dims=keep))
        out += [E(op, b1(np.zeros((0, 2))), i32([0])), E(op, b1(np.zeros((2, 0))), i32([1]))]
    for op in ('ArgMax', 'ArgMin'):
        for a in (0, 1, 2, -1):
            out += [E(op, x, i32(a)), E(op, x, i32(a), output_type='int32')]
        out += [E(op, i64([3, 9, 9, 1, 1]), i32(0)), E(op, f32([1, NAN, 3]), i32(0)), E(op, f32([NAN, 1, 3]), i32(0)), E(op, f32([0.0, -0.0]), i32(0)),
                E(op, x, i32(3), error=True), E(op, np.zeros((2, 0), np.float32), i32(1), error=True), E(op, np.zeros((0, 2), np.float32), i32(1)),
                E(op, u8([1, 200, 3]), i64(0)), E(op, i8([1, -100, 3]), i64(0)), E(op, f16([1, -100, 3]), i64(0)), E(op, f64([1, -100, 3]), i64(0)),
                E(op, f32([INF, INF]), i32(0)), E(op, f32(np.ones((1, 1, 5))), i32(2)), E(op, f32(3), i32(0), error=True)]
    for op in ('Cumsum', 'Cumprod'):
        for a in (0, 1, -1):
            for exclusive in (False, True):
                for reverse in (False, True):
                    out.append(E(op, x, i32(a), exclusive=exclusive, reverse=reverse))
        out += [E(op, i32([1, 2, 3, 4]), i64(0)), E(op, f64([1, 0.5, 4]), i32(0)), E(op, x, i32(3), error=True), E(op, np.zeros((0,), np.float32), i32(0)),
                E(op, f32(2), i32(0), error=True)]
    out += [E('EuclideanNorm', x, i32([1])), E('EuclideanNorm', x, i32([0, 1, 2]), keep_dims=True), E('L2Loss', x), E('L2Loss', f64([3, 4])), E('L2Loss', f32([]))]
    return out


@family
def matmul():
    """Matrix products."""
    out = []
    a, b = (np.arange(6).reshape(2, 3) * 0.5 - 1).astype(np.float32), (np.arange(12).reshape(3, 4) % 5 - 2).astype(np.float32)
    for ta in (False, True):
        for tb in (False, True):
            x, y = (a.T if ta else a), (b.T if tb else b)
            for t in ('float32', 'float64', 'int32', 'float16', 'complex64'):
                out.append(E('MatMul', x.astype(t), y.astype(t), transpose_a=ta, transpose_b=tb))
            xs, ys = np.stack([x, x * 2, -x]), np.stack([y, y + 1, y * 3])
            for op in ('BatchMatMul', 'BatchMatMulV2'):
                for t in ('float32', 'float64', 'int32', 'complex64'):
                    out.append(E(op, xs.astype(t), ys.astype(t), adj_x=ta, adj_y=tb))
    out += [E('BatchMatMul', c64(a + 1j)[None], c64(b - 2j)[None]), E('BatchMatMulV2', c64((a + 1j).T)[None], c64(b - 2j)[None], adj_x=True)]
    out += [E('MatMul', i64([[1, 2]]), i64([[3], [1 << 40]])), E('MatMul', np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)),
            E('MatMul', np.zeros((0, 2), np.float32), b[:2]), E('MatMul', a, a, error='INVALID_ARGUMENT'), E('MatMul', a[0], b, error=True),
            E('MatMul', f32([[1, NAN]]), f32([[0], [1]])), E('MatMul', f32([[INF, 1]]), f32([[0], [1]])), E('MatMul', f32([[2]]), f32([[3]])),
            E('BatchMatMulV2', np.stack([a, a])[:, None], np.stack([b, b * 2, b * 3])), E('BatchMatMulV2', a, np.stack([b, b])), E('BatchMatMulV2', np.stack([a, a]), b),
            E('BatchMatMul', np.stack([a, a]), np.stack([b] * 3), error=True), E('BatchMatMulV2', np.stack([a] * 2), np.stack([b] * 3), error=True),
            E('BatchMatMul', np.zeros((0, 2, 3), np.float32), np.zeros((0, 3, 2), np.float32)), E('BatchMatMul', a[0], b, error=True)]
    big = np.sin(np.arange(17 * 33)).reshape(17, 33).astype(np.float32)
    out += [E('MatMul', big, big, transpose_b=True), E('MatMul', big, big, transpose_a=True), E('MatMul', big, big[0][:, None]), E('MatMul', big[:1], big.T)]
    s = f32([[4, 1, 0], [1, 3, 1], [0, 1, 2]])
    out += [E('MatrixInverse', s), E('MatrixDeterminant', s), E('Cholesky', s), E('MatrixSolve', s, f32([[1], [2], [3]])),
            E('MatrixTriangularSolve', np.tril(s), f32([[1], [2], [3]]))]
    return out


@family
def cast():
    """Cast between all pairs of common dtypes, Bitcast, saturation left to the kernel."""
    out = []
    kinds = 'float16 float32 float64 int8 int16 int32 int64 uint8 uint16 bool complex64 complex128 uint32 uint64'.split()
    safe = [0, 1, 2, 100, 0.5, 1.5, 99.99]
    for src in kinds:
        for dst in kinds:
            x = np.array(safe).astype(src)
            if np.dtype(src).kind in 'fic' and np.dtype(dst).kind not in 'u':
                x = np.concatenate([x, np.array([-1, -2, -100.75]).astype(src)])
            out.append(E('Cast', x, DstT=dst))
    out += [E('Cast', i32([300, -1, 65536, I32MIN, I32MAX]), DstT=t) for t in ('int8', 'uint8', 'int16', 'uint16', 'int64', 'float32', 'bool', 'float16')]
    out += [E('Cast', i64([1 << 40, -1, I64MAX, I64MIN]), DstT=t) for t in ('int32', 'int8', 'float32', 'float64', 'bool', 'uint8')]
    out += [E('Cast', f32([NAN, INF, -INF, 0.0, -0.0]), DstT=t) for t in ('float64', 'float16', 'bool', 'complex64')]
    out += [E('Cast', f64([1e300, 1e-300, NAN, 65519, 65520, 16777217]), DstT=t) for t in ('float32', 'float16')]
    out += [E('Cast', f64([1.0009765625, 1.00048828125, 1.00146484375, 65504]), DstT='float16'), E('Cast', f32([2.7, -2.7, 1e9, -0.9]), DstT='int32'),
            E('Cast', f32([NAN, INF, -INF, 1e20, -1e20]), DstT='int32'), E('Cast', f64([NAN, INF, -INF, 1e30, -1e30]), DstT='int64'),
            E('Cast', np.zeros((0, 2), np.float32), DstT='int32'), E('Cast', f32(3.9), DstT='int64'), E('Cast', f32([3.9]), DstT='int64', Truncate=True),
            E('Cast', text(['a']), DstT='int32', error=True)]
    x = f32([1, -2, 0.1, NAN])
    out += [E('Bitcast', x, type='int32'), E('Bitcast', i32([1, -1, 0x3f800000]), type='float32'), E('Bitcast', x, type='uint8'), E('Bitcast', u8([[0, 0, 128, 63]]), type='float32'),
            E('Bitcast', f64([1, -0.5]), type='int32'), E('Bitcast', i32([[1, 2]]), type='float64'), E('Bitcast', i32([1, 2, 3]), type='float64', error=True),
            E('Bitcast', f16([1, 2]), type='int16'), E('Bitcast', i64([1]), type='complex64')]
    return out
