# The whole package under TensorFlow's later name for it.

from millstream import *
