"""The array family: shapes, slices, gathers and scatters, sorting, segments, partitions."""
import itertools

import numpy as np

from . import E, INF, NAN, b1, c64, f16, f32, f64, family, i16, i32, i64, i8, maker, text, u8

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
BAD = 'INVALID_ARGUMENT'


@family
def shape():
    """Reshape to Transpose, Pack, Concat, Split, Tile, Pad, Reverse and their like."""
    out = []
    for x in (X, f32(1), np.zeros((0, 2), np.int32), text([['a', 'b']]), b1([True])):
        out += [E('Shape', x), E('Shape', x, out_type='int64'), E('Size', x), E('Size', x, out_type='int64'), E('Rank', x), E('Identity', x), E('ZerosLike', x),
                E('StopGradient', x)]
        if x.dtype.kind != 'S':
            out += [E('OnesLike', x), E('Snapshot', x)]
    out += [E('ShapeN', [X, X[0], X[0, 0]]), E('ShapeN', [X, X[0]], out_type='int64'), E('IdentityN', [X, i32([1]), text('a')]), E('PreventGradient', X)]
    for s in ([6, 4], [-1], [24], [2, -1], [-1, 2, 3], [1, 24, 1], [4, 3, 2]):
        out += [E('Reshape', X, i32(s)), E('Reshape', X, i64(s))]
    out += [E('Reshape', f32([5]), i32([])), E('Reshape', f32(5), i32([1, 1])), E('Reshape', np.zeros((0, 3), np.float32), i32([0])), E('Reshape', np.zeros((0, 3), np.float32), i32([-1, 3])),
            E('Reshape', np.zeros((0, 3), np.float32), i32([0, -1])), E('Reshape', X, i32([5, -1]), error=BAD), E('Reshape', X, i32([5]), error=BAD), E('Reshape', X, i32([-1, -1]), error=BAD),
            E('Reshape', X, i32([-2, 12]), error=BAD), E('Reshape', X, i32([[6, 4]]), error=BAD), E('Reshape', text(['a', 'b']), i32([2, 1])), E('Reshape', b1([True, False]), i32([1, 2]))]
    for a in (0, 1, 3, -1, -2, -4):
        out.append(E('ExpandDims', X, i32(a)))
    out += [E('ExpandDims', f32(1), i32(0)), E('ExpandDims', X, i64(2)), E('ExpandDims', X, i32(4), error=BAD), E('ExpandDims', X, i32(-5), error=BAD), E('ExpandDims', X, i32([1])),
            E('ExpandDims', X, i32([1, 2]), error=BAD)]
    s = X.reshape(1, 2, 1, 12, 1)
    out += [E('Squeeze', s), E('Squeeze', s, squeeze_dims=[0]), E('Squeeze', s, squeeze_dims=[-1, 2]), E('Squeeze', s, squeeze_dims=[1], error=BAD), E('Squeeze', s, squeeze_dims=[5], error=BAD),
            E('Squeeze', f32([[[7]]])), E('Squeeze', text([['a']]))]
    for p in itertools.permutations(range(3)):
        out.append(E('Transpose', X, i32(p)))
    out += [E('Transpose', np.arange(16, dtype=np.int64).reshape(2, 2, 2, 2), i64([3, 1, 0, 2])), E('Transpose', X, i32([0, 0, 1]), error=BAD), E('Transpose', X, i32([0, 1]), error=BAD),
            E('Transpose', X, i32([0, 1, 3]), error=BAD), E('Transpose', text([['a', 'b']]), i32([1, 0])), E('Transpose', f32(1), i32([])), E('Transpose', b1([[True, False]]), i32([1, 0])),
            E('Transpose', np.zeros((0, 2), np.float32), i32([1, 0])), E('Transpose', X, i32([-1, 0, 1]), error=None), E('ConjugateTranspose', c64([[1, 2j]]), i32([1, 0])),
            E('InvertPermutation', i32([2, 0, 1])), E('InvertPermutation', i32([0, 0]), error=BAD), E('Fill', i32([2, 2]), f32(7)), E('Fill', i64([3]), text('ab')), E('Fill', i32([]), i32(4)),
            E('Fill', i32([0, 2]), b1(True)), E('Fill', i32([-1]), f32(1), error=BAD), E('Fill', i32([2]), f32([1]), error=None), E('Fill', i32([[2]]), f32(1), error=BAD)]
    for axis in (0, 1, 2, 3, -1, -4):
        out.append(E('Pack', [X, X + 100], axis=axis))
    out += [E('Pack', [i32(1), i32(2), i32(3)]), E('Pack', [text('a'), text('b')]), E('Pack', [f32([1]), f32([1, 2])], error=BAD), E('Pack', [np.zeros((0,), np.float32)] * 2),
            E('Pack', [b1(True), b1(False)]), E('Pack', [f64([1]), f64([2])], axis=1)]
    for axis, n in ((0, 2), (1, 3), (2, 4), (-1, 4), (-3, 2)):
        out.append(E('Unpack', X, axis=axis, num=n))
    out += [E('Unpack', X, axis=0, num=3, error=BAD), E('Unpack', i32([5, 6]), num=2), E('Unpack', text([['a', 'b']]), num=1)]
    for axis in (0, 1, 2, -1, -3):
        out += [E('ConcatV2', [X, X + 1], i32(axis)), E('ConcatV2', [X, X], i64(axis))]
    out += [E('Concat', i32(1), [X, X[:, :1]]), E('ConcatV2', [X, X[:, :0], X[:, 1:]], i32(1)), E('ConcatV2', [i64([1]), i64([]), i64([2, 3])], i32(0)), E('ConcatV2', [text(['a']), text(['bc', 'd'])], i32(0)),
            E('ConcatV2', [b1([True]), b1([False])], i32(0)), E('ConcatV2', [X, X[0]], i32(0), error=BAD), E('ConcatV2', [X, X[:, :2]], i32(0), error=BAD), E('ConcatV2', [X, X], i32(3), error=BAD),
            E('ConcatV2', [f32(1), f32(2)], i32(0), error=BAD), E('ConcatV2', [np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)], i32(1)), E('ConcatV2', [np.zeros((0,), np.float32), X[0]], i32(0), error=None),
            E('ConcatOffset', i32(1), [i32([2, 3]), i32([2, 5]), i32([2, 1])]), E('ConcatOffset', i32(0), [i32([2, 3]), i32([3, 4])], error=BAD), E('ConcatOffset', i32(-1), [i32([2, 3]), i32([2, 5])])]
    for axis, n in ((0, 2), (1, 3), (2, 4), (2, 2), (-1, 2), (0, 1)):
        out.append(E('Split', i32(axis), X, num_split=n))
    out += [E('Split', i32(2), X, num_split=3, error=BAD), E('Split', i32(3), X, num_split=1, error=BAD), E('Split', i32(0), text(['a', 'b']), num_split=2)]
    for sizes, axis in (([1, 3], 2), ([4, 0], 2), ([1, -1, 1], 1), ([-1], 0), ([3], 1)):
        out += [E('SplitV', X, i32(sizes), i32(axis), num_split=len(sizes)), E('SplitV', X, i64(sizes), i32(axis - 3), num_split=len(sizes))]
    out += [E('SplitV', X, i32([1, 1]), i32(2), num_split=2, error=BAD), E('SplitV', X, i32([-1, -1]), i32(2), num_split=2, error=BAD), E('SplitV', X, i32([5, -1]), i32(2), num_split=2, error=BAD)]
    for m in ([1, 1, 1], [2, 1, 3], [1, 2, 1], [0, 1, 1]):
        out += [E('Tile', X, i32(m)), E('Tile', X.astype(np.int32), i64(m))]
    out += [E('Tile', text(['a', 'b']), i32([2])), E('Tile', f32(3), i32([])), E('Tile', X, i32([1, 2]), error=BAD), E('Tile', X, i32([1, -1, 1]), error=BAD), E('Tile', b1([[True, False]]), i32([2, 2]))]
    m = X[0]
    for p in ([[0, 0], [0, 0]], [[1, 2], [0, 1]], [[2, 2], [2, 1]]):
        out += [E('Pad', m, i32(p)), E('PadV2', m, i64(p), f32(-1.5)), E('MirrorPad', m, i32(p), mode='REFLECT'), E('MirrorPad', m, i32(p), mode='SYMMETRIC'), E('Pad', m.astype(np.int32), i32(p))]
    out += [E('Pad', f32([]), i32([[1, 1]])), E('Pad', f32(4), np.zeros((0, 2), np.int32)), E('Pad', m, i32([[0, -1], [0, 0]]), error=BAD), E('Pad', m, i32([[0, 1]]), error=BAD), E('MirrorPad', m, i32([[3, 0], [0, 0]]), mode='REFLECT', error=BAD),
            E('MirrorPad', m, i32([[3, 0], [0, 0]]), mode='SYMMETRIC'), E('Pad', X.reshape(1, 2, 3, 4), i32([[0, 0], [1, 0], [0, 1], [1, 1]])), E('Pad', b1([True]), i32([[1, 0]]), error=None), E('PadV2', text(['a']), i32([[1, 0]]), text('z')),
            E('MirrorPadGrad', m, i32([[1, 0], [0, 1]]), mode='SYMMETRIC')]
    for axes in ([0], [1], [2], [-1], [0, 2], [0, 1, 2], []):
        out.append(E('ReverseV2', X, i32(axes)))
    out += [E('ReverseV2', text(['a', 'b']), i32([0])), E('ReverseV2', X, i32([0, -3]), error=BAD), E('ReverseV2', X, i32([3]), error=BAD), E('ReverseV2', f32(1), i32([])), E('Reverse', X, b1([True, False, True])), E('TopK', f32([[3, 1, 4], [9, 2, 6]]), k=2),
            E('ReverseSequence', X, i64([2, 4]), seq_dim=2, batch_dim=0), E('ReverseSequence', X, i32([1, 3, 0]), seq_dim=2, batch_dim=1), E('ReverseSequence', X, i64([2, 5]), seq_dim=2, batch_dim=0, error=BAD),
            E('ReverseSequence', X, i64([2, 1, 0, 2]), seq_dim=0, batch_dim=2), E('ReverseSequence', X, i64([-1, 1]), seq_dim=2, batch_dim=0, error=BAD)]
    for s, a in (([1], [0]), ([-1], [1]), ([5], [2]), ([1, 2], [0, 2]), ([1, 1], [1, 1]), ([-7], [-1])):
        out.append(E('Roll', X, i32(s), i32(a)))
    out += [E('Roll', X, i32(1), i32(1)), E('Roll', X, i32([1]), i32([3]), error=BAD), E('Roll', f32([]), i32([1]), i32([0]))]
    q = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
    out += [E('SpaceToDepth', q, block_size=2), E('DepthToSpace', np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4), block_size=2), E('SpaceToBatchND', q, i32([2, 2]), i32([[0, 0], [0, 0]])),
            E('SpaceToBatchND', q, i32([2, 2]), i32([[1, 1], [0, 2]])), E('BatchToSpaceND', np.arange(16, dtype=np.float32).reshape(4, 2, 2, 1), i32([2, 2]), i32([[0, 1], [1, 0]]))]
    d = f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    out += [E('Diag', f32([1, 2])), E('Diag', i32([[1, 2], [3, 4]])), E('DiagPart', d), E('MatrixDiag', f32([[1, 2], [3, 4]])), E('MatrixDiagPart', d[:2]), E('MatrixSetDiag', d, f32([10, 20, 30])),
            E('MatrixBandPart', d, i64(0), i64(-1)), E('MatrixBandPart', d, i64(1), i64(0)), E('MatrixBandPart', d, i32(-1), i32(-1))]
    for args in ((0, 5, 1), (5, 0, -1), (0, 10, 3), (3, 3, 1), (-2, 3, 2), (0, 1, 5)):
        out += [E('Range', *[i32(v) for v in args]), E('Range', *[i64(v) for v in args]), E('Range', *[f32(v) for v in args])]
    out += [E('Range', f32(0), f32(1), f32(0.1)), E('Range', f64(0), f64(1), f64(0.1)), E('Range', i32(0), i32(5), i32(0), error=BAD), E('Range', i32(5), i32(0), i32(1), error=BAD), E('Range', i32(0), i32(5), i32(-1), error=BAD),
            E('EnsureShape', X, shape=[2, 3, 4]), E('EnsureShape', X, shape=[2, None, 4]), E('EnsureShape', X, shape=[2, 3], error=BAD), E('Empty', i32([2, 0]), dtype='float32'), E('Empty', i32([2]), dtype='float32', init=True)]
    return out


@family
def slices():
    """Slice, StridedSlice with every mask, StridedSliceGrad, TensorStridedSliceUpdate."""
    out = []
    for b, s in (([0, 0, 0], [2, 3, 4]), ([1, 0, 2], [1, 2, 2]), ([0, 1, 0], [-1, -1, -1]), ([0, 3, 0], [2, 0, 4]), ([1, 1, 3], [1, -1, 1])):
        out += [E('Slice', X, i32(b), i32(s)), E('Slice', X.astype(np.int64), i64(b), i64(s))]
    out += [E('Slice', X, i32([0, 0, 3]), i32([2, 3, 2]), error=BAD), E('Slice', X, i32([-1, 0, 0]), i32([1, 1, 1]), error=BAD), E('Slice', X, i32([0, 0, 0]), i32([1, 1, -2]), error=BAD), E('Slice', X, i32([0, 0]), i32([1, 1]), error=BAD),
            E('Slice', text(['a', 'b', 'c']), i32([1]), i32([2])), E('Slice', f32(1), i32([]), i32([])), E('Slice', b1([True, False]), i32([2]), i32([0])), E('Slice', X, i32([0, 4, 0]), i32([1, 0, 1]), error=BAD)]

    def cut(x, b, e, s, **masks):
        masks = {k + '_mask': v for k, v in masks.items()}
        return E('StridedSlice', x, i32(b), i32(e), i32(s), **masks)
    v = np.arange(7, dtype=np.int32)
    for b, e, s in itertools.product((-9, -7, -2, 0, 3, 6, 7, 9), (-9, -8, -1, 0, 4, 7, 9), (1, 2, -1, -3)):
        out.append(cut(v, [b], [e], [s]))
    for begin, end in itertools.product((0, 1), (0, 1)):
        for s in (1, -1, 2, -2):
            out.append(cut(v, [3], [5], [s], begin=begin, end=end))
    for i in (-7, -1, 0, 6):
        out.append(cut(v, [i], [i + 1], [1], shrink_axis=1))
    for i in (7, -8):
        e = cut(v, [i], [i + 1], [1], shrink_axis=1)
        out.append(e._replace(error=BAD))
    for mask in range(8):
        out.append(cut(X, [1, 1, 1], [2, 3, 4], [1, 1, 2], begin=mask))
        out.append(cut(X, [0, 0, 1], [1, 2, 3], [1, 1, 1], end=mask))
        out.append(cut(X, [1, 2, 3], [2, 3, 4], [1, 1, 1], shrink_axis=mask))
        out.append(cut(X, [0, 1, 0], [1, 2, 2], [1, 1, 1], new_axis=mask))
        out.append(cut(X, [1, 0, 1], [2, 2, 3], [1, 1, 1], begin=mask, end=7 - mask))
    for place in range(4):
        b, e, s = [0] * 4, [1] * 4, [1] * 4
        out.append(cut(X, b, e, s, ellipsis=1 << place))
        out.append(cut(X, b[:3], e[:3], s[:3], ellipsis=1 << min(place, 2), shrink_axis=7 & ~(1 << min(place, 2))))
        out.append(cut(X, b[:2], e[:2], s[:2], ellipsis=1 << (place % 2), new_axis=1 << (1 - place % 2)))
    out += [cut(X, [0], [1], [1]), cut(X, [-1], [-9], [-1]), cut(X, [0, 0], [2, 2], [1, 1], ellipsis=1, new_axis=2), cut(X, [0], [0], [1]), cut(X, [], [], []), cut(text(['a', 'b', 'c']), [2], [0], [-1]),
            cut(b1([True, False]), [0], [1], [1]), cut(f32(5), [], [], []), cut(f32(5), [0], [0], [1], new_axis=1), cut(f32(5), [0], [0], [1], ellipsis=1), cut(np.zeros((0, 3), np.float32), [0], [5], [1]),
            cut(X, [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1])._replace(error=BAD), cut(X, [0], [1], [0])._replace(error=BAD), cut(X, [0, 0], [1, 1], [1, 1], ellipsis=3)._replace(error=BAD),
            cut(X, [0, 1], [1], [1, 1])._replace(error=BAD), cut(X, [0], [2], [-1], shrink_axis=1)._replace(error=BAD), cut(X, [1], [0], [1], shrink_axis=1), cut(X, [0, 2], [9, 0], [1, -1], end=2, begin=2),
            E('StridedSlice', X, i64([0]), i64([1]), i64([1])), cut(X, [0, 0], [1, 1], [1, 1], new_axis=1, shrink_axis=1), cut(X, [0, 1], [1, 2], [1, 1], ellipsis=1, shrink_axis=2)]
    for t in (i8, f16, f64, i64, c64, b1):
        out.append(cut(t(v), [1], [6], [2]))
    out += [E('StridedSliceGrad', i32([7]), i32([1]), i32([6]), i32([2]), f32([10, 20, 30])), E('StridedSliceGrad', i32([2, 3]), i32([1]), i32([2]), i32([1]), f32([1, 2, 3]), shrink_axis_mask=1),
            E('StridedSliceGrad', i32([2, 3]), i32([0, -1]), i32([0, 0]), i32([1, -1]), f32([[1, 2, 3], [4, 5, 6]]), begin_mask=3, end_mask=3), E('StridedSliceGrad', i64([4]), i64([0]), i64([0]), i64([1]), f32([]))]
    return out


@family
def gather():
    """Gather and Scatter families."""
    out = []
    p = X[0]
    for op in ('Gather', ):
        out += [E(op, p, i32([2, 0])), E(op, p, i64([[1], [1]])), E(op, p, i32(1)), E(op, p, i32([3]), error=BAD), E(op, p, i32([-1]), error=BAD), E(op, text(['a', 'b']), i32([1, 0, 1])), E(op, p, i32([]))]
    for axis in (0, 1, 2, -1, -3):
        for i in (0, [1, 0], [[1, 0], [0, 0]], []):
            out.append(E('GatherV2', X, i32(i), i32(axis)))
    out += [E('GatherV2', X, i64([1]), i64(2)), E('GatherV2', X, i32([4]), i32(2), error=BAD), E('GatherV2', X, i32([-1]), i32(0), error=BAD), E('GatherV2', X, i32([0]), i32(3), error=BAD),
            E('GatherV2', np.zeros((0, 2), np.float32), i32([]), i32(0)), E('GatherV2', np.zeros((0, 2), np.float32), i32([0]), i32(0), error=BAD), E('GatherV2', text([['a', 'b']]), i32([1]), i32(1)), E('GatherV2', b1([True, False]), i32([1, 1]), i32(0)),
            E('GatherV2', X, i32([[1, 0], [2, 2]]), i32(1), batch_dims=1), E('GatherV2', X, i32([[3], [0]]), i32(2), batch_dims=1), E('GatherV2', X, i32([[[1], [0], [2]], [[3], [3], [0]]]), i32(2), batch_dims=2),
            E('GatherV2', f32(1), i32([0]), i32(0), error=BAD)]
    for i in ([[0, 1]], [[1]], [[0, 2, 3], [1, 0, 0]], [], [[]], [1, 2, 3], [[[0, 0]], [[1, 2]]]):
        i = i32(i) if i != [[]] else np.zeros((1, 0), np.int32)
        out.append(E('GatherNd', X, i))
    out += [E('GatherNd', X, np.zeros((0, 2), np.int32)), E('GatherNd', X, i64([[1, 2]])), E('GatherNd', X, i32([[0, 3]]), error=BAD), E('GatherNd', X, i32([[-1]]), error=BAD), E('GatherNd', X, i32([[0, 0, 0, 0]]), error=BAD), E('GatherNd', text(['a', 'b']), i32([[1]]))]
    out += [E('ScatterNd', i32([[1], [3]]), f32([5, 6]), i32([5])), E('ScatterNd', i32([[1], [1], [1]]), i32([5, 6, 7]), i32([3])), E('ScatterNd', i64([[0], [2]]), p[:2], i64([3, 4])), E('ScatterNd', i32([[0, 1], [1, 0]]), f32([5, 6]), i32([2, 2])),
            E('ScatterNd', i32([[5]]), f32([1]), i32([5]), error=BAD), E('ScatterNd', i32([[-1]]), f32([1]), i32([5]), error=BAD), E('ScatterNd', i32([[0]]), f32([[1, 2]]), i32([3]), error=BAD), E('ScatterNd', np.zeros((0, 1), np.int32), f32([]), i32([3])), E('ScatterNd', i32([[0], [1]]), text(['a', 'b']), i32([3])),
            E('ScatterNdNonAliasingAdd', f32([1, 2, 3]), i32([[0], [0]]), f32([10, 20]))]
    for op in ('TensorScatterUpdate', 'TensorScatterAdd', 'TensorScatterSub'):
        i = i32([[1], [2]]) if op == 'TensorScatterUpdate' else i32([[1], [2], [1]])
        n = i.shape[0]
        out += [E(op, p, i, X[1][:n]), E(op, i32([1, 2, 3]), i, i32([10, 20, 30][:n])), E(op, p, i64([[0, 1]]), f32([100])), E(op, p, i32([[3]]), p[:1], error=BAD), E(op, p, i32([[0]]), f32([[1, 2]]), error=BAD)]
    w = b1([[True, False, True], [False, False, True]])
    out += [E('Where', w), E('Where', f32([0, 1, -0.0, NAN])), E('Where', i32([[0, 5], [6, 0]])), E('Where', b1(np.zeros((0, 2)))), E('Where', b1([False])), E('Where', X > 11), E('Where', b1(True)), E('Where', c64([0, 1j])), E('Where', u8([0, 3]))]
    for t, on, off in (('float32', 1, 0), ('int32', 5, -1), ('bool', True, False), ('float64', 2.5, 0.5)):
        out += [E('OneHot', i32([0, 2, -1, 5]), i32(3), maker(t)(on), maker(t)(off)), E('OneHot', i64([[0], [1]]), i32(2), maker(t)(on), maker(t)(off), axis=0), E('OneHot', u8([1]), i32(2), maker(t)(on), maker(t)(off), axis=1)]
    out += [E('OneHot', i32(1), i32(3), f32(1), f32(0)), E('OneHot', i32([1]), i32(0), f32(1), f32(0)), E('OneHot', i32([1]), i32(-1), f32(1), f32(0), error=BAD), E('OneHot', i32([0]), i32(2), text('on'), text('off')), E('OneHot', i32([[0, 1]]), i32(2), f32(1), f32(0), axis=1)]
    return out


@family
def sort():
    """TopK, Unique, InTopK, NthElement, ListDiff, Bucketize, search."""
    out = []
    x = f32([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    for k in (0, 1, 3, 5):
        out += [E('TopKV2', x, i32(k)), E('TopKV2', x.astype(np.int32), i32(k))]
    out += [E('TopKV2', x, i32(6), error=BAD), E('TopKV2', x, i32(-1), error=BAD), E('TopKV2', f32(1), i32(1), error=BAD), E('TopKV2', f32([1, 1, 1, 1]), i32(3)), E('TopKV2', f32([NAN, 1, INF, -INF, 2]), i32(3)), E('TopKV2', i64([5, 5, 7]), i32(2)), E('TopKV2', x, i32(3), sorted=False),
            E('TopKV2', X, i32(2)), E('TopKV2', f16([1, 3, 2]), i32(2)), E('TopKV2', u8([1, 3, 2]), i32(2)), E('TopKV2', np.zeros((0, 3), np.float32), i32(2)), E('TopKV2', f32([0.0, -0.0, 0.0]), i32(3))]
    for op in ('Unique', 'UniqueWithCounts'):
        for t in (i32([4, 4, 1, 9, 1]), i64([7]), text(['b', 'a', 'b']), f32([1.5, 2, 1.5]), i32([]), b1([True, False, True]), f32([0.0, -0.0, 1])):
            out += [E(op, t), E(op, t, out_idx='int64')]
        out.append(E(op, i32([[1, 2]]), error=BAD))
    out.append(E('Unique', f32([NAN, NAN, 1])))
    for op in ('UniqueV2', 'UniqueWithCountsV2'):
        out += [E(op, i32([[1, 1, 2], [1, 1, 2], [3, 4, 5]]), i64([0])), E(op, i32([[1, 1, 2], [1, 1, 2], [3, 3, 5]]), i64([1])), E(op, i32([4, 4, 1]), i64([]))]
    out += [E('ListDiff', i32([1, 2, 3, 4, 2]), i32([2, 4])), E('ListDiff', text(['a', 'b']), text(['b'])), E('ListDiff', i64([]), i64([1]))]
    p = f32([[0.1, 0.5, 0.4], [0.3, 0.3, 0.4], [NAN, 1, 2], [INF, 1, 2]])
    for k in (1, 2, 3):
        out += [E('InTopK', p, i32([1, 0, 1, 0]), k=k), E('InTopKV2', p, i64([2, 1, 2, 5]), i64(k))]
    for n, rev in ((0, False), (2, False), (1, True), (4, True)):
        out.append(E('NthElement', x, i32(n), reverse=rev))
    out += [E('Bucketize', f32([-1, 0, 1.5, 3, 10]), boundaries=[0.0, 1.5, 3.0]), E('Bucketize', i32([1, 5]), boundaries=[2.0]), E('LowerBound', f32([[1, 3, 3, 5]]), f32([[0, 3, 4, 9]])), E('UpperBound', f32([[1, 3, 3, 5]]), f32([[0, 3, 4, 9]])),
            E('LowerBound', i32([[1, 3]]), i32([[2]]), out_type='int64'), E('Bincount', i32([1, 1, 3]), i32(5), f32([])), E('Bincount', i32([1, 1, 3]), i32(2), i32([10, 20, 30])),
            E('HistogramFixedWidth', f32([-1, 0, 1.5, 2, 5, 15]), f32([0, 5]), i32(5))]
    return out


@family
def segment():
    """SegmentSum families, DynamicPartition, DynamicStitch."""
    out = []
    x = f32([[1, 2], [3, 4], [5, 6], [7, 8]])
    for op in 'SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin'.split():
        for ids in ([0, 0, 1, 1], [0, 1, 1, 3], [2, 2, 2, 2], [0, 1, 2, 3]):
            out += [E(op, x, i32(ids)), E(op, x.astype(np.int32), i64(ids))]
        out += [E(op, x, i32([0, 2, 1, 1]), error=BAD), E(op, x, i32([0, 1]), error=BAD), E(op, x, i32([-1, 0, 0, 0]), error=BAD), E(op, np.zeros((0, 2), np.float32), i32([])), E(op, x[:, 0], i32([0, 0, 0, 2])), E(op, x.astype(np.float64), i32([0, 0, 1, 1]))]
    for op in 'UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin'.split():
        for ids in ([0, 2, 0, 2], [1, 1, -1, 0], [3, 3, 3, 3]):
            out += [E(op, x, i32(ids), i32(4)), E(op, x.astype(np.int32), i64(ids), i32(4)), E(op, x.astype(np.float64), i32(ids), i64(4))]
        out += [E(op, x, i32([0, 1, 2, 4]), i32(4), error=BAD), E(op, x, i32([[0, 1], [1, 0], [0, 0], [1, 1]]), i32(2)), E(op, x, i32([0, 0]), i32(1), error=BAD), E(op, np.zeros((0, 2), np.float32), i32([]), i32(2)), E(op, x, i32([0] * 4), i32(0), error=True),
                E(op, x, i32([-1] * 4), i32(2)), E(op, x, i32([0] * 4), i32(-1), error=BAD)]
    for op in 'SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN'.split():
        out += [E(op, x, i32([0, 2, 3]), i32([0, 0, 1])), E(op, x, i32([3, 3]), i32([0, 2])), E(op, x, i32([4]), i32([0]), error=BAD)]
    x3 = f32([10, 20, 30, 40, 50])
    out += [E('DynamicPartition', x3, i32([0, 1, 0, 2, 1]), num_partitions=3), E('DynamicPartition', x, i32([1, 1, 0, 1]), num_partitions=2), E('DynamicPartition', text(['a', 'b']), i32([1, 0]), num_partitions=3), E('DynamicPartition', x3, i32([0, 1, 0, 3, 1]), num_partitions=3, error=BAD),
            E('DynamicPartition', x, i32([[0, 1], [1, 0], [0, 0], [1, 1]]), num_partitions=2), E('DynamicPartition', f32([]), i32([]), num_partitions=2), E('DynamicPartition', x3, i32([0]), num_partitions=1, error=BAD), E('DynamicPartition', f32(7), i32(1), num_partitions=2), E('DynamicPartition', x3, i32([-1] * 5), num_partitions=1, error=BAD)]
    for op in ('DynamicStitch', 'ParallelDynamicStitch'):
        out += [E(op, [i32([0, 2]), i32([1, 3])], [x[:2], x[2:]]), E(op, [i32(0), i32([[2, 1]])], [f32([9, 9]), f32([[[1, 2], [3, 4]]])]), E(op, [i32([]), i32([0])], [np.zeros((0,), np.float32), f32([4])]), E(op, [i32([0, 1])], [text(['x', 'y'])])]
    out += [E('DynamicStitch', [i32([0, 1]), i32([1, 0])], [f32([1, 2]), f32([3, 4])]), E('DynamicStitch', [i32([0, 0, 1])], [i32([1, 2, 3])]), E('DynamicStitch', [i32([0]), i32([1])], [f32([1]), f32([[1, 2]])], error=BAD)]
    return out
