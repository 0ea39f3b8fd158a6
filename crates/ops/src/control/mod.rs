//! The control-flow primitives. Most are structural: they have a shape function and a role, and no kernel,
//! because the executor moves their values itself.

pub(crate) mod edge;

ops! {
    abort,
    r#const,
    control_trigger,
    enter,
    exit,
    identity,
    loop_cond,
    merge,
    next_iteration,
    no_op,
    optional,
    placeholder,
    placeholder_with_default,
    py_func,
    ref_select,
    switch,
    to_bool,
}
