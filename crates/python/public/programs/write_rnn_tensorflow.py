"""write-rnn-tensorflow: training of the handwriting model through its own script."""

import os

URL = "https://github.com/hardmaru/write-rnn-tensorflow"
COMMIT = "c9423a1adf1eaa65297e16f7a1a555ffb777d8c5"


def prepare(data):
    import pickle
    import numpy as np
    generator = np.random.RandomState(3)
    strokes = []
    for _ in range(40):
        stroke = generator.randint(-20, 20, size=(60, 3)).astype(np.float32)
        stroke[:, 2] = generator.rand(60) < 0.1
        strokes.append(stroke)
    with open(os.path.join(data, "strokes_training_data.cpkl"), "wb") as file:
        pickle.dump(strokes, file, 2)


def drive(data, records):
    import shutil
    import sys
    import types
    import watch
    # What its utilities import to draw pictures, which nothing here does.
    sys.modules["svgwrite"] = types.ModuleType("svgwrite")
    sys.modules["IPython"] = types.ModuleType("IPython")
    sys.modules["IPython.display"] = types.ModuleType("IPython.display")
    sys.modules["IPython.display"].SVG = sys.modules["IPython.display"].display = None
    os.makedirs("data", exist_ok=True)
    shutil.copy(os.path.join(data, "strokes_training_data.cpkl"), "data")
    watch.run_script(
        "train.py", "--rnn_size", 12, "--num_layers", 2, "--batch_size", 4, "--seq_length", 16, "--num_mixture", 3,
        "--num_epochs", 2, "--save_every", 5, "--model_dir", os.path.join(data, "saved"))
    records.add_checkpoint(os.path.join(data, "saved"))
