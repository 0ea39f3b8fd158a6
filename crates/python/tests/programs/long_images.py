"""Long programs: networks of images, generative ones among them, with slim, layers, averages and
summaries.
"""

import os
import tempfile

import numpy as np


def _pictures(n=6, size=8, channels=1, seed=0):
    rng = np.random.RandomState(seed)
    x = rng.uniform(size=(n, size, size, channels)).astype(np.float32)
    return x, (x.sum(axis=(1, 2, 3)) * 7).astype(np.int64) % 3


def towers_with_averages(tf):
    """A convolutional network in the style of the CIFAR tutorial: towers share variables, gradients
    are averaged.
    """
    tf.set_random_seed(5)
    pictures, labels = _pictures(8, 8, 3)
    losses_of_towers, gradients = [], []

    def variable(name, shape, stddev, decay):
        with tf.device("/cpu:0"):
            made = tf.get_variable(name, shape, initializer=tf.truncated_normal_initializer(stddev=stddev, dtype=tf.float32), dtype=tf.float32)
        if decay is not None:
            tf.add_to_collection("losses", tf.multiply(tf.nn.l2_loss(made), decay, name="weight_loss"))
        return made

    def summary(x):
        tf.summary.histogram(x.op.name + "/activations", x)
        tf.summary.scalar(x.op.name + "/sparsity", tf.nn.zero_fraction(x))

    def inference(images):
        with tf.variable_scope("conv1") as scope:
            kernel = variable("weights", [3, 3, 3, 4], 5e-2, None)
            biases = tf.get_variable("biases", [4], initializer=tf.constant_initializer(0.0))
            conv1 = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], padding="SAME"), biases), name=scope.name)
            summary(conv1)
        pool1 = tf.nn.max_pool(conv1, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME", name="pool1")
        norm1 = tf.nn.lrn(pool1, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name="norm1")
        with tf.variable_scope("local2") as scope:
            reshaped = tf.reshape(norm1, [images.get_shape().as_list()[0], -1])
            weights = variable("weights", [reshaped.get_shape()[1].value, 6], 0.04, 0.004)
            biases = tf.get_variable("biases", [6], initializer=tf.constant_initializer(0.1))
            local2 = tf.nn.relu(tf.matmul(reshaped, weights) + biases, name=scope.name)
            summary(local2)
        with tf.variable_scope("softmax_linear") as scope:
            weights = variable("weights", [6, 3], 1 / 6.0, None)
            biases = tf.get_variable("biases", [3], initializer=tf.constant_initializer(0.0))
            return tf.add(tf.matmul(local2, weights), biases, name=scope.name)

    step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
    rate = tf.train.exponential_decay(0.1, step, 3, 0.1, staircase=True)
    optimizer = tf.train.GradientDescentOptimizer(rate)
    queue = tf.FIFOQueue(10, [tf.float32, tf.int64], shapes=[[8, 8, 3], []])
    enqueue = queue.enqueue_many([pictures, labels])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue]))
    with tf.variable_scope(tf.get_variable_scope()):
        for i in range(2):
            with tf.device("/cpu:0"), tf.name_scope("tower_%d" % i) as scope:
                images, answers = queue.dequeue_many(4)
                logits = inference(images)
                entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast(answers, tf.int64), logits=logits)
                tf.add_to_collection("losses", tf.reduce_mean(entropy, name="cross_entropy"))
                total = tf.add_n(tf.get_collection("losses", scope), name="total_loss")
                tf.get_variable_scope().reuse_variables()
                gradients.append(optimizer.compute_gradients(total))
                losses_of_towers.append(total)
    averaged = []
    for pairs in zip(*gradients):
        stacked = tf.concat(axis=0, values=[tf.expand_dims(g, 0) for g, _ in pairs])
        averaged.append((tf.reduce_mean(stacked, 0), pairs[0][1]))
    apply = optimizer.apply_gradients(averaged, global_step=step)
    averages = tf.train.ExponentialMovingAverage(0.9, step)
    train = tf.group(apply, averages.apply(tf.trainable_variables()))
    folder, found = tempfile.mkdtemp(), []
    saver = tf.train.Saver(tf.global_variables())
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        for _ in range(4):
            sess.run(train)
        path = saver.save(sess, os.path.join(folder, "model"), step)
        found.append(sess.run([step, rate]))
        coord.request_stop()
        sess.run(queue.close(cancel_pending_enqueues=True))
        coord.join(threads)
    restored = sorted(averages.variables_to_restore())
    names = [name for name, _ in tf.train.list_variables(path)]
    return found, restored, names, [l.op.name for l in losses_of_towers], len(tf.get_collection("summaries"))


def residual_blocks_of_slim(tf):
    """Residual units in argument scopes with batch normalization, trained by slim, evaluated from
    the checkpoint.
    """
    slim = tf.contrib.slim
    tf.set_random_seed(31)
    pictures, labels = _pictures(6, 6, 2, seed=2)

    def scope(is_training):
        batch_norm = {"is_training": is_training, "decay": 0.8, "epsilon": 1e-4, "scale": True, "updates_collections": tf.GraphKeys.UPDATE_OPS}
        with slim.arg_scope(
            [slim.conv2d],
            weights_regularizer=slim.l2_regularizer(0.0005),
            weights_initializer=slim.variance_scaling_initializer(seed=3),
            activation_fn=tf.nn.relu,
            normalizer_fn=slim.batch_norm,
            normalizer_params=batch_norm,
        ):
            with slim.arg_scope([slim.batch_norm], **batch_norm):
                with slim.arg_scope([slim.max_pool2d], padding="SAME") as made:
                    return made

    def network(images, is_training):
        with slim.arg_scope(scope(is_training)):
            with tf.variable_scope("resnet", values=[images]) as sc:
                ends = sc.original_name_scope + "_end_points"
                with slim.arg_scope([slim.conv2d, slim.max_pool2d], outputs_collections=ends):
                    net = slim.conv2d(images, 4, 3, scope="conv1")
                    for i, stride in enumerate((1, 2)):
                        with tf.variable_scope("unit_%d" % (i + 1)):
                            before = slim.batch_norm(net, activation_fn=tf.nn.relu, scope="preact")
                            depth = net.get_shape().as_list()[-1] * stride
                            if stride == 1:
                                shortcut = net
                            else:
                                shortcut = slim.conv2d(before, depth, 1, stride=stride, normalizer_fn=None, activation_fn=None, scope="shortcut")
                            residual = slim.conv2d(before, depth, 3, stride=stride, scope="conv1")
                            residual = slim.conv2d(residual, depth, 3, normalizer_fn=None, activation_fn=None, scope="conv2")
                            net = slim.utils.collect_named_outputs(ends, sc.name + "/unit_%d" % (i + 1), shortcut + residual)
                    net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
                    logits = slim.conv2d(net, 3, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
                    return tf.squeeze(logits, [1, 2], name="squeezed"), slim.utils.convert_collection_to_dict(ends)

    folder = tempfile.mkdtemp()
    logits, ends = network(tf.constant(pictures), True)
    tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits)
    total = tf.losses.get_total_loss()
    train_op = slim.learning.create_train_op(total, tf.train.MomentumOptimizer(0.05, 0.9), clip_gradient_norm=5.0)
    loss = slim.learning.train(train_op, folder, number_of_steps=3, log_every_n_steps=10, save_summaries_secs=None, save_interval_secs=600)
    with tf.Graph().as_default():
        logits, _ = network(tf.constant(pictures), False)
        names_to_values, names_to_updates = slim.metrics.aggregate_metric_map(
            {"accuracy": slim.metrics.streaming_accuracy(tf.argmax(logits, 1), labels), "mean": slim.metrics.streaming_mean(logits)}
        )
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            slim.assign_from_checkpoint_fn(tf.train.latest_checkpoint(folder), slim.get_variables_to_restore())(sess)
            sess.run(list(names_to_updates.values()))
            results = sess.run(names_to_values)
    return np.float32(loss), results, sorted(ends), [v.name for v in slim.get_model_variables()]


def pictures_made_by_two_networks(tf):
    """A generator and a discriminator with transposed convolutions, trained in turn with separate
    variables.
    """
    tf.set_random_seed(17)
    real, _ = _pictures(4, 8, 1, seed=4)

    def generator(z, reuse=False):
        with tf.variable_scope("generator", reuse=reuse):
            h = tf.layers.dense(z, 2 * 2 * 4)
            h = tf.nn.relu(tf.layers.batch_normalization(tf.reshape(h, [-1, 2, 2, 4]), training=True, momentum=0.9, epsilon=1e-5))
            h = tf.layers.conv2d_transpose(h, 3, 3, strides=2, padding="same", kernel_initializer=tf.random_normal_initializer(stddev=0.02))
            h = tf.nn.relu(tf.layers.batch_normalization(h, training=True, momentum=0.9, epsilon=1e-5))
            return tf.nn.tanh(tf.layers.conv2d_transpose(h, 1, 3, strides=2, padding="same", kernel_initializer=tf.random_normal_initializer(stddev=0.02)))

    def discriminator(x, reuse=False):
        with tf.variable_scope("discriminator", reuse=reuse):
            h = tf.nn.leaky_relu(tf.layers.conv2d(x, 3, 3, strides=2, padding="same"))
            h = tf.layers.conv2d(h, 4, 3, strides=2, padding="same", use_bias=False)
            h = tf.nn.leaky_relu(tf.layers.batch_normalization(h, training=True))
            logits = tf.layers.dense(tf.layers.flatten(h), 1)
            return tf.sigmoid(logits), logits

    z = tf.placeholder(tf.float32, [None, 3], name="z")
    pictures = tf.placeholder(tf.float32, [None, 8, 8, 1], name="real")
    made = generator(z)
    _, of_real = discriminator(pictures)
    _, of_made = discriminator(made, reuse=True)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss = tf.reduce_mean(entropy(logits=of_real, labels=0.9 * tf.ones_like(of_real))) + tf.reduce_mean(entropy(logits=of_made, labels=tf.zeros_like(of_made)))
    g_loss = tf.reduce_mean(entropy(logits=of_made, labels=tf.ones_like(of_made)))
    variables = tf.trainable_variables()
    of_d = [v for v in variables if v.name.startswith("discriminator")]
    of_g = [v for v in variables if v.name.startswith("generator")]
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        d_train = tf.train.AdamOptimizer(0.002, beta1=0.5).minimize(d_loss, var_list=of_d)
        g_train = tf.train.AdamOptimizer(0.002, beta1=0.5).minimize(g_loss, var_list=of_g)
    tf.summary.image("made", made, max_outputs=2)
    tf.summary.scalar("d_loss", d_loss)
    rng, found = np.random.RandomState(3), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            noise = rng.uniform(-1, 1, size=(4, 3))
            sess.run(d_train, {pictures: real, z: noise})
            sess.run(g_train, {pictures: real, z: noise})
            found.append(sess.run([d_loss, g_loss], {pictures: real, z: noise}))
        sample = sess.run(made, {z: noise})
        text = sess.run(tf.summary.merge_all(), {pictures: real, z: noise})
        tags = [v.tag for v in tf.Summary.FromString(text).value]
    return found, sample, tags, [v.name for v in tf.global_variables()][:20], len(updates)


def pictures_coded_with_noise(tf):
    """A variational encoder: sampled codes, a reconstruction and a divergence, with weight decay in
    a collection.
    """
    tf.set_random_seed(23)
    data = _pictures(5, 4, 1, seed=6)[0].reshape(5, 16)
    n_hidden, n_code = 7, 2
    x = tf.placeholder(tf.float32, [None, 16], name="x")
    keep = tf.placeholder_with_default(1.0, [], name="keep")
    regularizer = tf.contrib.layers.l2_regularizer(1e-3)
    with tf.variable_scope("encoder", regularizer=regularizer):
        h = tf.nn.elu(tf.nn.xw_plus_b(x, tf.get_variable("w0", [16, n_hidden], initializer=tf.contrib.layers.variance_scaling_initializer()), tf.get_variable("b0", [n_hidden], initializer=tf.constant_initializer(0.0))))
        h = tf.nn.dropout(h, keep)
        both = tf.matmul(h, tf.get_variable("w1", [n_hidden, 2 * n_code], initializer=tf.contrib.layers.xavier_initializer()))
        mean, deviation = both[:, :n_code], 1e-6 + tf.nn.softplus(both[:, n_code:])
    code = mean + deviation * tf.random_normal(tf.shape(mean), 0, 1, dtype=tf.float32)

    def decode(code, reuse):
        with tf.variable_scope("decoder", reuse=reuse, regularizer=regularizer):
            h = tf.nn.tanh(tf.layers.dense(code, n_hidden, name="h"))
            return tf.sigmoid(tf.layers.dense(h, 16, name="out"))

    y = tf.clip_by_value(decode(code, False), 1e-8, 1 - 1e-8)
    likelihood = tf.reduce_mean(tf.reduce_sum(x * tf.log(y) + (1 - x) * tf.log(1 - y), 1))
    divergence = tf.reduce_mean(0.5 * tf.reduce_sum(tf.square(mean) + tf.square(deviation) - tf.log(1e-8 + tf.square(deviation)) - 1, 1))
    decay = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    loss = -(likelihood - divergence) + decay
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(tf.train.polynomial_decay(0.01, step, 10)).minimize(loss, global_step=step)
    given = tf.placeholder(tf.float32, [None, n_code])
    pictures = decode(given, True)
    normal = tf.distributions.Normal(mean, deviation)
    same = tf.reduce_mean(tf.reduce_sum(tf.distributions.kl_divergence(normal, tf.distributions.Normal(tf.zeros_like(mean), 1.0)), 1))
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train, {x: data, keep: 0.9})
            found.append(sess.run([likelihood, divergence, decay, same], {x: data}))
        grid = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)], np.float32)
        return found, sess.run(pictures, {given: grid}), [t.name for t in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]
