"""`slim.learning.train` with a `SyncReplicasOptimizer`.

These are no recorded programs, because TensorFlow's own ends with "threads still running".
"""

import pytest

import millstream as tf

slim = tf.contrib.slim


def steps(several=False):
    w = tf.get_variable("w", initializer=4.0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), replicas_to_aggregate=1)
    return slim.learning.create_train_op(tf.square(w), optimizer), [optimizer] if several else optimizer


def test_the_chief_applies_the_gradients_of_replicas():
    op, optimizer = steps()
    # The first tokens let the replica run ahead of the chief: the last loss depends on their timing.
    assert slim.learning.train(op, None, number_of_steps=3, sync_optimizer=optimizer) in (4.0, 1.0, 0.25, 0.0625)


def test_a_list_of_optimizers_and_a_folder(tmp_path):
    op, optimizers = steps(several=True)
    slim.learning.train(op, str(tmp_path), number_of_steps=3, sync_optimizer=optimizers)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-3")


def test_other_optimizers_are_refused():
    op, _ = steps()
    with pytest.raises(ValueError, match="must be a tf.train.SyncReplicasOptimizer"):
        slim.learning.train(op, None, number_of_steps=3, sync_optimizer=tf.train.GradientDescentOptimizer(1.0))
