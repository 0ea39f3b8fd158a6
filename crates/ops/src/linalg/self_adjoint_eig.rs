//! `SelfAdjointEig` and `BatchSelfAdjointEig`: the eigenvalues and eigenvectors of symmetric matrices, in one
//! tensor.

use super::cholesky::squared;
use super::self_adjoint_eig_v2::all;
use super::spectra::SPECTRAL_COST;
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, F16, F32, F64};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, invalid, unequal, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let of = |name, types: &'static [DType]| {
        OpDef::new(name)
            .doc(
                "Computes the eigenvalues of each innermost matrix, which must be symmetric, in ascending order, \
                 and its eigenvectors: the first row of a result holds the eigenvalues, and the columns below \
                 them the eigenvectors. Only the lower triangle of `input` is read. The sign of an eigenvector \
                 is arbitrary. `SelfAdjointEigV2` has two outputs, and gradients.",
            )
            .input("input", "T")
            .output("output", "T")
            .attr("T", OneOf(types))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(SPECTRAL_COST))
            .gradient(Gradient::Missing("TensorFlow has none: use `SelfAdjointEigV2`"))
    };
    [of("SelfAdjointEig", &[F64, F32, F16]), of("BatchSelfAdjointEig", &[F64, F32])]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    if let Some([batch @ .., n, _]) = shape.dims() {
        let rows = match n {
            Some(n) => Some(n.checked_add(1).ok_or_else(|| invalid!("a matrix of {n} rows is too large"))?),
            None => None,
        };
        cx.set(0, PartialShape::new(batch.iter().copied().chain([rows, *n])));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let out: Result<Tensor> = with_element!(input.dtype(), T in [F32 F64] => {
        let (e, v) = all::<T>(input, true)?;
        let dims = input.shape().dims();
        let (batch, n) = (&dims[..dims.len() - 2], dims[dims.len() - 1]);
        let mut out = Tensor::zeros(input.dtype(), Shape::new(batch.iter().copied().chain([n + 1, n])))?;
        if n > 0 {
            let parts = e.as_slice::<T>()?.chunks_exact(n).zip(v.as_slice::<T>()?.chunks_exact(n * n));
            for (out, (e, v)) in fresh::<T>(&mut out)?.chunks_exact_mut((n + 1) * n).zip(parts) {
                out[..n].copy_from_slice(e);
                out[n..].copy_from_slice(v);
            }
        }
        Ok(out)
    }, else => Err(no_kernel(cx.node.op.name, input.dtype())));
    let out = out?;
    cx.set(0, out);
    Ok(())
}

cases! {
    of_a_number: "BatchSelfAdjointEig(f64 [[[2.0]] [[-3.0]]]) = f64 [[[2.0] [1.0]] [[-3.0] [1.0]]]",
    of_a_matrix: "SelfAdjointEig([[7.0]]) = [[7.0] [1.0]]",
    of_no_rows: "SelfAdjointEig(f32[2,0,0] []) = f32[2,1,0] []",
    infers: "SelfAdjointEig(f32[?,3,3]) : f32[?,4,3]",
    must_be_square: "SelfAdjointEig(f32[2,3]) ! `input` must hold square matrices",
}
