//! Looking and checking: Assert, Print, CheckNumerics.

mod excerpt;

ops! { assert, check_numerics, print, print_v2, string_format, timestamp }
