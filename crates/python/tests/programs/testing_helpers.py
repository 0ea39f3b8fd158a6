"""Functions of `python.framework.test_util`."""

import collections
import importlib
import unittest

from programs.raised import WHOLE, caught
from programs.tools import mistakes, run


def _of(tf):
    """Returns `tensorflow.python.framework.test_util` of the library under test."""
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow.python.framework.test_util")
    modules = importlib.import_module("millstream.programs.modules")

    class Module:
        def __getattr__(self, name):
            return modules.attribute("python.framework.test_util", name)

    return Module()


def layouts(tf):
    of = _of(tf)
    shapes = of.NCHWToNHWC([1, 2, 3, 4]), of.NHWCToNCHW([1, 2, 3, 4]), of.NCHWToNHWC([1, 2, 3, 4, 5]), of.NHWCToNCHW_VECT_C([1, 2, 3, 8]), of.NCHW_VECT_CToNHWC([1, 2, 3, 4, 4])
    x = tf.reshape(tf.range(48), [1, 2, 3, 8])
    made = [of.NHWCToNCHW(x), of.NCHWToNHWC(x), of.NHWCToNCHW_VECT_C(x), of.NCHW_VECT_CToNHWC(of.NHWCToNCHW_VECT_C(x))]
    wrong = mistakes(tf, depth=lambda: of.NHWCToNCHW_VECT_C([1, 2, 3, 7]), four=lambda: of.NCHW_VECT_CToNHWC([1, 2, 3]))
    return shapes, [t.shape.as_list() for t in made], run(tf, made), wrong


def what_there_is(tf):
    of = _of(tf)
    return [bool(getattr(of, n)()) for n in ("GpuSupportsHalfMatMulAndConv", "IsBuiltWithROCm", "IsGoogleCudaEnabled", "IsMklEnabled", "is_xla_enabled")]


def combinations(tf):
    return [collections.OrderedDict(one) for one in _of(tf).generate_combinations_with_testcase_name(mode=["a", "b"], x=[1, 2])]


def operations_of_a_graph(tf):
    of = _of(tf)
    graph = tf.get_default_graph()
    tf.add(tf.constant(1, name="a"), 2, name="b")
    graph_def = graph.as_graph_def()
    return (
        sorted(of.assert_ops_in_graph({"a": "Const"}, graph)), of.get_node_def_from_graph("a", graph_def).op, of.get_node_def_from_graph("none", graph_def),
        caught(lambda: of.assert_ops_in_graph({"a": "Add"}, graph), WHOLE), caught(lambda: of.assert_ops_in_graph({"c": "Add"}, graph), "Not all expected ops are present."),
        caught(lambda: of.assert_equal_graph_def_v2(graph_def, tf.Graph().as_graph_def())), of.assert_equal_graph_def_v1(graph_def, graph_def),
    )  # fmt: skip


def devices(tf):
    of = _of(tf)
    found = []
    for scope in (of.use_gpu, of.force_cpu, of.force_gpu):
        with scope():
            found.append(tf.constant(1).device)
    return found


def decorators(tf):
    of = _of(tf)
    ran = []

    class Tests(of.TensorFlowTestCase):
        @of.run_v2_only
        def testSecond(self):  # noqa: N802
            ran.append("second")

        @of.run_gpu_only
        def testGpu(self):  # noqa: N802
            ran.append("gpu")

        @of.run_cuda_only
        def testCuda(self):  # noqa: N802
            ran.append("cuda")

        @of.skip_if(True)
        def testSkipped(self):  # noqa: N802
            ran.append("skipped")

        @of.skip_if(lambda: False)
        def testNotSkipped(self):  # noqa: N802
            ran.append("not skipped")

        @of.disable_xla("why")
        def testXla(self):  # noqa: N802
            ran.append("xla")

        @of.run_deprecated_v1
        def testFirst(self):  # noqa: N802
            ran.append("first")

        @of.deprecated_graph_mode_only
        def testGraph(self):  # noqa: N802
            ran.append(tf.executing_eagerly())

    outcome = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(outcome)
    return sorted(map(str, ran)), sorted(words for test, words in outcome.skipped if words != "Not a test."), len(outcome.errors + outcome.failures)
