//! Arithmetic, comparison, logic: elementwise ops.

ops! { add_v2 }
