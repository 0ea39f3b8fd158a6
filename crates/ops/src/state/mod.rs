//! Variables of both kinds (reference and resource), and the ops that read and update them.

mod assign_change;
mod optimizer;
mod runs;
mod scatter;
mod scatter_nd;
mod session_tensors;
mod target;

ops! {
    apply_ada_max,
    apply_adadelta,
    apply_adagrad,
    apply_adagrad_da,
    apply_adagrad_v2,
    apply_adam,
    apply_adam_with_amsgrad,
    apply_add_sign,
    apply_centered_rms_prop,
    apply_ftrl,
    apply_gradient_descent,
    apply_keras_momentum,
    apply_momentum,
    apply_power_sign,
    apply_proximal_adagrad,
    apply_proximal_gradient_descent,
    apply_rms_prop,
    assign,
    assign_add,
    assign_sub,
    assign_variable_op,
    count_up_to,
    delete_session_tensor,
    destroy_resource_op,
    disable_copy_on_read,
    destroy_temporary_variable,
    get_session_handle,
    get_session_tensor,
    is_variable_initialized,
    read_variable_op,
    resource_gather,
    resource_gather_nd,
    scatter_add,
    scatter_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd_add,
    scatter_nd_sub,
    scatter_nd_update,
    scatter_sub,
    scatter_update,
    strided_slice_assign,
    temporary_variable,
    var_handle_op,
    variable,
    variable_shape,
}
