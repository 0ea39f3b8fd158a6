//! Looking and checking: Assert, Print, CheckNumerics.

ops! {}
