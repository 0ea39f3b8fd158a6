//! Strings.

ops! {}
