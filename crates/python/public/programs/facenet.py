"""facenet: its own SqueezeNet, center loss and train operation, on made pictures from a queue of files."""

import os

URL = "https://github.com/davidsandberg/facenet"
COMMIT = "096ed770f163957c1e56efa7feeb194773920f6e"
NEEDS = ["pillow", "scipy", "scikit-learn", "six"]
TOLERANCE = 1e-3  # the last batch normalizations have four numbers a channel, which magnifies rounding errors
PYTHON_2 = True


def prepare(data):
    import numpy as np
    from PIL import Image
    for person in range(3):
        os.makedirs(os.path.join(data, "faces", "person%d" % person))
        for at in range(4):
            picture = np.kron(np.random.randint(0, 256, size=(7, 7, 3)), np.ones((10, 10, 1))).astype(np.uint8)
            path = os.path.join(data, "faces", "person%d" % person, "person%d_%04d.png" % (person, at))
            Image.fromarray(picture).save(path)


def drive(data, records):
    import sys
    import tensorflow as tf
    import tensorflow.contrib.slim as slim
    sys.path.insert(0, os.path.join(os.getcwd(), "src"))
    import facenet
    from models import squeezenet
    paths, labels = facenet.get_image_paths_and_labels(facenet.get_dataset(os.path.join(data, "faces")))
    step = tf.Variable(0, trainable=False)
    training = tf.placeholder(tf.bool, name="phase_train")
    files, numbers = tf.train.slice_input_producer([paths, labels], shuffle=True)
    picture = tf.cast(tf.image.decode_png(tf.read_file(files), 3), tf.float32)
    picture = tf.image.random_flip_left_right(tf.random_crop(tf.image.per_image_standardization(picture), [64, 64, 3]))
    pictures, classes = tf.train.batch([picture, numbers], 4)
    prelogits, _ = squeezenet.inference(pictures, 0.8, phase_train=training, bottleneck_layer_size=8, weight_decay=1e-3)
    logits = slim.fully_connected(prelogits, 3, activation_fn=None, weights_regularizer=slim.l2_regularizer(1e-3))
    center, _ = facenet.center_loss(prelogits, classes, 0.9, 3)
    cross = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits))
    tf.add_to_collection("losses", cross)
    total = tf.add_n([cross, 0.01 * center] + tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    train = facenet.train(total, step, "ADAGRAD", 0.001, 0.99, tf.global_variables())
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        for _ in range(6):
            sess.run([train, total, cross, step, classes], {training: True})
        sess.run([tf.nn.l2_normalize(prelogits, 1), classes], {training: False})
        saver = tf.train.Saver(tf.trainable_variables())
        saver.save(sess, os.path.join(data, "saved", "model"))
        coordinator.request_stop()
    records.add_checkpoint(os.path.join(data, "saved"))
    del threads
