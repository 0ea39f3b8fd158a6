"""Code points and characters of strings: `tf.strings.unicode_decode` and its relatives."""

from programs.tools import WHOLE, caught, run


def _rows(tf, value):
    value = run(tf, value)
    return value.to_list() if hasattr(value, "to_list") else value


def decoded(tf):
    strings = tf.strings
    inputs = ["h\u00e9", ["h\u00e9", "", "\u4e16a"], [["a", "b"], ["", "\u4e16"]], tf.ragged.constant([["a", "bc"], [], ["\u00e9"]])]
    made = [strings.unicode_decode(given, "UTF-8") for given in inputs] + [strings.unicode_split(given, "UTF-8") for given in inputs]
    return [(_rows(tf, one), one.dtype.name, one.shape.ndims) for one in made]


def decoded_with_places(tf):
    strings = tf.strings
    made = []
    for given in ("h\u00e9llo", ["h\u00e9", "", "\u4e16a"], [["a", "b"], ["", "\u4e16"]]):
        made += strings.unicode_decode_with_offsets(given, "UTF-8")
        made += strings.unicode_split_with_offsets(given, "UTF-8")
    return [(_rows(tf, one), one.dtype.name) for one in made]


def other_encodings(tf):
    wide = tf.strings.unicode_transcode(["h\u00e9", "\U0001f601a"], "UTF-8", "UTF-16-BE")
    back = tf.strings.unicode_transcode(wide, "UTF-16-BE", "UTF-8")
    single = tf.strings.unicode_decode(["h\u00e9"], "ISO-8859-1")
    return run(tf, [wide, back]), _rows(tf, single), [_rows(tf, tf.strings.unicode_split(wide, "UTF-16-BE"))]


def no_text(tf):
    bad = tf.constant([b"a\xffb", b"\xe4\xb8"])
    strings = tf.strings
    made = [
        strings.unicode_decode(bad, "UTF-8"),
        strings.unicode_decode(bad, "UTF-8", errors="ignore"),
        strings.unicode_decode(bad, "UTF-8", replacement_char=63),
        strings.unicode_decode(tf.constant(["a\nb"]), "UTF-8", replace_control_characters=True),
    ]
    return [_rows(tf, one) for one in made]


def encoded(tf):
    encode = tf.strings.unicode_encode
    inputs = [
        [72, 233],
        [[72, 233], [97, 98]],
        [[[72], [233]], [[1], [50]]],
        tf.ragged.constant([[72, 233], [], [97]]),
        tf.ragged.constant([[[72, 233], []], [[97]]]),
        [[55, 1114112]],
    ]
    made = [encode(given, "UTF-8") for given in inputs]
    return [(_rows(tf, one), one.dtype.name) for one in made]


def scripts(tf):
    return run(tf, tf.strings.unicode_script([65, 0x3B1, 0x4E00, 48, -1]))


def mistakes(tf):
    strings = tf.strings
    unknown = tf.placeholder(tf.string)
    return [
        caught(lambda: strings.unicode_decode(unknown, "UTF-8"), WHOLE),
        caught(lambda: strings.unicode_encode(tf.placeholder(tf.int32), "UTF-8"), WHOLE),
        caught(lambda: strings.unicode_encode(tf.constant(3), "UTF-8"), WHOLE),
        caught(lambda: run(tf, strings.unicode_decode(tf.constant([b"\xff"]), "UTF-8", errors="strict").values), "Invalid formatting on input string"),
        caught(lambda: run(tf, strings.unicode_transcode(["a"], "morse", "UTF-8")), "Could not create converter for input encoding: morse"),
    ]
