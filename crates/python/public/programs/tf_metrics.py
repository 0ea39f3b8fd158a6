"""tf_metrics (guillaumegenthial): precision, recall and F1 of several classes as streaming metrics."""

URL = "https://github.com/guillaumegenthial/tf_metrics"
COMMIT = "ee93c3385e76af89c82d11333b47c2c38ba64196"


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    import tf_metrics
    generator = np.random.RandomState(3)
    for kind in ("precision", "recall", "f1"):
        for average in ("micro", "macro", "weighted"):
            for chosen in (None, [1, 2]):
                tf.reset_default_graph()
                true, guess = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
                metric = getattr(tf_metrics, kind)(true, guess, 4, chosen, average=average)
                with tf.Session() as sess:
                    sess.run(tf.local_variables_initializer())
                    for _ in range(3):
                        sess.run(metric[1], {true: generator.randint(0, 4, size=9), guess: generator.randint(0, 4, size=9)})
                    sess.run(metric[0])
