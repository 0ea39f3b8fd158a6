"""Compares the numbers that two sides recorded."""

import math


def verdict(theirs, ours, tolerance):
    """Returns ("equal" or "differs", a sentence): two recordings are lists of [label, numbers]."""
    worst = 0.0
    for at, (a, b) in enumerate(zip(theirs, ours)):
        if a[0] != b[0]:
            return "differs", "record %d is `%s`, TensorFlow's is `%s`" % (at, b[0], a[0])
        if a[0] == "test":
            if a[1] != b[1]:
                return "differs", "test %s: %s, TensorFlow: %s" % (a[2], b[1], a[1])
            continue
        off = distance(a[1], b[1])
        if not off <= tolerance:
            return "differs", "%s (record %d): %s, TensorFlow: %s" % (a[0], at, short(b[1]), short(a[1]))
        worst = max(worst, off)
    if len(theirs) != len(ours):
        return "differs", "%d records, TensorFlow has %d" % (len(ours), len(theirs))
    tests = [record for record in theirs if record[0] == "test"]
    passed = sum(record[1] == "passes" for record in tests)
    parts = []
    if tests:
        parts.append("%d tests pass of %d" % (passed, len(tests)))
    if len(tests) < len(theirs):
        parts.append("%d fetched values, within %.1g" % (len(theirs) - len(tests), worst))
    if not theirs or tests and not passed:
        return "none", "nothing was recorded, or no test passes under TensorFlow"
    return "equal", ", ".join(parts)


def distance(a, b):
    """The largest difference of two lists, relative to the largest magnitude; infinity if unlike."""
    if len(a) != len(b):
        return math.inf
    scale = max([abs(x) for x in a + b if math.isfinite(x)] or [0.0])
    worst = 0.0
    for x, y in zip(a, b):
        if x == y or (math.isnan(x) and math.isnan(y)):
            continue
        if not (math.isfinite(x) and math.isfinite(y)):
            return math.inf
        worst = max(worst, abs(x - y) / scale)
    return worst


def short(numbers):
    """The first few numbers."""
    return "[%s%s]" % (", ".join("%.7g" % x for x in numbers[:4]), ", .." if len(numbers) > 4 else "")
