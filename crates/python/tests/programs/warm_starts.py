"""Variables that begin with the values of a checkpoint."""

import os
import tempfile

import numpy as np

from programs.raised import WHOLE, caught


def _saved(tf):
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("table", initializer=np.arange(8.0, dtype=np.float32).reshape([4, 2]))
        tf.get_variable("kernel", initializer=np.arange(6.0, dtype=np.float32).reshape([2, 3]) + 20.0)
        tf.get_variable("bias", initializer=[7.0, 8.0], trainable=False)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, os.path.join(folder, "model"))
    words = {}
    for name, text in (("old", "red\ngreen\nblue\ngrey\n"), ("new", "blue\npink\nred\n"), ("classes", "a\nb\nc\n"), ("more", "c\nd\na\n")):
        words[name] = os.path.join(folder, name + ".txt")
        with open(words[name], "w") as file:
            file.write(text)
    return path, words


def _values(tf, *variables):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(variables)


def all_trainable_variables(tf):
    path, _ = _saved(tf)
    v, w, b = tf.get_variable("table", [4, 2]), tf.get_variable("new", [2, 3]), tf.get_variable("bias", initializer=[1.0, 2.0], trainable=False)
    tf.train.warm_start(path, var_name_to_prev_var_name={"new": "kernel"})
    return _values(tf, v, w, b)


def variables_by_pattern(tf):
    path, _ = _saved(tf)
    v, b = tf.get_variable("table", initializer=tf.zeros([4, 2])), tf.get_variable("bias", initializer=[1.0, 2.0], trainable=False)
    tf.train.warm_start(os.path.dirname(path), vars_to_warm_start=["bi.*"])
    return _values(tf, v, b)


def rows_of_words(tf):
    path, words = _saved(tf)
    info = tf.train.VocabInfo(words["new"], 3, 1, words["old"])
    backed = tf.train.VocabInfo(words["new"], 2, 2, words["old"], 2, tf.ones_initializer())
    v, w = tf.get_variable("table", [4, 2]), tf.get_variable("other", [4, 2])
    tf.train.warm_start(path, ".*", {"table": info, "other": backed}, {"other": "table"})
    return info[1:3], info[4:], _values(tf, v, w)


def columns_of_words(tf):
    path, words = _saved(tf)
    info = tf.train.VocabInfo(words["more"], 3, 0, words["classes"], 3, tf.ones_initializer(), 1)
    k, v = tf.get_variable("kernel", [2, 3]), tf.get_variable("table", initializer=tf.zeros([4, 2]))
    tf.train.warm_start(path, None, {"kernel": info})
    return _values(tf, k, v)


def parts_of_rows_of_words(tf):
    path, words = _saved(tf)
    info = tf.train.VocabInfo(words["new"], 3, 1, words["old"], backup_initializer=tf.ones_initializer())
    v = tf.get_variable("table", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    tf.train.warm_start(path, var_name_to_vocab_info={"table": info})
    return _values(tf, *v)


def refusals_of_warm_starts(tf):
    path, words = _saved(tf)
    info = tf.train.VocabInfo(words["new"], 3, 1, words["old"])
    return [
        caught(lambda: tf.train.VocabInfo("a", 3, 1, "b", axis=2), WHOLE),
        caught(lambda: tf.train.warm_start(path, 3), WHOLE),
        caught(lambda: tf.train.warm_start(path, "x", var_name_to_prev_var_name={"q": "r"}), WHOLE),
        caught(lambda: tf.train.warm_start(path, None, {"q": info}), WHOLE),
        type(caught(lambda: tf.train.warm_start("/no/such"), "")).__name__,
    ]
