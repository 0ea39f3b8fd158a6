//! Variables of both kinds and what updates them.

ops! {}
