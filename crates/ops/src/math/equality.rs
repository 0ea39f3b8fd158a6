//! The declaration and the kernel that Equal and NotEqual share. They accept every dtype. If
//! `incompatible_shape_error` is false, tensors whose shapes do not broadcast are unequal as a whole.

use crate::number::{Mask, Math, record};
use crate::shared::elementwise::{Binary, Merge, broadcast, unsupported};
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef, RunFn, ScalarKernel};
use millstream_tensor::{DType, Result, Shape, Tensor, invalid, with_element};

/// Equality if `YES`, else inequality.
pub(crate) struct Same<const YES: bool>;

impl<T: Math, const YES: bool> Binary<T> for Same<YES> {
    type Out = T::Mask;
    #[inline(always)]
    fn at(x: T, y: T) -> T::Mask {
        let same = x.equal(y);
        if YES { same } else { same.not() }
    }
}

pub(crate) fn equality<const YES: bool>(name: &'static str) -> OpDef {
    OpDef::new(name)
        .input("x", "T")
        .input("y", "T")
        .output("z", DType::Bool)
        .attr("T", AnyType)
        .attr("incompatible_shape_error", Bool.or(true))
        .infer(infer)
        .kernel(Kernel::pure(run::<YES> as RunFn).scalar(|node| {
            with_element!(node.input_types.first()?.dtype, T in comparables => Some(ScalarKernel::Binary(crate::shared::elementwise::scalar2::<T, Same<YES>>)), else => None)
        }).lowered(|node| record::binary::<Same<YES>>(node.input_types.first()?.dtype)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    if cx.attrs().bool("incompatible_shape_error")? {
        return cx.broadcast();
    }
    // The output is a scalar if the shapes do not broadcast, so its shape is known only if both shapes are.
    if let (Some(x), Some(y)) = (cx.input(0).full(), cx.input(1).full()) {
        cx.set(0, x.broadcast(&y).unwrap_or_else(Shape::scalar));
    }
    Ok(())
}

fn run<const YES: bool>(cx: &mut KernelCx) -> Result<()> {
    let shape = match broadcast(cx, cx.input(0), cx.input(1)) {
        Ok(shape) => shape,
        Err(_) if !cx.attrs().bool("incompatible_shape_error")? => {
            cx.set(0, Tensor::scalar(!YES));
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    let (x, y) = (plain(cx.input(0))?, plain(cx.input(1))?);
    let z = with_element!(x.dtype(), T in comparables => const { &Merge::<T, bool>::of::<Same<YES>>() }.map(&x, &y, &shape)?.0,
    else => {
        let (x, y) = (x.broadcast_to(shape.clone())?, y.broadcast_to(shape.clone())?);
        let (Some(x), Some(y)) = (x.as_strs(), y.as_strs()) else { return Err(unsupported(cx)) };
        Tensor::from_iter(shape, x.iter().zip(y).map(|(x, y)| (x == y) == YES))?
    });
    cx.set(0, z);
    Ok(())
}

// Returns quantized numbers as the integers that store them.
fn plain(t: &Tensor) -> Result<Tensor> {
    let dtype = match t.dtype() {
        DType::QI8 => DType::I8,
        DType::QU8 => DType::U8,
        DType::QI16 => DType::I16,
        DType::QU16 => DType::U16,
        DType::QI32 => DType::I32,
        DType::Resource | DType::Variant => {
            return Err(invalid!("{} cannot be compared for equality", t.dtype()));
        }
        _ => return Ok(t.clone()),
    };
    t.bitcast(dtype, t.shape().clone())
}
