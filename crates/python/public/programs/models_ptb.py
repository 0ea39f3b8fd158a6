"""tensorflow/models: the language model `ptb_word_lm.py`, which exports its graph and imports it."""

import os

URL = "https://github.com/Dzinushi/models_1_4"
COMMIT = "d7e72793a68c1667d403b1542c205d1cd9b1d17c"


def prepare(data):
    import watch
    for part, n in (("train", 300), ("valid", 30), ("test", 20)):
        with open(os.path.join(data, "ptb.%s.txt" % part), "w") as file:
            file.write("\n".join(watch.lines(n)))


def drive(data, records):
    import types
    import watch
    from tensorflow.python.client import device_lib
    # Its blocks of cells are for one GPU alone, which it counts and does not place anything on.
    device_lib.list_local_devices = lambda: [types.SimpleNamespace(name="/gpu:0", device_type="GPU")]
    for mode in ("basic", "block"):
        here = os.getcwd()
        os.chdir("tutorials/rnn/ptb")
        watch.run_some(
            records, 60, "ptb_word_lm.py", "--model", "test", "--data_path", data, "--num_gpus", 0 if mode == "basic" else 1,
            "--rnn_mode", mode, "--save_path", os.path.join(data, "saved-" + mode, "model"))
        os.chdir(here)
