"""Graph construction: names, scopes, conversion, dtypes, operators, slicing, errors."""

import numpy as np
import pytest

import millstream as tf


def value(tensor, feeds=None):
    with tf.Session(graph=tensor.graph) as sess:
        return sess.run(tensor, feeds)


def test_operators_are_the_ops_and_names_of_tensorflow():
    x = tf.constant(3.0, name="x")
    made = [x + 1, 1 - x, x * 2, x / 2, x // 2, x % 2, x**2, -x, abs(x), x < 4, x >= 4, 2.0 / x]
    assert [t.op.name for t in made] == ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "Neg", "Abs", "Less", "GreaterEqual", "truediv_1"]
    assert [t.op.type for t in made] == "AddV2 Sub Mul RealDiv FloorDiv FloorMod Pow Neg Abs Less GreaterEqual RealDiv".split()
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(made), [4, -2, 6, 1.5, 1, 1, 9, -3, 3, True, False, 2 / 3], rtol=1e-6)
    assert [i.name for i in made[0].op.inputs] == ["x:0", "add/y:0"]
    t, f = tf.constant(True), tf.constant(False)
    with tf.Session() as sess:
        assert sess.run([t & f, t | f, t ^ t, ~t]) == [False, True, False, False]


def test_int_division_is_in_float64():
    assert (tf.constant(1) / 2).dtype == tf.float64


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        slice(None),
        slice(1, None),
        slice(None, None, 2),
        slice(None, None, -1),
        (0, 1),
        (slice(1), 0),
        (Ellipsis, 0),
        (0, Ellipsis),
        (None, 0),
        (slice(None), None, 1),
        (slice(-2, -1), slice(0, 2)),
    ],
)
def test_slices_are_numpys(key):
    array = np.arange(24).reshape(2, 3, 4).astype(np.int32)
    np.testing.assert_array_equal(value(tf.constant(array)[key]), array[key])


def test_slices_by_tensors_and_masks():
    array = np.arange(6, dtype=np.int32)
    i = tf.constant(2)
    assert value(tf.constant(array)[i]) == 2
    np.testing.assert_array_equal(value(tf.constant(array)[i:]), [2, 3, 4, 5])
    np.testing.assert_array_equal(value(tf.boolean_mask(array, array % 2 == 0)), [0, 2, 4])
    with pytest.raises(TypeError):
        tf.constant(array)["a"]


def test_dtypes_are_inferred_as_tensorflow_does():
    assert tf.constant(1).dtype == tf.int32 and tf.constant(1.5).dtype == tf.float32 and tf.constant(True).dtype == tf.bool
    assert tf.constant(2**40).dtype == tf.int64 and tf.constant("a").dtype == tf.string and tf.constant(1j).dtype == tf.complex128
    assert tf.constant([1, 2.5]).dtype == tf.float32
    assert tf.constant(np.float64(1)).dtype == tf.float64 and tf.constant(np.array([1, 2])).dtype == tf.int64
    assert tf.constant(1, tf.float16).dtype == tf.float16
    assert value(tf.constant([255, 0], tf.uint8)).tolist() == [255, 0] and value(tf.constant(2**64 - 1, tf.uint64)) == 2**64 - 1
    assert value(tf.constant([-128, 127], tf.int8)).tolist() == [-128, 127] and value(tf.constant([-(2**31)], tf.int32)) == -(2**31)
    assert tf.add(tf.constant(1, tf.int64), 1).dtype == tf.int64
    assert value(tf.constant([1, 2], shape=[2, 2])).tolist() == [[1, 2], [2, 2]]


@pytest.mark.parametrize(
    "make, kind, text",
    [
        (lambda: tf.constant(1.5, tf.int32), TypeError, "Expected int32, got 1.5 of type 'float' instead."),
        (lambda: tf.constant("a", tf.float32), TypeError, "Expected float32, got 'a' of type 'str' instead."),
        (lambda: tf.constant(None), ValueError, "None values not supported."),
        (lambda: tf.constant([[1], [1, 2]]), ValueError, "Argument must be a dense tensor: [[1], [1, 2]] - got shape [2], but wanted [2, 1]."),
        (lambda: tf.constant([[], [1]]), ValueError, "got shape [2], but wanted [2, 0]."),
        (lambda: tf.constant([1.0, [2, 3]]), TypeError, "Failed to convert object of type <class 'list'> to Tensor. Contents: [1.0, [2, 3]]."),
        (lambda: tf.constant(2**70), TypeError, "Failed to convert object of type <class 'int'> to Tensor."),
        (lambda: tf.fill([2**70], 1.0), (OverflowError, TypeError), ""),
        (lambda: tf.tensordot(tf.ones([2]), tf.ones([2, 2]), 2**40), ValueError, "'axes' must not be larger than the number of dimensions of tensor Tensor(\"ones:0\""),
        (lambda: tf.tensordot(tf.ones([2]), tf.ones([2]), -1), ValueError, "'axes' must be at least 0."),
        (lambda: tf.add(tf.constant(1), tf.constant(1.0)), TypeError, "Input 'y' of 'Add' Op has type float32 that does not match type int32 of argument 'x'."),
        (lambda: tf.constant(1) + 2.5, TypeError, "Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of argument 'x'."),
        (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])), ValueError, ""),
        (lambda: tf.add(tf.ones([2]), tf.ones([3])), ValueError, ""),
        (lambda: bool(tf.constant(True)), TypeError, "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution."),
        (lambda: list(tf.constant([1])), TypeError, "iterating over `tf.Tensor` is not allowed in Graph execution."),
        (lambda: np.array(tf.constant([1])), NotImplementedError, "Cannot convert a symbolic Tensor"),
        (lambda: tf.raw_ops.AddV2(1, 2), TypeError, "only takes keyword args"),
        (lambda: tf.raw_ops.AddV2(x=1), TypeError, "missing 1 required positional argument: 'y'"),
        (lambda: tf.raw_ops.AddV2(x=1, y=2, z=3), TypeError, "unexpected keyword argument 'z'"),
        (lambda: tf.raw_ops.NoSuchOp, AttributeError, "NoSuchOp"),
        (lambda: tf.no_such_name, AttributeError, "no_such_name"),
        (lambda: tf.concat([tf.constant([1]), tf.constant([1.0])], 0), TypeError, ""),
        (lambda: tf.raw_ops.Tile(input=tf.constant(1), multiples=[1]), ValueError, ""),
        (lambda: tf.logical_and(1, True), TypeError, "Expected bool, got 1 of type 'int' instead."),
        (lambda: tf.exp(tf.constant(1)), TypeError, "Value passed to parameter 'x' has DataType int32 not in list of allowed values"),
    ],
)
def test_mistakes_are_raised_at_once(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert text in str(caught.value)
    # No state is left for later calls.
    assert value(tf.constant(1) + 1) == 2


def test_tensors_of_two_graphs():
    a = tf.constant(1)
    with tf.Graph().as_default():
        b = tf.constant(2)
        with pytest.raises(ValueError, match="must be from the same graph as"):
            tf.add(a, b)


def test_scopes_and_names():
    with tf.name_scope("a") as scope:
        assert scope == "a/"
        assert tf.constant(1).name == "a/Const:0"
        with tf.name_scope("b"):
            assert tf.constant(1, name="c").name == "a/b/c:0"
        with tf.name_scope(None):
            assert tf.constant(1, name="root").name == "root:0"
    with tf.name_scope("a"):
        assert tf.constant(1).name == "a_1/Const:0"
    with tf.name_scope("a/"):
        assert tf.constant(1).name == "a/Const_1:0"
    with pytest.raises(ValueError, match="is not a valid scope name"):
        with tf.name_scope("_no"):
            pass


def test_control_dependencies_order_what_runs():
    v = tf.Variable(1)
    with tf.control_dependencies([v.assign_add(1)]):
        after = tf.identity(v.read_value())
    with tf.control_dependencies(None):
        free = tf.constant(1)
    assert not free.op.control_inputs
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(after) == 2


def test_devices_colocation_and_overridden_gradients():
    g = tf.get_default_graph()
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    assert a.device == "/device:CPU:0"
    with tf.colocate_with(a.op):
        b = tf.constant(1.0)
    assert b.op.get_attr("_class") == [b"loc:@a"] and b.op.colocation_groups() == [b"loc:@a"]
    with g.gradient_override_map({"Square": "Mine"}):
        c = tf.square(a)
    assert c.op.get_attr("_gradient_op_type") == b"Mine"
    with pytest.raises(ValueError):
        tf.square(a).op.get_attr("_gradient_op_type")


def test_finding_things_by_name():
    g = tf.get_default_graph()
    t = tf.constant(1, name="t")
    assert g.get_tensor_by_name("t:0") == t and g.get_operation_by_name("t") == t.op and t.op.outputs[0] == t
    with pytest.raises(KeyError, match="refers to a Tensor which does not exist. The operation, 'u', does not exist in the graph."):
        g.get_tensor_by_name("u:0")
    with pytest.raises(KeyError, match="exists but only has 1 outputs"):
        g.get_tensor_by_name("t:1")
    with pytest.raises(KeyError, match="refers to an Operation not in the graph"):
        g.get_operation_by_name("u")
    with pytest.raises(ValueError, match="The name 't' refers to an Operation, not a Tensor"):
        g.get_tensor_by_name("t")
    assert [op.name for op in g.get_operations()] == ["t"]


def test_finalized_graphs():
    g = tf.Graph()
    with g.as_default():
        tf.constant(1)
        g.finalize()
        with pytest.raises(RuntimeError, match="inalized"):
            tf.constant(2)
    assert g.finalized


def test_graphs_as_messages_there_and_back():
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.reduce_sum(x * 2.0, name="y")
    message = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (y,) = tf.import_graph_def(message, return_elements=["y:0"], name="in")
        assert y.name == "in/y:0"
        assert value(y, {"in/x:0": [1, 2]}) == 6


def test_every_op_is_a_function_with_a_signature_and_words():
    import inspect

    names = dir(tf.raw_ops)
    assert 570 <= len(names)
    for name in names:
        function = getattr(tf.raw_ops, name)
        assert function.__name__ == name and function.__doc__.strip()
        assert "name" in inspect.signature(function).parameters
    assert str(inspect.signature(tf.raw_ops.Cast)) == "(*, x, DstT, Truncate=False, name=None)"
    assert str(inspect.signature(tf.less)) == "(x, y, name=None)"


def test_raw_ops_make_loops_by_hand():
    raw = tf.raw_ops
    enter = raw.Enter(data=tf.constant(0), frame_name="f")
    merge, _ = raw.Merge(inputs=[enter, enter])
    more = raw.LoopCond(input=raw.Less(x=merge, y=raw.Enter(data=tf.constant(5), frame_name="f", is_constant=True)))
    out, going = raw.Switch(data=merge, pred=more)
    one = raw.Enter(data=tf.constant(1), frame_name="f", is_constant=True)
    back = raw.NextIteration(data=raw.AddV2(x=going, y=one))
    merge.op._update_input(1, back)
    assert value(raw.Exit(data=out)) == 5


def test_shapes_are_refined():
    x = tf.placeholder(tf.float32)
    assert x.shape.ndims is None and str(x) == 'Tensor("Placeholder:0", dtype=float32)'
    x.set_shape([None, 3])
    assert x.get_shape().as_list() == [None, 3]
    with pytest.raises(ValueError, match="must be equal, but are 3 and 4"):
        x.set_shape([2, 4])
    assert repr(x) == "<tf.Tensor 'Placeholder:0' shape=(?, 3) dtype=float32>"


def test_collections():
    tf.add_to_collection("k", 1)
    tf.get_collection_ref("k").append(2)
    assert tf.get_collection("k") == [1, 2] and tf.get_default_graph().get_all_collection_keys() == ["k"]


def test_threads_have_default_graphs_of_their_own():
    import threading

    here, there = tf.get_default_graph(), []
    thread = threading.Thread(target=lambda: there.append(tf.get_default_graph()))
    thread.start()
    thread.join()
    assert there[0] is not here


def _made_by_a_helper(n):
    return tf.constant(1) if n == 0 else _made_by_a_helper(n - 1)


def test_tracebacks_tell_of_the_calls_around():
    x = _made_by_a_helper(2)
    frames = x.op.traceback
    assert [f[2] for f in frames[-4:]] == ["test_tracebacks_tell_of_the_calls_around"] + ["_made_by_a_helper"] * 3
    assert all(f[0] == __file__ for f in frames[-4:])
    assert frames[-4][3] == "x = _made_by_a_helper(2)" and frames[-1][3].startswith("return tf.constant(1) if n == 0")
    # Bounded: deep recursion costs no more.
    deep = _made_by_a_helper(100).op.traceback
    assert len(deep) == 8 and {f[2] for f in deep} == {"_made_by_a_helper"}
    y = tf.add(x, 1) + tf.constant(2)
    assert y.op.traceback[-1][3] == "y = tf.add(x, 1) + tf.constant(2)"
