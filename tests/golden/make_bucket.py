"""Writes bucket.txt: the nodes and batches of TensorFlow 1.15's tf.contrib.training.bucket and
bucket_by_sequence_length.

    /path/to/tf1.15/bin/python make_bucket.py

Each line starts with a keyword:

    case NAME            a program, in CASES below; the test builds the same
    node NAME OP         a node of it, in the scope of the function
    shape SHAPE          the static shape of an output
    runner QUEUE | ENQUEUES | CLOSE | CANCEL | CODES
    batch B VALUES       a batch of bucket B, or of any (`-`), in the order of the bucket; one thread enqueues
    end CODE             the status code of the run after the last batch
    error NAME           the exception with which building fails
"""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import warnings
warnings.filterwarnings("ignore")
import tensorflow as tf
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)

HERE = os.path.dirname(os.path.abspath(__file__))
N = 30
training = tf.contrib.training


def number():
    """The numbers from 0 to N - 1, once."""
    q = tf.FIFOQueue(N, [tf.int32], [[]], name="numbers")
    fill, end = q.enqueue_many([tf.range(N)], name="fill"), q.close(name="end")
    return q.dequeue(name="number"), [fill, end]


def sequence(x):
    s = tf.fill([x * 7 % 5 + 1], x)
    s.set_shape([None])
    return s


def sparse(x):
    """A sparse tensor with as many entries as `sequence`, at every second position."""
    values = sequence(x)
    at = tf.expand_dims(tf.range(tf.size(values, out_type=tf.int64), dtype=tf.int64) * 2, 1)
    return tf.SparseTensor(at, values, tf.cast(tf.expand_dims(tf.size(values) * 2, 0), tf.int64))


CASES = {
    "plain": lambda x: training.bucket([x], x % 3, batch_size=4, num_buckets=3),
    "smaller": lambda x: training.bucket([x, tf.as_string(x)], x % 3, batch_size=4, num_buckets=3,
                                         allow_smaller_final_batch=True, shared_name="shared"),
    "padded": lambda x: training.bucket({"text": tf.fill([x % 3, 2], tf.as_string(x)), "seq": sequence(x)}, x % 2,
                                        batch_size=[4, 3], num_buckets=2, dynamic_pad=True, allow_smaller_final_batch=True,
                                        shapes=[[None], [None, 2]], bucket_capacities=[5, 6], capacity=7, num_threads=1),
    "kept": lambda x: training.bucket([x], x % 2, batch_size=4, num_buckets=2, keep_input=tf.not_equal(x % 5, 0), name="mine"),
    "sparse": lambda x: training.bucket([x, sparse(x)], x % 2, batch_size=[2, 3], num_buckets=2, allow_smaller_final_batch=True),
    "sparse_kept": lambda x: training.bucket({"a": sparse(x), "b": sparse(x + 1)}, x % 2, batch_size=4, num_buckets=2, keep_input=tf.not_equal(x % 5, 0),
                                             dynamic_pad=True),
    "sparse_alone": lambda x: training.bucket([sparse(x)], x % 2, batch_size=4, num_buckets=2),
    "sparse_lengths": lambda x: training.bucket_by_sequence_length(x * 7 % 5 + 1, [sparse(x), sequence(x)], 4, [2, 4], dynamic_pad=True,
                                                                   allow_smaller_final_batch=True),
    "lengths": lambda x: training.bucket_by_sequence_length(x * 7 % 5 + 1, [sequence(x), x], 4, [2, 4], dynamic_pad=True,
                                                            allow_smaller_final_batch=True),
    "lengths_discarding": lambda x: training.bucket_by_sequence_length(x % 6, [x], [2, 3, 4], [1, 5], shapes=[[]]),
    "no_shape": lambda x: training.bucket([sequence(x)], x % 2, batch_size=4, num_buckets=2),
    "no_rank": lambda x: training.bucket([tf.placeholder(tf.int32)], x % 2, batch_size=4, num_buckets=2, dynamic_pad=True),
    "sizes": lambda x: training.bucket([x], x % 2, batch_size=[4, 4, 4], num_buckets=2),
    "capacities": lambda x: training.bucket([x], x % 2, batch_size=4, num_buckets=2, bucket_capacities=[4]),
    "no_tensors": lambda x: training.bucket([], x % 2, batch_size=4, num_buckets=2),
    "no_boundaries": lambda x: training.bucket_by_sequence_length(x, [x], 4, []),
    "equal_boundaries": lambda x: training.bucket_by_sequence_length(x, [x], 4, [3, 3]),
}


def text(value):
    if isinstance(value, bytes):
        return '"%s"' % value.decode()
    if getattr(value, "ndim", 0) or isinstance(value, list):
        return "[" + " ".join(text(v) for v in value) + "]"
    return text(value.item()) if hasattr(value, "item") else str(value)


def flat(outputs):
    if isinstance(outputs, tf.SparseTensor):
        return [outputs.indices, outputs.values, outputs.dense_shape]
    if isinstance(outputs, dict):
        outputs = [outputs[k] for k in sorted(outputs)]
    return [leaf for part in outputs for leaf in flat(part)] if isinstance(outputs, (list, tuple)) else [outputs]


def case(name, build, out):
    out.append("case " + name)
    graph = tf.Graph()
    with graph.as_default():
        x, start = number()
        before = {op.name for op in graph.get_operations()}
        try:
            which, outputs = build(x)
        except (ValueError, TypeError) as e:
            out.append("error " + type(e).__name__)
            return
        outputs = flat(outputs)
    scope = tuple(s + "/" for s in ("bucket", "mine", "bucket_by_sequence_length"))
    for node in graph.as_graph_def().node:
        if node.name not in before and node.name.startswith(scope):
            out.append("node %s %s" % (node.name, node.op))
    for value in [which] + outputs:
        out.append("shape [%s]" % ",".join("?" if d.value is None else str(d.value) for d in value.shape))
    for runner in graph.get_collection("queue_runners"):
        p = runner.to_proto()
        codes = ",".join(str(c) for c in p.queue_closed_exception_types)
        out.append("runner %s | %s | %s | %s | %s" % (
            p.queue_name, ",".join(p.enqueue_op_name), p.close_op_name, p.cancel_op_name, codes))
    batches = {}
    with tf.Session(graph=graph) as session:
        session.run(start[0])
        session.run(start[1])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while True:
                b, values = session.run([which, outputs])
                key = b if getattr(b, "ndim", 0) == 0 else "-"
                values = values if key != "-" else [b] + values
                batches.setdefault(key, []).append(" ".join(text(v) for v in values))
        except tf.errors.OpError as e:
            end = e
        coordinator.request_stop()
        coordinator.join(threads)
    for key in sorted(batches, key=str):
        # The order of buckets depends on threads, so the lines of any bucket are sorted.
        lines = batches[key] if key != "-" else sorted(batches[key])
        out.extend("batch %s %s" % (key, line) for line in lines)
    out.append("end " + type(end).__name__)


def main():
    out = []
    for name, build in CASES.items():
        case(name, build, out)
    with open(os.path.join(HERE, "bucket.txt"), "w") as f:
        f.write("\n".join(out) + "\n")


main()
