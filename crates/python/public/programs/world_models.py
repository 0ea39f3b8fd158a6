"""World models (hardmaru): its recurrent mixture density network by its script, dreams, its auto-encoder."""

import os

URL = "https://github.com/hardmaru/WorldModelsExperiments"
COMMIT = "fd982b9691a941b52c6addbde29bc801ca6202c8"
TOLERANCE = 2e-3  # Its files hold weights of four digits.


def prepare(data):
    pass


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    import watch
    os.chdir("carracing")
    sys.path.insert(0, os.getcwd())
    os.mkdir("series")
    shape = (20, 11)
    np.savez("series/series.npz", mu=np.random.randn(*shape + (32,)), logvar=np.random.randn(*shape + (32,)) - 3,
             action=np.random.rand(*shape + (3,)))
    with open("rnn_train.py") as file:
        text = file.read()
    for norm in (0, 1):
        small = text.replace("num_steps=4000", "num_steps=8").replace("max_seq_len=999", "max_seq_len=10")
        small = small.replace("rnn_size=256", "rnn_size=12").replace("batch_size=100", "batch_size=6")
        small = small.replace("use_layer_norm=0", "use_layer_norm=%d" % norm)
        with open("small.py", "w") as file:
            file.write(small)
        tf.reset_default_graph()
        watch.run_script("small.py")
    from rnn import rnn
    for drop in (0, 1):
        hps = rnn.default_hps()._replace(
            rnn_size=12, batch_size=1, max_seq_len=1, use_recurrent_dropout=drop, use_input_dropout=drop,
            use_output_dropout=drop, is_training=0, use_layer_norm=1)
        model = rnn.MDNRNN(hps, gpu_mode=False)
        if not drop:
            model.load_json(os.path.join("tf_rnn", "rnn.json"))
        made = rnn.sample_sequence(model.sess, model, hps, np.zeros(32), np.random.rand(5, 3), seq_len=5)
        records.add("dream", made)
    from vae import vae
    model = vae.ConvVAE(z_size=4, batch_size=2, is_training=True)
    for _ in range(4):
        there = {model.x: np.random.rand(2, 64, 64, 3)}
        model.sess.run([model.loss, model.r_loss, model.kl_loss, model.global_step, model.train_op], there)
