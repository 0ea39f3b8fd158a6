"""Makes the golden graphs: builds each case with a real TensorFlow, runs it, and stores the graph, feeds and
values.

The cases are in `cases/`, one function each. Two TensorFlows are needed, each in an environment of its own:

    python3.7 -m venv tf1 && tf1/bin/pip install 'tensorflow==1.15.5' 'protobuf<3.21' 'numpy<1.19'
    python3   -m venv tf2 && tf2/bin/pip install 'tensorflow==2.21'
    tf1/bin/python tests/golden/make_graphs.py            # every case but tf2_*
    tf2/bin/python tests/golden/make_graphs.py            # the tf2_* cases

Arguments name the cases to make; `--list` prints all names. The output is deterministic. `check_ours.py
tests/golden/graphs` then runs every stored folder again, in a fresh process, in either version.
"""
import os
import subprocess
import sys
import traceback

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import tensorflow.compat.v1 as tf  # noqa: E402

IS_TF2 = not tf.version.VERSION.startswith('1.')
tf.logging.set_verbosity(tf.logging.ERROR)
if IS_TF2:
    tf.disable_control_flow_v2()

import golden  # noqa: E402
import cases  # noqa: E402,F401


def make_here(name, folder):
    """Makes one case in this process. Returns 0 on success."""
    try:
        golden.store(name, folder)
        return 0
    except Exception as problem:  # One bad case must not hide the others.
        print('FAILED %s: %s' % (name, problem))
        if '--trace' in sys.argv:
            traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()


def make_apart(name, folder):
    """Makes one case in a process of its own, so that TensorFlow's global counters start at zero. Returns 0
    on success."""
    if IS_TF2:  # TensorFlow starts threads on import, so this process cannot fork.
        command = [sys.executable, os.path.abspath(__file__), '--here', name] + [a for a in sys.argv if a == '--trace']
        return 1 if subprocess.call(command, timeout=120) else 0
    child = os.fork()
    if child:
        return 1 if os.waitpid(child, 0)[1] else 0
    os._exit(make_here(name, folder))


def main():
    """Makes the cases named on the command line, or all cases of this TensorFlow."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'graphs')
    chosen = [n for n in sys.argv[1:] if not n.startswith('-')]
    names = chosen or [n for n, (_, _, _, tf2) in golden.CASES.items() if tf2 == IS_TF2]
    if '--list' in sys.argv:
        for name in golden.CASES:
            print('%-40s %s' % (name, golden.CASES[name][1]))
        return 0
    if '--here' in sys.argv:
        return make_here(names[0], folder)
    failed = sum(make_apart(name, folder) for name in names)
    print('%d made, %d failed' % (len(names) - failed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
