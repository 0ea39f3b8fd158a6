"""DeepQA (Conchylicultor): its chat bot's model: `embedding_rnn_seq2seq` in training, and answering."""

URL = "https://github.com/Conchylicultor/DeepQA"
COMMIT = "886ec77ac49ff70be1b6d4de30fffe6a96480a4f"
NEEDS = ["nltk", "tqdm"]


def prepare(data):
    pass


def drive(data, records):
    import argparse
    import numpy as np
    import tensorflow as tf
    from chatbot.model import Model
    words = argparse.Namespace(getVocabularySize=lambda: 30, goToken=1)
    generator = np.random.RandomState(3)
    for layers in (1, 2):
        tf.reset_default_graph()
        args = argparse.Namespace(
            softmaxSamples=0, hiddenSize=8, numLayers=layers, dropout=0.9, maxLengthEnco=5, maxLengthDeco=6,
            embeddingSize=7, learningRate=0.01, test=None)
        with tf.Session() as sess:
            model = Model(args, words)
            sess.run(tf.global_variables_initializer())
            for _ in range(10):
                batch = argparse.Namespace(
                    encoderSeqs=generator.randint(0, 30, size=(5, 4)), decoderSeqs=generator.randint(0, 30, size=(6, 4)),
                    targetSeqs=generator.randint(0, 30, size=(6, 4)), weights=generator.randint(0, 2, size=(6, 4)))
                ops, feed = model.step(batch)
                sess.run(ops, feed)
            records.add("variables", sess.run(tf.trainable_variables()))
        tf.reset_default_graph()
        args.test = "interactive"
        with tf.Session() as sess:
            model = Model(args, words)
            sess.run(tf.global_variables_initializer())
            batch = argparse.Namespace(encoderSeqs=generator.randint(0, 30, size=(5, 1)))
            ops, feed = model.step(batch)
            sess.run(ops[0], feed)
