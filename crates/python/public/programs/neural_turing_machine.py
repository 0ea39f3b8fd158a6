"""NeuralTuringMachine of MarkPKCollier: the copy task through its own script, NTM and LSTM controllers."""

import os

URL = "https://github.com/MarkPKCollier/NeuralTuringMachine"
COMMIT = "5644e3be24469a3a0e9ffab0ea7c1922860e9223"
PYTHON_2 = True


def prepare(data):
    pass


def drive(data, records):
    import random
    import numpy as np
    import tensorflow as tf
    import watch
    os.makedirs("head_logs", exist_ok=True)
    for kind, task in (("ntm", "copy"), ("ntm", "associative_recall"), ("none", "copy")):
        tf.reset_default_graph()
        random.seed(2)
        np.random.seed(2)
        watch.run_some(
            records, 10, "run_tasks.py", "--mann", kind, "--task", task, "--num_units", 12, "--num_memory_locations", 8,
            "--memory_size", 6, "--batch_size", 4, "--eval_batch_size", 16, "--max_seq_len", 4, "--num_bits_per_vector", 3,
            "--experiment_name", kind + task, "--verbose", "false", "--steps_per_eval", 4)
