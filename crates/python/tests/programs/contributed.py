"""`tf.contrib`, `tf.graph_util` and templates, as used by loops and training."""

import json

import numpy as np

from programs.tools import caught, initialize, run


def templates(tf):
    def scale(x, by=1):
        return x * tf.get_variable("w", [], initializer=tf.constant_initializer(2.0)) * by

    first = tf.make_template("t", scale)
    y, z = first(tf.constant(1.0)), first(tf.constant(2.0), by=3)
    u = tf.make_template("t", scale)(1.0)
    now = tf.make_template("q", scale, create_scope_now_=True, by=5)
    v = now(1.0)
    names = [t.name for t in (y, z, u, v)], [x.name for x in tf.global_variables()], [x.name for x in first.variables]
    return names, first.name, first.variable_scope.name, now.var_scope.name, run(tf, [y, z, u, v])


def templates_that_make_more(tf):
    def grows(x):
        return x * tf.get_variable("w%d" % len(tf.global_variables()), [])

    template = tf.make_template("t", grows)
    template(1.0)
    return caught(lambda: template(1.0), "Variable t/w1 does not exist, or was not created with tf.get_variable().")


def variables_made_constants(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    r = tf.get_variable("r", [2], initializer=tf.ones_initializer(), use_resource=True)
    tf.add(v * 2, r, name="y")
    tf.constant(1, name="unused")
    util = tf.graph_util
    with tf.Session() as sess:
        initialize(tf, sess)
        frozen = util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
        partly = util.convert_variables_to_constants(sess, sess.graph_def, ["y"], variable_names_blacklist=["v"])
        part = util.extract_sub_graph(sess.graph_def, ["y"])
    with tf.Graph().as_default():
        (y,) = tf.import_graph_def(frozen, return_elements=["y:0"], name="")
        value = run(tf, y)
    return value, [[(n.name, n.op) for n in d.node] for d in (frozen, partly, part)]


def parts_of_graphs(tf):
    c = tf.constant(1.0, name="c")
    tf.identity(tf.identity(c, name="i"), name="j") + 1.0
    d = tf.get_default_graph().as_graph_def()
    util = tf.graph_util
    return (
        [(n.name, n.op, list(n.input)) for n in util.remove_training_nodes(d).node],
        caught(lambda: util.extract_sub_graph(d, ["nope"]), "nope is not in graph"),
        caught(lambda: util.extract_sub_graph(d, "nope"), "dest_nodes must be a list."),
    )


def hyperparameters(tf):
    make = tf.contrib.training.HParams
    h = make(lr=0.1, layers=[1, 2], name="x", flag=True, n=3)
    h.parse("lr=0.5,layers=[3,4,5],flag=false")
    h.add_hparam("z", 2)
    h.set_hparam("n", 7)
    h.parse_json('{"name": "y"}')
    h.override_from_dict({"z": 9})
    h.del_hparam("flag")
    return h.lr, h.layers, h.n, json.loads(h.to_json()), "lr" in h, "flag" in h, h.get("nope", 3), str(h), sorted(h.values().items(), key=str)


def hyperparameters_misused(tf):
    make = tf.contrib.training.HParams
    return (
        caught(lambda: make(lr=0.1).parse("q=3"), "Unknown hyperparameter type for q"),
        caught(lambda: make(lr=0.1).parse("lr=x"), "Could not parse hparam 'lr' of type 'float' with value 'x' in lr=x"),
        caught(lambda: make(lr=0.1).parse("lr"), "Malformed hyperparameter value: lr"),
        caught(lambda: make(l=[1, 2]).parse("l=3"), "Must pass a list for multi-valued parameter: l."),
        caught(lambda: make(lr=0.1).add_hparam("lr", 2), "Hyperparameter name is reserved: lr"),
        caught(lambda: make(lr=0.1).set_hparam("lr", [2]), "Must not pass a list for single-valued parameter: lr"),
        caught(lambda: make(n=1).set_hparam("n", 2.5), "Could not cast hparam 'n' of type '<class 'int'>' from value 2.5"),
        caught(lambda: make(n=1).set_hparam("n", "7"), "Could not cast hparam 'n'"),
    )


def arguments_by_blocks(tf):
    f = tf.contrib.framework

    @f.add_arg_scope
    def layer(x, a=1, b=2):
        return x, a, b

    with f.arg_scope([layer], a=5):
        with f.arg_scope([layer], b=7) as scope:
            out = [layer(0), layer(0, a=3)]
    with f.arg_scope(scope):
        out.append(layer(1))
    return out, layer(0), f.has_arg_scope(layer), f.arg_scoped_arguments(layer), caught(lambda: f.arg_scope([len], a=1).__enter__(), "is not decorated with @add_arg_scope")


def shapes_checked(tf):
    f = tf.contrib.framework
    x = tf.placeholder(tf.float32, [None, 2])
    y = f.with_shape([2, 2], x)
    return (
        f.with_shape([2, 2], tf.zeros([2, 2])).name,
        run(tf, y, {x: np.ones([2, 2])}),
        caught(lambda: f.with_shape([2, 3], tf.zeros([2, 2])), "Invalid shape for tensor zeros_1:0, expected [2 3], got (2, 2)."),
        f.smart_cond(True, lambda: 1, lambda: 2),
        f.smart_cond(tf.constant(False), lambda: 1, lambda: 2),
        bool(f.smart_constant_value(tf.constant(True))),
    )


def variables_found(tf):
    f = tf.contrib.framework
    for name in ("a/x", "a/y", "b/x"):
        tf.get_variable(name, [1])
    with tf.name_scope("n"):
        inside = f.get_name_scope()
    lists = [f.get_variables("a"), f.get_variables_by_suffix("x"), f.get_variables_by_name("x"), f.get_trainable_variables("b")]
    return [[v.name for v in l] for l in lists], inside, f.get_name_scope(), f.get_unique_variable("a/x").name, caught(lambda: f.get_unique_variable("zz"), "Couldn't find variable zz")


def layers_in_both_directions(tf):
    r = tf.contrib.rnn

    def cells():
        return [r.BasicRNNCell(2), r.BasicRNNCell(2)]

    x = tf.reshape(tf.range(12.0) / 10, [2, 3, 2])
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.1)):
        dynamic = r.stack_bidirectional_dynamic_rnn(cells(), cells(), x, dtype=tf.float32, sequence_length=[3, 2])
    with tf.variable_scope("t", initializer=tf.constant_initializer(0.1)):
        static = r.stack_bidirectional_rnn(cells(), cells(), tf.unstack(x, axis=1), dtype=tf.float32)
    return run(tf, [dynamic, static]), [v.name for v in tf.global_variables()]


def times_and_batches(tf):
    r = tf.contrib.rnn
    x = tf.reshape(tf.range(6), [2, 3])
    p = tf.placeholder(tf.float32, [None, 5])
    return run(tf, r.transpose_batch_time(x)), str(r.transpose_batch_time(tf.zeros([2, 3, 4])).shape), r.best_effort_input_batch_size([p])


def gradients_clipped(tf):
    v = tf.Variable([3.0, 4.0])
    pairs = tf.contrib.training.clip_gradient_norms([(tf.constant([3.0, 4.0]), v), (None, v)], 1.0)
    return run(tf, pairs[0][0]), pairs[1][0] is None
