//! `Fingerprint`: a hash of each row of a tensor.

use super::farm;
use crate::shared::elementwise::fresh;
use crate::shared::strings::scalar;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{Str, U8};
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Fingerprint")
        .doc(
            "Computes a fingerprint of 8 bytes of each row along the first axis of `data`. `method` must be \
             'farmhash64': the FarmHash of the row's bytes, of its only string, or of the hashes of its strings.",
        )
        .input("data", "T")
        .input("method", Str)
        .output("fingerprint", U8)
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.at_least_rank(0, 1)?;
    cx.scalar(1)?;
    let rows = cx.input(0).dims().and_then(|d| d.first().copied()).flatten();
    cx.set(0, PartialShape::new([rows, Some(8)]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let data = cx.input(0);
    let Some((rows, row)) = data.shape().split_first() else {
        return Err(invalid!("`data` should have at least one dimension: []"; "`data` is a scalar"));
    };
    ensure!(
        cx.input(1).rank() == 0,
        "`method` should be a scalar string: {}", cx.input(1).shape();
        "`method` has shape {}", cx.input(1).shape()
    );
    let method = scalar(cx, 1)?;
    ensure!(
        **method == *b"farmhash64",
        "Unsupported fingerprint method: {}", method.text();
        "`method` must be 'farmhash64'"
    );
    let n: usize = row.iter().product();
    let mut out = Tensor::zeros(U8, [*rows, 8])?;
    let mut pace = Pace::new();
    let hashes = fresh::<u8>(&mut out)?.chunks_exact_mut(8).enumerate();
    match (data.as_strs(), data.as_bytes()) {
        (Some(strings), _) => {
            for (i, hash) in hashes {
                let of_row = &strings[i * n..(i + 1) * n];
                let sizes: usize = of_row.iter().map(|s| s.len()).sum();
                pace.spend(1 + sizes / 4 + 8 * n)?;
                hash.copy_from_slice(&match of_row {
                    [one] => farm::fingerprint(one).to_le_bytes(),
                    all => {
                        let _room = millstream_tensor::budget::Room::of(8 * n)?;
                        let hashes: Vec<u8> =
                            all.iter().flat_map(|s| farm::fingerprint(s).to_le_bytes()).collect();
                        farm::fingerprint(&hashes).to_le_bytes()
                    }
                });
            }
        }
        (None, Some(bytes)) => {
            let size = n * data.dtype().size().unwrap_or(0);
            for (i, hash) in hashes {
                pace.spend(1 + size / 4)?;
                hash.copy_from_slice(&farm::fingerprint(&bytes[i * size..(i + 1) * size]).to_le_bytes());
            }
        }
        _ => return Err(crate::number::no_kernel("Fingerprint", data.dtype())),
    }
    cx.set(0, out);
    Ok(())
}

cases! {
    of_numbers: "Fingerprint([[1.0 2.0] [3.0 4.0]], 'farmhash64') = u8[2,8] [[223 178 164 36 10 49 237 154] [174 215 15 51 84 145 74 9]]",
    of_strings: "Fingerprint(['abc' ''], 'farmhash64') = u8[2,8] [[105 243 231 116 160 179 165 36] [79 64 144 47 59 106 225 154]]",
    of_rows_of_strings: "Fingerprint([['abc' 'd']], 'farmhash64') = u8[1,8] [[42 36 211 10 152 245 170 130]]",
    of_bools: "Fingerprint([true false], 'farmhash64') = u8[2,8] [[62 88 126 177 19 76 162 71] [84 75 233 245 237 86 96 190]]",
    of_nothing: "Fingerprint(f32[2,0] [], 'farmhash64') = u8[2,8] [[79 64 144 47 59 106 225 154] [79 64 144 47 59 106 225 154]]",
    infers: "Fingerprint(f32[?,3], str[]) : u8[?,8]",
    no_scalar: "Fingerprint(1.0, 'farmhash64') ! rank",
    one_method: "Fingerprint([1.0], 'md5') ! Unsupported fingerprint method: md5",
}
