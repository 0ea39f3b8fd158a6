//! TensorArrays and stacks, which live for one step.

mod stacks;
mod tensor_arrays;

ops! {
    stack,
    stack_close,
    stack_pop,
    stack_push,
    tensor_array,
    tensor_array_close,
    tensor_array_concat,
    tensor_array_gather,
    tensor_array_grad,
    tensor_array_grad_with_shape,
    tensor_array_pack,
    tensor_array_read,
    tensor_array_scatter,
    tensor_array_size,
    tensor_array_split,
    tensor_array_unpack,
    tensor_array_write,
}
