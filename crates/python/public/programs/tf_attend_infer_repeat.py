"""Attend, infer, repeat (aakhundov): its model, a loop over ten TensorArrays, trained from a queue."""

import os

URL = "https://github.com/aakhundov/tf-attend-infer-repeat"
COMMIT = "77d4ac8773b389022a2c7fc650e7a22b998ba14d"
TOLERANCE = 1e-4


def prepare(data):
    import numpy as np
    import tensorflow as tf
    generator = np.random.RandomState(3)
    with tf.python_io.TFRecordWriter(os.path.join(data, "common.tfrecords")) as writer:
        for _ in range(60):
            picture = generator.rand(400).astype(np.float32).tobytes()
            feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture]))}
            feature["digits"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[generator.randint(0, 3)]))
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def drive(data, records):
    import functools
    import tensorflow as tf
    # TensorFlow draws the samples of a later iteration first if it gets to it first.
    tf.while_loop = functools.partial(tf.while_loop, parallel_iterations=1)
    import multi_mnist
    from air.air_model import AIRModel
    batches = tf.train.shuffle_batch
    tf.train.shuffle_batch = lambda tensors, batch_size, capacity, min_after_dequeue, num_threads: batches(
        tensors, batch_size, 60, 20, num_threads)  # a small queue
    files = tf.train.string_input_producer([os.path.join(data, "common.tfrecords")])
    pictures, counts = multi_mnist.read_and_decode(files, 8, 20, 1)
    small = dict(
        max_steps=3, max_digits=2, rnn_units=16, canvas_size=20, windows_size=8, vae_latent_dimensions=5,
        vae_recognition_units=(12, 9), vae_generative_units=(9, 12), scale_hidden_units=7, shift_hidden_units=7,
        z_pres_hidden_units=7, num_summary_images=4, cnn_filters=3, gradient_clipping_norm=1.0)
    schedule = {"z_pres_prior_log_odds": {"init": 100.0, "min": 1e-9, "factor": 0.1, "iters": 5, "log": True}}
    for cnn in (False,):
        scope = "air%d" % cnn
        model = AIRModel(pictures, counts, train=True, cnn=cnn, scope=scope, annealing_schedules=schedule, **small)
        tested = AIRModel(pictures, counts, train=False, reuse=True, cnn=cnn, scope=scope, **small)
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coordinator)
            for _ in range(6):
                sess.run([model.training, model.loss, model.accuracy, model.rec_num_digits, counts])
            sess.run([tested.loss, tested.rec_scales, tested.rec_shifts, tested.reconstruction])
            sess.run(tf.summary.merge(tested.num_summaries + tested.var_summaries + tested.img_summaries + model.grad_summaries))
            records.add("variables", sess.run(tf.trainable_variables()))
            coordinator.request_stop()
        del threads
