"""NTM (snowkylin): its copy task with both cells, and one-shot learning on made pictures."""

URL = "https://github.com/snowkylin/ntm"
COMMIT = "7db406826d6109f44c61a857ef2d1aadbbec7f54"
TOLERANCE = 1e-4


def prepare(data):
    pass


def drive(data, records):
    import argparse
    import numpy as np
    import tensorflow as tf
    from model import NTMCopyModel, NTMOneShotLearningModel
    generator = np.random.RandomState(2)
    for kind in ("NTM", "LSTM"):
        tf.reset_default_graph()
        args = argparse.Namespace(
            model=kind, rnn_size=8, rnn_num_layers=2, memory_size=6, memory_vector_dim=5, batch_size=3, vector_dim=4,
            learning_rate=1e-3)
        models = [NTMCopyModel(args, 1)] + [NTMCopyModel(args, n, reuse=True) for n in (2, 3)]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for at in range(9):
                model = models[at % 3]
                x = generator.randint(0, 2, size=(3, at % 3 + 1, 4))
                sess.run([model.copy_loss, model.o, model.train_op], {model.x: x})
            sess.run(model.state_list, {model.x: x})
    for kind, label in (("MANN", "one_hot"), ("LSTM", "five_hot")):
        tf.reset_default_graph()
        args = argparse.Namespace(
            model=kind, label_type=label, n_classes=5, seq_length=4, batch_size=3, image_width=4, image_height=3,
            rnn_size=8, rnn_num_layers=1, memory_size=7, memory_vector_dim=5, read_head_num=2, write_head_num=1,
            learning_rate=1e-3)
        model = NTMOneShotLearningModel(args)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(6):
                y = np.eye(5)[generator.randint(0, 5, size=(3, 4, 1 if label == "one_hot" else 5))].reshape([3, 4, -1])
                there = {model.x_image: generator.rand(3, 4, 12), model.x_label: y, model.y: y}
                sess.run([model.learning_loss, model.o, model.train_op], there)
            records.add("variables", sess.run(tf.trainable_variables()))
