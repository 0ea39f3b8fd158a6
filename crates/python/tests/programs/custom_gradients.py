"""User-defined gradients: `RegisterGradient`, `gradient_override_map`, `custom_gradient`."""

import itertools

import numpy as np

from programs.tools import caught, run

# Names can be registered once per process.
_numbers = itertools.count()


def _name():
    return "ProgramsOwn%d" % next(_numbers)


def _override(tf, op_type, function, build):
    name = _name()
    tf.RegisterGradient(name)(function)
    with tf.get_default_graph().gradient_override_map({op_type: name}):
        return build()


def registered_functions_stay_what_they_are(tf):
    def function(op, grad):
        return grad

    return tf.RegisterGradient(_name())(function) is function


def registered_twice(tf):
    name = _name()
    tf.RegisterGradient(name)(lambda op, g: g)
    return (
        caught(lambda: tf.RegisterGradient(name)(lambda op, g: g), "Registering two gradient with name '%s'" % name),
        caught(lambda: tf.NotDifferentiable(name), "Registering two gradient with name '%s'" % name),
        caught(lambda: tf.RegisterGradient("Square")(lambda op, g: g), "Registering two gradient with name 'Square'"),
        caught(lambda: tf.NoGradient("Shape"), "Registering two gradient with name 'Shape'"),
        caught(lambda: tf.RegisterGradient("PyFunc")(lambda op, g: g), "Registering two gradient with name 'PyFunc'"),
        caught(lambda: tf.RegisterGradient(5), "op_type must be a string"),
        caught(lambda: tf.NotDifferentiable(5), "op_type must be a string"),
    )


def what_the_function_sees(tf):
    seen = []

    def function(op, *grads):
        seen.append((op.type, op.name, [i.name for i in op.inputs], [o.name for o in op.outputs], len(grads), op.get_attr("T")))
        return None, tf.concat([g * 2.0 for g in grads], 0)

    x = tf.constant([3.0, 4.0])
    parts = _override(tf, "Split", function, lambda: tf.split(x, 2))
    return run(tf, tf.gradients(parts[0], x)), seen


def map_misused(tf):
    def enter(mapping):
        with tf.get_default_graph().gradient_override_map(mapping):
            pass

    return [caught(lambda m=m: enter(m), "op_type_map must be a dictionary mapping strings to strings") for m in (3, {3: "a"}, {"a": 3})]


def maps_inside_each_other(tf):
    graph, x = tf.get_default_graph(), tf.constant([1.0, 2.0])
    with graph.gradient_override_map({"Identity": "A"}):
        with graph.gradient_override_map({"Mul": "B"}):
            y, z = tf.identity(x), x * x
        w = x * x
    return [t.op.node_def.attr["_gradient_op_type"].s for t in (y, z, w)]


def not_registered(tf):
    x = tf.constant(3.0)
    with tf.get_default_graph().gradient_override_map({"Square": "NobodyKnows"}):
        y = tf.square(x)
    return caught(lambda: tf.gradients(y, x), "No gradient defined for operation 'Square' (op type: Square)")


def not_differentiable(tf):
    name = _name()
    tf.NotDifferentiable(name)
    x = tf.constant(3.0)
    with tf.get_default_graph().gradient_override_map({"Square": name}):
        y = tf.square(x)
    return tf.gradients(y, x)


def of_another_op(tf):
    x = tf.constant([2.5, -1.5])
    with tf.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        y = tf.floor(x)
    return run(tf, [y, tf.gradients(y, x)[0]])


def of_a_python_function(tf):
    x = tf.constant([3.0, 4.0])
    y = _override(tf, "PyFunc", lambda op, g: g * 2.0 * op.inputs[0], lambda: tf.py_func(lambda a: a * a, [x], tf.float32))
    return run(tf, [y, tf.gradients(y, x)[0]])


def in_python_both_ways(tf):
    x = tf.constant([3.0, 4.0])
    backward = lambda op, g: tf.py_func(lambda a, b: 2 * a * b, [op.inputs[0], g], tf.float32)  # noqa: E731
    y = _override(tf, "PyFunc", backward, lambda: tf.py_func(lambda a: a * a, [x], tf.float32))
    return run(tf, tf.gradients(y, x))


def wrong_number(tf):
    x = tf.constant([3.0, 4.0])
    one = _override(tf, "Mul", lambda op, g: g, lambda: x * x)
    three = _override(tf, "Mul", lambda op, g: [g, g, g], lambda: x * x)
    return (
        caught(lambda: tf.gradients(one, x), "Num gradients 1 generated for op name: ", "do not match num inputs 2"),
        caught(lambda: tf.gradients(three, x), "Num gradients 3 generated for op name: ", "do not match num inputs 2"),
    )


def wrong_shape(tf):
    x = tf.constant([3.0, 4.0])
    y = _override(tf, "Square", lambda op, g: tf.constant([1.0, 2.0, 3.0]), lambda: tf.square(x))
    return caught(lambda: tf.gradients(y, x), "Incompatible shapes between op input and calculated input gradient.", "Input index: 0. Original input shape: (2,).")


def none_flows_back(tf):
    x, y = tf.constant(3.0), tf.constant(4.0)
    z = _override(tf, "Mul", lambda op, g: (None, g * 5.0), lambda: x * y)
    return tf.gradients(z, x), run(tf, tf.gradients(z, y))


def slices_flow_in(tf):
    seen = []

    def function(op, grad):
        seen.append(type(grad).__name__)
        return 2.0 * tf.convert_to_tensor(grad)

    x = tf.constant([1.0, 2.0, 3.0])
    y = _override(tf, "Identity", function, lambda: tf.identity(x))
    return run(tf, tf.gradients(tf.gather(y, [0, 0]), x)), seen


def slices_flow_out(tf):
    x = tf.constant([3.0, 4.0])
    y = _override(tf, "Square", lambda op, g: tf.IndexedSlices(tf.constant([1.0]), tf.constant([1]), tf.constant([2])), lambda: tf.square(x))
    (grad,) = tf.gradients(y, x)
    return type(grad).__name__, run(tf, tf.convert_to_tensor(grad))


def errors_come_out(tf):
    def function(op, grad):
        raise IndexError("mine")

    x = tf.constant(1.5)
    y = _override(tf, "Square", function, lambda: tf.square(x))
    z = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, _override(tf, "Square", function, lambda: tf.square(a))), [0, x])[1]
    return caught(lambda: tf.gradients(y, x), "mine"), caught(lambda: tf.gradients(z, x), "mine")


def in_a_loop_by_inputs(tf):
    x = tf.constant(1.5)
    body = lambda i, a: (i + 1, _override(tf, "Square", lambda op, g: 3.0 * g * op.inputs[0], lambda: tf.square(a)))  # noqa: E731
    r = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def in_a_loop_by_outputs_and_attributes(tf):
    x = tf.constant([1.5, -2.0])
    function = lambda op, g: g * op.outputs[0] * op.get_attr("alpha")  # noqa: E731
    body = lambda i, a: (i + 1, _override(tf, "LeakyRelu", function, lambda: tf.nn.leaky_relu(a, 0.25)))  # noqa: E731
    r = tf.while_loop(lambda i, a: i < 2, body, [0, x])[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def in_a_branch_in_a_loop(tf):
    x = tf.constant(1.5)
    square = lambda a: _override(tf, "Square", lambda op, g: 3.0 * g * op.inputs[0], lambda: tf.square(a))  # noqa: E731
    r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(a < 3.0, lambda: square(a), lambda: a * 2.0)), [0, x])[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def _cube(tf):
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda dy: dy * 30.0 * x * x

    return cube


def of_a_function(tf):
    x = tf.constant(2.0)
    y = _cube(tf)(x)
    return y.name, run(tf, [y, tf.gradients(y, x)[0]])


def of_a_function_twice(tf):
    x = tf.constant(2.0)
    (g,) = tf.gradients(_cube(tf)(x), x)
    return run(tf, tf.gradients(g, x))


def of_a_function_of_several(tf):
    @tf.custom_gradient
    def both(x, y):
        return (x + y, x * y), lambda da, db: [da * 2.0, db * 3.0]

    x, y = tf.constant(3.0), tf.constant(4.0)
    a = both(x, y)
    return type(a).__name__, run(tf, tf.gradients(a, [x, y])), run(tf, tf.gradients(a[0], [x, y]))


def of_a_function_with_structure(tf):
    @tf.custom_gradient
    def named(x):
        return {"a": x * 2.0, "b": [x]}, lambda *grads: grads[0] * 7.0 + grads[1]

    x = tf.constant(3.0)
    r = named(x)
    return sorted(r), run(tf, [r["a"], r["b"][0], tf.gradients(r["a"], x)[0], tf.gradients(r["b"][0], x)[0]])


def of_a_function_of_numbers(tf):
    cube = _cube(tf)
    return run(tf, [cube(2.0), cube([1.0, 2.0]), cube(np.float64(3))])


def of_a_function_keywords(tf):
    @tf.custom_gradient
    def times(x, k=2.0):
        return x * k, lambda dy: dy * k

    says = "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled."
    return caught(lambda: times(tf.constant(1.0), k=5.0), says), run(tf, times(tf.constant(1.0)))


def of_a_function_one_gradient_too_few(tf):
    @tf.custom_gradient
    def both(x, y):
        return x + y, lambda dy: dy

    x, y = tf.constant(3.0), tf.constant(4.0)
    return caught(lambda: tf.gradients(both(x, y), [x, y]), "Num gradients 2 generated for op name: ", "do not match num inputs 3")


def of_a_function_that_gives_no_pair(tf):
    @tf.custom_gradient
    def bare(x):
        return x * 2.0

    return caught(lambda: bare(tf.constant(1.0)))


def of_a_function_with_none(tf):
    @tf.custom_gradient
    def first(x, y):
        return x * y, lambda dy: (None, dy)

    x, y = tf.constant(3.0), tf.constant(4.0)
    return tf.gradients(first(x, y), x), run(tf, tf.gradients(first(x, y), y))


def of_a_function_error(tf):
    @tf.custom_gradient
    def fails(x):
        def grad(dy):
            raise KeyError("mine")

        return x * 2.0, grad

    x = tf.constant(3.0)
    return caught(lambda: tf.gradients(fails(x), x), "mine")


def of_a_function_name_and_doc(tf):
    @tf.custom_gradient
    def named(x):
        """Says so."""
        return x, lambda dy: dy

    return named.__name__, named.__doc__


def of_a_function_in_a_loop(tf):
    cube, x = _cube(tf), tf.constant(1.1)
    r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, cube(a)), [0, x])[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_a_function_in_a_branch(tf):
    @tf.custom_gradient
    def exp(x):
        y = tf.exp(x)
        return y, lambda dy: dy * y * 5.0

    x = tf.constant(1.5)
    r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.cond(a < 2.0, lambda: exp(a), lambda: a * 2.0)), [0, x])[1]
    y = tf.cond(x > 1.0, lambda: exp(x), lambda: x)
    return run(tf, [r, tf.gradients(r, x)[0], y, tf.gradients(y, x)[0]])


def of_a_function_inside_another(tf):
    cube = _cube(tf)

    @tf.custom_gradient
    def outer(x):
        y = cube(x)

        def grad(dy):
            return tf.gradients(y, x, dy)[0] * 2.0

        return y, grad

    x = tf.constant(2.0)
    y = outer(x)
    return run(tf, [y, tf.gradients(y, x)[0]])


def of_a_function_with_variables(tf):
    @tf.custom_gradient
    def dense(x):
        w = tf.get_variable("w", [2], initializer=tf.constant_initializer(3.0))
        b = tf.get_variable("b", [], initializer=tf.zeros_initializer())

        def grad(dy, variables=None):
            of = {"s/w:0": dy * x * 10.0 * tf.ones([2]), "s/b:0": dy * 20.0}
            return dy * 5.0, [of[v.name] for v in variables]

        return tf.reduce_sum(x * w) + b, grad

    with tf.variable_scope("s", use_resource=True):
        x = tf.constant(2.0)
        y = dense(x)
        w, b = tf.trainable_variables()
        return run(tf, [y] + tf.gradients(y, [x, w, b]))


def of_a_function_with_a_variable_from_outside(tf):
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0), use_resource=True)

    @tf.custom_gradient
    def times(x):
        def grad(dy, variables=None):
            return dy * w, [dy * x * 10.0 for _ in variables]

        return x * w, grad

    x = tf.constant(2.0)
    y = times(x)
    return run(tf, [y] + tf.gradients(y, [x, w]))


def of_a_function_with_a_variable_in_a_loop(tf):
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0), use_resource=True)

    @tf.custom_gradient
    def times(x):
        def grad(dy, variables=None):
            return dy * 2.0, [dy * 10.0 for _ in variables]

        return x * w, grad

    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, times(a)), [0, x])[1]
    return run(tf, [r] + tf.gradients(r, [x, w]))


def of_a_function_variables_misused(tf):
    def forward(x, **options):
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0), **options)
        return x * w

    silent = tf.custom_gradient(lambda x: (forward(x, use_resource=True), lambda dy: dy))
    by_reference = tf.custom_gradient(lambda x: (forward(x, use_resource=False), lambda dy, variables=None: (dy, [dy])))
    needless = tf.custom_gradient(lambda x: (x * 2.0, lambda dy, variables=None: dy))
    too_few = tf.custom_gradient(lambda x: (forward(x, use_resource=True), lambda dy, variables=None: (dy, [])))
    x = tf.constant(1.0)

    def within(name, function):
        with tf.variable_scope(name):
            return function()

    return (
        caught(lambda: within("a", lambda: silent(x)), "then grad_fn must accept a keyword argument 'variables'."),
        caught(lambda: within("b", lambda: by_reference(x)), "must be `ResourceVariable`s."),
        caught(lambda: within("c", lambda: needless(x)), "the enclosing variable scope must have use_resource=True."),
        caught(lambda: within("d", lambda: tf.gradients(too_few(x), x)), "Must return gradient for each variable from @custom_gradient grad_fn."),
    )


def of_a_function_without_variables_in_a_resource_scope(tf):
    needless = tf.custom_gradient(lambda x: (x * 2.0, lambda dy, variables=None: dy * 5.0))
    with tf.variable_scope("s", use_resource=True):
        x = tf.constant(1.0)
        return run(tf, tf.gradients(needless(x), x))


def passed_through(tf):
    x = tf.constant([2.5, -1.5])
    outside = caught(lambda: tf.grad_pass_through(tf.floor)(x), "the enclosing variable scope must have use_resource=True.")
    with tf.variable_scope("s", use_resource=True):
        y = tf.grad_pass_through(tf.floor)(x)
        return outside, run(tf, [y, tf.gradients(y, x)[0]])


def computed_again(tf):
    with tf.variable_scope("s", use_resource=True):
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
        x = tf.constant(3.0)
        y = tf.recompute_grad(lambda a: tf.sin(a) * w)(x)
        return run(tf, [y] + tf.gradients(y, [x, w]))


def with_an_optimizer(tf):
    with tf.variable_scope("s", use_resource=True):
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
    clipped = tf.custom_gradient(lambda x: (x, lambda dy: tf.clip_by_value(dy, -0.5, 0.5)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(clipped(w * w))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = []
        for _ in range(3):
            sess.run(train)
            values.append(sess.run(w))
        return values
