"""Graph convolutional networks: 20 epochs on the repository's Cora data, with each of its models."""

URL = "https://github.com/tkipf/gcn"
COMMIT = "39a4089fe72ad9f055ed6fdb9746abdcfebc4d81"
NEEDS = ["scipy<1.8", "networkx<2.7"]


def prepare(data):
    pass


def drive(data, records):
    import os
    import sys
    import tensorflow as tf
    import watch
    sys.path.insert(0, os.getcwd())
    os.chdir("gcn")
    for model in ["gcn", "dense"]:
        tf.reset_default_graph()
        watch.run_script("train.py", "--model", model, "--epochs", 20)
