"""`GraphKeys`: the names of a graph's collections."""

from __future__ import annotations

from typing import List


class GraphKeys:
    """Names of collections, for `Graph.get_collection`.

    Example:
      >>> v = tf.Variable(1.0, name="v")
      >>> [v.name for v in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)]
      ['v:0']
    """

    # Variables.
    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    CONCATENATED_VARIABLES = "concatenated_variables"
    WEIGHTS = "weights"
    BIASES = "biases"

    # Parts of a training run.
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    TRAIN_OP = "train_op"
    UPDATE_OPS = "update_ops"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    ACTIVATIONS = "activations"

    # Parts with state or threads of their own.
    QUEUE_RUNNERS = "queue_runners"
    SUMMARIES = "summaries"
    TABLE_INITIALIZERS = "table_initializer"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    SAVERS = "savers"
    SAVEABLE_OBJECTS = "saveable_objects"
    ASSET_FILEPATHS = "asset_filepaths"

    # Control flow.
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"

    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _STREAMING_MODEL_PORTS = "streaming_model_ports"
    _VARIABLE_COLLECTIONS: List[str] = [
        GLOBAL_VARIABLES,
        LOCAL_VARIABLES,
        METRIC_VARIABLES,
        MODEL_VARIABLES,
        TRAINABLE_VARIABLES,
        MOVING_AVERAGE_VARIABLES,
        CONCATENATED_VARIABLES,
        TRAINABLE_RESOURCE_VARIABLES,
    ]

    # The former name.
    VARIABLES = GLOBAL_VARIABLES
