//! Tensor lists: values of variant dtype that grow and shrink in loops.

mod lists;

ops! {
    empty_tensor_list,
    tensor_list_concat,
    tensor_list_concat_lists,
    tensor_list_element_shape,
    tensor_list_from_tensor,
    tensor_list_gather,
    tensor_list_get_item,
    tensor_list_length,
    tensor_list_pop_back,
    tensor_list_push_back,
    tensor_list_push_back_batch,
    tensor_list_reserve,
    tensor_list_resize,
    tensor_list_scatter,
    tensor_list_scatter_into_existing_list,
    tensor_list_set_item,
    tensor_list_split,
    tensor_list_stack,
}
