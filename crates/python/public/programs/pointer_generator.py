"""Pointer-generator: steps of the summarization model with pointers and coverage, and its beam search."""

import os

URL = "https://github.com/abisee/pointer-generator"
COMMIT = "b29e986f24fdd01a6b6d6008187c5c887f0be282"
PYTHON_2 = True
TOLERANCE = 1e-4  # Adagrad divides the first small gradients by roots of small sums, and rounding with them.


def prepare(data):
    import watch
    os.mkdir(os.path.join(data, "train"))
    words = sorted(set(" ".join(watch.lines(60)).replace(".", "").split()))
    with open(os.path.join(data, "vocab"), "w") as file:
        file.write("\n".join("%s 1" % word for word in words[:-4]) + "\n. 1\n")


def drive(data, records):
    import collections
    import sys
    import types
    import queue
    import tensorflow as tf
    import watch
    sys.modules["Queue"] = queue
    sys.modules["pyrouge"] = types.ModuleType("pyrouge")
    from batcher import Batch, Example
    from data import Vocab
    from model import SummarizationModel
    import beam_search
    import util
    settings = dict(mode="train", lr=0.15, adagrad_init_acc=0.1, rand_unif_init_mag=0.02, trunc_norm_init_std=1e-4,
                    max_grad_norm=2.0, hidden_dim=8, emb_dim=6, batch_size=4, max_dec_steps=10, max_enc_steps=24,
                    coverage=True, cov_loss_wt=1.0, pointer_gen=True)
    for name, value in dict(settings, log_root=data, beam_size=4, min_dec_steps=3, single_pass=True).items():
        {bool: tf.app.flags.DEFINE_boolean, int: tf.app.flags.DEFINE_integer, float: tf.app.flags.DEFINE_float,
         str: tf.app.flags.DEFINE_string}[type(value)](name, value, "")
    tf.app.flags.FLAGS(["drive"])
    vocab = Vocab(os.path.join(data, "vocab"), 0)
    lines = watch.lines(60)

    def batch(settings, at, repeated):
        hps = collections.namedtuple("HParams", settings)(**settings)
        examples = [Example(lines[i], [lines[i + 1]], vocab, hps) for i in range(at, at + 4)]
        return hps, Batch(4 * [examples[0]] if repeated else examples, hps, vocab)

    hps, _ = batch(settings, 0, False)
    model = SummarizationModel(hps, vocab)
    model.build_graph()
    with tf.Session(config=util.get_config()) as sess:
        sess.run(tf.global_variables_initializer())
        for at in range(12):
            fed = batch(settings, at, False)[1]
            results = model.run_train_step(sess, fed)
            records.add("losses", [results["loss"], results["coverage_loss"], results["global_step"]])
        path = tf.train.Saver().save(sess, os.path.join(data, "model.ckpt"))
    tf.reset_default_graph()
    settings = dict(settings, mode="decode", max_dec_steps=1)
    hps, _ = batch(settings, 0, True)
    model = SummarizationModel(hps, vocab)
    model.build_graph()
    with tf.Session(config=util.get_config()) as sess:
        tf.train.Saver().restore(sess, path)
        for at in range(3):
            best = beam_search.run_beam_search(sess, model, vocab, batch(settings, at, True)[1])
            records.add("beam", [best.tokens, best.log_probs, best.attn_dists, best.p_gens])
