"""tensorflow-wavenet: its own unit tests of convolution, coding and generation, and ten training steps."""

URL = "https://github.com/ibab/tensorflow-wavenet"
COMMIT = "3c973c038c8c2c20fef0039f111cb04139ff594b"


def prepare(data):
    pass


def drive(data, records):
    import os
    import sys
    import numpy as np
    import tensorflow as tf
    import watch
    sys.path.insert(0, os.path.join(os.getcwd(), "test"))
    watch.run_tests(records, ["test_causal_conv", "test_mu_law", "test_generation"])
    from wavenet import WaveNetModel, optimizer_factory
    tf.reset_default_graph()
    net = WaveNetModel(batch_size=1, dilations=[1, 2, 4, 8, 1, 2, 4], filter_width=2, residual_channels=8,
                       dilation_channels=8, skip_channels=8, quantization_channels=32, use_biases=True,
                       global_condition_channels=4, global_condition_cardinality=2)
    sound = tf.placeholder(tf.float32, [1, None, 1])
    speaker = tf.placeholder(tf.int32, [1, 1])
    loss = net.loss(sound, speaker, l2_regularization_strength=0.01)
    step = optimizer_factory["sgd"](learning_rate=0.05, momentum=0.9).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for at in range(10):
            wave = np.sin(np.arange(120 + 5 * at) / (3.0 + at % 2)) + 0.1 * np.random.randn(120 + 5 * at)
            sess.run([loss, step], {sound: wave.reshape(1, -1, 1), speaker: [[at % 2]]})
