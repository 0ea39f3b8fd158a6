//! Shapes, slices, gathers: ops that move elements.

ops! {}
