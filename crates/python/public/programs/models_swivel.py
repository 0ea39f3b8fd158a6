"""tensorflow/models, swivel: embeddings from shards of a matrix of counts, which a queue of files reads."""

import os

URL = "https://github.com/Dzinushi/models_1_4"
COMMIT = "d7e72793a68c1667d403b1542c205d1cd9b1d17c"
NEEDS = ["scipy"]
ROWS = 16


def prepare(data):
    import numpy as np
    import tensorflow as tf
    generator = np.random.RandomState(3)
    for name in ("row", "col"):
        with open(os.path.join(data, name + "_vocab.txt"), "w") as file:
            file.write("".join("w%d\n" % at for at in range(ROWS)))
        with open(os.path.join(data, name + "_sums.txt"), "w") as file:
            file.write("".join("%f\n" % count for count in generator.randint(1, 50, size=ROWS)))

    def ints(values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    for i in range(2):
        for j in range(2):
            at = sorted(set((int(a), int(b)) for a, b in generator.randint(0, 8, size=(12, 2))))
            counts = generator.randint(1, 9, size=len(at)).astype(float)
            features = {"global_row": ints(range(i, ROWS, 2)), "global_col": ints(range(j, ROWS, 2)),
                        "sparse_local_row": ints([a for a, _ in at]), "sparse_local_col": ints([b for _, b in at]),
                        "sparse_value": tf.train.Feature(float_list=tf.train.FloatList(value=counts))}
            with open(os.path.join(data, "shard-%03d-%03d.pb" % (i, j)), "wb") as file:
                file.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def drive(data, records):
    import glob
    import watch
    os.chdir("research/swivel")
    found = glob.glob
    glob.glob = lambda pattern: sorted(found(pattern))  # files have no order of their own
    for optimizer in ("rmsprop", "adagrad"):
        watch.run_script(
            "swivel.py", "--input_base_path", data, "--output_base_path", os.path.join(data, optimizer), "--num_epochs", 5,
            "--dim", 6, "--optimizer", optimizer, "--submatrix_rows", 8, "--submatrix_cols", 8)
        records.add_checkpoint(os.path.join(data, optimizer))
