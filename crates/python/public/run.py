#!/usr/bin/env python3
"""Runs public TensorFlow 1 programs under Millstream and under TensorFlow 1.15.5, and compares their numbers.

    python crates/python/public/run.py --checkouts DIR --tensorflow PYTHON [--millstream PYTHON] [NAMES]

`DIR` holds a checkout of each program, at its commit; `--list` prints the commands that make it. Each side
runs in a process of its own, in a fresh copy of the checkout, with equal seeds and equal data. Every number
that the program fetches is compared. The exit status is 1 if a program differs or fails, 0 otherwise.
"""

import argparse
import glob
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(HERE), "py")
sys.path.insert(0, HERE)

import compare  # noqa: E402


def main():
    """Runs the programs named on the command line, or all of them, and returns the exit status."""
    options = arguments()
    names = options.names or known()
    unknown = sorted(set(names) - set(known()))
    if unknown:
        sys.exit("no program is named %s; there are %s" % (", ".join(unknown), ", ".join(known())))
    if options.list:
        for name in names:
            print(cure(name, load(name), options.checkouts or "DIR"))
        return 0
    if not options.checkouts or not options.tensorflow:
        sys.exit("--checkouts and --tensorflow are needed, except with --list")
    rows = []
    for name in names:
        rows.append((name,) + outcome(name, options))
        print("%-28s %-5s %s" % rows[-1], flush=True)
    equal = sum(verdict == "equal" for _, verdict, _ in rows)
    print("%d of %d programs give the numbers of TensorFlow 1.15.5" % (equal, len(rows)))
    return 0 if equal == len(rows) else 1


def arguments():
    """The parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", metavar="DIR", help="the folder that holds the checkouts")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="a Python 3.7 with TensorFlow 1.15.5")
    parser.add_argument("--millstream", metavar="PYTHON", default=sys.executable, help="a Python for Millstream")
    parser.add_argument("--keep", metavar="DIR", help="where logs and numbers stay; else a temporary folder")
    parser.add_argument("--reuse", action="store_true", help="use TensorFlow's numbers that --keep still has")
    parser.add_argument("--shake", type=float, metavar="SIZE", help="compare TensorFlow with itself after a change of all "
                        "initial values by SIZE, such as 1e-7: how far rounding alone takes the numbers")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds that one side may take")
    parser.add_argument("--list", action="store_true", help="print how to make the checkouts, and run nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the programs to run; all without")
    return parser.parse_args()


def known():
    """The names of the programs, each of which has a file in `programs`."""
    files = glob.glob(os.path.join(HERE, "programs", "[a-z]*.py"))
    return sorted(os.path.basename(file)[:-3] for file in files)


def load(name):
    """The module of a program."""
    return importlib.import_module("programs." + name)


def folder_of(program):
    """The name of a program's folder: that of its repository."""
    return program.URL.rsplit("/", 1)[1]


def cure(name, program, folder):
    """The command that makes a program's checkout, and those of the programs it imports."""
    lines = [cure(other, load(other), folder) for other in getattr(program, "USES", ())]
    path = os.path.join(folder, folder_of(program))
    lines.append("git clone %s %s && git -C %s checkout -q %s" % (program.URL, path, path, program.COMMIT))
    return "\n".join(lines)


def outcome(name, options):
    """Runs one program on both sides; returns (verdict, what there is to say)."""
    program = load(name)
    for needed in (name,) + tuple(getattr(program, "USES", ())):
        wrong = not_there(needed, options.checkouts)
        if wrong:
            return "none", wrong
    home = os.path.join(os.path.abspath(options.keep or tempfile.mkdtemp(prefix="public-")), name)
    theirs, ours = os.path.join(home, "tensorflow"), os.path.join(home, "shaken" if options.shake else "millstream")
    try:
        if not (options.reuse and os.path.exists(theirs + ".json")):
            error = side(name, program, options, theirs, [options.tensorflow])
            if error:
                return "none", "TensorFlow: " + error
        python = [options.tensorflow] if options.shake else [options.millstream, "-m", "millstream"]
        error = side(name, program, options, ours, python, options.shake)
        if error:
            return "fails", error
        with open(theirs + ".json") as a, open(ours + ".json") as b:
            return compare.verdict(json.load(a), json.load(b), getattr(program, "TOLERANCE", 1e-5))
    finally:
        if not options.keep:
            shutil.rmtree(os.path.dirname(home), ignore_errors=True)


def not_there(name, folder):
    """What is wrong with a program's checkout, or None."""
    program = load(name)
    path = os.path.join(folder, folder_of(program))
    told = subprocess.run(["git", "-C", path, "rev-parse", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    commit = told.stdout.decode().strip()
    if told.returncode or commit != program.COMMIT:
        found = "is at %s" % commit[:12] if commit else "is not a checkout"
        return "%s %s; make it with `%s`" % (path, found, cure(name, program, folder))
    return None


def side(name, program, options, home, python, shake=None):
    """Runs a program on one side, with its numbers in `home`.json; returns what failed, or None."""
    shutil.rmtree(home, ignore_errors=True)
    if os.path.exists(home + ".json"):
        os.remove(home + ".json")
    for needed in (name,) + tuple(getattr(program, "USES", ())):
        source = os.path.join(options.checkouts, folder_of(load(needed)))
        shutil.copytree(source, os.path.join(home, needed), ignore=shutil.ignore_patterns(".git"))
    environment = dict(os.environ, PYTHONHASHSEED="0", TF_CPP_MIN_LOG_LEVEL="2", PYTHONPATH=PACKAGE)
    environment["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"  # for messages generated long ago
    environment.update(OMP_NUM_THREADS="1", MPLBACKEND="agg", PYTHONWARNINGS="ignore")
    began = time.monotonic()
    with open(home + ".log", "wb") as log:
        command = python + [os.path.join(HERE, "drive.py"), name, home, home + ".json"] + ([str(shake)] if shake else [])
        try:
            status = subprocess.call(
                command, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return "took longer than %g seconds" % options.timeout
    with open(home + ".log", "ab") as log:
        log.write(b"\n%.1f seconds\n" % (time.monotonic() - began))
    if status:
        with open(home + ".log", errors="replace") as log:
            said = [line.strip() for line in log if line.strip()]
        return "exit status %d: %s" % (status, said[-2][:300] if len(said) > 1 else "")
    return None


if __name__ == "__main__":
    sys.exit(main())
