"""`tf.test.TestCase`: its sessions, threads and assertions, and their messages on failure."""

import sys
import unittest

import numpy as np

from programs.raised import WHOLE, caught


def _of_a_case(tf, body):
    """Returns the result of `body(case)` run as a test, and the last lines of a failure."""

    class Case(tf.test.TestCase):
        def runTest(self):
            self.given = body(self)

    case, result = Case("runTest"), unittest.TestResult()
    case.run(result)
    return getattr(case, "given", None), [text.strip().split("\n")[-1][:200] for _, text in result.errors + result.failures]


def devices_of_nodes_made_in_sessions(tf):
    def body(case):
        made = []
        for block in (case.cached_session, case.session, case.test_session):
            for use_gpu in (False, True):
                with block(use_gpu=use_gpu):
                    made.append(tf.constant(1).device)
        return made

    return _of_a_case(tf, body)


def cached_session_asked_for_otherwise(tf):
    def body(case):
        with case.cached_session() as first:
            pass

        def of_a_graph():
            with case.cached_session(graph=tf.Graph()):
                pass

        def with_options():
            with case.cached_session(config=tf.ConfigProto(inter_op_parallelism_threads=2)):
                pass

        def forced():
            with case.cached_session(force_gpu=True):
                pass

        with case.test_session(config=tf.ConfigProto(inter_op_parallelism_threads=2)) as second:
            pass
        return caught(of_a_graph, WHOLE), caught(with_options, WHOLE), caught(forced, WHOLE), first is second

    return _of_a_case(tf, body)


def begun_within_a_graph(tf):
    # The surrounding graph is not affected.
    outside = tf.get_default_graph()

    def body(case):
        return tf.get_default_graph() is outside, tf.get_default_graph().seed, len(tf.get_default_graph().get_operations())

    return _of_a_case(tf, body)


def evaluated_without_a_session(tf):
    def body(case):
        v = tf.Variable(3)
        return case.evaluate(v.initializer), case.evaluate({"a": [v, tf.constant(2.5)]}), tf.get_default_session() is None

    return _of_a_case(tf, body)


def ranges(tf):
    def body(case):
        x = np.array([1.0, 2.0, 3.0])
        case.assertAllInRange(x, 1, 3)
        case.assertAllInRange(x, 0, 4, open_lower_bound=True, open_upper_bound=True)
        return [
            caught(lambda: case.assertAllInRange(x, 0, 2), WHOLE),
            caught(lambda: case.assertAllInRange(x, 1, 3, open_lower_bound=True), WHOLE),
            caught(lambda: case.assertAllInRange([1.0, float("nan")], 0, 2), WHOLE),
            caught(lambda: case.assertAllInRange(np.arange(30).reshape(5, 6), 1, 2, open_upper_bound=True), WHOLE),
            caught(lambda: case.assertAllInSet(x, {1.0}), WHOLE),
        ]

    return _of_a_case(tf, body)


def structures_that_differ(tf):
    def body(case):
        case.assertAllClose({"a": [1, {"c": 2.0}]}, {"a": [1, {"c": 2.0000001}]})
        return [
            str(_text(lambda: case.assertAllClose({"a": [1, {"c": 2}]}, {"a": [1, {"c": 3}]}))).split("\n")[1:6],
            str(_text(lambda: case.assertAllClose([1.0, 2.0], [1.0, 3.0], msg="of pairs"))).split("\n")[1:8],
            str(_text(lambda: case.assertAllEqual([1, 2, 3], [1, 3, 4], "of rows"))).split("\n")[:6],
            caught(lambda: case.assertAllClose({"a": 1}, [1]), WHOLE),
            _text(lambda: case.assertAllClose({"a": 1}, {"b": 1})).split("mismatched")[1],
        ]

    return _of_a_case(tf, body)


def _text(function):
    try:
        function()
    except Exception as error:
        return str(error)
    return "nothing was raised"


def kinds_that_are_refused(tf):
    def body(case):
        x = tf.constant([1.0])
        return [
            caught(lambda: case.assertShapeEqual([1], x), WHOLE),
            caught(lambda: case.assertShapeEqual(np.zeros(1), 3), WHOLE),
            caught(lambda: case.assertNotAllEqual([1], [1]), WHOLE),
            caught(lambda: case.assertNotAllClose([1.0], [1.0]), WHOLE),
            caught(lambda: case.assertStartsWith("abc", "x"), WHOLE),
            caught(lambda: tf.test.assert_equal_graph_def("a", tf.GraphDef()), WHOLE),
            caught(lambda: tf.test.assert_equal_graph_def(tf.GraphDef(), 3), WHOLE),
        ]

    return _of_a_case(tf, body)


def graphs_that_differ(tf):
    def graph(*names):
        with tf.Graph().as_default() as made:
            for name in names:
                tf.no_op(name)
        return made.as_graph_def()

    tf.test.assert_equal_graph_def(graph("a", "b"), graph("b", "a"))
    return _text(lambda: tf.test.assert_equal_graph_def(graph("a"), graph("b")))[:34], _text(lambda: tf.test.assert_equal_graph_def(graph("a", "b"), graph("a")))[:23]


def messages(tf):
    def body(case):
        case.assertProtoEquals("inter_op_parallelism_threads: 3", tf.ConfigProto(inter_op_parallelism_threads=3))
        node = tf.GraphDef(node=[tf.NodeDef(name="a", op="NoOp")])
        other = tf.GraphDef(node=[tf.NodeDef(name="a", op="NoOp")], versions=tf.get_default_graph().graph_def_versions)
        case.assertProtoEqualsVersion("node { name: 'a' op: 'NoOp' }", other)
        return caught(lambda: case.assertProtoEqualsVersion("node { name: 'a' op: 'NoOp' }", node))

    return _of_a_case(tf, body)


def errors_of_operations(tf):
    def body(case):
        with case.cached_session() as sess:
            x = tf.placeholder(tf.float32, name="xx")
            with case.assertRaisesOpError("must feed a value for placeholder tensor 'xx'"):
                sess.run(x)
            with case.assertRaisesOpError("Caused by: xx|node xx"):
                sess.run(x)

            def something_else():
                with case.assertRaisesOpError("x"):
                    raise ValueError("x")

            def nothing():
                with case.assertRaisesOpError("x"):
                    sess.run(tf.constant(1))

            return caught(something_else), caught(nothing, "OpError not raised")

    return _of_a_case(tf, body)


def threads(tf):
    def body(case):
        def fail():
            raise ValueError("bad thing")

        thread = case.checkedThread(fail)
        thread.start()
        first = caught(thread.join, WHOLE)
        case.checkedThread(lambda: None)
        return first

    return _of_a_case(tf, body)


def writes_to_a_stream(tf):
    def body(case):
        with case.cached_session() as sess:
            said_so = tf.Print(tf.constant(1), [tf.constant([1, 2])], "values: ")
            with case.captureWritesToStream(sys.__stderr__) as written:
                sess.run(said_so)
            return "values: [1 2]" in written.contents()

    return _of_a_case(tf, body)


def words_of_absl(tf):
    def body(case):
        case.assertEmpty([])
        case.assertNotEmpty([1])
        case.assertLen([1, 2], 2)
        case.assertBetween(2, 1, 3)
        case.assertEndsWith("abc", "bc")
        case.assertContainsSubset([1], [1, 2])
        case.assertNoCommonElements([1], [2])
        case.assertSameElements([1, 2], [2, 1, 1])
        case.assertContainsInOrder(["a", "b"], "xaxbx")
        case.assertContainsSubsequence([1, 2, 3], [1, 3])
        case.assertContainsExactSubsequence([1, 2, 3], [2, 3])
        case.assertSequenceStartsWith([1], [1, 2])
        case.assertTotallyOrdered([1], [2], [3])
        case.assertSameStructure({"a": [1]}, {"a": [1]})
        with case.assertRaisesWithLiteralMatch(ValueError, "that"):
            raise ValueError("that")
        tries = (
            lambda: case.assertLen([1], 2),
            lambda: case.assertContainsSubset([1, 3], [1]),
            lambda: case.assertNoCommonElements([1], [1]),
            lambda: case.assertSameElements([1], [2]),
            lambda: case.assertContainsInOrder(["b", "a"], "ab"),
            lambda: case.assertContainsSubsequence([1, 2], [2, 1]),
            lambda: case.assertTotallyOrdered([2], [1]),
            lambda: case.assertSameStructure([1], [2]),
            lambda: case.assertEmpty([1]),
        )
        return [type(_error(f)).__name__ for f in tries]

    return _of_a_case(tf, body)


def _error(function):
    try:
        function()
    except Exception as error:
        return error
    return None
