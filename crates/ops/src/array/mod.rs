//! Shapes, slices, gathers: ops that move elements.

mod axes;
mod back;
mod keys;
mod paddings;
mod places;
mod subscript;

ops! {
    batch, bitcast, bound, broadcast_to, concat, concat_offset, depth, diag, dynamic_partition, dynamic_stitch, empty, ensure_shape, expand_dims, fill,
    gather, gather_nd, invert_permutation, list_diff, mirror_pad, mirror_pad_grad, nonzero, one_hot, pack, pad, passed_on, rank, reshape, reverse,
    reverse_sequence, roll, scatter_nd, shape, size, slice, sparse_to_dense, split, squeeze, strided_slice, strided_slice_grad, tensor_scatter,
    tensor_strided_slice_update, tile, transpose, unique, unpack, zeros_like,
}

pub(crate) use axes::{entry, listed};
pub(crate) use back::sum_of_all;
pub(crate) use dynamic_partition::prefix_difference;
pub(crate) use gather::{Sizes as GatherSizes, along as gathered_along};
pub(crate) use keys::{Key, keys};
pub(crate) use places::updates_unlike;
pub(crate) use strided_slice::inferred as inferred_subscript;
pub(crate) use subscript::{Subscript, masks};
