"""`KMeansClustering`: the estimator of k-means clustering."""

from __future__ import annotations

import time
from typing import Any, Iterator, Optional

from millstream.contrib.factorization import clustering
from millstream.contrib.factorization.clustering import COSINE_DISTANCE, KMEANS_PLUS_PLUS_INIT, RANDOM_INIT, SQUARED_EUCLIDEAN_DISTANCE, KMeans
from millstream.estimator.estimator import Estimator
from millstream.estimator.export import PredictOutput
from millstream.estimator.model_fn import EstimatorSpec
from millstream.feature_column.inputs import input_layer
from millstream.framework import logging
from millstream.io import summaries
from millstream.metrics.basic import mean
from millstream.ops import array_ops, control_flow, reduction_ops
from millstream.train import training_util
from millstream.train.session_run_hook import SessionRunArgs, SessionRunHook
from millstream.variables import state_ops

__all__ = ["KMeansClustering"]


class _Steady(SessionRunHook):
    """Ends training when the loss hardly changes from one step to the next."""

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss, self._tolerance = loss, tolerance
        self._before: Optional[float] = None

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss = run_values.results
        if self._before and abs(loss - self._before) / (1 + abs(self._before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss


class _Initialize(SessionRunHook):
    """Chooses the centers before the first step; workers wait until the chief has done it."""

    def __init__(self, init: Any, is_ready: Any, is_chief: bool) -> None:
        self._init, self._is_ready, self._is_chief = init, is_ready, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        while True:
            try:
                if session.run(self._is_ready):
                    return
                if self._is_chief:
                    session.run(self._init)
                else:
                    time.sleep(1)
            except RuntimeError as error:
                logging.info(str(error))


def _points(features: Any, columns: Any) -> Any:
    """Returns the matrix of points that features describe."""
    if not isinstance(features, dict):
        return features
    if columns:
        return input_layer(features, columns)
    return array_ops.concat([features[key] for key in sorted(features)], 1)


class KMeansClustering(Estimator):
    """An estimator that divides points among clusters, each around a center.

    The input function returns points as a matrix, or a dict of features with one number per point each.
    Labels are ignored. The loss, and the metric "score", is the sum of the distances to the nearest centers.

    Args:
      num_clusters: The number of clusters; unused if `initial_clusters` is a matrix.
      model_dir: The directory of checkpoints and summaries.
      initial_clusters: The first centers; see `KMeans`.
      distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
      random_seed: The seed of the first centers.
      use_mini_batch: Whether a step takes a batch of the points. Otherwise the input function returns all.
      mini_batch_steps_per_iteration: The number of steps for which points are assigned to the same centers.
      kmeans_plus_plus_num_retries: See `KMeans`.
      relative_tolerance: Training ends when the loss changes less than this part of it, or None.
      config: A `RunConfig`.
      feature_columns: Columns that make points of features; by default, all features are used.

    Raises:
      ValueError: `initial_clusters` or `distance_metric` is unknown.

    Example:
      >>> def points():
      ...     return tf.constant([[0.0], [1.0], [10.0], [11.0]])
      >>> kmeans = tf.contrib.factorization.KMeansClustering(2, initial_clusters=[[0.0], [1.0]], use_mini_batch=False)
      >>> kmeans = kmeans.train(points, steps=3)
      >>> print(kmeans.cluster_centers().round(3).ravel(), kmeans.score(points))
      [ 0.5 10.5] 1.0
    """

    SQUARED_EUCLIDEAN_DISTANCE = SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = COSINE_DISTANCE
    RANDOM_INIT = RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering.CENTERS

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Optional[str] = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: Optional[float] = None,
        config: Any = None,
        feature_columns: Any = None,
    ) -> None:
        clustering.check(initial_clusters, distance_metric)

        def model_fn(features: Any, mode: Any, config: Any) -> Any:
            kmeans = KMeans(
                _points(features, feature_columns),
                num_clusters,
                initial_clusters,
                distance_metric,
                use_mini_batch,
                mini_batch_steps_per_iteration,
                random_seed,
                kmeans_plus_plus_num_retries,
            )
            (distances,), (index,), losses, is_ready, init, step = kmeans.training_graph()
            loss = reduction_ops.reduce_sum(losses)
            summaries.scalar("loss/raw", loss)
            count = state_ops.assign_add(training_util.get_global_step(), 1)
            hooks: list = [_Initialize(init, is_ready, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(_Steady(loss, relative_tolerance))
            outputs = {self.ALL_DISTANCES: distances, self.CLUSTER_INDEX: index}
            return EstimatorSpec(
                mode,
                predictions=outputs,
                loss=loss,
                train_op=control_flow.with_dependencies([step, count], loss),
                eval_metric_ops={self.SCORE: mean(loss)},
                training_hooks=hooks,
                export_outputs={**{key: PredictOutput(value) for key, value in outputs.items()}, "serving_default": PredictOutput(index)},
            )

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_index(self, input_fn: Any) -> Iterator[Any]:
        """Yields the index of the nearest center of each point."""
        return self._predicted(input_fn, self.CLUSTER_INDEX)

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """Yields the distances of each point to all centers."""
        return self._predicted(input_fn, self.ALL_DISTANCES)

    def score(self, input_fn: Any) -> Any:
        """Returns the sum of the distances of a batch of points to their nearest centers."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def cluster_centers(self) -> Any:
        """Returns the centers, one per row."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)

    def _predicted(self, input_fn: Any, key: str) -> Iterator[Any]:
        for result in self.predict(input_fn, predict_keys=[key]):
            yield result[key]
