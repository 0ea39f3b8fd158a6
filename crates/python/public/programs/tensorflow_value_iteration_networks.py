"""tensorflow-value-iteration-networks: training through its own script, with tied and untied weights."""

import os

URL = "https://github.com/TheAbhiKumar/tensorflow-value-iteration-networks"
COMMIT = "3b77bbebd5ee637cc874fdbbe1058c5e02780e33"
NEEDS = ["scipy"]


def prepare(data):
    import numpy as np
    import scipy.io
    n, states = 84, 4
    scipy.io.savemat(os.path.join(data, "grid.mat"), {
        "batch_im_data": np.random.randint(0, 2, size=(n, 64)) * 255 + 1,
        "batch_value_data": np.random.randint(0, 2, size=(n, 64)) * 10.0,
        "state_x_data": np.random.randint(0, 8, size=(n, states)),
        "state_y_data": np.random.randint(0, 8, size=(n, states)),
        "batch_label_data": np.random.randint(0, 8, size=(n, states)),
    })


def drive(data, records):
    import tensorflow as tf
    import watch
    for untied in ("False", "True"):
        tf.reset_default_graph()
        watch.run_script(
            "train.py", "--input", os.path.join(data, "grid.mat"), "--statebatchsize", 4, "--epochs", 2, "--ch_h", 20,
            "--log=True", "--logdir", os.path.join(data, "logs"), "--untied_weights=" + untied)
