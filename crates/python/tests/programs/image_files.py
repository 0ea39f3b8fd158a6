"""Files of images: PNG, JPEG, GIF and BMP."""

import struct

import numpy as np

from programs.tools import mistakes, run, static


def _bytes(*shape):
    return np.random.RandomState(4).randint(0, 256, shape).astype(np.uint8)


def _picture(height, width, channels):
    """Returns a smooth picture with some noise."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 100 * np.sin(x / (7.0 + 3 * i) + i) * np.cos(y / (11.0 - 2 * i)) for i in range(channels)]
    return np.clip(np.stack(waves, -1) + _bytes(height, width, channels) / 16.0, 0, 255).astype(np.uint8)


COLOURS = bytes([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])


def _packed(indices):
    """Returns GIF's code of a frame of four colours: single codes, with a clear code before every two."""
    codes = [c for i, v in enumerate(indices) for c in ((4, v) if i % 2 == 0 else (v,))] + [5]
    number = sum(c << 3 * i for i, c in enumerate(codes))
    size = (3 * len(codes) + 7) // 8
    return bytes([2, size]) + number.to_bytes(size, "little") + b"\0"


def _gif(width, height, *frames):
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x81, 0, 0) + COLOURS
    return head + b"".join(b"," + struct.pack("<HHHHB", *place, 0) + _packed(indices) for place, indices in frames) + b";"


def _bmp(width, height, bits, lines):
    size = (width * bits // 8 + 3) // 4 * 4
    data = b"".join(line.ljust(size, b"\0") for line in lines)
    head = struct.pack("<IHHI", 54 + len(data), 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, len(data), 2835, 2835, 0, 0)
    return b"BM" + head + data


def png_and_back(tf):
    encode, decode = tf.image.encode_png, tf.image.decode_png
    results = [decode(encode(_bytes(5, 4, n)), channels=m) for n in (1, 2, 3, 4) for m in (0, 1, 3, 4)]
    wide = tf.constant(_bytes(3, 2, 3).astype(np.uint16) * 250)
    results += [decode(encode(wide), dtype=tf.uint16), decode(encode(wide)), decode(encode(_bytes(2, 2, 1)), dtype=tf.uint16)]
    results += [decode(encode(_bytes(3, 3, 3), compression=c)) for c in (0, 1, 9)]
    return static(*results), run(tf, results)


def jpeg_and_back(tf):
    decode = tf.image.decode_jpeg
    results = []
    for shape in ((16, 16, 3), (33, 45, 3), (8, 8, 1), (17, 3, 1), (1, 1, 3), (20, 37, 3)):
        for quality in (95, 60, 10):
            file = tf.image.encode_jpeg(_picture(*shape), quality=quality)
            results += [decode(file), decode(file, dct_method="INTEGER_ACCURATE")]
    return run(tf, results)


def jpeg_files(tf):
    encode, x = tf.image.encode_jpeg, _picture(33, 45, 3)
    return run(tf, [encode(x), encode(x, quality=40), encode(x, chroma_downsampling=False), encode(x[:, :, :1]), encode(x, density_unit="cm", x_density=10, y_density=20, xmp_metadata="words")])


def jpeg_forms(tf):
    x, image = _picture(40, 50, 3), tf.image
    file, whole = image.encode_jpeg(x, quality=80), image.encode_jpeg(x, quality=80, chroma_downsampling=False)
    results = [image.decode_jpeg(f, **options) for f in (file, whole) for options in ({"channels": 1}, {"channels": 3}, {"fancy_upscaling": False}, {"try_recover_truncated": True})]
    results += [image.decode_jpeg(image.encode_jpeg(x[:, :, :1]), channels=3), image.decode_and_crop_jpeg(file, [3, 0, 20, 50]), image.decode_and_crop_jpeg(whole, [16, 9, 1, 2], channels=1)]
    results += [image.extract_jpeg_shape(file), image.extract_jpeg_shape(image.encode_jpeg(x[:, :, :1]), tf.int64)]
    return static(*results), run(tf, results)


def quality_of_the_run(tf):
    tf.set_random_seed(3)
    x = _picture(20, 20, 3)
    results = [tf.image.adjust_jpeg_quality(x, 30), tf.image.adjust_jpeg_quality(x / np.float32(255), tf.constant(75)), tf.image.random_jpeg_quality(x, 10, 90)]
    return static(*results), run(tf, results)


def gifs(tf):
    one = _gif(2, 2, ((0, 0, 2, 2), [0, 1, 2, 3]))
    more = _gif(3, 2, ((0, 0, 3, 2), [0, 1, 2, 3, 2, 1]), ((1, 0, 1, 2), [3, 0]), ((1, 1, 2, 1), [1, 2]))
    results = [tf.image.decode_gif(one), tf.image.decode_gif(more), tf.image.decode_gif(tf.image.encode_png(_bytes(2, 3, 1))), tf.image.decode_png(one)]
    return static(*results), run(tf, results)


def bmps(tf):
    three, four, one = _bytes(2, 9), _bytes(2, 8), _bytes(2, 5)
    files = [_bmp(3, 2, 24, [v.tobytes() for v in three]), _bmp(3, -2, 24, [v.tobytes() for v in three]), _bmp(2, 2, 32, [v.tobytes() for v in four]), _bmp(5, 2, 8, [v.tobytes() for v in one])]
    results = [tf.image.decode_bmp(f) for f in files] + [tf.image.decode_bmp(files[0], channels=3)]
    return static(*results), run(tf, results)


def any_file(tf):
    x, image = _bytes(2, 3, 3), tf.image
    files = [image.encode_png(x), image.encode_jpeg(x[:, :, :1]), _gif(2, 2, ((0, 0, 2, 2), [0, 1, 2, 3])), _bmp(3, 1, 24, [bytes(range(9))])]
    results = [image.decode_image(f) for f in files] + [image.decode_image(f, dtype=tf.float32) for f in files] + [image.decode_image(f, channels=3) for f in files]
    results += [image.decode_image(files[0], channels=4), image.decode_image(files[2], expand_animations=False), image.decode_image(files[0], channels=1, dtype=tf.uint16)]
    return static(*results), run(tf, results), run(tf, [image.is_jpeg(f) for f in files])


def read_by_a_program(tf):
    files = [tf.image.encode_jpeg(_picture(20 + 4 * i, 24, 3)) for i in range(3)]
    tf.set_random_seed(1)

    def prepared(file):
        x = tf.image.convert_image_dtype(tf.image.decode_jpeg(file, channels=3), tf.float32)
        x = tf.image.central_crop(x, 0.875)
        x = tf.image.resize_bilinear(tf.expand_dims(x, 0), [8, 8], align_corners=False)
        return (tf.squeeze(x, [0]) - 0.5) * 2.0

    return run(tf, tf.map_fn(prepared, tf.stack(files), dtype=tf.float32))


def refused(tf):
    image = tf.image

    def jpeg():
        return image.encode_jpeg(tf.zeros([4, 4, 3], tf.uint8))

    def png():
        return image.encode_png(tf.zeros([4, 4, 3], tf.uint8))

    def cut(file, n):
        return tf.strings.substr(file, 0, tf.strings.length(file) - n)

    two = _gif(1, 1, ((0, 0, 1, 1), [0]), ((0, 0, 1, 1), [1]))
    return mistakes(
        tf,
        unknown=lambda: image.decode_jpeg("abc"),
        empty=lambda: image.decode_png(""),
        rank=lambda: image.decode_png(["a", "b"]),
        four_channels=lambda: image.decode_jpeg(jpeg(), channels=4),
        two_channels=lambda: image.decode_png(png(), channels=2),
        negative_channels=lambda: image.decode_jpeg(jpeg(), channels=-1),
        cut_jpeg=lambda: image.decode_jpeg(cut(jpeg(), 20)),
        transform=lambda: image.decode_jpeg(jpeg(), dct_method="x"),
        ratio=lambda: image.decode_jpeg(jpeg(), ratio=3),
        window=lambda: image.decode_and_crop_jpeg(jpeg(), [1, 1, 9, 2]),
        short_window=lambda: image.decode_and_crop_jpeg(jpeg(), [1, 1, 9]),
        shape=lambda: image.extract_jpeg_shape("abc"),
        frames=lambda: image.decode_png(two),
        gray_gif=lambda: image.decode_jpeg(two, channels=1),
        canvas=lambda: image.decode_gif(_gif(2, 1, ((1, 0, 1, 1), [0]))),
        short_bmp=lambda: image.decode_bmp("BM"),
        bmp_of_other_channels=lambda: image.decode_bmp(_bmp(2, 1, 32, [bytes(8)]), channels=3),
        bmp_of_16_bits=lambda: image.decode_bmp(_bmp(3, 1, 16, [bytes(6)])),
        bmp_without_pixels=lambda: image.decode_bmp(_bmp(0, 1, 24, [b""])),
        cut_bmp=lambda: image.decode_bmp(_bmp(2, 2, 24, [bytes(6), bytes(6)])[:-3]),
        channels_to_encode=lambda: image.encode_jpeg(tf.zeros([4, 4, 2], tf.uint8)),
        format=lambda: image.encode_jpeg(tf.zeros([4, 4, 3], tf.uint8), format="grayscale"),
        quality=lambda: image.encode_jpeg(tf.zeros([4, 4, 3], tf.uint8), quality=101),
        flat=lambda: image.encode_png(tf.zeros([4, 4], tf.uint8)),
        many_channels=lambda: image.encode_png(tf.zeros([4, 4, 5], tf.uint8)),
        compression=lambda: image.encode_png(tf.zeros([4, 4, 3], tf.uint8), compression=10),
        no_file=lambda: image.decode_image("xyzzy"),
        gray_bmp=lambda: image.decode_image(_bmp(2, 1, 24, [bytes(6)]), channels=1),
        image_channels=lambda: image.decode_image(png(), channels=2),
        qualities=lambda: image.random_jpeg_quality(tf.zeros([4, 4, 3]), 50, 40),
    )
