//! Compares the ops with TensorFlow's results in `tests/golden/random.txt`, whose format `make_random.py`
//! beside it describes.

use crate::cases::{Case, Expect, near};
use millstream_graph::ValueType;
use millstream_graph::op::NodeInfo;
use millstream_graph::op::lone;
use millstream_tensor::Tensor;

const GOLDEN: &str = include_str!("../../../../tests/golden/random.txt");

/// Returns the checksum that the golden file has for long results: the CRC-32 of the bytes of all outputs.
fn crc32(outputs: &[Tensor]) -> u32 {
    let bytes = outputs.iter().flat_map(|t| t.as_bytes().unwrap_or_default());
    !bytes.fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| (c >> 1) ^ (0xEDB8_8320 & 0u32.wrapping_sub(c & 1)))
    })
}

/// Runs one entry once for each of its results, in one session. Returns a description of the first
/// difference.
fn check(call: &str, results: &[&str]) -> Option<String> {
    let case = Case::parse(&format!("{call} = 0")).unwrap_or_else(|e| panic!("{call}\n{e}"));
    let op = crate::registry().get(&case.call.op).unwrap_or_else(|| panic!("{call}\nthere is no such op"));
    let inputs: Vec<Tensor> = case
        .call
        .args
        .iter()
        .map(|a| match a {
            crate::cases::Arg::Value(t) => t.clone(),
            _ => panic!("{call}\nan argument has no value"),
        })
        .collect();
    let types: Vec<ValueType> = inputs.iter().map(|t| t.dtype().into()).collect();
    let node = NodeInfo::resolve(op, "n", &types, case.call.attrs).unwrap_or_else(|e| panic!("{call}\n{e}"));
    let env = lone::env();
    results.iter().enumerate().find_map(|(i, want)| {
        let got = lone::run(&node, &env, &inputs).unwrap_or_else(|e| panic!("{call}\n{e}"));
        let agrees = match want.strip_prefix("# ") {
            Some(sum) => format!("{:08x}", crc32(&got)) == sum,
            None => {
                let case =
                    Case::parse(&format!("{call} {want}")).unwrap_or_else(|e| panic!("{call} {want}\n{e}"));
                let all = |want: &[Tensor], eq: fn(&Tensor, &Tensor) -> bool| {
                    got.len() == want.len() && got.iter().zip(want).all(|(g, w)| eq(g, w))
                };
                match &case.expect {
                    Expect::Values(want) => all(want, Tensor::bits_eq),
                    Expect::Near(want) => all(want, near),
                    _ => false,
                }
            }
        };
        (!agrees).then(|| {
            let got: Vec<String> = got.iter().map(|t| t.to_string()).collect();
            format!("{call}\n  run {i} gave {}\n  not {want}", got.join(", "))
        })
    })
}

#[test]
fn as_tensorflow_gave() {
    let mut entries: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in GOLDEN.lines() {
        match (line.starts_with(['=', '~', '#']), entries.last_mut()) {
            (true, Some((_, results))) => results.push(line),
            _ => entries.push((line, Vec::new())),
        }
    }
    assert!(entries.len() > 100, "the golden file holds {} entries", entries.len());
    let wrong: Vec<String> = entries.iter().filter_map(|(call, results)| check(call, results)).collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), entries.len(), wrong.join("\n"));
}
