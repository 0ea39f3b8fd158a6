"""Programs written for TensorFlow 1, as they are: `python -m millstream`, `as_tensorflow`, `check`."""

import gzip
import json
import pathlib
import struct
import subprocess
import sys
import textwrap

import pytest

import millstream as tf
from millstream.framework import left_out
from millstream.programs import check, extras, mnist, modules
from millstream.train import moving_averages


def python(*arguments, **options):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def runs(program, folder, *arguments):
    """Runs a program as TensorFlow 1's, and returns what it printed."""
    file = folder / "program.py"
    file.write_text(program)
    done = python("-m", "millstream", file, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def says(statement, folder):
    """Returns the class and the text of the exception that a statement raises in such a program."""
    program = "import tensorflow as tf\ntry:\n    %s\nexcept Exception as e:\n    print(type(e).__name__, e)\n" % statement
    return runs(program, folder).strip()


def test_a_program_has_its_arguments_its_folder_and_its_name(tmp_path):
    (tmp_path / "helper.py").write_text("import tensorflow\nlibrary = tensorflow.__version__\n")
    program = "import sys, helper\nprint(__name__, sys.modules['__main__'].__dict__ is globals(), helper.library, sys.argv[1:])\n"
    assert runs(program, tmp_path, "a", "-b") == "__main__ True 1.15.5 ['a', '-b']\n"
    assert python("-m", "millstream", "-m", "program", "a", cwd=tmp_path).stdout == "__main__ True 1.15.5 ['a']\n"
    done = python("-m", "millstream", tmp_path / "other.py")
    assert done.returncode == 2 and "there is no file" in done.stderr
    assert python("-m", "millstream").returncode == 2 and "usage" in python("-m", "millstream", "--help").stdout
    (tmp_path / "program.py").write_text("import sys; sys.exit(3)")
    assert python("-m", "millstream", tmp_path / "program.py").returncode == 3


IMPORTS = """
import millstream, tensorflow, tensorflow as tf, tensorflow.compat.v1 as tf1
import tensorflow.nn, tensorflow.contrib.rnn as rnn, tensorflow.python.ops.control_flow_ops as flow
import tensorflow.python.framework.ops
from tensorflow.compat.v1 import train
from tensorflow.contrib.framework import arg_scope
from tensorflow.contrib.layers.python.layers import batch_norm, layers, utils
from tensorflow.contrib.learn import ModeKeys
from tensorflow.contrib.learn.python.learn.monitored_session import MonitoredSession
from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.contrib.rnn.python.ops import core_rnn_cell
from tensorflow.contrib.slim.python.slim.data import dataset, tfexample_decoder
from tensorflow.contrib.slim.python.slim.data.dataset import Dataset
from tensorflow.contrib.slim.python.slim.learning import train_step
from tensorflow.core.framework import summary_pb2, types_pb2
from tensorflow.core.protobuf.saver_pb2 import SaverDef
from tensorflow.python.client import device_lib
from tensorflow.python.framework import dtypes, errors_impl, ops, tensor_shape, tensor_util, test_util
from tensorflow.python.layers import base
from tensorflow.python.lib.io import tf_record
from tensorflow.python.ops import array_ops, gen_math_ops, math_ops, nn_ops, rnn as rnn_ops, rnn_cell_impl, variable_scope as vs
from tensorflow.python.ops.rnn_cell import GRUCell
from tensorflow.python.platform import app, flags, gfile, tf_logging as logging
from tensorflow.python.training import basic_session_run_hooks, moving_averages, session_run_hook
from tensorflow.python.util import nest, tf_inspect

assert (tf.__version__, tf1.__version__, tf.constant is millstream.constant) == ("1.15.5", "1.15.5", True)
assert tensorflow.nn is millstream.nn and rnn is millstream.contrib.rnn and train is tf.train and tf1.nn is tf.nn
assert math_ops.reduce_sum is tf.reduce_sum and ops.Tensor is tf.Tensor and vs.get_variable is tf.get_variable
assert tensorflow.python.framework.ops is ops and tf.python.ops.math_ops is math_ops
assert summary_pb2.Summary is tf.Summary and types_pb2.DT_FLOAT == 1 and SaverDef is millstream.protos.SaverDef
assert GRUCell is core_rnn_cell.GRUCell is tf.nn.rnn_cell.GRUCell and base.Layer is tf.layers.Layer
assert (ModeKeys.INFER, tf.contrib.learn.learn_runner.run is learn_runner.run) == ("infer", True)
slim, contrib_layers = tf.contrib.slim, tf.contrib.layers
assert train_step is slim.learning.train_step and Dataset is dataset.Dataset is slim.dataset.Dataset
assert tfexample_decoder.Tensor is slim.tfexample_decoder.Tensor
assert batch_norm is contrib_layers.batch_norm and layers.conv2d is contrib_layers.conv2d and utils.two_element_tuple(1) == (1, 1)
assert [d.device_type for d in device_lib.list_local_devices()] == ["CPU"]
assert tf_inspect.getargspec(lambda a, *b: 0).args == ["a"] and issubclass(test_util.TensorFlowTestCase, tf.test.TestCase)
assert nest.flatten([1, (2, 3)]) == [1, 2, 3] and errors_impl.OutOfRangeError is tf.errors.OutOfRangeError
tf.added_by_program = 1
assert millstream.added_by_program == 1

with tf.Session() as sess:
    x = tf.constant([[1.0, 2.0]])
    print(sess.run(gen_math_ops.mat_mul(x, x, transpose_b=True)).tolist())
    print(sess.run(flow.switch(x, True)[1]).tolist(), sess.run(flow.merge([x, x])).value_index in (0, 1))
    print(rnn_cell_impl._zero_state_tensors((3, tensor_shape.TensorShape([2, 2])), 4, tf.float32)[1].shape)
    sizes = rnn_cell_impl._concat(tf.size(x), tensor_shape.TensorShape([3, 4]))
    print(sess.run(sizes).tolist(), rnn_cell_impl._concat(None, 5, static=True), rnn_ops._maybe_tensor_shape_from_tensor(sizes[1:]))
"""


def test_public_and_internal_modules_are_found(tmp_path):
    assert runs(IMPORTS, tmp_path) == "[[5.0]]\n[[1.0, 2.0]] True\n(4, 2, 2)\n[2, 3, 4] [None, 5] (3, 4)\n"


LINEAR = """
import tensorflow as tf
from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _Linear, _linear

x = tf.constant([[1.0, 2.0]])
map_of_two = _Linear([x, x], 1, True, kernel_initializer=tf.ones_initializer())
with tf.variable_scope("late", partitioner=tf.fixed_size_partitioner(2)):
    y = _linear(x, 2, True, bias_initializer=tf.constant_initializer(3.0), kernel_initializer=tf.ones_initializer())
print([v.op.name for v in tf.global_variables()])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print([sess.run(value).tolist() for value in (map_of_two([x, x]), map_of_two([x, 2 * x]), y)])
try:
    from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _nonsense
except ImportError as error:
    print(error)
"""


def test_linear_maps_of_cells_and_hidden_names_of_contrib(tmp_path):
    names, values, error = runs(LINEAR, tmp_path).splitlines()
    assert names == "['kernel', 'bias', 'late/kernel/part_0', 'late/kernel/part_1', 'late/bias']"
    assert values == "[[[6.0]], [[9.0]], [[6.0, 6.0]]]"
    assert "_nonsense" in error


def test_star_imports_hide_nothing_else(tmp_path):
    program = "from tensorflow.python.ops.math_ops import *\nfrom tensorflow.python.platform.gfile import *\nprint(reduce_sum.__name__, Exists)\n"
    assert runs(program, tmp_path).startswith("reduce_sum <function")


@pytest.mark.parametrize(
    ("statement", "kind", "words"),
    [
        ("tf.mul", "AttributeError", "`tf.mul` left TensorFlow before 1.15: use `tf.multiply`"),
        ("from tensorflow import pack", "ModuleNotFoundError", "use `tf.stack`"),
        ("tf.keras.layers", "AttributeError", "never will be, because Keras is a library of its own: use `tf.layers"),
        ("import tensorflow.keras", "ModuleNotFoundError", "'tensorflow.keras': `tf.keras` is not part of Millstream, and never"),
        ("from tensorflow import keras", "ModuleNotFoundError", "never will be, because"),
        ("from tensorflow.contrib import tensor_forest", "ModuleNotFoundError", "`tf.contrib.tensor_forest` is not part of Millstream yet: build"),
        ("import tensorflow.contrib.tensor_forest as e", "ModuleNotFoundError", "`tf.contrib.tensor_forest` is not part of Millstream yet"),
        ("from tensorflow.python.ops.nn_ops import quantized_conv2d_and_relu", "ModuleNotFoundError", "convolutions and pools are those of `tf.nn.conv2d`"),
        ("from tensorflow.python import debug; debug.LocalCLIDebugWrapperSession(tf.Session())", "NotImplementedError", "use `Session.watch` and `tf.every`"),
        ("from tensorflow.python.ops import nonsense", "ModuleNotFoundError", "`tensorflow.python.ops.nonsense` is not part of Millstream yet"),
        ("import tensorflow.python.ops.array_ops as a; a.nonsense", "AttributeError", "`tensorflow.python.ops.array_ops.nonsense`"),
        ("from tensorflow.contrib.slim.python.slim.nets import vgg", "ModuleNotFoundError", "networks are programs of their own"),
        ("tf.wrap_function", "AttributeError", "never will be, because there is no eager execution"),
        ("tf.framework", "AttributeError", "no attribute 'framework'"),
        ("import tensorflow_probability", "ModuleNotFoundError", "No module named 'tensorflow_probability'"),
    ],
)
def test_what_is_missing_says_why(statement, kind, words, tmp_path):
    told = says(statement, tmp_path)
    assert told.startswith(kind) and words in told
    assert "eager" not in told.replace("there is no eager execution", "") and "tf.function" not in told


def test_within_a_program():
    program = "import millstream\nmillstream.as_tensorflow()\nmillstream.as_tensorflow()\nimport sys, tensorflow as tf\n"
    program += "print(tf.add is millstream.add, sum(type(f).__name__ == 'type' and 'hook' in f.__module__ for f in sys.meta_path))"
    assert python("-c", program).stdout == "True 1\n"
    done = python("-c", "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')\nimport millstream; millstream.as_tensorflow()")
    assert "RuntimeError: `tensorflow` has been imported already" in done.stderr


def test_modules_of_what_is_refused_import():
    """What they hold is refused when it is called, and `check` says so beforehand."""
    for path, name in (("python.eager.backprop", "GradientTape"), ("python.keras.layers.core", "Dense"), ("python.framework.c_api_util", "tf_buffer")):
        assert modules.is_module(path) and check.judged(path + "." + name)[1] == "never"
        with pytest.raises(NotImplementedError, match=name + "` is not part of Millstream, and never will be, because"):
            modules.attribute(path, name)()
    with pytest.raises(AttributeError):
        modules.attribute("python.eager.backprop", "nothing")


def test_tables_name_what_exists():
    for path in modules._TABLE:
        for name in [n for n in modules.names(path) if not n.startswith("_")][:40]:
            modules.attribute(path, name)
    assert all(modules.is_module(path) for path in extras.NAMES)
    for old, new in left_out.RENAMED.items():
        if not old.startswith("python"):
            assert check.judged(old)[1] == "renamed", old
        assert check.judged(new)[1] in ("there", "not yet", "unknown"), new
    for name in left_out.DIFFERENT:
        assert check.judged(name)[1] == "differs", name
    for name in [*left_out.NEVER, *left_out.LATER]:
        assert check.judged(name + ".x")[1] in ("never", "not yet", "differs"), name


def test_averages_move_as_tensorflow_moves_them():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0, name="v")
        plain = moving_averages.assign_moving_average(v, 3.0, 0.75, zero_debias=False)
        sess.run(tf.global_variables_initializer())
        assert sess.run(plain) == 1.5
        unbiased = [moving_averages.assign_moving_average(v, x, 0.75) for x in (3.0, 4.0)]
        assert [x.op.name for x in tf.global_variables()] == ["v", "v/biased", "v/local_step", "v/biased_1", "v/local_step_1"]
        sess.run(tf.global_variables_initializer())
        # The weights of the values are 1/4 and 3/16 of 7/16.
        assert sess.run(unbiased[0]) == pytest.approx(3.0) and sess.run(unbiased[0]) == pytest.approx(3.0)


DIGITS = """
from tensorflow.examples.tutorials.mnist import input_data
import sys, tensorflow as tf

mnist = input_data.read_data_sets(sys.argv[1], one_hot=True, validation_size=2)
print(mnist.train.images.shape, mnist.validation.num_examples, mnist.test.labels.tolist()[0][7])
seen = [mnist.train.next_batch(2) for _ in range(3)]
print(sorted(int(x) for images, _ in seen[:2] for x in images[:, 0] * 255 + 0.5), mnist.train.epochs_completed)
print([[int(row.argmax()) for row in labels] == [int(x * 255 + 0.5) % 10 for x in images[:, 0]] for images, labels in seen])
images, labels = mnist.train.next_batch(3, shuffle=False)
print(images.dtype, images.max() <= 1.0, labels.shape, mnist.train.epochs_completed)
print(input_data.read_data_sets(sys.argv[1], fake_data=True).train.next_batch(1)[1])
"""


def test_tutorials_read_their_digits(tmp_path):
    for what, n in (("train", 6), ("t10k", 3)):
        numbers = [i + (7 if what == "t10k" else 0) for i in range(n)]
        pictures = struct.pack(">4I", 2051, n, 2, 2) + b"".join(bytes([i, 0, 0, 255]) for i in numbers)
        with gzip.open(tmp_path / (what + "-images-idx3-ubyte.gz"), "wb") as out:
            out.write(pictures)
        with gzip.open(tmp_path / (what + "-labels-idx1-ubyte.gz"), "wb") as out:
            out.write(struct.pack(">2I", 2049, n) + bytes(i % 10 for i in numbers))
    lines = runs(DIGITS, tmp_path, tmp_path).splitlines()
    assert lines == ["(4, 4) 2 1.0", "[2, 3, 4, 5] 1", "[True, True, True]", "float32 True (3, 10) 2", "[0]"]
    with gzip.open(tmp_path / "t10k-labels-idx1-ubyte.gz", "wb") as out:
        out.write(struct.pack(">2I", 2051, 0))
    with pytest.raises(ValueError, match="Invalid magic number 2051"):
        mnist.read_data_sets(str(tmp_path), validation_size=0)
    with pytest.raises(ValueError, match="between 0 and 6. Received: 7"):
        mnist.read_data_sets(str(tmp_path), validation_size=7)
    (tmp_path / "train-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(tf.errors.NotFoundError, match="MNIST's files train-labels-idx1-ubyte.gz are not in the folder .* at https://"):
        mnist.read_data_sets(str(tmp_path))
    assert not (tmp_path / "train-labels-idx1-ubyte.gz").exists()


PROGRAM = """
import tensorflow as tf, tensorflow.contrib.tensor_forest as forest
from tensorflow.python.ops import rnn_cell
from tensorflow.python.framework.ops import *
data = tf.contrib.data
nn = tf.nn


def model(x):
    x = tf.mul(x, tf.GraphKeys.LOSSES)
    x = forest.conv2d(nn.relu(x), 3)
    x = data.fully_connected(x)
    tf.load_op_library("x.so")
    return rnn_cell.GRUCell(3), tf.GraphKeys.NONSENSE, tf.train.Saver().anything, tf.app.flags.FLAGS.anything
"""


def test_check_lists_names_without_running(tmp_path):
    (tmp_path / "model.py").write_text(PROGRAM)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "old.py").write_text("print 'Python 2'\n")
    result = check.report([str(tmp_path)])
    kinds = {name: entry["kind"] for name, entry in result["names"].items()}
    there = ["GraphKeys.LOSSES", "app.flags.FLAGS", "contrib.data", "nn", "nn.relu", "python.framework.ops", "python.ops.rnn_cell", "python.ops.rnn_cell.GRUCell", "train.Saver"]
    assert kinds == {
        "GraphKeys.NONSENSE": "unknown",
        "contrib.data.fully_connected": "unknown",
        "contrib.tensor_forest": "not yet",
        "load_op_library": "differs",
        "mul": "renamed",
        **dict.fromkeys(there, "there"),
    }
    assert result["names"]["contrib.tensor_forest"]["places"] == ["%s:%d" % (tmp_path / "model.py", line) for line in (2, 11)]
    assert [pathlib.Path(f).name for f in result["unread"]] == ["old.py"]

    done = python("-m", "millstream", "check", "model.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "tf.mul (model.py:10)\n    `tf.mul` left TensorFlow before 1.15: use `tf.multiply`\n" in done.stdout
    assert "tf.load_op_library (model.py:13)\n    differs: " in done.stdout
    assert done.stdout.splitlines()[-1] == "files: 1, names: 14, there: 9, different: 1, missing: 4"
    as_json = python("-m", "millstream", "check", "--json", "model.py", cwd=tmp_path)
    assert json.loads(as_json.stdout)["names"]["mul"]["kind"] == "renamed"
    (tmp_path / "fine.py").write_text("import tensorflow as tf\ntf.add(1, 2)\n")
    fine = python("-m", "millstream", "check", "fine.py", cwd=tmp_path)
    assert (fine.returncode, fine.stdout) == (0, "files: 1, names: 1, there: 1, different: 0, missing: 0\n")
    assert python("-m", "millstream", "check").returncode == 2


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["check", "--help"], ["check", "-h"], ["check", "--json", "-h"], ["-m", "--help"]])
def test_every_word_tells_its_usage(words):
    done = python("-m", "millstream", *words)
    assert done.stdout.startswith("usage: python -m millstream") and not done.stderr


def test_check_says_which_package_is_not_installed():
    program = "import sys; sys.modules['absl'] = None\nfrom millstream.programs import check\nprint(check.judged('app.flags'))"
    told = python("-c", program).stdout
    assert "'not installed'" in told and "pip install absl-py" in told


def test_a_name_can_be_replaced_for_a_while(tmp_path):
    program = """
        import unittest.mock
        import tensorflow as tf
        import tensorflow.python.ops.math_ops as math_ops
        for name in ("tensorflow.get_variable", "tensorflow.python.ops.math_ops.add"):
            with unittest.mock.patch(name, lambda *_: "another"):
                print(tf.get_variable("v") if "get_variable" in name else math_ops.add(1, 2))
        print(tf.get_variable("v", [2]).shape, math_ops.add(1, 2).shape, hasattr(tf, "no_such_name"))
    """
    assert runs(textwrap.dedent(program), tmp_path) == "another\nanother\n(2,) () False\n"


def test_a_collection_has_messages_of_its_own(tmp_path):
    program = """
        import tensorflow as tf
        from tensorflow.python.framework import ops
        def to_proto(note, export_scope=None):
            return tf.train.SaverDef(filename_tensor_name=ops.strip_name_scope(note, export_scope))
        def from_proto(message, import_scope=None):
            return ops.prepend_name_scope(message.filename_tensor_name, import_scope)
        ops.register_proto_function("notes", tf.train.SaverDef, to_proto, from_proto)
        ops.register_proto_function("wrong", tf.GraphDef, to_proto)
        tf.add_to_collection("notes", "a/b")
        tf.placeholder(tf.float32, name="x")
        meta = tf.train.export_meta_graph()
        print(meta.collection_def["notes"].WhichOneof("kind"))
        with tf.Graph().as_default():
            tf.train.import_meta_graph(meta, import_scope="into")
            print(tf.get_collection("notes"))
        tf.add_to_collection("wrong", "c")
        for function in (lambda: ops.register_proto_function("notes"), lambda: ops.register_proto_function("other", None, 3),
                         tf.train.export_meta_graph):
            try:
                function()
            except (KeyError, TypeError) as error:
                print(type(error).__name__, str(error)[:62])
    """
    # The first four lines are TensorFlow 1.15.5's; there, the last is an assertion without words.
    assert runs(textwrap.dedent(program), tmp_path).splitlines() == [
        "bytes_list",
        "['into/a/b']",
        "KeyError \"Registering two proto functions with name 'notes'! The collec",
        "TypeError to_proto must be callable.",
        "TypeError to_proto of the collection 'wrong' returned a SaverDef, not a ",
    ]


def test_a_condition_that_is_known_chooses_while_building(tmp_path):
    program = """
        import tensorflow as tf
        from tensorflow.python.layers import utils
        asked = tf.placeholder(tf.bool, [])
        chosen = utils.smart_cond(asked, lambda: tf.constant(1), lambda: tf.constant(2))
        print(utils.smart_cond(True, lambda: "yes", lambda: "no"), tf.Session().run(chosen, {asked: False}))
        print(utils.constant_value(True), utils.constant_value(asked))
    """
    assert runs(textwrap.dedent(program), tmp_path) == "yes 2\nTrue None\n"


def test_events_are_written_under_a_prefix(tmp_path):
    """As loggers of reinforcement learning write theirs; and no resources are initialized."""
    program = """
import glob
import tensorflow as tf
from tensorflow.core.util import event_pb2
from tensorflow.python import pywrap_tensorflow
from tensorflow.python.ops import resources
from tensorflow.python.util import compat

writer = pywrap_tensorflow.EventsWriter(compat.as_bytes("logs"))
summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=2.0)])
writer.WriteEvent(event_pb2.Event(wall_time=1.0, step=3, summary=summary))
writer.Flush()
writer.Close()
for event in tf.train.summary_iterator(glob.glob("logs.out.tfevents.*")[0]):
    print(event.step, event.file_version, [value.tag for value in event.summary.value])
print(tf.Session().run(resources.initialize_resources(resources.shared_resources())))
"""
    (tmp_path / "program.py").write_text(program)
    done = python("-m", "millstream", "program.py", cwd=tmp_path)
    assert done.stdout == "0 brain.Event:2 []\n3  ['loss']\nNone\n", done.stderr


def test_check_reads_files_that_begin_with_a_mark(tmp_path):
    (tmp_path / "marked.py").write_text("import tensorflow as tf\ntf.no_such_name\n", encoding="utf-8-sig")
    assert "tf.no_such_name" in python("-m", "millstream", "check", tmp_path).stdout


def test_summaries_of_operations_are_written_at_the_end(tmp_path):
    program = """
        import sys
        import tensorflow as tf
        summary = tf.contrib.summary
        with summary.create_file_writer(sys.argv[1]).as_default(), summary.always_record_summaries():
            loss = summary.scalar("loss", 0.5, step=3)
            with tf.Session() as sess:
                summary.initialize()
                sess.run(loss)
    """
    runs(textwrap.dedent(program), tmp_path, tmp_path / "logs")
    (path,) = (tmp_path / "logs").iterdir()
    assert [event.step for event in tf.train.summary_iterator(str(path))] == [0, 3]


LOGGERS = """
import logging
logging.getLogger("tensorflow").setLevel(logging.INFO)
import tensorflow as tf
class Kept(logging.Handler):
    def emit(self, record):
        kept.append((record.name, record.levelname, record.getMessage()))
kept, logger = [], logging.getLogger("tensorflow")
logger.addHandler(Kept())
tf.logging.info("a %d", 3)
tf.get_logger().warning("direct")
logger.setLevel(logging.ERROR)
tf.logging.warn("hidden")
print(kept, tf.logging.get_verbosity() == logging.ERROR)
"""


def test_the_log_is_the_logger_of_that_name(tmp_path):
    assert runs(LOGGERS, tmp_path) == "[('tensorflow', 'INFO', 'a 3'), ('tensorflow', 'WARNING', 'direct')] True\n"
