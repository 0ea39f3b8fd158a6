"""Counts the vowels of lines in padded batches of similar length, which a loop processes."""

import millstream as tf

LINES = ["a", "loop", "in", "a graph", "runs as long as its data says", "and", "no longer", "than that"]

line = tf.train.string_input_producer(LINES, num_epochs=1, shuffle=False).dequeue()
letters = tf.decode_raw(line, tf.uint8)
length = tf.size(letters)
_, (batch, lengths) = tf.contrib.training.bucket(
    [letters, length], tf.cast(length > 4, tf.int32), batch_size=2, num_buckets=2,
    dynamic_pad=True, allow_smaller_final_batch=True)

vowels = tf.decode_raw("aeiou", tf.uint8)


def count(i, counts):
    is_vowel = tf.reduce_any(tf.equal(batch[:, i, None], vowels), axis=1)
    return i + 1, counts + tf.cast(is_vowel, tf.int32)


_, counts = tf.while_loop(lambda i, _: i < tf.reduce_max(lengths), count, [0, tf.zeros_like(lengths)])

with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    found = []
    try:
        while not coord.should_stop():
            found.append([value.tolist() for value in sess.run([lengths, counts])])
    except tf.errors.OutOfRangeError:
        pass  # End of input.
    coord.request_stop()
    coord.join(threads)

# The order of batches depends on the threads.
for lengths, counts in sorted(found):
    print("lengths", lengths, "vowels", counts)
