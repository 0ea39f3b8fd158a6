"""SfMLearner (tinghuiz): its model trained from queues of pictures and cameras, by projective warps."""

import os

URL = "https://github.com/tinghuiz/SfMLearner"
COMMIT = "65f71f10da7a0576961a869ec3b3c1a68e89f188"
NEEDS = ["pillow"]


def prepare(data):
    import numpy as np
    from PIL import Image
    os.mkdir(os.path.join(data, "one"))
    with open(os.path.join(data, "train.txt"), "w") as file:
        for at in range(5):
            picture = np.kron(np.random.randint(0, 256, size=(8, 24, 3)), np.ones((16, 16, 1))).astype(np.uint8)
            Image.fromarray(picture).save(os.path.join(data, "one", "%d.jpg" % at))
            with open(os.path.join(data, "one", "%d_cam.txt" % at), "w") as camera:
                camera.write("60.,0.,64.,0.,60.,64.,0.,0.,1.")
            file.write("one %d\n" % at)


def drive(data, records):
    import argparse
    from SfMLearner import SfMLearner
    SfMLearner().train(argparse.Namespace(
        dataset_dir=data, checkpoint_dir=os.path.join(data, "saved"), init_checkpoint_file=None, learning_rate=0.0002, beta1=0.9,
        smooth_weight=0.5, explain_reg_weight=0.2, batch_size=2, img_height=128, img_width=128, seq_length=3, max_steps=3,
        summary_freq=2, save_latest_freq=3, continue_train=False))
