"""tensorflow-char-rnn: training, resumed training and sampling, through its own scripts."""

import os

URL = "https://github.com/crazydonkey200/tensorflow-char-rnn"
COMMIT = "b56b0625d1119b36c722ea3e6fe455908a0332e3"
NEEDS = ["six"]


def prepare(data):
    import watch
    with open(os.path.join(data, "text.txt"), "w") as file:
        file.write("\n".join(watch.lines(60)))


def drive(data, records):
    import watch
    for model in ["lstm", "gru", "rnn"]:
        out = os.path.join(data, model)
        watch.run_script(
            "train.py", "--data_file", os.path.join(data, "text.txt"), "--output_dir", out, "--model", model,
            "--hidden_size", 16, "--num_layers", 2, "--num_unrollings", 8, "--batch_size", 8, "--num_epochs", 1,
            "--dropout", 0.1)
        records.add_checkpoint(os.path.join(out, "save_model"))
    watch.run_script("train.py", "--data_file", os.path.join(data, "text.txt"), "--init_dir", out, "--num_epochs", 1)
    watch.run_script("sample.py", "--init_dir", out, "--length", 20, "--start_text", "a", "--seed", 3)
