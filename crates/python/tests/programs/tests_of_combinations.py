"""Tests that combinations parametrize, a table that is saved, and small names of internal modules."""

import os
import tempfile
import unittest

from programs.tools import WHOLE, caught, inside


def _run(tf, make):
    """Returns the tests of a class that ran, what they saw, what was skipped, and errors."""
    from absl.testing import parameterized

    seen = []
    case = make((tf.test.TestCase, parameterized.TestCase), lambda *what: seen.append(what))
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    skipped = sorted((test._testMethodName, why) for test, why in result.skipped if test._testMethodName != "test_session")
    return sorted(map(str, seen)), skipped, [text.strip().split("\n")[-1] for _, text in result.errors + result.failures]


def products(tf):
    """A test for each combination of two arguments, and their names."""
    combinations = inside("python.framework.test_combinations")

    def make(bases, saw):
        class Cases(*bases):
            @combinations.generate(combinations.times(combinations.combine(a=[1, 2]), combinations.combine(b=["x y", None])))
            def testBoth(self, a, b):
                saw(self._testMethodName, a, b)

            @combinations.generate(combinations.combine(kind=[tf.float32], thing=combinations.NamedObject("named", 5)))
            def testOne(self, kind, thing):
                saw(self._testMethodName, kind.name, repr(thing))

        return Cases

    return _run(tf, make)


def modes_and_versions(tf):
    """Arguments that a test need not have, and those that skip it."""
    combinations = inside("python.framework.test_combinations")
    framework = inside("python.framework.combinations")
    both = (framework.EagerGraphCombination(), framework.TFVersionCombination())

    def make(bases, saw):
        class Cases(*bases):
            @combinations.generate(combinations.combine(mode=["graph"], tf_api_version=[1, 2], a=3), test_combinations=both)
            def testWithout(self, a):
                saw(self._testMethodName, a, len(tf.get_default_graph().get_operations()))

            @combinations.generate(combinations.combine(mode=["graph"], a=3), test_combinations=both)
            def testWith(self, mode, a):
                saw(self._testMethodName, mode, a)

            @combinations.generate(combinations.combine(other=1))
            def testUnknown(self):
                saw(self._testMethodName)

        return Cases

    return _run(tf, make)


def parts_of_combinations(tf):
    """The classes of combinations alone."""
    combinations, framework = inside("python.framework.test_combinations"), inside("python.framework.combinations")
    optional, base = combinations.OptionalParameter("x"), combinations.TestCombination()
    changed = optional.modified_arguments({"x": 1}, [])["x"] is combinations.ParameterModifier.DO_NOT_PASS_TO_THE_TEST
    equal = combinations.ParameterModifier("a") == combinations.ParameterModifier("a"), combinations.ParameterModifier("a") != combinations.ParameterModifier("b")
    versions = [framework.TFVersionCombination().should_execute_combination(k) for k in ({"tf_api_version": 1}, {"tf_api_version": 2}, {})]
    wrong = caught(lambda: framework.EagerGraphCombination().context_managers({"mode": "x"}), WHOLE)
    return changed, equal, optional.modified_arguments({}, ["x"]), base.should_execute_combination({}), base.parameter_modifiers(), base.context_managers({}), versions, wrong


def table_that_is_saved(tf):
    """A `CheckpointedOp`: its contents before and after they are restored."""
    utils = inside("python.training.saver_test_utils")
    table, x = utils.CheckpointedOp(name="o"), tf.Variable(2.0, name="x")
    clear = table.insert("k1", 0.0)
    saver = tf.train.Saver({"x": x, table.saveable.name: table.saveable})
    path = os.path.join(tempfile.mkdtemp(), "a")
    with tf.Session() as sess:
        sess.run([x.initializer, table.insert("k1", 30.0)])
        saved = saver.save(sess, path)
        sess.run(clear)
        before = sess.run(table.values())
        saver.restore(sess, saved)
        after = sess.run([table.keys(), table.values(), table.lookup("k1", 1.0), table.lookup("none", 1.0)])
    kept = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    return table.name, table.saveable.name, table.table_ref.op.type, before, after, tf.train.list_variables(saved), kept == [table.saveable]


def kernels_and_losses(tf):
    """Initializers of kernels, and the ways to reduce losses."""
    init_ops, reductions = inside("python.ops.init_ops"), inside("python.ops.losses.loss_reduction")
    makes = [init_ops.convolutional_delta_orthogonal, init_ops.ConvolutionOrthogonal1D, init_ops.convolutional_orthogonal_2d, init_ops.ConvolutionOrthogonal3D]
    shapes = [make(seed=1)([3] * n + [2, 2]).shape for make, n in zip(makes, (1, 1, 2, 3))]
    mean = inside("python.ops.losses.losses_impl")._safe_mean
    with tf.Session() as sess:
        means = sess.run([mean([1.0, 2.0], tf.constant(4.0)), mean([1.0], tf.constant(0.0))])
    return shapes, means, reductions.ReductionV2.all(), caught(lambda: reductions.ReductionV2.validate("mean"), WHOLE)
