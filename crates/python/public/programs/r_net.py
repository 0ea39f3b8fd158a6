"""R-Net (HKUST-KnowComp): `main.train`, with gated attention over recurrent layers, on made records."""

import argparse
import json
import os

URL = "https://github.com/HKUST-KnowComp/R-Net"
COMMIT = "1efc5ef18067a84d44fa8d31c309a19c52958e92"
NEEDS = ["ujson", "tqdm"]
TOLERANCE = 1e-4  # Adadelta divides small gradients, and with them their rounding errors.
PARAGRAPH, QUESTION, LETTERS = 20, 5, 4  # It asks for a band of 15 above the diagonal.


def prepare(data):
    import numpy as np
    import tensorflow as tf
    generator = np.random.RandomState(2)
    examples = {}
    for name in ("train", "dev"):
        with tf.python_io.TFRecordWriter(os.path.join(data, name + ".tfrecords")) as writer:
            for at in range(40):
                parts = {"id": None}
                n, m = generator.randint(17, PARAGRAPH + 1), generator.randint(2, QUESTION + 1)
                words, asked = np.zeros([PARAGRAPH], np.int32), np.zeros([QUESTION], np.int32)
                letters, of_asked = np.zeros([PARAGRAPH, LETTERS], np.int32), np.zeros([QUESTION, LETTERS], np.int32)
                words[:n], asked[:m] = generator.randint(1, 30, size=n), generator.randint(1, 30, size=m)
                letters[:n], of_asked[:m] = generator.randint(1, 10, size=[n, LETTERS]), generator.randint(1, 10, size=[m, LETTERS])
                start, end = sorted(generator.randint(0, n, size=2))
                first, last = (np.eye(PARAGRAPH, dtype=np.float32)[i] for i in (start, end))
                parts = dict(context_idxs=words, ques_idxs=asked, context_char_idxs=letters, ques_char_idxs=of_asked, y1=first, y2=last)
                feature = {key: tf.train.Feature(bytes_list=tf.train.BytesList(value=[part.tobytes()])) for key, part in parts.items()}
                feature["id"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[at]))
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
                spans = [[2 * i, 2 * i + 1] for i in range(PARAGRAPH)]
                examples[str(at)] = dict(context="a " * PARAGRAPH, spans=spans, answers=["a"], uuid=str(at))
    for name, value in (("word", generator.rand(30, 6).tolist()), ("char", generator.rand(10, 4).tolist()), ("eval", examples), ("meta", {"total": 40})):
        with open(os.path.join(data, name + ".json"), "w") as file:
            json.dump(value, file)


def drive(data, records):
    import main
    there = {name: os.path.join(data, name + ".json") for name in ("word", "char", "eval", "meta")}
    config = argparse.Namespace(
        word_emb_file=there["word"], char_emb_file=there["char"], train_eval_file=there["eval"],
        dev_eval_file=there["eval"], dev_meta=there["meta"], train_record_file=os.path.join(data, "train.tfrecords"),
        dev_record_file=os.path.join(data, "dev.tfrecords"), log_dir=data, save_dir=os.path.join(data, "saved"),
        para_limit=PARAGRAPH, ques_limit=QUESTION, char_limit=LETTERS, num_threads=1, capacity=1, batch_size=8,
        is_bucket=False, bucket_range=[4, 12, 2], init_lr=0.5, keep_prob=0.7, ptr_keep_prob=0.7, grad_clip=5.0,
        hidden=6, char_hidden=5, char_dim=4, glove_dim=6, patience=3, use_cudnn=False, num_steps=12, period=4,
        checkpoint=6, val_num_batches=2)
    os.mkdir(config.save_dir)
    main.train(config)
    records.add_checkpoint(config.save_dir)
