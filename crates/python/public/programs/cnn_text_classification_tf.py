"""cnn-text-classification-tf: training through its own script, on made sentences."""

import os

URL = "https://github.com/dennybritz/cnn-text-classification-tf"
COMMIT = "18762b459e21d9c70e5c242f8d43fc4e6db37a0d"


def prepare(data):
    import watch
    for name, seed in (("pos", 1), ("neg", 2)):
        with open(os.path.join(data, name), "w") as file:
            file.write("\n".join(watch.lines(60, seed)) + "\n")


def drive(data, records):
    import watch
    files = ["--positive_data_file", os.path.join(data, "pos"), "--negative_data_file", os.path.join(data, "neg")]
    watch.run_script("train.py", "--embedding_dim", 8, "--num_filters", 4, "--batch_size", 16, "--num_epochs", 3,
                     "--evaluate_every", 5, "--checkpoint_every", 10, "--l2_reg_lambda", 0.1, *files)
    runs = os.path.join("runs", sorted(os.listdir("runs"))[-1])
    records.add_checkpoint(os.path.join(runs, "checkpoints"))
