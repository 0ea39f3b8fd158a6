//! The tests of graphs: one program, which is linked once and runs them side by side.

mod loop_tree;
mod loops;
mod names;
mod text;
