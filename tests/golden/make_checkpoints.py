"""Writes checkpoints/: small checkpoints of TensorFlow's formats, and lists of their contents.

Run with TensorFlow 1.15: `python make_checkpoints.py`. `CASE.txt` lists the tensors of the checkpoint `CASE`,
one a line:

    name dtype[shape] bytes in hexadecimal

(for strings, the bytes of each string, separated by commas; `-` for none). The tests of crates/checkpoint
read the checkpoints and compare. They also write the same tensors to `target/tmp/checkpoints`.

`python make_checkpoints.py --check DIRECTORY` reads all checkpoints in a directory with the installed
TensorFlow (1.15 or 2.x) and compares them with the `.txt` files beside them. It is meant for those that the
tests wrote.
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "checkpoints")
SHORT = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool", "complex64": "c64",
    "complex128": "c128", "string": "str",
}


def line(name, dtype, value):
    value = np.asarray(value)
    head = "%s %s[%s] " % (name, SHORT[dtype.name], ",".join(str(d) for d in value.shape))
    if dtype == tf.string:
        flat = [v if isinstance(v, bytes) else v.encode() for v in value.reshape(-1).tolist()]
        return head + (",".join(v.hex() or "-" for v in flat) or "-")
    return head + (np.ascontiguousarray(value).tobytes().hex() or "-")


def tensors():
    rng = np.random.RandomState(7)
    bf16 = tf.bfloat16.as_numpy_dtype
    return {
        "a/scalar": (tf.float32, np.float32(1.5)),
        "a/matrix": (tf.float32, rng.randn(3, 4).astype(np.float32)),
        "a/empty": (tf.float32, np.zeros([0, 3], np.float32)),
        "b/half": (tf.float16, rng.randn(5).astype(np.float16)),
        "b/bfloat": (tf.bfloat16, rng.randn(2, 3).astype(bf16)),
        "b/double": (tf.float64, rng.randn(2, 2)),
        "c/i8": (tf.int8, np.array([-128, 0, 127], np.int8)),
        "c/i16": (tf.int16, np.array([[-300], [300]], np.int16)),
        "c/i32": (tf.int32, np.arange(6, dtype=np.int32).reshape(1, 2, 3)),
        "c/i64": (tf.int64, np.array(1 << 40, np.int64)),
        "c/u8": (tf.uint8, np.array([0, 255], np.uint8)),
        "c/u16": (tf.uint16, np.array([65535], np.uint16)),
        "c/bool": (tf.bool, np.array([True, False, True])),
        "d/c64": (tf.complex64, np.array([1 + 2j, -3j], np.complex64)),
        "d/c128": (tf.complex128, np.array([1 - 2j], np.complex128)),
        "e/str": (tf.string, np.array([b"", b"one", b"\x00\xff", b"x" * 200], object)),
        "e/text": (tf.string, np.array(b"scalar", object)),
        "e/none": (tf.string, np.zeros([0], object)),
        "\u00e9t\u00e9": (tf.float32, np.float32([2])),
    }


def save(sess, prefix, entries):
    names, slices, values = zip(*entries)
    sess.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(names), shape_and_slices=list(slices), tensors=list(values)))


def write_case(case, listed):
    with open(os.path.join(OUT, case + ".txt"), "w", encoding="utf-8") as f:
        f.writelines(line(*entry) + "\n" for entry in sorted(listed))


def constant(dtype, value):
    return tf.constant(value, dtype=dtype)


def main():
    tf.disable_eager_execution()
    os.makedirs(OUT, exist_ok=True)
    with tf.Session() as sess:
        all_of = tensors()
        save(sess, os.path.join(OUT, "all"), [(n, "", constant(*tv)) for n, tv in all_of.items()])
        write_case("all", [(n, d, v) for n, (d, v) in all_of.items()])

        # Parts of tensors: rows, columns, parts of a vector. TensorFlow also writes parts of strings, but
        # cannot read them.
        rows = np.arange(80, dtype=np.float32).reshape(8, 10)
        text = np.array([["a%d%d" % (i, j) for j in range(3)] for i in range(4)], object)
        parts = [
            ("rows", "8 10 0,5:-", constant(tf.float32, rows[:5])), ("rows", "8 10 5,3:-", constant(tf.float32, rows[5:])),
            ("columns", "8 10 -:0,7", constant(tf.float32, rows[:, :7])),
            ("columns", "8 10 -:7,3", constant(tf.float32, rows[:, 7:])),
            ("whole", "8 10 -:-", constant(tf.float32, rows)),
        ]
        big = np.arange(300, dtype=np.int32)
        parts += [("big", "300 0,100", constant(tf.int32, big[:100])), ("big", "300 100,200", constant(tf.int32, big[100:]))]
        save(sess, os.path.join(OUT, "parts"), parts)
        listed = [("rows", tf.float32, rows), ("columns", tf.float32, rows), ("whole", tf.float32, rows),
                  ("big", tf.int32, big)]
        write_case("parts", listed)

        # Two data files, with a tensor that has a part in each.
        shards = [os.path.join(OUT, "tmp-%d" % i) for i in range(2)]
        save(sess, shards[0], [("x", "", constant(tf.float32, rows)), ("cut", "300 0,100", constant(tf.int32, big[:100]))])
        save(sess, shards[1], [("y", "", constant(tf.string, text)), ("cut", "300 100,200", constant(tf.int32, big[100:]))])
        sess.run(tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=shards, destination_prefix=os.path.join(OUT, "shards"), delete_old_dirs=False))
        write_case("shards", [("x", tf.float32, rows), ("y", tf.string, text), ("cut", tf.int32, big)])

        # Many names that share prefixes.
        many = {"tower_%02d/layer_%d/weights/Adam" % (i // 10, i % 10): (tf.float32, np.float32([i])) for i in range(300)}
        save(sess, os.path.join(OUT, "many"), [(n, "", constant(*tv)) for n, tv in many.items()])
        write_case("many", [(n, d, v) for n, (d, v) in many.items()])

        # The first format, which knows fewer dtypes. It takes parts, too.
        old = {n: tv for n, tv in all_of.items() if tv[0] not in (tf.bfloat16, tf.uint16)}
        old_parts = [(n, "", constant(*tv)) for n, tv in old.items()] + parts[:4]
        names, slices, values = zip(*old_parts)
        sess.run(tf.raw_ops.SaveSlices(filename=os.path.join(OUT, "old"), tensor_names=list(names), shapes_and_slices=list(slices), data=list(values)))
        write_case("old", [(n, d, v) for n, (d, v) in old.items()] + [("rows", tf.float32, rows), ("columns", tf.float32, rows)])
    for name in os.listdir(OUT):
        if name.startswith("tmp-"):
            os.remove(os.path.join(OUT, name))


def check(directory):
    failures = 0
    for name in sorted(os.listdir(directory)):
        if not name.endswith(".txt"):
            continue
        prefix = os.path.join(directory, name[:-4])
        reader = tf.train.load_checkpoint(prefix)
        dtypes, shapes = reader.get_variable_to_dtype_map(), reader.get_variable_to_shape_map()
        with open(os.path.join(directory, name), encoding="utf-8") as f:
            want = [w.rstrip("\n") for w in f]
        got = [line(n, dtypes[n], read(reader, prefix, n, dtypes[n]).reshape(shapes[n])) for n in shapes]
        same = sorted(got) == sorted(want)
        print(name[:-4], "agrees" if same else "DIFFERS", "(%d tensors)" % len(got))
        failures += not same
        for w in sorted(set(want) ^ set(got)) if not same else []:
            print("   ", w[:150])
    return failures


def read(reader, prefix, name, dtype):
    # The reader of 1.15 cannot return bfloat16; the op can.
    with tf.Graph().as_default(), tf.Session() as sess:
        return np.asarray(sess.run(tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=[name], shape_and_slices=[""], dtypes=[dtype])[0]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.exit(check(sys.argv[2]))
    main()
