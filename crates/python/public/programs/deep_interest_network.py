"""DIN: attention over what a user saw, with two activations, on made histories."""

import os

URL = "https://github.com/zhougr1993/DeepInterestNetwork"
COMMIT = "634310ac2c31903d2786af31cec0a5900d343d74"
NEEDS = []
PYTHON_2 = True


def prepare(data):
    pass


def drive(data, records):
    import sys
    os.chdir("din")
    sys.path.insert(0, os.getcwd())
    import numpy as np
    import tensorflow as tf
    import model
    import model_dice
    generator = np.random.RandomState(4)
    for module in (model, model_dice):
        tf.reset_default_graph()
        made = module.Model(20, 50, 6, generator.randint(0, 6, size=50), 5, 10)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(6):
                n = generator.randint(3, 8)
                users, items, clicks = generator.randint(0, (20, 50, 2), size=(5, 3)).T
                seen, lengths = generator.randint(0, 50, size=(5, n)), generator.randint(1, n + 1, size=5)
                made.train(sess, (users, items, clicks, seen, lengths), 0.5)
            made.eval(sess, (users, items, generator.randint(0, 50, size=5), seen, lengths))
            made.test(sess, (users, items, clicks, seen, lengths))
            made.save(sess, os.path.join(data, module.__name__))
