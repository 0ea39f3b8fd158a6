"""`tf.train.Checkpoint` and `CheckpointManager`: checkpoints of objects that hold variables."""

import os
import tempfile

from programs.raised import WHOLE, caught


def _folder():
    return tempfile.mkdtemp()


def _contents(tf, path):
    reader = tf.train.NewCheckpointReader(path)
    shapes = reader.get_variable_to_shape_map()
    return {name: (shapes[name], reader.get_tensor(name)) for name in sorted(shapes) if not name.startswith("_CHECKPOINTABLE")}


def _described(tf, path):
    from google.protobuf import text_format  # noqa: F401

    data = tf.train.NewCheckpointReader(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    if tf.__name__ == "tensorflow":
        from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph
    else:
        from millstream.protos import TrackableObjectGraph
    graph = TrackableObjectGraph()
    graph.ParseFromString(data)
    nodes = []
    for node in graph.nodes:
        nodes.append(
            (
                sorted((c.local_name, c.node_id) for c in node.children),
                [(a.name, a.full_name, a.checkpoint_key) for a in node.attributes],
                [(s.slot_name, s.original_variable_node_id, s.slot_variable_node_id) for s in node.slot_variables],
            )
        )
    return nodes


def variables_by_name(tf):
    v, w = tf.get_variable("a/v", initializer=[1.0, 2.0]), tf.get_variable("w", initializer=3)
    checkpoint = tf.train.Checkpoint(**{"weight": v, "x/y.z": w})
    folder = _folder()
    with tf.Session() as sess:
        sess.run([v.initializer, w.initializer])
        path = checkpoint.save(os.path.join(folder, "ckpt"))
        other = checkpoint.write(os.path.join(folder, "other"))
        sess.run([v.assign([7.0, 8.0]), w.assign(9)])
        second = checkpoint.save(os.path.join(folder, "ckpt"), session=sess)
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        values = sess.run([v, w, checkpoint.save_counter])
        checkpoint.restore(second).initialize_or_restore(sess)
        again = sess.run([v, w, checkpoint.save_counter])
    latest = tf.train.latest_checkpoint(folder)
    names = [os.path.relpath(p, folder) for p in (path, other, second, latest)]
    return names, _contents(tf, path), _described(tf, path), values, again, [v.name for v in tf.global_variables()]


def an_optimizer_and_its_slots(tf):
    x = tf.get_variable("x", initializer=1.0)
    y = tf.get_variable("y", initializer=[1.0, 1.0])
    optimizer = tf.train.AdamOptimizer(0.1)
    step = optimizer.minimize(x * x + tf.reduce_sum(y))
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, x=x, y=y)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        path = checkpoint.save(os.path.join(_folder(), "c"))
        before = sess.run(tf.global_variables())
        sess.run(step)
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        after = sess.run(tf.global_variables())
    return _contents(tf, path), _described(tf, path), [bool((a == b).all()) for a, b in zip(before, after)]


def lists_and_checkpoints(tf):
    made = [tf.get_variable("v%d" % i, initializer=float(i)) for i in range(4)]
    inner = tf.train.Checkpoint(a=made[0], b=made[1])
    outer = tf.train.Checkpoint(inner=inner)
    outer.many, outer.named = [made[2], made[3]], {"k": made[2]}
    outer.late = made[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = outer.save(os.path.join(_folder(), "c"))
    return _contents(tf, path)


def a_layer(tf):
    layer = tf.layers.Dense(2, name="d", kernel_initializer=tf.ones_initializer())
    layer(tf.ones([1, 3]))
    checkpoint = tf.train.Checkpoint(layer=layer)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(os.path.join(_folder(), "c"))
    return _contents(tf, path)


def without_a_checkpoint(tf):
    v = tf.get_variable("v", initializer=2.0)
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(None)
    with tf.Session() as sess:
        status.initialize_or_restore(sess)
        values = sess.run([v, checkpoint.save_counter])
        wrong = [caught(f, WHOLE) for f in (status.assert_consumed, status.run_restore_ops)]
    return values, wrong, caught(lambda: tf.train.Checkpoint(v=3), "`Checkpoint` was expecting a trackable object")


def parts(tf):
    v, w = tf.get_variable("v", initializer=2.0), tf.get_variable("w", initializer=3.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(v=v, w=w).save(os.path.join(_folder(), "c"))
        sess.run([v.assign(0.0), w.assign(0.0)])
        only = tf.train.Checkpoint(v=v)
        status = only.restore(path)
        status.assert_existing_objects_matched().expect_partial()
        told = caught(status.assert_consumed, "Unresolved object in checkpoint")
        status.initialize_or_restore()
        values = sess.run([v, w])
        u = tf.get_variable("u", initializer=5.0)
        more = tf.train.Checkpoint(v=v, u=u)
        status = more.restore(path)
        unknown = caught(status.assert_existing_objects_matched, "Some Python objects were not bound to checkpointed values, likely due to changes in the Python program: ")
        status.initialize_or_restore()
        return told, values, unknown, sess.run([v, u])


def managed(tf):
    v = tf.get_variable("v", initializer=2.0)
    checkpoint = tf.train.Checkpoint(v=v)
    folder = _folder()
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    empty = manager.latest_checkpoint, manager.checkpoints
    with tf.Session() as sess:
        sess.run(v.initializer)
        paths = [manager.save() for _ in range(3)] + [manager.save(checkpoint_number=9)]
        counter = sess.run(checkpoint.save_counter)
        again = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1, checkpoint_name="model")
        kept = again.checkpoints
        paths.append(again.save())
    short = lambda found: [os.path.relpath(p, folder) for p in found]  # noqa: E731
    files = sorted({name.split(".")[0] for name in os.listdir(folder)})
    return empty, short(paths), counter, short(kept), short(again.checkpoints), files, short([tf.train.latest_checkpoint(folder)]), caught(lambda: tf.train.CheckpointManager(checkpoint, folder, 0), WHOLE)
