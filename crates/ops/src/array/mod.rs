//! Shapes, slices, gathers: ops that move elements.

mod axes;
mod paddings;
mod places;
mod subscript;

ops! {
    broadcast_to, concat, concat_offset, expand_dims, fill, gather, gather_nd, invert_permutation, mirror_pad, nonzero, one_hot,
    pack, pad, rank, reshape, reverse, reverse_sequence, scatter_nd, shape, size, slice, split, squeeze, strided_slice,
    strided_slice_grad, tensor_scatter, tile, transpose, unpack, zeros_like,
}
