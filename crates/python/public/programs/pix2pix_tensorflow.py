"""pix2pix-tensorflow: training, testing from the checkpoint and exporting, through its own script, on made
pictures.
"""

import os

URL = "https://github.com/affinelayer/pix2pix-tensorflow"
COMMIT = "0f2174424356162920fc25067e63db2bcf19f4e7"
NEEDS = ["pillow"]
TOLERANCE = 1e-3  # the losses of a generative game grow a rounding error from step to step


def prepare(data):
    import numpy as np
    from PIL import Image
    os.mkdir(os.path.join(data, "pictures"))
    for at in range(3):
        left = np.kron(np.random.randint(0, 256, size=(8, 8, 3)), np.ones((32, 32, 1))).astype(np.uint8)
        picture = np.concatenate([left, 255 - left], axis=1)
        Image.fromarray(picture).save(os.path.join(data, "pictures", "%d.png" % at))


def drive(data, records):
    import tensorflow as tf
    import watch
    pictures, out = os.path.join(data, "pictures"), os.path.join(data, "out")
    small = ["--ngf", 2, "--ndf", 2, "--seed", 3]
    watch.run_script("pix2pix.py", "--mode", "train", "--input_dir", pictures, "--output_dir", out, "--max_steps", 5,
                     "--summary_freq", 2, "--progress_freq", 1, "--display_freq", 3, "--save_freq", 5, *small)
    tf.reset_default_graph()
    watch.run_script("pix2pix.py", "--mode", "test", "--input_dir", pictures, "--output_dir",
                     os.path.join(data, "tested"), "--checkpoint", out, "--seed", 3)
