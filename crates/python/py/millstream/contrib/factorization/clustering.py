"""`KMeans`: the graph of k-means clustering, whole batches at once or in mini-batches."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream.framework import constant, control_dependencies, convert_to_tensor, dtypes, shapes
from millstream.framework.op_functions import op
from millstream.nn.embedding import embedding_lookup
from millstream.nn.functions import l2_normalize
from millstream.ops import array_ops, check_ops, control_flow, indexing_ops, math_ops, random_ops, reduction_ops
from millstream.variables import state_ops
from millstream.variables.variable import Variable

__all__ = ["COSINE_DISTANCE", "KMEANS_PLUS_PLUS_INIT", "KMeans", "RANDOM_INIT", "SQUARED_EUCLIDEAN_DISTANCE"]

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"

# The name of the variable of the centers, which checkpoints have.
CENTERS = "clusters"

_floor, _log, _maximum, _minimum, _reciprocal = op("Floor"), op("Log"), op("Maximum"), op("Minimum"), op("Reciprocal")
_segment_sum = op("UnsortedSegmentSum")


def check(initial_clusters: Any, distance_metric: str) -> None:
    """Raises an error if a name of an initialization or a metric is unknown."""
    if isinstance(initial_clusters, str):
        if initial_clusters == "kmc2":
            raise NotImplementedError("initial_clusters='kmc2' is not part of Millstream: use 'kmeans_plus_plus'")
        if initial_clusters not in (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT):
            raise ValueError("Unsupported initialization algorithm '%s'" % initial_clusters)
    if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError("Unsupported distance metric '%s'" % distance_metric)


class KMeans:
    """A graph that divides points among clusters, each around a center.

    With `use_mini_batch`, a step moves the centers towards the points of a batch; otherwise a step takes all
    points, and each center becomes the mean of its cluster.

    Args:
      inputs: A matrix of points, one per row, or a list of matrices.
      num_clusters: The number of clusters; unused if `initial_clusters` is a matrix.
      initial_clusters: The first centers: a matrix; a function of the inputs and the number of centers
        that are missing; "random" for random points; or "kmeans_plus_plus" for random points that are far
        from each other. The numbers that "kmeans_plus_plus" draws are not TensorFlow's.
      distance_metric: "squared_euclidean" or "cosine".
      use_mini_batch: Whether a step takes a batch of the points.
      mini_batch_steps_per_iteration: The number of steps for which points are assigned to the same centers.
      random_seed: The seed of the random points.
      kmeans_plus_plus_num_retries: The number of more points from which "kmeans_plus_plus" chooses each.
      kmc2_chain_length: Unused.

    Raises:
      ValueError: `initial_clusters` or `distance_metric` is unknown.

    Example:
      >>> points = tf.constant([[0.0], [1.0], [10.0], [11.0]])
      >>> kmeans = tf.contrib.factorization.KMeans(points, 2, initial_clusters=[[0.0], [1.0]])
      >>> _, nearest, _, ready, init, step = kmeans.training_graph()
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     _ = sess.run(init)
      ...     for _ in range(3):
      ...         centers = sess.run(step)
      ...     print(centers.round(3).ravel(), sess.run(nearest[0]), sess.run(ready))
      [ 0.5 10.5] [0 0 1 1] True

      Each center counts as a point already, when batches move it:

      >>> kmeans = tf.contrib.factorization.KMeans(points, 2, initial_clusters=[[0.0], [10.0]], use_mini_batch=True)
      >>> *_, init, step = kmeans.training_graph()
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     _ = sess.run(init)
      ...     _ = sess.run(step)
      ...     print(sess.run("clusters_1:0").round(3).ravel())
      [ 0.333 10.333]
    """

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        check(initial_clusters, distance_metric)
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters, self._initial_clusters = num_clusters, initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch, self._n_steps = use_mini_batch, int(mini_batch_steps_per_iteration)
        self._random_seed, self._n_retries = random_seed, kmeans_plus_plus_num_retries

    def training_graph(self) -> Tuple[Any, Any, Any, Any, Any, Any]:
        """Returns the parts of the graph.

        Run the second last until the centers are initialized, then the last for each step.

        Returns:
          A tuple: for each matrix of points, the distances to all centers; the indices of the nearest
          centers; the distances to these; a variable that is true when there are as many centers as
          clusters; an operation that chooses centers from the points; and an operation that makes a step.
        """
        first = self._initial_clusters
        if isinstance(first, str) or callable(first):
            n_clusters = convert_to_tensor(self._num_clusters)
        else:
            first = convert_to_tensor(first)
            n_clusters = array_ops.shape(first)[0]
        inputs = [convert_to_tensor(x) for x in self._inputs]
        is_slow = self._use_mini_batch and self._n_steps > 1  # Centers are moved later than they are updated.
        none = constant([], dtypes.float32)
        centers = Variable(none, name=CENTERS, validate_shape=False)
        is_ready = Variable(False, name="initialized", dtype=dtypes.bool)
        moved, n_left, counts = centers, None, None
        if is_slow:
            moved = Variable(none, name="clusters_updated", validate_shape=False)
            n_left = Variable(self._n_steps, name="update_in_steps", dtype=dtypes.int64)
            counts = Variable(array_ops.zeros([n_clusters], dtypes.int64))
        elif self._use_mini_batch:
            counts = Variable(array_ops.ones([n_clusters], dtypes.int64))
        init = _FirstCenters(inputs, n_clusters, first, self._cosine, self._random_seed, self._n_retries).operation(centers, moved, is_ready)

        near: Any = centers
        are_normal = self._cosine and (not self._use_mini_batch or is_slow)  # The centers have a norm of 1.
        if self._cosine:
            inputs = [l2_normalize(x, 1) for x in inputs]
            if not are_normal:
                near = l2_normalize(centers, 1)
        everything, scores, indices = [], [], []
        for x in inputs:
            distances, nearest, index = self._distances(x, near)
            everything.append(distances)
            scores.append(nearest)
            indices.append(index)
        if self._use_mini_batch:
            with control_dependencies([self._moved(n_left, centers, moved, counts) if is_slow else control_flow.no_op()]):
                step = self._mini_batch(inputs, indices, moved, counts)
        else:
            step = self._whole_batch(inputs, indices, n_clusters, centers)
        return tuple(everything), tuple(indices), tuple(scores), is_ready, init, step

    def _distances(self, x: Any, centers: Any) -> Tuple[Any, Any, Any]:
        """Returns the distances of points to all centers and to the nearest, and its index."""
        product = math_ops.matmul(x, centers, transpose_b=True)
        size = reduction_ops.reduce_sum(math_ops.square(centers), 1)
        own = reduction_ops.reduce_sum(math_ops.square(x), 1, keepdims=True)
        far = 0.5 * size - product  # Half of the squared distance, without the point's own part.
        index = reduction_ops.argmin(far, 1)
        nearest = _maximum(own[:, 0] + 2.0 * reduction_ops.reduce_min(far, 1), 0.0)
        if self._cosine:
            return 1 - product, nearest * 0.5, index
        return own - 2 * product + size, nearest, index

    def _moved(self, n_left: Any, centers: Any, moved: Any, counts: Any) -> Any:
        """Returns an operation that copies the updated centers when their steps are over."""

        def copy() -> Any:
            with control_dependencies([state_ops.assign(n_left, self._n_steps - 1)]):
                value = l2_normalize(moved, 1) if self._cosine else array_ops.identity(moved)
            with control_dependencies([state_ops.assign(centers, value, validate_shape=False)]):
                with control_dependencies([state_ops.assign(counts, array_ops.zeros_like(counts))]):
                    return array_ops.identity(n_left)

        return control_flow.cond(n_left <= 0, copy, lambda: state_ops.assign_sub(n_left, 1))

    def _mini_batch(self, inputs: List[Any], indices: List[Any], centers: Any, counts: Any) -> Any:
        updates = []
        for x, index in zip(inputs, indices):
            clusters, which = array_ops.unique(array_ops.reshape(index, [-1]))
            n = array_ops.size(clusters)
            before = indexing_ops.gather(counts, clusters)
            old = indexing_ops.gather(centers, clusters)
            more = _segment_sum(array_ops.ones_like(which, dtype=counts.dtype.base_dtype), which, n)
            # With n points so far, k more of sum s move a center c by (s - k c) / (n + k).
            change = _segment_sum(x, which, n) - array_ops.expand_dims(math_ops.cast(more, x.dtype), 1) * old
            change *= array_ops.expand_dims(_reciprocal(math_ops.cast(before + more, x.dtype)), 1)
            updates.append(state_ops.scatter_add(counts, clusters, more))
            updates.append(state_ops.scatter_add(centers, clusters, change))
        return control_flow.group(*updates)

    def _whole_batch(self, inputs: List[Any], indices: List[Any], n_clusters: Any, centers: Any) -> Any:
        sums, counts = [], []
        for x, index in zip(inputs, indices):
            sums.append(_segment_sum(x, index, n_clusters))
            counts.append(_segment_sum(array_ops.ones([array_ops.shape(x)[0], 1], x.dtype), index, n_clusters))
        means = math_ops.add_n(sums) / (math_ops.add_n(counts) + constant(1e-6, inputs[0].dtype))
        if self._cosine:
            means = l2_normalize(means, 1)
        return state_ops.assign(centers, means)


class _FirstCenters:
    """The choice of the first centers."""

    def __init__(self, inputs: List[Any], n_clusters: Any, first: Any, cosine: bool, seed: int, n_retries: int) -> None:
        self._inputs, self._n_clusters, self._first = inputs, n_clusters, first
        self._cosine, self._seed, self._n_retries = cosine, seed, n_retries
        self._n_missing: Any = None
        self._n_data: Any = None

    def operation(self, centers: Any, moved: Any, is_ready: Any) -> Any:
        n_chosen = array_ops.shape(centers)[0]
        self._n_missing = self._n_clusters - n_chosen
        self._n_data = math_ops.add_n([array_ops.shape(x)[0] for x in self._inputs])

        def choose() -> Any:
            with control_dependencies([check_ops.assert_positive(self._n_missing)]):
                new = self._chosen()
            if self._cosine:
                new = l2_normalize(new, 1)
            # A variable of no centers has no rows to concatenate with.
            whole = control_flow.cond(math_ops.equal(n_chosen, 0), lambda: array_ops.identity(new), lambda: array_ops.concat([centers, new], 0))
            value = state_ops.assign(centers, whole, validate_shape=False)
            if moved is not centers:
                value = state_ops.assign(moved, value, validate_shape=False)
            is_done = math_ops.equal(self._n_clusters - array_ops.shape(value)[0], 0)
            return control_flow.cond(is_done, lambda: state_ops.assign(is_ready, True).op, control_flow.no_op)

        return control_flow.cond(math_ops.equal(self._n_missing, 0), lambda: check_ops.assert_equal(is_ready, True), choose)

    def _chosen(self) -> Any:
        first = self._first
        if callable(first):
            return first(self._inputs, self._n_missing)
        if not isinstance(first, str):
            with control_dependencies([check_ops.assert_equal(self._n_missing, array_ops.shape(first)[0])]):
                return array_ops.identity(first)
        if first == RANDOM_INIT:
            return control_flow.cond(self._n_data <= self._n_missing, lambda: array_ops.concat(self._inputs, 0), self._random)
        with control_dependencies([check_ops.assert_greater_equal(self._n_data, self._n_missing)]):
            return self._far_apart()

    def _random(self) -> Any:
        shape, limit = array_ops.reshape(self._n_missing, [-1]), math_ops.cast(self._n_data, dtypes.int64)
        indices = random_ops.random_uniform(shape, 0, limit, dtypes.int64, self._seed)
        return embedding_lookup(self._inputs, indices, partition_strategy="div")

    def _far_apart(self) -> Any:
        """Returns points, each drawn with the square of its distance to those before as probability."""
        points = l2_normalize(self._inputs[0], 1) if self._cosine else array_ops.identity(self._inputs[0])
        n = array_ops.shape(points)[0]
        n_drawn = 1 + self._n_retries if self._n_retries >= 0 else None

        def distances(indices: Any) -> Any:
            apart = array_ops.expand_dims(points, 0) - array_ops.expand_dims(indexing_ops.gather(points, indices), 1)
            return reduction_ops.reduce_sum(math_ops.square(apart), 2)

        def body(i: Any, near: Any, chosen: Any) -> Any:
            total = reduction_ops.reduce_sum(near)
            odds = array_ops.where(math_ops.equal(total, 0.0), array_ops.zeros_like(near), _log(near))
            drawn = random_ops.multinomial(array_ops.expand_dims(odds, 0), self._drawn(n_drawn), seed=self._seed)[0]
            after = _minimum(distances(drawn), near)
            best = reduction_ops.argmin(reduction_ops.reduce_sum(after, 1), 0)
            return i + 1, indexing_ops.gather(after, best), array_ops.concat([chosen, [indexing_ops.gather(drawn, best)]], 0)

        start = random_ops.random_uniform([1], 0, math_ops.cast(n, dtypes.int64), dtypes.int64, self._seed)
        near = distances(start)[0]
        near.set_shape([None])
        invariants = [shapes.TensorShape([]), near.shape, shapes.TensorShape([None])]
        chosen = control_flow.while_loop(lambda i, near, chosen: i < self._n_missing, body, [constant(1), near, start], invariants)[2]
        return indexing_ops.gather(points, chosen)

    def _drawn(self, n: Optional[int]) -> Any:
        if n is not None:
            return n
        return 3 + math_ops.cast(_floor(_log(math_ops.cast(self._n_missing, dtypes.float32))), dtypes.int32)
