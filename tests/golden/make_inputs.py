"""Writes inputs.json and inputs/*.pb: the nodes and batches of TensorFlow 1.15's producers and batching
functions.

Run with TensorFlow 1.15: `python make_inputs.py`. The test `inputs` of crates/millstream builds the same and
compares. A case has these fields:

    nodes      `name op input,input ^control attr=value`, in the order of making, with the attributes of
               queues and maps
    runners    the collection of queue runners: queue, enqueue operations, close operation, cancel operation
    locals     the names of the local variables
    summaries  the names of the summaries
    shapes     the static shapes of the fetches
    fetches    the names of the fetches; inputs/CASE.pb is the whole as a MetaGraphDef
    batches    the result of each run, until the end of the input, as nested lists
    end        the final status code, null if the pipeline was not run to its end

If several threads fill a queue, or if it shuffles, the order of a batch's rows is not fixed. Such cases have
`join` or `shuffle` in their names, and return all elements in one batch.
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
    os.makedirs(os.path.join(HERE, "inputs"), exist_ok=True)
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
            # Without cancellation, the join would wait for the producer.
            never = "input_cancelled_by", "batch_join_sparse", "shuffle_batch_sparse"
            ran = not any(op.type == "Placeholder" for op in graph.get_operations()) and name not in never
            fetched = [f.dequeue() if isinstance(f, tf.QueueBase) else f for f in fetched]
            entry["shapes"] = [shapes(f) for f in fetched]
            if ran:
                entry["fetches"] = [t.name for f in fetched for t in (
                    (f.indices, f.values, f.dense_shape) if isinstance(f, tf.SparseTensor) else (f,))]
                meta = tf.train.export_meta_graph(graph=graph, strip_default_attrs=True)
                meta.meta_info_def.ClearField("stripped_op_list")
                with open(os.path.join(HERE, "inputs", name + ".pb"), "wb") as f:
                    f.write(meta.SerializeToString(deterministic=True))
                with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)) as sess:
                    sess.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
                    coord = tf.train.Coordinator()
                    threads = tf.train.start_queue_runners(sess, coord)
                    batches, end = [], None
                    try:
                        while len(batches) < 8:
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
        cases = ('"%s": %s' % (name, json.dumps(out[name], sort_keys=True)) for name in sorted(out))
        f.write("{\n%s\n}\n" % ",\n".join(cases))


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


def number(limit, epochs=1):
    return tf.train.range_input_producer(limit, num_epochs=epochs, shuffle=False).dequeue()


def ragged(n):
    """A matrix of n rows and n columns, all n."""
    return tf.fill(tf.stack([n]), n)


def sparse(n):
    """The same as a SparseTensor."""
    return tf.SparseTensor(tf.cast(tf.reshape(tf.range(n), [-1, 1]), tf.int64), ragged(n), tf.cast(tf.stack([n]), tf.int64))


def sparse_rows():
    return tf.SparseTensor([[0, 1], [2, 0], [2, 3]], ["a", "b", "c"], [4, 5])


@case
def batch_one():
    return tf.train.batch([number(5)], 2)


@case
def batch_smaller_final():
    return tf.train.batch([number(5)], 2, allow_smaller_final_batch=True)


@case
def batch_dict():
    n = number(4)
    return tf.train.batch({"n": n, "b": n * n, "a": tf.cast(n, tf.float32)}, 2)


@case
def batch_of_literals():
    return tf.train.batch([1, [0.5, 1.5]], 3)


@case
def batch_padded():
    n = number(5)
    return tf.train.batch([n, ragged(n)], 3, dynamic_pad=True, allow_smaller_final_batch=True)


@case
def batch_padded_strings():
    n = number(4)
    return tf.train.batch([tf.as_string(ragged(n))], 4, dynamic_pad=True)


@case
def batch_many():
    return tf.train.batch([tf.constant([[1, 2], [3, 4], [5, 6]]), tf.constant([10, 20, 30])], 2, enqueue_many=True)


@case
def batch_many_to_the_end():
    n = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue_up_to(3)
    return tf.train.batch([n], 2, enqueue_many=True, allow_smaller_final_batch=True)


@case
def batch_named():
    return tf.train.batch([number(4)], 2, num_threads=1, capacity=7, shared_name="shared", name="mine")


@case
def batch_with_shapes():
    x = tf.placeholder(tf.float32, name="x")
    y = tf.placeholder(tf.int32, name="y")
    return tf.train.batch([x, y], 2, num_threads=3, shapes=[[2], []])


@case
def batch_by_a_fed_size():
    return tf.train.batch([tf.constant([1, 2])], tf.placeholder(tf.int32, [], name="size"))


@case
def batch_by_a_fed_size_up_to():
    return tf.train.batch([tf.constant([1, 2])], tf.placeholder(tf.int32, [], name="size"), allow_smaller_final_batch=True)


@case
def maybe_batch_some():
    n = number(9)
    return tf.train.maybe_batch([n], tf.less(n % 3, 2), 2)


@case
def maybe_batch_all():
    return tf.train.maybe_batch([number(4)], True, 2)


@case
def maybe_batch_none():
    return tf.train.maybe_batch([tf.placeholder(tf.int32, [], name="x")], False, 2)


@case
def maybe_batch_rows():
    rows = tf.constant([1, 2, 3, 4])
    return tf.train.maybe_batch({"x": rows, "y": tf.constant([[1], [2], [3], [4]])}, tf.equal(rows % 2, 1), 3, enqueue_many=True)


@case
def maybe_batch_many():
    n = number(4)
    return tf.train.maybe_batch([tf.stack([n, n + 10])], tf.greater(n, 1), 2, enqueue_many=True)


@case
def batch_join_two():
    return tf.train.batch_join([[number(3), tf.constant(1)], [number(4), tf.constant(2)]], 7)


@case
def batch_join_dicts():
    return tf.train.batch_join([{"n": number(3)}, {"n": number(4)}], 10, capacity=5, allow_smaller_final_batch=True, name="joined")


@case
def batch_join_padded():
    a, b = number(2), number(3)
    return tf.train.batch_join([[ragged(a)], [ragged(b)]], 5, dynamic_pad=True)


@case
def maybe_batch_join_some():
    a, b = number(4), number(5)
    keep = tf.placeholder(tf.bool, [], name="keep")
    return tf.train.maybe_batch_join([[a], [b]], keep, 2)


@case
def maybe_batch_join_rows():
    rows = tf.constant([1, 2, 3, 4])
    keep = tf.placeholder(tf.bool, [None], name="keep")
    return tf.train.maybe_batch_join([[rows], [rows]], keep, 2, enqueue_many=True)


@case
def shuffle_batch_all():
    return tf.train.shuffle_batch([number(9)], 9, 20, 5, seed=3)


@case
def shuffle_batch_dict():
    tf.set_random_seed(5)
    n = number(7)
    return tf.train.shuffle_batch({"n": n, "m": -n}, 20, capacity=20, min_after_dequeue=10, allow_smaller_final_batch=True, name="mixed",
                                  shared_name="shared")


@case
def shuffle_batch_many():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    return tf.train.shuffle_batch([x], 4, num_threads=2, capacity=20, min_after_dequeue=3, enqueue_many=True)


@case
def maybe_shuffle_batch_some():
    n = number(9)
    return tf.train.maybe_shuffle_batch([n], 6, 20, 5, tf.less(n % 3, 2), seed=1)


@case
def shuffle_batch_join_two():
    return tf.train.shuffle_batch_join([[number(3), tf.constant(1)], [number(4), tf.constant(2)]], 7, 20, 5)


@case
def maybe_shuffle_batch_join_some():
    keep = tf.placeholder(tf.bool, [], name="keep")
    return tf.train.maybe_shuffle_batch_join([[number(3)], [number(4)]], 7, 20, 5, keep)


@case
def batch_sparse():
    n = number(5)
    return tf.train.batch([n, sparse(n)], 2, allow_smaller_final_batch=True)


@case
def batch_sparse_alone():
    return tf.train.batch([sparse(number(4))], 2)


@case
def batch_sparse_many():
    return tf.train.batch([tf.constant([1, 2, 3, 4]), sparse_rows()], 3, enqueue_many=True)


@case
def maybe_batch_sparse():
    n = number(7)
    return tf.train.maybe_batch([sparse(n), n], tf.less(n % 3, 2), 2)


@case
def maybe_batch_sparse_many():
    keep = tf.less(number(4) % 2, 1)
    return tf.train.maybe_batch([sparse_rows()], keep, 3, enqueue_many=True)


@case
def maybe_batch_sparse_rows():
    return tf.train.maybe_batch([sparse_rows(), tf.constant([1, 2, 3, 4])], tf.constant([True, False, True, True]), 2, enqueue_many=True)


@case
def batch_join_sparse():
    a, b = number(3), number(3)
    return tf.train.batch_join([[sparse(a), a], [sparse(b), b]], 2)


@case
def batch_sparse_of_unknown_rank():
    x = tf.sparse_placeholder(tf.float32, name="x")
    return tf.train.batch([x], 2)


@case
def shuffle_batch_sparse():
    n = number(5)
    return tf.train.shuffle_batch([sparse(n)], 2, 10, 3, seed=4)


if __name__ == "__main__":
    main()
