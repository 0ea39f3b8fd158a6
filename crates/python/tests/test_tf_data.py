"""Datasets: graphs that TensorFlow wrote, interrupted runs, limits, several runs at a time."""

import os
import threading
import time

import numpy as np
import pytest

import millstream as tf

HERE = os.path.dirname(os.path.abspath(__file__))
D = tf.data.Dataset

# What TensorFlow 1.15.5 gives for `golden/datasets.pb`, which it wrote: functions with a cond, captured
# tensors, a shuffle that is repeated, datasets in functions, groups.
GOLDEN = [
    [[30, -30, 12], [300, -300, 120]],
    [[-12, 10, -10], [-120, 100, -100]],
    [[50, -50, 40], [500, -500, 400]],
    [[11, -11, 11], [110, -110, 110]],
    [[-40, 30, -30], [-400, 300, -300]],
    [[12, -12, 10], [120, -120, 100]],
    [[-10, 50, -50], [-100, 500, -500]],
    [[40, -40], [400, -400]],
    [[-11], [-110]],
]


def imported(data):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(data, name="")
    return graph


def drained(sess, fetches):
    values = []
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        while True:
            values.append(sess.run(fetches))
    return values


def test_graphs_of_tensorflow_run_here_and_after_a_round_trip():
    data = tf.GraphDef()
    with open(os.path.join(HERE, "golden", "datasets.pb"), "rb") as source:
        data.ParseFromString(source.read())
    for _ in range(3):
        graph = imported(data)
        with tf.Session(graph=graph) as sess:
            values = drained(sess, ["next:0", "next:1"])
            assert [[v.tolist() for v in pair] for pair in values] == GOLDEN
            assert [v.tolist() for v in drained(sess, "one:0")] == [[1, 2], [3, 4], [5]]
        data = graph.as_graph_def()
    assert len(data.library.function) >= 8


def test_a_graph_imported_twice_keeps_its_functions_apart():
    made = []
    for add in (1, 100):
        with tf.Graph().as_default() as graph:
            tf.identity(D.range(2).map(lambda x: x + add).make_one_shot_iterator().get_next(), name="x")  # noqa: B023
            made.append(graph.as_graph_def())
    assert made[0].library.function[0].signature.name == made[1].library.function[0].signature.name
    xs = [tf.import_graph_def(data, return_elements=["x:0"])[0] for data in made]
    with tf.Session() as sess:
        assert sess.run(xs) == [1, 100]


def test_an_interrupted_run_loses_no_element():
    slow = threading.Event()

    def wait(x):
        if x == 2 and not slow.is_set():
            time.sleep(0.3)
        return x

    x = D.range(6).map(lambda x: tf.py_func(wait, [x], tf.int64)).batch(3).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(x, options=tf.RunOptions(timeout_in_ms=100))
        slow.set()
        assert sess.run(x).tolist() == [0, 1, 2]
        assert sess.run(x).tolist() == [3, 4, 5]


TRANSFORMED = {
    "batch": lambda d: d.batch(3),
    "large batch": lambda d: d.map(lambda x: tf.fill([400, 1000], x)).batch(3).map(lambda x: x[:, -1, -1]),
    "padded_batch": lambda d: d.map(lambda x: tf.fill([x, 70_000], x)).padded_batch(4, [-1, 70_000]).map(lambda x: x[:, :, 0]),
    "window": lambda d: d.window(3, 2).flat_map(lambda w: w.batch(3)),
    "shuffle": lambda d: d.shuffle(4, seed=1),
    "group_by_window": lambda d: d.apply(
        tf.data.experimental.group_by_window(lambda x: x % 2, lambda _, w: w.batch(3), window_size=3)
    ),
    "unbatch": lambda d: d.batch(3).apply(tf.data.experimental.unbatch()),
    "zip": lambda d: D.zip((d, D.range(20))).map(lambda x, y: x + y),
    "filter": lambda d: d.filter(lambda x: x % 3 > 0),
    "unique": lambda d: d.map(lambda x: x // 2).apply(tf.data.experimental.unique()),
    "scan": lambda d: d.apply(tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))),
    "map_and_batch": lambda d: d.apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 4)),
    "cache": lambda d: d.cache().repeat(2),
}


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("allowed", [20, 200])
def test_interrupted_runs_get_all_elements_in_the_end(name, allowed):
    """Some elements take longer than a run may, the first time that they are asked for. With little time,
    runs also end when they have their element."""

    def elements(pause):
        known = set()

        def wait(x):
            if int(x) in (2, 5, 6) and int(x) not in known:
                known.add(int(x))
                time.sleep(pause)
            return x

        d = D.range(9).map(lambda x: tf.py_func(wait, [x], tf.int64))
        x = TRANSFORMED[name](d.map(lambda x: tf.reshape(x, []))).make_one_shot_iterator().get_next()
        found, interrupted = [], 0
        options = tf.RunOptions(timeout_in_ms=allowed if pause else 0)
        with tf.Session() as sess:
            while interrupted < 500:
                try:
                    found.append(sess.run(x, options=options).tolist())
                except tf.errors.DeadlineExceededError:
                    interrupted += 1
                except tf.errors.OutOfRangeError:
                    break
        return found, interrupted

    (want, none), (found, interrupted) = elements(0), elements(2 * allowed / 1000)
    assert none == 0 < interrupted < 500 and found == want


def test_an_element_returns_if_its_run_is_called_off():
    """The deadline passes between the node that takes the element and the one that is fetched."""
    slow = threading.Event()

    def wait(x):
        if not slow.is_set():
            time.sleep(0.2)
        return x

    x = D.range(3).make_one_shot_iterator().get_next()
    y = tf.py_func(wait, [x], tf.int64)
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(y, options=tf.RunOptions(timeout_in_ms=50))
        slow.set()
        assert [sess.run(y) for _ in range(3)] == [0, 1, 2]


def test_a_dataset_without_elements_that_pass_ends_at_the_deadline():
    x = D.range(1).repeat().filter(lambda x: x > 0).make_one_shot_iterator().get_next()
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(x, options=tf.RunOptions(timeout_in_ms=100))


def test_a_chain_that_is_too_long_is_an_error():
    x = D.range(3)
    for _ in range(600):
        x = x.take(2)
    with tf.Session() as sess, pytest.raises(tf.errors.ResourceExhaustedError, match="datasets read each other"):
        sess.run(x.make_one_shot_iterator().get_next())


def test_several_threads_share_an_iterator():
    x = D.range(200).map(lambda x: x * 2).make_one_shot_iterator().get_next()
    found, lock = [], threading.Lock()
    with tf.Session() as sess:

        def take():
            for _ in range(50):
                value = sess.run(x)
                with lock:
                    found.append(int(value))

        threads = [threading.Thread(target=take) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    assert sorted(found) == list(range(0, 400, 2))


def test_functions_on_other_threads_leave_the_sleepers_alone():
    # Two elements at a time: a thread of the engine makes one while the program's own may be asleep.
    pair = [D.range(300).map(lambda x: x + 1).make_one_shot_iterator().get_next() for _ in range(2)]
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    done = threading.Event()
    other = threading.Thread(target=done.wait, args=(600,))  # Nobody knows what it will do.
    other.start()
    config = tf.ConfigProto(inter_op_parallelism_threads=2, stall_grace_in_ms=600)
    try:
        with tf.Session(config=config) as sess:
            assert [sess.run(pair) for _ in range(300)] == [[i, i] for i in range(1, 301)]
            with pytest.raises(tf.errors.FailedPreconditionError, match="nothing has been run"):
                sess.run(q.dequeue())
    finally:
        done.set()
        other.join()


def test_fed_arrays_are_copied():
    p = tf.placeholder(tf.float32, [None])
    it = D.from_tensor_slices(p).batch(2).make_initializable_iterator()
    x, array = it.get_next(), np.arange(4, dtype=np.float32)
    with tf.Session() as sess:
        sess.run(it.initializer, {p: array})
        array[:] = -1
        assert [v.tolist() for v in drained(sess, x)] == [[0, 1], [2, 3]]


def test_functions_name_their_nodes_in_errors():
    x = D.from_tensors(0.0).map(lambda x: tf.check_numerics(1 / x, "bad", name="look")).make_one_shot_iterator().get_next()
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="at `look`") as error:
        sess.run(x)
    assert error.value.op.type == "IteratorGetNext"


def test_a_cache_in_a_file_is_read_by_other_sessions(tmp_path):
    path = str(tmp_path / "kept")

    def passed(dataset, most=None):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = dataset().cache(path).make_one_shot_iterator().get_next()
            return [v.tolist() for v in (drained(sess, x) if most is None else [sess.run(x) for _ in range(most)])]

    kept = lambda: D.from_tensor_slices([["a", "bb"], ["c", ""]])
    assert passed(kept, most=1) == [[b"a", b"bb"]]
    assert list(tmp_path.iterdir()) == []
    assert passed(kept) == [[b"a", b"bb"], [b"c", b""]]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept.data-00000-of-00001", "kept.index"]
    assert passed(lambda: D.from_tensor_slices([["other", "x"]])) == [[b"a", b"bb"], [b"c", b""]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected int64 but got string"):
        passed(lambda: D.range(2))


def test_two_passes_do_not_write_one_cache(tmp_path):
    cached = D.range(2).cache(str(tmp_path / "kept"))
    first, second = (cached.make_initializable_iterator() for _ in range(2))
    x, y = first.get_next(), second.get_next()
    with tf.Session() as sess:
        sess.run([first.initializer, second.initializer])
        assert sess.run(x) == 0
        with pytest.raises(tf.errors.AlreadyExistsError, match="concurrent caching iterator running"):
            sess.run(y)
        assert [v.tolist() for v in drained(sess, x)] == [1]
        assert sess.run(y) == 0


def test_a_cache_is_a_file_like_any_other(tmp_path):
    x = D.range(2).cache(str(tmp_path / "kept")).make_one_shot_iterator().get_next()
    with tf.Session(files=[]) as sess, pytest.raises(tf.errors.PermissionDeniedError, match="kept_0.lockfile"):
        sess.run(x)


def test_values_of_other_graphs_are_refused():
    with tf.Graph().as_default():
        stranger = tf.constant(1, tf.int64)
    with pytest.raises(ValueError, match="another graph"):
        D.range(2).map(lambda x: x + stranger)
