"""Writes inputs.json: what TensorFlow 1.15 makes of producers and batches, and what comes out of them.

Run with a TensorFlow 1.15: `python make_inputs.py`. The test `inputs` of crates/millstream builds the same and compares. A case has

    nodes      `name op input,input ^control attr=value`, in the order in which the nodes were made, with the attributes of queues and maps
    runners    the collection of queue runners: queue, enqueue operations, close operation, cancel operation
    locals     the names of the local variables
    summaries  the names of the summaries
    shapes     the static shapes of what is fetched
    batches    what each run gave, until the end of the input, as NumPy arrays in nested lists
    end        the status code with which it ended, null where it was not run to its end

Whatever is run is run with one thread at each queue, so that the order is certain.
"""

import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {}
ATTRS = ["capacity", "component_types", "shapes", "shared_name", "min_after_dequeue", "seed", "seed2", "limit", "cancel_pending_enqueues"]


def case(build):
    CASES[build.__name__] = build
    return build


def text(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tf.TensorShape):
        return "[..]" if value.ndims is None else "[%s]" % ",".join("?" if d is None else str(d) for d in value.as_list())
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, list):
        return "{%s}" % ",".join(text(v) for v in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def node(op):
    line = [op.name, op.type, ",".join(t.name for t in op.inputs) or "-"]
    line += sorted("^" + c.name for c in op.control_inputs)
    if "Queue" in op.type or "Map" in op.type or op.type in ("RandomShuffle", "CountUpTo"):
        for name in ATTRS:
            if name in op.node_def.attr:
                value = op.node_def.attr[name]
                if name == "shapes":
                    value = [tf.TensorShape(s) for s in value.list.shape]
                else:
                    value = op.get_attr(name)
                line.append("%s=%s" % (name, text(value)))
    return " ".join(line)


def plain(value):
    if isinstance(value, tf.SparseTensorValue):
        return {"indices": plain(value.indices), "values": plain(value.values), "dense_shape": plain(value.dense_shape)}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.decode() if isinstance(value, bytes) else plain(np.asarray(value).tolist()) if hasattr(value, "dtype") else value


def flat(fetched):
    if isinstance(fetched, dict):
        return [fetched[k] for k in sorted(fetched)]
    if isinstance(fetched, (list, tuple)) and not isinstance(fetched, (tf.SparseTensor, tf.SparseTensorValue)):
        return list(fetched)
    return [fetched]


def shapes(value):
    if isinstance(value, tf.SparseTensor):
        return [text(t.shape) for t in (value.indices, value.values, value.dense_shape)]
    return text(value.shape)


def main():
    out = {}
    for name, build in CASES.items():
        with tf.Graph().as_default() as graph:
            fetched = flat(build())
            entry = {
                "nodes": [node(op) for op in graph.get_operations()],
                "runners": [[r.queue.name, [op.name for op in r.enqueue_ops], r.close_op.name, r.cancel_op.name]
                            for r in graph.get_collection("queue_runners")],
                "locals": [v.op.name for v in tf.local_variables()],
                "summaries": [t.name for t in graph.get_collection("summaries")],
            }
            # A producer that nothing cancels would be waited for.
            ran = not any(op.type == "Placeholder" for op in graph.get_operations()) and name != "input_cancelled_by"
            fetched = [f.dequeue() if isinstance(f, tf.QueueBase) else f for f in fetched]
            entry["shapes"] = [shapes(f) for f in fetched]
            if ran:
                with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)) as sess:
                    sess.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
                    coord = tf.train.Coordinator()
                    threads = tf.train.start_queue_runners(sess, coord)
                    batches, end = [], None
                    try:
                        while len(batches) < 20:
                            batches.append([plain(v) for v in sess.run(fetched)])
                    except tf.errors.OpError as e:
                        end = e.error_code
                    coord.request_stop()
                    try:
                        coord.join(threads, stop_grace_period_secs=10)
                    except tf.errors.OpError:
                        pass
                    entry["batches"], entry["end"] = batches, end
            out[name] = entry
    with open(os.path.join(HERE, "inputs.json"), "w") as f:
        json.dump(out, f, indent=0, sort_keys=True)
        f.write("\n")


def counter(limit, name="counter"):
    """0, 1, .. as int64: one each run, in order."""
    with tf.name_scope(name):
        v = tf.Variable(tf.constant(0, tf.int64, name="initial_value"), name="v", trainable=False, use_resource=False, collections=["local_variables"])
        return v.count_up_to(limit)


@case
def input_rows():
    return tf.train.input_producer(tf.constant([[1, 2], [3, 4], [5, 6]]), num_epochs=2, shuffle=False)


@case
def input_named():
    return tf.train.input_producer([1.0, 2.0], shuffle=False, name="rows", capacity=3, shared_name="shared", num_epochs=1)


@case
def input_shuffled():
    tf.set_random_seed(4)
    return tf.train.input_producer([1, 2, 3, 4, 5, 6, 7], num_epochs=2, seed=3)


@case
def input_of_unknown_rows():
    x = tf.placeholder(tf.float32, [None, None], name="x")
    return tf.train.input_producer(x, element_shape=[3], shuffle=False)


@case
def input_cancelled_by():
    stop = tf.no_op(name="stop")
    return tf.train.input_producer([1, 2], shuffle=False, cancel_op=stop)


@case
def strings():
    return tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)


@case
def strings_shuffled():
    return tf.train.string_input_producer(["a", "b", "c"], seed=7, name="files", num_epochs=3)


@case
def strings_of_unknown_number():
    return tf.train.string_input_producer(tf.placeholder(tf.string, [None], name="files"), shuffle=False, capacity=7)


@case
def numbers():
    return tf.train.range_input_producer(5, num_epochs=2, shuffle=False)


@case
def numbers_shuffled():
    tf.set_random_seed(9)
    return tf.train.range_input_producer(6, num_epochs=2, seed=5, name="ids", capacity=4)


@case
def numbers_without_end():
    return tf.train.range_input_producer(3, shuffle=False)


@case
def two_producers():
    a = tf.train.range_input_producer(2, num_epochs=1, shuffle=False).dequeue()
    b = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    return [a, b]


@case
def slices():
    return tf.train.slice_input_producer([tf.constant([[1, 2], [3, 4]]), tf.constant([0.5, 1.5])], num_epochs=2, shuffle=False)


@case
def slices_of_unknown_number():
    x = tf.placeholder(tf.int32, [None, 2], name="x")
    return tf.train.slice_input_producer([x], shuffle=False, name="rows", capacity=5)


@case
def epochs():
    return tf.train.limit_epochs(tf.constant([1, 2], name="x"), 3)


@case
def epochs_named():
    return tf.train.limit_epochs(tf.constant(1.5, name="x"), 1, name="once")


if __name__ == "__main__":
    main()
