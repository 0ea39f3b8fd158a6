"""char-rnn-tensorflow: training, a second training from the checkpoint, and sampling, through its own
scripts.
"""

import os

URL = "https://github.com/sherjilozair/char-rnn-tensorflow"
COMMIT = "4bff62d34ba6d536f052145cd3f8f79b6fa11365"
NEEDS = ["six"]


def prepare(data):
    import watch
    with open(os.path.join(data, "input.txt"), "w") as file:
        file.write("\n".join(watch.lines(40)))


def drive(data, records):
    import tensorflow as tf
    import watch
    for model, drop in [("lstm", 1.0), ("lstm", 0.8), ("nas", 0.9)]:
        save = os.path.join(data, model + str(drop))
        tf.reset_default_graph()
        watch.run_script(
            "train.py", "--data_dir", data, "--save_dir", save, "--log_dir", os.path.join(data, "logs"), "--model",
            model, "--rnn_size", 16, "--num_layers", 2, "--seq_length", 8, "--batch_size", 8, "--num_epochs", 2,
            "--output_keep_prob", drop, "--input_keep_prob", drop)
        records.add_checkpoint(save)
    tf.reset_default_graph()
    watch.run_script("sample.py", "--save_dir", os.path.join(data, "lstm1.0"), "-n", 20, "--prime", "a", "--sample", 1)
