"""`SyncReplicasOptimizer`: one update for the gradients of several replicas.

Each replica puts its gradients, with the step they were computed for, into a queue for each variable, and
waits for a token. The chief's thread takes gradients of the current step until it has enough, drops older
ones, applies the mean, and gives out tokens, which hold the next step.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from millstream.framework import IndexedSlices, control_dependencies, convert_to_tensor, device, dtypes, name_scope
from millstream.framework.graph_keys import GraphKeys
from millstream.ops import array_ops, control_flow, math_ops
from millstream.ops.data_flow import FIFOQueue
from millstream.train.optimizer import Optimizer
from millstream.train.queue_runner import QueueRunner
from millstream.train.session_run_hook import SessionRunHook
from millstream.variables import state_ops
from millstream.variables.collections import global_variables, report_uninitialized_variables
from millstream.variables.variable import Variable

_UNLIMITED = -1


class _Accumulator:
    """Gradients of a variable, each with its step. A gradient is a tuple of tensors of fixed dtypes."""

    def __init__(self, parts: Sequence[Any], step_dtype: Any, shapes: Any, name: str) -> None:
        kinds = [p.dtype for p in parts] + [step_dtype]
        self._queue = FIFOQueue(_UNLIMITED, kinds, None if shapes is None else [*shapes, ()], shared_name=name)

    def close(self) -> Any:
        """Returns the operation that ends waits for gradients."""
        return self._queue.close()

    def put(self, parts: Sequence[Any], step: Any) -> Any:
        return self._queue.enqueue([*parts, step])

    def take(self, n: int, step: Any, start: List[Any], add: Any) -> List[Any]:
        """Returns `start` after `add(so_far, parts)` for n gradients that are not older than `step`."""

        def body(count: Any, *so_far: Any) -> Any:
            *parts, of_step = self._queue.dequeue()
            of_step.set_shape([])
            fresh = of_step >= step
            more = add(list(so_far), parts)
            new = control_flow.cond(fresh, lambda: more, lambda: [array_ops.identity(t) for t in so_far])
            return [count + math_ops.cast(fresh, dtypes.int32), *(new if isinstance(new, (list, tuple)) else [new])]

        any_rows = [shape_of_rows(t) for t in start]
        invariants = [array_ops.zeros([], dtypes.int32).shape, *any_rows]
        found = control_flow.while_loop(
            lambda count, *_: count < n, body, [array_ops.zeros([], dtypes.int32), *start], shape_invariants=invariants, parallel_iterations=1
        )
        return list(found[1:])


def shape_of_rows(tensor: Any) -> Any:
    """Returns a tensor's static shape, with an unknown number of rows if it has none yet."""
    dims = tensor.shape.as_list()
    return type(tensor.shape)([None, *dims[1:]] if dims[:1] == [0] else dims)


class SyncReplicasOptimizer(Optimizer):
    """An optimizer that applies the mean of the gradients of several replicas at once.

    Replicas are threads that run the training operation in one session. The chief's threads are started by
    the hook of `make_session_run_hook`.

    Args:
      opt: The optimizer that applies the mean.
      replicas_to_aggregate: The number of gradients of a step. Others that come later are dropped.
      total_num_replicas: The number of replicas; by default the same.
      variable_averages: An `ExponentialMovingAverage` to update after each step.
      variables_to_average: The variables of `variable_averages`.
      use_locking: If true, updates hold a lock.
      name: The name scope of the operations.

    Example:
      >>> x, step = tf.Variable(4.0), tf.train.get_or_create_global_step()
      >>> optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), replicas_to_aggregate=1)
      >>> train = optimizer.minimize(x * x, global_step=step)
      >>> hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=0)
      >>> with tf.train.MonitoredTrainingSession(hooks=[hook]) as sess:
      ...     _ = sess.run(train), sess.run(train)
      ...     print(sess.run(x))
      1.0
      >>> optimizer.get_slot(x, "momentum"), optimizer.get_slot_names(), optimizer.variables()
      (None, [], [])
      >>> type(optimizer.get_chief_queue_runner()).__name__
      'QueueRunner'
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: Optional[int] = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt, self._n_gradients = opt, replicas_to_aggregate
        self._n_replicas = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._averages, self._averaged = variable_averages, variables_to_average
        self._runner: Any = None
        self._step: Any = None
        self._tokens: Any = None
        self._accumulators: List[_Accumulator] = []

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the gradients by the inner optimizer, whose arguments these are."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """Returns the operation of a replica: it hands over its gradients and waits for the update.

        Args:
          grads_and_vars: A list of pairs, as returned by `compute_gradients`.
          global_step: The variable that counts updates.
          name: A name; ignored.

        Returns:
          An operation or tensor.

        Raises:
          ValueError: There are no variables, or there is no global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._step = global_step
        dtype = global_step.dtype.base_dtype
        self._local_step = Variable(
            0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], dtype=dtype, name="sync_rep_local_step"
        )
        self.local_step_init_op = state_ops.assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            handed, means = self._collect(pairs)
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(means, global_step)
                train = self._exchange_tokens(handed, update)
            self.chief_init_op = control_flow.group(self.local_step_init_op)
        return train

    def _collect(self, pairs: Any) -> Tuple[List[Any], List[Any]]:
        """Returns the operations that hand gradients over, and their means with the variables."""
        handed, means, n = [], [], self._n_gradients
        local_step, step = convert_to_tensor(self._local_step), convert_to_tensor(self._step)
        for grad, var in pairs:
            mean: Any = None
            with device(var.device):
                name = var.name + "/grad_accum"
                if isinstance(grad, IndexedSlices):
                    rows = _Accumulator([grad.indices, grad.values], step.dtype, None, name)
                    self._accumulators.append(rows)
                    handed.append(rows.put([grad.indices, grad.values], local_step))
                    mean = _mean_of_slices(rows, grad, var, n, step)
                elif grad is not None:
                    sums = _Accumulator([grad], step.dtype, [var.shape], name)
                    self._accumulators.append(sums)
                    handed.append(sums.put([grad], local_step))
                    start = array_ops.zeros(var.shape, grad.dtype)
                    mean = sums.take(n, step, [start], lambda so_far, parts: [so_far[0] + parts[0]])[0] / n
            means.append((mean, var))
        return handed, means

    def _exchange_tokens(self, handed: List[Any], update: Any) -> Any:
        """Makes the queue of tokens: a replica takes one after its gradients, an update adds new ones."""
        dtype = self._step.dtype.base_dtype
        self._tokens = FIFOQueue(_UNLIMITED, dtype, shapes=(), name="sync_token_q", shared_name="sync_token_q")
        other = FIFOQueue(1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue")
        with control_dependencies(handed):
            token = self._tokens.dequeue()
        train = state_ops.assign(self._local_step, token)
        with control_dependencies([update]):
            number = max(self._n_replicas, self._n_gradients)
            sync = self._tokens.enqueue_many((array_ops.fill([number], array_ops.identity(self._step)),))
        if self._averages is not None:
            with control_dependencies([sync]), name_scope(""):
                sync = self._averages.apply(self._averaged)
        # A chief that waits for gradients ends with the session.
        close = control_flow.group(other.close(), *(accumulator.close() for accumulator in self._accumulators))
        self._runner = QueueRunner(other, [sync], close_op=close, cancel_op=close)
        return train

    def get_chief_queue_runner(self) -> QueueRunner:
        """Returns the queue runner of the chief's thread.

        Raises:
          ValueError: `apply_gradients` was not called.
        """
        if self._runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._runner

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a slot of the inner optimizer, or None."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> List[str]:
        """Returns the names of the inner optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> List[Any]:
        """Returns the variables of the inner optimizer."""
        return self._opt.variables()

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """Returns the operation that puts the first tokens into the queue.

        Args:
          num_tokens: The number; by default that of the gradients of a step.

        Returns:
          An operation.

        Raises:
          ValueError: `apply_gradients` was not called, or the tokens do not suffice for a step.

        Example:
          >>> x, step = tf.Variable(4.0), tf.train.get_or_create_global_step()
          >>> optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), 1)
          >>> _ = optimizer.minimize(x * x, global_step=step)
          >>> optimizer.get_init_tokens_op().type
          'QueueEnqueueManyV2'
        """
        if self._runner is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._n_gradients - self._n_replicas
        if num_tokens == -1:
            num_tokens = self._n_gradients
        elif num_tokens < needed:
            words = "Too few tokens to finish the first step: %d (given) vs %d (needed)"
            raise ValueError(words % (num_tokens, needed))
        if num_tokens <= 0:
            return control_flow.no_op(name="no_init_tokens")
        with device(self._step.device), name_scope(""):
            return self._tokens.enqueue_many((array_ops.fill([num_tokens], convert_to_tensor(self._step)),))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """Returns the hook that initializes a replica and, of the chief, starts the thread that updates.

        Args:
          is_chief: Whether the replica is the chief.
          num_tokens: The number of first tokens; see `get_init_tokens_op`.

        Returns:
          A `SessionRunHook`.
        """
        return _Hook(self, is_chief, num_tokens)


def _mean_of_slices(rows: _Accumulator, grad: Any, var: Any, n: int, step: Any) -> IndexedSlices:
    """Returns the mean of n gradients of rows: all their rows, divided by n."""
    indices = array_ops.zeros([0], grad.indices.dtype)
    values = array_ops.zeros([0, *var.shape.as_list()[1:]], grad.values.dtype)

    def add(so_far: List[Any], parts: List[Any]) -> List[Any]:
        parts[0].set_shape([None])
        parts[1].set_shape([None, *var.shape.as_list()[1:]])
        return [array_ops.concat([have, more], 0) for have, more in zip(so_far, parts)]

    indices, values = rows.take(n, step, [indices, values], add)
    return IndexedSlices(values / n, indices, grad.dense_shape)


class _Hook(SessionRunHook):
    """Initializes a replica; of the chief, starts its thread."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._optimizer, self._is_chief, self._num_tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        optimizer = self._optimizer
        if optimizer._runner is None:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._ready = optimizer.ready_for_local_init_op
        self._first = [optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op]
        if self._is_chief:
            self._first.append(optimizer.get_init_tokens_op(self._num_tokens))

    def after_create_session(self, session: Any, coord: Any) -> None:
        missing = session.run(self._ready)
        if missing.size:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. Variables not initialized: %s"
                % ", ".join(name.decode() for name in missing)
            )
        for operation in self._first:
            session.run(operation)
        if self._is_chief:
            self._optimizer.get_chief_queue_runner().create_threads(session, coord=coord, daemon=True, start=True)


