"""Files: what a session's graph may open, and the order in which a saver writes and deletes."""

import io
import os
import random
import struct
import tracemalloc

import pytest
from google.protobuf import message

import millstream as tf
from millstream.io import records
from millstream.train import checkpoints


def _refused(sess, fetch):
    with pytest.raises(tf.errors.PermissionDeniedError, match="files"):
        sess.run(fetch)


def test_a_session_confines_its_graph(tmp_path):
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    for folder in (own, other):
        (folder / "text").write_text(folder.name)
    inside, outside = tf.read_file(str(own / "text")), tf.read_file(str(other / "text"))
    around = tf.read_file(str(own / ".." / "other" / "text"))
    write = tf.write_file(str(other / "new"), "x")
    config = tf.ConfigProto(allow_files=[str(own)])
    for session in (tf.Session(files=[own]), tf.Session(config=config)):
        with session as sess:
            assert sess.run(inside) == b"own"
            for fetch in (outside, around, write):
                _refused(sess, fetch)
    for session in (tf.Session(files=[]), tf.Session(config=tf.ConfigProto(no_files=True))):
        with session as sess:
            _refused(sess, inside)
    with tf.Session() as sess:
        assert sess.run(outside) == b"other"
        sess.run(write)
    assert (other / "new").read_text() == "x"


def _saver(folder, **options):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    saver = tf.train.Saver(max_to_keep=1, **options)
    sess = tf.Session()
    sess.run(v.initializer)
    return saver, sess, os.path.join(str(folder), "model")


def test_the_list_is_written_before_old_checkpoints_are_deleted(tmp_path, monkeypatch):
    saver, sess, prefix = _saver(tmp_path)
    first = saver.save(sess, prefix, global_step=1)

    def fails(*_args, **_kwargs):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "update_checkpoint_state", fails)
        with pytest.raises(OSError, match="the disk is full"):
            saver.save(sess, prefix, global_step=2)
    assert tf.train.latest_checkpoint(str(tmp_path)) == first


def test_a_checkpoint_that_cannot_be_deleted_is_a_warning(tmp_path, monkeypatch):
    saver, sess, prefix = _saver(tmp_path)
    first = saver.save(sess, prefix, global_step=1)
    told = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "remove", lambda path: (_ for _ in ()).throw(PermissionError(13, "no", path)))
        patch.setattr(tf.logging, "warning", lambda *args: told.append(args))
        second = saver.save(sess, prefix, global_step=2)
    assert tf.train.latest_checkpoint(str(tmp_path)) == second
    assert os.path.exists(first + ".index")
    assert saver.last_checkpoints == [second]


def test_the_list_is_whole_or_old(tmp_path):
    saver, sess, prefix = _saver(tmp_path)
    saver.save(sess, prefix, global_step=1)
    assert sorted(name for name in os.listdir(str(tmp_path)) if "tempstate" in name or name.endswith(".tmp")) == []
    folder = tmp_path / "checkpoint.d"
    folder.mkdir()
    with pytest.raises(OSError):
        tf.train.update_checkpoint_state(str(tmp_path), prefix, latest_filename="checkpoint.d")


@pytest.mark.parametrize("kind", ["NONE", "ZLIB", "GZIP"])
def test_records_are_on_the_disk_when_flushed_or_closed(tmp_path, monkeypatch, kind):
    options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, kind))
    path, synced = str(tmp_path / "records"), []
    sync = os.fsync
    # What the disk has when it is asked to keep it.
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append((os.fstat(fd).st_size, sync(fd))))
    writer = tf.python_io.TFRecordWriter(path, options)
    writer.write(b"one")
    writer.flush()
    flushed = os.path.getsize(path)
    assert [size for size, _ in synced] == [flushed] and flushed > 0
    writer.write(b"two")
    writer.close()
    writer.close()
    assert [size for size, _ in synced] == [flushed, os.path.getsize(path)]
    assert list(tf.python_io.tf_record_iterator(path, options)) == [b"one", b"two"]


def test_a_writer_whose_disk_is_full_says_so_and_closes(tmp_path, monkeypatch):
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "records"))
    writer.write(b"one")

    def full(_fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    assert writer._file.closed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_records_can_be_written_to_a_pipe(tmp_path):
    path = str(tmp_path / "fifo")
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with tf.python_io.TFRecordWriter(path) as writer:
            writer.write(b"one")
        assert len(os.read(end, 100)) == 8 + 4 + 3 + 4
    finally:
        os.close(end)


def _events(path):
    with tf.summary.FileWriter(str(path)) as writer:
        for step in range(3):
            value = tf.Summary.Value(tag="loss", simple_value=0.5, metadata={"plugin_data": {"plugin_name": "scalars"}})
            writer.add_summary(tf.Summary(value=[value]), global_step=step)
    (file,) = path.iterdir()
    return file


def _record(data, length=None):
    out = io.BytesIO()
    records.write_record(out, data)
    framed = out.getvalue()
    if length is not None:
        header = struct.pack("<Q", length)
        framed = header + struct.pack("<I", records._checksum(header)) + framed[12:]
    return framed


def test_a_damaged_event_file_ends_in_an_error(tmp_path):
    file = _events(tmp_path)
    good = file.read_bytes()
    assert [e.step for e in tf.train.summary_iterator(str(file))][1:] == [0, 1, 2]
    draw = random.Random(7)
    damages = [good[:n] for n in range(len(good))]
    for _ in range(300):
        bad = bytearray(good)
        bad[draw.randrange(len(bad))] ^= 1 << draw.randrange(8)
        damages.append(bytes(bad))
    n_refused = 0
    for bad in damages:
        file.write_bytes(bad)
        events = tf.train.summary_iterator(str(file))
        try:
            assert list(events) is not None
        except tf.errors.DataLossError as e:
            n_refused += 1
            assert str(file) in e.message
    # All but what ends between two records.
    assert n_refused == len(damages) - 4


def test_an_event_file_of_good_records_with_anything_in_them(tmp_path):
    """What the checksums cover may be no event: the messages' own error, as in TensorFlow."""
    whole = tf.Event(step=3, summary=tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=1.0)])).SerializeToString()
    draw = random.Random(8)
    file, n_read = tmp_path / "events", 0
    # The last two claim 4 GB of a string, and 10,000 messages within each other.
    nested = b"\x0a\x00"
    for _ in range(10_000):
        nested = b"\x2a" + _varint(len(nested)) + nested
    hostile = [b"\x1a\xff\xff\xff\xff\x0f", nested]
    for _ in range(500):
        bad = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            bad[draw.randrange(len(bad))] = draw.randrange(256)
        hostile.append(bytes(bad))
    for data in hostile:
        file.write_bytes(_record(data) + _record(whole))
        try:
            events = list(tf.train.summary_iterator(str(file)))
        except message.DecodeError:
            continue
        n_read += 1
        assert len(events) == 2 and events[1].step == 3
    assert 0 < n_read < len(hostile)


def _varint(n):
    out = bytearray()
    while 0x80 <= n:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


@pytest.mark.parametrize("length", [1 << 20, 1 << 34, 1 << 62, (1 << 64) - 1, (1 << 64) - 4])
def test_a_record_that_claims_a_length_takes_no_memory_for_it(tmp_path, length):
    file = tmp_path / "events"
    file.write_bytes(_record(b"abc", length))
    for read in (tf.train.summary_iterator, tf.python_io.tf_record_iterator):
        tracemalloc.start()
        with pytest.raises(tf.errors.DataLossError, match="truncated record at 0"):
            list(read(str(file)))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 4 << 20


def test_a_damaged_compressed_record_file_ends_in_an_error(tmp_path):
    kind = tf.python_io.TFRecordCompressionType
    draw = random.Random(9)
    for compression in (kind.GZIP, kind.ZLIB):
        file = str(tmp_path / "records")
        options = tf.python_io.TFRecordOptions(compression)
        with tf.python_io.TFRecordWriter(file, options) as writer:
            for _ in range(20):
                writer.write(bytes(draw.randrange(256) for _ in range(50)))
        with open(file, "rb") as source:
            good = source.read()
        n_refused = 0
        for _ in range(200):
            bad = bytearray(good)
            bad[draw.randrange(len(bad))] ^= 1 << draw.randrange(8)
            with open(file, "wb") as out:
                out.write(bytes(bad[: draw.choice([len(bad), draw.randrange(1, len(bad))])]))
            try:
                list(tf.python_io.tf_record_iterator(file, options))
            except tf.errors.DataLossError:
                n_refused += 1
        assert 150 < n_refused


def test_an_event_file_that_is_missing(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        list(tf.train.summary_iterator(str(tmp_path / "nowhere")))
