"""e2e-coref (kentonl): its model of coreference on a padding queue, with antecedents from coarse to fine.

Its op of C++, which picks spans, is written in Python here.
"""

import os

URL = "https://github.com/kentonl/e2e-coref"
COMMIT = "9d1ee1972f6e34eb5d1dcbb1fd9b9efdf53fc298"
NEEDS = ["h5py", "scipy"]
TOLERANCE = 1e-4
LETTERS = "abcdefgh"


def picked(scores, starts, ends, wanted, longest, sort):
    """Indices of the best spans of each sentence that do not cross a better one."""
    import numpy as np
    rows = []
    for score, start, end, want in zip(scores, starts, ends, wanted):
        chosen = []
        for at in np.argsort(-score, kind="stable"):
            if len(chosen) == want:
                break
            a, b = start[at], end[at]
            if not any(start[c] < a <= end[c] < b or a < start[c] <= b < end[c] for c in chosen):
                chosen.append(at)
        if sort:
            chosen.sort(key=lambda at: (start[at], end[at], at))
        rows.append(chosen + [chosen[0] if chosen else 0] * (max(wanted) - len(chosen)))
    return np.array(rows, np.int32)


def prepare(data):
    pass


def drive(data, records):
    import sys
    import types
    import unittest.mock
    import numpy as np
    import tensorflow as tf
    for name in ("tensorflow_hub", "pyhocon", "sklearn.utils.linear_assignment_"):
        sys.modules[name] = unittest.mock.MagicMock()

    def extract_spans(scores, starts, ends, wanted, longest, sort):
        spans = tf.py_func(lambda *arrays: picked(*arrays, sort=sort), [scores, starts, ends, wanted, longest], tf.int32)
        spans.set_shape([None, None])
        return spans

    sys.modules["coref_ops"] = types.SimpleNamespace(extract_spans=extract_spans)
    import coref_model
    # Its antecedents may come in any order, and this gives them one.
    top_k = tf.nn.top_k
    tf.nn.top_k = lambda input, k, sorted: top_k(input, k)
    generator = np.random.RandomState(5)
    words = ["".join(generator.choice(list(LETTERS), size=generator.randint(1, 6))) for _ in range(25)]
    with open(os.path.join(data, "letters"), "w") as file:
        file.write("\n".join(LETTERS))
    with open(os.path.join(data, "vectors"), "w") as file:
        for word in words:
            file.write(" ".join([word] + ["%.4f" % x for x in generator.randn(6)]) + "\n")
    vectors = {"path": os.path.join(data, "vectors"), "size": 6}
    config = dict(
        max_top_antecedents=6, max_training_sentences=3, top_span_ratio=0.4, filter_widths=[2, 3], filter_size=4,
        char_embedding_size=4, char_vocab_path=os.path.join(data, "letters"), context_embeddings=vectors,
        head_embeddings=vectors, contextualization_size=6, contextualization_layers=2, ffnn_size=7, ffnn_depth=2,
        feature_size=4, max_span_width=4, use_metadata=True, use_features=True, model_heads=True, coref_depth=2, lm_layers=3,
        lm_size=5, coarse_to_fine=True, max_gradient_norm=5.0, lstm_dropout_rate=0.2, lexical_dropout_rate=0.2,
        dropout_rate=0.2, optimizer="adam", learning_rate=0.01, decay_rate=0.9, decay_frequency=3, lm_path=os.path.join(data, "lm.hdf5"),
        genres=["bc", "nw"], log_dir=data)
    import h5py
    with h5py.File(config["lm_path"], "w") as file:
        examples = []
        for at in range(4):
            sentences = [generator.choice(words, size=generator.randint(5, 9)).tolist() for _ in range(4)]
            for n, sentence in enumerate(sentences):
                file["nw:%d/%d" % (at, n)] = generator.randn(len(sentence), 5, 3).astype(np.float32)
            examples.append(dict(
                doc_key="nw/%d" % at, sentences=sentences, speakers=[["x" if n % 2 else "y"] * len(s) for n, s in enumerate(sentences)],
                clusters=[[[0, 1], [6, 6], [9, 11]], [[3, 3], [12, 12]]]))
    for fine in (True, False):
        tf.reset_default_graph()
        model = coref_model.CorefModel(dict(config, coarse_to_fine=fine, use_metadata=fine, model_heads=fine))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for at in range(8):
                example = model.tensorize_example(examples[at % 4], is_training=True)
                sess.run(model.enqueue_op, dict(zip(model.queue_input_tensors, example)))
                sess.run([model.loss, model.global_step, model.train_op])
            saver = tf.train.Saver()
            saver.save(sess, os.path.join(data, "model.max.ckpt"))
            model.restore(sess)
            example = model.tensorize_example(examples[0], is_training=False)
            sess.run(model.predictions, dict(zip(model.input_tensors, example)))
