"""`slim.learning`: gradients clipped and scaled, a tensor that trains, and the loop around it."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream.contrib.training import steps
from millstream.contrib.training.steps import add_gradients_summaries, clip_gradient_norms, multiply_gradients
from millstream.framework import constant, control_dependencies, errors, get_default_graph, logging, name_scope, protos
from millstream.framework.op_functions import op
from millstream.io import summaries
from millstream.io.lookup_ops import tables_initializer
from millstream.ops import control_flow, math_ops
from millstream.train import training_util
from millstream.train.basic_session_run_hooks import chrome_trace
from millstream.train.optimizer import Optimizer
from millstream.train.saver import Saver
from millstream.train.supervisor import Supervisor
from millstream.train.sync_replicas import SyncReplicasOptimizer
from millstream.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

__all__ = ["add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients", "train", "train_step"]

# Means the graph's own global step, and the arguments that `train` makes itself.
_USE_GLOBAL_STEP = 0
_USE_DEFAULT = 0


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Optional[Sequence[Any]] = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Optional[int] = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Optional[Dict[Any, Any]] = None,
    check_numerics: bool = True,
) -> Any:
    """Returns a tensor of the loss, available after a step of the optimizer.

    The other arguments are those of `tf.contrib.training.create_train_op`.

    Args:
      total_loss: The loss.
      optimizer: An optimizer.
      clip_gradient_norm: If it is not 0, the largest norm of each gradient.
      gradient_multipliers: A dict from variables, or names of their operations, to factors for gradients.

    Returns:
      A tensor.

    Example:
      >>> w = tf.get_variable("w", initializer=1.0)
      >>> optimizer = tf.train.GradientDescentOptimizer(0.25)
      >>> train = tf.contrib.slim.learning.create_train_op(tf.square(w), optimizer, clip_gradient_norm=1)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(train), sess.run(w))
      1.0 0.75
    """

    def changed(pairs: Any) -> Any:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    step = training_util.get_or_create_global_step() if global_step is _USE_GLOBAL_STEP else global_step
    return steps.create_train_op(
        total_loss,
        optimizer,
        global_step=step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=changed,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Dict[str, Any]) -> Tuple[Any, Any]:
    """Runs one step of training: the default of `train(train_step_fn=..)`.

    Args:
      sess: A session.
      train_op: A tensor of the loss.
      global_step: The global step.
      train_step_kwargs: A dict. It may have boolean tensors `should_stop`, `should_log` and `should_trace`,
        and, for traces, `logdir` and `summary_writer`.

    Returns:
      A pair of the loss, and whether to stop.

    Raises:
      ValueError: `should_trace` is there, and `logdir` is not.

    Example:
      >>> step = tf.train.create_global_step()
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(*tf.contrib.slim.learning.train_step(sess, tf.constant(2.5), step, {}))
      2.5 False
    """
    began, options, metadata = time.time(), None, None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options, metadata = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE), protos.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.time() - began
    if metadata is not None:
        path = os.path.join(train_step_kwargs["logdir"], "tf_trace-%d.json" % step)
        logging.info("Writing trace to %s", path)
        with open(path, "w") as out:
            out.write(chrome_trace(metadata.step_stats))
        if "summary_writer" in train_step_kwargs:
            train_step_kwargs["summary_writer"].add_run_metadata(metadata, "run_metadata-%d" % step)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    return loss, sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False


def train(
    train_op: Any,
    logdir: Optional[str],
    train_step_fn: Callable[..., Any] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: Optional[int] = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Optional[Callable[[Any], None]] = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Optional[Callable[[Any], Any]] = None,
    trace_every_n_steps: Optional[int] = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains in a session of a `Supervisor` until the number of steps, or the end of input, is reached.

    The other arguments are those of `tf.train.Supervisor`.

    Args:
      train_op: A tensor of the loss, such as `create_train_op` returns.
      logdir: The directory of checkpoints and summaries; None for neither.
      train_step_fn: A function of the session, `train_op`, the global step and `train_step_kwargs`, that
        returns the loss and whether to stop.
      train_step_kwargs: A dict for this function; by default that of `train_step`.
      log_every_n_steps: The interval of messages, in steps.
      master: Empty.
      number_of_steps: The global step to stop at.
      startup_delay_steps: The global step at which a process that is not the chief begins.
      save_interval_secs: The interval of checkpoints, in seconds.
      sync_optimizer: The `tf.train.SyncReplicasOptimizer` that made `train_op`, or a list of several. The
        chief runs its threads.
      session_config: A `ConfigProto`.
      session_wrapper: A function of the session that returns the one to use.
      trace_every_n_steps: The interval of traces, in steps.
      ignore_live_threads: If true, threads that do not end in time are ignored.

    Returns:
      The last loss.

    Raises:
      ValueError: An argument is not one of the above, or `sync_optimizer` is another optimizer.

    Example:
      >>> w = tf.get_variable("w", initializer=1.0)
      >>> slim = tf.contrib.slim
      >>> op = slim.learning.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.25))
      >>> print(slim.learning.train(op, None, number_of_steps=3))
      0.0625
    """
    _check(train_op, logdir, summary_op, saver, trace_every_n_steps, sync_optimizer, number_of_steps)
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = training_util.get_or_create_global_step()
        saver = saver or Saver()
        with name_scope("init_ops"):
            init_op = global_variables_initializer() if _is_default(init_op) else init_op
            ready_op = report_uninitialized_variables() if _is_default(ready_op) else ready_op
            if _is_default(local_init_op):
                local_init_op = control_flow.group(local_variables_initializer(), tables_initializer())
            replicas = _listed(sync_optimizer)
            local_init_op, ready_for_local_init_op = _initialized_replicas(replicas, local_init_op, is_chief)
            first_tokens = [optimizer.get_init_tokens_op() for optimizer in replicas] if is_chief else []
        if _is_default(summary_op):
            summary_op = summaries.merge_all()
        if _is_default(train_step_kwargs):
            train_step_kwargs = _step_arguments(global_step, number_of_steps, log_every_n_steps, trace_every_n_steps if is_chief else None, logdir)
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        ready_for_local_init_op=ready_for_local_init_op,
        ready_op=ready_op,
        summary_op=summary_op,
        summary_writer=Supervisor.USE_DEFAULT if _is_default(summary_writer) else summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    loop = _Loop(supervisor, train_op, global_step, train_step_fn, train_step_kwargs, session_wrapper, ignore_live_threads, replicas, first_tokens)
    delay = 0 if is_chief else min(startup_delay_steps, number_of_steps or sys.maxsize)
    while True:
        try:
            return loop.run(master, session_config, delay)
        except errors.AbortedError:
            logging.info("Retrying training!")


def _listed(optimizers: Any) -> List[Any]:
    if optimizers is None:
        return []
    return list(optimizers) if isinstance(optimizers, (list, tuple)) else [optimizers]


def _initialized_replicas(replicas: List[Any], local_init_op: Any, is_chief: bool) -> Tuple[Any, Any]:
    """Returns the local initialization with that of the replicas, and what must be ready before it."""
    ready = None
    for optimizer in replicas:
        with control_dependencies([local_init_op] if local_init_op is not None else []):
            local_init_op = control_flow.group(optimizer.chief_init_op if is_chief else optimizer.local_step_init_op)
        ready = optimizer.ready_for_local_init_op
    return local_init_op, ready


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and value == _USE_DEFAULT


def _check(
    train_op: Any, logdir: Any, summary_op: Any, saver: Any, trace_every_n_steps: Any, sync_optimizer: Any, number_of_steps: Any
) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        given = {
            "summary_op": not _is_default(summary_op),
            "saver": saver is not None,
            "trace_every_n_steps": trace_every_n_steps is not None,
        }
        for name, is_given in given.items():
            if is_given:
                raise ValueError("Cannot provide %s because logdir=None" % name)
    if not all(isinstance(optimizer, SyncReplicasOptimizer) for optimizer in _listed(sync_optimizer)):
        raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _step_arguments(global_step: Any, stop: Optional[int], log: int, trace: Optional[int], logdir: Optional[str]) -> Dict[str, Any]:
    """Returns the arguments of `train_step`: when to stop, to log and to trace."""

    def every(n: int) -> Any:
        return math_ops.equal(op("FloorMod")(global_step, n), 0)

    with name_scope("train_step"):
        arguments = {"should_stop": op("GreaterEqual")(global_step, stop) if stop else constant(False)}
        if log > 0:
            arguments["should_log"] = every(log)
        if trace is not None:
            arguments.update(should_trace=every(trace), logdir=logdir)
        return arguments


class _Loop:
    """The loop of `train`, which is run again if its session is aborted."""

    def __init__(
        self,
        supervisor: Supervisor,
        train_op: Any,
        global_step: Any,
        function: Callable[..., Any],
        arguments: Dict[str, Any],
        wrapper: Optional[Callable[[Any], Any]],
        ignore_live_threads: bool,
        replicas: List[Any],
        first_tokens: List[Any],
    ) -> None:
        self.supervisor, self.train_op, self.global_step = supervisor, train_op, global_step
        self.function, self.arguments, self.wrapper = function, arguments, wrapper
        self.ignore_live_threads, self.replicas = ignore_live_threads, replicas
        self.first_tokens = first_tokens
        self.loss: Any = None

    def run(self, master: str, config: Any, delay: int) -> Any:
        supervisor = self.supervisor
        with supervisor.managed_session(master, start_standard_services=False, config=config) as sess:
            logging.info("Starting Session.")
            if self.wrapper is not None:
                logging.info("Wrapping session with wrapper function: %s", self.wrapper)
                sess = self.wrapper(sess)
            if supervisor.is_chief and supervisor.save_path:
                supervisor.start_standard_services(sess)
            while 0 < delay and training_util.global_step(sess, self.global_step) < delay:
                time.sleep(1.0)
            threads = supervisor.start_queue_runners(sess)
            logging.info("Starting Queues.")
            if supervisor.is_chief and self.replicas:
                threads = [*threads, *supervisor.start_queue_runners(sess, [o.get_chief_queue_runner() for o in self.replicas])]
                sess.run(self.first_tokens)
            try:
                self.steps(sess)
            except errors.OutOfRangeError as end:
                logging.info("Caught OutOfRangeError. Stopping Training. %s", end)
            if supervisor.save_path and supervisor.is_chief:
                self.finish(sess, threads)
        return self.loss

    def steps(self, sess: Any) -> None:
        while not self.supervisor.should_stop():
            self.loss, stop = self.function(sess, self.train_op, self.global_step, self.arguments)
            if stop:
                logging.info("Stopping Training.")
                self.supervisor.request_stop()
                break

    def finish(self, sess: Any, threads: List[Any]) -> None:
        logging.info("Finished training! Saving model to disk.")
        supervisor = self.supervisor
        supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
        supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=self.ignore_live_threads)
