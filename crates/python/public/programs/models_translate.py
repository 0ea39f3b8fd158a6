"""tensorflow/models, the translation tutorial: a bucket, attention of `legacy_seq2seq`; answering."""

import os

URL = "https://github.com/Dzinushi/models_1_4"
COMMIT = "d7e72793a68c1667d403b1542c205d1cd9b1d17c"
NEEDS = ["six"]


def prepare(data):
    pass


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    os.chdir("tutorials/rnn/translate")
    sys.path.insert(0, os.getcwd())
    import seq2seq_model
    generator = np.random.RandomState(3)
    buckets = [(6, 7)]  # TensorFlow 1.15 cannot copy a cell for a second one.
    made = [[(generator.randint(4, 20, size=generator.randint(1, a + 1)).tolist(),
              generator.randint(4, 22, size=generator.randint(1, b - 1)).tolist() + [2]) for _ in range(20)]
            for a, b in buckets]
    for lstm, samples, layers in ((False, 5, 1), (True, 0, 1), (False, 0, 2)):
        sizes = (20, 22, buckets, 8, layers, 5.0, 4, 0.5, 0.99)
        path = os.path.join(data, "model-%d-%d-%d" % (lstm, samples, layers))
        tf.reset_default_graph()
        with tf.Session() as sess:
            model = seq2seq_model.Seq2SeqModel(*sizes, use_lstm=lstm, num_samples=samples)
            sess.run(tf.global_variables_initializer())
            for _ in range(10):
                model.step(sess, *model.get_batch(made, 0), bucket_id=0, forward_only=False)
            sess.run(model.learning_rate_decay_op)
            model.saver.save(sess, path)
        tf.reset_default_graph()
        with tf.Session() as sess:
            model = seq2seq_model.Seq2SeqModel(*sizes, use_lstm=lstm, num_samples=samples, forward_only=True)
            model.saver.restore(sess, path)
            model.step(sess, *model.get_batch(made, 0), bucket_id=0, forward_only=True)
