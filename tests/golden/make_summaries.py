"""Writes summaries.json: the messages of TensorFlow 1.15's summary ops, and the nodes of tf.summary's
functions.

Run with TensorFlow 1.15: `python make_summaries.py`. The test `summaries` of crates/millstream builds the
same.

`ops`: an op with its attributes and inputs, each `{dtype, shape, values}` (strings in hexadecimal), and its
message in hexadecimal (for images the pixels) or the code of its error. `programs`: lists of `name op
input,input` in the order of making, the tags, and the collections.
"""

import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.ops import gen_logging_ops as ops  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"]


def array(value):
    kind = np.asarray(value).dtype.kind
    # NumPy's own strings lose trailing zeros.
    return np.array(value, object) if kind in "SUO" else np.asarray(value)


def stored(value):
    value = array(value)
    if value.dtype.kind == "O":
        flat = [(v if isinstance(v, bytes) else v.encode()).hex() for v in value.ravel().tolist()]
        return {"dtype": "string", "shape": list(value.shape), "values": flat}
    # Numbers become text, because JSON has no NaN, and integers may be wider than its floats.
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": [repr(v.item()) for v in value.ravel()]}


def tables():
    rng = np.random.RandomState(5)
    yield "ScalarSummary", ["a", np.float32(2.5)]
    for dtype in DTYPES:
        yield "ScalarSummary", [["a", "b"], np.array([0, 3], dtype)]
        yield "HistogramSummary", ["h", np.array([[0, 1, 2], [3, 100, 7]], dtype)]
    for value in (-0.0, float("nan"), float("inf"), 1e300, 1e-300):
        yield "ScalarSummary", ["a", np.float64(value)]
        yield "HistogramSummary", ["h", np.float64(value)]
    for value in (2**63 - 1, 2**60 + 1, -(2**40 + 3), 2**24 + 1):
        yield "ScalarSummary", ["a", np.int64(value)]
        yield "HistogramSummary", ["h", np.int64(value)]
    one = np.float32(1)
    for tags, values in ((["a"], one), ("a", [one]), ([["a"]], [[one]]), (np.array([], object), np.zeros(0)), ("", one), ("a", [one, one])):
        yield "ScalarSummary", [tags, values]
        yield "HistogramSummary", [tags, values]
    for scale in (1e-13, 1e-12, 1e-3, 1.0, 1e3, 1e19, 1e21, 1e154):
        yield "HistogramSummary", ["h", rng.randn(200) * scale]
    yield "HistogramSummary", ["h", np.array([1.0, -1.0, 0.0, -0.0, 1e-12, -1e-12, 1.1e-12, 1e20, -1e20])]
    yield "HistogramSummary", ["h", np.array([-0.0, -1.0])]
    yield "HistogramSummary", ["h", np.array([1.0, float("-inf")])]
    yield "HistogramSummary", ["h", rng.randn(3, 0).astype(np.float32)]


def summary(*values):
    return tf.Summary(value=values).SerializeToString()


def messages():
    a, b = tf.Summary.Value(tag="a", simple_value=1), tf.Summary.Value(tag="b", simple_value=0)
    image = tf.Summary.Value(tag="i", image=tf.Summary.Image(height=1, width=2, colorspace=3, encoded_image_string=b"\0\xff"))
    audio = tf.Summary.Value(tag="s", audio=tf.Summary.Audio(sample_rate=1.5, num_channels=2, length_frames=3, encoded_audio_string=b"x", content_type="t"))
    bare = tf.Summary.Value(simple_value=1)
    plugin = tf.SummaryMetadata(plugin_data=tf.SummaryMetadata.PluginData(plugin_name="text", content=b"\1"), display_name="d", summary_description="s")
    for inputs in ([summary(a), summary(b)], [summary(a, b)], [summary(image, audio)], [summary(bare, bare)], [b"", summary(a)], [b""],
                   [[summary(a), summary(b)], summary(bare)], [summary(a), summary(a)], [summary(a, a)], [b"xyz"]):
        yield "MergeSummary", inputs
    for tensor in (np.int32(3), np.array([1.5, 2.5], np.float32), np.array([["x"], ["yz"]]), np.zeros((2, 0), np.int64), True, 1 + 2j):
        for metadata in (b"", plugin.SerializeToString()):
            yield "TensorSummaryV2", ["t", tensor, metadata]
    yield "TensorSummaryV2", [["t"], np.int32(3), b""]


def pictures():
    """Replaces encoded images by their pixels, since encoders differ."""
    rng = np.random.RandomState(6)
    nan, inf = float("nan"), float("inf")
    for shape in ((2, 3, 4, 1), (1, 2, 2, 3), (5, 1, 3, 4)):
        for dtype in ("float16", "float32", "float64"):
            yield "ImageSummary", ["i", rng.rand(*shape).astype(dtype)], {}
            yield "ImageSummary", ["i", (rng.randn(*shape) * 100).astype(dtype)], {"max_images": 1}
        yield "ImageSummary", ["i", rng.randint(0, 256, shape).astype(np.uint8)], {"max_images": 4}
    x = rng.randn(2, 3, 3, 3).astype(np.float32)
    x[0, 1, 1, 2], x[1, 0, 0, 0], x[1, 2, 2, 1] = nan, inf, -inf
    yield "ImageSummary", ["i", x], {}
    yield "ImageSummary", ["i", x], {"bad_color": [9, 8, 7, 6]}
    for values in ([0, 0], [nan, nan], [1e-7, 0], [-1e-7, 0], [1e30, -1e30], [3e-6, 1e-6]):
        yield "ImageSummary", ["i", np.array(values, np.float32).reshape(1, 1, 2, 1)], {}
    one = np.ones((1, 1, 1, 1), np.float32)
    for tag, v, attrs in ((["i"], one, {}), ("i", one[0], {}), ("i", np.ones((1, 1, 1, 2), np.float32), {}), ("i", np.ones((0, 2, 2, 1), np.float32), {}), ("i", np.ones((1, 0, 2, 1), np.uint8), {}),
                          ("i", np.ones((1, 1, 1, 4), np.float32), {"bad_color": [1, 2, 3]})):
        yield "ImageSummary", [tag, v], attrs


def sounds():
    rng = np.random.RandomState(7)
    for shape in ((1, 5), (4, 3, 2), (2, 1, 1), (0, 4)):
        yield "AudioSummaryV2", ["s", rng.uniform(-1.2, 1.2, shape).astype(np.float32), np.float32(44100)], {}
    x = np.array([[0.5, -1, 1, 2, float("nan"), float("-inf"), 1.5 / 32768, -0.5 / 32768]], np.float32)
    for rate in (8000, 0.2, 44100.5, 44101.5, 0, -1, 1e20, float("nan")):
        yield "AudioSummaryV2", ["s", x, np.float32(rate)], {"max_outputs": 1}
    for tag, v in ((["s"], x), ("s", x[0]), ("s", x[None, None]), ("s", np.zeros((1, 0), np.float32)), ("s", np.zeros((1, 2, 0), np.float32))):
        yield "AudioSummaryV2", [tag, v, np.float32(1)], {}


def pixels(message):
    """The tag, height, width, channels and pixels of each image."""
    with tf.Graph().as_default(), tf.Session() as session:
        decode = lambda file: session.run(tf.image.decode_png(tf.constant(file))).tobytes().hex()  # noqa: E731
        return [[v.tag, v.image.height, v.image.width, v.image.colorspace, decode(v.image.encoded_image_string)] for v in tf.Summary.FromString(message).value]


def media(op, inputs, attrs):
    try:
        record = {"op": op, "inputs": [stored(v) for v in inputs], "attrs": attrs}
        given = {k: tf.make_tensor_proto(np.uint8(v)) if k == "bad_color" else v for k, v in attrs.items()}
        with tf.Graph().as_default(), tf.Session() as session:
            # Inputs are fed, so that errors are run-time errors.
            fed = [(tf.placeholder(tf.string if a.dtype.kind == "O" else a.dtype), a) for a in map(array, inputs)]
            make = {"ImageSummary": ops.image_summary, "AudioSummaryV2": ops.audio_summary_v2}[op]
            message = session.run(make(*[x for x, _ in fed], **given), dict(fed))
    except tf.errors.OpError as error:
        record["error"] = error.error_code
        return record
    record.update({"images": pixels(message)} if op == "ImageSummary" else {"summary": message.hex()})
    return record


def run(op, inputs):
    with tf.Graph().as_default(), tf.Session() as session:
        placed = [tf.constant(a, tf.string if a.dtype.kind == "O" else None) for a in map(array, inputs)]
        make = {"ScalarSummary": ops.scalar_summary, "HistogramSummary": ops.histogram_summary, "TensorSummaryV2": ops.tensor_summary_v2}
        made = ops.merge_summary(placed) if op == "MergeSummary" else make[op](*placed)
        record = {"op": op, "inputs": [stored(v) for v in inputs]}
        try:
            record["summary"] = session.run(made).hex()
        except tf.errors.OpError as error:
            record["error"] = error.error_code
        return record


def names():
    x = tf.constant(2.5, name="x")
    tf.summary.scalar("loss", x)
    tf.summary.scalar("loss", x)
    with tf.name_scope("a"):
        tf.summary.scalar("b c/(d)", x)
        tf.summary.histogram("h", x, family="fam")
        tf.summary.scalar("_under", x)
    tf.summary.scalar("/slash", x, collections=["mine"], family="/other family")
    tf.summary.histogram("twice", x, collections=["mine", "summaries"])


def shown():
    x = tf.constant(2.5, name="x")
    image = tf.placeholder(tf.float32, [None, 2, 2, 3], name="image")
    sound = tf.placeholder(tf.float32, [None, 5], name="sound")
    said = tf.placeholder(tf.string, [], name="said")
    tf.summary.image("picture", image)
    tf.summary.image("picture", image, max_outputs=1, family="fam")
    with tf.name_scope("a"):
        tf.summary.audio("b c", sound, 8000.0, collections=["mine"])
        tf.summary.audio("d", sound, x, max_outputs=5)
        tf.summary.text("e", said)
    tf.summary.tensor_summary("t", x, summary_description="what it is", display_name="T")


def merged():
    x = tf.constant(2.5, name="x")
    first = tf.summary.scalar("first", x)
    second = tf.summary.histogram("in/second", x)
    tf.summary.merge([first, second])
    tf.summary.merge([first], name="all of")
    tf.summary.merge_all()
    tf.summary.merge_all(name="named")
    tf.summary.merge_all(scope="in/")
    assert tf.summary.merge_all(key="none") is None


def program(build):
    with tf.Graph().as_default() as graph:
        build()
        nodes = [" ".join([o.name, o.type, ",".join(t.name for t in o.inputs) or "-"]) for o in graph.get_operations()]
        tags = {}
        for op in graph.get_operations():
            if op.type in ("ScalarSummary", "HistogramSummary"):
                tags[op.name] = op.inputs[0].op.get_attr("value").string_val[0].decode()
        collections = {k: [t.name for t in graph.get_collection(k)] for k in sorted(graph.get_all_collection_keys())}
        return {"nodes": nodes, "tags": tags, "collections": collections}


def main():
    made = [run(op, inputs) for table in (tables, messages) for op, inputs in table()]
    made += [media(*entry) for table in (pictures, sounds) for entry in table()]
    out = {"tensorflow": tf.__version__, "ops": made, "programs": {f.__name__: program(f) for f in (names, shown, merged)}}
    with open(os.path.join(HERE, "summaries.json"), "w") as file:
        file.write("{\n\"tensorflow\": %s,\n\"ops\": [\n" % json.dumps(out["tensorflow"]))
        file.write(",\n".join(json.dumps(entry) for entry in made))
        file.write("\n],\n\"programs\": %s\n}\n" % json.dumps(out["programs"], indent=1))


main()
