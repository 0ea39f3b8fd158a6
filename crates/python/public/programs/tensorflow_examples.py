"""TensorFlow-Examples of aymericdamien: its scripts, on made digits, each for a few steps."""

import os

URL = "https://github.com/aymericdamien/TensorFlow-Examples"
COMMIT = "6dcbe14649163814e72a22a999f20c5e247ce988"

SCRIPTS = [
    ("1_Introduction/basic_operations.py", 10),
    ("2_BasicModels/linear_regression.py", 40),
    ("2_BasicModels/logistic_regression.py", 20),
    ("2_BasicModels/nearest_neighbor.py", 5),
    ("3_NeuralNetworks/autoencoder.py", 6),
    ("3_NeuralNetworks/bidirectional_rnn.py", 4),
    ("3_NeuralNetworks/dynamic_rnn.py", 6),
    ("3_NeuralNetworks/gan.py", 6),
    ("3_NeuralNetworks/multilayer_perceptron.py", 8),
    ("3_NeuralNetworks/neural_network_raw.py", 8),
    ("3_NeuralNetworks/recurrent_network.py", 4),
    ("3_NeuralNetworks/variational_autoencoder.py", 6),
    ("4_Utils/save_restore_model.py", 8),
    ("4_Utils/tensorboard_basic.py", 6),
    ("5_DataManagement/tensorflow_dataset_api.py", 3),
]


def prepare(data):
    import watch
    watch.make_digits(os.path.join(data, "digits"))


def drive(data, records):
    import random
    import numpy as np
    import tensorflow as tf
    import watch
    from tensorflow.examples.tutorials.mnist import input_data
    read = input_data.read_data_sets
    input_data.read_data_sets = lambda folder, *others, **named: read(os.path.join(data, "digits"), *others, **named)
    for script, most in SCRIPTS:
        tf.reset_default_graph()
        random.seed(2)
        np.random.seed(2)
        print("==", script, flush=True)
        watch.run_some(records, most, os.path.join("examples", script))
