"""Seeds after gradients and optimizers: a later op without a seed counts the nodes that they made."""


def _seeds(tf, **functions):
    """Returns the seed that an op would get after each function."""
    found = {}
    for name, function in functions.items():
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            images = tf.placeholder(tf.float32, [None, 8, 8, 3])
            labels = tf.placeholder(tf.int32, [None])
            function(images, labels)
            found[name] = tf.get_seed(None)[1]
    return found


def _loss(tf, net, labels, n=4):
    logits = tf.layers.dense(net, n)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def after_elementwise_gradients(tf):
    """Binary ops count nodes by what is known of their shapes, and those of equal shapes once."""
    ops = {
        "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "divide": tf.divide, "maximum": tf.maximum,
        "pow": tf.pow, "squared_difference": tf.squared_difference, "floormod": tf.floormod,
    }
    for name in "abs square sqrt rsqrt exp log log1p tanh sigmoid sin cos tan asin erf reciprocal floor sign".split():
        ops[name] = lambda x, y, name=name: getattr(tf, name)(x)
    seeds = []
    for name in sorted(ops):
        for shapes in (([4, 3], [4, 3]), ([4, 3], [3]), ([4, 3], []), ([None, 3], [3]), (None, None)):
            for gate in (False, True):
                with tf.Graph().as_default():
                    tf.set_random_seed(1)
                    x, y = (tf.placeholder(tf.float32, s) for s in shapes)
                    tf.gradients([ops[name](x, y), ops[name](x * 2.0, y)], [x, y], gate_gradients=gate)
                    seeds.append((name, tf.get_seed(None)[1]))
    return seeds


def after_gradients_of_arrays(tf):
    """Reductions, and ops that rearrange."""
    ops = [
        lambda x: tf.reduce_sum(x), lambda x: tf.reduce_sum(x, 1), lambda x: tf.reduce_mean(x, [0, 1]), lambda x: tf.reduce_mean(x, 0, keepdims=True),
        lambda x: tf.reduce_max(x, 1), lambda x: tf.reduce_prod(x), lambda x: tf.reduce_logsumexp(x, 1), lambda x: tf.reshape(x, [-1]),
        lambda x: tf.transpose(x), lambda x: tf.concat([x, x, x], 1), lambda x: tf.stack([x, x]), lambda x: tf.unstack(x, axis=1)[0],
        lambda x: tf.split(x, 3, 1)[1], lambda x: x[:, 1:], lambda x: tf.slice(x, [0, 1], [-1, 1]), lambda x: tf.gather(x, [0, 1]),
        lambda x: (tf.gather(x, [0]), tf.gather(x, [1, 1])), lambda x: (tf.gather(x, [0]), x * 2.0), lambda x: tf.pad(x, [[1, 0], [0, 1]]),
        lambda x: tf.tile(x, [2, 1]), lambda x: tf.where(x > 0, x, -x), lambda x: tf.clip_by_value(x, -1.0, 1.0), lambda x: tf.nn.l2_normalize(x, 1),
        lambda x: tf.nn.moments(x, [0]), lambda x: tf.nn.softmax(x), lambda x: tf.nn.top_k(x, 2)[0], lambda x: tf.dynamic_partition(x, [0, 1, 0, 1], 2),
        lambda x: tf.matmul(x, x, transpose_b=True), lambda x: tf.tensordot(x, tf.ones([3, 2]), 1), lambda x: tf.nn.dropout(x, 0.5),
        lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x + 1.0),
        lambda x: tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.ones([4, 3]), logits=x),
    ]
    seeds = []
    for number, op in enumerate(ops):
        for shape in ([4, 3], [None, 3]):
            with tf.Graph().as_default():
                tf.set_random_seed(1)
                x = tf.placeholder(tf.float32, shape)
                made = op(x)
                tf.gradients(made, x)
                seeds.append((number, tf.get_seed(None)[1]))
    return seeds


def after_training_of_images(tf):
    """Nets of images: what is drawn after the optimizer."""
    layers, train = tf.layers, tf.train

    def plain(x, y):
        net = layers.max_pooling2d(layers.conv2d(x, 4, 3, activation=tf.nn.relu), 2, 2)
        train.AdamOptimizer().minimize(_loss(tf, layers.flatten(net), y))

    def dropped(x, y):
        train.MomentumOptimizer(0.1, 0.9).minimize(_loss(tf, layers.dropout(layers.flatten(x), training=True), y))

    def normalized(x, y):
        net = layers.batch_normalization(layers.conv2d(x, 4, 3), training=True)
        train.RMSPropOptimizer(0.1).minimize(_loss(tf, layers.flatten(net), y))

    def slim(x, y):
        net = tf.contrib.slim.conv2d(x, 4, [3, 3], normalizer_fn=tf.contrib.slim.batch_norm, weights_regularizer=tf.contrib.slim.l2_regularizer(0.1))
        tf.losses.sparse_softmax_cross_entropy(y, tf.contrib.slim.fully_connected(tf.contrib.slim.flatten(net), 3, activation_fn=None))
        train.AdamOptimizer().minimize(tf.losses.get_total_loss())

    return _seeds(tf, plain=plain, dropped=dropped, normalized=normalized, slim=slim)


def after_training_of_adversaries(tf):
    """A generator and a critic, an autoencoder, and a penalty on a gradient."""
    layers, adam = tf.layers, tf.train.AdamOptimizer

    def gan(x, y):
        def generator(z):
            with tf.variable_scope("g"):
                return layers.dense(layers.dense(z, 8, tf.nn.leaky_relu), 4, tf.nn.sigmoid)

        def critic(i, reuse=None):
            with tf.variable_scope("d", reuse=reuse):
                return layers.dense(layers.dense(i, 8, tf.nn.relu), 1)

        def entropy(logits, labels):
            return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels(logits)))

        fake, real = critic(generator(tf.random_normal([3, 2]))), critic(tf.placeholder(tf.float32, [None, 4]), True)
        adam(1e-3).minimize(entropy(real, tf.ones_like) + entropy(fake, tf.zeros_like), var_list=tf.trainable_variables("d"))
        adam(1e-3).minimize(entropy(fake, tf.ones_like), var_list=tf.trainable_variables("g"))

    def autoencoder(x, y):
        flat = layers.flatten(x)
        hidden = layers.dense(flat, 10, tf.nn.elu)
        mean, spread = layers.dense(hidden, 2), layers.dense(hidden, 2)
        out = layers.dense(mean + tf.exp(spread * 0.5) * tf.random_normal(tf.shape(mean)), 192)
        lost = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(logits=out, labels=flat), 1)
        apart = -0.5 * tf.reduce_sum(1 + spread - tf.square(mean) - tf.exp(spread), 1)
        adam().minimize(tf.reduce_mean(lost + apart))

    def penalty(x, y):
        mixed = tf.random_uniform([]) * layers.flatten(x) + tf.zeros([1, 192])
        slope = tf.gradients(layers.dense(mixed, 1), [mixed])[0]
        adam().minimize(tf.reduce_mean((tf.sqrt(tf.reduce_sum(tf.square(slope), reduction_indices=[1])) - 1.0) ** 2))

    return _seeds(tf, gan=gan, autoencoder=autoencoder, penalty=penalty)


def after_training_of_agents(tf):
    """Policies and values: the sample of a policy comes after the optimizer of the values."""
    layers, adam = tf.layers, tf.train.AdamOptimizer

    def ppo(x, y):
        seen, did, gain = (tf.placeholder(tf.float32, [None, n]) for n in (3, 1, 1))
        value = layers.dense(layers.dense(seen, 100, tf.nn.relu), 1)
        adam(1e-3).minimize(tf.reduce_mean(tf.square(gain - value)))

        def policy(name, trainable):
            with tf.variable_scope(name):
                hidden = layers.dense(seen, 100, tf.nn.relu, trainable=trainable)
                mean = 2 * layers.dense(hidden, 1, tf.nn.tanh, trainable=trainable)
                return tf.distributions.Normal(mean, layers.dense(hidden, 1, tf.nn.softplus, trainable=trainable))

        new, old = policy("new", True), policy("old", False)
        new.sample(1)
        ratio = new.prob(did) / old.prob(did)
        adam(1e-3).minimize(-tf.reduce_mean(tf.minimum(ratio * gain, tf.clip_by_value(ratio, 0.8, 1.2) * gain)))

    def policy_gradient(x, y):
        chance = layers.dense(layers.dense(tf.placeholder(tf.float32, [None, 4]), 10, tf.nn.tanh), 2, tf.nn.softmax)
        taken = tf.log(tf.reduce_sum(chance * tf.one_hot(y, 2), 1))
        tf.train.RMSPropOptimizer(0.01).minimize(-tf.reduce_mean(taken * tf.placeholder(tf.float32, [None])))

    def q_learning(x, y):
        values = layers.dense(layers.dense(tf.placeholder(tf.float32, [None, 4]), 10, tf.nn.relu), 3)
        chosen = tf.gather_nd(values, tf.stack([tf.range(tf.shape(y)[0]), y], axis=1))
        tf.train.RMSPropOptimizer(0.1).minimize(tf.reduce_mean(tf.squared_difference(tf.placeholder(tf.float32, [None]), chosen)))

    return _seeds(tf, ppo=ppo, policy_gradient=policy_gradient, q_learning=q_learning)


def after_training_of_words(tf):
    """Embeddings, unrolled cells, clipped gradients, sampled losses."""
    layers, adam, cells = tf.layers, tf.train.AdamOptimizer, tf.nn.rnn_cell

    def embedded(x, y):
        table = tf.get_variable("table", [10, 4])
        adam().minimize(_loss(tf, tf.reduce_mean(tf.nn.embedding_lookup(table, tf.placeholder(tf.int32, [None, 5])), 1), y))

    def of_resource(x, y):
        with tf.variable_scope("a", use_resource=True):
            embedded(x, y)

    def unrolled(cell):
        def build(x, y):
            outputs, _ = tf.nn.static_rnn(cell(4), tf.unstack(x[:, :, :, 0], 8, 1), dtype=tf.float32)
            adam().minimize(_loss(tf, outputs[-1], y))

        return build

    def clipped(x, y):
        loss = _loss(tf, layers.dense(layers.flatten(x), 5, tf.nn.tanh), y)
        variables = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
        adam().apply_gradients(zip(grads, variables))

    def skip_gram(x, y):
        table = tf.Variable(tf.random_uniform([10, 4], -1.0, 1.0))
        weights, biases = tf.Variable(tf.truncated_normal([10, 4])), tf.Variable(tf.zeros([10]))
        words = tf.nn.embedding_lookup(table, tf.placeholder(tf.int32, [6]))
        loss = tf.nn.nce_loss(weights, biases, tf.placeholder(tf.int32, [6, 1]), words, 3, 10)
        tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_mean(loss))

    return _seeds(
        tf, embedded=embedded, of_resource=of_resource, lstm=unrolled(cells.BasicLSTMCell), gru=unrolled(cells.GRUCell), clipped=clipped, skip_gram=skip_gram
    )


def drawn_after_training(tf):
    """Values drawn after an optimizer was made."""
    tf.set_random_seed(7)
    w = tf.get_variable("w", [3, 2])
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.ones([4, 3]), w) + tf.get_variable("b", [2])))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    second = tf.get_variable("second", [2, 2])
    noise = tf.random_normal([2])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train])[0] for _ in range(3)]
        return losses, sess.run([w, second, noise])


def after_single_functions(tf):
    """Functions that make other numbers of nodes here."""
    functions = [
        lambda x, y: tf.nn.softmax(x, 1), lambda x, y: tf.nn.softmax(x, 0), lambda x, y: tf.nn.log_softmax(x, 1), lambda x, y: tf.one_hot(y, 12, on_value=1.0),
        lambda x, y: tf.one_hot(y, 12, on_value=1, off_value=0, dtype=tf.int32), lambda x, y: tf.confusion_matrix(y, y, 3), lambda x, y: tf.confusion_matrix(y, y),
        lambda x, y: tf.losses.hinge_loss(x, x), lambda x, y: tf.losses.huber_loss(x, x), lambda x, y: tf.metrics.precision(tf.equal(y, 1), tf.equal(y, 1)), lambda x, y: tf.metrics.mean(x, x),
        lambda x, y: tf.distributions.Categorical(logits=x).log_prob(tf.zeros([4, 8, 8], tf.int32)), lambda x, y: tf.einsum("ij,jk->ik", x[:, 0, 0], tf.ones([3, 2])),
        lambda x, y: tf.reduce_sum(tf.Variable([1.0, 2.0])), lambda x, y: tf.data.Dataset.range(3).shuffle(3, seed=1), lambda x, y: tf.data.TFRecordDataset(["a"]),
        lambda x, y: tf.data.TextLineDataset("a"), lambda x, y: tf.data.FixedLengthRecordDataset("a", 4), lambda x, y: tf.case([(x[0, 0, 0, 0] > 0, lambda: x)], lambda: -x, exclusive=True),
        lambda x, y: tf.case([(x[0, 0, 0, 0] > 0, lambda: x), (y[0] > 0, lambda: -x)]), lambda x, y: tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3, use_peepholes=True, num_proj=2), x[:, 0], dtype=tf.float32),
    ]
    for decay in ("inverse_time_decay", "polynomial_decay", "natural_exp_decay", "exponential_decay"):
        functions.append(lambda x, y, decay=decay: getattr(tf.train, decay)(0.1, tf.train.get_or_create_global_step(), 3, 0.5))
    return _seeds(tf, **{"f%02d" % i: f for i, f in enumerate(functions)})


def seeds_of_cells(tf):
    """The seeds of a cell's variables, which it makes before it computes."""
    tf.set_random_seed(1)
    cell = tf.nn.rnn_cell.LSTMCell(3, use_peepholes=True, num_proj=2)
    tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 4]), dtype=tf.float32)
    nodes = tf.get_default_graph().as_graph_def().node
    return [(node.name, node.attr["seed2"].i) for node in nodes if node.op == "RandomUniform"]
