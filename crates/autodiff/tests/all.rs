//! The tests of gradients: one program, which is linked once and runs them side by side.

mod arrays;
mod composite;
mod loops;
mod plain;
mod second;
