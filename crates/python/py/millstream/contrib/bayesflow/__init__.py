"""`tf.contrib.bayesflow`: expectations by samples, in `monte_carlo`."""

from millstream.contrib.bayesflow import monte_carlo

__all__ = ["monte_carlo"]
