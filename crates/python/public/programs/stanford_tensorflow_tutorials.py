"""stanford-tensorflow-tutorials of chiphuyen: examples of both years, queues, records and character models.

Threads of a queue runner are one here.
"""

import os

URL = "https://github.com/chiphuyen/stanford-tensorflow-tutorials"
COMMIT = "51e53daaa2a32cfe7a1966f060b28dbbd081791c"
NEEDS = ["pillow<10"]

SCRIPTS = [
    ("2017/examples/02_feed_dict.py", 10),
    ("2017/examples/02_variables.py", 30),
    ("2017/examples/05_randomization.py", 30),
    ("2017/examples/09_queue_example.py", 30),
    ("2017/examples/11_char_rnn_gist.py", 12),
    ("examples/02_placeholder.py", 10),
    ("examples/03_linreg_dataset.py", 20),
    ("examples/05_randomization.py", 30),
    ("examples/05_variable_sharing.py", 5),
    ("examples/11_char_rnn.py", 6),
]


def prepare(data):
    import watch
    with open(os.path.join(data, "text.txt"), "w") as file:
        file.write("\n".join(" ".join(watch.lines(12, n)) for n in range(20)))


def drive(data, records):
    import random
    import shutil
    import sys
    import numpy as np
    import tensorflow as tf
    import watch
    runner = tf.train.QueueRunner
    tf.train.QueueRunner = lambda queue, enqueue_ops, *others, **named: runner(queue, enqueue_ops[:1], *others, **named)
    shutil.copy(os.path.join(data, "text.txt"), os.path.join("2017", "examples", "data", "arvix_abstracts.txt"))
    shutil.copy(os.path.join(data, "text.txt"), os.path.join("examples", "data", "trump_tweets.txt"))
    for script, most in SCRIPTS:
        tf.reset_default_graph()
        random.seed(2)
        np.random.seed(2)
        print("==", script, flush=True)
        sys.modules.pop("utils", None)  # each year has its own
        here = os.getcwd()
        os.chdir(os.path.dirname(script))
        watch.run_some(records, most, os.path.basename(script))
        os.chdir(here)
