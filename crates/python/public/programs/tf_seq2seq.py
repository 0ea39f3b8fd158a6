"""tf-seq2seq (JayParks): its model trained, then decoded greedily and by beam search from the checkpoint."""

import os

URL = "https://github.com/JayParks/tf-seq2seq"
COMMIT = "e55d88ec21090c127d24da16b9e2b6b9aa894821"


def prepare(data):
    pass


def drive(data, records):
    import functools
    import pickle
    import sys
    import numpy as np
    import tensorflow as tf
    sys.path.insert(0, os.path.join(os.getcwd(), "data"))
    sys.modules["cPickle"] = pickle
    from seq2seq_model import Seq2SeqModel
    # TensorFlow draws the dropout of a later iteration first if it gets to it first.
    tf.nn.dynamic_rnn = functools.partial(tf.nn.dynamic_rnn, parallel_iterations=1)
    tf.contrib.seq2seq.dynamic_decode = functools.partial(tf.contrib.seq2seq.dynamic_decode, parallel_iterations=1)
    generator = np.random.RandomState(5)
    for cell, attention, feeding in (("lstm", "bahdanau", False), ("gru", "luong", True)):
        config = dict(
            cell_type=cell, hidden_units=12, depth=2, attention_type=attention, embedding_size=9, num_encoder_symbols=20,
            num_decoder_symbols=22, use_residual=True, attn_input_feeding=feeding, use_dropout=True, dropout_rate=0.3,
            optimizer="adam", learning_rate=0.01, max_gradient_norm=1.0, use_fp16=False, max_decode_step=9)
        path = os.path.join(data, cell)
        tf.reset_default_graph()
        with tf.Session() as sess:
            model = Seq2SeqModel(config, "train")
            sess.run(tf.global_variables_initializer())
            for _ in range(10):
                lengths, targets = generator.randint(2, 8, size=5), generator.randint(2, 7, size=5)
                source, target = (generator.randint(3, 20, size=(5, max(n))) for n in (lengths, targets))
                model.train(sess, source, lengths, target, targets)
            model.save(sess, path)
        for width in (1, 3):
            tf.reset_default_graph()
            with tf.Session() as sess:
                model = Seq2SeqModel(dict(config, beam_width=width), "decode")
                model.restore(sess, path)
                model.predict(sess, source, lengths)
