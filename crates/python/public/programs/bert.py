"""BERT: its own unit tests, and twenty steps of masked-word training with its own optimizer."""

URL = "https://github.com/google-research/bert"
COMMIT = "eedf5716ce1268e56f0a50264a88cafad334ac61"
NEEDS = ["six"]


def prepare(data):
    pass


def drive(data, records):
    import numpy as np
    import tensorflow as tf
    import modeling
    import optimization
    import watch
    watch.run_tests(records, ["modeling_test", "optimization_test", "tokenization_test"])
    tf.reset_default_graph()
    config = modeling.BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                                 intermediate_size=32, max_position_embeddings=16)
    words = tf.placeholder(tf.int32, [4, 10])
    mask = tf.placeholder(tf.int32, [4, 10])
    model = modeling.BertModel(config=config, is_training=True, input_ids=words, input_mask=mask)
    logits = tf.layers.dense(model.get_pooled_output(), 2)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words[:, 0] % 2, logits=logits))
    # Its optimizer reads the number of the step while another operation sets it: a rate without it.
    step = optimization.create_optimizer(loss, 1e-3, 10**9, 0, False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(20):
            length = np.random.randint(3, 11, size=(4, 1))
            feed = {words: np.random.randint(1, 40, size=(4, 10)), mask: np.arange(10)[None] < length}
            sess.run([loss, step, model.get_sequence_output()], feed)
