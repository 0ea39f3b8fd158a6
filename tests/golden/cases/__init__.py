"""The golden cases, one module per group. Importing this package registers all of them."""
from . import loops, loops_types, conds, raw, state, optimizers, algorithms, errors, functional, tensor_arrays, lists  # noqa: F401
