"""Datasets that choose among elements, the number of elements of a dataset, and files as a dataset."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, run


def _all(tf, dataset):
    return run(tf, dataset.batch(200).make_one_shot_iterator().get_next())


def chosen(tf):
    D, X = tf.data.Dataset, tf.data.experimental
    words = [D.from_tensors(word).repeat() for word in ("ha", "ho", "hm")]
    numbers = D.from_tensor_slices(np.array([0, 2, 1, 1], np.int64))
    ends = X.choose_from_datasets([D.range(2), D.range(10, 15)], D.from_tensor_slices(np.array([0, 0, 0, 1, 0, 1], np.int64)))
    shapes = X.choose_from_datasets([D.from_tensors([1]), D.from_tensors([1, 2])], D.range(2))
    return _all(tf, X.choose_from_datasets(words, numbers)), _all(tf, ends), shapes.output_shapes.as_list()


def sampled(tf):
    D, X = tf.data.Dataset, tf.data.experimental
    tf.set_random_seed(1)
    pair = [D.range(20), D.range(100, 120)]
    made = [
        X.sample_from_datasets(pair, [0.3, 0.7], seed=5),
        X.sample_from_datasets(pair, seed=5),
        X.sample_from_datasets(pair[:1], seed=5),
        X.sample_from_datasets(pair, D.from_tensors([0.1, 0.9]).repeat(8), seed=5),
        X.sample_from_datasets(pair, np.array([0.0, 1.0]), seed=7).take(5),
    ]
    return [_all(tf, one) for one in made]


def while_true(tf):
    D, X = tf.data.Dataset, tf.data.experimental
    limit = tf.constant(4, tf.int64)
    pairs = D.zip((D.range(9), D.range(9, 0, -1))).apply(X.take_while(lambda a, b: a < b))
    return _all(tf, D.range(10).apply(X.take_while(lambda x: x < limit))), _all(tf, pairs), _all(tf, D.range(3).apply(X.take_while(lambda x: x > 5)).concatenate(D.range(1)))


def distinct(tf):
    D, X = tf.data.Dataset, tf.data.experimental
    return [
        _all(tf, D.from_tensor_slices(values).apply(X.unique()))
        for values in ([3, 1, 3, 2, 1], np.array([5, 5, 7], np.int64), ["b", "a", "b"], [[1, 2], [3, 4], [1, 2]])
    ]


def cardinalities(tf):
    D, X = tf.data.Dataset, tf.data.experimental
    ten = D.range(10)
    some = ten.filter(lambda x: x > 3)
    endless = ten.repeat()
    made = [
        ten, D.range(10, 0, -3), D.range(5, 1), D.from_tensors(1), D.from_tensor_slices([1, 2, 3]), ten.repeat(2), ten.repeat(0), endless,
        D.range(0).repeat(), some, some.repeat(), some.repeat(2), endless.repeat(2), endless.repeat(0), ten.map(lambda x: x),
        ten.map(lambda x: x, num_parallel_calls=2), ten.batch(3), ten.batch(3, drop_remainder=True), ten.padded_batch(3, []),
        ten.concatenate(D.range(4)), ten.concatenate(endless), ten.concatenate(some), some.concatenate(endless), ten.take(3), ten.take(30),
        ten.take(-1), endless.take(30), endless.take(-1), some.take(2), ten.skip(3), ten.skip(30), ten.skip(-1), endless.skip(3),
        endless.skip(-1), some.skip(2), ten.shard(3, 0), ten.shard(3, 2), ten.shuffle(3), D.zip((ten, D.range(5))), D.zip((ten, endless)),
        D.zip((endless, endless)), D.zip((some, ten)), ten.cache(), ten.prefetch(1), ten.flat_map(D.from_tensors), ten.batch(3).unbatch(),
        ten.window(3), ten.window(3, 2), ten.window(3, drop_remainder=True), ten.window(3, 2, 2, True), X.RandomDataset(),
        ten.apply(X.scan(np.int64(0), lambda s, x: (s, x))), ten.apply(X.map_and_batch(lambda x: x, 3)), ten.apply(X.ignore_errors()),
        ten.apply(X.shuffle_and_repeat(3, 2)), ten.apply(X.shuffle_and_repeat(3)), ten.enumerate(), ten.apply(X.take_while(lambda x: x < 2)),
        ten.apply(X.unique()), X.choose_from_datasets([ten, ten], D.range(2)),
    ]  # fmt: skip
    one = X.cardinality(ten)
    return run(tf, [X.cardinality(d) for d in made]), one.op.type, one.dtype.name


def listed_once(tf):
    folder = tempfile.mkdtemp()
    for name in ("b.txt", "a.txt", "c.csv"):
        with open(os.path.join(folder, name), "w") as f:
            f.write(name)
    made = tf.data.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False).map(tf.read_file)
    none = tf.data.Dataset.list_files(os.path.join(folder, "*.none")).make_one_shot_iterator().get_next()
    read = tf.data.Dataset.from_tensors(tf.read_file(os.path.join(folder, "c.csv"))).make_one_shot_iterator().get_next()
    return _all(tf, made), run(tf, read), caught(lambda: run(tf, none), "End of sequence")


def mistakes(tf):
    D, X = tf.data.Dataset, tf.data.experimental
    pair = [D.range(3), D.range(3)]
    return [
        caught(lambda: X.sample_from_datasets(pair, [1.0]), WHOLE),
        caught(lambda: X.sample_from_datasets(pair, [1, 2]), WHOLE),
        caught(lambda: X.sample_from_datasets([D.range(3), D.from_tensors(1)]), WHOLE),
        caught(lambda: X.choose_from_datasets(pair, D.from_tensors(1)), WHOLE),
        caught(lambda: _all(tf, X.choose_from_datasets(pair, D.range(3))), "Selector index out of range: 2 >= 2"),
        caught(lambda: _all(tf, D.range(3).apply(X.take_while(lambda x: x))), WHOLE),
        caught(lambda: D.from_tensor_slices([3.0]).apply(X.unique()), WHOLE),
    ]
