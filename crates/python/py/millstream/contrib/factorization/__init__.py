"""`tf.contrib.factorization`: k-means clustering, as a graph (`KMeans`) and an estimator."""

from millstream.contrib.factorization.clustering import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from millstream.contrib.factorization.kmeans import KMeansClustering
from millstream.framework import namespaces

__all__ = [
    "COSINE_DISTANCE",
    "KMEANS_PLUS_PLUS_INIT",
    "KMeans",
    "KMeansClustering",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
