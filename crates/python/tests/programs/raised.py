"""What is raised, as part of a program's answer: how it is caught, what of its message is golden, and when ours agrees.

`caught(f, ..)` is the one way to say it, and the README beside `programs/` says what it takes. Golden are TensorFlow's own words, cut
where they begin to speak of one place: of nodes, files and addresses (`own`). Ours agrees if it has them whole, whatever else it says (`agrees`).
"""

import re

WHOLE = object()


class Raised:
    """An exception whose whole message counts: its class, its code (None but for errors of steps) and what it says."""

    def __init__(self, kind, code, text):
        self.kind, self.code, self.text = kind, code, text


def caught(function, *phrases):
    """What `function()` raises: the class, the code if there is one, and what of the message has to agree.

    `caught(f, "a", "b")` has these phrases, each of which the message has to contain; `caught(f)` none of it. If nothing is raised, that
    cannot be recorded. `caught(f, WHOLE)` has the whole of what TensorFlow says, and "fine" if it raises nothing.
    """
    whole = phrases == (WHOLE,)
    try:
        value = function()
    except Exception as error:
        kind, code = type(error).__name__, getattr(error, "error_code", None)
        if whole:
            # `KeyError` quotes what it is given.
            text = error.args[0] if isinstance(error, KeyError) and error.args else getattr(error, "message", None) or error
            return Raised(kind, code, str(text))
        # Without where the operation was made: the line of the program says the phrases, too.
        text = str(error).split("\n\nOriginal stack trace")[0]
        return [kind] + ([] if code is None else [code]) + [part if part in text else "NOT SAID: %s IN: %s" % (part, text) for part in phrases]
    return "fine" if whole else ["nothing was raised", repr(value)]


def mistakes(tf, **situations):
    """What each of `situations` raises, built in a graph of its own and, where it gives something to fetch, run: the whole of it."""
    record = {}
    for name, situation in situations.items():
        with tf.Graph().as_default():
            record[name] = caught(lambda: _run(tf, situation()), WHOLE)
    return record


def _run(tf, value):
    if isinstance(value, (tf.Tensor, tf.Operation, tf.SparseTensor, tf.IndexedSlices, list)):
        with tf.Session() as sess:
            for fetch in value if isinstance(value, list) else [value]:
                sess.run(fetch)


# Where TensorFlow's own words end. Which types an op takes, and which inputs' values its shape rule looked at, are matters of the op.
ENDS = (
    r"\s*<[\w.]+ object at 0x|\s*\[\[(?=node |\{\{)|\n\nOriginal stack|\n\nErrors may have originated|\{\{node| \(defined at|"
    r"list of allowed values:|; NodeDef|; Op<name|Op<name| and with (?:computed input tensors|input tensors computed)|"
    r"\s*(?:at )?0x[0-9a-f]{6,}| at 0x|(?<![\w:\].])/(?:tmp|work|root|home|usr|opt|var)/|\n  File \"|\w+\.py\b"
)


def own(message):
    """TensorFlow's own words in its message, which ours has to contain: without where in the program and the graph that was."""
    if "root error(s) found." in message:
        message = re.sub(r"^.*\(0\) [A-Z][a-z A-Z]*: ", "", message, count=1, flags=re.S)
    return plain(re.split(ENDS, message)[0].strip())


def plain(message):
    """A message without what two libraries, or two runs, cannot share: how many queues, stacks and arrays a process has made, modules of classes, the
    machine's name."""
    message = re.sub(r"'_\d+_", "'", message)
    message = re.sub(r"(TensorArray|Stack\[s)_\d+", r"\1", message)
    message = re.sub(r"in binary running on \S+\. ", "in binary running here. ", message)
    return re.sub(r"<class '([A-Za-z_0-9.<>]*\.)?([A-Za-z_0-9]+)'>", r"<class '\2'>", message)


def agrees(want, got):
    """Whether what was raised agrees with what is golden: the same class and code, and a message that has the golden one whole."""
    said = plain(got["told"].split("\n\nOriginal stack trace")[0])  # The line of the program may say the same.
    return (want["kind"], want["code"]) == (got["kind"], got["code"]) and want["told"] in said
