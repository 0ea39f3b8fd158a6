"""What a newcomer meets: warnings, names in errors, the `repr` of objects, traces."""

import json
import logging
import subprocess
import sys

import numpy as np
import pytest

import millstream as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def warned(caplog, ys, xs, **options):
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="millstream"):
        tf.gradients(ys, xs, **options)
    return "\n".join(record.getMessage() for record in caplog.records)


def test_a_gradient_that_is_none_says_why(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("millstream"), "propagate", True)
    x, k = tf.constant(1.0, name="x"), tf.constant(3, name="k")
    assert "because the y `mul:0` is int32" in warned(caplog, k * k, k)
    assert "the gradient of the x `k:0` is None, because it is int32" in warned(caplog, x * x, [x, k])
    assert "no path of floating-point operations leads from `x:0` to `other:0`" in warned(caplog, tf.constant(2.0, name="other"), x)
    # What programs do on purpose is not worth a warning: some variables unused, or zeros asked for.
    assert warned(caplog, x * x, [x, tf.constant(2.0)]) == ""
    assert warned(caplog, x * x, k, unconnected_gradients="zero") == ""


def test_leaving_a_session_by_an_error_logs_nothing(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("millstream"), "propagate", True)
    numbers = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
    with caplog.at_level(logging.WARNING, logger="millstream"), pytest.raises(tf.errors.OutOfRangeError):
        with tf.Session() as sess:
            sess.run(numbers)
            sess.run(numbers)
    assert not caplog.records


@pytest.mark.parametrize("module, name, near", [(tf, "reduce_summ", "reduce_sum"), (tf.nn, "sofmax", "softmax"), (tf.train, "AdamOptimiser", "AdamOptimizer")])
def test_a_misspelt_name_is_suggested(module, name, near):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    if sys.version_info >= (3, 10):
        # Python finds the name most like it in the module when it shows the error.
        assert (caught.value.name, caught.value.obj) == (name, module) and near in dir(module)
    else:
        assert "Did you mean: %r?" % near in str(caught.value)


@pytest.mark.parametrize("word", ["not finite", "not-finite", "not_finite", "inf", "infinite"])
def test_the_words_of_watches_are_those_of_the_command_line(word):
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as sess, sess.watch(x, word):
        with pytest.raises(tf.errors.InvalidArgumentError, match="a watch stopped the run"):
            sess.run(x * 2.0, {x: float("inf")})
    with pytest.raises(ValueError, match="must be 'nan', 'infinite', 'not finite'"), tf.Session() as sess:
        sess.watch(x, "endless")


def test_objects_say_what_they_are():
    cell = tf.nn.rnn_cell.LSTMCell(3)
    assert repr(cell) == "<LSTMCell 'lstm_cell_1': num_units=3, activation=tanh>"
    assert repr(tf.nn.rnn_cell.MultiRNNCell([cell])) == "<MultiRNNCell 'multi_rnn_cell_1': cells=[%r]>" % cell
    assert repr(tf.layers.Dense(4, tf.nn.relu)) == "<Dense 'dense_1': units=4, activation=relu>"
    assert repr(tf.train.MomentumOptimizer(tf.constant(0.1), 0.9)) == "<MomentumOptimizer 'Momentum': learning_rate=Const:0, momentum=0.9>"
    template = tf.make_template("shared", lambda: tf.get_variable("w", []))
    assert repr(template) == "<Template 'shared' of <lambda>, not called yet>"
    template()
    assert repr(template) == "<Template 'shared' of <lambda>, with variables in 'shared'>"

    class Mine(tf.train.Optimizer):
        def __init__(self):
            self.unusual = 1  # Without the constructor of the base.

    assert repr(Mine()) == "<Mine>"
    v = tf.Variable(1.0)
    assert repr(tf.train.Saver([v], max_to_keep=2)) == "<tf.train.Saver of 1 variables, max_to_keep=2>"
    assert repr(tf.train.Saver()) == "<tf.train.Saver of all saveable variables, max_to_keep=5>"
    assert repr(tf.random_uniform_initializer(-1, 1)) == "<RandomUniform: minval=-1, maxval=1, dtype=float32>"
    coordinator = tf.train.Coordinator()
    assert repr(coordinator) == "<tf.train.Coordinator of 0 threads, running>"
    coordinator.request_stop()
    assert repr(coordinator) == "<tf.train.Coordinator of 0 threads, stopping>"


@pytest.mark.parametrize("name", ["function", "wrap_function", "GradientTape"])
def test_names_of_tensorflow_2_lead_to_func(name):
    with pytest.raises(AttributeError, match="never will be, because .*tf.func"):
        getattr(tf, name)


def test_a_trace_is_a_file_for_perfetto(tmp_path):
    i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.placeholder_with_default(0, [])])
    path = tmp_path / "trace.json"
    with tf.Session() as sess:
        with sess.trace(path) as same:
            assert same is sess and (sess.run(i), sess.run(i, {"PlaceholderWithDefault:0": 2})) == (3, 3)
            with pytest.raises(RuntimeError, match="traced already"), sess.trace(path):
                pass
        assert sess.run(i) == 3
    events = json.loads(path.read_text())["traceEvents"]
    adds = [(e["pid"], e["args"]["at"].split(" of ")[0]) for e in events if e["name"] == "AddV2"]
    assert sorted(adds) == [(1, "iteration 0"), (1, "iteration 1"), (1, "iteration 2"), (2, "iteration 0")]
    assert all(0 <= e["ts"] and 0 <= e["dur"] for e in events if e["ph"] == "X")
    with pytest.raises(FileNotFoundError), sess.trace(tmp_path / "missing" / "trace.json"):
        pass


def test_no_error_advises_what_is_not_here():
    with pytest.raises(RuntimeError, match="(?s)only supported inside of tf.function.*there is neither here: run `dataset.make_one_shot_iterator"):
        iter(tf.data.Dataset.range(3))
    double = tf.custom_gradient(lambda x, y: (x * y, lambda dy: (dy * y, dy * x)))
    with pytest.raises(ValueError, match="(?s)when eager execution is enabled.*there is no eager execution here: pass them by position"):
        double(tf.constant(1.0), y=tf.constant(2.0))


def test_names_of_nodes_are_suggested(graph):
    tf.placeholder(tf.int32, [], name="counter")
    for look in (lambda: graph.get_tensor_by_name("conter:0"), lambda: graph.get_operation_by_name("conter"), lambda: tf.Session().run("conter:0")):
        with pytest.raises((KeyError, ValueError), match="did you mean `counter`"):
            look()


def test_errors_say_what_to_use_here():
    seen = []
    tf.while_loop(lambda i: i < 3, lambda i: (seen.append(i * i), i + 1)[1], [0])
    with pytest.raises(ValueError, match="tf.every"):
        tf.Session().run(seen[0])
    with pytest.raises(TypeError, match="`tf.cond` branches on a tensor"):
        bool(tf.constant(1) > 0)
    with pytest.raises(TypeError, match="`tf.map_fn`"):
        list(tf.constant([1]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="`local_variables_initializer`"):
        tf.Session().run(tf.get_local_variable("v", [2]))
    for name in ("numpy", "item"):
        assert not hasattr(tf.constant(1), name)
        with pytest.raises(AttributeError, match=r"a value only in a run, and `tf.Session\(\).run\(tensor\)`"):
            getattr(tf.constant(1), name)


def test_errors_of_newcomers_say_what_helps():
    x = tf.placeholder(tf.float32, [None, 3])
    one, i = tf.constant(1.0), tf.constant(0)
    less, more = lambda i, y: i < 3, lambda i, y: (i + 1, y)
    for kind, told, mistake in [
        (NotImplementedError, r"to a numpy array.\n  help: a tensor has a value only in a run: `tf.\*`", lambda: np.sin(one)),
        (TypeError, r"`len\(x\)` for shape information.\n  help: `tf.shape\(x\)\[0\]`", lambda: len(x)),
        (ValueError, r"unknown Dimension to a Tensor: \?\n  help: `tf.shape\(x\)\[i\]`", lambda: tf.zeros([x.shape[0], 3])),
        (TypeError, r"Contents: \[None, 3\].*\n  help: a size that follows from the others is -1", lambda: tf.reshape(x, [None, 3])),
        (TypeError, r"Fetch argument .*1.0.* has invalid type .*\n  help: `run` returns values: keep them under names other", lambda: tf.Session().run(np.float32(1.0))),
        (ValueError, r"number of elements.*\n  help: loop `while.*`: `body` must return the next value of each", lambda: tf.while_loop(less, lambda i, y: i + 1, [i, one])),
        (TypeError, r"takes 1 positional argument but 2.*\n  help: .* one argument for each of the 2 items", lambda: tf.while_loop(lambda i: i < 3, more, [i, one])),
        (TypeError, r"takes 1 positional argument but 2.*\n  help: .* one argument for each of the 2 items", lambda: tf.while_loop(less, lambda i: i, [i, one])),
        (TypeError, r"expected type of bool.\n  help: `cond` must return a bool", lambda: tf.while_loop(lambda i: i, lambda i: i, [i])),
        (ValueError, r"None values not supported.\n  help: loop `while.*`: `body` returned None: does it lack", lambda: tf.while_loop(lambda i: i < 3, lambda i: None, [i])),
        (TypeError, r"cond must be callable.\n  help: pass functions of the loop variables", lambda: tf.while_loop(i < 3, lambda i: i, [i])),
        (TypeError, r"a Python bool\n  help: use Python's `if`", lambda: tf.cond(True, lambda: 1, lambda: 2)),
        (TypeError, r"true_fn must be callable.\n  help: pass functions without arguments", lambda: tf.cond(one > 0, one, -one)),
        (ValueError, r"same type: int32, float32\n  help: convert one of them by `tf.cast`", lambda: tf.cond(one > 0, lambda: 1, lambda: 2.0)),
        (TypeError, r"return types of true_fn.*\n  help: return the same structure", lambda: tf.cond(one > 0, lambda: (1, 2), lambda: {"a": 1, "b": 2})),
        (ValueError, r"No variables to optimize.\n  help: `tf.get_variable` makes one", lambda: tf.train.GradientDescentOptimizer(0.1).minimize(one)),
        (ValueError, r"is <unknown>.\n  help: give `shape`, or a value as `initializer`", lambda: tf.get_variable("w")),
        (ValueError, r"minus 1 \(received 2\).\n  help: labels are numbers of classes", lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0, 1]], logits=[[0.0, 1.0]])),
    ]:
        with pytest.raises(kind, match="(?s)" + told):
            mistake()
    tf.get_variable("v", [1])
    with pytest.raises(ValueError, match="it is None.\n  help: `tf.train.latest_checkpoint` returns None"):
        tf.train.Saver().restore(tf.Session(), None)
    # The user's own error in a function that takes the loop variables is left alone.
    with pytest.raises(TypeError) as caught:
        tf.while_loop(less, lambda i, y: (lambda a: a)(i, y), [i, one])
    assert "  help: " not in str(caught.value)


@pytest.mark.parametrize(
    "x, y, told",
    [
        (np.zeros([0, 1]), np.zeros(0), "x has no examples"),
        (np.zeros([4, 1]), np.zeros(3), "the same number of examples, but there are arrays of 3 and of 4"),
        ({"a": np.zeros([4, 1]), "b": np.zeros([2, 1])}, np.zeros(4), "arrays of 2 and of 4"),
        (np.zeros([4, 1]), 1.0, "must be arrays, or dicts of arrays"),
    ],
)
def test_arrays_of_examples_are_checked(x, y, told):
    model = tf.contrib.learn.LinearRegressor([tf.contrib.layers.real_valued_column("")])
    for use in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match=told):
            use(x, y, steps=1)
    with pytest.raises(ValueError, match="batch_size must be at least 1, not -2"):
        model.fit(np.zeros([4, 1]), np.zeros(4), steps=1, batch_size=-2)


def test_the_version_tells_features_and_processor():
    done = subprocess.run([sys.executable, "-m", "millstream", "--version"], capture_output=True, text=True, timeout=60)
    for part in ("millstream ", "features: ", "processor: ", "interface: TensorFlow 1.15", "numpy "):
        assert part in done.stdout, done.stdout + done.stderr


def test_an_explanation_explains_its_columns():
    x = tf.placeholder(tf.float32, [])
    assert "Columns: nodes: what the fetches need; " in str(tf.Session().explain(x + 1.0, [x]))
