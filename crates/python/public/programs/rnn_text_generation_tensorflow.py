"""RNN_Text_Generation_Tensorflow: training and generating through its own script."""

import os

URL = "https://github.com/spiglerg/RNN_Text_Generation_Tensorflow"
COMMIT = "7e6ec16c5d75d132510f3f1e4478926df0fe8e77"


def prepare(data):
    import watch
    with open(os.path.join(data, "input.txt"), "w") as file:
        file.write("\n".join(watch.lines(30)))


def drive(data, records):
    import tensorflow as tf
    import watch
    common = ("--input_file", os.path.join(data, "input.txt"), "--ckpt_file", os.path.join(data, "model.ckpt"))
    watch.run_some(records, 5, "rnn_tf.py", "--mode", "train", *common)
    records.add_checkpoint(data)
    tf.get_default_session() and tf.get_default_session().close()
    tf.reset_default_graph()
    watch.run_some(records, 30, "rnn_tf.py", "--mode", "talk", "--test_prefix", "ab", *common)
