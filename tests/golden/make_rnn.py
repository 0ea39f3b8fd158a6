"""Writes the results of TensorFlow 1.15's recurrent nets, for `crates/millstream/tests/recurrent.rs`.

    python make_rnn.py

writes `rnn/CASE.txt` with lines `name shape values`: every weight under its variable's name, the input `x`,
`lengths` if there are any, `outputs` (for a bidirectional net also `outputs_back`), and the values of the
last state in order (`state_0`, ..). `d_NAME` is the gradient, by every weight and by `x`, of the sum of all
results, each multiplied by a factor (`u_outputs`, `u_state_0`, ..).

Running it again writes the same bytes.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
HERE = os.path.dirname(os.path.abspath(__file__))
TIME, BATCH, DEPTH, UNITS = 5, 3, 2, 4
LENGTHS = [5, 2, 0]

cell = tf.nn.rnn_cell
CASES = {
    "basic_rnn": lambda: cell.BasicRNNCell(UNITS),
    "basic_lstm": lambda: cell.BasicLSTMCell(UNITS),
    "basic_lstm_bias": lambda: cell.BasicLSTMCell(UNITS, forget_bias=0.25),
    "lstm": lambda: cell.LSTMCell(UNITS),
    "lstm_peepholes": lambda: cell.LSTMCell(UNITS, use_peepholes=True, cell_clip=0.3),
    "lstm_projection": lambda: cell.LSTMCell(UNITS, num_proj=3, proj_clip=0.2, use_peepholes=True),
    "gru": lambda: cell.GRUCell(UNITS),
    "multi": lambda: cell.MultiRNNCell([cell.BasicLSTMCell(UNITS), cell.BasicLSTMCell(UNITS)]),
    "mixed": lambda: cell.MultiRNNCell([cell.GRUCell(UNITS), cell.BasicRNNCell(3)]),
    "residual": lambda: cell.ResidualWrapper(cell.GRUCell(DEPTH)),
}


def flat(nest):
    return tf.nest.flatten(nest)


def write(name, lines):
    with open(os.path.join(HERE, "rnn", name + ".txt"), "w") as f:
        for key, value in lines:
            value = np.asarray(value)
            shape = ",".join(map(str, value.shape))
            numbers = " ".join(np.format_float_positional(v, unique=True, trim="-") if value.dtype.kind == "f" else str(v)
                               for v in value.ravel())
            f.write(f"{key} [{shape}] {numbers}\n")


def case(name, make, lengths, kind):
    rng = np.random.RandomState(sum(map(ord, name)))
    uniform = lambda *shape: rng.uniform(-1, 1, shape).astype(np.float32)
    xv = uniform(BATCH, TIME, DEPTH)
    with tf.Graph().as_default():
        x = tf.constant(xv)
        seq = tf.constant(LENGTHS) if lengths else None
        if kind == "bidirectional":
            outputs, states = tf.nn.bidirectional_dynamic_rnn(make(), make(), x, sequence_length=seq, dtype=tf.float32)
        elif kind == "static":
            steps, states = tf.nn.static_rnn(make(), tf.unstack(x, axis=1), sequence_length=seq, dtype=tf.float32)
            outputs = tf.stack(steps, axis=1)
        else:
            outputs, states = tf.nn.dynamic_rnn(make(), x, sequence_length=seq, dtype=tf.float32)
        outputs, states = flat(outputs), flat(states)
        weights = tf.global_variables()
        values = [uniform(*w.shape.as_list()) for w in weights]
        results = outputs + states
        with tf.Session() as s:
            s.run([w.initializer for w in weights])
            for w, v in zip(weights, values):
                w.load(v, s)
            shapes = [r.shape for r in s.run(results)]
            factors = [uniform(*shape) for shape in shapes]
            loss = tf.add_n([tf.reduce_sum(r * f) for r, f in zip(results, factors)])
            grads = tf.gradients(loss, weights + [x])
            got, slopes = s.run([results, grads])
    lines = [("x", xv)]
    if lengths:
        lines.append(("lengths", np.asarray(LENGTHS)))
    lines += [(w.op.name, v) for w, v in zip(weights, values)]
    names = ["outputs", "outputs_back"][:len(outputs)] + [f"state_{i}" for i in range(len(states))]
    lines += list(zip(names, got))
    lines += [("u_" + n, f) for n, f in zip(names, factors)]
    lines += [("d_" + n, g) for n, g in zip([w.op.name for w in weights] + ["x"], slopes)]
    write(name, lines)


for name, make in CASES.items():
    case(name, make, False, "dynamic")
    case(name + "_lengths", make, True, "dynamic")
case("bidirectional", CASES["basic_lstm"], False, "bidirectional")
case("bidirectional_lengths", CASES["basic_lstm"], True, "bidirectional")
case("static", CASES["basic_lstm"], False, "static")
case("static_lengths", CASES["basic_lstm"], True, "static")
