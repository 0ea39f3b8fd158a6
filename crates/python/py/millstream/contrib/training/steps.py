"""Operations that train, and the loop that runs one: `create_train_op`, `train`."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import millstream as tf
from millstream import logging
from millstream.control_flow import with_dependencies
from millstream.graph_keys import GraphKeys

Pairs = Sequence[Tuple[Any, Any]]


def add_gradients_summaries(grads_and_vars: Pairs) -> List[Any]:
    """Histograms of the gradients, and their norms as numbers.

    Args:
      grads_and_vars: Pairs of gradient and variable; those without a gradient are passed over.

    Returns:
      The summaries.

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
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
        summaries.append(tf.summary.histogram(var.op.name + "_gradient", values))
        summaries.append(tf.summary.scalar(var.op.name + "_gradient_norm", tf.global_norm([values])))
    return summaries


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[Pairs], List[Tuple[Any, Any]]]:
    """`clip_gradient_norms` as a `transform_grads_fn`.

    Args:
      max_norm: How long a gradient may be.

    Returns:
      A function of pairs of gradient and variable that gives such pairs.

    Example:
      >>> clip = tf.contrib.training.clip_gradient_norms_fn(1.0)
      >>> ((g, _),) = clip([(tf.constant([3.0, 4.0]), None)])
      >>> print(tf.Session().run(g).round(2))
      [0.6 0.8]
    """
    from millstream.contrib.training import clip_gradient_norms

    return lambda gradients: clip_gradient_norms(gradients, max_norm)


def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Dict[Any, Any]) -> List[Tuple[Any, Any]]:
    """Pairs of gradient and variable, gradients multiplied by the factors of their variables.

    Args:
      grads_and_vars: A list of pairs of gradient and variable.
      gradient_multipliers: Factors by variables, or by the names of their operations.

    Returns:
      A list of pairs.

    Raises:
      ValueError: There are no pairs or no factors, or one is for a variable without a gradient.

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
            factor = tf.cast(gradient_multipliers[key], grad.dtype.base_dtype)
            if isinstance(grad, tf.IndexedSlices):
                grad = tf.IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
            else:
                grad = grad * factor
        out.append((grad, var))
    return out


# Stands for the graph's own step, made if there is none: None stands for no step.
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
    """A tensor that is the loss, once a step of the optimizer is done.

    Args:
      total_loss: The loss.
      optimizer: An optimizer.
      global_step: What counts the steps; by default the graph's own. None for none.
      update_ops: Operations that run before the loss is computed; by default those of the collection `UPDATE_OPS`.
      variables_to_train: Variables; by default all that may be trained.
      transform_grads_fn: A function of a list of pairs of gradient and variable that gives such a list.
      summarize_gradients: Whether summaries of the gradients are made.
      gate_gradients: As `Optimizer.compute_gradients` takes it.
      aggregation_method: As `Optimizer.compute_gradients` takes it.
      colocate_gradients_with_ops: As `Optimizer.compute_gradients` takes it.
      check_numerics: Whether a loss that is infinite or no number is an error.

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
    step = tf.train.get_or_create_global_step() if global_step is _USE_GLOBAL_STEP else global_step
    known = set(tf.get_collection(GraphKeys.UPDATE_OPS))
    updates = known if update_ops is None else set(update_ops)
    if not known.issubset(updates):
        logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with tf.control_dependencies(sorted(updates, key=lambda op: op.name)):
            barrier = tf.no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    trained = list(tf.trainable_variables()) if variables_to_train is None else list(variables_to_train)
    for v in trained:
        assert any(v is other for other in tf.trainable_variables()), "%s is no variable that may be trained" % v
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
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(grads)
    applied = optimizer.apply_gradients(grads, global_step=step)
    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([applied], total_loss)
    collected = tf.get_collection_ref(GraphKeys.TRAIN_OP)
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
    """Runs `train_op` in a `MonitoredTrainingSession` until a hook, or the end of the input, stops it.

    Args:
      train_op: What is run: an operation or tensors.
      logdir: A folder for checkpoints and summaries; None for neither.
      master: The session's target: leave it empty.
      is_chief: Whether this process initializes the variables.
      scaffold: A `Scaffold`.
      hooks: Hooks.
      chief_only_hooks: Hooks of the chief's.
      save_checkpoint_secs: How many seconds there are between checkpoints.
      save_summaries_steps: How many steps there are between summaries.
      config: A `ConfigProto`.
      max_wait_secs: How long it waits for the chief.
      run_metadata: A `RunMetadata` that is filled in each time.

    Returns:
      The last value of `train_op`.

    Raises:
      ValueError: There is no folder, and something is to be saved.

    Example:
      >>> w = tf.get_variable("w", initializer=1.0)
      >>> op = tf.contrib.training.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.25))
      >>> hooks = [tf.train.StopAtStepHook(num_steps=2)]
      >>> print(tf.contrib.training.train(op, None, hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None))
      0.25
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    with tf.train.MonitoredTrainingSession(
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
