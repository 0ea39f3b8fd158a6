"""Optimizers of several workers, each with variables of its own: AGN, model averages, elastic averages.

Each has a getter of variables for `tf.variable_scope`: a trainable variable is local to its worker, and a
variable that all share is made with it, in the scope `global_center_variable`. Sessions of Millstream do not
share variables: a program has one worker.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from millstream._engine import Operation
from millstream.framework import IndexedSlices, control_dependencies, device, dtypes, get_default_graph
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops
from millstream.ops.accumulators import ConditionalAccumulator
from millstream.ops.data_flow import FIFOQueue
from millstream.train.optimizer import Optimizer
from millstream.train.saver import Saver
from millstream.train.session_run_hook import SessionRunHook
from millstream.variables import state_ops
from millstream.variables.collections import global_variables, trainable_variables
from millstream.variables.scopes import get_variable
from millstream.variables.variable import Variable

__all__ = [
    "AGNCustomGetter",
    "AGNOptimizer",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
    "ModelAverageCustomGetter",
    "ModelAverageOptimizer",
]

_GLOBAL = "global_center_variable"


def _variable(initial_value: Any, name: str, collection: str) -> Variable:
    return Variable(initial_value, name=name, trainable=False, collections=[collection])


class _Getter:
    """A getter of variables that makes a shared variable with each trainable one, and maybe one more."""

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        # By the name of the worker's variable: the variable that all share, and the worker's other one.
        self._global: Dict[str, Variable] = {}
        self._other: Dict[str, Variable] = {}

    def _made_with(self, name: str, own: Variable) -> None:
        """Makes the worker's other variable."""

    def _first(self, own: Variable) -> Any:
        """Returns the initial value of the shared variable."""
        return own.initial_value

    def __call__(self, getter: Callable[..., Any], name: str, trainable: bool = True, collections: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Returns a variable: the worker's own, if it is trainable."""
        if not trainable:
            is_local = GraphKeys.LOCAL_VARIABLES in (collections or ())
            with device(self._worker_device if is_local else ""):
                return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        with device(self._worker_device):
            own = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        if own.op.name not in self._global:
            self._global[own.op.name] = _variable(self._first(own), _GLOBAL + "/" + own.op.name, GraphKeys.GLOBAL_VARIABLES)
            with device(self._worker_device):
                self._made_with(own.op.name, own)
        return own

    def _of(self, variables: Sequence[Variable], which: Dict[str, Variable]) -> List[Variable]:
        missing = [v.op.name for v in variables if v.op.name not in which]
        if missing:
            raise ValueError(
                "variables %s were not made by this optimizer's getter: make them with `tf.get_variable` in `tf.variable_scope(.., custom_getter=..)`"
                % ", ".join(missing)
            )
        return [which[v.op.name] for v in variables]


class AGNCustomGetter(_Getter):
    """The getter of variables for an `AGNOptimizer`.

    Args:
      worker_device: The device of the worker's own variables.

    Example:
      >>> getter = tf.contrib.opt.AGNCustomGetter(worker_device="")
      >>> with tf.variable_scope("", custom_getter=getter):
      ...     v = tf.get_variable("v", [2])
      >>> [v.name for v in tf.local_variables()], [v.name for v in tf.global_variables()]
      (['v:0', 'grad_variable/v:0'], ['global_center_variable/v:0'])
    """

    def _made_with(self, name: str, own: Variable) -> None:
        self._other[name] = _variable(array_ops.zeros(own.get_shape(), own.dtype.base_dtype), "grad_variable/" + name, GraphKeys.LOCAL_VARIABLES)


class ModelAverageCustomGetter(_Getter):
    """The getter of variables for a `ModelAverageOptimizer`.

    Args:
      worker_device: The device of the worker's own variables.

    Example:
      >>> getter = tf.contrib.opt.ModelAverageCustomGetter(worker_device="")
      >>> with tf.variable_scope("", custom_getter=getter):
      ...     v = tf.get_variable("v", [2])
      >>> [v.name for v in tf.local_variables()], [v.name for v in tf.global_variables()]
      (['v:0'], ['global_center_variable/v:0'])
    """

    def _first(self, own: Variable) -> Any:
        return own.initialized_value()


class ElasticAverageCustomGetter(_Getter):
    """The getter of variables for an `ElasticAverageOptimizer`.

    Args:
      worker_device: The device of the worker's own variables.

    Example:
      >>> getter = tf.contrib.opt.ElasticAverageCustomGetter(worker_device="")
      >>> with tf.variable_scope("", custom_getter=getter):
      ...     v = tf.get_variable("v", [2])
      >>> [v.name for v in tf.local_variables()], [v.name for v in tf.global_variables()]
      (['v:0', 'local_center_variable/v:0'], ['global_center_variable/v:0'])
    """

    def _made_with(self, name: str, own: Variable) -> None:
        self._other[name] = _variable(own.initial_value, "local_center_variable/" + name, GraphKeys.LOCAL_VARIABLES)


class _Hook(SessionRunHook):
    """Sets the worker's variables to the shared ones when a session is made."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._init_op: Any = None

    def begin(self) -> None:
        self._init_op = self._make()

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._init_op)


class _Worker(Optimizer):
    """An optimizer of a worker's variables that exchanges them with the shared ones every few steps."""

    def __init__(self, opt: Any, getter: _Getter, period: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt, self._getter, self._period = opt, getter, period
        self._local_step = get_variable("local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])

    def _own_step(self, pairs: Sequence[Any]) -> Any:
        """Returns the operation that updates the worker's variables. Slots that it makes are local, too."""
        before = global_variables()
        step = self._opt.apply_gradients(pairs)
        graph = get_default_graph()
        for v in global_variables():
            if all(v is not known for known in before):
                graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES).remove(v)
                graph.add_to_collection(GraphKeys.LOCAL_VARIABLES, v)
        return step

    def _every_period(self, steps: Sequence[Any], exchange: Callable[[], Any]) -> Any:
        """Returns an operation that counts a step after others, and exchanges variables when it is time."""
        with control_dependencies([s if isinstance(s, Operation) else s.op for s in steps]):
            counted = state_ops.assign_add(self._local_step, 1)
        with control_dependencies([counted]):
            time = math_ops.equal(op("FloorMod")(array_ops.identity(counted), self._period), 0)
        return control_flow.cond(time, exchange, control_flow.no_op)

    def _pairs(self, grads_and_vars: Any, words: str = "No variables provided.") -> List[Any]:
        found = [(grad, v) for grad, v in grads_and_vars if grad is not None]
        if not found:
            raise ValueError("%s `grads_and_vars` has no variable with a gradient" % words)
        return found

    def _counted(self, global_step: Any) -> Any:
        return control_flow.no_op() if global_step is None else state_ops.assign_add(global_step, 1).op

    def _copied(self, targets: Sequence[Variable], sources: Sequence[Variable]) -> Operation:
        return control_flow.group(*[state_ops.assign(t, s.read_value()) for t, s in zip(targets, sources)])

    def _all_global(self) -> Operation:
        """Returns the operation that sets the worker's variables to the shared ones."""
        own = [v for v in trainable_variables() if v.op.name in self._getter._global]
        return self._copied(own, self._getter._of(own, self._getter._global))


class AGNOptimizer(_Worker):
    """Accumulated gradient normalization: workers take steps of their own, and send mean gradients.

    A worker updates its own variables and sums the gradients. Every `communication_period` steps, the shared
    variables are updated by their mean, and the worker goes on from there. The variables are made with an
    `AGNCustomGetter`. (Joeri Hermans and others: Accumulated Gradient Normalization. 2017.)

    Args:
      optimizer: The optimizer of both the worker's and the shared variables.
      num_worker: The number of workers.
      custom_getter: The `AGNCustomGetter` that made the variables.
      communication_period: The number of steps between two exchanges.
      use_locking: Whether updates hold the locks of variables.
      name: The name of the optimizer.

    Example:
      >>> getter = tf.contrib.opt.AGNCustomGetter("")
      >>> with tf.variable_scope("", custom_getter=getter):
      ...     v = tf.get_variable("v", initializer=1.0)
      >>> inner = tf.train.GradientDescentOptimizer(0.5)
      >>> optimizer = tf.contrib.opt.AGNOptimizer(inner, 1, getter, communication_period=2)
      >>> step = optimizer.minimize(v)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(tf.local_variables_initializer())
      ...     for _ in range(2):
      ...         _ = sess.run(step)
      ...     print(*sess.run(tf.global_variables()))
      0.5
    """

    def __init__(
        self,
        optimizer: Any,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, custom_getter, communication_period, use_locking, name)
        self._num_worker = num_worker

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """Returns an operation that updates the worker's variables and, when it is time, the shared ones.

        Args:
          grads_and_vars: Pairs of a gradient and a variable.
          global_step: A variable that counts exchanges.
          name: Ignored.

        Raises:
          ValueError: There is no gradient, or a variable was not made by the getter.
        """
        pairs = self._pairs(grads_and_vars)
        own = [v for _, v in pairs]
        shared, sums = self._getter._of(own, self._getter._global), self._getter._of(own, self._getter._other)
        steps = [self._own_step(pairs), *[_added(s, grad) for (grad, _), s in zip(pairs, sums)]]

        def exchange() -> Any:
            means = [s.read_value() / math_ops.cast(self._period, s.dtype.base_dtype) for s in sums]
            updated = self._opt.apply_gradients(list(zip(means, shared)))
            with control_dependencies([updated]):
                copied = self._copied(own, shared)
                cleared = [state_ops.assign(s, array_ops.zeros_like(s.read_value())) for s in sums]
                return control_flow.group(copied, *cleared, self._counted(global_step))

        return self._every_period(steps, exchange)

    def get_init_op(self, task_index: int) -> Operation:
        """Returns the operation that sets variables to the shared ones, and sums of gradients to zeros."""
        zeros = [state_ops.assign(s, array_ops.zeros_like(s.read_value())) for s in self._getter._other.values()]
        return control_flow.group(self._all_global(), *zeros)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """Returns a hook that sets the worker's variables to the shared ones in a new session.

        Args:
          is_chief: Whether the worker is the chief.
          task_index: The number of the worker.
        """
        return _Hook(lambda: self.get_init_op(task_index))


def _added(total: Variable, grad: Any) -> Any:
    """Adds a gradient to a variable."""
    if isinstance(grad, IndexedSlices):
        return state_ops.scatter_add(total, grad.indices, grad.values)
    return state_ops.assign_add(total, grad)


class ModelAverageOptimizer(_Worker):
    """Model averaging: every `interval_steps` steps, all workers go on from the mean of their variables.

    The variables are made with a `ModelAverageCustomGetter`.

    Args:
      opt: The optimizer of the worker's variables.
      num_worker: The number of workers.
      is_chief: Whether this worker is the chief, which takes the means.
      ma_custom_getter: The `ModelAverageCustomGetter` that made the variables.
      interval_steps: The number of steps between two means.
      use_locking: Whether updates hold the locks of variables.
      name: The name of the optimizer.

    Example:
      >>> getter = tf.contrib.opt.ModelAverageCustomGetter("")
      >>> with tf.variable_scope("", custom_getter=getter):
      ...     v = tf.get_variable("v", initializer=1.0)
      >>> inner = tf.train.GradientDescentOptimizer(0.25)
      >>> optimizer = tf.contrib.opt.ModelAverageOptimizer(inner, 1, True, getter, interval_steps=2)
      >>> step = optimizer.minimize(v, global_step=tf.train.get_or_create_global_step())
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     sess.run(tf.global_variables_initializer())
      ...     for _ in range(2):
      ...         _ = sess.run(step)
      ...     print(*sess.run(tf.global_variables()))
      0.5 1
    """

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, ma_custom_getter, interval_steps, use_locking, name)
        self._num_worker, self._is_chief = num_worker, is_chief

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Returns the gradients that the optimizer computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """Returns an operation that updates the worker's variables and, when it is time, takes the means.

        Args:
          grads_and_vars: Pairs of a gradient and a variable.
          global_step: A variable that counts means; the chief adds to it.
          name: Ignored.

        Raises:
          ValueError: There is no gradient, or a variable was not made by the getter.
        """
        pairs = self._pairs(grads_and_vars, "Must supply at least one variable")
        own = [v for _, v in pairs]
        shared = self._getter._of(own, self._getter._global)
        with device(shared[0].device):
            tokens = FIFOQueue(-1, dtypes.int32, shapes=[[]], shared_name="sync_queue")
        sums = [ConditionalAccumulator(v.dtype.base_dtype, shape=v.get_shape(), shared_name=v.op.name + "/var_accum") for v in shared]

        def exchange() -> Any:
            # A step beyond all others: no value of a slow worker is too old, since all wait for the mean.
            sent = [a.apply_grad(v.read_value(), local_step=np.iinfo(np.int64).max) for a, v in zip(sums, own)]
            with control_dependencies(sent):
                waits = [self._means(sums, shared, tokens, global_step)] if self._is_chief else []
            with control_dependencies([*sent, *waits]):
                token = tokens.dequeue()
            with control_dependencies([token]):
                return self._copied(own, shared)

        return self._every_period([self._opt.apply_gradients(pairs)], exchange)

    def _means(self, sums: Sequence[Any], shared: Sequence[Variable], tokens: Any, global_step: Any) -> Operation:
        """Returns the operation of the chief: sets shared variables to means, and lets all workers go on."""
        set_ops = [state_ops.assign(v, a.take_grad(self._num_worker)).op for a, v in zip(sums, shared)]
        with control_dependencies(set_ops):
            counted = self._counted(global_step)
        with control_dependencies([counted]):
            return tokens.enqueue_many(array_ops.zeros([self._num_worker], dtypes.int32))

    def get_init_op(self) -> Operation:
        """Returns the operation that sets the worker's variables to the shared ones."""
        return self._all_global()

    def make_session_run_hook(self) -> SessionRunHook:
        """Returns a hook that sets the worker's variables to the shared ones in a new session."""
        return _Hook(self.get_init_op)


class ElasticAverageOptimizer(_Worker):
    """Elastic averaging: every few steps, a worker's and the shared variables move towards each other.

    The variables are made with an `ElasticAverageCustomGetter`. (Sixin Zhang and others: Deep learning with
    Elastic Averaging SGD. 2015.)

    Args:
      opt: The optimizer of the worker's variables.
      num_worker: The number of workers.
      ea_custom_getter: The `ElasticAverageCustomGetter` that made the variables.
      communication_period: The number of steps between two exchanges.
      moving_rate: The part of the difference that both move; 0.9 divided by the period and the number of
        workers if it is None.
      rho: How strongly the loss holds the worker's variables near the shared ones as they last were; the
        moving rate divided by the learning rate if it is None.
      use_locking: Whether updates hold the locks of variables.
      synchronous: Whether workers wait for each other before the first step.
      name: The name of the optimizer.

    Example:
      >>> getter = tf.contrib.opt.ElasticAverageCustomGetter("")
      >>> with tf.variable_scope("", custom_getter=getter):
      ...     v = tf.get_variable("v", initializer=1.0)
      >>> inner = tf.train.GradientDescentOptimizer(0.5)
      >>> optimizer = tf.contrib.opt.ElasticAverageOptimizer(inner, 1, getter, 1, moving_rate=0.5)
      >>> step = optimizer.minimize(v)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(tf.local_variables_initializer())
      ...     _ = sess.run(step)
      ...     print(*sess.run([v, *tf.global_variables()]))
      0.75 0.75
    """

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: Optional[float] = None,
        rho: Optional[float] = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, ea_custom_getter, communication_period, use_locking, name)
        self._num_worker, self._synchronous = num_worker, synchronous
        self._moving_rate = 0.9 / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho

    def compute_gradients(  # type: ignore[override]
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        """Returns the gradients of the loss plus `rho` times half the squared difference to the shared ones.

        Args:
          loss: The loss.
          var_list: The variables; by default, those that are trainable.
          gate_gradients: As in `tf.train.Optimizer.compute_gradients`.
          aggregation_method: The same.
          colocate_gradients_with_ops: The same.
          grad_loss: The same.
        """
        variables = list(var_list or trainable_variables())
        centers = self._getter._of(variables, self._getter._other)
        halves = math_ops.add_n([op("L2Loss")(v.read_value() - c.read_value()) for v, c in zip(variables, centers)])
        return self._opt.compute_gradients(
            loss + self._rho * halves, variables, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """Returns an operation that updates the worker's variables and, when it is time, exchanges them.

        Args:
          grads_and_vars: Pairs of a gradient and a variable.
          global_step: A variable that counts exchanges.
          name: Ignored.

        Raises:
          ValueError: There is no gradient, or a variable was not made by the getter.
        """
        pairs = self._pairs(grads_and_vars)
        own = [v for _, v in pairs]
        shared, centers = self._getter._of(own, self._getter._global), self._getter._of(own, self._getter._other)

        def exchange() -> Any:
            with control_dependencies([self._copied(centers, shared)]):
                moves = [self._moving_rate * (v.read_value() - c.read_value()) for v, c in zip(own, centers)]
            with control_dependencies(moves):
                moved = [state_ops.assign_add(g, m) for g, m in zip(shared, moves)]
                moved += [state_ops.assign_sub(v, m) for v, m in zip(own, moves)]
                return control_flow.group(*moved, self._counted(global_step))

        return self._every_period([self._own_step(pairs)], exchange)

    def get_init_op(self, task_index: int) -> Operation:
        """Returns the operation that sets the worker's variables to the shared ones, before the first step.

        Args:
          task_index: The number of the worker, which `synchronous` needs.
        """
        own = [v for v in trainable_variables() if v.op.name in self._getter._global]
        centers = self._getter._of(own, self._getter._other)
        done = control_flow.group(self._all_global(), self._copied(centers, self._getter._of(own, self._getter._global)))
        return self._barrier(done, task_index) if self._synchronous else done

    def _barrier(self, done: Operation, task_index: int) -> Operation:
        """Returns an operation that ends when all workers have begun it."""
        queues = [FIFOQueue(self._num_worker, dtypes.bool, shapes=[[]], shared_name="variable_init_sync_queue%d" % i) for i in range(self._num_worker)]
        with control_dependencies([done]):
            told = [q.enqueue(False) for i, q in enumerate(queues) if i != task_index]
        with control_dependencies(told):
            heard = queues[task_index].dequeue_many(len(queues) - 1)
        return control_flow.group(heard)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """Returns a hook that sets the worker's variables to the shared ones in a new session.

        Args:
          is_chief: Whether the worker is the chief.
          task_index: The number of the worker.
        """
        return _Hook(lambda: self.get_init_op(task_index))

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """Returns a `Saver` that saves the shared variables under the names of the worker's.

        Args:
          var_list: The variables to save; by default, those that are trainable.
          name: The name of the saver.
          **kwargs: More arguments of `Saver`.

        Raises:
          RuntimeError: The getter has made no variable.
        """
        if not self._getter._global:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called after model created and ElasticAverageCustomGetter is used when "
                "declaring you model"
            )
        chosen: Any = trainable_variables() if var_list is None else var_list
        named = chosen if isinstance(chosen, dict) else {v.op.name: v for v in chosen}
        return Saver({key: self._getter._global.get(v.op.name, v) for key, v in named.items()}, name=name, **kwargs)
