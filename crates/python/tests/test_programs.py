"""Programs compared with TensorFlow 1.15's recorded results (`programs/`, `golden/programs.json`).

`programs_open.txt` lists the programs that differ, grouped by reason; a line is removed when its program
agrees.
"""

import ast
import glob
import json
import os
import subprocess
import sys

import pytest

from programs import run

HERE = os.path.dirname(os.path.abspath(__file__))


PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_but_for_those_named(part):
    modules = run.modules()[part::PARTS]
    with open(os.path.join(HERE, "programs_open.txt")) as source:
        known = {line.split("#")[0].strip() for line in source} - {""}
    assert {name.split(".")[0] for name in known} <= set(run.modules())
    known = {name for name in known if name.split(".")[0] in modules}
    command = [sys.executable, "-m", "programs.run"] + modules
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=1200)
    lines = done.stdout.splitlines()
    differ = {line for line, after in zip(lines, lines[1:]) if line and not line.startswith(" ") and after.startswith("  want ")}
    assert lines and "programs:" in lines[-1], done.stderr[-6000:]
    assert not differ - known, "these agreed before: %s" % sorted(differ - known)
    assert not known - differ, "these agree now, and their lines in programs_open.txt can go: %s" % sorted(known - differ)


def test_two_hundred_programs_are_long():
    with open(os.path.join(HERE, "golden", "programs.json")) as source:
        recorded = json.load(source)
    long = []
    for path in glob.glob(os.path.join(HERE, "programs", "*.py")):
        with open(path) as source:
            text = source.read()
        lines = text.splitlines()
        for one in ast.parse(text).body:
            if isinstance(one, ast.FunctionDef) and [a.arg for a in one.args.args] == ["tf"]:
                name = "%s.%s" % (os.path.basename(path)[:-3], one.name)
                own = [line for line in lines[one.lineno - 1 : one.end_lineno] if line.strip()]
                long += [name] if len(own) > 50 and name in recorded else []
    assert len(long) >= 200
