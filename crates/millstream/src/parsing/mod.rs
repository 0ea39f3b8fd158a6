//! Parsing: tensors from bytes and text. Features of `Example` messages by name, columns of text, sparse
//! tensors as strings.
//!
//! ```
//! use millstream::parsing::{FixedLenFeature, VarLenFeature, parse_example};
//! use millstream::prelude::*;
//! let g = Graph::new();
//! let serialized = g.placeholder_of("serialized", DType::Str, shape![_]);
//! let age = FixedLenFeature::new(shape![], DType::I64).default_value(Tensor::scalar(-1i64));
//! let words = VarLenFeature::new(DType::Str);
//! let parsed = parse_example(&g, serialized, [("age", age.into()), ("words", words.into())])?;
//! let (age, words) = (parsed.dense("age")?, parsed.sparse("words")?);
//! let session = Session::new(&g)?;
//! // Two messages without any feature.
//! let two_empty: Tensor = "str[2] [\"\" \"\"]".parse()?;
//! let fetches = (age, words.dense_shape);
//! let (age, shape): (Vec<i64>, Vec<i64>) = session.run(fetches, feed![serialized => two_empty])?;
//! assert_eq!(age, [-1, -1]);
//! assert_eq!(shape, [2, 0]);
//! # Ok::<(), millstream::Error>(())
//! ```
//!
//! Single ops are methods of their families: `g.strings().decode_raw`, `g.parsing().decode_json_example`,
//! `serialize_tensor`, `parse_tensor`.
//!
//! Definition: `tf.parse_example` and its relatives, `tf.decode_csv` and `tf.serialize_sparse` and its
//! relatives of TensorFlow 1.15, with their node names.

mod csv;
mod examples;
mod features;
mod sparse;

pub use csv::{Column, DecodeCsv, decode_csv};
pub use examples::{
    Sequences, parse_example, parse_named_example, parse_named_sequence_example, parse_sequence_example,
    parse_single_example, parse_single_sequence_example,
};
pub use features::{Feature, FixedLenFeature, FixedLenSequenceFeature, Parsed, SparseFeature, VarLenFeature};
pub use sparse::{deserialize_many_sparse, deserialize_sparse, serialize_many_sparse, serialize_sparse};
