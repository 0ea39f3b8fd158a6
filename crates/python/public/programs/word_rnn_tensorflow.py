"""word-rnn-tensorflow: training and beam-search sampling through its own scripts."""

import os

URL = "https://github.com/hunkim/word-rnn-tensorflow"
COMMIT = "5df11c5578a43bf0b732e0bcb63ee8fec7a29d33"
NEEDS = ["six"]


def prepare(data):
    import watch
    with open(os.path.join(data, "input.txt"), "w") as file:
        file.write("\n".join(watch.lines(120)))


def drive(data, records):
    import tensorflow as tf
    import watch
    watch.seed_by_order()  # its model has other nodes here than in TensorFlow
    save = os.path.join(data, "save")
    os.mkdir(save)
    watch.run_script(
        "train.py", "--data_dir", data, "--save_dir", save, "--log_dir", os.path.join(data, "logs"), "--rnn_size", 16,
        "--num_layers", 2, "--seq_length", 6, "--batch_size", 8, "--num_epochs", 2, "--save_every", 10)
    records.add_checkpoint(save)
    for pick in (1, 2):
        tf.reset_default_graph()
        watch.run_script("sample.py", "--save_dir", save, "-n", 8, "--pick", pick, "--prime", "the")
