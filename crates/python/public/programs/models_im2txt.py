"""tensorflow/models, im2txt: training on a padded queue of pictures, and captions from the checkpoint.

Inception makes place for one convolution, which takes less time.
"""

import os

URL = "https://github.com/Dzinushi/models_1_4"
COMMIT = "d7e72793a68c1667d403b1542c205d1cd9b1d17c"
TOLERANCE = 1e-4


def prepare(data):
    import numpy as np
    import tensorflow as tf
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.python_io.TFRecordWriter(os.path.join(data, "train-0")) as writer:
            for _ in range(30):
                picture = np.random.randint(0, 256, size=(20, 24, 3)).astype(np.uint8)
                example = tf.train.SequenceExample()
                coded = sess.run(tf.image.encode_png(picture))
                example.context.feature["image/data"].bytes_list.value.append(coded)
                for word in np.random.randint(0, 40, size=np.random.randint(3, 9)):
                    example.feature_lists.feature_list["image/caption_ids"].feature.add().int64_list.value.append(word)
                writer.write(example.SerializeToString())


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    os.chdir("research/im2txt")
    sys.path.insert(0, os.getcwd())
    import unittest.mock
    for name in ("nets", "nets.inception_v3"):  # which Millstream leaves to programs
        sys.modules["tensorflow.contrib.slim.python.slim." + name] = unittest.mock.MagicMock()
    from im2txt import configuration, show_and_tell_model
    from im2txt.ops import image_embedding

    def small(images, trainable, is_training):
        with tf.variable_scope("InceptionV3"):
            net = tf.contrib.slim.conv2d(images, 5, [3, 3], 2, trainable=trainable, scope="one")
            return tf.reduce_mean(net, [1, 2])
    image_embedding.inception_v3 = small
    config = configuration.ModelConfig()
    config.input_file_pattern, config.image_format = os.path.join(data, "train-*"), "png"
    config.values_per_input_shard, config.input_queue_capacity_factor, config.num_preprocess_threads = 2, 1, 2
    config.vocab_size, config.batch_size, config.embedding_size, config.num_lstm_units = 40, 4, 6, 8
    config.image_height, config.image_width = 12, 12
    # One of its two threads, so that the pictures have one order.
    join = tf.train.batch_join
    tf.train.batch_join = lambda lists, **named: join(lists[:1], **named)
    tf.reset_default_graph()
    tf.set_random_seed(3)
    with tf.variable_scope("", initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=4)):
        model = show_and_tell_model.ShowAndTellModel(config, mode="eval")
        model.build()
    step = tf.contrib.layers.optimize_loss(
        loss=model.total_loss, global_step=model.global_step, learning_rate=0.5, optimizer="SGD", clip_gradients=5.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        for _ in range(10):
            sess.run([step, model.global_step])
        sess.run([model.target_cross_entropy_losses, model.target_cross_entropy_loss_weights])
        saver.save(sess, os.path.join(data, "model"), global_step=10)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    records.add_checkpoint(data)
    tf.reset_default_graph()
    model = show_and_tell_model.ShowAndTellModel(config, mode="inference")
    model.build()
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, os.path.join(data, "model-10"))
        coded = sess.run(tf.image.encode_png(np.full((20, 20, 3), 90, np.uint8)))
        state = sess.run("lstm/initial_state:0", {"image_feed:0": coded})
        for word in (1, 5, 7):
            _, state = sess.run(["softmax:0", "lstm/state:0"], {"input_feed:0": [word], "lstm/state_feed:0": state})
