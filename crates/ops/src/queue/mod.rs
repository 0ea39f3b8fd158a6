//! Queues: runs enqueue and dequeue items, and wait for each other where necessary.

mod queues;

ops! {
    fifo_queue,
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
}
