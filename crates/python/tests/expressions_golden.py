"""Expressions without a graph, beside what TensorFlow 1.15 makes of them: `expressions/*.txt`, one a line.

`python expressions_golden.py --record` writes `golden/expressions.json` under a real TensorFlow (Python 3.7, with `attrs`).
An answer is `["=", repr]` or `["!", exception's class, its message]`. Types of TensorFlow's own are shown by their names.
"""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden", "expressions.json")


def expressions(topic):
    """The expressions of one file."""
    with open(os.path.join(HERE, "expressions", topic + ".txt")) as lines:
        texts = [line.strip() for line in lines]
    return [text for text in texts if text and not text.startswith("#")]


def topics():
    """The files, by name."""
    names = sorted(os.listdir(os.path.join(HERE, "expressions")))
    return [name[:-4] for name in names if name.endswith(".txt")]


def plain(text):
    """Text without what differs between versions of Python and places: addresses, modules of classes."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    # What Python itself says in other words now than 3.7 did, and NumPy.
    text = re.sub(r"\b[A-Za-z_]+\.__(init|new)__\(\)", "__init__()", text)
    text = re.sub(r"can't set attribute '\w+'", "can't set attribute", text)
    text = re.sub(r"property '\w+' of '\w+' object has no setter", "can't set attribute", text)
    text = text.replace("or a real number, not", "or a number, not").replace("integer modulo by zero", "integer division or modulo by zero")
    text = re.sub(r"\bnp\.(True|False)_", r"\1", text)
    return re.sub(r"<class '([A-Za-z_0-9.<>]*\.)?([A-Za-z_0-9]+)'>", r"<class '\2'>", text)


def answer(text, names):
    """What an expression gives."""
    try:
        value = eval(text, dict(names))
    except Exception as error:
        return ["!", type(error).__name__, plain(str(error))]
    return ["=", plain(repr(value))]


def names_for(tf, nest):
    """What expressions may use."""
    names = {}
    with open(os.path.join(HERE, "expressions", "setup.py")) as source:
        exec(compile(source.read(), "setup.py", "exec"), names)
    names.update(tf=tf, nest=nest)
    return names


def record():
    """Asks a real TensorFlow."""
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
