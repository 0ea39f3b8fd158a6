//! Shapes, slices, gathers: ops that move elements.

mod axes;

ops! { expand_dims, fill, rank, reshape, shape, size, squeeze, zeros_like }
