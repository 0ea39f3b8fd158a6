"""draw: the recurrent attentive auto-encoder's own script, with and without attention, on made digits."""

import os

URL = "https://github.com/ericjang/draw"
COMMIT = "56bb9404bc3d01da1e1ed2930660221f8c39f7b0"


def prepare(data):
    import watch
    watch.make_digits(os.path.join(data, "mnist"))


def drive(data, records):
    import tensorflow as tf
    import tensorflow.examples.tutorials.mnist.input_data  # noqa: F401, which the script takes for granted
    import watch
    for attention in ("True", "False"):
        tf.reset_default_graph()
        watch.run_some(records, 3, "draw.py", "--data_dir", data, "--read_attn=" + attention, "--write_attn=" + attention)
