"""`tf.func`: functions, loops and branches over structures, derivatives of any order, errors."""

import collections
import copy
import dataclasses
import functools
import gc
import inspect
import logging
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import traceback
import weakref

import attr
import numpy as np
import pytest

import millstream as tf
from millstream import func

Point = collections.namedtuple("Point", "x y")


@attr.s(auto_attribs=True)
class Pair:
    left: object
    right: object


def root(a):
    """Newton's iteration to convergence."""
    return func.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) / 2.0, a)


def here():
    """The line of the caller."""
    return inspect.currentframe().f_back.f_lineno


@dataclasses.dataclass(frozen=True)
class Body:
    x: object
    v: object
    name: str = dataclasses.field(default="", metadata={"static": True})


@func.function
def squared(x):
    """Squares; pickled by its name."""
    return x * x


# Functions.


@pytest.mark.parametrize(
    "given",
    [
        1.0,
        (1.0, 2.0),
        [1.0, [2.0]],
        {"b": 1.0, "a": (2.0, None)},
        Point(1.0, {"z": 2.0}),
        Pair(1.0, [2.0]),
        Body(1.0, {"z": 2.0}, "a"),
        collections.OrderedDict([("b", 1.0), ("a", 2.0)]),
        {1: 1.0, 0: 2.0},
        None,
        (),
    ],
)
def test_structures_come_back_as_they_are(given):
    assert func.function(lambda s: s)(given) == given
    assert type(func.function(lambda s: s)(given)) is type(given) or given == 1.0


def test_keys_do_not_depend_on_the_order_of_dicts():
    f = func.function(lambda d, **k: (d["a"] - d["b"], k["p"] - k["q"]))
    assert f({"a": 3.0, "b": 1.0}, p=5.0, q=1.0) == f({"b": 1.0, "a": 3.0}, q=1.0, p=5.0) == (2.0, 4.0)
    assert f.n_traces == 1


def test_traced_once_for_each_structure_dtype_and_rank():
    traced = []

    @func.function
    def f(x):
        traced.append(x)
        return tf.reduce_sum(x)

    for n in (1, 5, 9):
        assert f(np.ones(n)) == n
    assert len(traced) == 1 and traced[0].shape.as_list() == [None]
    f(np.ones([2, 2]))
    f(np.ones(3, np.float32))
    f(1.0)
    f(np.float32(1.0))
    f(2)
    assert len(traced) == 6 and f.n_traces == 6
    f.clear_cache()
    assert f.n_traces == 0 and f(np.ones(4)) == 4 and len(traced) == 7


def test_fixed_sizes_are_part_of_the_trace():
    f = func.function(lambda x: x * x.shape[0].value, fixed_sizes=True)
    assert f(np.ones(2)).tolist() == [2, 2] and f(np.ones(3)).tolist() == [3, 3, 3] and f.n_traces == 2


def test_the_cache_is_bounded():
    f = func.function(lambda x, n: x + n, static_argnums=1, cache_size=3)
    for n in range(10):
        assert f(1.0, n) == 1 + n
    assert f.n_traces == 3


def test_dtypes():
    f = func.function(lambda *args: args[0] if len(args) == 1 else args[0] * args[1])
    for dtype in "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split():
        array = np.array([1, 0], dtype)
        assert f(array).dtype == dtype and f(array).tolist() == array.tolist()
        assert f(array[0]).dtype == dtype
    assert [f(v).dtype for v in (1.5, 1, True, 1j, 2**40)] == ["float32", "int32", "bool", "complex64", "int64"]
    # Python's numbers follow the arrays of the call.
    assert f(np.ones(2), 0.1).tolist() == [0.1, 0.1]
    assert f(np.ones(2, np.float32), 0.1).dtype == "float32"
    assert f(np.ones(2, np.int64), 3).dtype == "int64"
    assert f(np.ones(2, np.complex128), 1j).dtype == "complex128"
    assert func.function(lambda x, n: func.fori_loop(0, n, lambda i, y: y * x, 1.0))(np.float64(1.1), 2) == 1.1 * 1.1


def test_loops_start_with_python_numbers_of_the_arguments_dtype():
    total = func.function(lambda x: func.scan(lambda s, v: (s + v, None), 0.0, x)[0])
    assert total(np.array([0.1, 0.2])).dtype == "float64" and total(np.float32([1, 2])).dtype == "float32"


def test_big_endian_and_strided_arrays():
    f = func.function(lambda x: x + 1)
    assert f(np.array([1, 2], ">f8")).tolist() == [2, 3]
    assert f(np.arange(6.0)[::2]).tolist() == [1, 3, 5]
    assert f(np.arange(6.0).reshape(2, 3).T).tolist() == [[1, 4], [2, 5], [3, 6]]


def test_objects_with_an_array_interface():
    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0])

    assert func.function(lambda x: x * 2)(Holder()).tolist() == [2, 4]


def test_results_do_not_share_memory_with_arguments():
    a = np.zeros(100_000)
    b = func.function(lambda x: x)(a)
    b[0] = 5
    assert a[0] == 0


def test_numbers_and_arrays_as_results():
    assert func.function(lambda x: {"n": 3, "a": np.arange(2), "none": None})(0.0)["a"].tolist() == [0, 1]


def test_static_arguments():
    traced = []

    @functools.partial(func.function, static_argnames="how")
    def f(x, how="twice"):
        traced.append(how)
        return 2 * x if how == "twice" else x

    assert f(3.0, "twice") == 6 and f(3.0, how="once") == 3 and f(4.0, how="twice") == 8 and f(1.0) == 2
    assert traced == ["twice", "once", "twice", "twice"]
    g = func.function(lambda x, n: x * n, static_argnums=-1)
    assert g(2.0, 1) == 2 and g(2.0, True) == 2 and g.n_traces == 2  # 1 == True, but the types differ.


def test_decorator_forms_and_methods():
    class Scaled:
        def __init__(self, by):
            self.by = by

        @func.function
        def of(self, x):
            """Scales."""
            return x * self.by

    two, three = Scaled(2.0), Scaled(3.0)
    assert two.of(5.0) == 10 and three.of(5.0) == 15 and two.of(6.0) == 12
    assert Scaled.of.__doc__ == "Scales." and Scaled.of.__name__ == "of" and two.of is two.of
    assert func.function(static_argnums=1)(lambda x, n: x + n)(1.0, 2) == 3


def test_a_function_within_another_becomes_part_of_it():
    inner = func.function(lambda x: x * x)
    outer = func.function(lambda x: inner(x) + inner(2.0))
    assert outer(3.0) == 13 and inner.n_traces == 0
    assert func.grad(outer)(3.0) == 6


def test_closures():
    scale = np.array([2.0, 3.0])
    f = func.function(lambda x: x * scale)
    assert f(np.ones(2)).tolist() == [2, 3]
    scale[0] = 100.0
    assert f(np.ones(2)).tolist() == [2, 3]
    g = func.function(lambda x: func.grad(lambda y: x * y * y)(3.0))
    assert g(2.0) == 12


def test_equality_compares_elements_while_tracing():
    f = func.function(lambda x, y: (x == y, x != y, x == 2, func.cond(x[0] == 1, lambda: 10, lambda: 20)))
    same, other, two, which = f(np.array([1, 2]), np.array([1, 3]))
    assert same.tolist() == [True, False] and other.tolist() == [False, True] and two.tolist() == [False, True] and which == 10
    known = {}
    func.function(lambda x: known.setdefault(x, 1) * x)(1.0)
    x = tf.constant(1.0)
    assert (x == 1.0) is False and (x != 1.0) is True and (x == x) is True


def test_functions_in_a_graph_return_tensors():
    x = tf.placeholder(tf.float32, [])
    y = func.function(lambda x: {"r": root(x)})(x)["r"]
    slope = func.grad(root)(x)
    with tf.Session() as sess:
        assert np.allclose(sess.run([y, slope], {x: 4.0}), [2.0, 0.25])


def test_lowered():
    lowered = func.function(root).lower(2.0)
    assert lowered.svg().startswith("<svg") and "while" in lowered.svg() and lowered._repr_svg_() == lowered.svg()
    assert "runs as compiled code" in str(lowered.explain()) and str(lowered) == str(lowered.explain())
    assert isinstance(lowered.graph, tf.Graph) and "(float32[]) -> (float32[])" in repr(lowered)


def test_threads_share_a_function():
    traced = []

    @func.function
    def f(x):
        traced.append(x)
        return root(x)

    wrong = []

    def work(i):
        for k in range(50):
            a = np.float64(i * 50 + k + 1)
            if abs(f(a) - a**0.5) > 1e-6:
                wrong.append(a)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong and len(traced) == 1


def test_functions_are_collected():
    f = func.function(lambda x: f_again(x))
    f_again = func.function(lambda x: x + 1)
    f(1.0)
    refs = [weakref.ref(f), weakref.ref(f.lower(1.0).graph)]
    f.me = f
    del f, f_again
    gc.collect()
    assert [r() for r in refs] == [None, None]


def test_a_forked_child_traces_again():
    program = """
        import os, sys
        import numpy as np
        from millstream import func
        f = func.function(lambda x: x * 2)
        assert f(2.0) == 4
        pid = os.fork()
        if pid == 0:
            os._exit(0 if f(3.0) == 6 else 1)
        assert os.waitpid(pid, 0)[1] == 0 and f(4.0) == 8
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


def test_side_effects_of_the_graph_happen_in_every_call(capfd):
    @func.function
    def f(x):
        tf.print("seen", x)
        tf.debugging.assert_positive(x, message="must be positive")
        return x * 2

    assert f(1.0) == 2 and f(3.0) == 6
    assert capfd.readouterr().err.count("seen") == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        f(-1.0)


def test_random_numbers_differ_from_call_to_call():
    f = func.function(lambda n: tf.random_uniform([3], seed=1) * n)
    assert f(1.0).tolist() != f(1.0).tolist()
    value, slope = func.value_and_grad(lambda x: x * tf.random_uniform([]))(1.0)
    assert value == slope


def test_dataclasses_are_structures():
    falling = func.function(lambda b: func.while_loop(lambda b: b.x > 0.0, lambda b: Body(b.x + b.v, b.v - 1.0, b.name), b))
    assert falling(Body(3.0, 0.0, "a")) == Body(0.0, -3.0, "a")
    assert func.grad(lambda b: b.x * b.v)(Body(2.0, 3.0)) == Body(3.0, 2.0)
    value, back = func.vjp(lambda b: b.x * b.v, Body(2.0, 3.0))
    assert back(1.0) == (Body(3.0, 2.0),)
    # A static field is a part of the type: another value is another trace.
    assert falling(Body(3.0, 0.0, "b")).name == "b" and falling.n_traces == 2
    fails(TypeError, r"enters as Body\(x=value, v=value, name='a'\), but .*name='b'", func.while_loop, lambda b: b.x > 0.0, lambda b: Body(b.x, b.v, "b"), Body(1.0, 1.0, "a"))
    fails(TypeError, "static field `name` of Body is .*no hash", falling, Body(1.0, 1.0, []))

    @dataclasses.dataclass
    class Checked:
        x: float

        def __post_init__(self):
            assert isinstance(self.x, (float, np.floating)), self.x

    # Its constructor would refuse a tensor.
    assert func.function(lambda c: c)(Checked(1.0)) == Checked(1.0)


def test_functions_can_be_copied_and_pickled():
    assert pickle.loads(pickle.dumps(squared)) is squared
    g = pickle.loads(pickle.dumps(func.function(root, fixed_sizes=True)))
    assert abs(g(np.float64(4.0)) - 2.0) < 1e-6 and g._fixed_sizes
    assert copy.deepcopy(func.grad(lambda x: x * x))(3.0) == 6


def test_operators_are_numpys_while_tracing():
    m, x = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    both = lambda f, *args: np.testing.assert_array_equal(func.function(f)(*args), f(*args))
    both(lambda m, x: m @ x, m, x)
    both(lambda x: x @ x, x)
    both(lambda x: np.ones((2, 3)) @ x, x)
    both(lambda x: x[[2, 0, -1]], x)
    both(lambda x, i: x[i], x, np.array([[0, -1], [2, 2]]))
    both(lambda m, i: m[:, i], m, np.array([2, 0]))
    both(lambda m, i: m[..., i], m, np.array([2, 0]))
    both(lambda m, i: m[i, 1:], m, np.array([1, 0, 1]))
    both(lambda m, i, j: m[i, j], m, np.array([0, 1]), np.array([2, -1]))
    both(lambda m, j: m[1, j], m, np.array([0, -1]))
    both(lambda x: x[np.array([True, False, True])], x)
    half = func.function(lambda n: n / 2)
    assert half(3) == 1.5 and half(3).dtype == "float32" and half(np.array([3])).dtype == "float32"
    assert func.function(lambda n, x: n / n + x)(3, np.ones(1)).dtype == "float64"
    assert func.grad(lambda x: tf.reduce_sum(x[[0, 0, 1]] * np.array([1.0, 2.0, 4.0])))(x).tolist() == [3, 4, 0]
    fails(TypeError, "arrays of integers beside slices", func.function(lambda m, i: m[i, None, i]), m, np.array([0, 1]))
    # In graphs of TensorFlow 1 they are what they were.
    with tf.Session() as sess:
        assert sess.run(tf.constant(3) / 2).dtype == "float64" and sess.run(tf.constant(m)[[1, 2]]) == 5
    fails(ValueError, "rank 2 but is rank 1", lambda: tf.constant(m) @ tf.constant(x))


# Loops and branches.


def test_switch():
    f = func.function(lambda i, x: func.switch(i, [lambda x: x, lambda x: 2 * x, lambda x: x * x, lambda x: 0], x))
    assert [f(i, 5.0) for i in (-3, 0, 1, 2, 3, 9)] == [5, 5, 10, 25, 0, 0]
    assert func.grad(f, argnums=1)(2, 5.0) == 10 and func.switch(np.int64(1), [lambda: 1, lambda: 2]) == 2
    fails(ValueError, "no branches", func.switch, 0, [])
    fails(TypeError, r"the index is float32\[\]", func.switch, 0.0, [lambda: 1])


def test_python_values_in_conditions_and_branches():
    assert func.while_loop(lambda x: True, lambda x: x + 1, 0, maximum_iterations=5) == 5
    assert func.function(lambda x: func.cond(True, lambda: x, lambda: -x))(2.0) == 2
    # A Python number takes the dtype of the other branch.
    f = func.function(lambda x: func.cond(x > 0, lambda: (1, x), lambda: (x, 0)))
    assert f(3.0) == (1, 3) and f(-3.0) == (-3, 0) and f(3.0)[0].dtype == "float32"
    assert func.function(lambda x: func.cond(x > 0, lambda: 1, lambda: 0.5))(-1.0) == 0.5


def test_scan_with_both_arrays_and_length():
    assert func.scan(lambda c, x: (c + x, None), 0.0, np.ones(3, np.float32), length=3)[0] == 3
    f = func.function(lambda x, n: func.scan(lambda c, v: (c + v, c), 0.0, x, length=n)[0])
    assert f(np.ones(4), 4) == 4


def test_loops_outside_of_functions_run_on_arrays():
    assert func.while_loop(lambda x: x < 100, lambda x: x * x, 3) == 6561
    assert func.fori_loop(0, 4, lambda i, s: s + i, 0) == 6
    assert func.cond(np.bool_(True), lambda x: x + 1, lambda x: x, 1) == 2
    assert func.scan(lambda c, x: (c + x, c * x), 1.0, np.float32([1, 2, 3]))[1].tolist() == [1, 4, 12]
    assert func.map(lambda p: p["a"] * p["b"], {"a": np.arange(3), "b": np.arange(3)}).tolist() == [0, 1, 4]
    assert func.switch(1, [lambda x: x, lambda x: -x], 2.0) == -2


def test_loops_outside_of_functions_leave_the_default_graph_alone():
    with tf.Graph().as_default() as graph:
        func.while_loop(lambda x: x < 3, lambda x: x + 1, 0)
        func.fori_loop(0, 3, lambda i, x: x + 1, 0)
        func.scan(lambda c, x: (c + x, c), 0.0, np.ones(3))
        func.cond(True, lambda x: x, lambda x: x + 1, 1.0)
        func.switch(0, [lambda x: x], 1.0)
        assert graph.get_operations() == []


def test_errors_of_loops_outside_of_functions_name_their_arguments():
    fails(TypeError, r"^func.scan: argument `init` is 'a' .*Pass arrays, .*lists and tuples of them$", func.scan, lambda c, x: (c, x), "a", np.ones(3))
    fails(TypeError, r"^func.map: argument `xs` is 'a'", func.map, lambda x: x, "a")
    fails(TypeError, r"^func.while_loop: argument `init`\[1\] is 'a'", func.while_loop, lambda s: True, lambda s: s, (1, "a"))
    fails(TypeError, r"^func.fori_loop: argument `lower` is 'a'", func.fori_loop, "a", 3, lambda i, x: x, 0)
    fails(TypeError, r"^func.cond: argument `operands`\[0\] is 'a'", func.cond, True, lambda x: x, lambda x: x, "a")


def test_while_loop_over_structures():
    f = func.function(lambda n: func.while_loop(lambda s: s["i"] < n, lambda s: {"i": s["i"] + 1, "p": Point(s["p"].y, s["p"].x + s["p"].y)}, {"i": 0, "p": Point(0, 1)}))
    assert f(10) == {"i": 10, "p": Point(55, 89)}


def test_sizes_may_change_in_a_loop():
    f = func.function(lambda x, n: func.while_loop(lambda v: tf.size(v) < n, lambda v: tf.concat([v, v], 0), x))
    assert f(np.ones(3), 20).shape == (24,)
    g = func.function(lambda n: func.while_loop(lambda v: tf.size(v) < n, lambda v: tf.concat([v, [1.0]], 0), tf.zeros([1])))
    assert g(4).tolist() == [0, 1, 1, 1]
    assert func.function(lambda n: func.fori_loop(0, n, lambda i, m: m @ m, np.eye(2)))(3).tolist() == [[1, 0], [0, 1]]


def test_maximum_iterations_and_checkpoints():
    f = func.function(lambda x: func.while_loop(lambda y: y < 1e30, lambda y: y * 1.5, x, maximum_iterations=3))
    assert f(1.0) == np.float32(3.375)
    g = func.grad(lambda x: func.while_loop(lambda y: y < 1e4, lambda y: y * y * 0.9, x, checkpoint_every="auto"))
    h = func.grad(lambda x: func.while_loop(lambda y: y < 1e4, lambda y: y * y * 0.9, x))
    assert g(np.float64(2.0)) == h(np.float64(2.0))


def test_scan():
    cumulate = func.function(lambda x: func.scan(lambda c, v: (c + v, {"sum": c + v, "x": v}), 0.0, x))
    last, ys = cumulate(np.array([1.0, 2.0, 3.0]))
    assert last == 6 and ys["sum"].tolist() == [1, 3, 6] and ys["x"].tolist() == [1, 2, 3]
    assert cumulate(np.ones(5))[1]["sum"].tolist() == [1, 2, 3, 4, 5]
    backwards = func.function(lambda x: func.scan(lambda c, v: (c + v, c + v), 0.0, x, reverse=True))
    assert backwards(np.array([1.0, 2.0, 3.0]))[1].tolist() == [6, 5, 3]
    counted = func.function(lambda n: func.scan(lambda c, _: (2 * c, c), 1, None, length=n))
    assert counted(5)[1].tolist() == [1, 2, 4, 8, 16] and counted(0)[1].shape == (0,)
    rows = func.function(lambda m: func.scan(lambda c, row: (c + row, tf.reduce_sum(row)), tf.zeros_like(m[0]), m))
    assert rows(np.arange(6.0).reshape(3, 2))[0].tolist() == [6, 9]


def test_scan_is_compiled():
    f = func.function(lambda x: func.scan(lambda c, v: (c + v, c * v), 0.0, x))
    for lowered in (f.lower(np.ones(3)), func.grad(lambda x: tf.reduce_sum(f(x)[1])).lower(np.ones(3))):
        assert "not compiled" not in str(lowered), str(lowered)


def test_scan_runs_effects_once_for_each_step(capfd):
    def step(c, x):
        with tf.control_dependencies([tf.print("step")]):
            return c + x, None

    func.function(lambda x: func.scan(step, 0.0, x)[0])(np.ones(3))
    assert capfd.readouterr().err.count("step") == 3


def test_gradient_of_scan_is_that_of_the_sum():
    f = lambda w, x: tf.reduce_sum(func.scan(lambda c, v: (tf.tanh(w * c + v), c), 0.0, x)[1])
    check_gradient(lambda w: f(w, np.array([0.5, -0.3, 0.8])), np.float64(0.7))


def test_cond_with_structures_and_loops():
    @func.function
    def f(x):
        return func.cond(x > 0, lambda p: {"r": root(p)}, lambda p: {"r": 0.0 * p}, x)

    assert abs(f(np.float64(9.0))["r"] - 3) < 1e-6 and f(np.float64(-9.0))["r"] == 0
    check_gradient(lambda x: f(x)["r"], np.float64(9.0))
    assert func.grad(lambda x: f(x)["r"])(np.float64(-9.0)) == 0


# Derivatives.


def check_gradient(f, x, order=2):
    """Compares the derivatives of a function of one float64 scalar with central differences."""
    for _ in range(order):
        g = func.grad(f)
        step = 1e-5
        numeric = (func.function(f)(x + step) - func.function(f)(x - step)) / (2 * step)
        assert abs(g(x) - numeric) < 1e-4 * max(1.0, abs(numeric)), (g(x), numeric)
        f = g


def test_gradients_through_loops_to_third_order():
    check_gradient(root, np.float64(2.0), order=3)
    nested = lambda x: func.fori_loop(0, 3, lambda i, y: func.while_loop(lambda z: z < 10.0, lambda z: z * x, y) / 7.0, x)
    check_gradient(nested, np.float64(1.7), order=3)


def test_grad_in_structures_and_argnums():
    f = lambda p, x: tf.reduce_sum((p["w"] * x + p["b"][0]) ** 2)
    p, x = {"w": np.float64(2.0), "b": [np.float64(1.0)]}, np.array([1.0, 2.0])
    assert func.grad(f)(p, x) == {"w": 26.0, "b": [16.0]}
    both = func.grad(f, argnums=(0, 1))(p, x)
    assert both[0] == {"w": 26.0, "b": [16.0]} and both[1].tolist() == [12, 20]
    assert func.grad(f, argnums=-1)(p, x).tolist() == [12, 20]
    value, g = func.value_and_grad(f)(p, x)
    assert value == 34 and g["w"] == 26


def test_has_aux():
    f = lambda x: (x * x, {"twice": 2 * x, "n": 3})
    assert func.grad(f, has_aux=True)(3.0) == (6.0, {"twice": 6.0, "n": 3})
    assert func.value_and_grad(f, has_aux=True)(3.0) == ((9.0, {"twice": 6.0, "n": 3}), 6.0)
    assert func.jacobian(f, has_aux=True)(3.0) == (6.0, {"twice": 6.0, "n": 3})
    assert func.hessian(f, has_aux=True)(3.0) == (2.0, {"twice": 6.0, "n": 3})
    value, back, aux = func.vjp(f, 3.0, has_aux=True)
    assert (value, back(1.0), aux) == (9.0, (6.0,), {"twice": 6.0, "n": 3})


def test_unconnected_arguments_have_zero_gradients():
    assert func.grad(lambda x, y: x * 2.0, argnums=1)(1.0, np.ones(2)).tolist() == [0, 0]
    assert func.grad(lambda x: tf.constant(1.0))(3.0) == 0


def test_gathers_have_dense_gradients():
    assert func.grad(lambda x: tf.reduce_sum(tf.gather(x, [0, 2, 0])))(np.ones(3)).tolist() == [2, 0, 1]


def test_the_same_tensor_by_closure_is_a_constant():
    assert func.function(lambda x: func.grad(lambda y: x * y)(x))(3.0) == 3
    assert func.grad(lambda x: x * func.grad(lambda y: x * y)(x))(3.0) == 6


def test_vjp_and_jvp():
    f = lambda x, y: {"p": x * y, "s": tf.reduce_sum(x)}
    value, back = func.vjp(f, np.array([1.0, 2.0]), np.float64(3.0))
    assert value["p"].tolist() == [3, 6] and value["s"] == 3
    for _ in range(2):
        dx, dy = back({"p": np.array([1.0, 10.0]), "s": np.float64(5.0)})
        assert dx.tolist() == [8, 35] and dy == 21
    value, along = func.jvp(f, (np.array([1.0, 2.0]), np.float64(3.0)), (np.array([1.0, 0.0]), np.float64(1.0)))
    assert along["p"].tolist() == [4, 2] and along["s"] == 1
    assert func.jvp(lambda x: (x * x, {"n": x}), (3.0,), (1.0,), has_aux=True) == (9.0, 6.0, {"n": 3.0})
    second = func.jvp(func.grad(root), (np.float64(4.0),), (np.float64(1.0),))[1]
    assert abs(second + 1 / 32) < 1e-6


def test_vjp_within_a_function():
    def f(x):
        value, back = func.vjp(root, x)
        return value, back(2.0)[0]

    value, slope = func.function(f)(np.float64(4.0))
    assert abs(value - 2) < 1e-6 and abs(slope - 0.5) < 1e-6


def test_jacobian_and_hessian():
    f = lambda x: tf.stack([x[0] * x[1], x[1] ** 2, tf.sin(x[0])])
    x = np.array([0.5, 2.0])
    assert np.allclose(func.jacobian(f)(x), [[2, 0.5], [0, 4], [np.cos(0.5), 0]])
    nested = func.jacobian(lambda p: {"y": p["a"] * p["b"]})({"a": np.array([1.0, 2.0]), "b": np.float64(3.0)})
    assert nested["y"]["a"].tolist() == [[3, 0], [0, 3]] and nested["y"]["b"].tolist() == [1, 2]
    pair = func.jacobian(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    assert pair == (3.0, 2.0)
    g = lambda x: func.while_loop(lambda s: s < 100.0, lambda s: s * x[0] + x[1], x[0] * x[1])
    x, step = np.array([1.5, 0.7]), 1e-5
    h = func.hessian(g)(x)
    numeric = np.array([(func.grad(g)(x + step * d) - func.grad(g)(x - step * d)) / (2 * step) for d in np.eye(2)])
    assert np.allclose(h, numeric, rtol=1e-5) and np.allclose(h, h.T)


def test_grad_keeps_static_arguments():
    f = func.function(lambda x, n: x**n, static_argnums=1)
    assert func.grad(f)(2.0, 3) == 12 and func.grad(lambda x, n: x**n, static_argnums=1)(2.0, 3) == 12


def test_complex_arguments_of_real_functions():
    got = func.grad(lambda z: tf.real(z * tf.conj(z)))(np.complex128(1 + 2j))
    assert got == 2 * (1 + 2j)


# Errors: each names the part, both sides and the cure.


def fails(kind, match, f, *args, **kwargs):
    with pytest.raises(kind) as error:
        f(*args, **kwargs)
    text = str(error.value)
    assert re.search(match, text, re.S), text
    return text


def test_errors_of_arguments():
    f = func.function(lambda x, **k: x)
    fails(TypeError, r"argument 0\['a'\]\[1\] is 'text' \(of type str\).*static_argnums", f, {"a": [1.0, "text"]})
    fails(TypeError, r"argument `k` is <object.*neither a number, an array, nor a structure", f, 1.0, k=object())
    fails(TypeError, r"argument 1 is static but got \[1\] \(of type list\), which has no hash.*tuple", func.function(lambda x, n: x, static_argnums=1), 1.0, [1])
    fails(TypeError, "keys cannot be sorted", f, {1: 1.0, "a": 2.0})
    fails(OverflowError, "more than 64 bits", f, 2**70)
    fails(TypeError, "takes 1 positional argument but 2 were given", f, 1.0, 2.0)
    fails(TypeError, "no argument `m` that could be static: its arguments are `x`, `n`", func.function, lambda x, n: x, static_argnames="m")
    fails(TypeError, "no argument 2 that could be static: it takes 2", func.function, lambda x, n: x, static_argnums=2)
    fails(TypeError, "func.function takes a function, but got 3", func.function, 3)


def test_errors_of_results():
    line = here() + 1
    f = lambda x: {"a": [x, "text"]}
    fails(TypeError, r"the result of `<lambda>` \(.*test_func.py:%d\)\['a'\]\[1\] is 'text' \(of type str\), which is not a tensor" % line, func.function(f), 1.0)
    fails(ValueError, "makes the variable `v`.*take the value as an argument", func.function(lambda x: tf.get_variable("v", []) + x), 1.0)


def test_errors_of_code_that_wants_values():
    def of(text, f, *args, kind=TypeError):
        fails(kind, text, func.function(f), *args)

    of("no truth value while.*`func.cond` or `tf.where`.*static_argnames", lambda x: x if x > 0 else -x, 1.0)
    of("no truth value", lambda x: 0 < x < 2, 1.0)
    of("cannot be iterated over.*func.scan", lambda x: [v for v in x], np.ones(3))
    of("integer\n  help: .*func.fori_loop", lambda n: list(range(n)), 3)
    of("help: .*`tf.print`", lambda x: "%.2f" % x, 1.0)
    of("use `func.numpy` or `tf", lambda x: np.sin(x), 1.0, kind=NotImplementedError)
    of("use `func.numpy.sum\\(x, ..\\)`", lambda x: x.sum(), np.ones(3), kind=AttributeError)
    of("use `tf.tensor_scatter_nd_update", lambda x: x.at[0].set(1.0), np.ones(3), kind=AttributeError)
    of("use `x`: a call of the function returns its value", lambda x: x.item(), 1.0, kind=AttributeError)
    of("tensors do not change", lambda x: exec("x[0] = 1.0", {"x": x}), np.ones(3))
    of("`tf.shape\\(x\\)\\[0\\]` is a size.*fixed_sizes=True", lambda x: x * x.shape[0], np.ones(3), kind=ValueError)
    of("NumPy makes arrays of known sizes: `tf.zeros", lambda n: np.zeros(n), 3)
    of("func.cond: `true_fn` is .*Tensor.*must be a function: func.cond.pred, true_fn, false_fn.*Write `lambda: x`", lambda x: func.cond(x > 0, x, -x), 1.0)
    of("runs a session for a value.*return the tensor", lambda x: tf.Session().run(x), 1.0)
    of("cast one, as by `tf.cast", lambda x, y: x * y, np.float32(1.0), np.float64(1.0))
    kept = []
    func.function(lambda x: kept.append(x) or x)(1.0)
    of("Pass a tensor or variable from elsewhere as an argument", lambda x: x + kept[0], 1.0, kind=ValueError)
    inside = lambda x: (func.while_loop(lambda y: y < 9.0, lambda y: (kept.append(y), y * y)[1], x), kept[-1])[1]
    of("used outside of it: return it", inside, 2.0, kind=ValueError)

    @func.function
    def factorial(n):
        return func.cond(n <= 1, lambda: 1, lambda: n * factorial(n - 1))

    fails(RecursionError, "`factorial` .* calls itself without an end.*func.while_loop", factorial, 5)
    of("makes the placeholder `p`.*as an argument", lambda x: x + tf.placeholder(tf.float32, [], name="p"), 1.0, kind=ValueError)
    of("a TensorArray.*func.scan", lambda x: tf.TensorArray(tf.float32, size=3), 1.0)
    of("array of datetime64.*astype", lambda x: x, np.array(["2020-01-01"], "datetime64[D]"))


def test_names_and_options_of_others_are_refused_by_name():
    fails(TypeError, "no argument `donate_argnums`: arguments are NumPy's arrays", func.function, root, donate_argnums=0)
    fails(TypeError, "no argument `backend`: there are no devices", func.function, backend="gpu")
    fails(TypeError, "no argument `static`: it takes `static_argnums`", func.function, root, static=1)
    fails(AttributeError, "'vmap': not there yet.*func.map", lambda: func.vmap)
    fails(AttributeError, "'jit': use `func.function`", lambda: func.jit)
    fails(AttributeError, "no attribute 'nothing'$", lambda: func.nothing)
    fails(AttributeError, "'linalg': use `tf.linalg`", lambda: func.numpy.linalg)
    fails(TypeError, "func.scan has no argument `unroll`: steps are not unrolled", func.scan, lambda c, x: (c, x), 0.0, np.ones(3), unroll=2)
    fails(TypeError, "func.map has no argument `batch_size`", func.map, lambda x: x, np.ones(3), batch_size=2)


def test_errors_of_functions_with_other_parameters():
    fails(TypeError, r"func.while_loop calls `<lambda>` .* with the carry, but its arguments are \(i, y\).*a tuple of 2 here: unpack it", func.while_loop, lambda i, y: i < 3, lambda i, y: (i, y), (0, 1.0))
    fails(TypeError, r"func.fori_loop calls .* with the index and the carry, but its arguments are \(y\)", func.fori_loop, 0, 3, lambda y: y, 1.0)
    fails(TypeError, r"func.map calls .* with a slice, but its arguments are \(a, b\)", func.map, lambda a, b: a, (np.ones(3), np.ones(3)))
    fails(TypeError, r"func.cond calls .* with 1 operand, but its arguments are \(\)", func.cond, np.bool_(1), lambda: 1, lambda: 2, 1.0)
    fails(TypeError, "which is a list of 1 here: unpack it in the function, or start with the value itself", func.while_loop, lambda x: x < 3.0, lambda x: x, [1.0])
    fails(TypeError, "returns None instead of the next carry: does it lack a `return`", func.while_loop, lambda x: x < 3.0, lambda x: None, 1.0)
    fails(TypeError, "does it lack a `return`", func.map, lambda x: None, np.ones(3))
    fails(TypeError, "returned None: does it lack a `return`", func.grad(lambda x: None), 1.0)
    fails(TypeError, "returns None, which holds no value", func.cond, np.bool_(1), lambda: None, lambda: None)

    fails(TypeError, r"func.scan: `f` is 0.0 \(of type float\), but must be a function: func.scan\(f, init, xs\)", func.scan, 0.0, lambda c, x: (c, x), np.ones(3))
    fails(TypeError, r"func.map: `f` is .*must be a function: func.map\(f, xs\)", func.map, np.ones(3), lambda x: x)
    fails(TypeError, r"func.while_loop: `body` is 1.0", func.while_loop, lambda x: x < 3.0, 1.0, lambda x: x)
    fails(TypeError, r"func.fori_loop: `body` is 1.0", func.fori_loop, 0, 3, 1.0, lambda i, x: x)
    fails(TypeError, r"must be a list of functions: func.switch\(index, \[f, g, ..\]", func.switch, 0, lambda: 1)
    fails(TypeError, r"vjp of .*: argument 1 is int32\[\], which has no derivative", func.vjp, lambda x, y: x, 1.0, 2)

    def body(x):
        return {}["missing"] + len(5)

    fails(KeyError, "missing", func.while_loop, lambda x: x < 3.0, body, 1.0)


def test_a_function_that_is_traced_in_every_call_says_so_once(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("millstream"), "propagate", True)
    power = func.function(lambda x, n: x**n, static_argnums=1, cache_size=4)
    with caplog.at_level(logging.WARNING, logger="millstream"):
        assert [power(2.0, n) for n in range(1, 5)] == [2.0, 4.0, 8.0, 16.0] and not caplog.records
        assert [power(2.0, n) for n in range(5, 8)] == [32.0, 64.0, 128.0]
    (record,) = caplog.records
    assert "test_func.py" in record.getMessage() and "keeps the latest 4 graphs" in record.getMessage()


def frames(error):
    """Returns the names of the files of an error's traceback."""
    return [frame.filename.rsplit("/", 1)[-1] for frame in traceback.extract_tb(error.__traceback__)]


def test_tracebacks_show_the_users_lines():
    def step(x):
        return x + undefined  # noqa: F821

    loop = func.function(lambda x: func.while_loop(lambda y: y < 3.0, step, x))
    for call in (loop, loop.lower, func.grad(loop), func.function(lambda x: loop(x))):
        with pytest.raises(NameError) as caught:
            call(1.0)
        # The frames that catch the error stay.
        mine = [name for name in frames(caught.value) if name == "test_func.py"]
        assert frames(caught.value) in (["test_func.py", "calls.py", *mine[1:]], ["test_func.py", "functions.py", "calls.py", *mine[1:]])
        assert 3 <= len(mine)
    with pytest.raises(TypeError) as caught:
        func.function(lambda x: 1.0 if x else 2.0)(1.0)
    assert frames(caught.value) == ["test_func.py", "calls.py", "test_func.py"]
    # The innermost frame stays where nothing is said that helps: it may show a mistake of ours.
    with pytest.raises(TypeError) as caught:
        func.function(lambda x: func.while_loop(lambda y: y < 3.0, lambda y: None, x))(1.0)
    assert frames(caught.value) == ["test_func.py", "calls.py", "test_func.py", "flow.py"]
    code = "import millstream as tf\ntf.func.function(lambda x: tf.func.while_loop(lambda y: undefined, lambda y: y, x))(1.0)"
    shown = subprocess.run([sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, timeout=60).stderr
    assert "in _traced" in shown and "in flat_cond" in shown, shown


def test_errors_name_the_users_line():
    line = here() + 4

    @func.function
    def f(x):
        return tf.check_numerics(x, "not finite")

    text = fails(tf.errors.InvalidArgumentError, "not finite", f, np.inf)
    assert "test_func.py:%d" % line in text

    fails(ValueError, "rank", func.function(lambda x: tf.matmul(x, x)), np.ones(2))


def test_errors_of_loops():
    loop = func.function(lambda x: func.while_loop(lambda c: c["i"] < 3, body, {"i": 0, "h": x}))
    line = here() + 1
    body = lambda c: {"i": c["i"] + 1}
    fails(TypeError, r"the carry enters as \{'i': value, 'h': value\}, but `<lambda>` \(.*test_func.py:%d\) returns \{'i': value\}" % line, loop, 1.0)
    body = lambda c: {"i": c["i"] + 1, "h": tf.cast(c["h"], tf.int32)}
    fails(TypeError, r"`carry\['h'\]` enters as float32\[\], but .* returns int32\[\]: cast it \(`tf.cast\(.., tf.float32\)`\), or start with int32", loop, 1.0)
    body = lambda c: {"i": c["i"] + 1, "h": tf.expand_dims(c["h"], 0)}
    fails(TypeError, r"enters as float32\[\], but .* returns float32\[1\]: the rank must stay the same", loop, 1.0)
    body = lambda c: {"i": c["i"] + 1, "h": "text"}
    fails(TypeError, r"carry\['h'\] is 'text'", loop, 1.0)
    fails(TypeError, r"the condition must be a boolean scalar, but `.*gives float32\[\?\].*reduce_any", func.while_loop, lambda x: x, lambda x: x, np.ones(2, np.float32))
    fails(TypeError, "holds no value", func.while_loop, lambda x: True, lambda x: x, None)
    fails(TypeError, r"the bounds are float32\[\] and float32\[\]: they must be integers of one dtype \(`tf.cast`\)", func.fori_loop, 0.0, 3.0, lambda i, x: x, 1.0)
    fails(ValueError, "neither `xs` nor `length` is there", func.scan, lambda c, x: (c, x), 0.0)
    fails(tf.errors.InvalidArgumentError, "`length` is not the number of entries of `xs`", func.scan, lambda c, x: (c, x), 0.0, np.ones(3), 4)
    fails(ValueError, "`length` is 4, but `xs` has 3 entries", func.function(lambda x: func.scan(lambda c, v: (c, v), 0.0, x, 4), fixed_sizes=True), np.ones(3))
    fails(TypeError, r"`length` is float32\[\]: it must be an integer", func.scan, lambda c, x: (c, x), 0.0, None, 3.0)
    fails(tf.errors.InvalidArgumentError, r"`xs\[0\]` and `xs\[1\]` have different numbers of entries", func.scan, lambda c, x: (c, x), 0.0, (np.ones(3), np.ones(4)))
    fails(ValueError, r"`xs\['a'\]` is float64\[\], which has no axis to go along: pass an array", func.scan, lambda c, x: (c, x), 0.0, {"a": np.float64(1.0)})
    fails(TypeError, "must return a pair", func.scan, lambda c, x: c, 0.0, np.ones(3))
    fails(TypeError, r"carry enters as value, but `.* returns \(value, value\)", func.scan, lambda c, x: ((c, c), x), 0.0, np.ones(3, np.float32))


def test_errors_of_branches():
    fails(TypeError, r"func.cond: `<lambda>` .* returns \(value, value\), but `<lambda>` .* returns value", func.cond, np.bool_(1), lambda x: (x, x), lambda x: x, 1.0)
    fails(TypeError, r"`result` is float32\[\] in .*, but int32\[\] in .*cast one", func.cond, np.bool_(1), lambda x: x, lambda x: tf.cast(x, tf.int32), 1.0)
    fails(TypeError, r"the predicate must be a boolean scalar, but it is float32\[\]", func.cond, 1.0, lambda x: x, lambda x: x, 1.0)
    # In a graph of TensorFlow 1, `==` compares tensors by identity.
    x = tf.constant(1.0)
    fails(TypeError, r"the predicate is a Python bool.*tf.equal", func.cond, x == 1.0, lambda x: x, lambda x: x, x)


def test_errors_of_derivatives():
    f = lambda x: x * 2
    fails(TypeError, r"argument 0\['n'\] is int32\[\], which has no derivative.*3.0 instead of 3.*argnums", func.grad(lambda p: p["n"]), {"n": 3})
    line = here() + 1
    g = lambda x: x * 2
    fails(TypeError, r"grad needs a function that returns a scalar, but `<lambda>` \(.*test_func.py:%d\) returned float64\[\?\].*reduce_sum.*jacobian" % line, func.grad(g), np.ones(3))
    fails(TypeError, r"returned the structure \(value, value\); with `has_aux=True`", func.grad(lambda x: (x, x)), 1.0)
    fails(TypeError, r"returned int32\[\]. Cast", func.grad(lambda x: tf.cast(x, tf.int32)), 1.0)
    fails(TypeError, r"differentiates by argument 2, but the call has 1 positional argument, counted from 0", func.grad(f, argnums=2), 1.0)
    fails(TypeError, r"must return a pair \(value, aux\), but returned float32\[\]", func.grad(f, has_aux=True), 1.0)
    fails(TypeError, r"is int32\[\], which has no derivative. Return it beside the values", func.jacobian(lambda x: tf.cast(x, tf.int32)), 1.0)
    fails(ValueError, r"the cotangents have the structure \(value, value\), but .* returned value", func.vjp(f, 1.0)[1], (1.0, 1.0))
    fails(ValueError, r"the tangents have the structure \(value, value\), but the primals have \(value,\)", func.jvp, f, (1.0,), (1.0, 1.0))
    fails(TypeError, r"`\(x,\)` for one", func.jvp, f, 1.0, 1.0)
    fails(TypeError, "func.grad has no argument `argnum`", func.grad, f, argnum=1)
    fails(TypeError, "argnums is 'x', but must be the position", func.grad(f, "x"), 1.0)
    # A cotangent of another shape would broadcast, and give a gradient of another shape.
    back = func.vjp(lambda x: {"y": x * 2}, np.ones(3))[1]
    fails(ValueError, r"cotangent\['y'\] has the shape \(2,\), but .* returned has \(3,\)", back, {"y": np.ones(2)})
    fails(ValueError, r"tangents\[0\] has the shape \(3,\), but the argument has \(2,\)", func.jvp, f, (np.ones(2),), (np.ones(3),))
    fails(ValueError, "shapes must be the same", func.function(lambda x: func.vjp(f, x)[1](np.ones(2)), fixed_sizes=True), np.ones(3))


def test_larger_and_smaller_keep_nans_as_numpys_do():
    a, b = np.array([np.nan, 1.0, np.nan, 2.0]), np.array([1.0, np.nan, np.nan, 3.0])
    for name in ("maximum", "minimum"):
        got = func.function(getattr(func.numpy, name))(a, b)
        np.testing.assert_array_equal(got, getattr(np, name)(a, b))
    np.testing.assert_array_equal(func.function(lambda x: func.numpy.clip(x, np.nan, 5.0))(b), np.full(4, np.nan))
    assert func.function(func.numpy.maximum)(3, 4) == 4


def test_errors_of_numpy():
    fails(TypeError, r"func.numpy.add: int64\[\?\] and float64\[\?\] do not mix", func.function(func.numpy.add), np.ones(2, np.int64), np.ones(2))
    fails(TypeError, r"func.numpy.add: 0.5 does not fit beside int32\[\]", func.function(lambda x: func.numpy.add(x, 0.5)), 1)


def test_the_standards_functions_are_there():
    np_ = func.numpy
    assert np_.table().endswith("133 of 133")
    x = np.array([3, 1, 3, 2])
    values, first, inverse, counts = func.function(np_.unique_all)(x)
    assert values.tolist() == [3, 1, 2] and first.tolist() == [0, 1, 3] and inverse.tolist() == [0, 1, 0, 2] and counts.tolist() == [2, 1, 1]
    assert np_.isdtype(tf.int8, "integral") and np_.isdtype(tf.float32, ("bool", "real floating")) and not np_.isdtype(tf.float32, tf.float64)
    assert np_.can_cast(tf.int32, tf.float64) and not np_.can_cast(tf.int64, tf.int32)
    assert np_.result_type(tf.int8, tf.int32) == tf.int32 and np_.result_type(tf.float32, 1.0) == tf.float32 and np_.result_type(tf.int32, 1.0) == tf.float32


@pytest.mark.parametrize(
    "name, args",
    [
        ("einsum", ("ij,j->i", np.arange(6.0).reshape(2, 3), np.arange(3.0))),
        ("diag", (np.arange(4.0).reshape(2, 2),)),
        ("diag", (np.arange(2.0),)),
        ("diagonal", (np.arange(4.0).reshape(2, 2),)),
        ("inner", (np.arange(3.0), np.arange(6.0).reshape(2, 3))),
        ("cross", (np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 5.0]))),
        ("vstack", ([np.arange(3.0), np.ones((2, 3))],)),
        ("hstack", ([np.ones((2, 1)), np.zeros((2, 2))],)),
        ("split", (np.arange(6.0), 3)),
        ("split", (np.arange(6.0), [1, 4])),
        ("pad", (np.ones((2, 2)), 1)),
        ("isclose", (np.array([1.0, np.inf, np.nan]), np.array([1.0 + 1e-9, np.inf, np.nan]))),
        ("allclose", (np.ones(2), np.ones(2) * 1.1)),
        ("array_equal", (np.ones(2), np.ones(2))),
        ("nan_to_num", (np.array([1.0, np.nan, np.inf, -np.inf]),)),
        ("polyval", ([1.0, -2.0, 3.0], np.arange(3.0))),
        ("deg2rad", (np.array([180.0]),)),
        ("rad2deg", (np.array([np.pi]),)),
    ],
)
def test_functions_beyond_the_standard_are_numpys(name, args):
    wanted = getattr(np, name)(*args)
    fixed = [i for i, a in enumerate(args) if not isinstance(a, np.ndarray)]
    got = func.function(lambda *a: getattr(func.numpy, name)(*[args[i] if i in fixed else v for i, v in enumerate(a)]))(*[0.0 if i in fixed else a for i, a in enumerate(args)])
    for one, other in zip(wanted, got) if isinstance(wanted, list) else [(wanted, got)]:
        np.testing.assert_allclose(other, one)
