//! The declaration and the shape rule of the ops that reduce along axes.

use crate::shared::fold::reduced_axes;
use millstream_graph::op::spec::{Bool, IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, OpDef, RunFn};
use millstream_tensor::DType::I32;
use millstream_tensor::{PartialShape, Result};

/// The declaration that reductions share; the caller adds types.
pub(super) fn reduction(name: &'static str, run: RunFn) -> OpDef {
    reduction_by(name, Kernel::pure(run))
}

/// As [`reduction`], with more to say of the kernel.
pub(super) fn reduction_by(name: &'static str, kernel: Kernel) -> OpDef {
    OpDef::new(name)
        .attr("keep_dims", Bool.or(false))
        .attr("Tidx", IndexType.or(I32))
        .infer(infer)
        .kernel(kernel)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let keep = cx.attrs().bool("keep_dims")?;
    let input = cx.input(0).clone();
    cx.scalar_or_vector(1)?;
    let Some(axes) = cx.ints(1) else {
        // Without the axes only the rank is known, if it is kept; or the result, if nothing can be left.
        if let (true, Some(rank)) = (keep, input.rank()) {
            cx.set(0, PartialShape::unknown_of_rank(rank));
        } else if input.rank() == Some(0) {
            cx.set(0, PartialShape::scalar());
        }
        return Ok(());
    };
    if let Some(dims) = input.dims() {
        let rank = dims.len();
        let reduced = reduced_axes(&axes, rank, |axis| {
            format!("Invalid reduction dimension {axis} for input with {rank} dimensions.")
        })?;
        let dims = dims.iter().zip(&reduced).filter(|(_, r)| keep || !**r);
        cx.set(0, PartialShape::new(dims.map(|(d, r)| if *r { Some(1) } else { *d })));
    }
    Ok(())
}
