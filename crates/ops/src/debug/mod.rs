//! Debugging ops: Assert, CheckNumerics, Print, StringFormat and Timestamp.

mod excerpt;

ops! {
    assert,
    check_numerics,
    print,
    print_v2,
    string_format,
    timestamp,
}
