//! Computations that the processes of a job make together. With one process, the default, each of them
//! returns its own value.

mod calls;

ops! {
    all_gather,
    all_reduce,
    broadcast,
    collective_all_to_all,
    collective_barrier,
    collective_rank,
    collective_size,
    reduce_scatter,
}
