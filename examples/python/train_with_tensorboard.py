"""A training loop with summaries for TensorBoard and checkpoints, which can be continued.

`python train_with_tensorboard.py FOLDER` trains in FOLDER, and goes on from its last checkpoint if it is
started again. `tensorboard --logdir FOLDER` shows the loss, the histogram of the weights and the graph.
"""

import os
import sys
import tempfile

import numpy as np

import millstream as tf

folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
tf.set_random_seed(1)

# Two spirals, one for each class.
t = np.linspace(0.2, 3.0, 100)
spiral = np.stack([t * np.cos(3 * t), t * np.sin(3 * t)], 1)
points = np.concatenate([spiral, -spiral]).astype(np.float32)
labels = np.repeat([0, 1], 100)

dataset = tf.data.Dataset.from_tensor_slices((points, labels)).shuffle(200, seed=1).repeat().batch(50)
x, y = dataset.make_one_shot_iterator().get_next()
hidden = tf.layers.dense(x, 32, tf.tanh, name="first")
hidden = tf.layers.dense(hidden, 32, tf.tanh, name="second")
logits = tf.layers.dense(hidden, 2, name="logits")
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
step = tf.train.get_or_create_global_step()
train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)

tf.summary.scalar("loss", loss)
tf.summary.scalar("accuracy", tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.cast(y, tf.int64)), tf.float32)))
for variable in tf.trainable_variables():
    tf.summary.histogram(variable.op.name, variable)

# The session initializes or restores the variables, saves them every 200 steps, and writes summaries every
# 10.
hooks = [tf.train.StopAtStepHook(last_step=400)]
with tf.train.MonitoredTrainingSession(
    checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=200, save_checkpoint_secs=None, save_summaries_steps=10, log_step_count_steps=None
) as sess:
    losses = []
    while not sess.should_stop():
        cost, at, _ = sess.run([loss, step, train])
        losses.append(cost)

print("loss %.2f at first, %.2f after %d steps" % (losses[0], losses[-1], at))
print("last checkpoint:", os.path.basename(tf.train.latest_checkpoint(folder) or ""))
print("events:", sum(1 for name in os.listdir(folder) if "tfevents" in name), "file")
