//! The basics of neural networks.

ops! {}
