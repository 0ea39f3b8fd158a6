"""`tf.metrics`: statistics over many runs: pairs of a value and an update that adds the next batch.

Accumulators are local variables, also in the collection of metric variables;
`tf.local_variables_initializer()` resets them.

- `basic`: means and counts; `classes`: statistics of each class;
- `thresholds`: rates of right and wrong predictions at several thresholds, and areas under their curves;
- `at_k`: the best k predictions of each example.
"""

from millstream.framework import namespaces
from millstream.metrics.at_k import *  # noqa: F403
from millstream.metrics.basic import *  # noqa: F403
from millstream.metrics.classes import *  # noqa: F403
from millstream.metrics.thresholds import *  # noqa: F403

__dir__ = namespaces.dir_of(globals())
