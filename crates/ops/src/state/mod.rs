//! Variables of both kinds and what updates them.

#[macro_use]
mod number;
mod assign_change;
mod runs;
mod target;

ops! {
    assign, assign_add, assign_sub, assign_variable_op, count_up_to, destroy_resource_op, destroy_temporary_variable,
    is_variable_initialized, read_variable_op, temporary_variable, var_handle_op, variable, variable_shape,
}
