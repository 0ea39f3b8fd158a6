//! Random numbers, from TensorFlow's Philox streams.

ops! {}
