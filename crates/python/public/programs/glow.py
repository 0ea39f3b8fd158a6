"""Glow (openai): `model.model`: initial values from data, training, encoding, decoding and sampling."""

URL = "https://github.com/openai/glow"
COMMIT = "91b2c577a5c110b2b38761fc56d81f7d87f077c1"
TOLERANCE = 1e-4


def prepare(data):
    pass


def drive(data, records):
    import argparse
    import sys
    import types
    import numpy as np
    import tensorflow as tf
    # A job of one process: Millstream's own Horovod makes other nodes, which would change the seeds.
    package, horovod = types.ModuleType("horovod"), types.ModuleType("horovod.tensorflow")
    horovod.__dict__.update(rank=lambda: 0, size=lambda: 1, broadcast_global_variables=lambda rank: tf.no_op())
    package.tensorflow = horovod
    sys.modules.update({"horovod": package, "horovod.tensorflow": horovod})
    import model
    common = dict(
        image_size=8, n_y=3, width=6, depth=2, weight_y=0.1, n_bits_x=5, n_levels=2, learntop=True, ycond=True,
        optimizer="adam", beta1=0.9, polyak_epochs=1, weight_decay=1.0, train_its=4, gradient_checkpointing=0,
        direct_iterator=False, restore_path="", inference=True)
    variants = [dict(flow_permutation=2, flow_coupling=1), dict(flow_permutation=1, flow_coupling=0, optimizer="adamax")]
    for variant in variants:
        tf.reset_default_graph()
        hps = argparse.Namespace(**dict(common, **variant))
        generator = np.random.RandomState(5)

        def batch():
            return generator.randint(0, 256, size=(4, 8, 8, 3)).astype(np.uint8), generator.randint(0, 3, size=4)

        first = dict(zip(("x", "y"), batch()))
        with tf.Session() as sess:
            made = model.model(sess, hps, batch, batch, first)
            for step in range(8):
                records.add("train", made.train(0.001 * min(1.0, step / 4)))
            records.add("test", made.test())
            x, y = batch()
            code = made.encode(x, y)
            records.add("code", code)
            records.add("decoded", made.decode(y, code))
            records.add("sample", made.sample(y, [0.7] * 4))
            made.polyak_swap()
            records.add("test", made.test())
