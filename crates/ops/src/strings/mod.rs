//! String ops.

pub(crate) mod farm;
mod hash;
mod pattern;
mod pieces;

ops! {
    as_string,
    base64,
    decode_raw,
    hash_bucket,
    reduce_join,
    regex_full_match,
    regex_replace,
    string_case,
    string_join,
    string_length,
    string_split,
    string_split_v2,
    string_strip,
    string_to_number,
    substr,
    unsorted_segment_join,
}
