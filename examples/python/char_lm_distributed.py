"""A character model trained by several processes: `mpirun -n 2 python char_lm_distributed.py TEXT FOLDER`.

Every rank takes its share of each batch of a text, and the gradients are averaged over all ranks, so all have
the same weights after each step. Rank 0 saves checkpoints to FOLDER, from which the program goes on when it
is started again. One process takes batches as large as those of all ranks together, so the losses can be
compared. Without TEXT it reads itself, and without FOLDER it saves nothing.
"""

import hashlib
import sys
import time

import numpy as np

import millstream as tf
import millstream.horovod as hvd

UNITS, STEPS, BATCH, LENGTH = 96, 60, 32, 40

hvd.init()
rank, size = hvd.rank(), hvd.size()
folder = sys.argv[2] if len(sys.argv) > 2 else None

# Step i takes BATCH windows of the text, the same for any number of ranks; each rank takes its share of them.
with open(sys.argv[1] if len(sys.argv) > 1 else __file__, "rb") as file:
    text = np.minimum(np.frombuffer(file.read(), np.uint8), 127).astype(np.int32)


def batch(step):
    starts = np.random.RandomState(step).randint(0, len(text) - LENGTH - 1, BATCH)[rank::size]
    return np.stack([text[start : start + LENGTH + 1] for start in starts])


codes = tf.placeholder(tf.int32, [None, LENGTH + 1])
initializer = tf.glorot_uniform_initializer(seed=1)
with tf.variable_scope("model", initializer=initializer):
    cell = tf.nn.rnn_cell.LSTMCell(UNITS)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.one_hot(codes[:, :-1], 128), dtype=tf.float32)
    logits = tf.layers.dense(outputs, 128, kernel_initializer=initializer)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=codes[:, 1:], logits=logits))
global_step = tf.train.get_or_create_global_step()
train = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.01)).minimize(loss, global_step)
mean_loss = hvd.allreduce(loss, name="mean_loss")
weights = tf.concat([tf.reshape(v, [-1]) for v in tf.trainable_variables()], 0)

# Rank 0 restores and saves; the others get its values.
hooks = [hvd.BroadcastGlobalVariablesHook(0)]
config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
with tf.train.MonitoredTrainingSession(
    checkpoint_dir=folder if rank == 0 else None, hooks=hooks, save_checkpoint_steps=20, save_summaries_steps=None, save_summaries_secs=None, config=config
) as sess:
    first = step = sess.run(global_step)
    if rank == 0 and first:
        print("goes on after step %d" % first)
    begin = time.perf_counter()
    while step < first + STEPS:
        _, cost = sess.run([train, mean_loss], {codes: batch(step)})
        step += 1
        if rank == 0 and step % 20 == 0:
            print("step %d: %.4f nats a character" % (step, cost))
    seconds = time.perf_counter() - begin
    digest = hashlib.sha256(sess.run(weights).tobytes()).digest()

digests = tf.Session().run(hvd.allgather(tf.constant([list(digest)]), name="digests"))
if rank == 0:
    print("%d ranks, the same weights: %s" % (size, bool((digests == digests[0]).all())))
    print("%.0f characters a second" % (STEPS * BATCH * LENGTH / seconds), file=sys.stderr)
