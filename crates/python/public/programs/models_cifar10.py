"""tensorflow/models: the CIFAR-10 tutorial, trained by its own script from queues of files.

Its 16 threads of distorted pictures are one here, in order.
"""

import os

URL = "https://github.com/Dzinushi/models_1_4"
COMMIT = "d7e72793a68c1667d403b1542c205d1cd9b1d17c"
TOLERANCE = 1e-4


def prepare(data):
    import numpy as np
    folder = os.path.join(data, "cifar-10-batches-bin")
    os.mkdir(folder)
    for name in ["data_batch_%d.bin" % n for n in range(1, 6)] + ["test_batch.bin"]:
        rows = np.random.randint(0, 256, size=(40, 3073)).astype(np.uint8)
        rows[:, 0] %= 10
        rows.tofile(os.path.join(folder, name))


def drive(data, records):
    import sys
    import tensorflow as tf
    import watch

    def in_order(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, **others):
        return tf.train.batch(tensors, batch_size, 1, capacity, **others)

    tf.train.shuffle_batch = in_order
    producer = tf.train.string_input_producer
    tf.train.string_input_producer = lambda names: producer(names, shuffle=False)
    os.chdir("tutorials/image/cifar10")
    sys.path.insert(0, os.getcwd())
    import cifar10
    cifar10.maybe_download_and_extract = lambda: None
    watch.run_script(
        "cifar10_train.py", "--train_dir", os.path.join(data, "train"), "--max_steps", 8, "--data_dir", data,
        "--batch_size", 16)
    # Averages of variables are computed before or after a step, as it comes, and are left out.
    reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(os.path.join(data, "train")))
    for name in sorted(reader.get_variable_to_shape_map()):
        if "ExponentialMovingAverage" not in name:
            records.add("checkpoint:" + name, reader.get_tensor(name))
