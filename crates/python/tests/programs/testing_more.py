"""Stubs, commands and settings of `tf.test`, and the fields that classes of messages show."""

import os

from programs.raised import WHOLE, caught


class _Base(object):
    word = "base"

    @staticmethod
    def made():
        return 1

    def told(self):
        return "told"


class _Derived(_Base):
    pass


def stubs(tf):
    found = []
    stubs = tf.test.StubOutForTesting()
    stubs.SmartSet(_Derived, "word", "other")
    found.append((_Derived.word, _Base.word))
    stubs.SmartUnsetAll()
    found.append((_Derived.word, _Base.word))
    stubs.Set(_Derived, "made", lambda: 3)
    found.append((_Derived.made(), _Base.made()))
    stubs.UnsetAll()
    found.append((_Derived.made(), _Base().made()))
    stubs.Set(_Base, "made", staticmethod(lambda: 4))
    stubs.Set(_Base, "made", staticmethod(lambda: 5))
    found.append(_Base().made())
    stubs.CleanUp()
    found.append((_Base.made(), _Base().made()))
    one = _Base()
    one.word = "own"
    stubs.SmartSet(one, "word", "stub")
    found.append((one.word, _Base.word))
    stubs.CleanUp()
    found.append((one.word, _Base.word))
    with tf.test.StubOutForTesting() as inner:
        inner.SmartSet(os, "getcwd", lambda: "/here")
        inner.Set(os.path, "exists", lambda path: "asked")
        found.append((os.getcwd(), os.path.exists("/")))
    found.append((os.getcwd() == "/here", os.path.exists("/")))
    wrong = [caught(lambda: stubs.SmartSet(_Base, "no", 1), WHOLE), caught(lambda: stubs.Set(_Base, "no", 1), "type object '_Base' has no attribute 'no'")]
    return found, wrong


def settings_of_tests(tf):
    os.environ["TEST_SRCDIR"] = "/tmp/x"
    path = tf.test.test_src_dir_path("a/b")
    del os.environ["TEST_SRCDIR"]
    missing = type(caught(lambda: tf.test.test_src_dir_path("a"), "")).__name__
    config = tf.test.benchmark_config()
    (cpu,) = tf.config.experimental.list_physical_devices("CPU")
    parts = tf.config.experimental.get_virtual_device_configuration(cpu)
    with tf.Session(config=config) as sess:
        return path, missing, str(config), parts, sess.run(tf.constant(2) + 1)


def commands_and_texts(tf):
    class Tests(tf.test.TestCase):
        def runTest(self):  # noqa: N802
            pass

    case, found = Tests(), []

    def tried(function, *args):
        try:
            function(*args)
            found.append("passes")
        except Exception as error:
            found.append(type(error).__name__)

    tried(case.assertJsonEqual, '{"a": [1, 2], "b": null}', '{"b":null, "a":[1,2]}')
    tried(case.assertJsonEqual, "[1]", "[2]")
    tried(case.assertJsonEqual, "[1", "[1]")
    tried(case.assertUrlEqual, "http://a/b;x;y?p=1&q=2#f", "http://a/b;y;x?q=2&p=1#f")
    tried(case.assertUrlEqual, "http://a/b?p=1&p=2", "http://a/b?p=2&p=1")
    tried(case.assertUrlEqual, "http://a/b", "https://a/b")
    tried(case.assertCommandSucceeds, "echo word", ["wor", "x"])
    tried(case.assertCommandSucceeds, ["echo", "word"], [b"x"])
    tried(case.assertCommandSucceeds, ["false"])
    tried(case.assertCommandFails, "echo word; exit 3", ["wo"])
    tried(case.assertCommandFails, ["true"], [""])
    return found


def fields_of_classes(tf):
    kinds = (tf.GraphDef, tf.NodeDef, tf.ConfigProto, tf.MetaGraphDef, tf.train.Example, tf.train.Feature, tf.Summary, tf.Event)
    graph = tf.GraphDef()
    graph.node.add(name="a", op="NoOp")
    held = [hasattr(kind, field.name) for kind in kinds for field in kind.DESCRIPTOR.fields]
    node = graph.node[0]
    node.name = "b"
    return all(held), len(held) > 40, len(tf.GraphDef.node.__get__(graph)), tf.NodeDef.name.__get__(node), str(graph)
