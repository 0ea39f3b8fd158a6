//! Queues: runs enqueue and dequeue items, and wait for each other where necessary. Staging areas and mutexes
//! are other ways to wait.

mod barriers;
mod queues;
mod staging;

ops! {
    barrier,
    barrier_close,
    barrier_incomplete_size,
    barrier_insert_many,
    barrier_ready_size,
    barrier_take_many,
    fifo_queue,
    map_stage,
    mutex,
    padding_fifo_queue,
    priority_queue,
    queue_close,
    queue_dequeue,
    queue_dequeue_many,
    queue_dequeue_up_to,
    queue_enqueue,
    queue_enqueue_many,
    queue_is_closed,
    queue_size,
    random_shuffle_queue,
    stage,
}
