"""tensorflow/models, textsum: its attention model on its batch reader, then its beam search."""

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
    os.chdir("research/textsum")
    sys.path.insert(0, os.getcwd())
    import beam_search
    import seq2seq_attention_model as model_of
    generator = np.random.RandomState(5)

    class Words(object):
        def NumIds(self):
            return 30

    hps = model_of.HParams(
        mode="train", min_lr=0.01, lr=0.15, batch_size=4, enc_layers=2, enc_timesteps=9, dec_timesteps=6, min_input_len=2,
        num_hidden=8, emb_dim=6, max_grad_norm=2, num_softmax_samples=7)
    articles = generator.randint(0, 30, size=(4, 9))
    lengths = generator.randint(3, 10, size=4)
    for samples in (7, 0):
        tf.reset_default_graph()
        tf.set_random_seed(111)
        model = model_of.Seq2SeqAttentionModel(hps._replace(num_softmax_samples=samples), Words())
        model.build_graph()
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(10):
                abstracts, targets = generator.randint(0, 30, size=(2, 4, 6))
                weights = (np.arange(6) < generator.randint(2, 7, size=(4, 1))).astype(np.float32)
                model.run_train_step(sess, articles, abstracts, targets, lengths, np.sum(weights, 1), weights)
            model.run_eval_step(sess, articles, abstracts, targets, lengths, np.sum(weights, 1), weights)
            path = saver.save(sess, os.path.join(data, "model%d" % samples))
    tf.reset_default_graph()
    model = model_of.Seq2SeqAttentionModel(hps._replace(mode="decode", dec_timesteps=1), Words())
    model.build_graph()
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, path)
        search = beam_search.BeamSearch(model, 4, 1, 2, 6)
        for beam in search.BeamSearch(sess, np.tile(articles[:1], (4, 1)), np.tile(lengths[:1], 4)):
            records.add("beam", [beam.tokens, beam.log_prob])
