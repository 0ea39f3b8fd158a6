"""The programs in `examples/python` run and print the expected output."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "python"

# What the examples print; "..." matches anything.
PRINTED = {
    "adaptive_rnn": "step 0: loss 0.7..., ... % right, 2.0 thoughts an input\nstep 200: ...\nstep 600: loss 0.0..., 100 % right, ... thoughts an input",
    "char_lm": "step 0: 4... nats a character\nstep 50: ...\nstep 100: ...\nstep 150: 1... nats a character\n| ...\n| ...\n| ...",
    "char_lm_distributed": "step 20: ... nats a character\nstep 40: ...\nstep 60: 2... nats a character\n1 ranks, the same weights: True",
    "distributed_input": "every line was seen once: True\nevery letter was seen once: True",
    "solver": "eccentricity 0.1000, loss 1.3e-01, Newton steps 4\neccentricity 0.6000, loss ...e-..., Newton steps 6",
    "train_with_tensorboard": "loss 0... at first, 0.0... after 400 steps\nlast checkpoint: model.ckpt-400\nevents: 1 file",
    "bucket_lines": "lengths [1, 4] vowels [1, 2]\nlengths [2, 3] vowels [1, 1]\nlengths [7, 29] vowels [2, 8]\nlengths [9, 9] vowels [3, 2]",
    "counter": "[np.int32(10), np.int32(10)]",
    "look_inside": "where nodes at most\noutside of loops 8 \nloop while/while_context 29 1000\n2.0\n['variable', 'total', 'f32[], 4 bytes']",
    "named_pair": "(np.int32(10), Pair(j=np.int32(32), k=np.int32(64)))",
    "shape_invariants": "(2048, 2)",
    "non_strict": "10000\n(10000,)",
    "jax_equilibrium": "both ways learn the same: True\njax.lax.while_loop: Reverse-mode differentiation does not work for lax",
    "torch_neural_ode": "the loss fell below a twentieth: True\nboth integrators agree: True",
    "torch_newton": "found a = 1.000, loss below 1e-8: True",
    "untouched_variable": "[np.int32(14), np.int32(14)]",
}


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.py")))
def test_example(name):
    if name.startswith(("torch_", "jax_")):
        pytest.importorskip(name.split("_")[0])
    if name == "distributed_input" and not (shutil.which("valkey-server") or shutil.which("redis-server")):
        pytest.skip("there is neither valkey-server nor redis-server")
    done = subprocess.run([sys.executable, str(EXAMPLES / (name + ".py"))], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Older versions of NumPy print scalars without their type.
    bare = re.sub(r"np\.int32\((\d+)\)", r"\1", PRINTED[name])
    patterns = [re.escape(text).replace(r"\.\.\.", ".*") for text in (PRINTED[name], bare)]
    assert any(re.fullmatch(pattern, done.stdout.strip(), re.S) for pattern in patterns), done.stdout


def test_prints_of_a_loop_go_to_the_standard_error_once_for_each_iteration():
    done = subprocess.run([sys.executable, str(EXAMPLES / "non_strict.py")], capture_output=True, text=True, timeout=120)
    lines = done.stderr.splitlines()
    counted = [line for line in lines if line.startswith("[")]
    assert counted == ["[%d]" % i for i in range(10000)] * 2
    assert sorted(line for line in lines if line.startswith("x:")) == sorted("x:[%d]" % i for i in range(10000))
