"""`Saver` with all arguments: names, retention, contents, errors, finding checkpoints."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, inside, nodes, run


def _dir():
    return tempfile.mkdtemp()


def _saved(tf, values, **kwargs):
    """Saves a checkpoint of variables by name; returns its path."""
    path = os.path.join(_dir(), "model")
    with tf.Graph().as_default():
        made = [tf.Variable(v, name=n) for n, v in values.items()]
        saver = tf.train.Saver(**kwargs)
        with tf.Session() as sess:
            sess.run([v.initializer for v in made])
            saver.save(sess, path)
    return path


def _files(folder):
    return sorted(os.listdir(folder))


def files_of_a_checkpoint(tf):
    path = _saved(tf, {"v": 1.0, "w": [1, 2]})
    return _files(os.path.dirname(path))


def files_without_a_meta_graph(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        path = saver.save(sess, os.path.join(folder, "m"), write_meta_graph=False, write_state=False)
    return os.path.basename(path), _files(folder), tf.train.latest_checkpoint(folder)


def steps_in_names(tf):
    folder = _dir()
    tf.Variable(1.0)
    step = tf.Variable(7, name="step")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        out = [os.path.basename(saver.save(sess, os.path.join(folder, "m"), global_step=s)) for s in (3, step)]
    return out, _files(folder)


def steps_padded(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver(pad_step_number=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [os.path.basename(saver.save(sess, os.path.join(folder, "m"), global_step=s)) for s in (3, 123456789)]


def latest_filename_and_suffix(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        saver.save(sess, os.path.join(folder, "m"), global_step=1, latest_filename="newest", meta_graph_suffix="graph")
    return _files(folder), tf.train.latest_checkpoint(folder), os.path.basename(tf.train.latest_checkpoint(folder, "newest"))


def what_is_kept(tf):
    out = []
    for keep in (1, 2, 0, None):
        folder = _dir()
        with tf.Graph().as_default():
            tf.Variable(1.0)
            saver = tf.train.Saver(max_to_keep=keep)
            with tf.Session() as sess:
                initialize(tf, sess)
                for n in range(3):
                    saver.save(sess, os.path.join(folder, "m"), global_step=n, write_meta_graph=False)
            out.append(([f for f in _files(folder) if f.endswith(".index")], [os.path.basename(p) for p in saver.last_checkpoints]))
    return out


def saving_the_same_again(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as sess:
        initialize(tf, sess)
        for n in (1, 2, 1):
            saver.save(sess, os.path.join(folder, "m"), global_step=n)
    return [os.path.basename(p) for p in saver.last_checkpoints], [f for f in _files(folder) if f.endswith(".meta")]


def kept_for_good(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=0.0)
    with tf.Session() as sess:
        initialize(tf, sess)
        for n in range(3):
            saver.save(sess, os.path.join(folder, "m"), global_step=n, write_meta_graph=False)
    return [f for f in _files(folder) if f.endswith(".index")], [os.path.basename(p) for p in saver.last_checkpoints]


def recovered_list(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=3)
    with tf.Session() as sess:
        initialize(tf, sess)
        paths = [saver.save(sess, os.path.join(folder, "m"), global_step=n, write_meta_graph=False) for n in range(2)]
    other = tf.train.Saver(max_to_keep=2)
    other.recover_last_checkpoints(paths + [os.path.join(folder, "gone")])
    found = [os.path.basename(p) for p in other.last_checkpoints]
    other.set_last_checkpoints_with_time([(p, 1.0) for p in paths])
    again = [os.path.basename(p) for p in other.last_checkpoints]
    other.set_last_checkpoints([paths[0]])
    return found, again, [os.path.basename(p) for p in other.last_checkpoints]


def state_file(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        for n in (1, 2):
            saver.save(sess, os.path.join(folder, "m"), global_step=n, write_meta_graph=False)
    with open(os.path.join(folder, "checkpoint")) as f:
        lines = f.read().replace(folder, "DIR").splitlines()
    state = tf.train.get_checkpoint_state(folder)
    return [line for line in lines if "timestamp" not in line], [os.path.basename(p) for p in state.all_model_checkpoint_paths]


def state_file_with_relative_paths(tf):
    folder = _dir()
    tf.Variable(1.0)
    saver = tf.train.Saver(save_relative_paths=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        for n in (1, 2):
            saver.save(sess, os.path.join(folder, "m"), global_step=n, write_meta_graph=False)
    with open(os.path.join(folder, "checkpoint")) as f:
        lines = f.read().splitlines()
    return [line for line in lines if "timestamp" not in line], tf.train.latest_checkpoint(folder) == os.path.join(folder, "m-2")


def by_names_of_ones_own(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    path = os.path.join(_dir(), "m")
    with tf.Session() as sess:
        initialize(tf, sess)
        tf.train.Saver({"a/b": v, "c": w}).save(sess, path)
    with tf.Session() as sess:
        tf.train.Saver({"c": v, "a/b": w}).restore(sess, path)
        return tf.train.list_variables(path), sess.run([v, w])


def kinds_of_variables(tf):
    made = [
        tf.Variable([1, 2], name="i"),
        tf.Variable([1.5], name="f", use_resource=True),
        tf.Variable(["a", "bc"], name="s"),
        tf.Variable(True, name="b"),
        tf.Variable(np.arange(4, dtype=np.int64).reshape(2, 2), name="l", use_resource=True),
        tf.Variable(1 + 2j, name="c"),
        tf.Variable(np.float16(1.5), name="h"),
    ]
    path = os.path.join(_dir(), "m")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        saver.save(sess, path)
    with tf.Session() as sess:
        saver.restore(sess, path)
        values = sess.run(made)
    r = tf.train.NewCheckpointReader(path)
    return values, sorted((k, d.name) for k, d in r.get_variable_to_dtype_map().items()), sorted(r.get_variable_to_shape_map().items())


def what_a_saver_takes(tf):
    v, w = tf.Variable(1.0, name="v"), tf.get_variable("scope/w", [2], use_resource=True)
    return (
        caught(lambda: tf.train.Saver([v, w]), WHOLE),
        caught(lambda: tf.train.Saver((v, w)), WHOLE),
        caught(lambda: tf.train.Saver({"a": v, "b": v}), WHOLE),
        caught(lambda: tf.train.Saver([v, v]), WHOLE),
        caught(lambda: tf.train.Saver([tf.constant(1.0)]), WHOLE),
        caught(lambda: tf.train.Saver({"x": tf.constant(1.0)}), WHOLE),
        caught(lambda: tf.train.Saver([]), WHOLE),
        caught(lambda: tf.train.Saver({}), WHOLE),
        caught(lambda: tf.train.Saver([v], defer_build=True), WHOLE),
    )


def nothing_to_save(tf):
    saver = tf.train.Saver(allow_empty=True)
    with tf.Session() as sess:
        return caught(lambda: tf.train.Saver(), WHOLE), saver.save(sess, os.path.join(_dir(), "m")), caught(lambda: saver.restore(sess, "x"), WHOLE)


def built_later(tf):
    saver = tf.train.Saver(defer_build=True)
    before = len(nodes(tf))
    v = tf.Variable(3.0, name="v")
    saver.build()
    path = os.path.join(_dir(), "m")
    with tf.Session() as sess:
        initialize(tf, sess)
        saver.save(sess, path)
    with tf.Session() as sess:
        saver.restore(sess, path)
        return before, sess.run(v), caught(saver.build, WHOLE)


def not_a_valid_path(tf):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        return (
            caught(lambda: saver.restore(sess, None), WHOLE),
            caught(lambda: saver.restore(sess, "no/such/checkpoint"), WHOLE),
            caught(lambda: saver.save(sess, ""), WHOLE),
        )


def missing_in_the_checkpoint(tf):
    path = _saved(tf, {"v": 1.0})
    tf.Variable(1.0, name="w")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        return caught(lambda: saver.restore(sess, path), "Key w not found in checkpoint")


def another_shape_in_the_checkpoint(tf):
    path = _saved(tf, {"v": [1.0, 2.0]})
    tf.Variable([1.0, 2.0, 3.0], name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        return caught(lambda: saver.restore(sess, path), "Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= [2]")


def another_dtype_in_the_checkpoint(tf):
    path = _saved(tf, {"v": [1, 2]})
    tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        return caught(lambda: saver.restore(sess, path))


def reshaped(tf):
    path = _saved(tf, {"v": [[1.0, 2.0], [3.0, 4.0]]})
    v = tf.Variable([0.0] * 4, name="v")
    saver = tf.train.Saver(reshape=True)
    with tf.Session() as sess:
        saver.restore(sess, path)
        return sess.run(v)


def uninitialized_cannot_be_saved(tf):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        return caught(lambda: saver.save(sess, os.path.join(_dir(), "m")), "Attempting to use uninitialized value v")


def parent_folder_missing(tf):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        initialize(tf, sess)
        return caught(lambda: saver.save(sess, os.path.join(_dir(), "no", "such", "m")))


def sharded_files(tf):
    folder = _dir()
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        path = saver.save(sess, os.path.join(folder, "m"))
        saver.restore(sess, path)
        return os.path.basename(path), _files(folder)


def saver_def(tf):
    tf.Variable(1.0, name="v")
    a = tf.train.Saver(name="mine", max_to_keep=3, sharded=True, keep_checkpoint_every_n_hours=2.0).as_saver_def()
    b = tf.train.Saver().as_saver_def()
    return [[(f.name, getattr(d, f.name)) for f in d.DESCRIPTOR.fields] for d in (a, b)]


def from_a_saver_def(tf):
    v = tf.Variable(3.0, name="v")
    d = tf.train.Saver().as_saver_def()
    saver = tf.train.Saver(saver_def=d)
    other = tf.train.Saver.from_proto(d)
    path = os.path.join(_dir(), "m")
    with tf.Session() as sess:
        initialize(tf, sess)
        saver.save(sess, path)
    with tf.Session() as sess:
        other.restore(sess, path)
        return sess.run(v)


def nodes_of_a_saver(tf):
    tf.Variable(1.0, name="v")
    tf.Variable([1], name="w", use_resource=True)
    start = len(nodes(tf))
    tf.train.Saver()
    tf.train.Saver(name="mine")
    return nodes(tf)[start:]


def nodes_of_a_sharded_saver(tf):
    tf.Variable(1.0, name="v")
    start = len(nodes(tf))
    tf.train.Saver(sharded=True)
    return nodes(tf)[start:]


def checkpoint_functions(tf):
    path = _saved(tf, {"v": 1.0})
    return (
        tf.train.checkpoint_exists(path),
        tf.train.checkpoint_exists(path + "x"),
        len(tf.train.get_checkpoint_mtimes([path, path + "x"])),
        tf.train.latest_checkpoint(os.path.dirname(path)) == path,
        tf.train.latest_checkpoint("no/such/folder"),
        tf.train.get_checkpoint_state("no/such/folder"),
    )


def removed(tf):
    path = _saved(tf, {"v": 1.0})
    tf.train.remove_checkpoint(path)
    return _files(os.path.dirname(path)), tf.train.checkpoint_exists(path)


def state_updated_by_hand(tf):
    folder = _dir()
    tf.train.update_checkpoint_state(folder, os.path.join(folder, "a"), [os.path.join(folder, "b")])
    state = tf.train.get_checkpoint_state(folder)
    proto = tf.train.generate_checkpoint_state_proto(folder, os.path.join(folder, "m"))
    return os.path.basename(state.model_checkpoint_path), [os.path.basename(p) for p in state.all_model_checkpoint_paths], os.path.basename(proto.model_checkpoint_path), len(proto.all_model_checkpoint_paths)


def reader_refusals(tf):
    path = _saved(tf, {"v": 1.0})
    r = tf.train.NewCheckpointReader(path)
    return caught(lambda: r.get_tensor("nope")), caught(lambda: tf.train.NewCheckpointReader(path + "x")), r.debug_string(), sorted(r.get_variable_to_shape_map())


def list_and_load(tf):
    path = _saved(tf, {"v": [1.0, 2.0], "w": 3})
    folder = os.path.dirname(path)
    return tf.train.list_variables(folder), tf.train.load_variable(folder, "v"), tf.train.load_checkpoint(folder).has_tensor("w"), caught(lambda: tf.train.load_checkpoint(_dir()), "Couldn't find 'checkpoint' file or checkpoints in given directory")


def restored_in_part(tf):
    path = _saved(tf, {"v": 1.0, "w": 2.0})
    v, w = tf.Variable(5.0, name="v"), tf.Variable(6.0, name="w")
    with tf.Session() as sess:
        initialize(tf, sess)
        tf.train.Saver([w]).restore(sess, path)
        return sess.run([v, w])


def paths_in_bytes(tf):
    """Programs for both Pythons pass paths as bytes, and some functions of TensorFlow return them."""
    folder = _dir()
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, os.path.join(folder, "m"), global_step=1).encode()
        sess.run(v.assign([0.0, 0.0]))
        saver.restore(sess, path)
        restored = sess.run(v)
        sess.run(v.assign([0.0, 0.0]))
        tf.contrib.framework.assign_from_checkpoint_fn(path, [v])(sess)
        assigned = sess.run(v)
    reader = tf.train.NewCheckpointReader(path)
    with tf.Graph().as_default():
        tf.train.import_meta_graph(path + b".meta")
        imported = [v.name for v in tf.global_variables()]
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", [2])
        tf.train.init_from_checkpoint(path, {"v": w})
        sess.run(tf.global_variables_initializer())
        started = sess.run(w)
    found = tf.train.list_variables(path), tf.train.load_variable(path, "v"), reader.has_tensor("v")
    return restored, assigned, imported, started, found


def times_of_old_checkpoints(tf):
    """Checkpoints of the first format, whole and in shards, have a time too."""
    folder, v = tempfile.mkdtemp(), tf.get_variable("v", initializer=[1.0, 2.0])
    whole = tf.train.Saver(write_version=tf.train.SaverDef.V1)
    shards = tf.train.Saver(write_version=tf.train.SaverDef.V1, sharded=True)
    with tf.Session() as sess:
        sess.run(v.initializer)
        paths = [whole.save(sess, os.path.join(folder, "a")), shards.save(sess, os.path.join(folder, "b"))]
    return len(tf.train.get_checkpoint_mtimes(paths)), len(tf.train.get_checkpoint_mtimes([p + "x" for p in paths]))


def of_a_builder(tf):
    """`builder` makes the nodes that write and read."""
    saver_module = inside("python.training.saver")

    class Twice(saver_module.BaseSaverBuilder):
        def restore_op(self, filename_tensor, saveable, preferred_shard):
            return [x * 2 for x in super(Twice, self).restore_op(filename_tensor, saveable, preferred_shard)]

    class Bulk(saver_module.BulkSaverBuilder):
        def save_op(self, filename_tensor, saveables):
            made.append([s.name for s in saveables])
            return super(Bulk, self).save_op(filename_tensor, saveables)

    made, out = [], []
    a = tf.get_variable("a", initializer=3.0)
    b = tf.get_variable("b", initializer=[1.0, 2.0])
    for builder in (Twice(), Bulk()):
        saver = tf.train.Saver(builder=builder)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            saver.restore(sess, saver.save(sess, os.path.join(_dir(), "m")))
            out.append(sess.run([a, b]))
    return made, out
