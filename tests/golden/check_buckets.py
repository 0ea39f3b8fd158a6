"""Runs the bucketing pipelines that Millstream wrote in a real TensorFlow, with the queue runners of their
MetaGraphDefs.

    cargo run -p millstream-testkit --example buckets -- OUT 0 300
    python tests/golden/check_buckets.py OUT [NAME ...]      # TensorFlow 1.15 or 2.x

A folder holds `meta.pb` and `case.json`: the initialiser, the fetches, the batches that Millstream makes, and
the final status code. One thread enqueues, so the batches of each bucket have a fixed order; the order of the
buckets does not. If an element belongs to no bucket, the runner's error is compared.
"""
import json
import os
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.FATAL)
if not tf.version.VERSION.startswith('1.'):
    tf.disable_v2_behavior()

OUT_OF_RANGE = tf.errors.OUT_OF_RANGE


def plain(value):
    """A value in the form of `case.json`."""
    value = np.asarray(value)
    text = value.dtype == object
    values = [v.decode() if isinstance(v, bytes) else v for v in value.ravel().tolist()]
    return {'dtype': 'string' if text else value.dtype.name, 'shape': list(value.shape), 'values': values}


def run(folder, case):
    """The batches and the final status code."""
    meta = tf.MetaGraphDef()
    with open(os.path.join(folder, 'meta.pb'), 'rb') as data:
        meta.ParseFromString(data.read())
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta)
        coordinator = tf.train.Coordinator()
        batches = []
        with tf.Session() as session:
            session.run(graph.get_operation_by_name(case['init']))
            threads = tf.train.start_queue_runners(session, coordinator)
            assert threads, 'there are no queue runners'
            fetches = [graph.get_tensor_by_name(name) for name in case['fetches']]
            end = OUT_OF_RANGE
            try:
                while True:
                    values = session.run(fetches, options=tf.RunOptions(timeout_in_ms=60000))
                    for fetch, value in zip(fetches, values):
                        assert fetch.shape.is_compatible_with(np.shape(value)), (fetch, np.shape(value))
                    batches.append([plain(value) for value in values])
            except tf.errors.OpError as error:
                end = error.error_code
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=30)
            except tf.errors.OpError as error:
                end = error.error_code
    return batches, end


def by_bucket(batches):
    """The batches of each bucket, in order."""
    lists = {}
    for batch in batches:
        lists.setdefault(batch[0]['values'][0], []).append(batch)
    return lists


def check(folder):
    """None if TensorFlow agrees with the folder, else the difference; and the number of batches."""
    with open(os.path.join(folder, 'case.json')) as text:
        case = json.load(text)
    batches, end = run(folder, case)
    if end != case['end']:
        return 'ends with code %s, not %s' % (end, case['end']), len(batches)
    if end == OUT_OF_RANGE:
        got, want = by_bucket(batches), by_bucket(case['batches'])
        if got != want:
            return 'gives %s\nand not %s' % (json.dumps(got), json.dumps(want)), len(batches)
    return None, len(batches)


def main():
    """Checks every folder in the given directory, or the named ones."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    root = sys.argv[1]
    names = sys.argv[2:] or sorted(n for n in os.listdir(root) if os.path.exists(os.path.join(root, n, 'meta.pb')))
    agree = disagree = made = 0
    for name in names:
        problem, n = check(os.path.join(root, name))
        made += n
        agree += problem is None
        disagree += problem is not None
        if problem is not None:
            print('%s: %s' % (name, problem))
    print('TensorFlow %s: %d agree, %d disagree; %d batches' % (tf.version.VERSION, agree, disagree, made))
    return 1 if disagree else 0


if __name__ == '__main__':
    sys.exit(main())
