"""Tacotron (keithito): steps of its model by teacher forcing, and its own synthesis from the checkpoint."""

import os

URL = "https://github.com/keithito/tacotron"
COMMIT = "d26c763342518d4e432e9c4036a1aff3b4fdaa1e"
SMALL = "batch_size=4,embed_depth=16,encoder_depth=16,postnet_depth=16,attention_depth=16,decoder_depth=16,num_freq=33,num_mels=8,max_iters=5"


def prepare(data):
    import numpy as np
    generator = np.random.RandomState(7)
    batches = {"texts": generator.randint(2, 30, [5, 4, 11]), "mels": generator.rand(5, 4, 20, 8), "spectra": generator.rand(5, 4, 20, 33)}
    np.savez(os.path.join(data, "batches.npz"), **batches)


def drive(data, records):
    import functools
    import sys
    import types
    import numpy as np
    import tensorflow as tf
    sys.modules["unidecode"] = types.SimpleNamespace(unidecode=lambda text: text)
    sys.modules["inflect"] = types.SimpleNamespace(engine=lambda: None)
    # TensorFlow draws the dropout of a later iteration first if it gets to it first.
    tf.contrib.seq2seq.dynamic_decode = functools.partial(tf.contrib.seq2seq.dynamic_decode, parallel_iterations=1)
    from hparams import hparams
    from models.tacotron import Tacotron
    hparams.parse(SMALL)
    hparams.prenet_depths = [16, 8]
    batches = np.load(os.path.join(data, "batches.npz"))
    inputs, lengths = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None])
    mels, spectra = (tf.placeholder(tf.float32, [None, None, size]) for size in (hparams.num_mels, hparams.num_freq))
    with tf.variable_scope("model"):
        model = Tacotron(hparams)
        model.initialize(inputs, lengths, mels, spectra)
        model.add_loss()
        model.add_optimizer(tf.Variable(0, name="global_step", trainable=False))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for text, mel, spectrum in zip(batches["texts"], batches["mels"], batches["spectra"]):
            feed = {inputs: text, lengths: [11, 9, 8, 11], mels: mel, spectra: spectrum}
            losses = sess.run([model.loss, model.mel_loss, model.linear_loss, model.alignments, model.optimize], feed)
            records.add("losses", losses[:4])
        path = tf.train.Saver().save(sess, os.path.join(data, "model.ckpt"))
    tf.reset_default_graph()
    inputs, lengths = tf.placeholder(tf.int32, [1, None]), tf.placeholder(tf.int32, [1])
    with tf.variable_scope("model"):
        model = Tacotron(hparams)
        model.initialize(inputs, lengths)
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, path)
        records.add("synthesis", sess.run([model.mel_outputs, model.linear_outputs, model.alignments], {inputs: [[3, 4, 5, 6]], lengths: [4]}))
