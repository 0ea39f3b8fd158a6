"""What every layer has beside its variables: masks, connections, specs, `trainable` set later, submodules."""

from programs.tools import caught, mistakes, run

UNCONNECTED = "input input_mask input_shape output output_mask output_shape".split()
AT = "get_input_at get_output_at get_input_shape_at get_output_shape_at get_input_mask_at get_output_mask_at".split()


def _of(layer, *names):
    return [str(getattr(layer, name)) for name in names]


def members(tf):
    x, found = tf.ones([3, 4]), []
    for layer in (tf.layers.Dense(2, name="d"), tf.layers.BatchNormalization(), tf.layers.Flatten(), tf.nn.rnn_cell.GRUCell(2), tf.layers.Conv1D(2, 2)):
        names = "activity_regularizer dynamic graph inbound_nodes metrics outbound_nodes stateful submodules supports_masking trainable".split()
        found.append((_of(layer, *names), None if layer.dtype is None else str(layer.dtype)))
    layer = tf.layers.Dense(2)
    layer(x)
    return found, layer.dtype, tf.layers.Dense(2, dtype="float32").dtype


def connections(tf):
    layer = tf.layers.Dense(2, name="d")
    situations = {name: lambda name=name: getattr(layer, name) for name in UNCONNECTED}
    situations.update({name: lambda name=name: getattr(layer, name)(0) for name in AT})
    before = mistakes(tf, **situations)
    layer(tf.ones([3, 4]))
    return before == mistakes(tf, **situations), before


def name_scopes(tf):
    return isinstance(tf.layers.Flatten(), tf.Module), mistakes(tf, scope=lambda: tf.layers.Dense(2).name_scope)


def masks(tf):
    class Passes(tf.layers.Layer):
        def __init__(self):
            super(Passes, self).__init__()
            self.supports_masking = True

    x = tf.ones([3], name="x")
    return (
        Passes().compute_mask(x, x) is x,
        Passes().compute_mask(x),
        tf.layers.Dense(2).compute_mask(x, x) is x,
        tf.layers.Conv1D(2, 2).compute_mask(x),
        mistakes(tf, mask=lambda: tf.layers.Flatten(name="f").compute_mask(x, x)),
    )


def signatures(tf):
    spec = tf.TensorSpec([3, 5], tf.float64)

    def shown(layer, given):
        return str(layer.compute_output_signature(given))

    found = [shown(tf.layers.Dense(2), spec), shown(tf.layers.Dense(2, dtype="float32"), spec), shown(tf.layers.Dropout(0.5), spec)]
    return found, mistakes(tf, shape=lambda: tf.layers.Dense(2).compute_output_signature([3, 5]))


def measures(tf):
    layer, x = tf.layers.Flatten(), tf.ones([2])
    return mistakes(tf, kind=lambda: layer.add_metric(x, "sum", "n"), name=lambda: layer.add_metric(x, "mean")), layer.metrics


def specs(tf):
    layer = tf.layers.Flatten()
    layer.input_spec = tf.layers.InputSpec(ndim=3)
    found = [repr(layer.input_spec), repr(tf.layers.InputSpec.from_config({"ndim": 2, "axes": {-1: 3}}))]
    configs = [sorted(tf.layers.InputSpec(**given).get_config().items()) for given in ({"ndim": 2}, {"dtype": "float32", "shape": (2, None)})]

    def wrong():
        layer.input_spec = 3

    return found, configs, caught(wrong, "Layer input_spec must be an instance of InputSpec. Got: 3")


def trainable_set_later(tf):
    layer, x, found = tf.layers.BatchNormalization(name="b"), tf.ones([3, 2]), []
    layer(x, training=True)
    for value in (True, False, True):
        layer.trainable = value
        kinds = layer.weights, layer.trainable_weights, layer.non_trainable_weights, layer.updates, layer.get_updates_for(x), layer.get_updates_for(None)
        found.append([[v.op.name if hasattr(v, "op") else v.name for v in kind] for kind in kinds])
    return found, layer.count_params()


def updates_of_layers_that_are_not_trained(tf):
    tf.layers.batch_normalization(tf.ones([3, 2]), training=True, trainable=False, name="a")
    tf.layers.batch_normalization(tf.ones([3, 2]), training=True, name="b")
    return [op.name for op in tf.get_collection("update_ops")]


def variables_in_order(tf):
    class Mine(tf.layers.Layer):
        def build(self, shape):
            for name in "abcd":
                self.add_weight(name, [1], trainable=name in "bd")
            self.built = True

        def call(self, x):
            return x * 1.0

    layer = Mine()
    layer(tf.ones([2]))
    return [[v.name for v in kind] for kind in (layer.variables, layer.trainable_variables, layer.non_trainable_variables)]


def updates_and_what_they_depend_on(tf):
    class Mine(tf.layers.Layer):
        def call(self, x):
            self.add_update(tf.identity(x + 1.0, name="of_inputs"))
            self.add_update([tf.no_op("of_none"), tf.identity(c)], inputs=x)
            self.add_update(lambda: tf.identity(x, name="made"))
            self.add_loss(tf.reduce_sum(x, name="loss"), inputs=x)
            self.add_loss(tf.reduce_sum(c, name="free"))
            return x

    c, x, other = tf.constant(1.0, name="c"), tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32)
    layer = Mine()
    layer(x)
    late = tf.no_op("late")
    layer.add_update(late)
    found = [[op.name for op in tf.get_collection("update_ops")]]
    layer(other)
    found.append([op.name for op in tf.get_collection("update_ops")])
    for inputs in (None, x, other, c, [x, other]):
        found.append([op.name for op in layer.get_updates_for(inputs)])
        found.append([t.name for t in layer.get_losses_for(inputs)])
    return found


def arguments(tf):
    x = tf.ones([2, 3])
    layer = tf.layers.Dense(2, input_shape=(3,), batch_size=2, use_bias=False)
    return layer(x).shape, mistakes(tf, other=lambda: tf.layers.Dense(2, foo=1), none=lambda: _nothing(tf)(x))


def _nothing(tf):
    class Nothing(tf.layers.Layer):
        def call(self, x):
            return None

    return Nothing(name="nothing")


def scope_of_a_call(tf):
    class Mine(tf.layers.Layer):
        def call(self, x, scope=None):
            return tf.identity(x, name=scope.name + "_out")

    return Mine()(tf.ones([1])).name, tf.layers.Dense(2)(tf.ones([1, 2]), scope="given").name, [v.name for v in tf.global_variables()]


def submodules(tf):
    class Both(tf.layers.Layer):
        def __init__(self):
            super(Both, self).__init__()
            self.first = tf.layers.Dense(2, name="first")
            self.more = [tf.layers.Dense(3, name="second"), {"k": tf.layers.Flatten(name="third")}]

        def call(self, x):
            return self.more[0](self.first(x))

    layer = Both()
    y = layer(tf.ones([3, 4]))
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2, name="one"), tf.nn.rnn_cell.LSTMCell(2, name="two")])
    return [m.name for m in layer.submodules], layer.variables, y.name, sorted(m.name for m in cell.submodules)


def activity(tf):
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer(), name="d")
    layer.activity_regularizer = tf.reduce_sum
    layer(tf.ones([2, 3]))
    return run(tf, layer.losses), [t.name for t in layer.losses]


def reachable(tf):
    from importlib import import_module

    if hasattr(tf, "as_tensorflow"):
        tf.as_tensorflow()
    utils = import_module("tensorflow.python.layers.utils")
    x = tf.ones([2, 3], name="x")
    y = tf.exp(x, name="y")
    z = tf.add(y, 1.0, name="z")
    found = [sorted(t.name for t in utils.get_reachable_from_inputs([x], targets)) for targets in (None, [y])]
    return found, z.name, utils.static_shape(x), utils.static_shape(None), utils.static_shape(tf.placeholder(tf.float32))


def output_shapes(tf):
    layers = [
        (tf.layers.Conv1D(2, 3, 2, "same"), [None, 9, 4]),
        (tf.layers.Conv2D(2, 3, dilation_rate=2), [1, 9, None, 4]),
        (tf.layers.Conv3D(2, (1, 2, 3), data_format="channels_first"), [1, 4, 5, 6, 7]),
        (tf.layers.SeparableConv2D(2, 3), [1, 9, 9, 4]),
        (tf.layers.MaxPooling1D(3, 2), [1, 9, 4]),
        (tf.layers.AveragePooling2D(3, 2, "same", "channels_first"), [1, 2, 9, 8]),
        (tf.layers.MaxPooling3D(2, 2), [None, 2, 9, 8, 1]),
        (tf.layers.Flatten(), [None, 3, 4]),
        (tf.layers.Flatten(), [2, None, 4]),
        (tf.layers.Conv2DTranspose(2, 3, 2), [1, 4, None, 5]),
        (tf.layers.Conv2DTranspose(2, 3, 2, "same", output_padding=(1, 0)), [1, 4, 6, 5]),
        (tf.layers.Conv3DTranspose(2, 3, 2, output_padding=1), [1, 4, 4, 4, 5]),
    ]
    return [tf.TensorShape(layer.compute_output_shape(tf.TensorShape(shape))) for layer, shape in layers]


def transposes_with_gaps(tf):
    image = tf.reshape(tf.range(1.0, 33.0), [1, 4, 4, 2])
    ones = dict(kernel_initializer=tf.ones_initializer())
    forms = [dict(dilation_rate=2), dict(dilation_rate=2, padding="same"), dict(strides=2, output_padding=1), dict(strides=2, output_padding=(0, 1), padding="same")]
    made = [tf.layers.Conv2DTranspose(1, 3, **dict(ones, **form))(image) for form in forms]
    first = tf.transpose(image, [0, 3, 1, 2])
    made.append(tf.layers.Conv2DTranspose(1, 3, dilation_rate=2, data_format="channels_first", **ones)(first))
    made.append(tf.layers.Conv3DTranspose(1, 2, 2, output_padding=1, **ones)(image[:, None]))
    return run(tf, made), [y.shape for y in made], mistakes(tf, padding=lambda: tf.layers.Conv2DTranspose(1, 3, 2, output_padding=2))


def configs_of_transposes(tf):
    layer = tf.layers.Conv2DTranspose(1, 3, 2, output_padding=1, name="t")
    again = tf.layers.Conv2DTranspose.from_config(layer.get_config())
    return layer.output_padding, again.output_padding, again.get_config() == layer.get_config()


def initial_weights(tf):
    import numpy as np

    layer = tf.layers.Dense(2, use_bias=False, weights=[np.ones([3, 2], np.float32)])
    with tf.Session() as sess:
        return sess.run(layer(tf.ones([1, 3])))
