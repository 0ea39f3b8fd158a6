"""Graph auto-encoders: both models on a made graph, through its own script."""

import os

URL = "https://github.com/tkipf/gae"
COMMIT = "0ebbe9b9a8f496eb12deb9aa6a62e7016b5a5ac3"
NEEDS = ["networkx", "scikit-learn", "scipy"]


def prepare(data):
    import watch
    watch.make_citations(data, nodes=200)


def drive(data, records):
    import shutil
    import tensorflow as tf
    import watch
    os.chdir("gae")
    for name in os.listdir(data):
        shutil.copy(os.path.join(data, name), "data")
    for model in ("gcn_ae", "gcn_vae"):
        tf.reset_default_graph()
        watch.run_some(records, 40, "train.py", "--model=" + model, "--epochs=20", "--dropout=0.1")
