"""Checkpoints of TensorFlow's first format: one file, written by a Saver or by ops, and read by both."""

import os
import tempfile

import numpy as np

from programs.tools import caught, run

V1 = 1


def _folder():
    return tempfile.mkdtemp()


def saved_and_restored(tf):
    folder = _folder()
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    n = tf.Variable(np.int64(7), name="n", trainable=False)
    flags = tf.Variable([True, False], name="flags", trainable=False)
    saver = tf.train.Saver(write_version=V1, max_to_keep=2)
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in (1, 2, 3):
            path = saver.save(sess, os.path.join(folder, "model"), global_step=step)
            found.append([os.path.basename(path), sorted(os.listdir(folder))])
            sess.run([w.assign_add([[1.0, 1.0], [1.0, 1.0]]), n.assign_add(1)])
        saver.restore(sess, path)
        found.append(sess.run([w, n, flags]))
        tf.train.Saver().restore(sess, os.path.join(folder, "model-2"))
        found.append(sess.run([w, n, flags]))
    reader = tf.train.NewCheckpointReader(path)
    return (
        found,
        saver.saver_def.version,
        os.path.basename(tf.train.latest_checkpoint(folder)),
        tf.train.checkpoint_exists(path),
        sorted(reader.get_variable_to_shape_map().items()),
        reader.get_tensor("w"),
        reader.has_tensor("n"),
        tf.train.list_variables(path),
        sorted(op.type for op in tf.get_default_graph().get_operations() if "ave" in op.type or "estore" in op.type),
    )


def by_ops(tf):
    path = os.path.join(_folder(), "tensors")
    r = tf.raw_ops
    values = {
        "float32": np.array([1.5, -2.0], np.float32),
        "float64": np.array(2.5),
        "float16": np.array([[0.5], [1.0]], np.float16),
        "int8": np.array([-3, 4], np.int8),
        "uint8": np.array([3, 250], np.uint8),
        "int16": np.array([-300], np.int16),
        "int32": np.arange(6, dtype=np.int32).reshape(2, 3),
        "int64": np.array([2**40, -1]),
        "bool": np.array([True, False, True]),
        "complex64": np.array([1 + 2j, 3], np.complex64),
        "string": np.array([b"a", b"", b"bcd"], object),
        "none": np.zeros([0, 3], np.float32),
    }
    names = sorted(values)
    tensors = [tf.constant(values[n]) for n in names]
    run(tf, r.Save(filename=path, tensor_names=names, data=tensors))
    restored = [r.Restore(file_pattern=path, tensor_name=n, dt=t.dtype) for n, t in zip(names, tensors)]
    part = r.RestoreSlice(file_pattern=path, tensor_name="int32", shape_and_slice="2 3 -:1,2", dt=tf.int32)
    second = r.RestoreV2(prefix=path, tensor_names=["int32", "int64"], shape_and_slices=["2 3 1,1:-", ""], dtypes=[tf.int32, tf.int64])
    return run(tf, [restored, part, list(second)]), part.shape.ndims, restored[0].shape.ndims


def slices(tf):
    path = os.path.join(_folder(), "slices")
    r = tf.raw_ops
    top, rest = tf.constant([[1, 2], [3, 4]]), tf.constant([[5, 6]])
    run(tf, r.SaveSlices(filename=path, tensor_names=["v", "v", "w"], shapes_and_slices=["3 2 0,2:-", "3 2 2,1:-", ""], data=[top, rest, tf.constant(2.0)]))
    made = [r.Restore(file_pattern=path, tensor_name="v", dt=tf.int32), r.RestoreSlice(file_pattern=path, tensor_name="v", shape_and_slice="3 2 1,2:-", dt=tf.int32)]
    return run(tf, made), made[1].shape.as_list(), tf.train.list_variables(path)


def partitioned(tf):
    folder = _folder()
    v = tf.get_variable("v", initializer=tf.constant(np.arange(10.0)), partitioner=tf.fixed_size_partitioner(3))
    saver = tf.train.Saver(write_version=tf.train.SaverDef.V1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, os.path.join(folder, "model"))
        sess.run([part.assign(part * 0.0) for part in v])
        saver.restore(sess, path)
        return sess.run(list(v)), tf.train.list_variables(path), sorted(os.listdir(folder))


def mistakes(tf):
    path = os.path.join(_folder(), "few")
    r = tf.raw_ops
    run(tf, r.Save(filename=path, tensor_names=["v"], data=[tf.constant([1.0])]))
    restore = lambda **how: run(tf, r.Restore(**dict(dict(file_pattern=path, tensor_name="v", dt=tf.float32), **how)))  # noqa: E731
    with open(path + "-bad", "wb") as out:
        out.write(b"no checkpoint at all")
    return [
        caught(lambda: restore(tensor_name="w")),
        caught(lambda: restore(dt=tf.int32)),
        caught(lambda: r.Save(filename=path, tensor_names=["v"], data=[1.0, 2.0])),
    ]
