"""Runs stored graphs in a real TensorFlow and compares with the stored values.

Meant for graphs that Millstream wrote: given a directory of folders in the form of `tests/golden/graphs`
(`graph.pb`, `feeds.npz`, `fetches.npz`, `case.json`), imports each graph, runs its targets and fetches, and
reports whether TensorFlow agrees with the stored values or error code. It also runs the golden graphs, to
check them in the other version of TensorFlow.

    python tests/golden/check_ours.py DIRECTORY [NAME ...]      # TensorFlow 1.15 or 2.x

A graph that agrees only without TensorFlow's graph rewriting counts as agreeing, and is marked: the rewriting
is at fault. Prints one line per folder and `N agree, M disagree`; exit status 1 when any disagrees.
"""
import json
import os
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
if not tf.version.VERSION.startswith('1.'):
    tf.disable_v2_behavior()

import golden  # noqa: E402


def check(folder, config=None):
    """None if TensorFlow agrees with the folder, else the difference."""
    with open(os.path.join(folder, 'case.json')) as text:
        case = json.load(text)
    with open(os.path.join(folder, 'graph.pb'), 'rb') as data:
        graph_bytes = data.read()
    feeds_path = os.path.join(folder, 'feeds.npz')
    feeds = dict(np.load(feeds_path)) if os.path.exists(feeds_path) else {}
    names = [f['name'] for f in case['fetches']]
    wanted = case.get('error')
    try:
        values = golden.execute(graph_bytes, feeds, case['targets'], names, config)
    except tf.errors.OpError as error:
        if wanted and golden.code_of(error) == wanted['code']:
            return None
        return '%s: %s' % (golden.code_of(error), golden.short_message(error))
    except Exception as error:  # an import that TensorFlow refuses
        return 'import: %s: %s' % (type(error).__name__, str(error).splitlines()[0])
    if wanted:
        return 'ran to the end, but %s was expected' % wanted['code']
    want = np.load(os.path.join(folder, 'fetches.npz'))
    for fetch, value in zip(case['fetches'], values):
        expected = want[fetch['name']]
        if 'dtype' in fetch and golden.dtype_name(value) != fetch['dtype']:
            return '%s is %s, not %s' % (fetch['name'], golden.dtype_name(value), fetch['dtype'])
        if not golden.agrees(value, expected, fetch):
            return '%s is %s, not %s' % (fetch['name'], brief(value), brief(expected))
    return None


def brief(value):
    """A short print of an array."""
    text = '%s%s %s' % (golden.dtype_name(value), list(value.shape), np.array2string(value.ravel()[:6]))
    return text.replace('\n', ' ')


def main():
    """Checks every folder in the given directory, or the named ones."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    root = sys.argv[1]
    names = sys.argv[2:] or sorted(n for n in os.listdir(root) if os.path.exists(os.path.join(root, n, 'case.json')))
    agree = disagree = 0
    for name in names:
        problem = check(os.path.join(root, name))
        rewritten = problem
        if problem is not None:
            problem = check(os.path.join(root, name), golden.without_rewriting())
        if problem is None:
            agree += 1
            note = ' (without rewriting; with it: %s)' % ' '.join(rewritten.split()) if rewritten else ''
            print('agrees    %s%s' % (name, note))
        else:
            disagree += 1
            print('DISAGREES %s: %s' % (name, problem))
    print('%d agree, %d disagree' % (agree, disagree))
    return 1 if disagree else 0


if __name__ == '__main__':
    sys.exit(main())
