//! Sparse tensors: indices, values and a shape, as three tensors. Sets, which are their rows.

mod batches;
mod entries;
mod row_numbers;
#[cfg(feature = "input")]
mod serialized;
mod sets;
mod tensors_map;

ops! {
    add_many_sparse_to_tensors_map,
    add_sparse_to_tensors_map,
    #[cfg(feature = "input")]
    deserialize_sparse,
    edit_distance,
    #[cfg(feature = "input")]
    serialize_many_sparse,
    #[cfg(feature = "input")]
    serialize_sparse,
    set_operation,
    set_size,
    sparse_add,
    sparse_add_grad,
    sparse_concat,
    sparse_cross,
    sparse_dense_cwise,
    sparse_fill_empty_rows,
    sparse_fill_empty_rows_grad,
    sparse_reduce,
    sparse_reorder,
    sparse_reshape,
    sparse_slice,
    sparse_slice_grad,
    sparse_softmax,
    sparse_sparse_extreme,
    sparse_split,
    sparse_tensor_dense_add,
    sparse_tensor_dense_mat_mul,
    take_many_sparse_from_tensors_map,
}
