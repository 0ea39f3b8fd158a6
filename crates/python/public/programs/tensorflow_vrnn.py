"""A variational recurrent network: its cell emits seven tensors, and every number is checked for NaN."""

URL = "https://github.com/phreeza/tensorflow-vrnn"
COMMIT = "9cd4958808709c5e7f325a5250b38c861f5db350"
NEEDS = []
TOLERANCE = 3e-4  # The means of what it decodes: `--shake 1e-7` takes TensorFlow itself 1.6e-4 away.
PYTHON_2 = True


def prepare(data):
    pass


def drive(data, records):
    import pickle
    import watch
    pickle.dump = lambda *given: None  # the program writes its options to a file of text
    watch.run_some(
        records, 12, "train_vrnn.py", "--batch_size", 8, "--seq_length", 6, "--rnn_size", 5, "--latent_size", 4,
        "--save_every", 5)
