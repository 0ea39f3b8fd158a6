"""`tf.contrib.framework`: variables in collections, found by name, set from values and checkpoints."""

import os
import tempfile

import numpy as np

from programs.tools import caught, initialize, mistakes


def _made(tf):
    with tf.variable_scope("a"):
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        with tf.variable_scope("b"):
            tf.get_variable("w", initializer=[[3.0]])
    tf.get_variable("ab", initializer=4.0)
    return w


def _saved(tf):
    """Saves the variables above with other values; returns the path."""
    with tf.Graph().as_default(), tf.Session() as sess:
        _made(tf)
        initialize(tf, sess)
        for v in tf.global_variables():
            v.load(np.asarray(sess.run(v)) * 10, sess)
        return tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), "model"))


def _names(values):
    return [v.name for v in values]


def made(tf):
    framework = tf.contrib.framework
    a = framework.variable("a", [2], collections=["mine", "mine"], device="/cpu:0")
    b = framework.variable("b", [2], trainable=False)
    c = framework.model_variable("c", [2], collections=["mine"], regularizer=tf.contrib.layers.l2_regularizer(0.5))
    d = framework.local_variable([1, 2], name="d")
    e = framework.global_variable(3.5, name="e")
    f = framework.variable("f", initializer=np.float64([1, 2]))
    framework.add_model_variable(b)
    framework.add_model_variable(b)
    keys = "mine", "variables", "trainable_variables", "model_variables", "local_variables", "regularization_losses"
    return [v.dtype for v in (a, b, c, d, e, f)], a.device, {key: _names(tf.get_collection(key)) for key in keys}


def made_in_scopes(tf):
    framework = tf.contrib.framework
    with framework.arg_scope([framework.variable, framework.model_variable], trainable=False, device="/device:CPU:0"):
        a = framework.variable("a", [2])
        b = framework.model_variable("b", [2], trainable=True)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        c, d = framework.model_variable("c", [2]), framework.model_variable("c", [2])
    return c is d, a.device, b.device, _names(tf.trainable_variables()), _names(tf.model_variables())


def made_by_getters(tf):
    framework = tf.contrib.framework

    def untrained(getter, *args, **kwargs):
        kwargs["trainable"] = False
        return getter(*args, **kwargs)

    with tf.variable_scope("s", custom_getter=untrained):
        framework.model_variable("a", [2])
    framework.model_variable("b", [2], custom_getter=lambda name, *args, **kwargs: tf.get_variable(name + "_renamed", [3], collections=kwargs["collections"]))
    return _names(tf.global_variables()), _names(tf.trainable_variables()), _names(tf.model_variables())


def found(tf):
    framework = tf.contrib.framework
    w = _made(tf)
    tf.add_to_collection("model_variables", w)
    with tf.variable_scope("a") as scope:
        pass
    return [
        _names(framework.get_variables(scope)),
        _names(framework.get_variables("a")),
        _names(framework.get_variables(suffix="w")),
        _names(framework.get_variables("a/b", "w")),
        _names(framework.get_model_variables()),
        _names(framework.get_local_variables()),
        _names(framework.get_trainable_variables("a/")),
        _names(framework.get_variables_by_name("w")),
        _names(framework.get_variables_by_name("b")),
        _names(framework.get_variables_by_name("ab")),
        _names(framework.get_variables_by_suffix("b")),
        _names(framework.get_variables_to_restore(["a"], ["a/b"])),
        _names(framework.get_variables_to_restore(["a/b", "a"])),
        _names(framework.get_variables_to_restore(exclude=["a"])),
        framework.get_unique_variable("a/b/w").name,
        framework.get_variable_full_name(w),
        _names(framework.filter_variables(tf.global_variables(), ["b"], ["a/b"])),
        _names(framework.filter_variables(tf.global_variables(), ["b", "a"], reg_search=False)),
        _names(framework.filter_variables(tf.global_variables(), exclude_patterns=["w"])),
    ]


def found_wrong(tf):
    framework = tf.contrib.framework

    def with_variables(function):
        def situation():
            _made(tf)
            return function()

        return situation

    return mistakes(
        tf,
        none=lambda: framework.get_unique_variable("a"),
        many=with_variables(lambda: framework.get_unique_variable("a")),
        include=lambda: framework.get_variables_to_restore("a"),
        exclude=lambda: framework.get_variables_to_restore(exclude="a"),
        values=lambda: framework.assign_from_values({"w": np.ones(1)}),
        values_many=with_variables(lambda: framework.assign_from_values({"a": np.ones(1)})),
        empty=lambda: framework.assign_from_checkpoint_fn("no", []),
    )


def assigned(tf):
    framework = tf.contrib.framework
    _made(tf)
    op, feeds = framework.assign_from_values({"a/w": np.float32([5, 6]), "a/b/w": np.float32([7])})
    function = framework.assign_from_values_fn({"ab": np.array(8, np.float32)})
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(op, feeds)
        before = sess.run(tf.global_variables())
        return sorted(p.name for p in feeds), before, function(sess), sess.run(tf.global_variables())


def restored(tf):
    framework = tf.contrib.framework
    path = _saved(tf)
    w = _made(tf)
    op, feeds = framework.assign_from_checkpoint(path, [w, framework.get_unique_variable("ab")])
    other = framework.assign_from_checkpoint(path, {"ab": framework.get_unique_variable("ab"), "a/b/w": [framework.get_unique_variable("a/b/w")]})
    function = framework.assign_from_checkpoint_fn(path, {"a/w": w})
    found = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for run in (lambda: sess.run(op, feeds), lambda: sess.run(*other), lambda: sess.run(tf.global_variables_initializer()), lambda: function(sess)):
            run()
            found.append(sess.run(tf.global_variables()))
    return op.name, sorted(p.name for p in feeds), found


def restored_in_part(tf):
    framework = tf.contrib.framework
    path = _saved(tf)
    w, other = _made(tf), tf.get_variable("other", initializer=1.0)
    wide = tf.get_variable("wide", initializer=[[0.0], [0.0]])
    op, feeds = framework.assign_from_checkpoint(path, [w, other], ignore_missing_vars=True)
    none = framework.assign_from_checkpoint_fn(path, [other], ignore_missing_vars=True)
    some = framework.assign_from_checkpoint_fn(path, [w, other], ignore_missing_vars=True)
    reshaped = framework.assign_from_checkpoint_fn(path, {"a/w": wide}, reshape_variables=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(op, feeds)
        first = sess.run(w)
        initialize(tf, sess)
        some(sess)
        reshaped(sess)
        return first, none, sess.run([w, other, wide])


def restored_to_parts(tf):
    path = _saved(tf)
    with tf.variable_scope("a"):
        cut = tf.get_variable("w", [2], partitioner=tf.fixed_size_partitioner(2))
    framework = tf.contrib.framework
    op, feeds = framework.assign_from_checkpoint(path, list(cut))
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(op, feeds)
        return sess.run(list(cut)), [framework.get_variable_full_name(v) for v in cut]


def restored_wrong(tf):
    framework = tf.contrib.framework
    path = _saved(tf)
    v = tf.get_variable("v", [3])
    return (
        caught(lambda: framework.assign_from_checkpoint(path, [v]), "Checkpoint is missing variable [v]"),
        caught(lambda: framework.assign_from_checkpoint(path, {"a/w": v}), "Total size of new array must be unchanged for a/w lh_shape: [(2,)], rh_shape: [(3,)]"),
    )


def places(tf):
    choose = tf.contrib.framework.VariableDeviceChooser
    v = tf.get_variable("v", [2])
    found = []
    for chooser in (choose(2), choose(), choose(3, "worker", "GPU", 1, 2)):
        found.append([chooser(v.op) for _ in range(4)])
    return found
