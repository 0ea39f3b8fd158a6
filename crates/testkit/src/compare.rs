//! Comparison of values with expected ones, with tolerances.

use millstream_tensor::{C64, C128, DType, Tensor, bf16, f16};
use serde_json::Value;

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compare {
    /// Equal values. For floats, NaN equals NaN and 0.0 equals -0.0.
    Exact,
    /// Floats within `atol + rtol * |want|`; everything else exactly.
    Close {
        /// The tolerance relative to the expected value.
        rtol: f64,
        /// The absolute tolerance.
        atol: f64,
    },
    /// Rows along axis 0 in any order, each exactly.
    Multiset,
}

impl Compare {
    /// Parses a fetch's entry, `"compare": "close", "rtol": .., "atol": ..`, or a value's `"compare":
    /// {"rtol": .., "atol": ..}`.
    pub fn parse(entry: &Value) -> Result<Compare, String> {
        let number = |v: &Value, name: &str| v.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        match entry.get("compare") {
            Some(Value::Object(o)) => {
                let o = Value::Object(o.clone());
                Ok(Compare::Close { rtol: number(&o, "rtol"), atol: number(&o, "atol") })
            }
            Some(Value::String(s)) if s == "exact" => Ok(Compare::Exact),
            Some(Value::String(s)) if s == "multiset" => Ok(Compare::Multiset),
            Some(Value::String(s)) if s == "close" => {
                Ok(Compare::Close { rtol: number(entry, "rtol"), atol: number(entry, "atol") })
            }
            other => Err(format!("`{other:?}` says no way to compare")),
        }
    }

    /// Compares `got` with `want`; the error names the first difference.
    pub fn check(self, got: &Tensor, want: &Tensor) -> Result<(), String> {
        let differ = |what: String| Err(format!("{what}\ngot  {got}\nwant {want}"));
        if got.dtype() != want.dtype() || got.shape() != want.shape() {
            return differ(format!(
                "got {}{} instead of {}{}",
                got.dtype(),
                got.shape(),
                want.dtype(),
                want.shape()
            ));
        }
        if self == Compare::Multiset && got.rank() > 0 {
            let rows = |t: &Tensor| -> Vec<String> {
                let n = t.shape().dims()[0];
                let mut rows: Vec<String> =
                    (0..n).map(|i| t.rows(i, 1).map(|r| format!("{r:?}")).unwrap_or_default()).collect();
                rows.sort();
                rows
            };
            return if rows(got) == rows(want) { Ok(()) } else { differ("other rows".into()) };
        }
        let (rtol, atol) = match self {
            Compare::Close { rtol, atol } => (rtol, atol),
            _ => (0.0, 0.0),
        };
        let (Some(g), Some(w)) = (floats(got), floats(want)) else {
            return if same(got, want) { Ok(()) } else { differ("not equal".into()) };
        };
        let close =
            |g: f64, w: f64| g == w || g.is_nan() && w.is_nan() || (g - w).abs() <= atol + rtol * w.abs();
        match g.iter().zip(&w).position(|(g, w)| !close(*g, *w)) {
            None => Ok(()),
            Some(i) => differ(format!("element {i} is {:e} instead of {:e}", g[i], w[i])),
        }
    }
}

/// Whether two values have the same bits.
pub fn same(a: &Tensor, b: &Tensor) -> bool {
    a.bits_eq(b)
}

/// The elements of a float or complex tensor; of complex numbers both parts.
fn floats(t: &Tensor) -> Option<Vec<f64>> {
    Some(match t.dtype() {
        DType::F16 => t.as_slice::<f16>().ok()?.iter().map(|v| v.to_f64()).collect(),
        DType::BF16 => t.as_slice::<bf16>().ok()?.iter().map(|v| v.to_f64()).collect(),
        DType::F32 => t.as_slice::<f32>().ok()?.iter().map(|&v| v.into()).collect(),
        DType::F64 => t.as_slice::<f64>().ok()?.to_vec(),
        DType::C64 => t.as_slice::<C64>().ok()?.iter().flat_map(|v| [v.re.into(), v.im.into()]).collect(),
        DType::C128 => t.as_slice::<C128>().ok()?.iter().flat_map(|v| [v.re, v.im]).collect(),
        _ => return None,
    })
}
