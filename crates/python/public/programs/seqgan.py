"""SeqGAN: samples of the oracle and the generator, pretraining, roll-outs and adversarial steps."""

URL = "https://github.com/LantaoYu/SeqGAN"
COMMIT = "e2b52fb6309851b14765290e8a972ccac09f1bec"
PYTHON_2 = True


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    import watch
    from discriminator import Discriminator
    from generator import Generator
    from rollout import ROLLOUT
    from target_lstm import TARGET_LSTM
    watch.seed_by_order()
    words, batch, width, length = 50, 8, 6, 20
    shapes = [(words, width)] + 4 * [(width, width), (width, width), (width,)] + [(width, words), (words,)]
    weights = [np.random.normal(0, 1, shape).astype(np.float32) for shape in shapes]
    generator = Generator(words, batch, width, width, length, 0)
    oracle = TARGET_LSTM(words, batch, width, width, length, 0, weights)
    judge = Discriminator(length, 2, words, 8, [1, 2, 3, 5], [10, 10, 10, 10], l2_reg_lambda=0.2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        real = [oracle.generate(sess) for _ in range(4)]
        for x in real:
            generator.pretrain_step(sess, x)
            sess.run(oracle.pretrain_loss, {oracle.x: generator.generate(sess)})
        rollout = ROLLOUT(generator, 0.8)
        for x in real:
            samples = generator.generate(sess)
            rewards = rollout.get_reward(sess, samples, 2, judge)
            records.add("rewards", rewards)
            sess.run([generator.g_updates, generator.g_loss], {generator.x: samples, generator.rewards: rewards})
            rollout.update_params()
            both = np.concatenate([x, generator.generate(sess)])
            labels = np.repeat([[0, 1], [1, 0]], batch, axis=0)
            sess.run([judge.train_op, judge.loss],
                     {judge.input_x: both, judge.input_y: labels, judge.dropout_keep_prob: 0.75})
        records.add("weights", sess.run(generator.g_params))
