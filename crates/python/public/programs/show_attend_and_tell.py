"""show-attend-and-tell: twenty training steps and both kinds of captions of its own model, on made
features.
"""

URL = "https://github.com/yunjey/show-attend-and-tell"
COMMIT = "1b8ca3a0025f5c46b5153cc872dea9b198f276b6"
PYTHON_2 = True


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    from core.model import CaptionGenerator
    words = {word: at for at, word in enumerate(["<NULL>", "<START>", "<END>"] + ["word%d" % at for at in range(20)])}
    model = CaptionGenerator(words, dim_feature=[9, 12], dim_embed=8, dim_hidden=16, n_time_step=6, alpha_c=1.0)
    with tf.variable_scope(tf.get_variable_scope()):
        loss = model.build_model()
        tf.get_variable_scope().reuse_variables()
        _, _, captions = model.build_sampler(max_len=8)
    step = tf.train.AdamOptimizer(learning_rate=0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(20):
            feed = {model.features: np.random.rand(5, 9, 12), model.captions: np.random.randint(0, 23, size=(5, 7))}
            sess.run([step, loss], feed)
        sess.run(captions, feed)
