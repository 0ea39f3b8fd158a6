"""`millstream.horovod`: training on several processes, with Horovod's API for TensorFlow 1.

    import millstream as tf
    import millstream.horovod as hvd

    hvd.init()
    optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.01 * hvd.size()))
    hooks = [hvd.BroadcastGlobalVariablesHook(0)]

Each process runs the whole program on its share of the data, and the gradients are averaged over all of them:
`mpirun -n 4 python program.py`. The processes are those of an MPI job, through mpi4py; a process that no MPI
launcher has started is a job of its own. Under `python -m millstream program.py`, `import horovod.tensorflow`
imports this module.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
from typing import Any, List, Optional, Sequence, Tuple

from millstream import _engine
from millstream.framework import IndexedSlices, convert_to_tensor, dtypes, get_default_graph, mpi, name_scope, nest
from millstream.framework.op_functions import op as _op
from millstream.ops import array_ops, control_flow, math_ops
from millstream.train.optimizer import Optimizer as _Optimizer
from millstream.train.session_run_hook import SessionRunHook as _SessionRunHook
from millstream.variables import collections as _collections

__all__ = [
    "BroadcastGlobalVariablesHook",
    "Compression",
    "DistributedGradientTape",
    "DistributedOptimizer",
    "allgather",
    "allreduce",
    "alltoall",
    "average_metrics",
    "barrier",
    "broadcast",
    "broadcast_global_variables",
    "broadcast_variables",
    "init",
    "is_initialized",
    "local_rank",
    "local_size",
    "mpi_threads_supported",
    "rank",
    "shutdown",
    "size",
]


class _Job:
    """What this process knows of its job."""

    def __init__(self, rank: int, size: int, local: Tuple[int, int]) -> None:
        self.rank, self.size, self.local = rank, size, local


class _Alone:
    """The transport of a job of one process, which sends nothing."""

    rank, size = 0, 1


_job: Optional[_Job] = None


def init(comm: Any = None) -> None:
    """Joins the job that this process was started in. Further calls do nothing.

    These environment variables have Horovod's meaning: `HOROVOD_FUSION_THRESHOLD`, the bytes up to which
    gradients are reduced together (64 MiB by default); `HOROVOD_CYCLE_TIME`, the milliseconds in which they
    are gathered (1); `HOROVOD_STALL_SHUTDOWN_TIME_SECONDS`, after which it is an error that a process waits
    for others that do not come (600). Those of rank 0 count.

    Args:
      comm: An mpi4py communicator, whose processes are the job; by default all that the launcher started.

    Raises:
      ImportError: An MPI launcher started this process, and mpi4py is missing.
      ValueError: `comm` is a list of ranks, or an environment variable is not a number.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()
      (0, 1, 0, 1)
      >>> hvd.shutdown()
    """
    global _job
    if _job is not None:
        return
    if isinstance(comm, (list, tuple)):
        if comm:
            raise ValueError("a list of ranks is not supported: pass an mpi4py communicator, such as MPI.COMM_WORLD.Split(..)")
        comm = None
    options = (
        int(_number("HOROVOD_FUSION_THRESHOLD", 64 << 20)),
        int(_number("HOROVOD_CYCLE_TIME", 1) * 1000),
        int((_number("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", 600) or 10**9) * 1000),
    )
    transport: Any = _Alone
    job = _Job(0, 1, (0, 1))
    if comm is not None or mpi.launched():
        comm = mpi.world() if comm is None else comm
        transport = mpi.Transport(comm)
        job = _Job(transport.rank, transport.size, mpi.local(comm))
    _engine.join_job(transport, options)
    _job = job
    atexit.register(_at_exit)


def _number(name: str, default: float) -> float:
    text = os.environ.get(name, "")
    try:
        value = float(text) if text else float(default)
        if not 0 <= value < 2**40:
            raise ValueError
    except ValueError:
        raise ValueError("%s is %r, which is no such number" % (name, text)) from None
    return value


def _at_exit() -> None:
    error = getattr(sys, "last_value", None)
    _leave("its program ended" if error is None else "%s: %s" % (type(error).__name__, error))


def _leave(why: str) -> None:
    global _job
    if _job is not None:
        _engine.leave_job(why)
        _job = None
        atexit.unregister(_at_exit)


def shutdown() -> None:
    """Leaves the job. Processes that wait for this one get an error that names it.

    It is called when the program ends, with the error that ended it.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> hvd.shutdown()
      >>> hvd.is_initialized()
      False
    """
    _leave("its program called `shutdown`")


def _here() -> _Job:
    if _job is None:
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return _job


def is_initialized() -> bool:
    """Returns whether this process has joined a job."""
    return _job is not None


def rank() -> int:
    """Returns the number of this process in the job, from 0.

    Raises:
      ValueError: `init` has not been called.
    """
    return _here().rank


def size() -> int:
    """Returns the number of processes of the job.

    Raises:
      ValueError: `init` has not been called.
    """
    return _here().size


def local_rank() -> int:
    """Returns the number of this process among those of the job on this machine, from 0.

    Raises:
      ValueError: `init` has not been called.
    """
    return _here().local[0]


def local_size() -> int:
    """Returns the number of processes of the job on this machine.

    Raises:
      ValueError: `init` has not been called.
    """
    return _here().local[1]


def mpi_threads_supported() -> bool:
    """Returns whether the program may call MPI, too. It may: `init` refuses MPIs without threads.

    Raises:
      ValueError: `init` has not been called.
    """
    return _here() is not None


class _None:
    """A compressor that changes nothing."""

    @staticmethod
    def compress(tensor: Any) -> Tuple[Any, Any]:
        """Returns the tensor, and what `decompress` needs."""
        return tensor, None

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """Returns the tensor."""
        return tensor


class _Fp16:
    """A compressor that sends floating point numbers as `float16`. Their sum is rounded once."""

    @staticmethod
    def compress(tensor: Any) -> Tuple[Any, Any]:
        """Returns the tensor as `float16`, and its dtype."""
        dtype = tensor.dtype
        return (math_ops.cast(tensor, dtypes.float16) if dtype.is_floating else tensor), dtype

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """Returns the tensor in its own dtype."""
        return math_ops.cast(tensor, ctx) if ctx.is_floating else tensor


class Compression:
    """What is sent instead of gradients: `Compression.none`, themselves; `Compression.fp16`, `float16`.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> mean = hvd.allreduce(tf.constant([1.0, 1.0001]), compression=hvd.Compression.fp16)
      >>> tf.Session().run(mean).tolist()
      [1.0, 1.0]
      >>> hvd.shutdown()
    """

    none = _None
    fp16 = _Fp16


def _name(prefix: str, tensor: Any, name: Optional[str]) -> str:
    """Returns a name that is the same on all ranks, even if their graphs differ elsewhere."""
    return name or "%s_%s" % (prefix, re.sub(r"[^A-Za-z0-9_.\-/]", "_", tensor.name))


def allreduce(
    tensor: Any,
    average: bool = True,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    name: Optional[str] = None,
) -> Any:
    """Returns the mean, or the sum, of a tensor over all processes, which all get the same bits.

    The processes' calls are matched by the name of the node. A `tf.IndexedSlices` becomes one with the slices
    of all processes. The gradient is reduced in the same way.

    Args:
      tensor: A tensor or `tf.IndexedSlices`, of the same shape on all processes.
      average: Whether to divide the sum by the number of processes, integers with rounding down.
      device_dense: Ignored: there is one kind of device.
      device_sparse: Ignored.
      compression: What is sent; see `Compression`.
      name: A name for the operation; by default it is made of that of the tensor.

    Raises:
      ValueError: `init` has not been called.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> tf.Session().run(hvd.allreduce(tf.constant([1.0, 2.0]))).tolist()
      [1.0, 2.0]
      >>> hvd.shutdown()
    """
    n = size()
    if isinstance(tensor, IndexedSlices):
        values = allgather(tensor.values, name=name and name + "_values")
        indices = allgather(tensor.indices, name=name and name + "_indices")
        if average:
            values = _divided(values, n)
        return IndexedSlices(values, indices, dense_shape=tensor.dense_shape)
    tensor = convert_to_tensor(tensor)
    name = _name("HorovodAllreduce", tensor, name)
    sent, ctx = compression.compress(tensor)
    is_mean = average and (sent.dtype.is_floating or sent.dtype.is_complex)
    reduced = compression.decompress(_op("AllReduce")(sent, reduction="mean" if is_mean else "sum", name=name), ctx)
    return reduced if is_mean or not average else _divided(reduced, n)


def _divided(tensor: Any, n: int) -> Any:
    n = math_ops.cast(n, tensor.dtype)
    return math_ops.floordiv(tensor, n) if tensor.dtype.is_integer else tensor / n


def allgather(tensor: Any, name: Optional[str] = None) -> Any:
    """Returns the rows of all processes, those of rank 0 first. The numbers of rows may differ.

    Args:
      tensor: A tensor with rows.
      name: A name for the operation.

    Raises:
      ValueError: `init` has not been called, or the tensor is a scalar.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> tf.Session().run(hvd.allgather(tf.constant([[1, 2]]))).tolist()
      [[1, 2]]
      >>> hvd.shutdown()
    """
    _here()
    tensor = convert_to_tensor(tensor)
    return _op("AllGather")(tensor, name=_name("HorovodAllgather", tensor, name))


def broadcast(tensor: Any, root_rank: int, name: Optional[str] = None) -> Any:
    """Returns the value that rank `root_rank` has for a tensor.

    Args:
      tensor: A tensor, of the same shape on all processes.
      root_rank: The rank whose value is sent.
      name: A name for the operation.

    Raises:
      ValueError: `init` has not been called.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> tf.Session().run(hvd.broadcast(tf.constant([1, 2]), 0)).tolist()
      [1, 2]
      >>> hvd.shutdown()
    """
    _here()
    tensor = convert_to_tensor(tensor)
    return _op("Broadcast")(tensor, root_rank=root_rank, name=_name("HorovodBroadcast", tensor, name))


def alltoall(tensor: Any, splits: Any = None, name: Optional[str] = None) -> Any:
    """Sends each process some rows, and returns those that come, in the order of the ranks.

    Args:
      tensor: A tensor with rows.
      splits: The number of rows for each rank, in order; by default equally many.
      name: A name for the operation.

    Returns:
      The rows; if `splits` are given, a pair of these and the number that came from each rank.

    Raises:
      ValueError: `init` has not been called, or the tensor is a scalar.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> rows, came = tf.Session().run(hvd.alltoall(tf.constant([[1, 2], [3, 4]]), splits=[2]))
      >>> rows.tolist(), came.tolist()
      ([[1, 2], [3, 4]], [2])
      >>> hvd.shutdown()
    """
    _here()
    tensor = convert_to_tensor(tensor)
    sizes = convert_to_tensor([] if splits is None else splits, dtypes.int32)
    rows, came = _op("CollectiveAllToAll")(tensor, sizes, name=_name("HorovodAlltoall", tensor, name))
    return rows if splits is None else (rows, came)


def barrier(name: Optional[str] = None) -> Any:
    """Returns an operation that ends once it runs on all processes.

    Args:
      name: A name for the operation.

    Raises:
      ValueError: `init` has not been called.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> tf.Session().run(hvd.barrier())
      >>> hvd.shutdown()
    """
    _here()
    return _op("CollectiveBarrier")(name=name or "HorovodBarrier")


def broadcast_variables(variables: Sequence[Any], root_rank: int) -> Any:
    """Returns an operation that gives variables the values that they have on rank `root_rank`.

    Args:
      variables: Variables, in the same order on all processes.
      root_rank: The rank whose values are sent.

    Raises:
      ValueError: `init` has not been called.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> x = tf.get_variable("x", initializer=1.0)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(hvd.broadcast_variables([x], root_rank=0))
      >>> hvd.shutdown()
    """
    _here()
    sends = [variable.assign(broadcast(variable, root_rank, name="HorovodBroadcast_" + variable.op.name)) for variable in variables]
    return control_flow.group(*[getattr(send, "op", send) for send in sends])


def broadcast_global_variables(root_rank: int) -> Any:
    """Returns an operation that gives all global variables the values that they have on rank `root_rank`.

    Args:
      root_rank: The rank whose values are sent.

    Raises:
      ValueError: `init` has not been called.
    """
    return broadcast_variables(_collections.global_variables(), root_rank)


class BroadcastGlobalVariablesHook(_SessionRunHook):
    """A hook that gives all global variables the values of one rank, when a session has been created.

    So all processes begin with the same values, whether these are initial or from rank 0's checkpoint.

    Args:
      root_rank: The rank whose values are sent.
      device: Ignored: there is one kind of device.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> x = tf.get_variable("x", initializer=1.0)
      >>> with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as sess:
      ...     print(sess.run(x))
      1.0
      >>> hvd.shutdown()
    """

    def __init__(self, root_rank: int, device: str = "") -> None:
        self.root_rank, self.device = root_rank, device
        self.bcast_op: Any = None

    def begin(self) -> None:
        """Adds the operation to the graph."""
        if self.bcast_op is None or self.bcast_op.graph is not get_default_graph():
            self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs the operation."""
        session.run(self.bcast_op)


class DistributedOptimizer(_Optimizer):
    """An optimizer that averages the gradients over all processes, and lets another one apply them.

    Args:
      optimizer: The `tf.train.Optimizer` that computes and applies the gradients.
      name: The name of the optimizer; by default "Distributed" and the name of the class of `optimizer`.
      use_locking: Ignored: `optimizer` has it.
      device_dense: Ignored: there is one kind of device.
      device_sparse: Ignored.
      compression: What is sent; see `Compression`.
      sparse_as_dense: Whether gradients that are `tf.IndexedSlices` are made dense before they are sent.

    Raises:
      TypeError: `optimizer` is not an optimizer.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> x = tf.get_variable("x", initializer=1.0)
      >>> step = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.25)).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x))
      0.5
      >>> hvd.shutdown()
    """

    def __init__(
        self,
        optimizer: Any,
        name: Optional[str] = None,
        use_locking: bool = False,
        device_dense: str = "",
        device_sparse: str = "",
        compression: Any = Compression.none,
        sparse_as_dense: bool = False,
    ) -> None:
        if not isinstance(optimizer, _Optimizer):
            raise TypeError("a `tf.train.Optimizer` is needed, not %r" % (optimizer,))
        super().__init__(use_locking, name or "Distributed" + type(optimizer).__name__)
        self._optimizer = optimizer
        self._compression, self._sparse_as_dense = compression, sparse_as_dense

    def compute_gradients(self, *args: Any, **kwargs: Any) -> List[Any]:
        """Returns the gradients that the optimizer computes, averaged, with their variables.

        Args:
          *args: The arguments of the optimizer's method.
          **kwargs: Its keyword arguments.

        Raises:
          ValueError: `init` has not been called.
        """
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        if size() == 1:
            return list(pairs)
        averaged = []
        with name_scope(self.get_name() + "_Allreduce"):
            for gradient, variable in pairs:
                if gradient is not None:
                    if self._sparse_as_dense and isinstance(gradient, IndexedSlices):
                        gradient = convert_to_tensor(gradient)
                    gradient = allreduce(gradient, compression=self._compression, name="HorovodAllreduce_" + variable.op.name)
                averaged.append((gradient, variable))
        return averaged

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Applies gradients with the optimizer.

        Args:
          *args: The arguments of the optimizer's method.
          **kwargs: Its keyword arguments.
        """
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a slot of the optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> List[str]:
        """Returns the names of the optimizer's slots."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> List[Any]:
        """Returns the optimizer's variables."""
        return self._optimizer.variables(*args, **kwargs)


def DistributedGradientTape(gradtape: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
    """Raises an error: gradient tapes belong to eager execution. Use `DistributedOptimizer`.

    Args:
      gradtape: A tape.
      *args: Ignored.
      **kwargs: Ignored.

    Raises:
      NotImplementedError: Always.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.DistributedGradientTape(None)
      Traceback (most recent call last):
        ...
      NotImplementedError: `hvd.DistributedGradientTape` is for eager execution, which Millstream does not have: use `hvd.DistributedOptimizer`
    """
    raise NotImplementedError("`hvd.DistributedGradientTape` is for eager execution, which Millstream does not have: use `hvd.DistributedOptimizer`")


def average_metrics(metrics: Any) -> Any:
    """Returns the means of metrics over all processes, in the same structure.

    Args:
      metrics: A tensor or number, or a list, tuple or dict of these. Integers become `float32`.

    Raises:
      ValueError: `init` has not been called.

    Example:
      >>> import millstream.horovod as hvd
      >>> hvd.init()
      >>> means = tf.Session().run(hvd.average_metrics({"loss": tf.constant(0.5), "correct": tf.constant(3)}))
      >>> print(means["loss"], means["correct"])
      0.5 3.0
      >>> hvd.shutdown()
    """

    def averaged(metric: Any) -> Any:
        metric = convert_to_tensor(metric)
        own = metric.dtype.is_floating
        return allreduce(array_ops.identity(metric) if own else math_ops.cast(metric, dtypes.float32))

    return nest.map_structure(averaged, metrics)
