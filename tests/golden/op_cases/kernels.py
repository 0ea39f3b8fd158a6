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
