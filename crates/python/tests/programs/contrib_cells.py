"""The cells of `tf.contrib.rnn`: names of variables, values, training, and seeds after them."""

import numpy as np

from programs.tools import caught, initialize, mistakes, run, static


def _inputs(tf, width=3):
    return tf.constant(np.sin(np.arange(2.0 * 4 * width)).reshape(2, 4, width), tf.float32)


def _trained(tf, cell, width=3, lengths=None, inputs=None, tracked=True):
    """Names of variables, outputs, losses of three steps, and a number that depends on the count of nodes."""
    tf.set_random_seed(5)
    inputs = _inputs(tf, width) if inputs is None else inputs
    with tf.variable_scope("net"):
        outputs, state = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)
    drawn = tf.random_normal([2])
    loss = tf.reduce_mean(tf.square(outputs - 0.3))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    named = [[v.name, str(v.shape), v.trainable] if hasattr(v, "trainable") else [v.name, str(v.shape)] for v in tf.global_variables()]
    own = sorted(v.name for v in cell.variables) if tracked else None
    with tf.Session() as sess:
        initialize(tf, sess)
        first = sess.run([outputs, state, drawn])
        return named, own, str(cell.state_size), str(cell.output_size), static(outputs), first, [sess.run([loss, train])[0] for _ in range(3)]


def ugrnn(tf):
    return _trained(tf, tf.contrib.rnn.UGRNNCell(4, initializer=tf.random_uniform_initializer(-0.5, 0.5), forget_bias=0.5))


def intersection(tf):
    return _trained(tf, tf.contrib.rnn.IntersectionRNNCell(3), lengths=[4, 2])


def intersection_of_another_size(tf):
    return _trained(tf, tf.contrib.rnn.IntersectionRNNCell(4, num_in_proj=4, y_activation=tf.nn.tanh))


def nas(tf):
    return _trained(tf, tf.contrib.rnn.NASCell(4))


def nas_with_a_projection(tf):
    return _trained(tf, tf.contrib.rnn.NASCell(4, num_proj=2, use_bias=True, name="mine"))


def sru(tf):
    return _trained(tf, tf.contrib.rnn.SRUCell(4, name="mine"))


def independent(tf):
    return _trained(tf, tf.contrib.rnn.IndRNNCell(4, activation=tf.nn.relu))


def independent_gru(tf):
    return _trained(tf, tf.contrib.rnn.IndyGRUCell(4))


def independent_lstm(tf):
    return _trained(tf, tf.contrib.rnn.IndyLSTMCell(4, forget_bias=0.5), lengths=[3, 4])


def layer_norm(tf):
    return _trained(tf, tf.contrib.rnn.LayerNormBasicLSTMCell(4, norm_gain=0.5, norm_shift=0.1))


def layer_norm_left_out(tf):
    return _trained(tf, tf.contrib.rnn.LayerNormBasicLSTMCell(4, layer_norm=False, activation=tf.nn.relu))


def layer_norm_with_dropout(tf):
    return _trained(tf, tf.contrib.rnn.LayerNormBasicLSTMCell(4, dropout_keep_prob=0.5, dropout_prob_seed=3))


def layer_norm_with_late_dropout(tf):
    keep = tf.placeholder_with_default(0.75, [])
    return _trained(tf, tf.contrib.rnn.LayerNormBasicLSTMCell(4, dropout_keep_prob=keep))


def coupled(tf):
    return _trained(tf, tf.contrib.rnn.CoupledInputForgetGateLSTMCell(4))


def coupled_with_everything(tf):
    cell = tf.contrib.rnn.CoupledInputForgetGateLSTMCell(
        4, use_peepholes=True, num_proj=2, proj_clip=0.2, num_unit_shards=2, num_proj_shards=3, layer_norm=True, norm_gain=0.7
    )
    return _trained(tf, cell)


def coupled_with_one_state(tf):
    return _trained(tf, tf.contrib.rnn.CoupledInputForgetGateLSTMCell(4, state_is_tuple=False))


def groups(tf):
    return _trained(tf, tf.contrib.rnn.GLSTMCell(4, number_of_groups=2, num_proj=2), width=6)


def groups_without_a_projection(tf):
    return _trained(tf, tf.contrib.rnn.GLSTMCell(4, initializer=tf.ones_initializer(), number_of_groups=2), width=6)


def phased(tf):
    times = tf.constant(np.arange(8.0).reshape(2, 4, 1) * 7, tf.float32)
    return _trained(tf, tf.contrib.rnn.PhasedLSTMCell(4), inputs=(times, _inputs(tf)))


def phased_with_peepholes(tf):
    times = tf.constant(np.arange(8.0).reshape(2, 4, 1) * 7, tf.float64)
    cell = tf.contrib.rnn.PhasedLSTMCell(4, use_peepholes=True, leak=0.1, ratio_on=0.5, trainable_ratio_on=False, period_init_max=20.0)
    return _trained(tf, cell, inputs=(times, _inputs(tf)))


def time_and_frequency(tf):
    cell = tf.contrib.rnn.TimeFreqLSTMCell(2, use_peepholes=True, cell_clip=0.3, feature_size=3, frequency_skip=3, num_unit_shards=2)
    with tf.variable_scope("net", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
        output, state = cell(_inputs(tf, 6)[:, 0], tf.ones([2, 8]))
        again, _ = cell(_inputs(tf, 6)[:, 1], state)
    return [v.name for v in tf.global_variables()], cell.state_size, cell.output_size, run(tf, [output, state, again])


def grid(tf):
    cell = tf.contrib.rnn.GridLSTMCell(2, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
    return _trained(tf, cell, width=6)


def grid_with_peepholes(tf):
    cell = tf.contrib.rnn.GridLSTMCell(
        2, use_peepholes=True, cell_clip=0.2, feature_size=2, frequency_skip=1, num_frequency_blocks=[3, 2],
        start_freqindex_list=[0, 3], end_freqindex_list=[4, 6],
    )
    return _trained(tf, cell, width=6)


def grid_shared(tf):
    cell = tf.contrib.rnn.GridLSTMCell(
        2, use_peepholes=True, share_time_frequency_weights=True, couple_input_forget_gates=True, feature_size=2, frequency_skip=2,
        num_frequency_blocks=[3], state_is_tuple=False, num_unit_shards=2,
    )
    return _trained(tf, cell, width=6)


def grid_coupled(tf):
    cell = tf.contrib.rnn.GridLSTMCell(2, use_peepholes=True, couple_input_forget_gates=True, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
    return _trained(tf, cell, width=6), cell.state_tuple_type._fields


def grid_both_ways(tf):
    cell = tf.contrib.rnn.BidirectionalGridLSTMCell(2, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
    return _trained(tf, cell, width=6)


def grid_both_ways_with_an_offset(tf):
    found = []
    for offset in (1, -1):
        with tf.variable_scope("net%d" % (offset + 1), initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
            cell = tf.contrib.rnn.BidirectionalGridLSTMCell(
                2, use_peepholes=True, share_time_frequency_weights=True, feature_size=2, frequency_skip=2, num_frequency_blocks=[3], backward_slice_offset=offset
            )
            found.append(cell(_inputs(tf, 6)[:, 0], cell.zero_state(2, tf.float32)) if offset < 0 else None)
    return run(tf, found[1])


def embedded(tf):
    symbols = tf.constant([[1, 3, 0], [2, 2, 1]])
    return _trained(tf, tf.contrib.rnn.EmbeddingWrapper(tf.nn.rnn_cell.LSTMCell(3), 4, 2), inputs=tf.expand_dims(symbols, 2))


def embedded_by_an_initializer(tf):
    symbols = tf.constant([[1, 3, 0], [2, 2, 1]])
    cell = tf.contrib.rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(3), 4, 2, initializer=tf.ones_initializer())
    return _trained(tf, cell, inputs=tf.expand_dims(symbols, 2))


def projected_inputs(tf):
    return _trained(tf, tf.contrib.rnn.InputProjectionWrapper(tf.nn.rnn_cell.GRUCell(3), 5, activation=tf.nn.relu))


def projected_outputs(tf):
    return _trained(tf, tf.contrib.rnn.OutputProjectionWrapper(tf.nn.rnn_cell.BasicLSTMCell(3), 5, activation=tf.tanh), lengths=[1, 4])


def attention(tf):
    return _trained(tf, tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.LSTMCell(3), 2))


def attention_with_sizes(tf):
    cell = tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(3), 3, attn_size=4, attn_vec_size=2, input_size=5, state_is_tuple=False)
    return _trained(tf, cell)


def highway(tf):
    return _trained(tf, tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(3)), tracked=False)


def highway_with_two_gates(tf):
    return _trained(tf, tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(3), couple_carry_transform_gates=False, carry_bias_init=0.5), tracked=False)


def stacked(tf):
    cells = [tf.contrib.rnn.LayerNormBasicLSTMCell(3), tf.contrib.rnn.HighwayWrapper(tf.contrib.rnn.UGRNNCell(3)), tf.contrib.rnn.NASCell(2)]
    return _trained(tf, tf.nn.rnn_cell.MultiRNNCell(cells), lengths=[4, 1], tracked=False)


def own_variables(tf):
    class Cell(tf.nn.rnn_cell.RNNCell):
        state_size = property(lambda self: 2)
        output_size = property(lambda self: 2)

        def call(self, inputs, state):
            w = tf.get_variable("w", [3, 2])
            b = tf.get_variable("b", [2], trainable=False)
            new = tf.matmul(inputs, w) + b + state
            return new, new

    cell = Cell(name="own")
    cell(tf.ones([1, 3]), cell.zero_state(1, tf.float32))
    cell(tf.ones([1, 3]), cell.zero_state(1, tf.float32))
    return [[v.name for v in found] for found in (cell.variables, cell.trainable_variables, cell.non_trainable_variables)]


def fused(tf):
    tf.set_random_seed(2)
    found = []
    x = _inputs(tf)
    for dynamic in (False, True):
        for lengths in (None, [1, 2, 3, 0]):
            for backwards in (False, True):
                run_it = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(2), use_dynamic_rnn=dynamic)
                run_it = tf.contrib.rnn.TimeReversedFusedRNN(run_it) if backwards else run_it
                with tf.variable_scope("all", reuse=tf.AUTO_REUSE, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
                    found.append(run_it(tf.tile(x, [2, 1, 1])[:3], dtype=tf.float32, sequence_length=lengths))
    return static(*[outputs for outputs, _ in found]), run(tf, found)


def fused_lists(tf):
    x = [tf.ones([2, 3]), tf.zeros([2, 3])]
    found = []
    with tf.variable_scope("all", reuse=tf.AUTO_REUSE, initializer=tf.ones_initializer()):
        for dynamic in (False, True):
            run_it = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(2), use_dynamic_rnn=dynamic)
            found.append(tf.contrib.rnn.TimeReversedFusedRNN(run_it)(x, initial_state=tf.ones([2, 2])))
    return [len(outputs) for outputs, _ in found], isinstance(run_it, tf.contrib.rnn.FusedRNNCell), run(tf, found)


class _Saver(object):
    def __init__(self, tf):
        self.tf = tf
        self.kept = {name: tf.get_variable(name, [2, 3], trainable=False, initializer=tf.ones_initializer()) for name in ("c", "h")}

    def state(self, name):
        return self.kept[name].read_value()

    def save_state(self, name, value):
        return self.tf.assign(self.kept[name], value)


def state_saving(tf):
    found = []
    for kind, name in (("GRUCell", "h"), ("LSTMCell", ("c", "h"))):
        with tf.variable_scope(kind, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
            saver = _Saver(tf)
            cell = getattr(tf.nn.rnn_cell, kind)(3)
            rnn = tf.nn.static_state_saving_rnn if kind == "GRUCell" else tf.contrib.rnn.static_state_saving_rnn
            outputs, state = rnn(cell, tf.unstack(_inputs(tf), axis=1), saver, name, sequence_length=[4, 2] if kind == "GRUCell" else None)
            found.append((outputs[-1], state))
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(found) for _ in range(3)], type(found[1][1]).__name__


def refusals(tf):
    rnn = tf.contrib.rnn
    gru, lstm = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.LSTMCell(3)

    def step(cell, width=3):
        return cell(tf.ones([2, width]), cell.zero_state(2, tf.float32))[0]

    def late(cell):
        return cell(tf.placeholder(tf.float32, [2, None]), cell.zero_state(2, tf.float32))[0]

    def grid(**kwargs):
        return step(rnn.GridLSTMCell(2, feature_size=2, frequency_skip=2, **kwargs), 6)

    outputs = [tf.ones([2, 3])]
    # Cells are called from converted code: TensorFlow's messages begin with its file names.
    unknown = "Could not infer input size from inputs.get_shape()[-1]"
    inside = [
        caught(lambda: step(rnn.IntersectionRNNCell(4)), "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set to num_units at cell init."),
        caught(lambda: step(rnn.GLSTMCell(4, number_of_groups=2)), "input size (3) must be divisible by number_of_groups (2)"),
        caught(lambda: late(rnn.UGRNNCell(4)), unknown),
        caught(lambda: late(rnn.NASCell(4)), unknown),
        caught(lambda: late(rnn.CoupledInputForgetGateLSTMCell(4)), unknown),
        caught(lambda: late(rnn.GLSTMCell(4)), "input size must be statically known"),
        caught(lambda: late(rnn.GridLSTMCell(2, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])), "Cannot infer input_size from static shape inference."),
        caught(lambda: step(rnn.CoupledInputForgetGateLSTMCell(4, num_unit_shards=9)), "Too many shards: shape=[7, 12], num_shards=9"),
        caught(lambda: grid(num_frequency_blocks=[1, 2]), "Length of num_frequency_blocks is not 1, but instead is 2"),
        caught(lambda: grid(num_frequency_blocks=[2]), "Invalid num_frequency_blocks, requires 2 but gets 3, please check the input size and filter config are correct."),
        caught(lambda: grid(num_frequency_blocks=[2], start_freqindex_list=[0], end_freqindex_list=[6]), "Invalid num_frequency_blocks, requires 2 but gets 3"),
        caught(lambda: rnn.InputProjectionWrapper(gru, 3)(tf.ones([2, 3, 4]), tf.ones([2, 3])), "linear is expecting 2D arguments: "),
        caught(lambda: late(rnn.InputProjectionWrapper(gru, 3)), "linear expects shape[1] to be provided for shape (2, ?), but saw ?"),
    ]
    return inside, mistakes(
        tf,
        embedding=lambda: rnn.EmbeddingWrapper(gru, 0, 3),
        output_size=lambda: rnn.OutputProjectionWrapper(gru, 0),
        attention=lambda: rnn.AttentionCellWrapper(gru, 0),
        attention_of_a_tuple=lambda: rnn.AttentionCellWrapper(lstm, 3, state_is_tuple=False),
        groups=lambda: rnn.GLSTMCell(5, number_of_groups=2),
        groups_of_projection=lambda: rnn.GLSTMCell(4, num_proj=3, number_of_groups=2),
        no_blocks=lambda: rnn.GridLSTMCell(2),
        state_name=lambda: tf.nn.static_state_saving_rnn(gru, outputs, None, ("h",)),
        state_names=lambda: tf.nn.static_state_saving_rnn(lstm, outputs, None, ("c", "h", "x")),
    )
