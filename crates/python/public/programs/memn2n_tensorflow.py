"""MemN2N-tensorflow: two epochs of its own model and training loop, on made text."""

import os

URL = "https://github.com/carpedm20/MemN2N-tensorflow"
COMMIT = "f8f4da4ca1b3a4afa764748a6907e79ab2be1ffd"
NEEDS = ["future"]


def prepare(data):
    import watch
    for name, count in (("train", 40), ("valid", 10)):
        with open(os.path.join(data, name + ".txt"), "w") as file:
            file.write("\n".join(watch.lines(count)))


def drive(data, records):
    import argparse
    import tensorflow as tf
    from data import read_data
    from model import MemN2N
    count, words = [], {}
    train = read_data(os.path.join(data, "train.txt"), count, words)
    valid = read_data(os.path.join(data, "valid.txt"), count, words)
    config = argparse.Namespace(
        edim=8, lindim=4, nhop=3, mem_size=6, batch_size=16, nepoch=2, init_lr=0.01, init_hid=0.1, init_std=0.05,
        max_grad_norm=50, checkpoint_dir=os.path.join(data, "saved"), data_name="made", is_test=False, show=False,
        nwords=len(words))
    os.mkdir(config.checkpoint_dir)
    with tf.Session() as sess:
        model = MemN2N(config, sess)
        model.build_model()
        model.run(train, valid)
