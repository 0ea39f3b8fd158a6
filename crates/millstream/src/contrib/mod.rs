//! What TensorFlow 1 keeps in `tf.contrib`, as far as it is here.

pub mod training;
