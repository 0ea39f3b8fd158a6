//! TensorFlow's answers as JSON, and tensors in the same form.

use millstream::prelude::*;
use serde_json::Value;

/// Reads a file of golden data.
pub fn golden(name: &str) -> Value {
    let path = format!("{}/../../tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the golden file")).expect("JSON")
}

/// Returns a tensor as nested lists.
pub fn plain(t: &Tensor) -> Value {
    if t.rank() > 0 {
        return (0..t.shape().dims()[0]).map(|i| plain(&t.row(i).expect("a row"))).collect();
    }
    match t.dtype() {
        DType::I32 => t.to_scalar::<i32>().expect("i32").into(),
        DType::I64 => t.to_scalar::<i64>().expect("i64").into(),
        DType::F32 => f64::from(t.to_scalar::<f32>().expect("f32")).into(),
        DType::Bool => t.to_scalar::<bool>().expect("bool").into(),
        DType::Str => String::from_utf8_lossy(&t.as_strs().expect("strings")[0]).into_owned().into(),
        other => panic!("no case has {other}"),
    }
}
