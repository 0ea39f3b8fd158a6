"""Makes the golden models: MetaGraphDefs with TensorFlow's own contexts, and SavedModels.

    tf1/bin/python tests/golden/make_models.py     # models/meta_*, models/saved_1_*
    tf2/bin/python tests/golden/make_models.py     # models/saved_2_*

`make_graphs.py` tells how to set up the two TensorFlows. SavedModels are kept without their time stamps and
fingerprints.
"""
import os
import shutil
import sys
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import tensorflow as tf2  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

IS_TF2 = not tf.version.VERSION.startswith('1.')
tf.logging.set_verbosity(tf.logging.ERROR)

import golden  # noqa: E402
import cases  # noqa: E402,F401

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'models')

# Golden graphs that are also kept with their contexts.
METAS = ['algo_collatz', 'case_exclusive', 'cond_chain', 'cond_control_dependency', 'cond_deep', 'cond_gradient', 'cond_in_nested_loop',
         'cond_nested_10', 'cond_pred_twice', 'cond_same_tensor', 'loop_captures', 'loop_gradient_captured', 'loop_in_both_branches_0',
         'loop_in_cond_in_loop', 'loop_max_nested', 'loop_max_tensor', 'loop_swap_variables', 'switch_case_in_loop']


def write(path, data):
    """Writes a file and makes its folders."""
    path = os.path.join(MODELS, path)
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    with open(path, 'wb') as out:
        out.write(data)


def keep(folder, name, with_variables=True):
    """Copies a SavedModel without the parts that change from run to run."""
    for root, _, files in os.walk(folder):
        for file in files:
            inside = os.path.relpath(os.path.join(root, file), folder)
            if file == 'fingerprint.pb' or inside.startswith('variables') and not with_variables:
                continue
            with open(os.path.join(root, file), 'rb') as data:
                write(os.path.join(name, inside), data.read())


def export_metas():
    """Writes the MetaGraphDefs, whose collections hold the contexts of loops and branches."""
    for name in METAS:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1234)
            golden.CASES[name][2](golden.Case())
            meta = tf.train.export_meta_graph(graph=graph)
        meta.meta_info_def.ClearField('stripped_op_list')
        write('meta_%s.pb' % name, meta.SerializeToString(deterministic=True))
        if name == 'algo_collatz':
            write('meta_%s.pbtxt' % name, str(meta).encode())


def saved_1(name, build):
    """A SavedModel of TensorFlow 1."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        inputs, outputs = build()
        session.run(tf.global_variables_initializer())
        folder = os.path.join(tempfile.mkdtemp(), 'model')
        tf.saved_model.simple_save(session, folder, inputs, outputs)
    keep(folder, name)
    shutil.rmtree(os.path.dirname(folder))


def loop(x):
    """Doubles a value until it exceeds 100."""
    return tf.while_loop(lambda v: v < 100., lambda v: v * 2., [x])


def plain():
    """A model without variables."""
    x = tf.placeholder(tf.float32, [], name='x')
    return {'x': x}, {'y': tf.identity(loop(x), name='y')}


def variables():
    """A model with a variable that the loop reads."""
    x = tf.placeholder(tf.float32, [], name='x')
    w = tf.get_variable('w', initializer=3., use_resource=False)
    y = tf.while_loop(lambda v: v < 100., lambda v: v * w, [x])
    return {'x': x}, {'y': tf.identity(y, name='y')}


class Doubler(tf2.Module):
    """A module whose function contains a While."""

    @tf2.function(input_signature=[tf2.TensorSpec([], tf2.float32)])
    def double(self, x):
        """Doubles a value until it exceeds 100."""
        return {'y': tf2.while_loop(lambda v: v < 100., lambda v: [v * 2.], [x])[0]}


class Scaler(tf2.Module):
    """A module with a variable."""

    def __init__(self):
        super().__init__()
        self.w = tf2.Variable(3., name='w')

    @tf2.function(input_signature=[tf2.TensorSpec([], tf2.float32)])
    def scale(self, x):
        """Multiplies by the variable."""
        return {'y': x * self.w}


def saved_2(name, module, function):
    """A SavedModel of TensorFlow 2."""
    folder = os.path.join(tempfile.mkdtemp(), 'model')
    tf2.saved_model.save(module, folder, signatures=function)
    keep(folder, name)
    shutil.rmtree(os.path.dirname(folder))


def main():
    """Makes the models of this version of TensorFlow."""
    if IS_TF2:
        doubler, scaler = Doubler(), Scaler()
        saved_2('saved_2_loop', doubler, doubler.double)
        saved_2('saved_2_variables', scaler, scaler.scale)
    else:
        export_metas()
        saved_1('saved_1_loop', plain)
        saved_1('saved_1_variables', variables)


if __name__ == '__main__':
    sys.exit(main())
