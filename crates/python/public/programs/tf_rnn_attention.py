"""tf-rnn-attention (ilivans): its script, a GRU both ways under attention, on made reviews."""

import os

URL = "https://github.com/ilivans/tf-rnn-attention"
COMMIT = "e41cf9f7569de8a0b306ed189d2c90ce6fb26d5f"
NEEDS = ["tqdm"]


def prepare(data):
    pass


def drive(data, records):
    import sys
    import types
    import numpy as np
    import watch
    generator = np.random.RandomState(3)

    def load_data(num_words, index_from):
        made = []
        for count in (24, 18):
            made.append(([generator.randint(1, 50, size=generator.randint(4, 15)).tolist() for _ in range(count)],
                         generator.randint(0, 2, size=count)))
        return made
    imdb = types.SimpleNamespace(load_data=load_data)
    for name in ("keras", "keras.datasets"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["keras.datasets"].imdb = imdb
    with open("train.py") as file:
        text = file.read()
    for name, value in (("SEQUENCE_LENGTH", 16), ("EMBEDDING_DIM", 6), ("HIDDEN_SIZE", 5), ("ATTENTION_SIZE", 4), ("BATCH_SIZE", 6)):
        text = "".join("%s = %d\n" % (name, value) if line.startswith(name + " =") else line for line in text.splitlines(True))
    with open("train.py", "w") as file:
        file.write(text)
    watch.run_script("train.py")
    records.add_checkpoint(".")
