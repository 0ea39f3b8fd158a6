"""The programs in `examples/python` run and print the expected output."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "python"

PRINTED = {
    "bucket_lines": "lengths [1, 4] vowels [1, 2]\nlengths [2, 3] vowels [1, 1]\nlengths [7, 29] vowels [2, 8]\nlengths [9, 9] vowels [3, 2]",
    "counter": "[np.int32(10), np.int32(10)]",
    "look_inside": "where nodes at most\noutside of loops 8 \nloop while/while_context 29 1000\n2.0\n['variable', 'total', 'f32[], 4 bytes']",
    "named_pair": "(np.int32(10), Pair(j=np.int32(32), k=np.int32(64)))",
    "shape_invariants": "(2048, 2)",
    "non_strict": "10000\n(10000,)",
    "untouched_variable": "[np.int32(14), np.int32(14)]",
}


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.py")))
def test_example(name):
    done = subprocess.run([sys.executable, str(EXAMPLES / (name + ".py"))], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Older versions of NumPy print scalars without their type.
    bare = re.sub(r"np\.int32\((\d+)\)", r"\1", PRINTED[name])
    assert done.stdout.strip() in (PRINTED[name], bare)


def test_prints_of_a_loop_go_to_the_standard_error_once_for_each_iteration():
    done = subprocess.run([sys.executable, str(EXAMPLES / "non_strict.py")], capture_output=True, text=True, timeout=120)
    lines = done.stderr.splitlines()
    counted = [line for line in lines if line.startswith("[")]
    assert counted == ["[%d]" % i for i in range(10000)] * 2
    assert sorted(line for line in lines if line.startswith("x:")) == sorted("x:[%d]" % i for i in range(10000))
