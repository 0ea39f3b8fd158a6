"""Runs the programs in this directory with one library, and records or compares their results.

        python -m programs.run --record                      # under TensorFlow 1.15 (Python 3.7): writes
        golden/programs.json
        python -m programs.run --also                        # under TensorFlow 2.x: adds results that differ
        python -m programs.run [--with millstream] [NAME..]  # compares; NAME: `loops`, `loops.counter`

Run it in `crates/python/tests`. A program is a function of a module here that takes `tf`; its result is the
value it returns or the exception it raises. Each runs in a new graph. With `--nodes` the names of its nodes
are compared as well.
"""

import argparse
import collections
import faulthandler
import hashlib
import importlib
import inspect
import json
import math
import os
import random
import sys
import threading
import traceback

import numpy as np

from programs import raised

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden", "programs.json")
SECONDS = 60
NOT_PROGRAMS = ("__init__", "run", "tools", "raised")


def modules():
    """Returns the modules with programs."""
    names = sorted(name[:-3] for name in os.listdir(HERE) if name.endswith(".py"))
    return [name for name in names if name not in NOT_PROGRAMS]


def programs(only=()):
    """Returns the names of programs and the programs: all, or only those given."""
    found = collections.OrderedDict()
    for name in modules():
        if only and not any(o.split(".")[0] == name for o in only):
            continue
        module = importlib.import_module("programs." + name)
        for key, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not key.startswith("_"):
                full = name + "." + key
                is_program = list(inspect.signature(value).parameters) == ["tf"]
                if is_program and (not only or name in only or full in only):
                    found[full] = value
    return found


# Results as JSON. ---------------------------------------------------------------------------------------


def plain(value):
    """Converts a result to JSON. Typed values keep their types, so that only identical results are equal."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, (np.ndarray, np.generic)):
        return array(np.asarray(value))
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return {"float": number(value)}
    if isinstance(value, complex):
        return {"complex": [number(value.real), number(value.imag)]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": type(value).__name__, "fields": [[f, plain(getattr(value, f))] for f in value._fields]}
    if isinstance(value, tuple):
        return {"tuple": [plain(v) for v in value]}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return {"set": sorted(map(str, value))}
    if isinstance(value, dict):
        return {"dict": [[str(k), plain(v)] for k, v in sorted(value.items(), key=lambda item: str(item[0]))]}
    kind = type(value).__name__
    if kind == "DType":
        return {"dtype": value.name}
    if kind == "Raised":
        return {"told": value.text, "kind": value.kind, "code": value.code}
    if kind in ("TensorShape", "Dimension"):
        return {"shape": str(value)}
    raise TypeError("a program's answer cannot hold %r" % (value,))


def array(value):
    """Converts an array to JSON with its dtype and shape."""
    if value.dtype.kind in "OSU":
        items = [v.decode("latin-1") if isinstance(v, bytes) else str(v) for v in value.ravel().tolist()]
        return {"array": "string", "shape": list(value.shape), "values": items}
    if value.dtype.names:
        value = value[value.dtype.names[0]]
    items = value.ravel().tolist()
    if value.dtype.kind == "c":
        items = [part for v in items for part in (number(v.real), number(v.imag))]
    elif value.dtype.kind not in "biu":
        items = [number(float(v)) for v in items]
    return {"array": str(value.dtype), "shape": list(value.shape), "values": items}


def number(value):
    """Converts a number that JSON lacks."""
    return str(value) if math.isnan(value) or math.isinf(value) else value


TOLERANCES = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "complex64": 2e-5}


def worded(answer):
    """Reduces each message in a result to TensorFlow's own words, without locations."""
    if isinstance(answer, dict) and "told" in answer:
        return dict(answer, told=raised.own(answer["told"]))
    if isinstance(answer, dict):
        return {key: worded(value) for key, value in answer.items()}
    return [worded(value) for value in answer] if isinstance(answer, list) else answer


def same(want, got, tolerance=1e-9):
    """Whether two results agree: floats up to rounding, messages if they contain the wanted text."""
    if isinstance(want, dict) and isinstance(got, dict):
        if want.keys() != got.keys():
            return False
        if "told" in want:
            return raised.agrees(want, got)
        near = TOLERANCES.get(want.get("array"), 1e-9)
        return all(same(want[k], got[k], near) for k in want)
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(same(a, b, tolerance) for a, b in zip(want, got))
    if isinstance(want, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        return abs(want - got) <= tolerance * max(1.0, abs(want))
    return type(want) is type(got) and want == got


# Running. -----------------------------------------------------------------------------------------------


def library(name):
    """Returns the module that programs get as `tf`."""
    if name == "millstream":
        import millstream

        return millstream
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import warnings

    warnings.filterwarnings("ignore")
    import tensorflow as tf

    if hasattr(tf, "contrib"):
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
        return tf
    tf = tf.compat.v1
    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


def answer(tf, program):
    """Runs a program: returns `{"answer": .., "nodes": [..]}`, `{"raises": ..}` or `{"hangs": seconds}`."""
    outcome = {}

    def work():
        graph = tf.Graph()
        try:
            with graph.as_default():
                # The program sets no seed of its own.
                random.seed(0)
                np.random.seed(0)
                outcome["answer"] = plain(program(tf))
        except Exception as error:
            outcome["raises"] = [type(error).__name__, str(error)[:300]]
            outcome["trace"] = traceback.format_exc()
        try:
            outcome["nodes"] = ["%s = %s" % (op.name, op.type) for op in graph.get_operations()]
        except Exception as error:
            outcome["nodes"] = [repr(error)]

    thread = threading.Thread(target=work, daemon=True)
    # If nothing in the process goes on, not even the waiting below, what it stands in is printed.
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
    thread.start()
    thread.join(SECONDS)
    faulthandler.cancel_dump_traceback_later()
    return {"hangs": SECONDS} if thread.is_alive() else outcome


def brief(nodes):
    """Returns the nodes as stored in the golden file: long lists as their length and a digest."""
    text = json.dumps(nodes)
    if isinstance(nodes, dict) or len(text) < 5000:
        return nodes
    return {"count": len(nodes), "digest": hashlib.sha256(text.encode()).hexdigest()[:16]}


def load():
    """Loads the golden results."""
    with open(GOLDEN) as source:
        return json.load(source)


def store(golden):
    """Saves the golden results, one program per line for readable diffs."""
    with open(GOLDEN, "w") as out:
        lines = ["%s: %s" % (json.dumps(k), json.dumps(v, sort_keys=True)) for k, v in sorted(golden.items())]
        out.write("{\n" + ",\n".join(lines) + "\n}\n")


def bad(outcome):
    """Returns the reason why a result cannot be recorded, or None."""
    if "answer" not in outcome:
        return outcome.get("trace") or "hangs"
    text = json.dumps(outcome["answer"])
    return text if "NOT SAID" in text or "nothing was raised" in text else None


def record(tf, only):
    """Records the results of TensorFlow 1.15."""
    assert tf.__version__.startswith("1.15"), "golden answers are those of TensorFlow 1.15"
    golden = load() if only and os.path.exists(GOLDEN) else {}
    problems = 0
    for name, program in programs(only).items():
        outcome = answer(tf, program)
        problem = bad(outcome)
        if problem:
            problems += 1
            print("%s:\n%s" % (name, problem[-700:] if "Traceback" in problem else problem[:700]))
            continue
        outcome["nodes"] = brief(outcome["nodes"])
        golden[name] = {"answer": worded(outcome["answer"]), "nodes": outcome["nodes"]}
    known = set(programs()) if not only else set(golden) & set(programs())
    store({name: entry for name, entry in golden.items() if name in known})
    print("recorded %d programs, %d cannot be" % (len(golden), problems))
    return problems


def also(tf, only):
    """Adds results of another TensorFlow that differ; reports mention when ours agrees with them."""
    golden = load()
    differ = 0
    for name, program in programs(only).items():
        if name not in golden:
            continue
        outcome = answer(tf, program)
        outcome = dict(outcome, answer=worded(outcome["answer"])) if "answer" in outcome else outcome
        golden[name].pop("also", None)
        if "answer" not in outcome or not same(golden[name]["answer"], outcome["answer"]):
            differ += 1
            golden[name]["also"] = outcome.get("answer", outcome.get("raises", "hangs"))
    store(golden)
    print("%d programs, %d answer otherwise in %s" % (len(golden), differ, tf.__version__))
    return 0


def compare(tf, only, with_nodes, quiet=False):
    """Compares results; returns the names of programs that differ, with their results."""
    golden = load()
    wrong, other_nodes = collections.OrderedDict(), []
    for name, program in programs(only).items():
        entry = golden.get(name)
        if entry is None:
            wrong[name] = "no golden answer: record it"
            continue
        outcome = answer(tf, program)
        if "answer" not in outcome or not same(entry["answer"], outcome["answer"]):
            got = outcome.get("answer", outcome.get("raises", "hangs"))
            note = " (as TensorFlow 2 does)" if "also" in entry and same(entry["also"], got) else ""
            wrong[name] = "want %s\n  got  %s%s" % (short(entry["answer"]), short(got), note)
        elif brief(outcome["nodes"]) != brief(entry["nodes"]):
            other_nodes.append(name)
            if with_nodes:
                wrong[name] = "want nodes %s\n  got nodes  %s" % (entry["nodes"], outcome["nodes"])
    if not quiet:
        for name, why in wrong.items():
            print("%s\n  %s" % (name, why))
        total = len(programs(only))
        print("%d programs: %d agree, %d differ; %d that agree have other nodes" % (total, total - len(wrong), len(wrong), len(other_nodes)))
    return wrong


def short(value):
    """Shortens a result for display."""
    text = json.dumps(value)
    return text if len(text) < 600 else text[:600] + ".."


def main():
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="modules or programs; all if none")
    parser.add_argument("--with", dest="library", default="millstream", help="millstream or tensorflow")
    parser.add_argument("--record", action="store_true", help="write golden answers, under TensorFlow 1.15")
    parser.add_argument("--also", action="store_true", help="add other answers, under TensorFlow 2")
    parser.add_argument("--nodes", action="store_true", help="the nodes must be the same, too")
    options = parser.parse_args()
    tf = library("tensorflow" if options.record or options.also else options.library)
    if options.record:
        failed = record(tf, options.names)
    elif options.also:
        failed = also(tf, options.names)
    else:
        failed = len(compare(tf, options.names, options.nodes))
    sys.stdout.flush()
    # Not `sys.exit`: threads of hanging programs would keep the process alive.
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
