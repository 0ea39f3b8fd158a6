"""sequence_tagging: a tagger of names, with letters, two-way LSTMs and a CRF, through its own classes."""

URL = "https://github.com/guillaumegenthial/sequence_tagging"
COMMIT = "5cb9890e7c52e35a1239378da43a8de7be508003"


def prepare(data):
    pass


def drive(data, records):
    import os
    import numpy as np
    import watch
    from model.config import Config
    from model.data_utils import CoNLLDataset
    from model.ner_model import NERModel
    sentences = watch.lines(24, seed=5)
    with open(os.path.join(data, "tagged.txt"), "w") as file:
        for sentence in sentences:
            for word in sentence.split():
                file.write("%s %s\n" % (word, "B-A" if "a" in word else "I-A" if "b" in word else "O"))
            file.write("\n")
    words = sorted(set(" ".join(sentences).split())) + ["$UNK$", "$NUM$"]
    for name, entries in (("words", words), ("tags", ["B-A", "I-A", "O"]), ("chars", sorted(set("".join(sentences))))):
        with open(os.path.join(data, name + ".txt"), "w") as file:
            file.write("\n".join(entries))
    np.savez_compressed(os.path.join(data, "glove.npz"), embeddings=np.random.randn(len(words), 8))
    for name, value in (("filename_words", "words.txt"), ("filename_tags", "tags.txt"), ("filename_chars", "chars.txt"),
                        ("filename_trimmed", "glove.npz"), ("filename_train", "tagged.txt"),
                        ("filename_dev", "tagged.txt"), ("filename_test", "tagged.txt")):
        setattr(Config, name, os.path.join(data, value))
    Config.dim_word, Config.dim_char, Config.hidden_size_char, Config.hidden_size_lstm = 8, 4, 4, 8
    Config.nepochs, Config.batch_size = 2, 4
    config = Config()
    model = NERModel(config)
    model.build()
    tagged = CoNLLDataset(config.filename_train, config.processing_word, config.processing_tag, config.max_iter)
    model.train(tagged, tagged)
    model.restore_session(config.dir_model)
    model.evaluate(tagged)
