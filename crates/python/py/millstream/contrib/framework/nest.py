"""`tf.contrib.framework.nest`: the same module as `tf.nest`."""

import sys

from millstream.framework import nest

sys.modules[__name__] = nest
