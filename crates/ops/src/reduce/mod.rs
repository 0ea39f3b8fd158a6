//! Reductions, cumulative ops, arg-extrema.

ops! {}
