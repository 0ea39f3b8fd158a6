"""A character model: an LSTM learns to write from the lines of a text, and writes some lines of its own.

`python char_lm.py TEXT` reads the file TEXT; without it, this file. Lines of similar length are batched
together, `tf.nn.dynamic_rnn` is the loop of training, and another `tf.while_loop` draws one character after
the other until the line ends. `examples/char_lm` in Rust is the same at full size.
"""

import sys

import millstream as tf

UNITS, STEPS, END = 96, 150, 10  # The code of a line's end is 10.
tf.set_random_seed(1)


def characters(line):
    return tf.cast(tf.decode_raw(tf.string_join([line, "\n"]), tf.uint8), tf.int32)


text = sys.argv[1] if len(sys.argv) > 1 else __file__
lines = tf.data.TextLineDataset(text).filter(lambda line: tf.greater(tf.size(characters(line)), 1)).map(characters)
buckets = tf.data.experimental.bucket_by_sequence_length(tf.size, [20, 40, 60, 80], [16] * 5, drop_remainder=False)
batch = lines.shuffle(1000, seed=1).repeat().apply(buckets).make_one_shot_iterator().get_next()

cell = tf.nn.rnn_cell.LSTMCell(UNITS)
project = tf.layers.Dense(128, name="logits")


def embedded(codes):
    return tf.one_hot(tf.minimum(codes, 127), 128)


# Training: each character is predicted from those before it. Zeros are padding.
lengths = tf.reduce_sum(tf.cast(batch > 0, tf.int32), 1)
before = tf.pad(batch[:, :-1], [[0, 0], [1, 0]], constant_values=END)
outputs, _ = tf.nn.dynamic_rnn(cell, embedded(before), lengths, dtype=tf.float32)
is_there = tf.cast(tf.sequence_mask(lengths), tf.float32)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.minimum(batch, 127), logits=project(outputs))
loss = tf.reduce_sum(losses * is_there) / tf.reduce_sum(is_there)
optimizer = tf.train.AdamOptimizer(0.01)
gradients, variables = zip(*optimizer.compute_gradients(loss))
train = optimizer.apply_gradients(list(zip(tf.clip_by_global_norm(gradients, 5.0)[0], variables)))


# Writing: a loop with as many iterations as the line that it writes has characters.
def goes_on(n, code, state, written):
    return tf.logical_and(n < 80, tf.logical_or(tf.equal(n, 0), tf.not_equal(code, END)))


def write(n, code, state, written):
    with tf.variable_scope("rnn", reuse=True):
        output, state = cell(embedded([code]), state)
    code = tf.cast(tf.multinomial(project(output) * 2.0, 1, seed=7)[0, 0], tf.int32)
    return n + 1, code, state, tf.concat([written, [code]], 0)


shapes = [tf.TensorShape([]), tf.TensorShape([]), cell.zero_state(1, tf.float32), tf.TensorShape([None])]
shapes[2] = tf.contrib.framework.nest.map_structure(lambda t: t.shape, shapes[2])
_, _, _, line = tf.while_loop(goes_on, write, [0, END, cell.zero_state(1, tf.float32), tf.zeros([0], tf.int32)], shapes)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS + 1):
        cost, _ = sess.run([loss, train])
        if step % 50 == 0:
            print("step %d: %.1f nats a character" % (step, cost))
    for _ in range(3):
        print("|", "".join(map(chr, sess.run(line))).rstrip())
