"""DeepMind's differentiable neural computer: its own unit tests, and twenty steps of its copy task."""

URL = "https://github.com/deepmind/dnc"
COMMIT = "d3d94b3b1f1efc282481910054f82047caf37f65"
NEEDS = ["six", "dm-sonnet==1.23"]


def prepare(data):
    pass


def drive(data, records):
    import tensorflow as tf
    import train
    import watch
    watch.run_tests(records, ["dnc.access_test", "dnc.addressing_test", "dnc.util_test"])
    tf.reset_default_graph()
    tf.app.flags.FLAGS(["train.py", "--hidden_size=16", "--memory_size=8", "--word_size=8", "--batch_size=4"])
    dataset = train.repeat_copy.RepeatCopy(4, 4, 1, 2, 1, 2)
    copied = dataset()
    logits = train.run_model(copied.observations, dataset.target_size)
    loss = dataset.cost(logits, copied.target, copied.mask)
    step = tf.train.RMSPropOptimizer(1e-3, epsilon=1e-10).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(20):
            sess.run([loss, step])
