"""Cases not covered by comparison with TensorFlow: protobuf classes, damaged files, failing threads."""

import copy
import functools
import os
import pickle
import re
import subprocess
import sys
import threading
import time

import pytest

import millstream as tf
from millstream import errors, nest
from millstream.framework import protos, scopes, shapes
from millstream.io import records
from millstream.train.coordinator import Coordinator
from millstream.train.queue_runner import QueueRunner


def graph_def():
    node = protos.NodeDef(name="a", op="Const", attr={"dtype": protos.AttrValue(type=protos.DT_FLOAT)})
    return protos.GraphDef(node=[node], versions=protos.VersionDef(producer=134))


def test_messages_are_protobuf_classes():
    g = graph_def()
    assert protos.GraphDef.FromString(g.SerializeToString()) == g == copy.deepcopy(g)
    assert g.HasField("versions") and g.node[0].attr["dtype"].type == 1
    config = protos.ConfigProto(device_count={"CPU": 1})
    config.graph_options.rewrite_options.constant_folding = protos.RewriterConfig.OFF
    config.graph_options.optimizer_options.opt_level = protos.OptimizerOptions.L0
    assert protos.ConfigProto.FromString(config.SerializeToString()) == config
    assert (protos.DataType.Name(1), protos.DataType.DT_INT32, protos.Code.Value("ABORTED")) == ("DT_FLOAT", 3, 10)
    assert protos.Summary(value=[protos.Summary.Value(tag="t", simple_value=1.5)]).value[0].tag == "t"


def test_messages_of_a_protobuf_in_pure_python_have_their_parts():
    program = (
        "from google.protobuf.internal import api_implementation as a; import millstream as tf;"
        "print(a.Type(), tf.Summary.Value(tag='t').tag, tf.TensorShape([1]).as_proto().dim[0].size, tf.AttrValue.ListValue(i=[3]).i[0])"
    )
    env = dict(os.environ, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=env)
    assert done.stdout == "python t 1 3\n", done.stderr


def test_messages_round_trip_as_text():
    from google.protobuf import text_format

    g = graph_def()
    assert text_format.Parse(text_format.MessageToString(g), protos.GraphDef()) == g


def test_every_message_can_be_made():
    names = protos.names()
    assert {"GraphDef", "MetaGraphDef", "RunMetadata", "ConfigProto", "QueueRunnerDef", "Event"} <= set(names)
    for name in names:
        assert getattr(protos, name)().SerializeToString() == b""


def test_a_message_of_no_name():
    with pytest.raises(AttributeError, match="there is no message or enum `Nope`"):
        protos.Nope


def test_messages_of_another_pool_are_taken():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    files = descriptor_pb2.FileDescriptorSet()
    with open(protos._DESCRIPTORS, "rb") as source:
        files.ParseFromString(source.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    descriptor = pool.FindMessageTypeByName("tensorflow.GraphDef")
    if not hasattr(message_factory, "GetMessageClass"):
        pytest.skip("protobuf before 4.22")
    theirs = message_factory.GetMessageClass(descriptor).FromString(graph_def().SerializeToString())
    ours = protos.as_message("GraphDef", theirs)
    assert type(ours) is protos.GraphDef and ours == graph_def()
    assert protos.as_message("GraphDef", ours) is ours
    assert protos.as_message("GraphDef", ours.SerializeToString()) == ours
    with pytest.raises(TypeError, match="expected a GraphDef, got int"):
        protos.as_message("GraphDef", 3)


def test_shape_messages():
    shape = shapes.TensorShape([1, None])
    assert shapes.TensorShape(shape.as_proto()).as_list() == [1, None]
    assert shapes.TensorShape(shapes.TensorShape(None).as_proto()).ndims is None


def test_things_travel_by_pickle():
    for thing in (shapes.TensorShape([1, None]), shapes.Dimension(3), shapes.TensorSpec([2], "int32", "x")):
        assert repr(pickle.loads(pickle.dumps(thing))) == repr(thing)


def test_records(tmp_path):
    path = tmp_path / "r"
    with open(path, "wb") as out:
        for data in (b"", b"one", b"x" * 1000):
            records.write_record(out, data)
    assert list(records.read_records(str(path))) == [b"", b"one", b"x" * 1000]


@pytest.mark.parametrize("at", [0, 9, 12, 30, 45])
def test_damaged_records(tmp_path, at):
    path = tmp_path / "r"
    with open(path, "wb") as out:
        for _ in range(3):
            records.write_record(out, b"payload")
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)
    with pytest.raises(errors.DataLossError, match="corrupted record at"):
        list(records.read_records(str(path)))
    path.write_bytes(data[:5])
    with pytest.raises(errors.DataLossError, match="truncated record at 0"):
        list(records.read_records(str(path)))


def test_an_exception_that_was_never_raised_is_reported_when_joining():
    coord = Coordinator()
    coord.request_stop(RuntimeError("never raised"))
    with pytest.raises(ValueError, match="ex must be a tuple or sys.exc_info must return the current exception"):
        coord.join()


def test_joining_does_not_wait_for_long():
    coord = Coordinator()
    thread = threading.Thread(target=coord.wait_for_stop)
    thread.start()
    threading.Timer(0.05, coord.request_stop).start()
    began = time.monotonic()
    coord.join([thread])
    assert time.monotonic() - began < 5


class FakeQueue:
    """A queue that counts calls of `close`."""

    name = "q"

    def close(self, cancel_pending_enqueues=False, name=None):
        return FakeOp("cancel" if cancel_pending_enqueues else "close")


class FakeOp:
    def __init__(self, name):
        self.name = name


class FakeSession:
    """A session whose first `end` runs succeed."""

    def __init__(self, end, repeats):
        self.end, self.repeats, self.ran = end, repeats, []

    def run(self, op):
        self.ran.append(op.name)

    def make_callable(self, op):
        count = [0]

        def once():
            count[0] += 1
            if self.end < count[0]:
                raise errors.OutOfRangeError(None, None, "the end")
            self.ran.append(op.name)

        if self.repeats:

            def repeat(stop):
                while stop is None or not stop():
                    once()

            once._repeat = repeat
        return once


@pytest.mark.parametrize("repeats", [False, True])
def test_the_last_thread_closes_the_queue(repeats):
    sess = FakeSession(3, repeats)
    runner = QueueRunner(FakeQueue(), [FakeOp("a"), FakeOp("b")])
    for thread in runner.create_threads(sess, start=True):
        thread.join()
    assert sorted(sess.ran) == ["a"] * 3 + ["b"] * 3 + ["close"]
    assert runner.exceptions_raised == [] and sess.ran[-1] == "close"


def test_threads_that_are_at_work_are_not_made_twice():
    sess, coord = FakeSession(10**9, False), Coordinator()
    runner = QueueRunner(FakeQueue(), [FakeOp("a")])
    threads = runner.create_threads(sess, coord, start=True)
    assert len(threads) == 2 and runner.create_threads(sess, coord) == []
    coord.request_stop()
    coord.join()
    assert sess.ran[-1] == "cancel" or "cancel" in sess.ran


def test_scopes():
    assert scopes.strip_name_scope("a/b:0", "a") == "b:0"
    assert scopes.strip_name_scope("^a/b", "a/") == "^b"
    assert scopes.strip_name_scope("loc:@a/b", "a") == "loc:@b"
    assert scopes.prepend_name_scope("^b", "a") == "^a/b"
    assert scopes.prepend_name_scope("b", None) == "b"


def test_composites_are_structures_on_request():
    class Both:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def _to_components(self):
            return (self.a, self.b)

        def _from_components(self, components):
            return Both(*components)

    value = [Both(1, 2), 3]
    assert len(nest.flatten(value)) == 2 and nest.flatten(value, expand_composites=True) == [1, 2, 3]
    doubled = nest.map_structure(lambda x: x * 2, value, expand_composites=True)
    assert (doubled[0].a, doubled[0].b, doubled[1]) == (2, 4, 6)


def test_an_error_shows_where_its_operation_was_made():
    class Op:
        name = "add"
        traceback = [("model.py", 3, "build", "x = tf.add(a, b)")]

    text = str(errors.InvalidArgumentError(None, Op(), "shapes differ"))
    assert text.startswith("shapes differ\n\nOriginal stack trace for 'add':\n")
    assert 'File "model.py", line 3, in build' in text and "x = tf.add(a, b)" in text


def test_a_status_becomes_an_exception():
    with errors.raise_exception_on_not_ok_status():
        pass
    with pytest.raises(errors.NotFoundError, match="gone"):
        with errors.raise_exception_on_not_ok_status() as status:
            status.set(errors.NOT_FOUND, "gone")
    assert type(errors.make(99, "odd")) is errors.UnknownError and errors.make(99, "odd").error_code == 99


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["keras"], "`tf.keras` is not part of Millstream, and never will be, because Keras is a library of its own: use `tf.layers.dense`"),
        (["LMDBReader"], "`tf.LMDBReader` is not part of Millstream yet"),
        (["raw_ops", "Svds"], "has no attribute 'Svds'"),
        (["mul"], "`tf.mul` left TensorFlow before 1.15: use `tf.multiply`"),
        (["nonsense"], "has no attribute 'nonsense'"),
    ],
)
def test_what_is_not_here_says_what_is(names, says):
    with pytest.raises(AttributeError, match=re.escape(says)):
        functools.reduce(getattr, names, tf)
