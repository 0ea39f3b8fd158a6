"""Expressions without a graph (`expressions/*.txt`, one per line) and TensorFlow 1.15's results.

`python expressions_golden.py --record` writes `golden/expressions.json` under TensorFlow 1.15 (Python 3.7,
with `attrs`).
A result is `["=", repr]` or `["!", exception class, message]`. TensorFlow's own types are shown by name.
"""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden", "expressions.json")


def expressions(topic):
    """Returns the expressions of one file."""
    with open(os.path.join(HERE, "expressions", topic + ".txt")) as lines:
        texts = [line.strip() for line in lines]
    return [text for text in texts if text and not text.startswith("#")]


def topics():
    """Returns the names of the files."""
    names = sorted(os.listdir(os.path.join(HERE, "expressions")))
    return [name[:-4] for name in names if name.endswith(".txt")]


def plain(text):
    """Removes addresses and modules of classes, which depend on version and machine."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    # Messages of Python and NumPy that have changed since Python 3.7.
    text = re.sub(r"\b[A-Za-z_]+\.__(init|new)__\(\)", "__init__()", text)
    text = re.sub(r"can't set attribute '\w+'", "can't set attribute", text)
    text = re.sub(r"property '\w+' of '\w+' object has no setter", "can't set attribute", text)
    text = text.replace("or a real number, not", "or a number, not").replace("integer modulo by zero", "integer division or modulo by zero")
    text = re.sub(r"\bnp\.(True|False)_", r"\1", text)
    return re.sub(r"<class '([A-Za-z_0-9.<>]*\.)?([A-Za-z_0-9]+)'>", r"<class '\2'>", text)


def answer(text, names):
    """Returns the result of an expression."""
    try:
        value = eval(text, dict(names))
    except Exception as error:
        return ["!", type(error).__name__, plain(str(error))]
    return ["=", plain(repr(value))]


def names_for(tf, nest):
    """Returns the names that expressions can use."""
    names = {}
    with open(os.path.join(HERE, "expressions", "setup.py")) as source:
        exec(compile(source.read(), "setup.py", "exec"), names)
    names.update(tf=tf, nest=nest)
    return names


def record():
    """Records the results of TensorFlow."""
    import tensorflow as tf
    from tensorflow.python.util import nest

    assert tf.__version__.startswith("1.15"), "golden answers are those of TensorFlow 1.15"
    names = names_for(tf, nest)
    assert names["attr"], "needs the package `attrs`"
    answers = {topic: {text: answer(text, names) for text in expressions(topic)} for topic in topics()}
    with open(GOLDEN, "w") as out:
        json.dump(answers, out, indent=1, sort_keys=True)
        out.write("\n")
    print("recorded %d answers" % sum(map(len, answers.values())))


if __name__ == "__main__" and "--record" in sys.argv:
    record()
