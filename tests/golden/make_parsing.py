"""Writes parsing.json: TensorFlow 1.15's results of parsing `Example` messages and CSV, and of operations on
tables.

Run with TensorFlow 1.15: `python make_parsing.py`. The tests `parsing` and `tables` of crates/millstream do
the same.

- `examples`: cases of parse_example, parse_single_example, parse_sequence_example and
  parse_single_sequence_example: `serialized` in hexadecimal, `features` (and `lists`), and `outputs` by key:
  [dtype, shape, values], for a sparse tensor three of them; or `error`, the code.
- `csv`: `records` in hexadecimal, `defaults`, `attrs`, `outputs` or `error`.
- `ops`: single ops: `attrs`, `inputs`, `outputs` or `error`: tensors in messages, `Example`s of JSON.
- `nodes`: the name, type and inputs of the nodes of small programs, by the name of the program.
- `tables`: `steps` on tables, each with its result.
"""

import json
import os
import random

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.contrib import lookup  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402
from tensorflow.python.ops import sparse_ops  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"f32": tf.float32, "i64": tf.int64, "str": tf.string, "i32": tf.int32, "f64": tf.float64}
NAMES = {v: k for k, v in DTYPES.items()}


def code(error):
    return {v: k for k, v in vars(tf.errors).items() if isinstance(v, int)}[error.error_code]


def array(value):
    """An array. Strings are objects, since NumPy's own strings lose trailing zeros."""
    return np.array(value, object) if isinstance(value, bytes) else np.asarray(value)


def listed(value):
    value = array(value)
    flat = value.reshape(-1)
    if value.dtype.kind in "OS":
        values = [bytes(v).hex() for v in flat]
    else:
        values = [v.item() for v in flat]
    dtype = {"O": "str", "S": "str"}.get(value.dtype.kind) or {"float32": "f32", "int64": "i64", "int32": "i32", "float64": "f64"}[value.dtype.name]
    return [dtype, list(value.shape), values]


def feature(values):
    if values is None:
        return tf.train.Feature()
    if all(isinstance(v, bytes) for v in values) and values:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if all(isinstance(v, float) for v in values) and values:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def features(values):
    return tf.train.Features(feature={k: feature(v) for k, v in values.items()})


def example(**values):
    return tf.train.Example(features=features(values)).SerializeToString(deterministic=True)


def made(spec):
    """fixed dtype shape default | var dtype | seq dtype shape default | sparse index.. value dtype size"""
    kind = spec[0]
    if kind == "fixed":
        return tf.FixedLenFeature(spec[2], DTYPES[spec[1]], spec[3])
    if kind == "var":
        return tf.VarLenFeature(DTYPES[spec[1]])
    if kind == "seq":
        return tf.FixedLenSequenceFeature(spec[2], DTYPES[spec[1]], allow_missing=spec[3], default_value=spec[4])
    return tf.SparseFeature(spec[1], spec[2], DTYPES[spec[3]], spec[4])


EXAMPLES = []


def outputs(tensors):
    flat = {}
    for key, tensor in tensors.items():
        sparse = isinstance(tensor, tf.SparseTensor)
        flat[key] = [tensor.indices, tensor.values, tensor.dense_shape] if sparse else [tensor]
    return flat


def parse(function, serialized, specs, lists=None, names=None):
    case = {"function": function, "features": specs, "lists": lists, "names": names,
            "serialized": [s.hex() for s in serialized]}
    with tf.Graph().as_default(), tf.Session() as sess:
        try:
            if function == "parse_example":
                got = outputs(tf.parse_example(tf.constant(serialized, tf.string), {k: made(s) for k, s in specs.items()}, example_names=names))
            elif function == "parse_single_example":
                got = outputs(tf.parse_single_example(tf.constant(serialized[0]), {k: made(s) for k, s in specs.items()}))
            elif function == "parse_sequence_example":
                context, steps, lengths = tf.io.parse_sequence_example(
                    tf.constant(serialized, tf.string), {k: made(s) for k, s in (specs or {}).items()} or None, {k: made(s) for k, s in lists.items()} or None, names)
                got = outputs(context)
                got.update(outputs(steps))
                got.update(("length of " + k, [v]) for k, v in lengths.items())
            else:
                context, steps = tf.parse_single_sequence_example(
                    tf.constant(serialized[0]), {k: made(s) for k, s in (specs or {}).items()} or None, {k: made(s) for k, s in lists.items()} or None)
                got = outputs(context)
                got.update(outputs(steps))
            case["outputs"] = {k: [listed(v) for v in vs] for k, vs in sess.run(got).items()}
        except tf.errors.OpError as e:
            case["error"] = code(e)
            case["message"] = e.message.split("\n")[0]
    EXAMPLES.append(case)


def examples():
    a = example(f=[1.0, 2.0], i=[1, 2, 3], s=[b"x", b"\xff\x00"], v=[5.0, 6.0, 7.0, 8.0])
    b = example(f=[3.0, 4.0], i=[], s=[b"y"], v=[9.0, 10.0])
    c = example(f=[5.0, 6.0], n=None)
    all_specs = {"f": ["fixed", "f32", [2], None], "i": ["var", "i64"], "s": ["var", "str"], "v": ["seq", "f32", [2], True, None]}
    for batch in [[a], [a, b], [a, b, c], [c], []]:
        parse("parse_example", batch, all_specs)
    parse("parse_example", [a, b], all_specs, names=["one", "two"])
    parse("parse_example", [a, b, c], {"v": ["seq", "f32", [], True, -1.0], "s": ["seq", "str", [], True, "pad"], "i": ["seq", "i64", [], True, 9]})
    parse("parse_example", [a, c], {"d": ["fixed", "i64", [2], [7, 8]], "e": ["fixed", "str", [], "none"], "g": ["fixed", "f32", [1, 2], [[0.5, 1.5]]]})
    parse("parse_example", [a, b], {"f": ["fixed", "f32", [1, 2], None]})
    for wrong in [{"f": ["fixed", "f32", [3], None]}, {"f": ["fixed", "i64", [2], None]}, {"f": ["var", "str"]}, {"zzz": ["fixed", "f32", [2], None]},
                  {"n": ["fixed", "f32", [2], None]}, {"v": ["seq", "f32", [3], True, None]}, {"s": ["fixed", "str", [], None]}, {"f": ["seq", "i64", [], True, None]}]:
        parse("parse_example", [a, c], wrong)
        parse("parse_single_example", [a], wrong)
    for bad in [b"x", b"\x0a", b"\x0a\xff\xff\xff\xff\x0f", a[:-1], a + b"\x0a\x00", b"\x12\x03abc", a + b[:20]]:
        parse("parse_example", [a, bad], {"f": ["fixed", "f32", [2], [0.0, 0.0]]})
        parse("parse_single_example", [bad], {"f": ["fixed", "f32", [2], [0.0, 0.0]]})
    for one in [a, b, c, b""]:
        parse("parse_single_example", [one], {"f": ["fixed", "f32", [2], [0.0, 1.0]], "i": ["var", "i64"], "s": ["var", "str"], "v": ["seq", "f32", [2], True, None]})
    # Of several entries with one key, the last wins.
    parse("parse_example", [a + b], all_specs)
    # Numbers that are not packed.
    loose = b"\x1a\x04" + b"\x08\x01\x08\x02"
    entry = b"\x0a\x01i\x12" + bytes([len(loose)]) + loose
    parse("parse_example", [b"\x0a" + bytes([len(entry) + 2]) + b"\x0a" + bytes([len(entry)]) + entry], {"i": ["var", "i64"]})
    sparse = [example(ix=[3, 1], val=[1.5, 2.5]), example(ix=[0], val=[4.5]), example()]
    parse("parse_example", sparse, {"sp": ["sparse", "ix", "val", "f32", 10]})
    rng = random.Random(1)
    for _ in range(20):
        batch = []
        for _ in range(rng.randrange(1, 5)):
            values = {}
            if rng.random() < 0.8:
                values["a"] = [rng.random() for _ in range(3)]
            if rng.random() < 0.8:
                values["b"] = [rng.randrange(-2**40, 2**40) for _ in range(rng.randrange(0, 6))]
            if rng.random() < 0.8:
                values["c"] = [bytes([rng.randrange(256)]) * rng.randrange(4) for _ in range(rng.randrange(1, 4))]
            if rng.random() < 0.8:
                values["d"] = [rng.random() for _ in range(2 * rng.randrange(1, 4))]
            batch.append(example(**values))
        specs = {"a": ["fixed", "f32", [3], [0.0, 1.0, 2.0]], "b": ["var", "i64"], "c": ["seq", "str", [], True, "q"], "d": ["seq", "f32", [2], True, None]}
        parse("parse_example", batch, specs)
        parse("parse_single_example", batch[:1], specs)

    def sequence(context, **lists):
        steps = {k: tf.train.FeatureList(feature=[feature(v) for v in vs]) for k, vs in lists.items()}
        return tf.train.SequenceExample(context=features(context), feature_lists=tf.train.FeatureLists(feature_list=steps)).SerializeToString(deterministic=True)

    context = {"c": ["fixed", "f32", [2], [0.0, 1.0]], "x": ["var", "i64"]}
    lists = {"l": ["seq", "i64", [], False, None], "m": ["var", "str"], "n": ["seq", "f32", [2], True, None]}
    a, b, c = sequence({"c": [1.0, 2.0], "x": [4, 5]}, l=[[1], [2], [3]], m=[[b"a", b"b"], [b"c"]], n=[[1.0, 2.0]]), sequence({}, l=[], m=[[b"d"], None, [b"e"] * 3]), sequence({"x": [1]}, l=[[9]])
    for batch in [[a], [a, b], [b, a], [a, b, c], [c], [], [a, sequence({}, m=[[b"a"]])], [sequence({}, l=[[1, 2]])], [a, sequence({}, l=[[1.0]])], [sequence({"c": [1.0]}, l=[[1]])],
                  [sequence({}, l=[[1], None])], [sequence({}, l=[[1]], n=[[1.0, 2.0], [3.0]])], [a, b"x"]]:
        parse("parse_sequence_example", batch, context, lists)
    parse("parse_sequence_example", [a, b], context, lists, names=["one", "two"])
    parse("parse_sequence_example", [a, b], context, {})
    parse("parse_sequence_example", [a, b], {}, {"n": ["seq", "f32", [2, 1], True, None]})
    parse("parse_sequence_example", [a, c], {"zzz": ["fixed", "i64", [], None]}, {})
    for one in [sequence({"c": [1.0, 2.0], "x": [4, 5]}, l=[[1], [2], [3]], m=[[b"a", b"b"], [b"c"]], n=[[1.0, 2.0]]),
                sequence({}, l=[], m=[]), sequence({"x": [1]}, l=[[1]], m=[[b"a"], None, [b"b"]]), sequence({}, m=[[b"a"]]), sequence({}, l=[[1, 2]]),
                sequence({}, l=[[1.0]]), sequence({"c": [1.0]}, l=[[1]]), sequence({}, l=[[1], None]), sequence({}, l=[[1]], n=[[1.0, 2.0], [3.0]]), b"", b"x"]:
        parse("parse_single_sequence_example", [one], context, lists)


CSV = []


def csv(records, defaults, **attrs):
    case = {"records": [r.hex() for r in records], "defaults": defaults, "attrs": attrs}
    with tf.Graph().as_default(), tf.Session() as sess:
        try:
            given = [tf.constant(values, DTYPES[dtype], [len(values)]) for dtype, values in defaults]
            case["outputs"] = [listed(v) for v in sess.run(tf.decode_csv(tf.constant(records, tf.string), given, **attrs))]
        except (tf.errors.OpError, ValueError) as e:
            case["error"] = code(e) if isinstance(e, tf.errors.OpError) else "INVALID_ARGUMENT"
            case["message"] = str(e).split("\n")[0]
    CSV.append(case)


def csvs():
    text = [["str", [""]], ["str", [""]]]
    for record in [b"a,b", b",", b"a,", b",b", b'"a","b"', b'"a,b",c', b'"a""b",c', b'"a\nb",c', b"a\r,b", b"a,b\n", b"\na,b", b"\r\n", b"", b"a", b"a,b,c",
                   b'"a,b', b'"a"b,c', b'a"b,c', b'"",b', b'"a",', b'a,"', b'a,""', b" a , b ", b"\xff,\x00", b'""""', b'"""",b', b"a,\nb"]:
        csv([record], text)
        csv([record], text, use_quote_delim=False)
        csv([record], text, select_cols=[0, 1])
        csv([record], text[:1], select_cols=[1])
    numbers = [["i32", [7]], ["i64", [8]], ["f32", [0.5]], ["f64", []]]
    for record in [b"1,2,3,4", b",,,4", b"1,2,3,", b"x,2,3,4", b"1.5,2,3,4", b"1,9223372036854775808,3,4", b"2147483648,2,3,4", b" 1 , 2 , 3 , 4 ", b"+1,-2,1e3,inf",
                   b"1,2,nan,0x10", b"0x10,2,3,4", b"1,2,1e99,4", b'"1","2","3","4"', b"NA,2,NA,4"]:
        csv([record], numbers)
        csv([record], numbers, na_value="NA")
    csv([b"1 2"], [["i32", []], ["i32", []]], field_delim=" ")
    csv([b"1,2", b"3"], [["i32", []], ["i32", []]])
    csv([], [["i32", []]])
    for cols in [[1, 0], [0, 0], [-1, 1], [0, 5]]:
        csv([b"a,b,c"], text, select_cols=cols)


OPS = []


def call(op, attrs, *inputs, **also):
    """Runs one op: returns `inputs` and `outputs` as lists, or `error`. `as_message`: outputs are `Example`s,
    whose features may come in any order, so they are rewritten in canonical order."""
    case = {"op": op, "attrs": attrs, "inputs": [listed(v) for v in inputs]}
    with tf.Graph().as_default() as g, tf.Session() as sess:
        try:
            op_def = op_def_registry.get_registered_ops()[op]
            named = {arg.name: tf.placeholder_with_default(constant(v), None) for arg, v in zip(op_def.input_arg, inputs)}
            got = getattr(tf.raw_ops, op)(**dict(named, **{k: DTYPES.get(v, v) if isinstance(v, str) else v for k, v in attrs.items()}))
            got = sess.run(list(got) if isinstance(got, tuple) else [got])
            if also.get("as_message"):
                got = [np.array([canonical(tf.train.Example.FromString(m)) for m in v.reshape(-1)], object).reshape(v.shape) for v in got]
            case["outputs"] = [listed(v) for v in got]
        except tf.errors.OpError as e:
            case["error"] = code(e)
            case["message"] = e.message.split("\n")[0]
    OPS.append(case)


def canonical(message):
    """The bytes of an `Example` with its features in the order of their names."""
    out = b""
    for key in sorted(message.features.feature):
        if not message.features.feature[key].WhichOneof("kind"):
            # Empty lists are left out.
            out += b"\n" + varint(len(key) + 2) + b"\n" + varint(len(key)) + key.encode()
            continue
        out += tf.train.Features(feature={key: message.features.feature[key]}).SerializeToString()
    return b"\n" + varint(len(out)) + out if message.HasField("features") else b""


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def run_op(op, **inputs):
    """The result of an op."""
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(getattr(tf.raw_ops, op)(**{k: constant(v) for k, v in inputs.items()}))


def constant(value):
    """A constant; empty arrays of objects are strings."""
    value = array(value)
    return tf.zeros(value.shape, tf.string) if value.dtype.kind == "O" and not value.size else tf.constant(value)


def tensors():
    """Tensors and sparse tensors as messages."""
    texts = np.array([b"ab", b"", b"c" * 200], object)
    for v, dtype in [(np.float32(1.5), "f32"), (np.int32([1, 2]), "i32"), (texts, "str"), (np.array(b"x\0", object), "str"), (np.zeros((0, 3), np.float32), "f32"),
                     (np.float64([[1, 2], [3, 2.5]]), "f64"), (np.int64(-5), "i64"), (np.zeros((0,), object), "str")]:
        call("SerializeTensor", {}, v)
        call("ParseTensor", {"out_type": dtype}, run_op("SerializeTensor", tensor=v))
        call("ParseTensor", {"out_type": dtype}, tf.make_tensor_proto(v, dtype=DTYPES[dtype]).SerializeToString())
    for message, dtype in [(b"xyz", "f32"), (b"", "f32"), (run_op("SerializeTensor", tensor=np.float32(1.5)), "i32")]:
        call("ParseTensor", {"out_type": dtype}, message)
    call("ParseTensor", {"out_type": "f32"}, np.array([run_op("SerializeTensor", tensor=np.float32(1.5))], object))
    proto = tf.make_tensor_proto(np.float32([1, 2, 3]))
    for content, values in [(b"", []), (b"", [1, 2]), (b"", [1, 2, 3]), (b"abcd", []), (b"abcd" * 3, [])]:
        proto.tensor_content = content
        del proto.float_val[:]
        proto.float_val.extend(values)
        call("ParseTensor", {"out_type": "f32"}, proto.SerializeToString())
    at, shape = np.int64([[0, 1], [2, 0]]), np.int64([3, 3])
    cube = np.int64([[0, 1, 2], [1, 0, 0], [1, 1, 3]]), np.int32([7, 8, 9]), np.int64([2, 2, 4])
    none = np.zeros((0, 2), np.int64), np.zeros(0, np.float32), shape
    for sparse in [(at, np.float32([1, 2]), shape), (at, texts[:2], shape), (at, texts[1:], shape), cube, none]:
        dtype = listed(sparse[1])[0]
        call("SerializeSparse", {}, *sparse)
        call("SerializeManySparse", {}, *sparse)
        one, many = [run_op(op, sparse_indices=sparse[0], sparse_values=sparse[1], sparse_shape=sparse[2]) for op in ("SerializeSparse", "SerializeManySparse")]
        for serialized in [one, one[None], many, np.array([one, one]), np.array([[one, one, one], [one, one, one]])]:
            call("DeserializeSparse", {"dtype": dtype}, serialized)
            if serialized.ndim == 2:
                call("DeserializeManySparse", {"dtype": dtype}, serialized)
    call("SerializeManySparse", {}, at, np.float32([1, 2]), np.int64([2, 3]))
    call("SerializeManySparse", {}, np.int64([[0], [1]]), np.float32([1, 2]), np.int64([3]))
    sparse = lambda i, v, s: run_op("SerializeSparse", sparse_indices=np.int64(i), sparse_values=np.float32(v), sparse_shape=np.int64(s))  # noqa: E731
    square, row, long = sparse([[0, 1], [2, 0]], [1.0, 2.0], [3, 3]), sparse([[1]], [1.0], [5]), sparse([[1, 0]], [4.0], [5, 1])
    for serialized, dtype in [(np.array([square, row]), "f32"), (square[None], "i32"), (np.array([square, long]), "f32"), (np.array([[b"x", b"y", b"z"]], object), "f32"),
                              (np.zeros((0, 3), object), "f32"), (np.array([[b"", b""]], object), "f32")]:  # Parts in another order crash TensorFlow's process.
        call("DeserializeSparse", {"dtype": dtype}, serialized)
        call("DeserializeManySparse", {"dtype": dtype}, serialized)


def json_examples():
    """`Example`s in JSON. Text that is not UTF-8 crashes TensorFlow's process."""
    def features(**kinds):
        return json.dumps({"features": {"feature": {k: {kind: {"value": v}} for k, (kind, v) in kinds.items()}}}).encode()

    for text in [b"{}", features(a=("int64List", [1, "-2", 3]), b=("bytesList", ["YWI=", "", "_-8"]), c=("floatList", [1.5, "NaN", "Infinity", 3])),
                 features(a=("int64_list", ["9223372036854775807"])), features(a=("floatList", [])), b'{"features": null}', b'{"features": {"feature": {"a": {}}}}', b" {\n} ",
                 features(a=("int64List", [1.5])), features(a=("int64List", ["x"])), features(a=("bytesList", ["*"])), features(a=("int64List", ["9223372036854775808"])),
                 b"", b"{", b"[]", b"1", b'{"feature": {}}', b'{"features": 1}', b"{} {}", b'{"features": {"feature": {"\xc3\xa9": {"int64List": {"value": [1]}}}}}',
                 features(a=("floatList", [1e39])), features(a=("int64List", [True])), features(a=("int64List", [2.0]))]:
        call("DecodeJSONExample", {}, np.array([text], object), as_message=True)
    call("DecodeJSONExample", {}, np.array([[b"{}"], [features(x=("int64List", [7]))]], object), as_message=True)
    call("DecodeJSONExample", {}, np.array([b"{}", b"x"], object))


def nodes(build):
    with tf.Graph().as_default() as graph:
        build()
        return [[op.name, op.type, [i.name for i in op.inputs]] for op in graph.get_operations()]


def programs():
    specs = {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.VarLenFeature(tf.int64), "c": tf.FixedLenFeature([], tf.string, "x"),
             "d": tf.FixedLenSequenceFeature([3], tf.float32, True), "e2": tf.FixedLenSequenceFeature([], tf.string, True, "q")}
    steps = {"l": tf.FixedLenSequenceFeature([], tf.int64), "m": tf.VarLenFeature(tf.string), "n": tf.FixedLenSequenceFeature([2], tf.float32, True)}
    context = {k: specs[k] for k in "abc"}
    words = ["a", "b"]

    def sparse():
        return tf.SparseTensor(tf.placeholder(tf.int64, [None, 2], name="i"), tf.placeholder(tf.float32, [None], name="v"), tf.placeholder(tf.int64, [2], name="d"))

    return {
        "parse_example": nodes(lambda: tf.parse_example(tf.placeholder(tf.string, [None], name="s"), specs)),
        "parse_single_example": nodes(lambda: tf.parse_single_example(tf.placeholder(tf.string, [], name="s"), specs)),
        "parse_single_sequence_example": nodes(lambda: tf.parse_single_sequence_example(tf.placeholder(tf.string, [], name="s"), context, steps)),
        "parse_sequence_example": nodes(lambda: tf.io.parse_sequence_example(tf.placeholder(tf.string, [None], name="s"), context, steps)),
        "decode_csv": nodes(lambda: tf.decode_csv(tf.placeholder(tf.string, [None], name="s"), ["x", 0.5, 7], field_delim=";", select_cols=[0, 2, 3])),
        "sparse": nodes(lambda: [tf.io.deserialize_many_sparse(tf.serialize_many_sparse(sparse()), tf.float32, 2), sparse_ops.deserialize_sparse(tf.serialize_sparse(sparse()), tf.float32)]),
        "index_file": nodes(lambda: [lookup.index_table_from_file("V", num_oov_buckets=2, vocab_size=3).lookup(tf.constant(["a"])), tf.tables_initializer()]),
        "index_file_alone": nodes(lambda: lookup.index_table_from_file("V").lookup(tf.constant(["a"]))),
        "index_tensor": nodes(lambda: lookup.index_table_from_tensor(words, num_oov_buckets=1).lookup(tf.constant(["a"]))),
        "string_file": nodes(lambda: lookup.index_to_string_table_from_file("V", default_value="U").lookup(tf.constant([1], tf.int64))),
        "string_tensor": nodes(lambda: lookup.index_to_string_table_from_tensor(words, default_value="U").lookup(tf.constant([1], tf.int64))),
        "dense_table": nodes(lambda: (lambda k, t: [t.lookup(k), t.insert(k, tf.constant([1], tf.int64)), t.remove(k), t.size(), t.export()])(
            tf.constant(["a"]), lookup.MutableDenseHashTable(tf.string, tf.int64, -1, "", "-", checkpoint=False))),
        "hash_table": nodes(lambda: (lambda t: [t.lookup(tf.constant(["a"])), t.size(), t.export()])(
            lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [1.0]), -1.0))),
    }


TABLES = []


def tables():
    def run(name, op, **args):
        with tf.Graph().as_default(), tf.Session() as sess:
            steps = []
            keys = {k: tf.constant(v) for k, v in args.items() if k.endswith("_key")}
            handle = getattr(tf.raw_ops, op)(shared_name="t", **dict(args, **keys))
            for step in STEPS[name]:
                try:
                    steps.append([step[0], step[1:], apply(sess, handle, step)])
                except tf.errors.OpError as e:
                    steps.append([step[0], step[1:], {"error": code(e), "message": e.message.split("\n")[0]}])
            TABLES.append({"name": name, "op": op, "steps": steps, "keys": [args[k] for k in ("empty_key", "deleted_key") if k in args]})

    def apply(sess, handle, step):
        word, rest = step[0], [tf.constant(v[1], DTYPES[v[0]]) if isinstance(v, (list, tuple)) else v for v in step[1:]]
        raw = tf.raw_ops
        if word == "find":
            return listed(sess.run(raw.LookupTableFindV2(table_handle=handle, keys=rest[0], default_value=rest[1])))
        if word == "size":
            return int(sess.run(raw.LookupTableSizeV2(table_handle=handle)))
        if word == "export":
            keys, values = sess.run(raw.LookupTableExportV2(table_handle=handle, Tkeys=DTYPES[step[1]], Tvalues=DTYPES[step[2]]))
            order = np.argsort(keys, kind="stable")
            return [listed(keys[order]), listed(values[order])]
        if word == "remove":
            return sess.run(raw.LookupTableRemoveV2(table_handle=handle, keys=rest[0]))
        op = {"init": raw.InitializeTableV2, "insert": raw.LookupTableInsertV2, "import": raw.LookupTableImportV2}[word]
        return sess.run(op(table_handle=handle, keys=rest[0], values=rest[1]))

    sk, iv = ("str", ["a", "b"]), ("i64", [1, 2])
    find = ("find", ("str", ["b", "z", "a"]), ("i64", -1))
    STEPS = {
        "fixed": [find, ("size",), ("export", "str", "i64"), ("init", sk, iv), find, ("size",), ("export", "str", "i64"), ("init", sk, iv), ("init", ("str", ["q"]), ("i64", [3])),
                  ("insert", sk, iv), ("remove", sk), ("import", sk, iv), ("find", ("str", [["b"], ["z"]]), ("i64", 0)), ("find", ("i64", [1]), ("i64", 0)),
                  ("find", ("str", ["a"]), ("i64", [0])), ("find", ("str", "a"), ("i64", 0))],
        "twice": [("init", ("str", ["a", "a"]), ("i64", [1, 2])), ("size",), ("init", ("str", ["a", "a"]), ("i64", [1, 1])), ("size",)],
        "imported": [("import", sk, iv), find, ("init", sk, iv)],
        "mutable": [find, ("size",), ("insert", sk, iv), find, ("insert", ("str", ["b", "c"]), ("i64", [5, 6])), ("export", "str", "i64"), ("remove", ("str", ["b", "y"])), find,
                    ("size",), ("import", ("str", ["q"]), ("i64", [9])), ("export", "str", "i64"), ("insert", ("str", ["a"]), ("i64", [1, 2])), ("init", sk, iv),
                    ("insert", ("str", [["k"], ["l"]]), ("i64", [[1], [2]])), ("size",)],
    }
    run("fixed", "HashTableV2", key_dtype=tf.string, value_dtype=tf.int64)
    run("twice", "HashTableV2", key_dtype=tf.string, value_dtype=tf.int64)
    run("imported", "HashTableV2", key_dtype=tf.string, value_dtype=tf.int64)
    run("mutable", "MutableHashTableV2", key_dtype=tf.string, value_dtype=tf.int64)
    # Values of another shape, and importing, crash TensorFlow's process. It also exports empty buckets.
    STEPS["dense"] = [find, ("size",), ("insert", sk, iv), find, ("insert", ("str", ["b", "c"]), ("i64", [5, 6])), ("remove", ("str", ["b", "y"])), find, ("size",),
                      ("find", ("str", ["", "a"]), ("i64", 0)), ("insert", ("str", ["-"]), ("i64", [1])), ("remove", ("str", [""])), ("size",), ("insert", ("str", ["b"]), ("i64", [7])), find]
    run("dense", "MutableDenseHashTableV2", empty_key="", deleted_key="-", value_dtype=tf.int64)


FILES = []


def vocabulary_files():
    path = "/tmp/vocabulary"
    for content, key, value, attrs in [
        (b"a\nb\nc\n", ("str", -2), ("i64", -1), {}), (b"a\nb\nc", ("i64", -1), ("str", -2), {}), (b"a\nb\nc\n", ("str", -2), ("i64", -1), {"vocab_size": 2}),
        (b"a\nb\n", ("str", -2), ("i64", -1), {"vocab_size": 5}), (b"a\n\nb\n", ("str", -2), ("i64", -1), {}), (b"a\na\n", ("str", -2), ("i64", -1), {}),
        (b"", ("str", -2), ("i64", -1), {}), (b"a\t1\nb\t2\n", ("str", 0), ("i64", 1), {}), (b"a 1\nb 2\n", ("str", 0), ("i64", 1), {"delimiter": " "}),
        (b"a\tx\n", ("str", 0), ("i64", 1), {}), (b"a\n", ("str", 0), ("i64", 1), {}), (b"1\t0.5\n2\t1.5\n", ("i64", 0), ("f32", 1), {}),
        (b"a\r\nb\r\n", ("str", -2), ("i64", -1), {}), (b"a\tb\tc\n", ("str", 2), ("str", 0), {}),
    ]:
        with open(path, "wb") as f:
            f.write(content)
        case = {"content": content.hex(), "key": key, "value": value, "attrs": attrs}
        with tf.Graph().as_default(), tf.Session() as sess:
            try:
                handle = tf.raw_ops.HashTableV2(key_dtype=DTYPES[key[0]], value_dtype=DTYPES[value[0]])
                sess.run(tf.raw_ops.InitializeTableFromTextFileV2(table_handle=handle, filename=path, key_index=key[1], value_index=value[1], **attrs))
                keys, values = sess.run(tf.raw_ops.LookupTableExportV2(table_handle=handle, Tkeys=DTYPES[key[0]], Tvalues=DTYPES[value[0]]))
                order = np.argsort(keys, kind="stable")
                case["outputs"] = [listed(keys[order]), listed(values[order])]
            except tf.errors.OpError as e:
                case["error"] = code(e)
                case["message"] = e.message.split("\n")[0]
        FILES.append(case)


def main():
    examples()
    csvs()
    tensors()
    json_examples()
    tables()
    vocabulary_files()
    parts = {"examples": EXAMPLES, "csv": CSV, "ops": OPS, "tables": TABLES, "files": FILES}
    with open(os.path.join(HERE, "parsing.json"), "w") as f:
        f.write('{"nodes": %s' % json.dumps(programs(), sort_keys=True))
        for name, cases in parts.items():
            lines = ",\n".join(json.dumps(c, sort_keys=True) for c in cases)
            f.write(',\n"%s": [\n%s\n]' % (name, lines))
        f.write("}\n")


if __name__ == "__main__":
    main()
