//! Parsing: columns of text, `Example` messages, compressed bytes.

mod features;

ops! { decode_compressed, decode_csv, parse_example, parse_single_example, parse_single_sequence_example }
