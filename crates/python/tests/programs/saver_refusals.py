"""What `Saver` refuses: variables, definitions and steps of the wrong kind."""

import os
import tempfile

from programs.tools import WHOLE, caught, inside


def what_is_saved(tf):
    v = tf.Variable(1.0, name="v")
    return [
        caught(lambda: tf.train.Saver(v), WHOLE),
        caught(lambda: tf.train.Saver({3: v}), WHOLE),
        caught(lambda: tf.train.Saver({"v": v}, saver_def=tf.train.SaverDef()), "saver_def must specify the save_tensor_name"),
    ]


def built_late(tf):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver(defer_build=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = os.path.join(tempfile.mkdtemp(), "m")
        refused = caught(lambda: saver.save(sess, path), WHOLE)
        saver.build()
        return refused, os.path.basename(saver.save(sess, path))


def steps(tf):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = os.path.join(tempfile.mkdtemp(), "m")
        return caught(lambda: saver.save(sess, path, global_step=1.5), WHOLE), [os.path.basename(saver.save(sess, path, global_step=s)) for s in (3, tf.constant(4))]


def names_of_graphs(tf):
    management = inside("python.training.checkpoint_management")
    return [management.meta_graph_filename(*a) for a in (("a/b-3",), ("a/b", "x"), ("a/b-00000-of-00002",), ("a/b-?????-of-00002",))]
