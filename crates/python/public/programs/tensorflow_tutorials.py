"""TensorFlow-Tutorials of nlintz: ten tutorials through their own scripts, on made digits."""

import os

URL = "https://github.com/nlintz/TensorFlow-Tutorials"
COMMIT = "d6bdab7df46492446c48537fcf37e20ba44e8168"


def prepare(data):
    import watch
    watch.make_digits(os.path.join(data, "digits"))


def drive(data, records):
    import tensorflow as tf
    import watch
    os.symlink(os.path.join(data, "digits"), "MNIST_data")
    os.makedirs(os.path.join("logs", "nn_logs"))
    for script in ("00_multiply", "01_linear_regression", "02_logistic_regression", "03_net", "04_modern_net",
                   "05_convolutional_net", "06_autoencoder", "07_lstm", "09_tensorboard", "10_save_restore_net"):
        tf.reset_default_graph()
        watch.run_some(records, 30, script + ".py")
