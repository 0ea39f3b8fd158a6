"""Writes random test programs of nested loops, branches, TensorArrays, functions, queues and variables.

The output is a module of functions of `tf` for `programs.run`; results are values and gradients of floats.

    python crates/python/tools/compose.py FIRST LAST > crates/python/tests/programs/composed.py

The same seeds give the same text under every version of Python.
"""

import random
import sys

FLOATS = ("float32", "float64")
SHAPES = ((), (2,), (3,), (2, 3), (3, 2), (2, 2))


class Composer:
    """Writes one program.

    A value is represented by its name, dtype and shape; values are kept small so that loops do not overflow.
    """

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.count = 0
        self.budget = self.rng.randint(4, 9)
        self.indent = 1

    def put(self, line):
        self.lines.append("    " * self.indent + line)

    def name(self, stem="t"):
        self.count += 1
        return "%s%d" % (stem, self.count)

    def let(self, text, dtype, shape, stem="t"):
        name = self.name(stem)
        self.put("%s = %s" % (name, text))
        return name, dtype, shape

    # Expressions.

    def literal(self, dtype, shape):
        def number():
            if dtype in FLOATS:
                return repr(round(self.rng.uniform(-1, 1), 2))
            if dtype == "bool":
                return self.rng.choice(("True", "False"))
            if dtype == "string":
                return repr(self.rng.choice("abc"))
            return repr(self.rng.randint(-3, 5))

        def nested(dims):
            return number() if not dims else "[%s]" % ", ".join(nested(dims[1:]) for _ in range(dims[0]))

        return nested(shape)

    def constant(self, dtype, shape):
        return "tf.constant(%s, tf.%s)" % (self.literal(dtype, shape), dtype)

    def pick(self, scope, dtype, shape):
        found = [v for v in scope if v[1:] == (dtype, shape)]
        return self.rng.choice(found)[0] if found and self.rng.random() < 0.85 else None

    def need(self, scope, dtype, shape):
        """Returns an expression of this dtype and shape: a value, an operation, or a constant."""
        known = self.pick(scope, dtype, shape)
        if known:
            return known
        of_dtype = [v for v in scope if v[1] == dtype]
        if dtype == "bool" and shape == ():
            return self.predicate(scope)
        if of_dtype and dtype != "string" and self.rng.random() < 0.9:
            name, _, has = self.rng.choice(of_dtype)
            if has == shape:
                return name
            if shape == () and dtype != "bool":
                return self.rng.choice(("tf.reduce_sum(%s)", "tf.reduce_max(%s)")) % name
            if has == () and dtype != "bool":
                return "tf.fill(%s, %s)" % (list(shape), name)
            if len(has) == 2 and (has[1], has[0]) == shape:
                return "tf.transpose(%s)" % name
            if len(has) == 2 and (has[1],) == shape:
                return self.rng.choice(("%s[0]", "tf.gather(%s, 1)", "tf.reduce_sum(%s, 0)" if dtype != "bool" else "%s[1]")) % name
            if len(shape) == 2 and (shape[1],) == has:
                return "tf.stack([%s] * %d)" % (name, shape[0])
        others = [v for v in scope if v[1] in ("int32", "int64") + FLOATS and v[2] == shape]
        if others and dtype not in ("bool", "string") and self.rng.random() < 0.85:
            name, has, _ = self.rng.choice(others)
            text = "tf.cast(%s, tf.%s)" % (name, dtype)
            return text
        return self.constant(dtype, shape)

    def predicate(self, scope):
        dtype = self.rng.choice(("int32", "float32", "float64"))
        a = self.need(scope, dtype, ())
        sign = self.rng.choice(("less", "greater", "less_equal"))
        limit = round(self.rng.uniform(-0.5, 0.5), 2) if dtype in FLOATS else self.rng.randint(0, 4)
        return "tf.%s(%s, %s)" % (sign, a, limit)

    def kind(self, floats=0.7):
        if self.rng.random() < floats:
            return self.rng.choice(FLOATS)
        return self.rng.choice(("int32", "int32", "int64", "bool", "string"))

    def within(self, text, dtype):
        """Returns an expression close to the given one whose numbers stay small."""
        if dtype in FLOATS:
            return "tf.tanh(%s)" % text
        if dtype in ("int32", "int64"):
            return "tf.floormod(%s, 7)" % text
        return text

    # Statements.

    def simple(self, scope):
        dtype, shape = self.kind(), self.rng.choice(SHAPES)
        a, b = self.need(scope, dtype, shape), self.need(scope, dtype, shape)
        if dtype == "bool":
            text = "tf.%s(%s, %s)" % (self.rng.choice(("logical_and", "logical_or", "not_equal")), a, b)
        elif dtype == "string":
            text = "tf.substr(tf.string_join([%s, %s]), 0, 3)" % (a, b)
            text = text if shape == () else "tf.string_join([%s, %s])" % (a, self.constant("string", ()))
            text = text if shape == () else "tf.substr(%s, 0, 1)" % text
        elif dtype in FLOATS:
            forms = ["%s * %s", "%s + %s", "%s - %s", "tf.maximum(%s, %s)", "tf.where(%s > 0, %s, -%s)", "tf.sin(%s) * tf.exp(%s * 0.1)", "tf.square(%s) + %s", "tf.stop_gradient(%s) * %s"]
            form = self.rng.choice(forms)
            values = (a, a, b) if form.count("%s") == 3 else (a, b)
            text = self.within(form % values, dtype)
            if len(shape) == 2 and shape[0] == shape[1] and self.rng.random() < 0.3:
                text = self.within("tf.matmul(%s, %s)" % (a, b), dtype)
        else:
            text = self.within(self.rng.choice(("%s + %s", "%s * %s", "%s - %s", "tf.maximum(%s, %s)")) % (a, b), dtype)
        return self.let(text, dtype, shape)

    def block(self, scope, depth, results):
        """Writes the body of a function; returns an expression for results of these dtypes and shapes."""
        scope = list(scope)
        for _ in range(self.rng.randint(0, 2)):
            scope.append(self.statement(scope, depth))
        texts = []
        for dtype, shape in results:
            text = self.need(scope, dtype, shape)
            if self.rng.random() < 0.5 and dtype in FLOATS:
                text = "tf.tanh(%s * %s)" % (text, round(self.rng.uniform(-1.5, 1.5), 2))
            texts.append("tf.identity(%s)" % text if dtype in ("bool", "string") else self.within(text, dtype))
        return texts

    def function(self, arguments, scope, depth, results, returns="%s"):
        """Writes a function definition; returns the name."""
        name = self.name("f")
        self.put("def %s(%s):" % (name, ", ".join(v[0] for v in arguments)))
        self.indent += 1
        texts = self.block(scope + arguments, depth - 1, results)
        self.put("return " + returns % ", ".join(texts))
        self.indent -= 1
        self.put("")
        return name

    def branch(self, scope, depth):
        dtype, shape = self.kind(), self.rng.choice(SHAPES)
        predicate = self.need(scope, "bool", ()) if self.rng.random() < 0.6 else self.predicate(scope)
        yes = self.function([], scope, depth, [(dtype, shape)])
        no = self.function([], scope, depth, [(dtype, shape)])
        return self.let("tf.cond(tf.identity(%s), %s, %s)" % (predicate, yes, no), dtype, shape)

    def cases(self, scope, depth):
        dtype, shape = self.kind(0.9), self.rng.choice(SHAPES)
        functions = [self.function([], scope, depth, [(dtype, shape)]) for _ in range(3)]
        if self.rng.random() < 0.5:
            index = self.need(scope, "int32", ())
            return self.let("tf.switch_case(tf.identity(%s), [%s])" % (index, ", ".join(functions)), dtype, shape)
        pairs = ", ".join("(%s, %s)" % (self.predicate(scope), f) for f in functions[:2])
        return self.let("tf.case([%s], default=%s)" % (pairs, functions[2]), dtype, shape)

    def loop(self, scope, depth):
        variables = [(self.kind(), self.rng.choice(SHAPES)) for _ in range(self.rng.randint(1, 3))]
        starts = [self.need(scope, d, s) for d, s in variables]
        starts = [t if d not in FLOATS + ("int32", "int64") else "tf.cast(%s, tf.%s)" % (t, d) for t, (d, s) in zip(starts, variables)]
        arguments = [(self.name("i"), "int32", ())] + [(self.name("v"), d, s) for d, s in variables]
        names = ", ".join(a[0] for a in arguments)
        more = self.name("f")
        limit = self.rng.choice((str(self.rng.randint(0, 4)), "tf.floormod(%s, 4)" % self.need(scope, "int32", ())))
        self.put("%s = lambda %s: %s < %s" % (more, names, arguments[0][0], limit))
        body = self.function(arguments, scope, depth, variables, "[%s + 1, %%s]" % arguments[0][0])
        extra = self.rng.choice(("", "", ", parallel_iterations=1", ", swap_memory=True", ", maximum_iterations=%d" % self.rng.randint(1, 5)))
        out = self.name("w")
        self.put("%s = tf.while_loop(%s, %s, [0, %s]%s)" % (out, more, body, ", ".join(starts), extra))
        k = self.rng.randrange(len(variables))
        return self.let("%s[%d]" % (out, k + 1), *variables[k])

    def array(self, scope, depth):
        dtype, row = self.kind(0.9), self.rng.choice(((), (2,)))
        n = self.rng.randint(1, 3)
        index = (self.name("i"), "int32", ())
        write = self.function([index], scope, depth, [(dtype, row)])
        out = self.name("a")
        made = "tf.TensorArray(tf.%s, %d, element_shape=%s)" % (dtype, n, list(row))
        self.put("%s = tf.while_loop(lambda i, a: i < %d, lambda i, a: (i + 1, a.write(i, %s(i))), [0, %s])[1]" % (out, n, write, made))
        way = self.rng.randrange(3)
        if way == 0 and row:
            return self.let("%s.concat()[:2]" % out, dtype, (2,))
        if way == 1:
            return self.let("%s.read(%d)" % (out, self.rng.randrange(n)), dtype, row)
        return self.let("%s.stack()[0]" % out, dtype, row)

    def rows(self, scope, depth):
        dtype = self.rng.choice(FLOATS + ("int32",))
        shape = self.rng.choice([s for s in SHAPES if s])
        elems = self.need(scope, dtype, shape)
        element = (self.name("e"), dtype, shape[1:])
        way = self.rng.choice(("map_fn", "scan", "foldl", "foldr"))
        if way == "map_fn":
            f = self.function([element], scope, depth, [(dtype, shape[1:])])
            return self.let("tf.map_fn(%s, %s)" % (f, elems), dtype, shape)
        so_far = (self.name("s"), dtype, shape[1:])
        f = self.function([so_far, element], scope, depth, [(dtype, shape[1:])])
        start = ", " + self.constant(dtype, shape[1:]) if self.rng.random() < 0.5 else ""
        if way == "scan" and self.rng.random() < 0.3:
            start += ", reverse=True"
        return self.let("tf.%s(%s, %s%s)" % (way, f, elems, start), dtype, shape if way == "scan" else shape[1:])

    def queue(self, scope, depth):
        dtype, shape = self.kind(), self.rng.choice(SHAPES)
        q, value = self.name("q"), self.need(scope, dtype, shape)
        self.put("%s = tf.FIFOQueue(9, tf.%s, [%s])" % (q, dtype, list(shape)))
        self.put("with tf.control_dependencies([%s.enqueue(tf.identity(%s))]):" % (q, value))
        name = self.name()
        self.put("    %s = %s.dequeue()" % (name, q))
        return name, dtype, shape

    def statement(self, scope, depth):
        if depth <= 0 or self.budget <= 0 or self.rng.random() < 0.35:
            return self.simple(scope)
        self.budget -= 1
        ways = (self.loop, self.loop, self.branch, self.branch, self.array, self.rows, self.cases, self.queue)
        return self.rng.choice(ways)(scope, depth)

    def program(self):
        scope, sources = [], []
        for _ in range(self.rng.randint(2, 4)):
            dtype, shape = self.kind(0.75), self.rng.choice(SHAPES)
            literal = self.literal(dtype, shape)
            way = self.rng.randrange(3)
            if dtype in FLOATS and way == 0:
                value = self.let("tf.Variable(%s, dtype=tf.%s, use_resource=%s)" % (literal, dtype, self.rng.random() < 0.5), dtype, shape, "x")
            elif way == 1:
                value = self.let("tf.placeholder_with_default(%s, %s)" % (self.constant(dtype, shape), list(shape)), dtype, shape, "x")
            else:
                value = self.let(self.constant(dtype, shape), dtype, shape, "x")
            scope.append(value)
            sources.append(value)
        made = []
        for _ in range(self.rng.randint(2, 4)):
            made.append(self.statement(scope, 3))
            scope.append(made[-1])
        self.put("made = [%s]" % ", ".join(v[0] for v in made))
        floats = [v for v in made if v[1] in FLOATS]
        inputs = [v[0] for v in sources if v[1] in FLOATS]
        if floats and inputs:
            terms = " + ".join("tf.reduce_sum(tf.cast(%s, tf.float64))" % v[0] for v in floats)
            self.put("found = tf.gradients(%s, [%s])" % (terms, ", ".join(inputs)))
            self.put("return run(tf, [made, [tf.convert_to_tensor(g) for g in found if g is not None]]), [g is None for g in found]")
        else:
            self.put("return run(tf, made)")
        return "\n".join(self.lines)


def main():
    first, last = int(sys.argv[1]), int(sys.argv[2])
    seeds = range(first, last) if len(sys.argv) < 4 else sorted(map(int, sys.argv[3:]))
    print('"""Loops, branches, arrays and functions over rows in each other, as `tools/compose.py` has written them."""\n')
    print("from programs.tools import run\n")
    for seed in seeds:
        print("\ndef composed_%d(tf):\n%s\n" % (seed, Composer(seed).program()))


if __name__ == "__main__":
    main()
