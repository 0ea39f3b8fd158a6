//! The tests of files of graphs: one program, which is linked once and runs them side by side.

mod bad_graphs;
mod contexts;
mod datasets;
mod golden;
