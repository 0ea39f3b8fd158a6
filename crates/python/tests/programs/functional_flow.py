"""`If`, `While`, `For`, `Gradient` and `partitioned_call` of `Defun`s."""

import importlib

from programs.raised import WHOLE, caught
from programs.tools import late, run


def _module(tf, path):
    """Returns the internal module `tensorflow.PATH` of the library under test."""
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow." + path)
    modules = importlib.import_module("millstream.programs.modules")

    class Module:
        def __getattr__(self, name):
            return modules.attribute(path, name)

    return Module()


def _both(tf):
    return _module(tf, "python.ops.functional_ops"), _module(tf, "python.framework.function").Defun


def _functions(tf):
    _, Defun = _both(tf)
    double = Defun(tf.float32)(lambda x: x * 2.0)
    less = Defun(tf.float32)(lambda x: x - 1.0)
    return double, less


def branches(tf):
    of, _ = _both(tf)
    double, less = _functions(tf)
    conditions = [True, False, 1.0, 0.0, 3, "a", "", [0.0, 0.0], [["x"]], tf.constant([], tf.float32), tf.zeros([0, 2])]
    made = [of.If(c, [5.0], double, less) for c in conditions]
    named = of.If(late(tf, True), [tf.constant([1.0, 2.0])], double, less, name="mine")
    return type(named).__name__, named[0].name, named[0].op.name, made[1][0].name, run(tf, made + [named])


def branches_without_rank(tf):
    of, _ = _both(tf)
    double, less = _functions(tf)
    c = tf.placeholder(tf.float32)
    y = of.If(c, [5.0], double, less)
    with tf.Session() as sess:
        return [sess.run(y, {c: value}) for value in (0.0, 2.0, [0.0], [])]


def gradients_of_branches(tf):
    of, Defun = _both(tf)
    square, half = Defun(tf.float32, tf.float32)(lambda x, y: (x * x * y, y)), Defun(tf.float32, tf.float32)(lambda x, y: (x / 2.0, x + y))
    x, y = tf.constant(3.0), tf.constant(4.0)
    p = tf.placeholder(tf.bool, [])
    a, b = of.If(p, [x, y], square, half)
    grads = tf.gradients(a + b, [x, y])
    with tf.Session() as sess:
        return [sess.run([a, b, grads], {p: value}) for value in (True, False)]


def effects_of_branches(tf):
    """Operations with effects run in the branch that is taken, even if nothing needs their results."""
    of, Defun = _both(tf)
    v = tf.Variable(0.0, use_resource=True)

    def body(by):
        @Defun(tf.float32, tf.resource)
        def function(x, handle):
            _module(tf, "python.ops.gen_resource_variable_ops").assign_add_variable_op(handle, tf.constant(by))
            return x + by

        return function

    p = tf.placeholder(tf.bool, [])
    y = of.If(p, [1.0, v.handle], body(10.0), body(100.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [(sess.run(y, {p: value}), sess.run(v)) for value in (True, False, True)]


def no_results(tf):
    of, Defun = _both(tf)
    nothing = Defun(tf.float32)(lambda x: None)
    made = of.If(True, [1.0], nothing, nothing)
    with tf.Session() as sess:
        return isinstance(made, tf.Operation), made.name, sess.run(made)


def loops(tf):
    of, Defun = _both(tf)

    @Defun(tf.float32, tf.int32)
    def below(x, i):
        return x < 100.0

    @Defun(tf.float32, tf.int32)
    def step(x, i):
        return x * 2.0, i + 1

    x = tf.placeholder_with_default(3.0, [])
    made = of.While([x, 0], below, step)
    none = of.While([200.0, 7], below, step, name="none", hostmem=[1])
    return type(made).__name__, [t.name for t in made + none], [str(t.shape) for t in made], run(tf, [made, none])


def loops_that_grow(tf):
    of, Defun = _both(tf)

    @Defun(tf.float32)
    def small(x):
        return tf.size(x) < 10

    @Defun(tf.float32)
    def twice(x):
        return tf.concat([x, x], 0)

    @Defun(tf.float32)
    def rest(x):
        return x[1:]

    return run(tf, [of.While([[1.0, 2.0]], small, twice), of.While([[1.0, 2.0]], rest, rest)])


def counted_loops(tf):
    of, Defun = _both(tf)

    @Defun(tf.int32, tf.float32)
    def add(i, x):
        return x + tf.cast(i, tf.float32)

    ranges = [(0, 5, 1), (0, 5, 2), (5, 0, -1), (5, -1, -4), (0, 0, 0), (3, 3, 1)]
    made = [of.For(*r, inputs=[0.5], body=add) for r in ranges] + [of.For(*r, inputs=[0.5], body=add, rewrite_with_while=True) for r in ranges[:4]]
    bad = [of.For(*r, inputs=[0.5], body=add) for r in ((5, 0, 1), (0, 5, -1), (0, 5, 0))]
    return made[0][0].name, made[1][0].name, run(tf, made), [caught(lambda b=b: run(tf, b), "Invalid start/limit/delta:") for b in bad]


def gradients_as_nodes(tf):
    of, Defun = _both(tf)
    two = Defun(tf.float32, tf.float32)(lambda x, y: (x * x, x + 1.0))
    double, _ = _functions(tf)
    made = [of.Gradient([3.0, 4.0, 1.0, 10.0], two), of.Gradient([3.0, 2.0], double, name="mine")]
    return [t.name for t in sum(made, [])], run(tf, made)


def gradients_of_their_own(tf):
    of, Defun = _both(tf)
    grad = Defun(tf.float32, tf.float32, func_name="Hundred")(lambda x, dy: dy * 100.0)
    f = Defun(tf.float32, grad_func=grad, func_name="SquareOfOurs")(lambda x: x * x)
    x = tf.constant(3.0)
    return run(tf, [of.Gradient([x, 2.0], f), tf.gradients(f(x), x)])


def calls(tf):
    of, Defun = _both(tf)
    double, less = _functions(tf)
    two = Defun(tf.float32)(lambda x: (x, x + 1.0))
    x = tf.constant(5.0)
    made = [of.partitioned_call([x], double), of.partitioned_call([x], less, executor_type=""), of.partitioned_call([x], two)]
    nothing = of.partitioned_call([x], Defun(tf.float32)(lambda x: None))
    return [t.name for t in sum(made, [])], nothing.name, run(tf, [made, tf.gradients(made[0], x)])


def refused(tf):
    of, Defun = _both(tf)
    double, less = _functions(tf)
    two = Defun(tf.float32, tf.float32)(lambda x, y: (x, y))
    add = Defun(tf.int32, tf.float32)(lambda i, x: x + 1.0)
    return [
        caught(lambda: of.If(True, 5.0, double, less), WHOLE),
        caught(lambda: of.While(5.0, double, less), WHOLE),
        caught(lambda: of.For(0, 1, 1, 5.0, add), WHOLE),
        caught(lambda: of.partitioned_call(5.0, double), WHOLE),
        caught(lambda: of.While([5.0], double, two), WHOLE),
        caught(lambda: of.While([5.0], double, lambda x: x)),
        caught(lambda: run(tf, of.If(True, [5], double, less)), "Expects arg[0] to be float but int32 is provided"),
        caught(lambda: run(tf, of.If(True, [5.0, 6.0], double, less)), "Expects 1 arguments, but 2 is provided"),
        caught(lambda: of.For(0.0, 1, 1, [5.0], add)),
    ]
