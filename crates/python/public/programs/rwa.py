"""Recurrent weighted averages (jostmey): its training scripts on the adding and copying problems."""

import os

URL = "https://github.com/jostmey/rwa"
COMMIT = "41d73d0bd9ffba71ea5ead5b3de2704dacbe531d"
TOLERANCE = 1e-4
SCRIPTS = [("adding_problem_100/rwa_model", 4), ("copy_problem_100/rwa_model", 4)]


def prepare(data):
    pass


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    import watch
    home = os.getcwd()
    for folder, most in SCRIPTS:
        tf.reset_default_graph()
        np.random.seed(2)
        os.chdir(os.path.join(home, folder))
        with open("train.py") as file:
            text = file.read()
        with open("small.py", "w") as file:
            file.write(text.replace("num_cells = 250", "num_cells = 12").replace("batch_size = 100", "batch_size = 8"))
        for name in ("dataplumbing", "input_data"):
            sys.modules.pop(name, None)
        sys.path.insert(0, os.path.join(home, os.path.dirname(folder), "dataset"))
        print("==", folder, flush=True)
        watch.run_some(records, most, "small.py")
        del sys.path[0]
