"""`tf.contrib.training`: batches of similar examples, loops that train and evaluate, `HParams`."""

from __future__ import annotations

from millstream.contrib.training.bucketing import MaxTokens, bucket, bucket_by_sequence_length
from millstream.contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)
from millstream.contrib.training.feeding import FeedingQueueRunner
from millstream.contrib.training.hparams import HParams, parse_values
from millstream.contrib.training.placement import GreedyLoadBalancingStrategy, RandomStrategy, byte_size_load_fn
from millstream.contrib.training.resampling import (
    rejection_sample,
    resample_at_rate,
    stratified_sample,
    weighted_resample,
)
from millstream.contrib.training.sequences import (
    NextQueuedSequenceBatch,
    SequenceQueueingStateSaver,
    batch_sequences_with_states,
)
from millstream.contrib.training.steps import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from millstream.framework import namespaces
from millstream.train.supervisor import checkpoints_iterator

__all__ = [
    "FeedingQueueRunner",
    "GreedyLoadBalancingStrategy",
    "HParams",
    "MaxTokens",
    "NextQueuedSequenceBatch",
    "RandomStrategy",
    "SequenceQueueingStateSaver",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "batch_sequences_with_states",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "rejection_sample",
    "resample_at_rate",
    "stratified_sample",
    "train",
    "wait_for_new_checkpoint",
    "weighted_resample",
]

__dir__ = namespaces.dir_of(globals())
