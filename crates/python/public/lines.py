"""Tells the lines of a public program at which Millstream counts other nodes than TensorFlow makes.

    python lines.py count NAME FOLDER COUNTS.json [MOST]                    # under TensorFlow
    python -m millstream lines.py count NAME FOLDER COUNTS.json [MOST]      # under Millstream
    python lines.py compare THEIRS.json OURS.json

`FOLDER` is a copy of the checkout, as `run.py` makes one. TensorFlow seeds a random op by the number of nodes
that were made before it, so that a line with another number gives later variables other initial values. The
program ends when it asks for the run after the `MOST`-th, by default the third: what it builds is of interest
here.
"""

import ast
import functools
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def counter():
    """A function of a graph that returns its number of nodes, as TensorFlow counts them."""
    import tensorflow as tf
    try:
        from millstream.framework import node_counts
        return tf.get_default_graph, node_counts.count
    except ImportError:
        return tf.get_default_graph, lambda graph: graph._last_id


def count(name, folder, result, most=3):
    """Runs a program and writes [file, line, nodes made] for each line that ran and made some."""
    default, number = counter()
    made = []
    last = {}

    def here(frame, event, argument):
        # What was counted since the last line of any of the program's files is due to that line.
        graph = default()
        now = (id(graph), number(graph))
        place = last.get("place")
        if place is not None and last["now"][0] == now[0] and last["now"][1] != now[1]:
            made.append([place[0], place[1], now[1] - last["now"][1]])
        last["now"] = now
        last["place"] = (frame.f_code.co_filename, frame.f_lineno)
        return here

    def calls(frame, event, argument):
        path = frame.f_code.co_filename
        if path not in known:
            known[path] = not path.startswith("<") and inside in os.path.abspath(path)
        return here(frame, event, argument) if known[path] else None

    known = {}
    inside = os.path.basename(folder) + os.sep + name + os.sep
    import drive
    end = os._exit

    def finish(status):
        sys.settrace(None)
        rows = []
        for path, line, n in made:
            place = [path.rpartition(inside)[2], statement(path, line)]
            if rows and rows[-1][:2] == place:
                rows[-1][2] += n
            else:
                rows.append(place + [n])
        with open(result, "w") as file:
            json.dump(rows, file)
        end(status)

    def run(session, *arguments, **named):
        runs.append(session)
        return finish(0) if len(runs) > int(most) else run_whole(session, *arguments, **named)

    import tensorflow as tf
    runs, run_whole = [], tf.Session.run
    tf.Session.run = run
    os._exit = finish
    sys.argv = ["drive.py", name, folder, os.devnull]
    sys.settrace(calls)
    drive.main()


@functools.lru_cache(maxsize=None)
def statement(path, line):
    """The first line of the statement that a line is in: versions of Python report other lines of it."""
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    simple = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    return max([node.lineno for node in simple if node.lineno <= line <= getattr(node, "end_lineno", line)] or [line])


def compare(theirs, ours):
    """Prints the lines that made other numbers of nodes, in the order in which they ran."""
    with open(theirs) as a, open(ours) as b:
        theirs, ours = json.load(a), json.load(b)
    import difflib
    places = [[tuple(row[:2]) for row in rows] for rows in (theirs, ours)]
    said = set()
    for kind, a, b, c, d in difflib.SequenceMatcher(None, places[0], places[1], autojunk=False).get_opcodes():
        pairs = list(zip(theirs[a:b], ours[c:d])) if kind == "equal" else []
        pairs += [(row, None) for row in theirs[a:b]] + [(None, row) for row in ours[c:d]] if kind != "equal" else []
        for x, y in pairs:
            row = (x or y)[0], (x or y)[1], x[2] if x else 0, y[2] if y else 0
            if row[2] != row[3] and row not in said:
                said.add(row)
                print("%s:%d: %d nodes, TensorFlow: %d" % (row[0], row[1], row[3], row[2]))


if __name__ == "__main__":
    {"count": count, "compare": compare}[sys.argv[1]](*sys.argv[2:])
