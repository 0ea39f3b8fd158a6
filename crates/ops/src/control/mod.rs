//! The control-flow primitives. All but a few are structural: they have a shape rule and a role, and the executor moves
//! their tokens itself.

pub(crate) mod edge;

pub(crate) use optional::Optional;

ops! {
    abort, constant, control_trigger, enter, exit, identity, loop_cond, merge, next_iteration, no_op, optional, placeholder,
    placeholder_with_default, py_func, ref_select, switch, to_bool,
}
