//! Accumulators: gather gradients of several runs until one takes their sum or mean.

mod accumulators;

ops! {
    accumulator_apply_gradient,
    accumulator_num_accumulated,
    accumulator_set_global_step,
    accumulator_take_gradient,
    conditional_accumulator,
    sparse_accumulator_apply_gradient,
    sparse_accumulator_take_gradient,
    sparse_conditional_accumulator,
}
