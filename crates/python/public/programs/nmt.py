"""TensorFlow's nmt tutorial: its own unit tests, and training with attention and greedy inference through
its script.
"""

import os

URL = "https://github.com/tensorflow/nmt"
COMMIT = "0be864257a76c151eef20ea689755f08bc1faf4e"


def prepare(data):
    import watch
    for name, count, seed in (("train", 40, 1), ("dev", 8, 2), ("test", 8, 3)):
        sentences = watch.lines(count, seed)
        for side, lines in (("src", sentences), ("tgt", [" ".join(line.split()[::-1]) for line in sentences])):
            with open(os.path.join(data, "%s.%s" % (name, side)), "w") as file:
                file.write("\n".join(lines) + "\n")
    words = sorted(set(" ".join(watch.lines(40, 1)).split()))
    for side in ("src", "tgt"):
        with open(os.path.join(data, "vocab." + side), "w") as file:
            file.write("\n".join(["<unk>", "<s>", "</s>"] + words[:60]) + "\n")


def drive(data, records):
    import tensorflow as tf
    import watch
    watch.run_tests(records, ["nmt.utils.iterator_utils_test", "nmt.utils.vocab_utils_test",
                              "nmt.utils.evaluation_utils_test", "nmt.utils.misc_utils_test"])
    tf.reset_default_graph()
    # No dropout: random numbers that a parallel loop draws come in the order of its threads.
    flags = dict(
        attention="scaled_luong", src="src", tgt="tgt", vocab_prefix=os.path.join(data, "vocab"),
        train_prefix=os.path.join(data, "train"), dev_prefix=os.path.join(data, "dev"),
        test_prefix=os.path.join(data, "test"), out_dir=os.path.join(data, "out"), num_train_steps=20,
        steps_per_stats=5, steps_per_external_eval=20, num_layers=2, num_units=8, dropout=0.0, metrics="bleu",
        batch_size=8, random_seed=3, infer_mode="greedy", optimizer="adam", learning_rate=0.01)
    os.mkdir(os.path.join(data, "out"))
    watch.run_script("nmt.nmt", *["--%s=%s" % flag for flag in sorted(flags.items())])
    records.add_checkpoint(os.path.join(data, "out"))
