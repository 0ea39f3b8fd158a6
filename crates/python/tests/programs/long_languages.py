"""Long programs: language models.

Text is batched or read from files, networks are unrolled or in loops, and saved.
"""

import collections
import os
import tempfile

import numpy as np

TEXT = "the quick brown fox jumps over the lazy dog while the cat sleeps under the old table near the door "


class _Config(object):
    def __init__(self, **options):
        self.batch_size, self.num_steps, self.hidden, self.layers = 2, 5, 6, 2
        self.keep_prob, self.learning_rate, self.max_grad_norm, self.decay = 1.0, 1.0, 5.0, 0.5
        self.__dict__.update(options)


class _Characters(object):
    """A model of characters with its own zero state and a sampler."""

    def __init__(self, tf, vocabulary, config, sampling=False):
        batch, steps = (1, 1) if sampling else (config.batch_size, config.num_steps)
        kinds = {"lstm": tf.nn.rnn_cell.BasicLSTMCell, "gru": tf.nn.rnn_cell.GRUCell, "rnn": tf.nn.rnn_cell.BasicRNNCell}
        cells = [kinds[config.kind](config.hidden) for _ in range(config.layers)]
        self.cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        self.inputs = tf.placeholder(tf.int32, [batch, steps], name="inputs")
        self.targets = tf.placeholder(tf.int32, [batch, steps], name="targets")
        self.initial_state = self.cell.zero_state(batch, tf.float32)
        with tf.variable_scope("rnnlm"):
            softmax_w = tf.get_variable("softmax_w", [config.hidden, vocabulary])
            softmax_b = tf.get_variable("softmax_b", [vocabulary], initializer=tf.zeros_initializer())
            embedding = tf.get_variable("embedding", [vocabulary, config.hidden])
            inputs = tf.split(tf.nn.embedding_lookup(embedding, self.inputs), steps, 1)
            inputs = [tf.squeeze(one, [1]) for one in inputs]

        def loop(previous, _):
            symbol = tf.stop_gradient(tf.argmax(tf.matmul(previous, softmax_w) + softmax_b, 1))
            return tf.nn.embedding_lookup(embedding, symbol)

        decoder = tf.contrib.legacy_seq2seq.rnn_decoder
        outputs, last = decoder(inputs, self.initial_state, self.cell, loop_function=loop if sampling else None, scope="rnnlm")
        output = tf.reshape(tf.concat(outputs, 1), [-1, config.hidden])
        self.logits = tf.matmul(output, softmax_w) + softmax_b
        self.probs = tf.nn.softmax(self.logits)
        weights = [tf.ones([batch * steps])]
        loss = tf.contrib.legacy_seq2seq.sequence_loss_by_example([self.logits], [tf.reshape(self.targets, [-1])], weights)
        self.cost = tf.reduce_sum(loss) / batch / steps
        self.final_state = last
        self.lr = tf.Variable(0.0, trainable=False)
        variables = tf.trainable_variables()
        gradients, self.norm = tf.clip_by_global_norm(tf.gradients(self.cost, variables), config.max_grad_norm)
        self.train_op = tf.train.AdamOptimizer(self.lr).apply_gradients(zip(gradients, variables))


def _batches(config, vocabulary=None):
    letters = sorted(set(TEXT))
    ids = np.array([letters.index(c) for c in TEXT])
    n = len(ids) // (config.batch_size * config.num_steps)
    ids = ids[: n * config.batch_size * config.num_steps]
    ahead = np.roll(ids, -1)
    split = [np.split(part.reshape(config.batch_size, -1), n, 1) for part in (ids, ahead)]
    return letters, list(zip(*split))


def characters_sampled(tf):
    """Trains a model of characters, saves it, and samples from it in a graph that shares its variables."""
    config = _Config(kind="lstm", learning_rate=0.01)
    letters, batches = _batches(config)
    folder = tempfile.mkdtemp()
    tf.set_random_seed(7)
    model = _Characters(tf, len(letters), config)
    saver = tf.train.Saver(tf.global_variables())
    costs = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(2):
            sess.run(tf.assign(model.lr, config.learning_rate * config.decay ** epoch))
            state = sess.run(model.initial_state)
            for x, y in batches[:5]:
                feed = {model.inputs: x, model.targets: y}
                for i, (c, h) in enumerate(model.initial_state):
                    feed[c], feed[h] = state[i].c, state[i].h
                cost, state, norm, _ = sess.run([model.cost, model.final_state, model.norm, model.train_op], feed)
                costs.append((cost, norm))
        saver.save(sess, os.path.join(folder, "model.ckpt"), global_step=2)
    with tf.Graph().as_default():
        model = _Characters(tf, len(letters), config, sampling=True)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found = tf.train.get_checkpoint_state(folder)
            tf.train.Saver(tf.global_variables()).restore(sess, found.model_checkpoint_path)
            state, word = sess.run(model.cell.zero_state(1, tf.float32)), "t"
            for _ in range(8):
                x = np.array([[letters.index(word[-1])]])
                probs, state = sess.run([model.probs, model.final_state], {model.inputs: x, model.initial_state: state})
                word += letters[int(np.argmax(probs[0]))]
    return costs, word, os.path.basename(found.model_checkpoint_path), [v.name for v in tf.global_variables()]


class _Words(object):
    """A model of words with dropout, and a learning rate that a placeholder sets."""

    def __init__(self, tf, is_training, config, ids, vocabulary, name):
        with tf.name_scope(name, "Producer", [ids]):
            data = tf.convert_to_tensor(ids, name="raw_data", dtype=tf.int32)
            size = tf.size(data)
            length = size // config.batch_size
            data = tf.reshape(data[0 : config.batch_size * length], [config.batch_size, length])
            epoch_size = (length - 1) // config.num_steps
            check = tf.assert_positive(epoch_size, message="epoch_size == 0, decrease batch_size or num_steps")
            with tf.control_dependencies([check]):
                epoch_size = tf.identity(epoch_size, name="epoch_size")
            i = tf.train.range_input_producer(epoch_size, shuffle=False).dequeue()
            x = tf.strided_slice(data, [0, i * config.num_steps], [config.batch_size, (i + 1) * config.num_steps])
            x.set_shape([config.batch_size, config.num_steps])
            y = tf.strided_slice(data, [0, i * config.num_steps + 1], [config.batch_size, (i + 1) * config.num_steps + 1])
            y.set_shape([config.batch_size, config.num_steps])

        def cell():
            made = tf.contrib.rnn.BasicLSTMCell(config.hidden, forget_bias=0.0, state_is_tuple=True, reuse=tf.get_variable_scope().reuse)
            return tf.contrib.rnn.DropoutWrapper(made, output_keep_prob=config.keep_prob) if is_training else made

        stack = tf.contrib.rnn.MultiRNNCell([cell() for _ in range(config.layers)], state_is_tuple=True)
        self.initial_state = stack.zero_state(config.batch_size, tf.float32)
        embedding = tf.get_variable("embedding", [vocabulary, config.hidden], dtype=tf.float32)
        inputs = tf.nn.embedding_lookup(embedding, x)
        if is_training and config.keep_prob < 1:
            inputs = tf.nn.dropout(inputs, config.keep_prob)
        outputs, state = [], self.initial_state
        with tf.variable_scope("RNN"):
            for step in range(config.num_steps):
                if step > 0:
                    tf.get_variable_scope().reuse_variables()
                output, state = stack(inputs[:, step, :], state)
                outputs.append(output)
        output = tf.reshape(tf.stack(axis=1, values=outputs), [-1, config.hidden])
        logits = tf.nn.xw_plus_b(output, tf.get_variable("softmax_w", [config.hidden, vocabulary]), tf.get_variable("softmax_b", [vocabulary]))
        logits = tf.reshape(logits, [config.batch_size, config.num_steps, vocabulary])
        weights = tf.ones([config.batch_size, config.num_steps])
        loss = tf.contrib.seq2seq.sequence_loss(logits, y, weights, average_across_timesteps=False, average_across_batch=True)
        self.cost, self.final_state, self.epoch_size = tf.reduce_sum(loss), state, ((len(ids) // config.batch_size) - 1) // config.num_steps
        if not is_training:
            return
        self.lr = tf.Variable(0.0, trainable=False)
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.cost, variables), config.max_grad_norm)
        self.train_op = tf.train.GradientDescentOptimizer(self.lr).apply_gradients(zip(gradients, variables), global_step=tf.train.get_or_create_global_step())
        self.new_lr = tf.placeholder(tf.float32, shape=[], name="new_learning_rate")
        self.lr_update = tf.assign(self.lr, self.new_lr)


def _epoch(sess, model, train_op=None):
    costs = iters = 0.0
    state = sess.run(model.initial_state)
    fetches = {"cost": model.cost, "final_state": model.final_state}
    if train_op is not None:
        fetches["train_op"] = train_op
    for _ in range(model.epoch_size):
        feed = {}
        for i, (c, h) in enumerate(model.initial_state):
            feed[c], feed[h] = state[i].c, state[i].h
        values = sess.run(fetches, feed)
        costs, state, iters = costs + values["cost"], values["final_state"], iters + 5
    return np.float32(np.exp(costs / iters))


def words_supervised(tf):
    """Trains and validates a model of words that reads its text through a queue, under a supervisor."""
    counter = collections.Counter(TEXT.split())
    order = sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
    ids_of = {word: i for i, (word, _) in enumerate(order)}
    ids = [ids_of[word] for word in (TEXT * 4).split()]
    config, folder = _Config(hidden=4, learning_rate=0.5), tempfile.mkdtemp()
    tf.set_random_seed(3)
    init = tf.random_uniform_initializer(-0.1, 0.1)
    with tf.name_scope("Train"):
        with tf.variable_scope("Model", reuse=None, initializer=init):
            train = _Words(tf, True, config, ids, len(order), "TrainInput")
        tf.summary.scalar("Training Loss", train.cost)
        tf.summary.scalar("Learning Rate", train.lr)
    with tf.name_scope("Valid"):
        with tf.variable_scope("Model", reuse=True, initializer=init):
            valid = _Words(tf, False, config, ids[:40], len(order), "ValidInput")
        tf.summary.scalar("Validation Loss", valid.cost)
    supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=0, save_model_secs=0)
    found = []
    with supervisor.managed_session() as sess:
        for epoch in range(3):
            decay = config.decay ** max(epoch + 1 - 1, 0.0)
            sess.run(train.lr_update, feed_dict={train.new_lr: config.learning_rate * decay})
            found.append([sess.run(train.lr), _epoch(sess, train, train.train_op), _epoch(sess, valid)])
        path = supervisor.saver.save(sess, os.path.join(folder, "model"), global_step=supervisor.global_step)
    names = sorted(name for name, _ in tf.train.list_variables(path))
    return found, os.path.basename(path), names, [v.name for v in tf.trainable_variables()]


def words_with_dropout(tf):
    """The same model with dropout, whose masks depend on the seed, in a session of its own with a
    coordinator.
    """
    ids = [ord(c) % 11 for c in TEXT * 2]
    config = _Config(hidden=5, keep_prob=0.75, layers=1, learning_rate=0.1)
    tf.set_random_seed(11)
    with tf.variable_scope("Model", initializer=tf.random_uniform_initializer(-0.2, 0.2, seed=4)):
        model = _Words(tf, True, config, ids, 11, "Input")
    with tf.variable_scope("Model", reuse=True):
        test = _Words(tf, False, config, ids[:60], 11, "Test")
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        sess.run(model.lr_update, {model.new_lr: config.learning_rate})
        for _ in range(2):
            state = sess.run(model.initial_state)
            for step in range(4):
                feed = {model.initial_state: state}
                cost, state, _ = sess.run([model.cost, model.final_state, model.train_op], feed)
                found.append(cost)
            found.append(sess.run(test.cost))
        coord.request_stop()
        coord.join(threads)
        weights = sess.run(tf.trainable_variables()[-1])
    return found, weights, [t.name for t in threads]


def words_skipped(tf):
    """Skip-grams with noise-contrastive estimation, similar words, and a table that a projector reads."""
    words = (TEXT * 3).split()
    vocabulary = sorted(set(words))
    data = [vocabulary.index(word) for word in words]
    batch_size, width, skips, window = 8, 6, 2, 1
    position = [0]

    def batch():
        x, y = [], []
        while len(x) < batch_size:
            middle = position[0] % (len(data) - 2) + window
            for offset in (-window, window)[:skips]:
                x.append(data[middle])
                y.append(data[middle + offset])
            position[0] += 1
        return np.array(x, np.int32), np.array(y, np.int32).reshape(-1, 1)

    tf.set_random_seed(1)
    with tf.name_scope("inputs"):
        inputs = tf.placeholder(tf.int32, shape=[batch_size])
        labels = tf.placeholder(tf.int32, shape=[batch_size, 1])
        examples = tf.constant([1, 3, 4], dtype=tf.int32)
    with tf.device("/cpu:0"):
        with tf.name_scope("embeddings"):
            embeddings = tf.Variable(tf.random_uniform([len(vocabulary), width], -1.0, 1.0))
            embed = tf.nn.embedding_lookup(embeddings, inputs)
        with tf.name_scope("weights"):
            nce_weights = tf.Variable(tf.truncated_normal([len(vocabulary), width], stddev=1.0 / np.sqrt(width)))
        with tf.name_scope("biases"):
            nce_biases = tf.Variable(tf.zeros([len(vocabulary)]))
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(
            tf.nn.nce_loss(weights=nce_weights, biases=nce_biases, labels=labels, inputs=embed, num_sampled=4, num_classes=len(vocabulary))
        )
    tf.summary.scalar("loss", loss)
    with tf.name_scope("optimizer"):
        optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    normalized = embeddings / norm
    similarity = tf.matmul(tf.nn.embedding_lookup(normalized, examples), normalized, transpose_b=True)
    merged, init, saver = tf.summary.merge_all(), tf.global_variables_initializer(), tf.train.Saver()
    folder = tempfile.mkdtemp()
    with tf.Session() as session:
        writer = tf.summary.FileWriter(folder, session.graph)
        init.run()
        losses = []
        for step in range(6):
            x, y = batch()
            _, summary, value = session.run([optimizer, merged, loss], feed_dict={inputs: x, labels: y})
            writer.add_summary(summary, step)
            losses.append(value)
        nearest = (-similarity.eval()).argsort(axis=1)[:, 1:4]
        path = saver.save(session, os.path.join(folder, "model.ckpt"))
        config = tf.contrib.tensorboard.plugins.projector.ProjectorConfig()
        config.embeddings.add().tensor_name = embeddings.name
        tf.contrib.tensorboard.plugins.projector.visualize_embeddings(writer, config)
        writer.close()
    events = [e for f in os.listdir(folder) if "tfevents" in f for e in tf.train.summary_iterator(os.path.join(folder, f))]
    values = [v.simple_value for e in events for v in e.summary.value if v.tag == "loss"]
    return losses, np.float32(values), nearest, tf.train.list_variables(path), "projector_config.pbtxt" in os.listdir(folder)
