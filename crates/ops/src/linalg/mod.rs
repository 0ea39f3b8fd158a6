//! Matrix products.

ops! {}
