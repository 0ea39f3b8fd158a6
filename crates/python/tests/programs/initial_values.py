"""Initial values that depend on other variables: they are computed from initial values of those."""

from programs.tools import WHOLE, caught, inside


def _first(tf, v, *others):
    """Returns the value of a variable of which only the initializer has run, and the names of all nodes."""
    names = sorted(o.name for o in tf.get_default_graph().get_operations() if "Switch" not in o.name)
    with tf.Session() as sess:
        sess.run(v.initializer)
        return sess.run(v), names


def of_a_product(tf):
    v = tf.Variable(2.0, name="v")
    return _first(tf, tf.Variable(v * 3.0, name="w"))


def of_the_variable_itself(tf):
    v = tf.Variable(2.0, name="v")
    return _first(tf, tf.Variable(v, name="w"))


def of_a_chain(tf):
    v = tf.Variable(2.0, name="v")
    return _first(tf, tf.get_variable("w", initializer=tf.exp(v + 1.0)))


def of_a_function(tf):
    v = tf.Variable(2.0, name="v")
    return _first(tf, tf.Variable(lambda: v * 3.0, name="w"))


def of_an_output_of_many(tf):
    v = tf.Variable([2.0, 3.0], name="v")
    return _first(tf, tf.Variable(tf.split(v, 2)[1], name="w"))


def of_a_branch(tf):
    v = tf.Variable(2.0, name="v")
    a = tf.cond(tf.constant(True), lambda: v * 2.0, lambda: v * 5.0)
    return _first(tf, tf.Variable(a, name="w"))[0]


def behind_a_handle(tf):
    v = tf.Variable(2.0, name="v")
    return _first(tf, tf.Variable(v * 3.0, name="w", use_resource=True))


def of_one_behind_a_handle(tf):
    # A read of a handle waits for nothing: it is not replaced.
    v = tf.Variable(2.0, name="v", use_resource=True)
    w = tf.Variable(v * 3.0, name="w")
    with tf.Session() as sess:
        return caught(lambda: sess.run(w.initializer), "Error while reading resource variable v"), len(tf.get_default_graph().get_operations())


def all_in_one_run(tf):
    v = tf.Variable(2.0, name="v")
    w = tf.Variable(v * 3.0, name="w")
    x = tf.Variable(v + 1.0, name="x")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run([v, w, x])


def after_the_other_was_changed(tf):
    v = tf.Variable(2.0, name="v")
    w = tf.Variable(v * 3.0, name="w")
    with tf.Session() as sess:
        sess.run(v.assign(10.0))
        sess.run(w.initializer)
        return sess.run(w)


def of_a_local_one(tf):
    v = tf.Variable(2.0, name="v", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    return _first(tf, tf.Variable(v * 3.0, name="w"))[0]


def of_one_in_no_collection(tf):
    v = tf.Variable(2.0, name="v", collections=[], trainable=False)
    w = tf.Variable(v * 3.0, name="w")
    with tf.Session() as sess:
        return caught(lambda: sess.run(w.initializer), "Attempting to use uninitialized value v")


def of_a_loop(tf):
    v = tf.Variable(2.0, name="v")
    a = tf.while_loop(lambda i: i < 5.0, lambda i: i + 1.0, [v])
    return [caught(lambda: tf.Variable(a, name="w", use_resource=r), WHOLE) for r in (False, True)]


def of_a_function_without_arguments(tf):
    # Its dtype is that of what it returns.
    v = tf.get_variable("v", initializer=lambda: tf.constant(3))
    return v.dtype, v.shape


def of_values_of_another_dtype(tf):
    return [
        caught(lambda: tf.get_variable("v", initializer=3.5, dtype=tf.float64), WHOLE),
        caught(lambda: tf.get_variable("w", [2], initializer=lambda s: tf.zeros(s)), "unexpected keyword argument 'dtype'"),
    ]


def graphs_of_scopes(tf):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0)
    with tf.variable_scope("s", values=[x]):
        v = tf.get_variable("v", [2])
        entered = tf.get_default_graph() is graph
    return v.graph is graph, entered, tf.get_default_graph() is graph


def defaults_of_getters(tf):
    seen = []

    def getter(getter, name, **arguments):
        seen.append((arguments["synchronization"].name, arguments["aggregation"].name))
        return getter(name, **arguments)

    tf.get_variable("v", [2], custom_getter=getter)
    return seen, caught(lambda: tf.get_variable("w", [2], custom_getter=3), WHOLE)


def of_a_scope_s_method(tf):
    variable_scope = inside("python.ops.variable_scope")

    with tf.variable_scope("s", reuse=tf.AUTO_REUSE) as scope:
        v = tf.get_variable("v", [2])
    store = variable_scope._get_default_variable_store()
    return v.name, scope.get_variable(store, "v", [2]) is v, scope.get_variable(store, "w", [2]).name
