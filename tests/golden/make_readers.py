"""Writes readers.json: the results of TensorFlow 1.15's readers for small files, intact and damaged.

Run with TensorFlow 1.15: `python make_readers.py`. The test `readers` of crates/millstream writes the same
files and does the same.

- `files`: contents by name, in hexadecimal. A name that ends in `/` is a folder.
- `nodes`: the name, type and inputs of the nodes of readers and their methods.
- `cases`: `op`, its `attrs`, the `names` that are enqueued before the queue is closed, and `steps`, each with
  its result: `read` returns key and value, `read N` (read_up_to) lists of both, `produced` and `finished` a
  number, `state` bytes in hexadecimal, `restore HEX` and `reset` nothing. An error is its code. DIR is the
  folder of the files.
"""

import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))
DIR = tempfile.mkdtemp()


def records(values, compression=""):
    path = os.path.join(DIR, "scratch")
    with tf.python_io.TFRecordWriter(path, compression) as writer:
        for value in values:
            writer.write(value)
    with open(path, "rb") as f:
        return f.read()


def changed(data, at, by=1):
    return data[:at] + bytes([data[at] ^ by]) + data[at + 1:]


PLAIN = records([b"one", b"", b"three" * 5])
GZIP = records([b"one", b"", b"three" * 5], "GZIP")
ZLIB = records([b"one", b"", b"three" * 5], "ZLIB")
FILES = {
    "lines": b"first\nsecond\n\nlast",
    "ended": b"first\nsecond\n",
    "windows": b"first\r\nse\rcond\r\n\r\nlast\r",
    "bytes": b"\xff\xfe\n\x00\n",
    "empty": b"",
    "one_line": b"only",
    "newline": b"\n",
    "fixed": b"HEADabcdefghijFT",
    "plain": PLAIN,
    "gzip": GZIP,
    "zlib": ZLIB,
    "two_gzips": GZIP + records([b"more"], "GZIP"),
    "cut": PLAIN[:-3],
    "cut_header": PLAIN[:-30],
    "cut_gzip": GZIP[:-12],
    "cut_zlib": ZLIB[:-6],
    "bad_length": changed(PLAIN, 19),
    "bad_length_sum": changed(PLAIN, 19 + 9),
    "bad_data": changed(PLAIN, 13),
    "huge": b"\xff" * 7 + b"\x7f" + b"\x01\x02\x03\x04" + b"abc",
    "folder/": b"",
}
CASES = []


def code(error):
    return {v: k for k, v in vars(tf.errors).items() if isinstance(v, int)}[error.error_code]


def text(value):
    return value.hex().replace(DIR.encode().hex(), b"DIR".hex())


def case(op, names, steps, **attrs):
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(100, tf.string, shapes=[[]])
        reader = getattr(tf, op)(**attrs)
        key, value = reader.read(queue)
        count = tf.placeholder(tf.int64, [])
        keys, values = reader.read_up_to(queue, count)
        state = tf.placeholder(tf.string, [])
        restore, reset = reader.restore_state(state), reader.reset()
        produced, finished = reader.num_records_produced(), reader.num_work_units_completed()
        serialized = reader.serialize_state()
        for name in names:
            sess.run(queue.enqueue([name.replace("DIR", DIR)]))
        sess.run(queue.close())
        done = []
        for step in steps:
            word = step.split()
            try:
                if step == "read":
                    got = [text(v) for v in sess.run([key, value])]
                elif word[0] == "read":
                    got = [[text(v) for v in vs] for vs in sess.run([keys, values], {count: int(word[1])})]
                elif word[0] == "restore":
                    sess.run(restore, {state: bytes.fromhex(word[1] if len(word) > 1 else "")})
                    got = None
                elif step == "reset":
                    sess.run(reset)
                    got = None
                elif step == "state":
                    got = text(sess.run(serialized))
                else:
                    got = int(sess.run({"produced": produced, "finished": finished}[step]))
            except tf.errors.OpError as e:
                got = {"error": code(e), "message": e.message.split("\n")[0].replace(DIR, "DIR")}
            done.append([step, got])
        CASES.append({"op": op, "attrs": attrs, "names": names, "steps": done})


def of(name):
    return "DIR/" + name


def main():
    for name, content in FILES.items():
        path = os.path.join(DIR, name)
        if name.endswith("/"):
            os.mkdir(path)
        else:
            with open(path, "wb") as f:
                f.write(content)
    read = ["read"] * 6
    counts = ["produced", "finished"]
    for name in ["lines", "ended", "windows", "bytes", "empty", "one_line", "newline", "nowhere", "folder"]:
        case("TextLineReader", [of(name), of("one_line")], read + counts)
    for skip in [1, 2, 3, 4, 9]:
        case("TextLineReader", [of("lines"), of("ended")], read + counts, skip_header_lines=skip)
    case("TextLineReader", [of("lines"), of("empty"), of("ended")], ["read 3", "read 3", "read 1", "read 9", "read 2"] + counts)
    case("TextLineReader", [of("lines"), of("ended")], ["read", "reset", "read", "read", "produced", "finished", "reset"] + counts)
    case("TextLineReader", [of("lines"), of("nowhere"), of("ended")], ["read 9", "read 9", "read 9", "read 9"] + counts)
    case("TextLineReader", [of("lines")], ["read 0", "read", "state", "restore 08011001", "restore"])
    for name in ["lines", "empty", "nowhere", "folder"]:
        case("WholeFileReader", [of(name), of("one_line")], ["read"] * 3 + counts)
    case("WholeFileReader", [of("lines"), of("empty")], ["read 5", "read 5", "read 5", "state", "restore"] + counts)
    case("IdentityReader", ["a", "b", "c"], ["state", "read", "state"] + counts + ["read 5", "read", "read", "state"] + counts)
    for restored in ["", "0801100118012201 61".replace(" ", ""), "08021001", "08011002", "08ffffffffffffffffff01", "ff", "080210021803"]:
        case("IdentityReader", ["a", "b"], ["restore " + restored, "state"] + counts + ["read", "state"] + counts)
    fixed = [dict(record_bytes=3), dict(record_bytes=5, header_bytes=4, footer_bytes=2), dict(record_bytes=5, header_bytes=4),
             dict(record_bytes=3, header_bytes=4, footer_bytes=2, hop_bytes=2), dict(record_bytes=2, header_bytes=4, footer_bytes=2, hop_bytes=4),
             dict(record_bytes=20), dict(record_bytes=1, header_bytes=30), dict(record_bytes=2, footer_bytes=13), dict(record_bytes=10, header_bytes=4, footer_bytes=2)]
    for attrs in fixed:
        case("FixedLengthRecordReader", [of("fixed"), of("one_line"), of("empty")], ["read"] * 8 + counts, **attrs)
        case("FixedLengthRecordReader", [of("gzip"), of("empty")], ["read", "read 99", "read 99"] + counts, encoding="GZIP", **attrs)
        case("FixedLengthRecordReader", [of("zlib")], ["read", "read 99", "read 99"] + counts, encoding="ZLIB", **attrs)
    case("FixedLengthRecordReader", [of("nowhere"), of("folder"), of("fixed")], ["read"] * 4, record_bytes=4)
    case("FixedLengthRecordReader", [of("lines"), of("fixed")], ["read"] * 4, record_bytes=4, encoding="GZIP")
    for name in ["plain", "empty", "cut", "cut_header", "bad_length", "bad_length_sum", "bad_data", "huge", "nowhere", "folder", "lines"]:
        case("TFRecordReader", [of(name), of("plain")], read + ["reset", "read"] + counts)
        case("TFRecordReader", [of(name), of("plain")], ["read 9", "read 9", "read 9"] + counts)
    for name in ["gzip", "two_gzips", "cut_gzip", "empty", "plain"]:
        case("TFRecordReader", [of(name), of("gzip")], read + counts, options="GZIP")
    for name in ["zlib", "cut_zlib", "empty", "gzip"]:
        case("TFRecordReader", [of(name), of("zlib")], read + counts, options="ZLIB")
    def names(graph):
        return [[op.name, op.type, [i.name for i in op.inputs]] for op in graph.get_operations()]

    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
        for reader in [tf.TextLineReader(skip_header_lines=1), tf.WholeFileReader(), tf.FixedLengthRecordReader(4), tf.TFRecordReader(), tf.IdentityReader()]:
            reader.read(queue)
            reader.read_up_to(queue, 3)
        reader.num_records_produced()
        reader.num_work_units_completed()
        reader.restore_state(reader.serialize_state())
        reader.reset()
        listed = names(graph)
    with open(os.path.join(HERE, "readers.json"), "w") as f:
        files = {name: content.hex() for name, content in sorted(FILES.items())}
        cases = ",\n".join(json.dumps(c, sort_keys=True) for c in CASES)
        f.write('{"files": %s,\n"nodes": %s,\n"cases": [\n%s\n]}\n' % (json.dumps(files, indent=1), json.dumps(listed), cases))


if __name__ == "__main__":
    main()
