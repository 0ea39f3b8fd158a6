//! `QuantizedMatMul`: the product of matrices of bytes that stand for floats.

use super::quantum::{NO_SLOPE, QUANTA, centered, end, infer_ends, range_of_products, set_ends, takes_bytes};
use crate::linalg::product_of;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, QI32, QU8};
use millstream_tensor::{PartialShape, QInt32, Result, Tensor, ensure, unequal};

pub(crate) fn def() -> OpDef {
    OpDef::new("QuantizedMatMul")
        .doc(
            "Multiplies matrices of bytes that stand for floats of the given ranges. Returns integers of 32 bits, and \
             the range that they stand for. The kernel is that of `quint8`.",
        )
        .input("a", "T1")
        .input("b", "T2")
        .input("min_a", F32)
        .on_host()
        .input("max_a", F32)
        .on_host()
        .input("min_b", F32)
        .on_host()
        .input("max_b", F32)
        .on_host()
        .output("out", "Toutput")
        .output("min_out", F32)
        .output("max_out", F32)
        .attr("T1", OneOf(QUANTA))
        .attr("T2", OneOf(QUANTA))
        .attr("Toutput", OneOf(QUANTA).or(QI32))
        .attr("transpose_a", Bool.or(false))
        .attr("transpose_b", Bool.or(false))
        .attr("Tactivation", OneOf(QUANTA).or(QU8))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)))
        .gradient(Gradient::Missing(NO_SLOPE))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    infer_ends(cx, 2)?;
    let (a, b) = (cx.with_rank(0, 2)?, cx.with_rank(1, 2)?);
    let (ta, tb) = (cx.attrs().bool("transpose_a")?, cx.attrs().bool("transpose_b")?);
    if let (Some(columns), Some(rows)) = (a.dim(usize::from(!ta)), b.dim(usize::from(tb))) {
        ensure!(columns == rows, "{}", unequal(columns, rows); "`a` of shape {a} has {columns} columns, `b` of shape {b} has {rows} rows");
    }
    cx.set(0, PartialShape::new([a.dim(usize::from(ta)), b.dim(usize::from(!tb))]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (a, b) = ((end(cx, 2)?, end(cx, 3)?), (end(cx, 4)?, end(cx, 5)?));
    ensure!(a.0 < a.1, "max_a must be larger than min_a."; "`min_a` is {}, `max_a` is {}", a.0, a.1);
    ensure!(b.0 < b.1, "max_b must be larger than min_b."; "`min_b` is {}, `max_b` is {}", b.0, b.1);
    let op = cx.node.op.name;
    let dtypes = [cx.input(0).dtype(), cx.input(1).dtype()];
    if let Some(other) = dtypes.into_iter().find(|dtype| *dtype != QU8) {
        return Err(takes_bytes(op, other));
    }
    let to = cx.attrs().dtype("Toutput")?;
    ensure!(to == QI32, "`Toutput` is {to}, but a product of bytes has integers of 32 bits: qint32");
    let (left, right) = (centered(cx.input(0), a)?, centered(cx.input(1), b)?);
    let product = product_of(cx.node, &left, &right, &*cx.env.host)?;
    cx.set(0, as_quanta(&product)?);
    set_ends(cx, range_of_products(a, b));
    Ok(())
}

/// Integers of 32 bits as those that stand for floats.
pub(super) fn as_quanta(sums: &Tensor) -> Result<Tensor> {
    let mut out = Tensor::zeros(QI32, sums.shape().clone())?;
    fresh::<QInt32>(&mut out)?.iter_mut().zip(sums.as_slice::<i32>()?).for_each(|(q, v)| q.0 = *v);
    Ok(out)
}

cases! {
    of_bytes: "QuantizedMatMul(qu8[1,2] [[1 2]], qu8[2,1] [[3] [4]], 0.0, 255.0, 0.0, 255.0) = qi32[1,1] [[11]], -2147483648.0, 2147483648.0",
    around_zero: "QuantizedMatMul(qu8[1,2] [[130 126]], qu8[2,2] [[3 1] [4 2]], -128.0, 127.0, 0.0, 255.0) = qi32[1,2] [[-2 -2]], -2147483648.0, 2147483648.0",
    turned: "QuantizedMatMul(qu8[2,1] [[1] [2]], qu8[1,2] [[3 4]], 0.0, 255.0, 0.0, 255.0; transpose_a=true, transpose_b=true) = qi32[1,1] [[11]], -2147483648.0, 2147483648.0",
    infers: "QuantizedMatMul(qu8[?,2], qu8[3,2], f32[], f32[], f32[], f32[]; transpose_b=true) : qi32[?,3], f32[], f32[]",
    that_fit: "QuantizedMatMul(qu8[1,2], qu8[3,1], f32[], f32[], f32[], f32[]) ! Dimensions must be equal, but are 2 and 3",
    a_range: "QuantizedMatMul(qu8[1,1] [[1]], qu8[1,1] [[1]], 1.0, 1.0, 0.0, 1.0) ! max_a must be larger than min_a.",
    bytes_alone: "QuantizedMatMul(qi8[1,1] [[1]], qu8[1,1] [[1]], 0.0, 1.0, 0.0, 1.0) ! it takes quint8",
}
