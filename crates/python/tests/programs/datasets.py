"""Datasets: sources, transformations, functions with captured tensors, random orders, iterators, errors."""

import os
import tempfile

import numpy as np

from programs.raised import mistakes
from programs.tools import caught


def drained(tf, dataset, most=50):
    x = dataset.make_one_shot_iterator().get_next()
    return taken(tf, x, most)


def taken(tf, x, most=50, before=None, feed=None):
    values = []
    with tf.Session() as sess:
        if before is not None:
            sess.run(before, feed)
        try:
            for _ in range(most):
                values.append(sess.run(x))
        except tf.errors.OutOfRangeError as error:
            values.append(error.message.split("\n")[0])
    return values


def structures(tf):
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ([3.0, 4.0], [[5], [6]])})
    return dataset.output_types, str(dataset.output_shapes), drained(tf, dataset)


def types_and_shapes(tf):
    d = tf.data.Dataset
    batched = d.range(3).batch(2), d.range(3).batch(2, drop_remainder=True), d.from_tensors([[1, 2]]).map(lambda x: (x, {"y": tf.to_float(x)}))
    found = [(tf.data.get_output_types(x), str(tf.data.get_output_shapes(x))) for x in batched]
    return found, tf.data.get_output_classes(d.range(2)) is tf.Tensor, repr(d.range(3).map(lambda x: (x, x)))


def basic_chain(tf):
    d = tf.data.Dataset
    return drained(tf, d.range(20).skip(2).take(9).shard(3, 1).repeat(2).concatenate(d.range(100, 102)).prefetch(1).batch(4))


def zipped_and_numbered(tf):
    d = tf.data.Dataset
    return drained(tf, d.zip((d.range(3), {"a": d.range(5, 9)})).enumerate(start=7))


def mapped_with_captured_tensors(tf):
    factor = tf.constant(5, tf.int64)
    return drained(tf, tf.data.Dataset.range(4).map(lambda x: (x * factor, factor)))


def mapped_with_a_variable(tf):
    v = tf.get_variable("v", [], tf.int64, tf.ones_initializer())
    it = tf.data.Dataset.range(3).map(lambda x: x + v).make_initializable_iterator()
    x = it.get_next()
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(it.initializer)
        return [sess.run(x) for _ in range(3)]


def control_flow_in_functions(tf):
    d = tf.data.Dataset.range(5)
    branches = d.map(lambda x: tf.cond(x > 2, lambda: x * 10, lambda: -x))
    loops = d.map(lambda x: tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [tf.constant(0, tf.int64), x])[1])
    return drained(tf, branches), drained(tf, loops)


def filtered(tf):
    odd = tf.constant(1, tf.int64)
    return drained(tf, tf.data.Dataset.range(9).filter(lambda x: tf.equal(x % 2, odd)))


def flattened_and_interleaved(tf):
    d = tf.data.Dataset
    one = drained(tf, d.range(4).flat_map(lambda x: d.range(x).map(lambda y: (x, y))))
    two = drained(tf, d.range(6).interleave(lambda x: d.range(10 * x, 10 * x + x), 3, block_length=2))
    return one, two, drained(tf, d.range(6).interleave(lambda x: d.range(10 * x, 10 * x + x), 3, 2, num_parallel_calls=2))


def interleaved_with_waiting_datasets(tf):
    d, e = tf.data.Dataset, tf.data.experimental
    return [drained(tf, d.range(6).apply(e.parallel_interleave(lambda x: d.range(10 * x, 10 * x + x), n, block_length=b))) for n, b in ((2, 1), (3, 2), (4, 3))]


def shuffled(tf):
    d = tf.data.Dataset.range(9)
    once = [drained(tf, d.shuffle(n, seed=s)) for n, s in ((2, 1), (4, 1), (20, 7))]
    again = [drained(tf, d.shuffle(4, seed=3, reshuffle_each_iteration=r).repeat(3)) for r in (True, False, None)]
    return once, again, drained(tf, d.shuffle(4, seed=3).map(lambda x: x).repeat(3))


def shuffled_and_repeated(tf):
    d, e = tf.data.Dataset, tf.data.experimental
    fused = drained(tf, d.range(5).apply(e.shuffle_and_repeat(8, 4, seed=2)))
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return fused, drained(tf, d.range(5).shuffle(8, seed=2).repeat(4).with_options(options))


def shuffled_by_the_seed_of_the_graph(tf):
    tf.set_random_seed(42)
    d = tf.data.Dataset
    return drained(tf, d.range(9).shuffle(5)), drained(tf, d.range(3).map(lambda x: tf.random_uniform([], seed=3)))


def random_numbers_in_functions(tf):
    d = tf.data.Dataset
    repeated = drained(tf, d.range(3).map(lambda x: tf.random_uniform([], seed=3)).repeat(2))
    return repeated, drained(tf, d.range(2).flat_map(lambda y: d.range(2).map(lambda x: tf.random_uniform([], seed=3))))


def random_numbers_after_each_start(tf):
    it = tf.data.Dataset.range(4).shuffle(4, seed=1).map(lambda x: (x, tf.random_uniform([], seed=3))).make_initializable_iterator()
    x = it.get_next()
    with tf.Session() as sess:
        return [(sess.run(it.initializer), [sess.run(x) for _ in range(3)])[1] for _ in range(2)]


def random_dataset(tf):
    return drained(tf, tf.data.experimental.RandomDataset(seed=3).take(5))


def batches(tf):
    d = tf.data.Dataset.range(7)
    return drained(tf, d.batch(3)), drained(tf, d.batch(3, drop_remainder=True)), drained(tf, d.map(lambda x: {"x": [x, x]}).batch(4))


def padded_batches(tf):
    d = tf.data.Dataset.range(1, 6).map(lambda x: (tf.fill([x], x), tf.as_string(x)))
    default = drained(tf, d.padded_batch(2, ([None], [])))
    return default, drained(tf, d.padded_batch(3, ([6], []), (np.int64(-1), "?"), drop_remainder=True))


def windows(tf):
    d = tf.data.Dataset.range(8)
    forms = ((3, None, 1, False), (3, 1, 2, False), (2, 3, 2, True), (2, 5, 1, False))
    return [drained(tf, d.window(size, shift, stride, drop).flat_map(lambda w: w.batch(9))) for size, shift, stride, drop in forms]


def windows_of_pairs(tf):
    d = tf.data.Dataset.range(5).map(lambda x: (x, -x)).window(2)
    return drained(tf, d.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b))))


def reduced(tf):
    d = tf.data.Dataset.range(6)
    total = d.reduce(np.int64(0), lambda s, x: s + x)
    grown = d.reduce((tf.zeros([0], tf.int64), np.int64(1)), lambda s, x: (tf.concat([s[0], [x]], 0), s[1] + s[1]))
    with tf.Session() as sess:
        return sess.run(total), sess.run(grown), str(grown[0].shape)


def scanned(tf):
    d, e = tf.data.Dataset, tf.data.experimental
    return drained(tf, d.range(5).apply(e.scan((np.int64(0), np.int64(1)), lambda s, x: ((s[1], s[0] + s[1]), (x, s[0]))))), drained(tf, e.Counter(3, 2).take(3))


def grouped(tf):
    d, e = tf.data.Dataset, tf.data.experimental
    fixed = drained(tf, d.range(10).apply(e.group_by_window(lambda x: x % 3, lambda k, g: g.batch(2).map(lambda b: (k, b)), window_size=2)))
    varying = e.group_by_window(lambda x: x % 2, lambda k, g: g.batch(9), window_size_func=lambda k: k + 2)
    return fixed, drained(tf, d.range(10).apply(varying))


def bucketed(tf):
    d, e = tf.data.Dataset.range(1, 9).map(lambda x: tf.fill([(x * 5) % 8], x)), tf.data.experimental
    plain = drained(tf, d.apply(e.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [2, 2, 1])))
    return plain, drained(tf, d.apply(e.bucket_by_sequence_length(tf.size, [3, 6, 9], [2, 2, 2, 2], pad_to_bucket_boundary=True)))


def mapped_in_batches(tf):
    d, e = tf.data.Dataset, tf.data.experimental
    made = d.range(5).apply(e.map_and_batch(lambda x: (x, x * x), 2)), d.range(5).apply(e.map_and_batch(lambda x: x, 2, drop_remainder=True, num_parallel_calls=3))
    return [(str(x.output_shapes), drained(tf, x)) for x in made]


def old_names(tf):
    d, c = tf.data.Dataset, tf.contrib.data
    made = d.range(7).apply(c.batch_and_drop_remainder(3)), d.range(7).apply(c.map_and_batch(lambda x: x + 1, 3)), d.range(4).apply(c.enumerate_dataset())
    return [drained(tf, x) for x in made], drained(tf, d.from_tensors([1, 2]).apply(c.unbatch()))


def errors_left_out(tf):
    d = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0, 0.0])
    return drained(tf, d.map(lambda x: tf.check_numerics(1.0 / x, "no")).apply(tf.data.experimental.ignore_errors()))


def going_on_after_an_error(tf):
    x = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda x: tf.check_numerics(1.0 / x, "no")).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        return sess.run(x), caught(lambda: sess.run(x), "no : Tensor had Inf"), sess.run(x), caught(lambda: sess.run(x), "End of sequence")


def cached(tf):
    calls = []

    def count(x):
        calls.append(x)
        return x

    d = tf.data.Dataset.range(3).map(lambda x: tf.py_func(count, [x], tf.int64)).cache().repeat(3)
    return drained(tf, d), len(calls)


def generated(tf):
    def pairs():
        for i in range(3):
            yield i, [i] * i

    d = tf.data.Dataset.from_generator(pairs, (tf.int32, tf.int64), ([], [None]))
    texts = tf.data.Dataset.from_generator(lambda: iter(["a", b"b"]), tf.string).repeat(2)
    given = tf.data.Dataset.from_generator(lambda n: range(n), tf.int64, [], args=(3,))
    return str(d.output_shapes), drained(tf, d), drained(tf, texts), drained(tf, given)


def files(tf):
    folder = tempfile.mkdtemp()
    text, fixed, records = (os.path.join(folder, name) for name in ("a.txt", "b.bin", "c.tfrecord"))
    with open(text, "w") as f:
        f.write("1,2\n3,4\r\n5,6")
    with open(fixed, "wb") as f:
        f.write(b"HHabcdefT")
    with tf.python_io.TFRecordWriter(records) as writer:
        for i in range(3):
            feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[i, i]))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    lines = tf.data.TextLineDataset([text, text]).skip(1).map(lambda line: tf.decode_csv(line, [[0], [0.0]]))
    pieces = tf.data.FixedLengthRecordDataset(fixed, 2, 2, 1).map(lambda r: tf.decode_raw(r, tf.uint8))
    examples = tf.data.TFRecordDataset(records).map(lambda r: tf.parse_single_example(r, {"x": tf.FixedLenFeature([2], tf.int64)}))
    named = tf.data.Dataset.from_tensors(text).flat_map(lambda name: tf.data.TextLineDataset(name).take(1))
    return [drained(tf, d) for d in (lines, pieces, examples.batch(2), named, tf.data.TextLineDataset(tf.data.Dataset.from_tensors(text)))]


def fed_and_started_again(tf):
    n = tf.placeholder(tf.int64, [])
    it = tf.data.Dataset.range(n).batch(3).make_initializable_iterator()
    x = it.get_next()
    return [taken(tf, x, before=it.initializer, feed={n: k}) for k in (4, 0, 2)]


def reinitialized(tf):
    d = tf.data.Dataset
    it = tf.data.Iterator.from_structure(tf.int64, [])
    x, starts = it.get_next(), [it.make_initializer(d.range(k, 9)) for k in (1, 8)]
    with tf.Session() as sess:
        first = [(sess.run(s), sess.run(x))[1] for s in (starts[0], starts[1], starts[0])]
        return first, sess.run(x), str(it.output_shapes), it.output_types


def fed_with_handles(tf):
    d = tf.data.Dataset
    handle = tf.placeholder(tf.string, [])
    x = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    one, other = d.range(3).make_one_shot_iterator(), d.range(7, 9).make_initializable_iterator()
    with tf.Session() as sess:
        handles = sess.run([one.string_handle(), other.string_handle()])
        sess.run(other.initializer)
        return [sess.run(x, {handle: handles[k]}) for k in (0, 1, 0, 1, 0)]


def one_element_for_all_fetches(tf):
    x = tf.data.Dataset.range(6).make_one_shot_iterator().get_next()
    y = x * 2
    with tf.Session() as sess:
        return [sess.run([x, y, x + y]) for _ in range(3)]


def in_a_loop(tf):
    x = tf.data.Dataset.range(9).make_one_shot_iterator()
    total = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + x.get_next()), [0, tf.constant(0, tf.int64)])[1]
    with tf.Session() as sess:
        return sess.run(total), sess.run(total)


def with_tables(tf):
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    it = tf.data.Dataset.from_tensor_slices(["b", "a", "c"]).map(table.lookup).make_initializable_iterator()
    x = it.get_next()
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        sess.run(it.initializer)
        return [sess.run(x) for _ in range(3)]


def training_from_a_dataset(tf):
    tf.set_random_seed(1)
    xs = np.linspace(-1, 1, 32).astype(np.float32)
    d = tf.data.Dataset.from_tensor_slices((xs, 3 * xs + 1)).shuffle(32, seed=5).repeat().batch(8).prefetch(1)
    x, y = d.make_one_shot_iterator().get_next()
    w, b = tf.Variable(0.0), tf.Variable(0.0)
    loss = tf.reduce_mean(tf.square(w * x + b - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, train])[0] for _ in range(20)]


def imported_again(tf):
    with tf.Graph().as_default() as graph:
        c = tf.constant(10, tf.int64)
        d = tf.data.Dataset.range(4).map(lambda x: x + c).filter(lambda x: x > 10).batch(2)
        tf.identity(d.make_one_shot_iterator().get_next(), name="x")
        data = graph.as_graph_def()
    x, = tf.import_graph_def(data, return_elements=["x:0"])
    y, = tf.import_graph_def(data, return_elements=["x:0"])
    return taken(tf, x), taken(tf, y), sorted({n.op for n in data.node if "Dataset" in n.op})


def refused_while_building(tf):
    d = tf.data.Dataset
    e = tf.data.experimental
    return mistakes(
        tf,
        concatenated=lambda: d.range(2).concatenate(d.from_tensors(1)),
        zipped=lambda: d.zip([d.range(2)]),
        nothing=lambda: d.range(),
        predicate=lambda: d.range(2).filter(lambda x: x),
        flat=lambda: d.range(2).flat_map(lambda x: x),
        lengths=lambda: d.from_tensor_slices(([1, 2], [1, 2, 3])),
        rank=lambda: d.range(2).padded_batch(2, [None]),
        window=lambda: e.group_by_window(lambda x: x, lambda k, g: g),
        boundaries=lambda: e.bucket_by_sequence_length(tf.size, [1], [1]),
        generator=lambda: d.from_generator(1, tf.int32),
        initializer=lambda: d.range(2).make_one_shot_iterator().initializer,
        applied=lambda: d.range(2).apply(lambda x: 1),
    )


def refused_while_running(tf):
    d = tf.data.Dataset

    def started(dataset):
        it = dataset.make_initializable_iterator()
        return [it.initializer, it.get_next()]

    return mistakes(
        tf,
        not_started=lambda: d.range(2).make_initializable_iterator().get_next(),
        batch=lambda: started(d.range(2).batch(tf.placeholder_with_default(tf.constant(0, tf.int64), []))),
        negative=lambda: started(d.range(2).batch(-1)),
        buffer=lambda: started(d.range(2).shuffle(0)),
        shapes=lambda: started(d.range(1, 4).map(lambda x: tf.fill([x], x)).batch(2)),
        padding=lambda: started(d.range(1, 6).map(lambda x: tf.fill([x], x)).padded_batch(5, [3])),
        step=lambda: started(d.range(0, 5, tf.placeholder_with_default(tf.constant(0, tf.int64), []))),
        empty=lambda: tf.data.experimental.get_single_element(d.range(0)),
        several=lambda: tf.data.experimental.get_single_element(d.range(2)),
        element=lambda: started(d.from_generator(lambda: iter([1, "b"]), tf.int32).skip(1)),
        shape=lambda: started(d.from_generator(lambda: iter([[1], [1, 2]]), tf.int32, [1]).skip(1)),
    )
