//! Shapes, slices, gathers: ops that move elements.

mod axes;
mod subscript;

ops! { expand_dims, fill, rank, reshape, shape, size, slice, squeeze, strided_slice, strided_slice_grad, zeros_like }
