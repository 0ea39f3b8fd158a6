"""Long programs: agents, with policies, targets that follow, replayed memories and advantages."""

import collections
import os
import random
import tempfile

import numpy as np


class _Corridor(object):
    """A walk of five cells: reward at the right end."""

    def __init__(self):
        self.place = 2

    def reset(self):
        self.place = 2
        return self.state()

    def state(self):
        x = np.zeros(5, np.float32)
        x[self.place] = 1.0
        return x

    def step(self, action):
        self.place = min(max(self.place + (1 if action else -1), 0), 4)
        done = self.place in (0, 4)
        return self.state(), float(self.place == 4), done, {}


def q_learning_with_a_target(tf):
    """A network of values, a second one that follows by assignments, and a replayed memory."""
    random.seed(3)
    rng = np.random.RandomState(7)
    tf.set_random_seed(4)

    def network(x, scope):
        with tf.variable_scope(scope):
            h = tf.contrib.layers.fully_connected(x, 8, activation_fn=tf.nn.tanh, scope="hidden")
            return tf.contrib.layers.fully_connected(h, 2, activation_fn=None, scope="values")

    states = tf.placeholder(tf.float32, [None, 5], name="states")
    following = tf.placeholder(tf.float32, [None, 5], name="following")
    actions = tf.placeholder(tf.int32, [None], name="actions")
    rewards = tf.placeholder(tf.float32, [None], name="rewards")
    done = tf.placeholder(tf.float32, [None], name="done")
    values = network(states, "online")
    targets = network(following, "target")
    online = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="online")
    target = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="target")
    copy = tf.group(*[t.assign(o) for t, o in zip(target, online)])
    follow = [t.assign(t * 0.9 + o * 0.1) for t, o in zip(target, online)]
    chosen = tf.reduce_sum(values * tf.one_hot(actions, 2), axis=1)
    wanted = rewards + 0.9 * (1.0 - done) * tf.reduce_max(targets, axis=1)
    error = tf.stop_gradient(wanted) - chosen
    loss = tf.reduce_mean(tf.where(tf.abs(error) < 1.0, 0.5 * tf.square(error), tf.abs(error) - 0.5))
    optimizer = tf.train.RMSPropOptimizer(0.01, decay=0.95, momentum=0.9, epsilon=0.01)
    pairs = [(g, v) for g, v in optimizer.compute_gradients(loss, var_list=online) if g is not None]
    pairs = [(tf.clip_by_norm(g, 10.0), v) for g, v in pairs]
    train = optimizer.apply_gradients(pairs)
    memory, game, losses, returns = collections.deque(maxlen=50), _Corridor(), [], []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(copy)
        for episode in range(6):
            state, total = game.reset(), 0.0
            for _ in range(8):
                if rng.uniform() < 0.3:
                    action = rng.randint(2)
                else:
                    action = int(np.argmax(sess.run(values, {states: [state]})[0]))
                after, reward, ended, _ = game.step(action)
                memory.append((state, action, reward, after, float(ended)))
                state, total = after, total + reward
                batch = [memory[rng.randint(len(memory))] for _ in range(4)]
                s, a, r, n, d = map(np.array, zip(*batch))
                value, _ = sess.run([loss, train], {states: s, actions: a, rewards: r, following: n, done: d})
                sess.run(follow)
                losses.append(value)
                if ended:
                    break
            returns.append(total)
        final = sess.run([values, targets], {states: np.eye(5), following: np.eye(5)})
    return losses, returns, final, [v.name for v in tf.global_variables()]


def policy_with_rewards_to_go(tf):
    """Episodes drawn from a policy by `multinomial`, rewards to go, an entropy term, gradients kept
    in a buffer.
    """
    tf.set_random_seed(21)
    observations = tf.placeholder(tf.float32, [None, 5])
    taken = tf.placeholder(tf.int32, [None])
    advantages = tf.placeholder(tf.float32, [None])
    hidden = tf.layers.dense(observations, 6, tf.nn.relu, kernel_initializer=tf.contrib.layers.xavier_initializer(seed=1))
    logits = tf.layers.dense(hidden, 2, kernel_initializer=tf.contrib.layers.xavier_initializer(seed=2))
    sample = tf.squeeze(tf.multinomial(logits, 1, seed=3), axis=[1])
    log_probability = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=taken, logits=logits)
    probabilities = tf.nn.softmax(logits)
    entropy = -tf.reduce_sum(probabilities * tf.log(probabilities + 1e-8), 1)
    loss = -tf.reduce_mean(log_probability * advantages + 0.01 * entropy)
    variables = tf.trainable_variables()
    buffers = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False, name="buffer%d" % i) for i, v in enumerate(variables)]
    gradients = tf.gradients(loss, variables)
    add = [b.assign_add(g) for b, g in zip(buffers, gradients)]
    clear = [b.assign(tf.zeros_like(b)) for b in buffers]
    optimizer = tf.train.AdamOptimizer(0.05)
    norm = tf.global_norm(buffers)
    with tf.control_dependencies([norm]):
        apply = optimizer.apply_gradients(list(zip([tf.identity(b) for b in buffers], variables)))
    game, found = _Corridor(), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for iteration in range(3):
            sess.run(clear)
            for _ in range(2):
                seen, actions, rewards = [], [], []
                state = game.reset()
                for _ in range(6):
                    action = sess.run(sample, {observations: [state]})[0]
                    seen.append(state)
                    actions.append(action)
                    state, reward, ended, _ = game.step(action)
                    rewards.append(reward)
                    if ended:
                        break
                to_go = np.cumsum(np.array(rewards)[::-1] * 0.9)[::-1]
                feed = {observations: seen, taken: actions, advantages: to_go}
                value, entropies, _ = sess.run([loss, entropy, add], feed)
                found.append((value, np.array(actions), entropies))
            found.append(sess.run(norm))
            sess.run(apply)
        return found, sess.run(probabilities, {observations: np.eye(5)})


def actors_of_several_workers(tf):
    """Workers with networks of their own copy the global one, and send clipped gradients to it, one
    after the other.
    """
    tf.set_random_seed(8)

    class Network(object):
        def __init__(self, scope, optimizer=None):
            with tf.variable_scope(scope):
                self.inputs = tf.placeholder(tf.float32, [None, 5])
                cell = tf.contrib.rnn.BasicLSTMCell(4, state_is_tuple=True)
                c_init, h_init = np.zeros((1, 4), np.float32), np.zeros((1, 4), np.float32)
                self.state_init = [c_init, h_init]
                c_in, h_in = tf.placeholder(tf.float32, [1, 4]), tf.placeholder(tf.float32, [1, 4])
                self.state_in = (c_in, h_in)
                rows = tf.expand_dims(tf.nn.elu(tf.contrib.slim.fully_connected(self.inputs, 5, activation_fn=None)), [0])
                state = tf.contrib.rnn.LSTMStateTuple(c_in, h_in)
                outputs, (c, h) = tf.nn.dynamic_rnn(cell, rows, initial_state=state, sequence_length=tf.shape(self.inputs)[:1], time_major=False)
                self.state_out = (c[:1, :], h[:1, :])
                out = tf.reshape(outputs, [-1, 4])
                self.policy = tf.contrib.slim.fully_connected(out, 2, activation_fn=tf.nn.softmax, weights_initializer=tf.random_normal_initializer(0.1), biases_initializer=None)
                self.value = tf.contrib.slim.fully_connected(out, 1, activation_fn=None, weights_initializer=tf.random_normal_initializer(1.0), biases_initializer=None)
                if scope == "global":
                    return
                self.actions = tf.placeholder(tf.int32, [None])
                self.target, self.advantages = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
                responsible = tf.reduce_sum(self.policy * tf.one_hot(self.actions, 2, dtype=tf.float32), [1])
                value_loss = 0.5 * tf.reduce_sum(tf.square(self.target - tf.reshape(self.value, [-1])))
                entropy = -tf.reduce_sum(self.policy * tf.log(self.policy))
                policy_loss = -tf.reduce_sum(tf.log(responsible) * self.advantages)
                self.loss = 0.5 * value_loss + policy_loss - entropy * 0.01
                own = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)
                gradients = tf.gradients(self.loss, own)
                clipped, self.norm = tf.clip_by_global_norm(gradients, 40.0)
                shared = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "global")
                self.apply = optimizer.apply_gradients(zip(clipped, shared))
                self.copy = [mine.assign(theirs) for mine, theirs in zip(own, shared)]

    optimizer = tf.train.AdamOptimizer(learning_rate=1e-2)
    Network("global")
    workers = [Network("worker_%d" % i, optimizer) for i in range(2)]
    saver, folder, found = tf.train.Saver(max_to_keep=5), tempfile.mkdtemp(), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for round_ in range(2):
            for worker in workers:
                sess.run(worker.copy)
                state, seen, rewards, memory = _Corridor(), [], [], worker.state_init
                for action in (1, 0, 1, 1):
                    seen.append(state.state())
                    policy, value, memory = sess.run(
                        [worker.policy, worker.value, worker.state_out], {worker.inputs: [seen[-1]], worker.state_in[0]: memory[0], worker.state_in[1]: memory[1]}
                    )
                    rewards.append(state.step(action)[1])
                returns = np.cumsum(rewards[::-1])[::-1]
                feed = {
                    worker.inputs: np.vstack(seen),
                    worker.actions: [1, 0, 1, 1],
                    worker.target: returns,
                    worker.advantages: returns - 0.5,
                    worker.state_in[0]: worker.state_init[0],
                    worker.state_in[1]: worker.state_init[1],
                }
                loss, norm, _ = sess.run([worker.loss, worker.norm, worker.apply], feed)
                found.append((policy, value, loss, norm))
        path = saver.save(sess, os.path.join(folder, "model"), 2)
    return found, [n for n, _ in tf.train.list_variables(path)][:6], len(tf.global_variables())


def critic_with_actions(tf):
    """Deterministic policies: an actor whose gradient comes from the critic, and averages that
    follow both.
    """
    tf.set_random_seed(13)
    states, actions = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    wanted, gradients_in = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])

    def actor(x, name):
        with tf.variable_scope(name):
            h = tf.layers.dense(x, 5, tf.nn.relu)
            out = tf.layers.dense(h, 1, tf.nn.tanh, kernel_initializer=tf.random_uniform_initializer(-0.3, 0.3))
            return tf.multiply(out, 2.0)

    def critic(x, a, name):
        with tf.variable_scope(name):
            w1 = tf.get_variable("w1", [3, 6], initializer=tf.random_normal_initializer(0.0, 0.3))
            w2 = tf.get_variable("w2", [1, 6], initializer=tf.random_normal_initializer(0.0, 0.3))
            b = tf.get_variable("b", [1, 6], initializer=tf.constant_initializer(0.1))
            return tf.layers.dense(tf.nn.relu(tf.matmul(x, w1) + tf.matmul(a, w2) + b), 1)

    policy = actor(states, "actor")
    own = tf.trainable_variables()
    average = tf.train.ExponentialMovingAverage(decay=0.9)
    update = average.apply(own)
    with tf.variable_scope("", reuse=True, custom_getter=lambda getter, *args, **kwargs: average.average(getter(*args, **kwargs))):
        slow = actor(states, "actor")
    value = critic(states, actions, "critic")
    critic_variables = [v for v in tf.trainable_variables() if v.name.startswith("critic")]
    penalty = tf.add_n([tf.nn.l2_loss(v) for v in critic_variables if "w" in v.op.name])
    critic_loss = tf.reduce_mean(tf.square(wanted - value)) + 0.01 * penalty
    train_critic = tf.train.AdamOptimizer(0.01).minimize(critic_loss, var_list=critic_variables)
    slope = tf.gradients(value, actions)[0]
    policy_gradients = tf.gradients(policy, own, -gradients_in)
    train_actor = tf.train.AdamOptimizer(0.005).apply_gradients(zip(policy_gradients, own))
    rng, found = np.random.RandomState(1), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            s = rng.normal(size=(5, 3))
            a = sess.run(policy, {states: s})
            loss, _ = sess.run([critic_loss, train_critic], {states: s, actions: a, wanted: np.sum(s, 1, keepdims=True)})
            slopes = sess.run(slope, {states: s, actions: a})
            sess.run(train_actor, {states: s, gradients_in: slopes})
            sess.run(update)
            found.append((a, loss, slopes, sess.run(slow, {states: s})))
    return found, [v.name for v in tf.moving_average_variables()], len(tf.global_variables())
