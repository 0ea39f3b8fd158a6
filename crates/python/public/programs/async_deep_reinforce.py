"""Asynchronous actor-critic (miyosuda): its feed-forward networks, their synchronization, its RMSProp and
its own test."""

URL = "https://github.com/miyosuda/async_deep_reinforce"
COMMIT = "169f52fb15c2ac31745c5dcf8fd2cf35b31b892b"


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    import watch
    from game_ac_network import GameACFFNetwork as kind
    from rmsprop_applier import RMSPropApplier
    watch.run_tests(records, ["rmsprop_applier_test"])
    generator = np.random.RandomState(3)
    tf.reset_default_graph()
    shared, local = kind(3, -1, "/cpu:0"), kind(3, 0, "/cpu:0")
    rate = tf.placeholder("float")
    applier = RMSPropApplier(rate, decay=0.99, momentum=0.0, epsilon=0.1, clip_norm=40.0, device="/cpu:0")
    local.prepare_loss(0.01)
    grads = tf.gradients(local.total_loss, [v._ref() for v in local.get_vars()], gate_gradients=False,
                         aggregation_method=None, colocate_gradients_with_ops=False)
    apply, sync = applier.apply_gradients(shared.get_vars(), grads), local.sync_from(shared)
    with tf.Session(config=tf.ConfigProto(log_device_placement=False, allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(4):
            sess.run(sync)
            states = generator.rand(5, 84, 84, 4).astype(np.float32)
            policy, value = local.run_policy_and_value(sess, states[0])
            records.add("policy", [policy, value])
            feed = {local.s: states, local.a: np.eye(3)[generator.randint(0, 3, size=5)], local.td: generator.randn(5),
                    local.r: generator.randn(5), rate: 7e-4}
            sess.run([apply, local.total_loss], feed)
        records.add("variables", sess.run(shared.get_vars()))
