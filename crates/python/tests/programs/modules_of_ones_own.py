"""`tf.Module`: names, scopes, variables of a module and of those in it; `experimental_jit_scope`."""

from programs.raised import WHOLE, caught


def _classes(tf):
    class LineNet2D(tf.Module):
        def __init__(self, start, name=None):
            super(LineNet2D, self).__init__(name=name)
            with self.name_scope:
                self.w = tf.Variable(start, name="w")
                self.frozen = tf.Variable(1.0, name="frozen", trainable=False)

        @tf.Module.with_name_scope
        def __call__(self, x):
            return tf.add(self.w * x, self.frozen, name="out")

    class HTTPPair(tf.Module):
        def __init__(self, name=None):
            super(HTTPPair, self).__init__(name=name)
            self.second = LineNet2D(3.0)
            self.many = {"b": [LineNet2D(4.0, "four")], "a": self.second}
            self.again = self.many["b"][0]
            self.note = "text"

    return LineNet2D, HTTPPair


def names_and_scopes(tf):
    line, pair = _classes(tf)
    first, second, both = line(2.0), line(5.0), pair()
    with tf.name_scope("outer"):
        inner = line(6.0, "inner")
    called = [first(1.0).name, first(2.0).name, second(1.0).name, inner(1.0).name]
    known = [[m.name, [v.name for v in m.variables], [v.name for v in m.trainable_variables]] for m in (first, second, inner, both)]
    below = [[m.name for m in x.submodules] for x in (first, both)]
    wrong = [caught(lambda: line(1.0, "not good"), WHOLE), caught(lambda: line(1.0, "1a"), WHOLE)]
    return called, known, below, wrong


def a_module_is_trained(tf):
    _, pair = _classes(tf)
    model = pair("both")
    loss = tf.square(model.second(tf.constant(2.0))) + model.again(tf.constant(1.0))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss, var_list=model.trainable_variables)
    with tf.Session() as sess:
        sess.run([v.initializer for v in model.variables])
        losses = []
        for _ in range(3):
            losses.append(sess.run(loss))
            sess.run(step)
        return losses, sess.run(list(model.variables))


def scopes_of_compilation(tf):
    from_def = lambda node_def: node_def.op == "Mul"  # noqa: E731
    scope = tf.contrib.compiler.jit.experimental_jit_scope
    made = []
    with scope():
        made.append(tf.add(1.0, 2.0))
        with scope(compile_ops=False, separate_compiled_gradients=True):
            made.append(tf.add(1.0, 2.0))
    with scope(from_def):
        made += [tf.add(1.0, 2.0), tf.multiply(1.0, 2.0)]
    with tf.Session() as sess:
        values = sess.run(made)
    return values, [[x.op.get_attr(name) for name in ("_XlaCompile", "_XlaScope", "_XlaSeparateCompiledGradients")] for x in made]
