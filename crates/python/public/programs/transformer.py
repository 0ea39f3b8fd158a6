"""Kyubyong's Transformer: training steps from generated batches, and its greedy evaluation."""

import os

URL = "https://github.com/Kyubyong/transformer"
COMMIT = "fb023bb097e08d53baf25b46a9da490beba51a21"
NEEDS = ["tqdm"]


def prepare(data):
    import watch
    for name, seed in (("from", 0), ("to", 1)):
        with open(os.path.join(data, name), "w") as file:
            file.write("\n".join(line.replace(".", "") for line in watch.lines(60, seed)))
    with open(os.path.join(data, "from")) as one, open(os.path.join(data, "to")) as other:
        words = sorted(set((one.read() + " " + other.read()).split()))
    with open(os.path.join(data, "vocab"), "w") as file:
        file.write("\n".join(["<pad>", "<unk>", "<s>", "</s>"] + words))


def drive(data, records):
    import tensorflow as tf
    from data_load import get_batch, load_vocab
    from hparams import Hparams
    from model import Transformer
    import watch
    watch.seed_by_order()
    source, target, vocab = (os.path.join(data, name) for name in ("from", "to", "vocab"))
    size = len(load_vocab(vocab)[0])
    hp = Hparams().parser.parse_args([
        "--vocab_size=%d" % size, "--vocab=" + vocab, "--d_model=16", "--d_ff=32", "--num_blocks=2", "--num_heads=4",
        "--maxlen1=16", "--maxlen2=16", "--batch_size=8"])
    batches = [get_batch(source, target, 16, 16, vocab, 8, shuffle=shuffle)[0] for shuffle in (True, False)]
    iterator = tf.data.Iterator.from_structure(batches[0].output_types, batches[0].output_shapes)
    xs, ys = iterator.get_next()
    to_train, to_evaluate = [iterator.make_initializer(each) for each in batches]
    model = Transformer(hp)
    loss, step, count, _ = model.train(xs, ys)
    hp.maxlen2 = 4
    guess, _ = model.eval(xs, ys)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(to_train)
        for _ in range(10):
            sess.run([loss, step, count])
        sess.run(to_evaluate)
        for _ in range(3):
            sess.run(guess)
        sess.run(tf.concat([tf.reshape(v, [-1]) for v in tf.trainable_variables()], 0))
