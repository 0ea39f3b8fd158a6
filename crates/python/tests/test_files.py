"""Files: what a session's graph may open, and the order in which a saver writes and deletes."""

import os

import pytest

import millstream as tf
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
