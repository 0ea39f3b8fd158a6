"""Device requests of nodes: available devices, and errors for others."""

from programs.raised import caught
from programs.tools import initialize


def _asking(tf, device, **options):
    """Returns the result of a product on this device."""
    with tf.Graph().as_default():
        with tf.device(device):
            y = tf.constant(2.0) * 3.0
        with tf.Session(config=tf.ConfigProto(**options)) as sess:
            try:
                return sess.run(y)
            except tf.errors.InvalidArgumentError as error:
                return [type(error).__name__, error.message.split("for operation ")[1].split(":")[0], "was explicitly assigned to " in error.message, error.message.split("[ ")[1].split(",")[0].split(" ")[0]]


def one_that_is_not_there(tf):
    return [_asking(tf, d) for d in ("/cpu:1", "/gpu:0", "/device:GPU:0", "/job:worker", "/task:1", "/replica:1", "/device:FOO:0", "/job:ps/task:0/cpu:0")]


def one_that_is_there(tf):
    return [_asking(tf, d) for d in ("/cpu:0", "/device:CPU:*", "/job:localhost", "/job:localhost/replica:0/task:0/cpu:0", "/task:0", "")]


def placed_softly(tf):
    return [_asking(tf, d, allow_soft_placement=True) for d in ("/cpu:7", "/gpu:0", "/device:FOO:0", "/job:worker", "/task:1")]


def more_processors(tf):
    return [_asking(tf, d, device_count={"CPU": 3}) for d in ("/cpu:0", "/cpu:2", "/cpu:3")]


def message(tf):
    with tf.device("/device:GPU:1"):
        c = tf.constant(1, name="here")
    with tf.Session() as sess:
        return caught(lambda: sess.run(c), "Cannot assign a device for operation here: ", "was explicitly assigned to /device:GPU:1 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0", "Make sure the device specification refers to a valid device.", "The requested device appears to be a GPU, but CUDA is not enabled.")


def one_elsewhere_in_the_graph(tf):
    c = tf.constant(1) + 1
    with tf.Session() as sess:
        before = sess.run(c)
        with tf.device("/cpu:3"):
            d = tf.constant(2) + 3
        return before, caught(lambda: sess.run(c)), caught(lambda: sess.run(d)), caught(lambda: sess.make_callable(c)())


def one_elsewhere_that_no_run_needs(tf):
    with tf.device("/gpu:0"):
        c = tf.constant(1.0) + 1
    d = tf.constant(3) + 1
    sess = tf.InteractiveSession()
    first = sess.run(d), caught(lambda: sess.run(c)), sess.run(d)
    sess.close()
    options = tf.ConfigProto(graph_options=tf.GraphOptions(place_pruned_graph=True))
    with tf.Session(config=options) as sess:
        return first, sess.run(d), caught(lambda: sess.run(c)), sess.run(c + 1, {c: 5.0}) if False else None


def variable_beside_another(tf):
    with tf.device("/gpu:0"):
        v = tf.Variable(1.0)
    y = v.assign_add(1.0)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        initialize(tf, sess)
        first = sess.run(y)
    with tf.Session() as sess:
        return first, caught(lambda: sess.run(v.initializer))


def loop_over_two(tf):
    with tf.device("/cpu:0"):
        n = tf.constant(3)

    def body(i):
        with tf.device("/cpu:1"):
            return i + 1

    r = tf.while_loop(lambda i: i < n, body, [0])
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        first = sess.run(r)
    with tf.Session() as sess:
        return first, caught(lambda: sess.run(r))


def listed(tf):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as sess:
        names = [d.name for d in sess.list_devices() if d.device_type == "CPU"]
    return names, caught(sess.list_devices, "Session has been closed.")
