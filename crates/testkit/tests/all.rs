//! The suites that meet in one place: one program, which is linked once and runs them side by side.

mod collectives;
mod compiled_loops;
mod derivatives;
mod differences;
mod examples;
mod expressions;
mod generated;
mod golden_gradients;
mod golden_graphs;
mod golden_values;
mod groups;
mod interrupted_reads;
mod late_reads;
mod listings;
mod looking;
mod machine_code;
mod mutated_graphs;
mod ops_in_loops;
mod pictures;
mod probes;
mod recurrent;
mod regions;
mod second_order;
mod splits;
mod straight;
