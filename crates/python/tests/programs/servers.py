"""`ClusterSpec`, and `Server`s of one task."""

from programs.tools import WHOLE, caught, mistakes


def clusters(tf):
    spec = tf.train.ClusterSpec
    found = []
    for cluster in ({"worker": ["a:1", "b:2"], "ps": ["c:3"]}, {"worker": {1: "b:2"}}, {"worker": ["a:1"]}, {}):
        s = spec(cluster)
        found.append([str(s), s.as_dict(), sorted(s.jobs), bool(s), s == spec(s), s == spec(s.as_cluster_def()), s != spec({"x": ["y:1"]})])
        if "worker" in cluster:
            found[-1] += [s.num_tasks("worker"), s.task_indices("worker"), s.job_tasks("worker"), s.task_address("worker", s.task_indices("worker")[0])]
    return found


def mistakes_in_clusters(tf):
    spec = tf.train.ClusterSpec
    s = spec({"worker": ["a:1"]})
    return mistakes(
        tf,
        tasks=lambda: spec({"w": 5}),
        address=lambda: spec({"w": [1]}),
        cluster=lambda: spec([1]),
        job=lambda: spec({1: ["a"]}),
        num_tasks=lambda: s.num_tasks("x"),
        task_indices=lambda: s.task_indices("x"),
        task_address=lambda: s.task_address("x", 0),
        no_task=lambda: s.task_address("worker", 3),
        job_tasks=lambda: s.job_tasks("x"),
        no_job=lambda: tf.train.Server({"worker": ["localhost:0"]}, job_name="ps", start=False),
        two_jobs=lambda: tf.train.Server({"worker": ["localhost:0"], "ps": ["x:1"]}, start=False),
        two_tasks=lambda: tf.train.Server({"worker": ["a:1", "b:2"]}, start=False),
        server=lambda: tf.train.Server(5),
        index=lambda: tf.train.Server({"worker": ["localhost:0"]}, task_index=3),
    )


def a_local_server(tf):
    server = tf.train.Server.create_local_server()
    v = tf.Variable(3)
    with tf.Session(server.target) as sess:
        sess.run(v.initializer)
        value = sess.run(v + 1)
    return server.target.startswith("grpc://localhost:"), value


def training_on_a_server(tf):
    cluster = tf.train.ClusterSpec({"worker": ["localhost:0"]})
    server = tf.train.Server(cluster, job_name="worker", task_index=0)
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        x = tf.get_variable("x", initializer=4.0)
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.25).minimize(x * x, global_step=step)
    values = []
    with tf.train.MonitoredTrainingSession(server.target, is_chief=True, hooks=[tf.train.StopAtStepHook(3)]) as sess:
        while not sess.should_stop():
            values.append(sess.run([train, x])[1])
    return len(values), sorted(values)[0] <= 1.0
