"""Sparse tensors as elements of datasets: slices, batches, functions, iterators, types."""

import numpy as np

from programs.tools import mistakes


def _sparse(tf):
    return tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.0, 2.0, 3.0], [3, 4])


def _passes(tf, dataset, count=3):
    x = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        found = []
        for _ in range(count):
            try:
                found.append(sess.run(x))
            except tf.errors.OutOfRangeError:
                found.append("end")
                break
        return found


def _types(dataset):
    specs = dataset.element_spec if isinstance(dataset.element_spec, tuple) else (dataset.element_spec,)
    return [repr(s) for s in specs], [s.value_type.__name__ for s in specs]


def whole(tf):
    dataset = tf.data.Dataset.from_tensors((_sparse(tf), 7))
    return _passes(tf, dataset, 2), _types(dataset), repr(dataset), [c.__name__ for c in dataset.output_classes], dataset.output_types, dataset.output_shapes


def of_values(tf):
    value = tf.SparseTensorValue(np.array([[1]]), np.array([5]), np.array([3]))
    dataset = tf.data.Dataset.from_tensors({"a": value, "b": 1.0})
    return _passes(tf, dataset, 2), dataset.output_types, dataset.output_shapes


def slices(tf):
    dataset = tf.data.Dataset.from_tensor_slices((_sparse(tf), ["a", "b", "c"]))
    return _passes(tf, dataset, 4), _types(dataset)


def triples_of_slices(tf):
    dataset = tf.data.Dataset.from_sparse_tensor_slices(_sparse(tf))
    return _passes(tf, dataset, 4), _types(dataset)


def batches(tf):
    dataset = tf.data.Dataset.from_tensor_slices(_sparse(tf))
    made = [dataset.batch(2), dataset.batch(2, drop_remainder=True), dataset.batch(1).batch(2), dataset.batch(2).unbatch(), dataset.repeat(2).skip(2).batch(3)]
    return [(_passes(tf, d, 4), _types(d)) for d in made]


def batches_of_other_sizes(tf):
    dataset = tf.data.Dataset.range(1, 4).map(lambda n: tf.SparseTensor([[n - 1]], [n], [n]))
    return _passes(tf, dataset.batch(3), 1), _types(dataset), _types(dataset.batch(3))


def mapped(tf):
    dataset = tf.data.Dataset.from_tensor_slices(_sparse(tf))
    dense = dataset.map(tf.sparse_tensor_to_dense)
    doubled = dataset.map(lambda s: (tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape), tf.size(s.values)))
    return _passes(tf, dense), _types(dense), _passes(tf, doubled), _types(doubled)


def kept(tf):
    dataset = tf.data.Dataset.from_tensor_slices(_sparse(tf)).filter(lambda s: tf.size(s.values) > 0)
    return _passes(tf, dataset), _passes(tf, tf.data.Dataset.zip((dataset, tf.data.Dataset.range(9))))


def parsed(tf):
    def example(*values):
        return tf.train.Example(features=tf.train.Features(feature={"v": tf.train.Feature(int64_list=tf.train.Int64List(value=values))})).SerializeToString()

    features = {"v": tf.VarLenFeature(tf.int64)}
    dataset = tf.data.Dataset.from_tensor_slices([example(1, 2), example(), example(3)])
    single = dataset.map(lambda e: tf.parse_single_example(e, features))
    many = dataset.batch(3).map(lambda e: tf.parse_example(e, features)["v"])
    return _passes(tf, single), _passes(tf, single.batch(2)), _passes(tf, many), single.output_types, single.output_shapes, single.batch(2).output_shapes


def windows(tf):
    dataset = tf.data.Dataset.from_tensor_slices(_sparse(tf)).window(2).flat_map(lambda w: w.batch(2))
    return _passes(tf, dataset)


def states(tf):
    def step(state, s):
        return tf.sparse_add(state, s), tf.size(s.values)

    dataset = tf.data.Dataset.from_tensor_slices(_sparse(tf))
    start = tf.SparseTensor(np.zeros([0, 1], np.int64), np.zeros([0], np.float32), [4])
    total = dataset.reduce(start, lambda state, s: step(state, s)[0])
    with tf.Session() as sess:
        return sess.run(total), _passes(tf, dataset.apply(tf.data.experimental.scan(start, step)))


def iterators(tf):
    dataset = tf.data.Dataset.from_tensor_slices((_sparse(tf), [1, 2, 3]))
    classes = tf.SparseTensor, tf.Tensor
    it = tf.data.Iterator.from_structure(dataset.output_types, dataset.output_shapes, output_classes=classes)
    start, x = it.make_initializer(dataset), it.get_next()
    handle = tf.placeholder(tf.string, [])
    fed = tf.data.Iterator.from_string_handle(handle, dataset.output_types, dataset.output_shapes, classes)
    one = dataset.make_one_shot_iterator()
    y = fed.get_next()
    with tf.Session() as sess:
        sess.run(start)
        return sess.run(x), sess.run(y, {handle: sess.run(one.string_handle())}), x[0].dense_shape.shape, x[0].indices.shape


def specs(tf):
    spec = tf.SparseTensorSpec([None, 3], tf.int32)
    value = tf.SparseTensor([[0, 1]], [5], [2, 3])
    same = spec == tf.SparseTensorSpec([None, 3], tf.int32), spec == tf.SparseTensorSpec([2, 3], tf.int32), spec != tf.TensorSpec([None, 3], tf.int32)
    fits = [spec.is_compatible_with(x) for x in (value, tf.SparseTensorSpec([2, 3], tf.int32), tf.SparseTensorSpec([2, 4], tf.int32), tf.zeros([2, 3], tf.int32))]
    widest = spec.most_specific_compatible_type(tf.SparseTensorSpec([5, 4], tf.int32))
    kinds = isinstance(spec, tf.TypeSpec), isinstance(tf.TensorSpec([]), tf.TypeSpec), isinstance(tf.data.DatasetSpec(spec), tf.TypeSpec)
    return repr(spec), same, fits, repr(widest), kinds, repr(tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)))


def what_cannot_be(tf):
    dataset = tf.data.Dataset.from_tensor_slices(_sparse(tf))
    return mistakes(
        tf,
        padded=lambda: tf.data.Dataset.from_tensor_slices(_sparse(tf)).padded_batch(2, [None]),
        scalar=lambda: tf.data.Dataset.from_tensor_slices(tf.SparseTensor(np.zeros([1, 0], np.int64), [1], np.zeros([0], np.int64))),
        triples=lambda: tf.data.Dataset.from_sparse_tensor_slices([1]),
    )
