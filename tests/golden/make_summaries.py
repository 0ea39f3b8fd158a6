"""Writes summaries.json: the messages that TensorFlow 1.15's summary ops make, and the nodes of tf.summary's functions.

Run with a TensorFlow 1.15: `python make_summaries.py`. The test `summaries` of crates/millstream builds the same.

`ops`: an op with its inputs, each `{dtype, shape, values}` (strings in hexadecimal), and the message it makes in hexadecimal or the code of its
error. `programs`: lists of `name op input,input` in the order in which the nodes were made, the tags, and the collections.
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
    # numpy's own strings lose zeros at their ends.
    return np.array(value, object) if kind in "SUO" else np.asarray(value)


def stored(value):
    value = array(value)
    if value.dtype.kind == "O":
        flat = [(v if isinstance(v, bytes) else v.encode()).hex() for v in value.ravel().tolist()]
        return {"dtype": "string", "shape": list(value.shape), "values": flat}
    # Through text: JSON has no NaN, and integers may be wider than its floats.
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
    out = {"tensorflow": tf.__version__, "ops": made, "programs": {f.__name__: program(f) for f in (names, merged)}}
    with open(os.path.join(HERE, "summaries.json"), "w") as file:
        file.write("{\n\"tensorflow\": %s,\n\"ops\": [\n" % json.dumps(out["tensorflow"]))
        file.write(",\n".join(json.dumps(entry) for entry in made))
        file.write("\n],\n\"programs\": %s\n}\n" % json.dumps(out["programs"], indent=1))


main()
