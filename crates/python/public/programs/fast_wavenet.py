"""Fast WaveNet (tomlepaine): its training, and its generator, whose layers keep their past in queues."""

import os

URL = "https://github.com/tomlepaine/fast-wavenet"
COMMIT = "5983fa0e8227fd9bf6791dc66b2f92a10ccb5fd8"


def prepare(data):
    pass


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    # It was written before these arguments had to be named, and for Python 2's division.
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits
    tf.nn.sparse_softmax_cross_entropy_with_logits = lambda logits, labels: cross(logits=logits, labels=labels)
    os.chdir("wavenet")
    sys.path.insert(0, os.getcwd())
    with open("layers.py") as file:
        text = file.read()
    with open("layers.py", "w") as file:
        file.write(text.replace("width_pad / rate", "width_pad // rate").replace("shape[0] / rate", "shape[0] // rate"))
    import models
    generator = np.random.RandomState(2)
    model = models.Model(32, num_classes=16, num_blocks=2, num_layers=3, num_hidden=6)
    for _ in range(10):
        inputs = generator.uniform(-1, 1, size=(2, 32, 1))
        model._train(inputs, generator.randint(0, 16, size=(2, 32)))
    made = models.Generator(model)
    records.add("samples", made.run(inputs[:1, 0], 40))
