//! Array ops: shapes, slices, gathers and other ops that move elements without computing with them.

mod paddings;

pub(crate) use concat::{infer as infer_joined, joined};
pub(crate) use mirror_pad::mirrored;
pub(crate) use paddings::padded;
pub(crate) use reshape::{infer as infer_reshaped, reshaped};
pub(crate) use slice::{bounds, part};

ops! {
    bitcast,
    broadcast_to,
    concat,
    concat_offset,
    data_format_dim_map,
    diag,
    dynamic_partition,
    dynamic_stitch,
    empty,
    ensure_shape,
    expand_dims,
    fill,
    gather,
    gather_nd,
    inplace,
    invert_permutation,
    list_diff,
    lower_bound,
    mirror_pad,
    mirror_pad_grad,
    one_hot,
    pack,
    pad,
    parallel_concat,
    pass_through,
    rank,
    reshape,
    reverse,
    reverse_sequence,
    roll,
    scatter_nd,
    shape,
    size,
    slice,
    space_to_batch,
    space_to_batch_nd,
    space_to_depth,
    sparse_to_dense,
    split,
    squeeze,
    strided_slice,
    strided_slice_grad,
    tensor_scatter,
    tensor_strided_slice_update,
    tile,
    transpose,
    unique,
    unpack,
    unravel_index,
    r#where,
    zeros_like,
}
