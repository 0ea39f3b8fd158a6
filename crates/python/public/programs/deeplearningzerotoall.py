"""DeepLearningZeroToAll (hunkim): the scripts of its labs, from linear regression to recurrent networks."""

import os

URL = "https://github.com/hunkim/DeepLearningZeroToAll"
COMMIT = "60c707e02af7bd950401faeadcc6c0e1b39b2978"
NEEDS = ["scikit-learn"]
TOLERANCE = 1e-4

SCRIPTS = [
    ("lab-02-1-linear_regression.py", 20), ("lab-02-2-linear_regression_feed.py", 20),
    ("lab-02-3-linear_regression_tensorflow.org.py", 20), ("lab-03-1-minimizing_cost_show_graph.py", 20),
    ("lab-03-2-minimizing_cost_gradient_update.py", 20), ("lab-03-3-minimizing_cost_tf_optimizer.py", 20),
    ("lab-03-X-minimizing_cost_tf_gradient.py", 20), ("lab-04-1-multi_variable_linear_regression.py", 20),
    ("lab-04-2-multi_variable_matmul_linear_regression.py", 20), ("lab-04-3-file_input_linear_regression.py", 20),
    ("lab-04-4-tf_reader_linear_regression.py", 20), ("lab-05-1-logistic_regression.py", 20),
    ("lab-05-2-logistic_regression_diabetes.py", 20), ("lab-06-1-softmax_classifier.py", 20),
    ("lab-06-2-softmax_zoo_classifier.py", 20), ("lab-07-1-learning_rate_and_evaluation.py", 20),
    ("lab-07-2-linear_regression_without_min_max.py", 20), ("lab-07-3-linear_regression_min_max.py", 20),
    ("lab-09-1-xor.py", 20), ("lab-09-2-xor-nn.py", 20), ("lab-09-3-xor-nn-wide-deep.py", 20),
    ("lab-09-4-xor_tensorboard.py", 20), ("lab-09-5-linear_back_prop.py", 20),
    ("lab-09-6-multi-linear_back_prop.py", 20), ("lab-09-7-sigmoid_back_prop.py", 20),
    ("lab-09-x-xor-nn-back_prop.py", 20), ("lab-12-1-hello-rnn.py", 20), ("lab-12-2-char-seq-rnn.py", 20),
    ("lab-12-3-char-seq-softmax-only.py", 20), ("lab-12-4-rnn_long_char.py", 12), ("lab-12-5-rnn_stock_prediction.py", 12),
    ("lab-10-1-mnist_softmax.py", 8), ("lab-10-5-mnist_nn_dropout.py", 4), ("lab-10-7-mnist_nn_higher_level_API.py", 4),
    ("lab-11-2-mnist_deep_cnn.py", 3), ("lab-11-4-mnist_cnn_layers.py", 3), ("lab-13-1-mnist_using_scope.py", 5),
]


def prepare(data):
    import watch
    watch.make_digits(os.path.join(data, "MNIST_data"))


def drive(data, records):
    import random
    import shutil
    import numpy as np
    import tensorflow as tf
    import watch
    shutil.copytree(os.path.join(data, "MNIST_data"), "MNIST_data")
    for script, most in SCRIPTS:
        tf.reset_default_graph()
        random.seed(2)
        np.random.seed(2)
        print("==", script, flush=True)
        watch.run_some(records, most, script)
