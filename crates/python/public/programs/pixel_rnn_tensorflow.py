"""Pixel RNN (carpedm20): steps of its two networks, diagonal LSTMs and masked convolutions."""

URL = "https://github.com/carpedm20/pixel-rnn-tensorflow"
COMMIT = "1d98c28c62ed9c9584a342b63e4612dd9e5ae688"
NEEDS = []
PYTHON_2 = True


def prepare(data):
    pass


def drive(data, records):
    import types
    import numpy as np
    import tensorflow as tf
    import network
    generator = np.random.RandomState(4)
    for kind in ("pixel_rnn", "pixel_cnn"):
        tf.reset_default_graph()
        options = types.SimpleNamespace(
            model=kind, data="mnist", batch_size=6, hidden_dims=4, recurrent_length=2, out_hidden_dims=8, out_recurrent_length=2,
            use_residual=kind == "pixel_rnn", learning_rate=1e-3, grad_clip=1, use_gpu=True, use_dynamic_rnn=True)
        with tf.Session() as sess:
            net = network.Network(sess, options, 7, 7, 1)
            sess.run(tf.global_variables_initializer())
            for _ in range(6):
                net.test((generator.rand(6, 7, 7, 1) < 0.5).astype(np.float32), with_update=True)
            net.test((generator.rand(6, 7, 7, 1) < 0.5).astype(np.float32))
            net.predict(np.zeros((6, 7, 7, 1)))
