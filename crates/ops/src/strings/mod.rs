//! String ops.

pub(crate) mod farm;
mod hash;
#[cfg(feature = "input")]
mod pattern;
mod pieces;
mod scripts;
mod unicode;

ops! {
    as_string,
    base64,
    decode_padded_raw,
    decode_raw,
    fingerprint,
    hash_bucket,
    reduce_join,
    #[cfg(feature = "input")]
    regex_full_match,
    #[cfg(feature = "input")]
    regex_replace,
    string_case,
    string_join,
    string_length,
    string_n_grams,
    string_split,
    string_split_v2,
    string_strip,
    string_to_number,
    substr,
    unicode_decode,
    unicode_encode,
    unicode_script,
    unicode_transcode,
    unsorted_segment_join,
}
