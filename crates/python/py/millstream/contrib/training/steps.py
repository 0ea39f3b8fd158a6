"""Training operations, and the loop that runs one: `create_train_op`, `train`."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream.framework import (
    IndexedSlices,
    control_dependencies,
    get_collection,
    get_collection_ref,
    logging,
    name_scope,
    op_functions,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.io.summaries import histogram, scalar
from millstream.ops import clip_ops, control_flow, math_ops
from millstream.ops.control_flow import with_dependencies
from millstream.train.monitored_session import MonitoredTrainingSession
from millstream.train.training_util import get_or_create_global_step
from millstream.variables.collections import trainable_variables

Pairs = Sequence[Tuple[Any, Any]]


def add_gradients_summaries(grads_and_vars: Pairs) -> List[Any]:
    """Adds histograms of gradients, and scalars of their norms.

    Args:
      grads_and_vars: A list of pairs of a gradient and a variable; gradients of None are skipped.

    Returns:
      A list of summaries.

    Example:
      >>> w = tf.get_variable("w", initializer=1.0)
      >>> made = tf.contrib.training.add_gradients_summaries([(tf.constant(3.0), w)])
      >>> print([s.op.name for s in made])
      ['w_gradient', 'w_gradient_norm']
    """
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            logging.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        summaries.append(histogram(var.op.name + "_gradient", values))
        summaries.append(scalar(var.op.name + "_gradient_norm", clip_ops.global_norm([values])))
    return summaries


def clip_gradient_norms(gradients_to_variables: Sequence[Tuple[Any, Any]], max_norm: Any) -> List[Tuple[Any, Any]]:
    """Clips each gradient to a norm of at most `max_norm`.

    Args:
      gradients_to_variables: A list of pairs of a gradient, or None, and a variable.
      max_norm: The largest Euclidean norm.

    Returns:
      A list of pairs.

    Example:
      >>> v = tf.Variable([0.0, 0.0])
      >>> (clipped, _), = tf.contrib.training.clip_gradient_norms([(tf.constant([3.0, 4.0]), v)],
      ...     max_norm=1.0)
      >>> print(tf.Session().run(clipped))
      [0.6 0.8]
    """
    out = []
    for grad, var in gradients_to_variables:
        if isinstance(grad, IndexedSlices):
            grad = IndexedSlices(clip_ops.clip_by_norm(grad.values, max_norm), grad.indices, grad.dense_shape)
        elif grad is not None:
            grad = clip_ops.clip_by_norm(grad, max_norm)
        out.append((grad, var))
    return out


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[Pairs], List[Tuple[Any, Any]]]:
    """Returns `clip_gradient_norms` as a `transform_grads_fn`.

    Args:
      max_norm: The largest Euclidean norm.

    Returns:
      A function from pairs of a gradient and a variable to such pairs.

    Example:
      >>> clip = tf.contrib.training.clip_gradient_norms_fn(1.0)
      >>> ((g, _),) = clip([(tf.constant([3.0, 4.0]), None)])
      >>> print(tf.Session().run(g).round(2))
      [0.6 0.8]
    """
    return lambda gradients: clip_gradient_norms(gradients, max_norm)


def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Dict[Any, Any]) -> List[Tuple[Any, Any]]:
    """Multiplies gradients by factors.

    Args:
      grads_and_vars: A list of pairs of a gradient and a variable.
      gradient_multipliers: A dict from variables, or names of their operations, to factors.

    Returns:
      A list of pairs.

    Raises:
      ValueError: An argument is empty or has the wrong type, or a factor is for a variable without a
        gradient.

    Example:
      >>> w = tf.get_variable("w", initializer=1.0)
      >>> ((g, _),) = tf.contrib.training.multiply_gradients([(tf.constant(3.0), w)], {"w": 10.0})
      >>> print(tf.Session().run(g))
      30.0
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    out = []
    for grad, var in grads_and_vars:
        key = var if var in gradient_multipliers else var.op.name
        if key in gradient_multipliers:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = math_ops.cast(gradient_multipliers[key], grad.dtype.base_dtype)
            if isinstance(grad, IndexedSlices):
                grad = IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
            else:
                grad = grad * factor
        out.append((grad, var))
    return out


# Means the graph's own global step, created if there is none; None means no step.
_USE_GLOBAL_STEP = 0


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Optional[Sequence[Any]] = None,
    transform_grads_fn: Optional[Callable[[Any], Any]] = None,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: Optional[int] = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """Returns a tensor of the loss, available after a step of the optimizer.

    Args:
      total_loss: The loss.
      optimizer: An optimizer.
      global_step: The variable that counts steps; by default the graph's own. None for none.
      update_ops: The operations to run before the loss is computed; by default the collection `UPDATE_OPS`.
      variables_to_train: The variables to update; by default all trainable ones.
      transform_grads_fn: A function from a list of pairs of a gradient and a variable to such a list.
      summarize_gradients: If true, summaries of the gradients are added.
      gate_gradients: As in `Optimizer.compute_gradients`.
      aggregation_method: As in `Optimizer.compute_gradients`.
      colocate_gradients_with_ops: As in `Optimizer.compute_gradients`.
      check_numerics: If true, an infinite or NaN loss is an error.

    Returns:
      A tensor.

    Example:
      >>> w = tf.get_variable("w", initializer=1.0)
      >>> op = tf.contrib.training.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.25))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(op), sess.run(w))
      1.0 0.5
    """
    step = get_or_create_global_step() if global_step is _USE_GLOBAL_STEP else global_step
    known = set(get_collection(GraphKeys.UPDATE_OPS))
    updates = known if update_ops is None else set(update_ops)
    if not known.issubset(updates):
        logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with control_dependencies(sorted(updates, key=lambda op: op.name)):
            barrier = control_flow.no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    trained = list(trainable_variables()) if variables_to_train is None else list(variables_to_train)
    for v in trained:
        assert any(v is other for other in trainable_variables()), "%s is no variable that may be trained" % v
    assert trained, "there are no variables to train"
    grads = optimizer.compute_gradients(
        total_loss,
        trained,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn is not None:
        grads = transform_grads_fn(grads)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(grads)
    applied = optimizer.apply_gradients(grads, global_step=step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = op_functions.op("CheckNumerics")(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([applied], total_loss)
    collected = get_collection_ref(GraphKeys.TRAIN_OP)
    if not any(train_op is other for other in collected):
        collected.append(train_op)
    return train_op


def train(
    train_op: Any,
    logdir: Optional[str],
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Optional[Sequence[Any]] = None,
    chief_only_hooks: Optional[Sequence[Any]] = None,
    save_checkpoint_secs: Any = 600,
    save_summaries_steps: Any = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs `train_op` in a `MonitoredTrainingSession` until a hook or the end of input stops it.

    Args:
      train_op: The fetches: an operation or tensors.
      logdir: The directory of checkpoints and summaries; None for neither.
      master: Empty.
      is_chief: If true, this process initializes the variables.
      scaffold: A `Scaffold`.
      hooks: A list of hooks.
      chief_only_hooks: A list of hooks for the chief only.
      save_checkpoint_secs: The interval of checkpoints, in seconds.
      save_summaries_steps: The interval of summaries, in steps.
      config: A `ConfigProto`.
      max_wait_secs: The time to wait for the chief, in seconds.
      run_metadata: A `RunMetadata` that each run fills.

    Returns:
      The last value of `train_op`.

    Raises:
      ValueError: `logdir` is None, and checkpoints or summaries are requested.

    Example:
      >>> w = tf.get_variable("w", initializer=1.0)
      >>> op = tf.contrib.training.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.25))
      >>> hooks = [tf.train.StopAtStepHook(num_steps=2)]
      >>> print(tf.contrib.training.train(op, None, hooks=hooks, save_checkpoint_secs=None,
      ...     save_summaries_steps=None))
      0.25
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        loss = None
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
