"""Code points of strings, dilations, patches of volumes, pools and quantized numbers."""
import numpy as np

from . import E, INF, NAN, f32, f64, family, i32, i64, text

BAD = 'INVALID_ARGUMENT'


def raw(values):
    """Strings of bytes that need not be text."""
    return np.array(values, object)


@family
def unicode():
    """Code points of strings and strings of code points, in the encodings of Unicode and of single bytes."""
    out = []
    words = raw([b'h\xc3\xa9', b'', b'\xe4\xb8\x96a', b'\xf0\x9f\x98\x81'])
    broken = raw([b'\xe4\xb8', b'\xe4\xb8A', b'\xff\xfeA', b'\xed\xa0\x80x', b'\xf0\x9f\x98', b'\xf4\x90\x80\x80', b'\xc0\x80', b'\xef\xbb\xbfA', b'A\x00B\x1f ', b'\xf8\x88\x80', b'\x80\x80', b'\xef\xbf\xbf'])
    bytes_ = raw([b'\x00A\xd8\x3d\xde\x01', b'A\xe9\x80', b'\xd8\x00\x00A', b'\xdc\x00A', b'\xfe\xff\x00A', b'\xff\xfeA\x01', b'\x00\x00\x00A\x00\x11\x00\x01', b'\x00\x00\xfe\xff\x00\x00\x00A', b'\x00\x11\x00\x00\x05', b''])
    for op in ('UnicodeDecode', 'UnicodeDecodeWithOffsets'):
        for how in ('replace', 'ignore'):
            out += [E(op, v, input_encoding='UTF-8', errors=how) for v in (words, broken)] + [E(op, bytes_, input_encoding=c, errors=how) for c in ('UTF-16-BE', 'UTF-16LE', 'UTF-16', 'UTF-32-BE', 'utf32le', 'UTF-32', 'US-ASCII', 'latin1', 'windows-1252')]
            out.append(E(op, broken, input_encoding='utf_8', errors=how, replacement_char=63, replace_control_characters=True))
        out += [E(op, words.reshape(2, 2), input_encoding='UTF-8'), E(op, words[0:1].reshape(()), input_encoding='UTF-8'), E(op, words[:0], input_encoding='UTF-8'), E(op, words, input_encoding='UTF-8', errors='strict'), E(op, broken, input_encoding='UTF-8', errors='strict', error=BAD), E(op, words, input_encoding='morse', error=BAD), E(op, words, input_encoding='UTF-8', replacement_char=-1, error=BAD), E(op, words, input_encoding='UTF-8', replacement_char=0x110000, error=BAD), E(op, broken, input_encoding='UTF-8', replacement_char=0xd800), E(op, raw([b'a\nb']), input_encoding='UTF-8', errors='strict', replace_control_characters=True)]
    for to in ('UTF-8', 'UTF-16-BE', 'UTF-32-BE'):
        for how in ('replace', 'ignore', 'strict'):
            out += [E('UnicodeTranscode', words.reshape(2, 2), input_encoding='UTF-8', output_encoding=to, errors=how), E('UnicodeTranscode', broken, input_encoding='UTF-8', output_encoding=to, errors=how, error=BAD if how == 'strict' else None)]
            codes = i32([72, 233, 0x1f601, 0xd800, 0xffff, 0xfdd0, 0, 0x10ffff])
            out += [E('UnicodeEncode', codes, i64([0, 3, 3, 8]), output_encoding=to, errors=how), E('UnicodeEncode', i32([65, -1, 0x110000, 66]), i64([0, 1, 4]), output_encoding=to, errors=how, error=BAD if how == 'strict' else None)]
        out += [E('UnicodeTranscode', bytes_, input_encoding='UTF-16', output_encoding=to), E('UnicodeTranscode', broken, input_encoding='ISO-8859-1', output_encoding=to, replacement_char=65, replace_control_characters=True)]
    out += [E('UnicodeEncode', i32([65, 66, 67]), i64(s), output_encoding='UTF-8') for s in ([0, 1, 3], [1, 3], [0, 2], [0, 0, 3], [0])] + [E('UnicodeEncode', i32([-1]), i64([0, 1]), output_encoding='UTF-8', replacement_char=0x110000, error=BAD)]
    out += [E('UnicodeScript', np.arange(0x110000, dtype=np.int32)[::7].copy()), E('UnicodeScript', np.arange(0x3000, dtype=np.int32)), E('UnicodeScript', i32([[65, 0x3b1], [-1, 0x110000]]))]
    return out


@family
def windows():
    """Dilations, patches of volumes, pools with windows that are inputs, and quantized numbers."""
    out = []
    rng = np.random.RandomState(3)
    images = (rng.randint(-9, 9, (2, 5, 6, 3)) / 2.0).astype(np.float32)
    filters = (rng.randint(-5, 5, (2, 3, 3)) / 2.0).astype(np.float32)
    for strides, rates in (([1, 1, 1, 1], [1, 1, 1, 1]), ([1, 2, 1, 1], [1, 1, 1, 1]), ([1, 1, 2, 1], [1, 2, 2, 1]), ([1, 3, 3, 1], [1, 1, 2, 1])):
        for padding in ('SAME', 'VALID'):
            how = dict(strides=strides, rates=rates, padding=padding)
            for t in (np.float32, np.float64, np.int32, np.float16):
                out.append(E('Dilation2D', images.astype(t), filters.astype(t), **how))
            rows, columns = [(-(-size // s) if padding == 'SAME' else -(-(size - (f - 1) * r) // s)) for size, s, f, r in ((5, strides[1], 2, rates[1]), (6, strides[2], 3, rates[2]))]
            dy = rng.randint(-9, 9, (2, rows, columns, 3)).astype(np.float32)
            for op in ('Dilation2DBackpropInput', 'Dilation2DBackpropFilter'):
                out += [E(op, images.astype(t), filters.astype(t), dy.astype(t), **how) for t in (np.float32, np.float64)]
    plain = dict(strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID')
    out += [E('Dilation2D', images, filters[:, :, :2].copy(), error=BAD, **plain), E('Dilation2D', images[0], filters, error=BAD, **plain), E('Dilation2D', images, filters[0], error=BAD, **plain), E('Dilation2D', images[:, :1], filters, error=BAD, **plain), E('Dilation2D', images[:0], filters, **plain), E('Dilation2DBackpropInput', images, filters, images, error=BAD, **plain), E('Dilation2D', images, filters, strides=[1, 1, 1, 2], rates=[1, 1, 1, 1], padding='SAME', error=True), E('Dilation2D', images, filters, strides=[1, 1, 1, 1], rates=[2, 1, 1, 1], padding='SAME', error=True)]
    volumes = rng.randint(-9, 9, (2, 4, 5, 3, 2))
    for sizes, strides in (([1, 2, 2, 2, 1], [1, 1, 1, 1, 1]), ([1, 3, 2, 1, 1], [1, 2, 2, 2, 1]), ([1, 1, 1, 1, 1], [1, 3, 2, 1, 1])):
        for padding in ('SAME', 'VALID'):
            out += [E('ExtractVolumePatches', volumes.astype(t), ksizes=sizes, strides=strides, padding=padding) for t in (np.float32, np.float64, np.int32, np.uint8)]
    out += [E('ExtractVolumePatches', volumes[0], ksizes=[1, 1, 1, 1, 1], strides=[1, 1, 1, 1, 1], padding='SAME', error=BAD)]
    for size, strides, padding in (([1, 2, 2, 1], [1, 1, 1, 1], 'SAME'), ([1, 3, 2, 1], [1, 2, 2, 1], 'VALID'), ([1, 1, 1, 3], [1, 1, 1, 3], 'VALID')):
        for t in (np.float32, np.float64):
            x = images.astype(t)
            out.append(E('MaxPoolV2', x, i32(size), i32(strides), padding=padding))
            if size[3] == 1:
                rows, columns = [(-(-n // s) if padding == 'SAME' else -(-(n - w + 1) // s)) for n, s, w in ((5, strides[1], size[1]), (6, strides[2], size[2]))]
                best = np.stack([[[x[b, r * strides[1]:r * strides[1] + size[1], c * strides[2]:c * strides[2] + size[2]].max((0, 1)) for c in range(columns)] for r in range(rows)] for b in range(2)]).astype(t)
                dy = rng.randint(-9, 9, best.shape).astype(t)
                distinct = rng.permutation(x.size).reshape(x.shape).astype(t)
                high = np.stack([[[distinct[b, r * strides[1]:r * strides[1] + size[1], c * strides[2]:c * strides[2] + size[2]].max((0, 1)) for c in range(columns)] for r in range(rows)] for b in range(2)]).astype(t)
                out += [E('MaxPoolGradV2', distinct, high, dy, i32(size), i32(strides), padding=padding), E('MaxPoolGradGradV2', distinct, high, x, i32(size), i32(strides), padding=padding)]
    out += [E('MaxPoolV2', images, i32([2, 1, 1, 1]), i32([1, 1, 1, 1]), padding='SAME', error=True), E('MaxPoolV2', images, i32([1, 1, 1]), i32([1, 1, 1, 1]), padding='SAME', error=BAD)]
    v, f = volumes.astype(np.float32), rng.randint(-3, 3, (2, 2, 1, 2, 3)).astype(np.float32)
    for strides, padding, shape in (([1, 1, 1, 1, 1], 'SAME', (2, 4, 5, 3, 3)), ([1, 2, 2, 1, 1], 'VALID', (2, 2, 2, 3, 3))):
        dy = rng.randint(-3, 3, shape).astype(np.float32)
        for t in (np.float32, np.float64):
            out += [E('Conv3DBackpropInput', v.astype(t), f.astype(t), dy.astype(t), strides=strides, padding=padding), E('Conv3DBackpropFilter', v.astype(t), f.astype(t), dy.astype(t), strides=strides, padding=padding)]
    numbers = f32([-3.5, -1.25, -0.5, -0.1, 0, 0.3, 0.5, 1.5, 2.5, 7.75])
    for t in (np.float32, np.float64):
        x, zero = numbers.astype(t), np.asarray(0, t)
        for bits in (1, 2, 4, 8):
            for signed in (True, False):
                for low, high in ((-4, 2), (0, 3), (-1, 0), (1, 5)):
                    for mode in ('HALF_TO_EVEN', 'HALF_UP'):
                        out.append(E('QuantizeAndDequantizeV2', x, np.asarray(low, t), np.asarray(high, t), num_bits=bits, signed_input=signed, range_given=True, round_mode=mode, narrow_range=bits == 4))
                    out.append(E('QuantizeAndDequantize', x, num_bits=bits, signed_input=signed, range_given=True, input_min=float(low), input_max=float(high)))
                    out.append(E('QuantizeAndDequantizeV3', x, np.asarray(low, t), np.asarray(high, t), i32(bits), signed_input=signed))
                out += [E('QuantizeAndDequantizeV2', x, zero, zero, num_bits=bits, signed_input=signed), E('QuantizeAndDequantize', x, num_bits=bits, signed_input=signed), E('QuantizeAndDequantizeV3', x, zero, zero, i32(bits), signed_input=signed, range_given=False, narrow_range=bits == 4)]
        out += [E('QuantizeAndDequantizeV2', x, np.asarray(2, t), np.asarray(1, t), range_given=True, error=BAD), E('QuantizeAndDequantizeV3', x, zero, zero, i32(63), error=BAD), E('QuantizeAndDequantizeV3', x, zero, zero, i32(0), error=BAD), E('QuantizeAndDequantizeV2', np.asarray([NAN, 1, -2], t), zero, zero, num_bits=4), E('QuantizeAndDequantizeV2', np.asarray([INF, 1, -INF], t), np.asarray(-1, t), np.asarray(2, t), num_bits=4, range_given=True), E('QuantizeAndDequantizeV2', x * 0, zero, zero)]
    return out


@family
def glimpses():
    """Windows of images, images scaled and moved, boxes of many classes, and fractional pools."""
    out = []
    rng = np.random.RandomState(5)
    images = (rng.randint(-20, 20, (2, 5, 7, 2)) / 4.0).astype(np.float32)
    places = f32([[0.25, -0.5], [-0.125, 0.75]])
    plain = dict(uniform_noise=False, noise='zero')
    for size in ([2, 3], [4, 4], [9, 2], [5, 7], [0, 3]):
        for centered in (True, False):
            out.append(E('ExtractGlimpse', images, i32(size), places, centered=centered, **plain))
            out.append(E('ExtractGlimpse', images, i32(size), places * 5 + 1, centered=centered, normalized=False, **plain))
    out += [E('ExtractGlimpse', images, i32([3, 3]), f32(p), normalized=False, centered=False, **plain) for p in ([[1e9, 2], [-1e9, 2]], [[NAN, 2], [2, INF]], [[1.5, 1.5], [3.5, 5.5]], [[-1.5, 7], [5, 7.5]])]
    out += [E('ExtractGlimpse', images * 0 + 3, i32([3, 3]), places * 4), E('ExtractGlimpse', images * 0 + 3, i32([3, 3]), places * 4, uniform_noise=False), E('ExtractGlimpse', images * 0 + 3, i32([3, 3]), places * 4, uniform_noise=False, noise='gaussian'), E('ExtractGlimpse', images[:0], i32([3, 3]), places[:0], **plain)]
    out += [E('ExtractGlimpse', images[0], i32([3, 3]), places, error=BAD, **plain), E('ExtractGlimpse', images, i32([3]), places, error=BAD, **plain), E('ExtractGlimpse', images, i32([3, 3]), places[0], error=BAD, **plain), E('ExtractGlimpse', images, i32([3, 3]), places[:1], error=BAD, **plain), E('ExtractGlimpse', images, i32([3, 3]), places[:, :1], error=BAD, **plain), E('ExtractGlimpse', images, i32([3, 3]), places, uniform_noise=False, noise='pink', error=BAD)]
    odd = images.copy()
    odd.ravel()[[3, 40]] = NAN
    odd.ravel()[[70, 90]] = INF
    for kernel in ('lanczos1', 'lanczos3', 'lanczos5', 'gaussian', 'box', 'triangle', 'keyscubic', 'mitchellcubic'):
        for antialias in (True, False):
            how = dict(kernel_type=kernel, antialias=antialias)
            for size, scale, moved in (([5, 7], [1, 1], [0, 0]), ([9, 3], [1.8, 3 / 7.0], [0, 0]), ([4, 12], [0.3, 2.5], [1.25, -3]), ([2, 2], [4, 0.01], [-9, 0.5])):
                out.append(E('ScaleAndTranslate', images, i32(size), f32(scale), f32(moved), compare={'rtol': 3e-6, 'atol': 3e-6}, **how))
                dy = rng.randint(-9, 9, (2, size[0], size[1], 2)).astype(np.float32)
                out.append(E('ScaleAndTranslateGrad', dy, images, f32(scale), f32(moved), compare={'rtol': 3e-6, 'atol': 3e-6}, **how))
            exact = kernel in ('box', 'triangle', 'keyscubic', 'mitchellcubic')
            if exact:
                out.append(E('ScaleAndTranslate', odd, i32([6, 5]), f32([1.2, 0.7]), f32([0.5, -0.5]), compare='exact', **how))
                out.append(E('ScaleAndTranslateGrad', odd, images[:, :3, :3].copy(), f32([1.2, 0.7]), f32([0.5, -0.5]), compare='exact', **how))
    for t in ('int8', 'uint8', 'int16', 'uint16', 'int32', 'int64', 'float16', 'float64'):
        out.append(E('ScaleAndTranslate', np.abs(images * 4).astype(t), i32([4, 4]), f32([0.8, 0.5]), f32([0, 0.25]), kernel_type='triangle', compare='exact'))
    args = images, i32([3, 3]), f32([1, 1]), f32([0, 0])
    for i, value in ((0, images[0]), (0, images[:, :0]), (0, images[..., :0]), (1, i32([3])), (1, i32([[3, 3]])), (1, i32([0, 3])), (2, f32([1])), (2, f32([[1, 1]])), (2, f32([1, 0])), (2, f32([-1, 1])), (2, f32([NAN, 1])), (3, f32([1])), (3, f32([[1, 1]]))):
        out.append(E('ScaleAndTranslate', *(args[:i] + (value,) + args[i + 1:]), error=BAD))
    out += [E('ScaleAndTranslate', images[:0], i32([3, 3]), f32([1, 1]), f32([0, 0])), E('ScaleAndTranslate', *args, kernel_type='cubic', error=BAD), E('ScaleAndTranslate', images, i32([3, 3]), f32([1e-30, 1]), f32([0, 0])), E('ScaleAndTranslate', images, i32([3, 3]), f32([1, 1]), f32([NAN, INF]))]
    corners = np.sort(rng.uniform(-0.2, 1.2, (2, 12, 1, 2, 2)), 3).reshape(2, 12, 1, 4).astype(np.float32)
    each = np.concatenate([corners, corners[:, ::-1], corners * f32(0.5)], 2)
    scores = rng.permutation(2 * 12 * 3).reshape(2, 12, 3).astype(np.float32) / 72
    for boxes in (corners, each):
        for count, total in ((2, 4), (3, 20), (12, 5), (0, 3)):
            for similar, least in ((0.5, 0.1), (0, 0.5), (1, -1)):
                for pads in (False, True):
                    out.append(E('CombinedNonMaxSuppression', boxes, scores, i32(count), i32(total), f32(similar), f32(least), pad_per_class=pads, clip_boxes=count == 2))
    args = corners, scores, i32(2), i32(4), f32(0.5), f32(0)
    for i, value in ((0, corners[0]), (0, corners[:1]), (0, corners[:, :3]), (0, each[:, :, :2]), (0, corners[..., :3]), (1, scores[0]), (2, i32([2])), (3, i32([4])), (3, i32(0)), (3, i32(-1)), (4, f32([0.5])), (4, f32(1.5)), (4, f32(-1)), (5, f32([0]))):
        out.append(E('CombinedNonMaxSuppression', *(args[:i] + (value,) + args[i + 1:]), error=BAD))
    out += [E('CombinedNonMaxSuppression', corners[:, :0], scores[:, :0], *args[2:]), E('CombinedNonMaxSuppression', corners, scores[..., :0], *args[2:]), E('CombinedNonMaxSuppression', corners, scores * f32(NAN), *args[2:]), E('CombinedNonMaxSuppression', corners, scores, i32(12), i32(40), f32(1), f32(-INF))]
    cells = rng.randint(-99, 99, (2, 11, 9, 3))
    for t in (np.float32, np.float64, np.int32, np.int64):
        for ratio in ([1, 1.5, 2.2, 1], [1, 2.75, 1, 1], [1, 11, 4.6, 1], [1, 1.01, 3, 1]):
            for pseudo in (False, True):
                for overlapping in (False, True):
                    for seeds in ((3, 0), (5, 7)):
                        how = dict(pooling_ratio=ratio, pseudo_random=pseudo, overlapping=overlapping, deterministic=True, seed=seeds[0], seed2=seeds[1])
                        out += [E(op, cells.astype(t), runs=2, **how) for op in ('FractionalAvgPool', 'FractionalMaxPool')]
        for overlapping in (False, True):
            rows, columns = i64([0, 2, 5, 6, 11]), i64([0, 3, 5, 9])
            dy = rng.randint(-9, 9, (2, 4, 3, 3)).astype(t)
            best = np.zeros((2, 4, 3, 3), t)
            for r in range(4):
                for c in range(3):
                    best[:, r, c] = cells[:, rows[r]:rows[r + 1] + overlapping, columns[c]:columns[c + 1] + overlapping].max((1, 2))
            out.append(E('FractionalAvgPoolGrad', i64([2, 11, 9, 3]), dy, rows, columns, overlapping=overlapping))
            out.append(E('FractionalMaxPoolGrad', cells.astype(t), best, dy, rows, columns, overlapping=overlapping))
    odd = cells.astype(np.float32)
    odd.ravel()[[0, 5, 40, 77]] = NAN
    odd[0, 3:7] = -INF
    for op in ('FractionalAvgPool', 'FractionalMaxPool'):
        same = dict(deterministic=True, seed=1)
        out += [E(op, odd, pooling_ratio=[1, 1.5, 1.5, 1], **same), E(op, odd[:0], pooling_ratio=[1, 1.5, 1.5, 1], **same), E(op, odd[..., :0], pooling_ratio=[1, 11, 9, 1]), E(op, odd, pooling_ratio=[1, 1, 1, 1]), E(op, odd, pooling_ratio=[1, 5.5, 3, 1], **same)]
        out += [E(op, odd[0], pooling_ratio=[1, 1, 1, 1], error=BAD), E(op, odd, pooling_ratio=[2, 1, 1, 2], error=True), E(op, odd, pooling_ratio=[1, 1, 1, 1], seed=1, error=BAD)]
    return out
