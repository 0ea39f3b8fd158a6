"""`tf.contrib.solvers`: iterative solvers of linear equations, which know a matrix by its products.

`linear_equations` and `least_squares` solve, `lanczos` makes a matrix bidiagonal, and `util` makes the
operators that they take.
"""

from millstream.contrib.solvers import lanczos, least_squares, linear_equations, util

__all__ = ["lanczos", "least_squares", "linear_equations", "util"]
