"""gpt-2: unconditional samples of its own script, from a small checkpoint made here."""

import json
import os

URL = "https://github.com/openai/gpt-2"
COMMIT = "9b63575ef42771a015060c964af2c3da4cf7c8ab"
NEEDS = ["fire", "regex"]


def prepare(data):
    folder = os.path.join(data, "models", "small")
    os.makedirs(folder)
    printed = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters = [chr(code) for code in printed] + [chr(256 + at) for at in range(256 - len(printed))]
    encoder = {letter: at for at, letter in enumerate(letters)}
    encoder["th"], encoder["<|endoftext|>"] = 256, 257
    with open(os.path.join(folder, "encoder.json"), "w") as file:
        json.dump(encoder, file)
    with open(os.path.join(folder, "vocab.bpe"), "w") as file:
        file.write("#version: 0.2\nt h\n")
    with open(os.path.join(folder, "hparams.json"), "w") as file:
        json.dump({"n_vocab": 258, "n_ctx": 24, "n_embd": 16, "n_head": 4, "n_layer": 3}, file)


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    import watch
    sys.path.insert(0, "src")
    watch.seed_by_order()  # the batch size within the loop is known to Millstream only
    models = os.path.join(data, "models")
    checkpoint(os.path.join(models, "small"), np, tf)
    watch.run_script(
        os.path.join("src", "generate_unconditional_samples.py"), "--model_name", "small", "--seed", 5, "--nsamples", 4,
        "--batch_size", 1, "--top_k", 40, "--top_p", 0.9, "--models_dir", models)
    train(records, tf)
    sys.stdin = open(os.path.join(data, "asked"), "w+")
    sys.stdin.write("the third thing\n")
    sys.stdin.seek(0)
    try:
        watch.run_script(
            os.path.join("src", "interactive_conditional_samples.py"), "--model_name", "small", "--seed", 6, "--length",
            12, "--temperature", 0.7, "--models_dir", models)
    except EOFError:
        pass  # the script asks until its input ends


def checkpoint(folder, np, tf):
    """Writes a checkpoint of the program's model, with weights from NumPy."""
    import model
    hparams = model.default_hparams()
    with open(os.path.join(folder, "hparams.json")) as file:
        hparams.override_from_dict(json.load(file))
    generator = np.random.RandomState(3)
    with tf.Graph().as_default(), tf.Session() as sess:
        model.model(hparams=hparams, X=tf.placeholder(tf.int32, [2, None]))
        for variable in tf.global_variables():
            variable.load(0.3 * generator.randn(*variable.shape.as_list()).astype("f"), sess)
        tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"))


def train(records, tf):
    """Twenty steps of Adam on the program's model."""
    import model
    hparams = model.default_hparams()
    hparams.override_from_dict({"n_vocab": 50, "n_ctx": 16, "n_embd": 16, "n_head": 2, "n_layer": 2})
    with tf.Graph().as_default(), tf.Session() as sess:
        tokens = tf.constant([[(7 * row + 3 * at) % 50 for at in range(12)] for row in range(4)])
        logits = model.model(hparams=hparams, X=tokens)["logits"]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tokens[:, 1:], logits=logits[:, :-1]))
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        sess.run(tf.global_variables_initializer())
        for _ in range(20):
            sess.run([loss, step])
