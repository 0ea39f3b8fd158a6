"""Measures bucketing: `bucket.py [tensorflow] [--n N] [--repeat R]` prints a JSON line with elements a second.

The work is that of the case `w6` of `cargo xtask bench`: sequences of 1 to 100 tokens, sliced from one vector,
go into 8 buckets by length and come out as padded batches of 32; the last ones may be smaller. With
`tensorflow`, the same program runs on TensorFlow 1.15. The figures are the median, the least and the greatest
of R runs. Every run checks that no element and no token was lost. Run nothing else at the same time.
"""

import argparse
import json
import time

import numpy as np

BATCH, EDGES = 32, [13, 26, 38, 51, 63, 76, 88]


def measured(tf, lengths, tokens, num_threads):
    """Returns the seconds from the start of the runners to the last batch."""
    n, offsets = len(lengths), np.cumsum(lengths) - lengths
    with tf.Graph().as_default():
        index = tf.train.range_input_producer(n, num_epochs=1, shuffle=False).dequeue()
        held = [tf.placeholder(tf.int32, [len(v)]) for v in (lengths, offsets, tokens)]
        kept = [tf.Variable(v, trainable=False, collections=["kept"]) for v in held]
        length, offset = tf.gather(kept[0], index), tf.gather(kept[1], index)
        row = tf.slice(kept[2], tf.stack([offset]), tf.stack([length]))
        row.set_shape([None])
        which = tf.reduce_sum(tf.cast(tf.greater_equal(length, EDGES), tf.int32))
        _, batch = tf.contrib.training.bucket(
            [row], which, BATCH, len(EDGES) + 1, num_threads=num_threads, dynamic_pad=True, allow_smaller_final_batch=True
        )
        with tf.Session() as sess:
            sess.run(tf.variables_initializer(tf.get_collection("kept")), dict(zip(held, (lengths, offsets, tokens))))
            sess.run(tf.local_variables_initializer())
            take = sess.make_callable(batch)
            rows = total = 0
            coord = tf.train.Coordinator()
            begin = time.perf_counter()
            threads = tf.train.start_queue_runners(sess, coord)
            try:
                while True:
                    got = take()
                    rows, total = rows + len(got), total + int(got.sum(dtype=np.int64))
            except tf.errors.OutOfRangeError:
                took = time.perf_counter() - begin
            coord.request_stop()
            coord.join(threads)
    assert (rows, total) == (n, int(tokens.sum(dtype=np.int64))), "an element was lost"
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("engine", nargs="?", default="millstream", choices=["millstream", "tensorflow"])
    parser.add_argument("--n", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    if given.engine == "tensorflow":
        import tensorflow as tf
    else:
        import millstream as tf
    random = np.random.RandomState(6)
    lengths = random.randint(1, 101, given.n).astype(np.int32)
    tokens = random.randint(1, 1000, int(lengths.sum())).astype(np.int32)
    found = {}
    for num_threads in (1, 2, 4):
        rates = sorted(given.n / measured(tf, lengths, tokens, num_threads) for _ in range(given.repeat))
        found[f"num_threads={num_threads}"] = [round(rates[len(rates) // 2]), round(rates[0]), round(rates[-1])]
    print(json.dumps({"engine": given.engine, "n": given.n, "elements/s: median, least, greatest": found}))


if __name__ == "__main__":
    main()
