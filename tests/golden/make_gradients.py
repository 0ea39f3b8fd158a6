"""Makes the golden gradients: forward graphs, and the results of TensorFlow 1.15's `tf.gradients`.

    tf1/bin/python tests/golden/make_gradients.py [NAME ...]

writes a folder `gradients/NAME` for each case of `gradient_cases.py`:

- `graph.pb`: the forward graph without contexts; `meta.pb`: the same with TensorFlow's contexts;
- `feeds.npz`;
- `values.npz`: the values of the ys (`y0`, ..) and the gradients by the xs (`d0`, ..), slices as dense
  tensors;
- `case.json`: the names of the ys, the xs, the incoming gradients (`grad_ys`, names of tensors or null) and
  the tensors at which gradients stop. For each gradient, how to compare it, or null where TensorFlow returns
  None.

A case with `plain` false has another meaning without its contexts. `make_graphs.py` tells how to set up
TensorFlow. The output is deterministic.
"""
import collections
import os
import sys
import warnings

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
warnings.filterwarnings('ignore', 'Converting sparse IndexedSlices')

import golden  # noqa: E402
import gradient_cases  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gradients')


def names(values):
    """The names of tensors and variables, as `tf.gradients` sees them."""
    return [None if v is None else v.name if isinstance(v, tf.Tensor) else v._ref().name for v in values]


def write(path, data):
    with open(path, 'wb') as out:
        out.write(data)


def store(name, about, build):
    """Builds, differentiates, runs and writes a case."""
    with tf.Graph().as_default() as graph:
        case = gradient_cases.Case(name)
        asked = build(case)
        ys, xs = asked['ys'], asked['xs']
        grad_ys, stop = asked.get('grad_ys', []), asked.get('stop', [])
        init = [v.initializer for v in tf.global_variables()]
        meta = tf.train.export_meta_graph(graph=graph)
        meta.meta_info_def.ClearField('stripped_op_list')
        meta.meta_info_def.ClearField('tensorflow_version')
        meta.meta_info_def.ClearField('tensorflow_git_version')
        graph_def = graph.as_graph_def()
        grads = tf.gradients(ys, xs, grad_ys=grad_ys or None, stop_gradients=stop or None)
        whole = [None if g is None else tf.convert_to_tensor(g) for g in grads]
        with tf.Session(graph=graph, config=golden.without_rewriting()) as session:
            session.run(init)
            values, slopes = session.run([ys, [w for w in whole if w is not None]], case.feeds)
    slopes = iter(slopes)
    arrays = collections.OrderedDict(('y%d' % i, np.asarray(v)) for i, v in enumerate(values))
    compares = []
    for i, w in enumerate(whole):
        if w is None:
            compares.append(None)
            continue
        arrays['d%d' % i] = value = np.asarray(next(slopes))
        if not np.isfinite(value).all() or value.size and not value.any() and not case.may_vanish:
            raise golden.GoldenError('%s: the gradient by %s is %s' % (name, xs[i].name, value))
        compares.append(collections.OrderedDict(golden.describe(value) + list(golden.how_to_compare(value, {}).items())))
    folder = os.path.join(HERE, name)
    if not os.path.isdir(folder):
        os.makedirs(folder)
    record = collections.OrderedDict([
        ('name', name), ('about', about), ('producer', 'TensorFlow ' + tf.version.VERSION),
        ('feeds', [collections.OrderedDict([('name', k)] + golden.describe(v)) for k, v in case.feeds.items()]),
        ('targets', [op.name for op in init]), ('ys', names(ys)), ('xs', names(xs)), ('grad_ys', names(grad_ys)), ('stop', names(stop)),
        ('values', [collections.OrderedDict(golden.describe(np.asarray(v)) + list(golden.how_to_compare(np.asarray(v), {}).items())) for v in values]),
        ('gradients', compares), ('plain', case.plain)])
    write(os.path.join(folder, 'graph.pb'), graph_def.SerializeToString(deterministic=True))
    write(os.path.join(folder, 'meta.pb'), meta.SerializeToString(deterministic=True))
    golden.write_npz(os.path.join(folder, 'feeds.npz'), case.feeds)
    golden.write_npz(os.path.join(folder, 'values.npz'), arrays)
    write(os.path.join(folder, 'case.json'), golden.to_json(record).encode('utf8'))


def main():
    failed = 0
    chosen = sys.argv[1:] or list(gradient_cases.CASES)
    for name in chosen:
        about, build = gradient_cases.CASES[name]
        try:
            store(name, about, build)
        except Exception as problem:  # One bad case must not hide the others.
            failed += 1
            print('FAILED %s: %s: %s' % (name, type(problem).__name__, problem))
    print('%d made, %d failed' % (len(chosen) - failed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
