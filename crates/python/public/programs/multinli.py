"""multiNLI: its three models of inference between sentences, ESIM among them, trained on made sentences."""

import os

URL = "https://github.com/nyu-mll/multiNLI"
COMMIT = "c4078cad9f9b5d06a672f2edb69bde007a3567a9"
NEEDS = []


def prepare(data):
    pass


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    sys.path.insert(0, os.path.join(os.getcwd(), "python"))
    from models import bilstm, cbow, esim
    generator = np.random.RandomState(2)
    for module in (esim, bilstm, cbow):
        tf.reset_default_graph()
        embeddings = generator.randn(30, 6).astype(np.float32)
        model = module.MyModel(seq_length=7, emb_dim=6, hidden_dim=5, embeddings=embeddings, emb_train=True)
        step = tf.train.AdamOptimizer(0.01).minimize(model.total_cost)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(6):
                words = generator.randint(1, 30, size=(2, 4, 7)) * (np.arange(7) < generator.randint(2, 8, size=(2, 4, 1)))
                feed = {model.premise_x: words[0], model.hypothesis_x: words[1], model.keep_rate_ph: 0.8}
                feed[model.y] = generator.randint(0, 3, size=4)
                sess.run([model.total_cost, model.logits, step], feed)
