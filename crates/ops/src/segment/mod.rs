//! Segment sums and their kin.

ops! {}
