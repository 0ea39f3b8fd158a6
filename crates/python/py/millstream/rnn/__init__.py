"""Recurrent networks: `cells` (`tf.nn.rnn_cell`), and `networks`, such as `tf.nn.dynamic_rnn`."""
