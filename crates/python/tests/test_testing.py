"""`tf.test`: its TestCase with tests that pass and tests that must fail."""

import unittest

import numpy as np

import millstream as tf


class Passing(tf.test.TestCase):
    """Assertions that hold, as written in TensorFlow's tests."""

    def test_values(self):
        with self.cached_session() as session:
            x = tf.constant([1.0, 2.0])
            self.assertAllEqual(x, [1.0, 2.0])
            self.assertAllEqual([b"a", b"b"], tf.constant(["a", "b"]))
            self.assertAllEqual([np.nan], [np.nan])
            self.assertAllClose(self.evaluate(x), [1.0 + 1e-7, 2.0])
            self.assertAllClose({"k": [x.eval(), [3.0]]}, {"k": [[1.0, 2.0], [3.0]]})
            self.assertAllCloseAccordingToType(np.float16([1.0]), np.float16([1.0005]))
            self.assertNotAllClose([1.0], [2.0])
            self.assertNotAllEqual([1], [2])
            self.assertShapeEqual(np.zeros([2]), x)
            self.assertNear(1.0, 1.05, 0.1)
            self.assertArrayNear([1.0], [1.05], 0.1)
            self.assertAllInSet([1, 2, 1], [1, 2])
            self.assertIs(session, tf.get_default_session())

    def test_each_begins_anew(self):
        self.assertEqual(len(tf.get_default_graph().get_operations()), 0)
        with self.session() as session:
            first = session.run(tf.random_uniform([2]))
        with tf.Graph().as_default():
            tf.set_random_seed(87654321)
            with self.session() as session:
                self.assertAllEqual(first, session.run(tf.random_uniform([2])))

    def test_errors(self):
        with self.cached_session():
            with self.assertRaisesOpError("assertion failed"):
                tf.Assert(tf.constant(False), ["x"]).run()
            with self.assertRaisesWithPredicateMatch(ValueError, "Shape"):
                raise ValueError("Shapes differ")

    def test_messages_and_devices(self):
        node = tf.constant(1, name="c").op.node_def
        self.assertProtoEquals('name: "c" op: "Const"', tf.NodeDef(name="c", op="Const"))
        self.assertStartsWith(node.name, "c")
        self.assertDeviceEqual("/cpu:0", "/device:CPU:0")

    def test_threads(self):
        out = []
        thread = self.checkedThread(lambda: out.append(1))
        thread.start()
        thread.join()
        self.assertEqual(out, [1])


class Failing(tf.test.TestCase):
    """Assertions that must fail."""

    def runTest(self):
        """Allows instances without a test method."""

    def refuses(self, work):
        with np.testing.assert_raises(AssertionError):
            work()


def test_assertions_fail():
    case = Failing()
    case.setUp()
    for work in (
        lambda: case.assertAllEqual([1], [2]),
        lambda: case.assertAllEqual([1], [[1]]),
        lambda: case.assertAllEqual(["a"], ["b"]),
        lambda: case.assertAllClose([1.0], [1.1]),
        lambda: case.assertAllClose({"a": 1.0}, {"b": 1.0}),
        lambda: case.assertNotAllClose([1.0], [1.0]),
        lambda: case.assertNotAllEqual([1], [1]),
        lambda: case.assertNear(1.0, 2.0, 0.1),
        lambda: case.assertStartsWith("ab", "b"),
        lambda: case.assertDeviceEqual("/cpu:0", "/cpu:1"),
        lambda: case.assertAllInSet([1, 3], [1]),
        lambda: case.assertProtoEquals('name: "d"', tf.NodeDef(name="c")),
    ):
        case.refuses(work)

    def a_quiet_block():
        with case.assertRaisesOpError("x"):
            pass

    case.refuses(a_quiet_block)

    def fails():
        raise ValueError("lost")

    thread = case.checkedThread(fails)
    thread.start()
    case.refuses(thread.join)


def test_gradients_are_compared_with_differences():
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float64, [2, 2])
        y = tf.matmul(x, x)
        by_gradients, by_differences = tf.test.compute_gradient(x, [2, 2], y, [2, 2], x_init_value=[[1.0, 2.0], [3.0, 4.0]])
        np.testing.assert_allclose(by_gradients, by_differences, rtol=1e-6)
        np.testing.assert_allclose(by_gradients[0], [2.0, 2.0, 3.0, 0.0])
        assert tf.test.compute_gradient_error(x, [2, 2], y, [2, 2]) < 1e-6
        wrong = y + tf.stop_gradient(x)
        assert abs(tf.test.compute_gradient_error(x, [2, 2], wrong, [2, 2]) - 1.0) < 1e-6


def test_a_runner_finds_the_tests():
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Passing).run(result)
    # `test_session` is collected by its name, but is not a test.
    assert result.testsRun == 6 and [why for _, why in result.skipped] == ["Not a test."] and result.wasSuccessful()


def test_there_is_no_device_for_graphics():
    assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == "" and not tf.test.is_built_with_cuda()
