"""End-to-end memory networks (domluna): its model on made stories, with noise on the gradients."""

URL = "https://github.com/domluna/memn2n"
COMMIT = "8a4915ac18e95db3828f3ad862609718c28a17e8"


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    from memn2n import MemN2N
    generator = np.random.RandomState(3)
    with tf.Session() as sess:
        model = MemN2N(8, 20, 6, 10, 5, hops=3, session=sess, max_grad_norm=40.0)
        for step in range(20):
            stories, queries = generator.randint(0, 20, size=(8, 10, 6)), generator.randint(0, 20, size=(8, 6))
            answers = np.eye(20, dtype=np.int32)[generator.randint(0, 20, size=8)]
            model.batch_fit(stories, queries, answers, 0.01 / (1 + step // 5))
        records.add("predicted", model.predict(stories, queries))
        records.add("chances", model.predict_log_proba(stories, queries))
        records.add("variables", sess.run(tf.trainable_variables()))
