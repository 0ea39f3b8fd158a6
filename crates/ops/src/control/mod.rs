//! The control-flow primitives.

ops! {}
