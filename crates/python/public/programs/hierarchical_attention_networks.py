"""Hierarchical attention: a classifier of documents by two levels of recurrent networks.

The cell with batch normalization is trained, and not evaluated: the program reads moving averages and assigns
to them in one iteration without an order.
"""

URL = "https://github.com/ematvey/hierarchical-attention-networks"
COMMIT = "8e8ba74011874812796d58e416d87713c6733896"
NEEDS = ["six"]


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    from tensorflow.contrib.rnn import GRUCell, MultiRNNCell
    from bn_lstm import BNLSTMCell
    from HAN_model import HANClassifierModel
    generator = np.random.RandomState(4)

    def document():
        return [generator.randint(1, 40, size=generator.randint(2, 7)).tolist() for _ in range(generator.randint(2, 5))]

    for kind in ("gru", "normalized"):
        tf.reset_default_graph()
        training = tf.placeholder(tf.bool, name="is_training")
        cell = GRUCell(8) if kind == "gru" else MultiRNNCell([BNLSTMCell(6, training)])
        model = HANClassifierModel(
            vocab_size=40, embedding_size=8, classes=3, word_cell=cell, sentence_cell=cell, word_output_size=8,
            sentence_output_size=8, learning_rate=0.01, max_grad_norm=5.0, dropout_keep_proba=0.5, is_training=training)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(8):
                labels = generator.randint(0, 3, size=5).tolist()
                feed = model.get_feed_data([document() for _ in range(5)], labels, class_weights={0: 1.0, 1: 2.0, 2: 0.5})
                sess.run([model.global_step, model.summary_op, model.loss, model.accuracy, model.train_op], feed)
            if kind == "gru":
                feed = model.get_feed_data([document() for _ in range(4)], is_training=False)
                sess.run([model.prediction, model.logits], feed)
