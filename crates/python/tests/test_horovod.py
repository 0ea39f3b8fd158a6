"""`millstream.horovod`: jobs of several processes under mpirun, and what happens when one of them ends.

Tests that need mpirun and mpi4py are skipped where these are missing, with the reason.
"""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import millstream as tf
from millstream import horovod as hvd

MPIRUN = shutil.which("mpirun")


# As root in a container, and with more ranks than cores.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def launched(n, *arguments, **options):
    """Starts a Python program on `n` ranks."""
    command = [MPIRUN, "--oversubscribe", "-n", str(n), sys.executable, *arguments]
    environment = {**os.environ, **ALLOWED, **options.pop("environment", {})}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def why_not():
    """Returns why no job of two ranks can run on this machine; "" if one can."""
    if MPIRUN is None:
        return "mpirun is not installed (Debian: apt-get install openmpi-bin)"
    job = launched(2, "-c", "from mpi4py import MPI; MPI.COMM_WORLD.barrier()")
    try:
        printed, _ = job.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        return "mpirun does not end within 60 seconds"
    finally:
        job.kill()
    return "" if job.returncode == 0 else "mpi4py does not run under mpirun: %s" % printed.strip()[-300:]


WHY_NOT = why_not()
needs_mpi = pytest.mark.skipif(WHY_NOT != "", reason=WHY_NOT or "-")


def start(tmp_path, program, n=2, **environment):
    path = tmp_path / "program.py"
    path.write_text("import os, sys, time\nimport numpy as np\nimport millstream as tf\nimport millstream.horovod as hvd\nhvd.init()\n" + textwrap.dedent(program))
    return launched(n, str(path), environment=environment, cwd=str(tmp_path))


def run(tmp_path, program, n=2, **environment):
    """Returns the status and what the ranks have printed."""
    job = start(tmp_path, program, n, **environment)
    try:
        printed, _ = job.communicate(timeout=110)
    finally:
        job.kill()
    return job.returncode, printed


def test_nothing_works_before_init():
    for call in (hvd.rank, hvd.size, hvd.local_rank, hvd.local_size, lambda: hvd.allreduce(tf.constant(1.0))):
        with pytest.raises(ValueError, match="Horovod has not been initialized; use hvd.init()."):
            call()


def test_wrong_options(monkeypatch):
    monkeypatch.setenv("HOROVOD_FUSION_THRESHOLD", "many")
    with pytest.raises(ValueError, match="HOROVOD_FUSION_THRESHOLD is 'many'"):
        hvd.init()
    monkeypatch.delenv("HOROVOD_FUSION_THRESHOLD")
    with pytest.raises(ValueError, match="a list of ranks is not supported"):
        hvd.init(comm=[0])
    assert not hvd.is_initialized()
    with pytest.raises(TypeError, match="Optimizer"):
        hvd.DistributedOptimizer(None)


def test_integers_are_averaged_with_rounding_down():
    hvd.init()
    try:
        slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]), tf.constant([4, 1]))
        sparse = hvd.allreduce(slices)
        values = tf.Session().run([hvd.allreduce(tf.constant([3, -3])), sparse.values, sparse.indices])
        assert [v.tolist() for v in values] == [[3, -3], [[1.0], [2.0]], [0, 2]]
    finally:
        hvd.shutdown()


def test_programs_for_horovod_run_unchanged(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\nprint(hvd.size(), hvd.__name__)\nimport horovod.keras")
    done = subprocess.run([sys.executable, "-m", "millstream", str(path)], capture_output=True, text=True)
    assert done.stdout == "1 millstream.horovod\n"
    assert "of Horovod, Millstream has `horovod.tensorflow`" in done.stderr


@needs_mpi
def test_values(tmp_path):
    status, printed = run(
        tmp_path,
        """
        r, n = hvd.rank(), hvd.size()
        x = tf.constant([1.0, 2.0]) * (r + 1)
        slices = tf.IndexedSlices(tf.ones([r + 1, 2]) * (r + 1), tf.range(r + 1), tf.constant([5, 2]))
        sparse = hvd.allreduce(slices, name="sparse")
        big = tf.fill([3_000_000], tf.cast(r + 1, tf.float32))
        fetches = {
            "mean": hvd.allreduce(x, name="mean"), "sum": hvd.allreduce(x, average=False, name="sum"),
            "half": hvd.allreduce(x, compression=hvd.Compression.fp16, name="half"),
            "ints": hvd.allreduce(tf.constant([r, 2 * r + 1]), name="ints"),
            "rows": hvd.allgather(tf.fill([r + 1, 1], r), name="rows"),
            "root": hvd.broadcast(x, 1, name="root"), "values": sparse.values, "indices": sparse.indices,
            "all": hvd.alltoall(tf.constant([10 * r, 10 * r + 1]), name="all"),
            "big": tf.unique(hvd.allreduce(big, average=False, name="big"))[0],
            "metrics": hvd.average_metrics({"accuracy": tf.constant(r, name="m")})["accuracy"],
        }
        with tf.Session() as sess:
            values = sess.run(fetches)
        assert (hvd.local_rank(), hvd.local_size()) == (r, n)
        sys.stdout.write(str(r) + repr({k: v.tolist() for k, v in values.items()}) + "\\n")
        """,
    )
    assert status == 0, printed
    ranks = sorted(line for line in printed.splitlines() if line[:1].isdigit())
    values = [eval(line[1:]) for line in ranks]
    assert len(values) == 2, printed
    for r, v in enumerate(values):
        assert v["mean"] == [1.5, 3.0] and v["sum"] == [3.0, 6.0] and v["half"] == [1.5, 3.0] and v["root"] == [2.0, 4.0]
        assert v["ints"] == [0, 2] and v["rows"] == [[0], [1], [1]] and v["big"] == [3.0] and v["metrics"] == 0.5
        assert v["values"] == [[0.5, 0.5], [1.0, 1.0], [1.0, 1.0]] and v["indices"] == [0, 0, 1]
        assert v["all"] == [r, 10 + r]


TRAINING = """
    r, n = hvd.rank(), hvd.size()
    tf.set_random_seed(r)  # Each rank would begin with other weights.
    rng = np.random.RandomState(r)
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.reduce_sum(x, 1, keepdims=True)
    table = tf.get_variable("table", [16, 8])
    rows = tf.placeholder(tf.int32, [None])
    hidden = tf.layers.dense(x + tf.nn.embedding_lookup(table, rows), 32, tf.nn.tanh)
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(hidden, 1))
    step = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.01)).minimize(loss, tf.train.get_or_create_global_step())
    weights = tf.concat([tf.reshape(v, [-1]) for v in tf.trainable_variables()], 0)
    def feeds():
        return {x: rng.rand(4, 8), rows: rng.randint(0, 16, 4)}
"""


@needs_mpi
def test_weights_are_the_same_on_all_ranks_after_every_step(tmp_path):
    status, printed = run(
        tmp_path,
        TRAINING
        + """
    same = hvd.allgather(tf.expand_dims(weights, 0), name="same")
    with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as sess:
        for i in range(30):
            sess.run(step, feeds())
            ranks = sess.run(same, feeds())
            assert ranks.shape[0] == n and ranks.std() > 0
            assert all(rank.tobytes() == ranks[0].tobytes() for rank in ranks), i
    sys.stdout.write("rank %d is done\\n" % r)
        """,
        n=3,
    )
    assert status == 0 and printed.count("is done") == 3, printed


@needs_mpi
def test_an_error_on_one_rank_ends_the_others(tmp_path):
    status, printed = run(
        tmp_path,
        TRAINING
        + """
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(hvd.broadcast_global_variables(0))
        for i in range(30):
            if (r, i) == (1, 5):
                raise OSError("the data is gone")
            begin = time.time()
            try:
                sess.run(step, feeds())
            except tf.errors.UnavailableError as error:
                sys.stdout.write("rank %d after %.1f s: %s\\n" % (r, time.time() - begin, str(error).splitlines()[0]))
                sys.exit(1)
        """,
    )
    assert status != 0
    told = [line for line in printed.splitlines() if line.startswith("rank 0 after")]
    assert len(told) == 1, printed
    assert "rank 1 has ended: OSError: the data is gone" in told[0]
    assert float(told[0].split()[3]) < 5


SAVING = (
    TRAINING
    + """
    hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(int(os.environ["LAST_STEP"]))]
    same = hvd.allgather(tf.expand_dims(weights, 0), name="same")
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir="saved" if r == 0 else None, hooks=hooks, save_checkpoint_steps=10, save_summaries_steps=None, save_summaries_secs=None
    ) as sess:
        first = done = sess.run(tf.train.get_global_step())
        sys.stdout.write("rank %d begins after step %d, pid %d\\n" % (r, done, os.getpid()))
        sys.stdout.flush()
        while not sess.should_stop():
            sess.run(step, feeds())
            done += 1
            ranks = None if sess.should_stop() else sess.run(same, feeds())
            assert ranks is None or ranks[0].tobytes() == ranks[-1].tobytes(), done
            if done == 25:
                sys.stdout.write("rank %d has done 25 steps\\n" % r)
                sys.stdout.flush()
    """
)


def begun(printed):
    """Returns the step after which each rank has begun, and its process."""
    found = [line.replace(",", "").split() for line in printed.splitlines() if "begins after step" in line]
    return {int(words[1]): (int(words[5]), int(words[7])) for words in found}


@needs_mpi
def test_a_killed_rank_ends_the_job_and_the_next_one_goes_on(tmp_path):
    job = start(tmp_path, SAVING, LAST_STEP="1000000")
    printed = ""
    try:
        while "rank 1 has done 25 steps" not in printed:
            line = job.stdout.readline()
            printed += line
            assert line, printed
        assert {rank: step for rank, (step, _) in begun(printed).items()} == {0: 0, 1: 0}
        os.kill(begun(printed)[1][1], signal.SIGKILL)
        begin = time.time()
        printed, _ = job.communicate(timeout=60)
        assert time.time() - begin < 5
        assert job.returncode != 0
        assert "rank 1" in printed and "signal 9" in printed, printed
    finally:
        job.kill()
    saved = int(tf.train.latest_checkpoint(str(tmp_path / "saved")).rpartition("-")[2])
    assert saved >= 20
    status, printed = run(tmp_path, SAVING, LAST_STEP=str(saved + 5))
    assert status == 0, printed
    assert {rank: step for rank, (step, _) in begun(printed).items()} == {0: saved, 1: saved}


@needs_mpi
def test_a_call_that_one_rank_never_makes(tmp_path):
    status, printed = run(
        tmp_path,
        """
        x = hvd.allreduce(tf.constant(1.0), name="x")
        with tf.Session() as sess:
            if hvd.rank() == 0:
                try:
                    sess.run(x)
                except tf.errors.DeadlineExceededError as error:
                    sys.stdout.write("late: " + str(error).splitlines()[0] + "\\n")
            else:
                time.sleep(2)
        """,
        HOROVOD_STALL_SHUTDOWN_TIME_SECONDS="0.5",
    )
    assert status == 0, printed
    assert "on rank 0 for rank 1, which did not call it" in printed
