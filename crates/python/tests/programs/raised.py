"""Exceptions in a program's result: how they are recorded and compared.

Every exception is recorded by `caught(f, ..)`, described in the README beside `programs/`. Golden files hold
TensorFlow's messages, cut before mentions of nodes, files and addresses (`own`). Our message agrees if it
contains the golden one (`agrees`).
"""

import re

WHOLE = object()


class Raised:
    """An exception compared by its whole message: its class, its code (None outside of runs) and its text."""

    def __init__(self, kind, code, text):
        self.kind, self.code, self.text = kind, code, text


def caught(function, *phrases):
    """Returns class, code (if any) and required part of the message of the exception of `function()`.

    `caught(f, "a", "b")` requires these phrases in the message; `caught(f)` requires none of it. In both
    cases it is an error if nothing is raised. `caught(f, WHOLE)` requires the whole of TensorFlow's message,
    and returns "fine" if nothing is raised.
    """
    whole = phrases == (WHOLE,)
    try:
        value = function()
    except Exception as error:
        kind, code = type(error).__name__, getattr(error, "error_code", None)
        if whole:
            # `str` of a `KeyError` adds quotes.
            text = error.args[0] if isinstance(error, KeyError) and error.args else getattr(error, "message", None) or error
            return Raised(kind, code, str(text))
        # Without the source location: the quoted line of the program contains the phrases, too.
        text = str(error).split("\n\nOriginal stack trace")[0]
        return [kind] + ([] if code is None else [code]) + [part if part in text else "NOT SAID: %s IN: %s" % (part, text) for part in phrases]
    return "fine" if whole else ["nothing was raised", repr(value)]


def mistakes(tf, **situations):
    """Returns `caught(f, WHOLE)` for each situation, built in a new graph; results are fetched."""
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


# Ends of the golden part of a message. The types an op accepts, and the values its shape function used, are
# specific to the op.
ENDS = (
    r"\s*<[\w.]+ object at 0x|\s*\[\[(?=node |\{\{)|\n\nOriginal stack|\n\nErrors may have originated|\{\{node| \(defined at|"
    r"list of allowed values:|; NodeDef|; Op<name|Op<name| and with (?:computed input tensors|input tensors computed)|"
    r"\s*(?:at )?0x[0-9a-f]{6,}| at 0x|(?<![\w:\].])/(?:tmp|work|root|home|usr|opt|var)/|\n  File \"|\w+\.py\b"
)


def own(message):
    """Returns the part of TensorFlow's message that ours must contain: the text without locations."""
    if "root error(s) found." in message:
        message = re.sub(r"^.*\(0\) [A-Z][a-z A-Z]*: ", "", message, count=1, flags=re.S)
    return plain(re.split(ENDS, message)[0].strip())


def plain(message):
    """Removes from a message what differs between libraries or runs.

    These are counters of queues, stacks and arrays, modules of classes, and the name of the machine.
    """
    message = re.sub(r"'_\d+_", "'", message)
    message = re.sub(r"(TensorArray|Stack\[s)_\d+", r"\1", message)
    message = re.sub(r"in binary running on \S+\. ", "in binary running here. ", message)
    return re.sub(r"<class '([A-Za-z_0-9.<>]*\.)?([A-Za-z_0-9]+)'>", r"<class '\2'>", message)


def agrees(want, got):
    """Whether an exception has the class and code of the golden one, and its message."""
    # The quoted line of the program may contain the same text.
    said = plain(got["told"].split("\n\nOriginal stack trace")[0])
    return (want["kind"], want["code"]) == (got["kind"], got["code"]) and want["told"] in said
