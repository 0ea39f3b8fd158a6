"""magenta: sketch-rnn with its three cells, trained on made strokes and sampled from."""

import os

URL = "https://github.com/magenta/magenta"
COMMIT = "102cbdedb1002c8ca21f4d546a854819fd72ca70"
NEEDS = ["six"]


def prepare(data):
    pass


def drive(data, records):
    import sys
    import types
    import numpy as np
    import tensorflow as tf
    for name in ("magenta", "magenta.models", "magenta.models.sketch_rnn"):
        package = types.ModuleType(name)  # Their own files import all of magenta, and what it needs.
        package.__path__ = [os.path.join(os.getcwd(), *name.split("."))]
        sys.modules[name] = package
    for name in ("tensor2tensor", "tensor2tensor.utils", "tensor2tensor.utils.hparam"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules[name].HParams = tf.contrib.training.HParams  # Of which it is a copy.
    from magenta.models.sketch_rnn import model as sketch
    for cell, conditional in (("lstm", True), ("layer_norm", True), ("hyper", False)):
        tf.reset_default_graph()
        tf.set_random_seed(20)
        hps = sketch.get_default_hparams()
        # Dropout in loops is drawn in the order of TensorFlow's threads.
        hps.parse("batch_size=4,dec_rnn_size=16,enc_rnn_size=8,z_size=4,num_mixture=3,max_seq_len=6,use_recurrent_dropout=False")
        hps.dec_model, hps.enc_model, hps.conditional = cell, "lstm", conditional
        trained = sketch.Model(hps)
        one = sketch.copy_hparams(hps)
        one.batch_size, one.max_seq_len, one.is_training, one.use_recurrent_dropout = 1, 1, False, False
        sampled = sketch.Model(one, reuse=True)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(6):
                strokes = np.random.randn(4, 7, 5).astype(np.float32)
                strokes[:, :, 2:] = np.eye(3)[np.random.randint(0, 3, [4, 7])]
                feeds = {trained.input_data: strokes, trained.sequence_lengths: np.random.randint(2, 7, 4), trained.lr: 1e-3}
                if conditional:
                    feeds[trained.kl_weight] = 0.1
                sess.run([trained.cost, trained.r_cost, trained.kl_cost, trained.final_state, trained.train_op], feeds)
            np.random.seed(2)
            z = np.random.randn(1, 4).astype(np.float32)
            records.add("sample", sketch.sample(sess, sampled, seq_len=5, temperature=0.5, z=z if conditional else None)[0])
