"""Parsing of `Example` and `SequenceExample` messages."""

from programs.tools import caught, run, static


def _ints(tf, *values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _floats(tf, *values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _bytes(tf, *values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def _example(tf, **features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _two(tf):
    a = _example(tf, x=_ints(tf, 1, 2), s=_bytes(tf, b"a"), v=_floats(tf, 0.5), idx=_ints(tf, 3, 1), val=_floats(tf, 0.1, 0.2))
    b = _example(tf, x=_ints(tf, 3, 4), v=_floats(tf, 1.0, 2.0), idx=_ints(tf, 0), val=_floats(tf, 0.3), q=_ints(tf, 1, 2, 3))
    return [a, b]


def _features(tf):
    return {
        "x": tf.FixedLenFeature([2], tf.int64),
        "s": tf.FixedLenFeature([], tf.string, default_value="zz"),
        "v": tf.VarLenFeature(tf.float32),
        "sp": tf.SparseFeature("idx", "val", tf.float32, 5),
        "q": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }


def batches(tf):
    parsed = tf.parse_example(_two(tf), _features(tf))
    return sorted(parsed), static(parsed["x"], parsed["s"], parsed["q"], parsed["v"].values), run(tf, parsed)


def single(tf):
    parsed = tf.parse_single_example(_two(tf)[0], _features(tf))
    named = tf.io.parse_single_example(_two(tf)[0], _features(tf), example_names="the first")
    return static(parsed["x"], parsed["s"], parsed["q"], parsed["v"].values), run(tf, parsed), run(tf, named["v"])


def sequences_filled_up(tf):
    parsed = tf.parse_example(_two(tf), {"q": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=7)})
    return run(tf, parsed)


def several_indices(tf):
    message = _example(tf, a=_ints(tf, 0, 1), c=_ints(tf, 1, 0), b=_floats(tf, 5.0, 6.0))
    return run(tf, tf.parse_example([message], {"sp": tf.SparseFeature(["a", "c"], "b", tf.float32, [3, 4])}))


def features_misdescribed(tf):
    def of(feature):
        return caught(lambda: tf.parse_example(_two(tf), {"s": feature}), *says)

    says = ["Invalid feature s:3."]
    out = [of(3)]
    says = ["Missing type for feature s."]
    out += [of(tf.VarLenFeature(None)), of(tf.FixedLenFeature([1], None))]
    says = ["Missing shape for feature s."]
    out += [of(tf.FixedLenFeature(None, tf.int64))]
    says = ["Unsupported: FixedLenSequenceFeature requires allow_missing to be True."]
    out += [of(tf.FixedLenSequenceFeature([], tf.int64))]
    says = ["First dimension of shape for feature s unknown. Consider using FixedLenSequenceFeature."]
    out += [of(tf.FixedLenFeature([None, 1], tf.int64))]
    return (
        out,
        caught(lambda: tf.parse_example(_two(tf), {}), "Missing: features was {}."),
        caught(lambda: tf.parse_single_example(_two(tf)[0], None), "Missing features."),
        caught(lambda: tf.parse_single_sequence_example(_two(tf)[0]), "Missing features."),
    )


def features_that_are_not_there(tf):
    wanted = {"s": tf.FixedLenFeature([], tf.string)}
    return (
        caught(lambda: run(tf, tf.parse_example(_two(tf), wanted)), "Name: <unknown>, Feature: s (data type: string) is required but could not be found."),
        caught(lambda: run(tf, tf.parse_example(_two(tf), wanted, example_names=["A", "B"])), "Name: B, Feature: s (data type: string) is required but could not be found."),
        caught(lambda: run(tf, tf.parse_single_example(_two(tf)[1], wanted))),
    )


def descriptions_print(tf):
    return [
        repr(f)
        for f in (
            tf.FixedLenFeature([], tf.int64),
            tf.VarLenFeature(tf.string),
            tf.SparseFeature("a", "b", tf.int64, 3),
            tf.FixedLenSequenceFeature([1], tf.int64, True, 3),
        )
    ]


def _sequence(tf, c, f, w):
    train = tf.train
    lists = dict(f=train.FeatureList(feature=[_ints(tf, *v) for v in f]), w=train.FeatureList(feature=[_bytes(tf, *v) for v in w]))
    context = train.Features(feature=dict(c=_ints(tf, c)))
    return train.SequenceExample(context=context, feature_lists=train.FeatureLists(feature_list=lists)).SerializeToString()


def single_sequence(tf):
    message = _sequence(tf, 5, [[1, 2], [3, 4]], [[b"x"], [b"y", b"z"]])
    context, lists = tf.parse_single_sequence_example(
        message, {"c": tf.FixedLenFeature([], tf.int64)}, {"f": tf.FixedLenSequenceFeature([2], tf.int64), "w": tf.VarLenFeature(tf.string)}
    )
    _, empty = tf.parse_single_sequence_example(message, None, {"zf": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)})
    missing = tf.parse_single_sequence_example(message, None, {"zf": tf.FixedLenSequenceFeature([2], tf.int64)})[1]
    return static(context["c"], lists["f"]), run(tf, [context, lists, empty]), caught(lambda: run(tf, missing), "Feature list 'zf' is required but could not be found.")


def batch_of_sequences(tf):
    messages = [_sequence(tf, 5, [[1, 2], [3, 4]], [[b"x"], [b"y", b"z"]]), _sequence(tf, 6, [[7, 8]], [])]
    parsed = tf.io.parse_sequence_example(
        messages,
        {"c": tf.FixedLenFeature([], tf.int64)},
        {"f": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True), "w": tf.VarLenFeature(tf.string)},
    )
    return run(tf, parsed)


def json_messages(tf):
    text = '{"features":{"feature":{"x":{"int64List":{"value":["1","2"]}}}}}'
    return run(tf, tf.parse_example(tf.decode_json_example([text]), {"x": tf.FixedLenFeature([2], tf.int64)}))


def raw_bytes(tf):
    return run(tf, [tf.decode_raw([b"\x01\x00\x02\x00"], tf.int16), tf.decode_raw([b"\x00\x01"], tf.uint8), tf.decode_raw([b"\x00\x01"], tf.int16, little_endian=False)])
