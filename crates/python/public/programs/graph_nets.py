"""Graph Nets (deepmind): its unit tests, and training of its encode-process-decode model on made graphs."""

URL = "https://github.com/deepmind/graph_nets"
COMMIT = "64771dff0d74ca8e77b1f1dcd5a7d26634356d61"
NEEDS = ["six", "networkx", "dm-sonnet==1.23", "dm-tree"]
TOLERANCE = 1e-4


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    import watch
    names = ("blocks", "graphs", "modules", "utils_np", "utils_tf")
    watch.run_tests(records, ["graph_nets.tests.%s_test" % name for name in names])
    tf.reset_default_graph()
    from graph_nets import utils_np, utils_tf
    from graph_nets.demos import models
    generator = np.random.RandomState(3)

    def graphs():
        made = []
        for _ in range(3):
            n, m = generator.randint(3, 6), generator.randint(4, 9)
            made.append(dict(
                globals=generator.rand(2), nodes=generator.rand(n, 3), edges=generator.rand(m, 2),
                senders=generator.randint(0, n, size=m), receivers=generator.randint(0, n, size=m)))
        return made

    first = graphs()
    given, wanted = (utils_tf.placeholders_from_data_dicts(first, name=name) for name in ("given", "wanted"))
    outputs = models.EncodeProcessDecode(edge_output_size=2, node_output_size=3)(given, 3)
    losses = [tf.losses.mean_squared_error(wanted.nodes, out.nodes) + tf.losses.mean_squared_error(wanted.edges, out.edges)
              for out in outputs]
    loss = sum(losses) / len(losses)
    step = tf.train.AdamOptimizer(1e-3).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(10):
            tuple_of = utils_np.data_dicts_to_graphs_tuple(graphs())
            sess.run([step, loss, outputs[-1].nodes], {given: tuple_of, wanted: tuple_of})
        records.add("variables", sess.run(tf.trainable_variables()))
