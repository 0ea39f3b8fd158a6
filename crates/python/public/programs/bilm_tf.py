"""bilm-tf (allenai): training of its language model in both directions, from characters."""

import os

URL = "https://github.com/allenai/bilm-tf"
COMMIT = "7cffee2b0986be51f5e2a747244836e1047657f4"
NEEDS = ["h5py"]

WORDS = ["w%d" % at for at in range(60)]


def prepare(data):
    import random
    with open(os.path.join(data, "vocabulary.txt"), "w") as file:
        file.write("\n".join(["<S>", "</S>", "<UNK>"] + WORDS) + "\n")
    with open(os.path.join(data, "train-1.txt"), "w") as file:
        for _ in range(60):
            file.write(" ".join(random.choice(WORDS) for _ in range(random.randint(3, 12))) + "\n")


def drive(data, records):
    from bilm.data import BidirectionalLMDataset
    from bilm.training import load_vocab, train
    vocabulary = load_vocab(os.path.join(data, "vocabulary.txt"), 10)
    text = BidirectionalLMDataset(os.path.join(data, "train-*"), vocabulary, test=False, shuffle_on_load=True)
    characters = {"activation": "relu", "embedding": {"dim": 4}, "filters": [[1, 8], [2, 8], [3, 16]], "max_characters_per_token": 10,
                  "n_characters": 261, "n_highway": 2}
    cells = {"cell_clip": 3, "dim": 32, "n_layers": 2, "proj_clip": 3, "projection_dim": 8, "use_skip_connections": True}
    options = {"bidirectional": True, "char_cnn": characters, "dropout": 0.1, "lstm": cells, "all_clip_norm_val": 10.0, "n_epochs": 1,
               "n_train_tokens": 400, "batch_size": 4, "n_tokens_vocab": vocabulary.size, "unroll_steps": 5, "n_negative_samples_batch": 16}
    saved = os.path.join(data, "saved")
    os.mkdir(saved)
    train(options, text, 1, saved, saved)
    records.add_checkpoint(saved)
