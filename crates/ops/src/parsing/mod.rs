//! Parsing ops: CSV text, `Example` messages, serialized tensors and compressed bytes.

mod features;

ops! {
    decode_compressed,
    decode_csv,
    decode_json_example,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
    parse_tensor,
    serialize_tensor,
}
