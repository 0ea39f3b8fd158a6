"""What TensorFlow says of mistakes: its words are golden, and ours must have them whole, whatever else we say.

`mistakes` records what several situations raise; `run.py` compares messages with `phrase` and `counted`.
"""

import re


class Said(str):
    """The message of an exception. What is golden of it is TensorFlow's own part (`phrase`), which the other's message must contain."""


def mistakes(tf, **situations):
    """What each of `situations` raises, built in a graph of its own and, where it gives something to fetch, run: the class and the message."""
    record = {}
    for name, situation in situations.items():
        with tf.Graph().as_default():
            try:
                value = situation()
                if isinstance(value, (tf.Tensor, tf.Operation, tf.SparseTensor, tf.IndexedSlices, list)):
                    with tf.Session() as sess:
                        for fetch in value if isinstance(value, list) else [value]:
                            sess.run(fetch)
                record[name] = "no error"
            except Exception as error:
                record[name] = [type(error).__name__, Said(error)]
    return record


def late(tf, value, dtype=None):
    """A tensor of which nothing is known before it runs."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def phrase(message):
    """What TensorFlow says in a message, without where in the program and the graph that was: the lines below, and addresses."""
    if "root error(s) found." in message:
        message = re.sub(r"^.*\(0\) [A-Z][a-z A-Z]*: ", "", message, count=1, flags=re.S)
    # Which types an op takes, and which inputs' values its shape rule looked at, are matters of the op, not of the message.
    ends = ("\n\t [[", "\n\nOriginal stack", "\n\nErrors may have originated", "{{node", "list of allowed values:", "; NodeDef", "; Op<name", "Op<name")
    for end in ends:
        message = message.split(end)[0]
    message = re.split(r" and with (?:computed input tensors|input tensors computed)", message)[0]
    return counted(re.split(r" at 0x[0-9a-f]+", message)[0].strip())


def counted(message):
    """A message without the numbers that say how many queues, stacks and arrays a process has made."""
    message = re.sub(r"'_\d+_", "'", message)
    return re.sub(r"(TensorArray|Stack\[s)_\d+", r"\1", message)
