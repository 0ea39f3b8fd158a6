"""Functions of TensorFlow's internal modules that programs import."""

import importlib
import os
import tempfile

from programs.raised import WHOLE, caught
from programs.tools import run, static


def _inner(tf, path, name):
    if tf.__name__ == "tensorflow":
        return getattr(importlib.import_module("tensorflow." + path), name)
    return importlib.import_module("millstream.programs.modules").attribute(path, name)


def known_branches(tf):
    cond = _inner(tf, "python.framework.smart_cond", "smart_cond")
    value = _inner(tf, "python.framework.smart_cond", "smart_constant_value")
    of_layers = _inner(tf, "python.layers.utils", "smart_cond")
    p = tf.placeholder_with_default(True, [])
    made = cond(True, lambda: 1, lambda: 2), cond(0, lambda: 1, lambda: 2), cond(tf.constant(False), lambda: 1, lambda: 2), of_layers(True, lambda: 3, lambda: 4)
    late = cond(p, lambda: tf.constant(5), lambda: tf.constant(6), name="late")
    wrong = [caught(lambda: cond(True, 1, lambda: 2), WHOLE), caught(lambda: value(None), WHOLE)]
    return made, late.name, run(tf, late), value(tf.constant(True)), value(p), value(1), wrong


def arguments_of_layers(tf):
    of = lambda name: _inner(tf, "python.layers.utils", name)  # noqa: E731
    lengths = [
        [of("conv_output_length")(n, k, padding, s, d) for n in (None, 7, 8) for k in (1, 3) for padding in ("same", "valid", "full") for s in (1, 2) for d in (1, 2)],
        [of("conv_input_length")(n, k, padding, s) for n in (None, 7) for k in (1, 3) for padding in ("same", "valid", "full") for s in (1, 2)],
        [of("deconv_output_length")(n, k, padding, s) for n in (None, 7) for k in (1, 3) for padding in ("same", "valid", "full") for s in (1, 2)],
    ]
    formats = [of("convert_data_format")(order, n) for order in ("channels_last", "channels_first") for n in (3, 4, 5)]
    plain = of("normalize_tuple")(2, 3, "k"), of("normalize_tuple")([1, 2], 2, "k"), of("normalize_padding")("SAME"), of("normalize_data_format")("channels_First")
    wrong = [
        caught(lambda: of("normalize_tuple")([1], 2, "k"), WHOLE),
        caught(lambda: of("normalize_tuple")(1.5, 2, "k"), WHOLE),
        caught(lambda: of("normalize_tuple")(["a", 1], 2, "k"), "The `k` argument must be a tuple of 2 integers. Received: "),
        caught(lambda: of("normalize_padding")("odd"), "The `padding` argument must be"),
        caught(lambda: of("normalize_data_format")("odd"), WHOLE),
        caught(lambda: of("convert_data_format")("odd", 4), "odd"),
        caught(lambda: of("convert_data_format")("channels_last", 6), "Input rank not supported"),
    ]
    return lengths, formats, plain, wrong


def long_names_of_layers(tf):
    path = "python.layers.convolutional"
    same = [
        (_inner(tf, path, "Convolution1D") is tf.layers.Conv1D),
        (_inner(tf, path, "Convolution2DTranspose") is tf.layers.Conv2DTranspose),
        (_inner(tf, path, "Deconvolution3D") is tf.layers.Conv3DTranspose),
        (_inner(tf, path, "SeparableConvolution2D") is tf.layers.SeparableConv2D),
        (_inner(tf, "python.layers.core", "FullyConnected") is tf.layers.Dense),
        (_inner(tf, "python.layers.normalization", "BatchNorm") is tf.layers.BatchNormalization),
        (_inner(tf, "python.layers.pooling", "MaxPool2D") is tf.layers.MaxPooling2D),
    ]
    y = _inner(tf, path, "convolution2d")(tf.zeros([1, 4, 4, 2]), 3, 2)
    z = _inner(tf, "python.layers.core", "fully_connected")(tf.zeros([1, 4]), 3)
    w = _inner(tf, "python.layers.pooling", "avg_pool2d")(tf.zeros([1, 4, 4, 2]), 2, 2)
    return same, static(y, z, w), [v.name for v in tf.global_variables()]


def files(tf):
    of = lambda name: _inner(tf, "python.lib.io.file_io", name)  # noqa: E731
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "a.txt")
    of("write_string_to_file")(path, "one\ntwo\n")
    with of("FileIO")(path, "a") as file:
        file.write("three\n")
    text = of("read_file_to_string")(path), of("read_file_to_string")(path, binary_mode=True)
    of("recursive_create_dir")(os.path.join(folder, "b/c"))
    of("copy")(path, os.path.join(folder, "b/d.txt"))
    of("rename")(path, os.path.join(folder, "e.txt"))
    there = [of("file_exists")(os.path.join(folder, name)) for name in ("a.txt", "b/c", "b/d.txt", "e.txt")]
    listed = sorted(of("list_directory")(folder)), [os.path.relpath(f, folder) for f in of("get_matching_files")(folder + "/*.txt")], of("is_directory")(folder + "/b")
    size = of("stat")(folder + "/e.txt").length
    of("delete_file")(folder + "/e.txt")
    of("delete_recursively")(folder + "/b")
    return text, there, listed, size, os.listdir(folder)


def kinds_of_operations(tf):
    of = lambda name: _inner(tf, "python.ops.control_flow_util", name)  # noqa: E731
    p = tf.placeholder(tf.bool, [])
    tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    names = ("IsSwitch", "IsMerge", "IsLoopEnter", "IsLoopExit", "IsCondSwitch", "IsLoopSwitch", "IsLoopMerge")
    graph = tf.get_default_graph()
    return {name: [o.name for o in graph.get_operations() if of(name)(o)] for name in names}


def sizes_and_functions(tf):
    tensor = _inner(tf, "python.framework.tensor_util", "shape_tensor")
    x = tf.constant(2)
    shapes = [tensor([1, 2]), tensor((tf.Dimension(3), 1)), tensor([x, 4]), tensor(tf.TensorShape([5]))]
    name, takes = _inner(tf, "python.util.function_utils", "get_func_name"), _inner(tf, "python.util.function_utils", "has_kwargs")
    with _inner(tf, "python.util.deprecation", "silence")():
        pass
    return static(*shapes), run(tf, shapes), name(run), takes(run), takes(lambda **k: 1), _inner(tf, "python.compat.compat", "forward_compatible")(2019, 1, 1)


def an_optimizers_slot(tf):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    slot = _inner(tf, "python.training.slot_creator", "create_zeros_slot")(v, name="s")
    other = _inner(tf, "python.training.slot_creator", "create_zeros_slot")(v, name="i", dtype=tf.int32)
    return slot.name, other.name, static(slot, other), run(tf, [slot, other])


def shapes_of_ops(tf):
    of = lambda name: _inner(tf, "python.framework.common_shapes", name)  # noqa: E731
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.unstack(x, axis=1)[0].op
    found = [of("unknown_shape")(y), of("unknown_shape")(x.op), of("scalar_shape")(y), of("unchanged_shape")(y)]
    wide = of("broadcast_shape")(x.shape, tf.TensorShape([4, 1]))
    ops = _inner(tf, "python.framework.op_def_registry", "get_registered_ops")()
    is_second = _inner(tf, "python.tf2", "enabled")()
    return [[str(s) for s in shapes] for shapes in found], str(wide), of("rank")(x), of("has_fully_defined_shape")(x), sorted(a.name for a in ops["MatMul"].attr), is_second


def control_flow_as_functions(tf):
    enabled = _inner(tf, "python.ops.control_flow_util", "EnableControlFlowV2")
    _inner(tf, "python.ops.control_flow_v2_toggles", "enable_control_flow_v2")()
    flag = _inner(tf, "python.ops.control_flow_util", "ENABLE_CONTROL_FLOW_V2"), enabled(tf.get_default_graph())
    _inner(tf, "python.ops.control_flow_v2_toggles", "disable_control_flow_v2")()
    seen = []

    class Tests(object):
        def test_flow(self):
            seen.append(("flow", tf.control_flow_v2_enabled(), tf.cond(tf.constant(True), lambda: 1, lambda: 2).op.type))

        def test_once(self):
            seen.append(("once", tf.control_flow_v2_enabled()))

        def helper(self):
            return 1

    of = lambda name: _inner(tf, "python.framework.test_util", name)  # noqa: E731
    Tests.test_once = of("disable_control_flow_v2")("a reason")(Tests.test_once)
    tests = of("with_control_flow_v2")(Tests)()
    names = sorted(name for name in dir(tests) if not name.startswith("_"))
    for name in names:
        getattr(tests, name)()
    of("enable_control_flow_v2")(tests.test_once)()
    return flag, names, seen, _inner(tf, "python.ops.control_flow_util", "ENABLE_CONTROL_FLOW_V2")


def the_saver_of_a_graph(tf):
    saver_or_default = _inner(tf, "python.training.saver", "_get_saver_or_default")
    tf.Variable(1.0, name="v")
    saver = saver_or_default()
    known = tf.get_collection(tf.GraphKeys.SAVERS) == [saver], saver_or_default() is saver
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    return known, caught(saver_or_default, "More than one item in ")
