//! The kernel that Select and SelectV2 share: each element is taken from one of two tensors.

use crate::shared::elementwise::{Source, TILE, fresh};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Assembler, Element, Result, Shape, Tensor, with_element};

/// Returns `t` where `condition` is true and `e` elsewhere. All three must broadcast to `shape`.
pub(crate) fn choose(condition: &Tensor, t: Tensor, e: Tensor, shape: &Shape) -> Result<Tensor> {
    if let &[whole] = condition.as_slice::<bool>()? {
        let chosen = if whole { t } else { e };
        return chosen.broadcast_to(shape.clone());
    }
    with_element!(t.dtype(), T => choose_plain::<T>(condition, t, e, shape), else => choose_others(condition, &t, &e, shape))
}

// Reuses the memory of either operand if it has the shape and is not shared.
fn choose_plain<T: Element>(
    condition: &Tensor,
    mut t: Tensor,
    mut e: Tensor,
    shape: &Shape,
) -> Result<Tensor> {
    let condition = Source::new(condition.as_slice::<bool>()?, condition.shape(), shape);
    if e.shape() == shape
        && let Some(out) = e.make_mut::<T>()
    {
        replace(&condition, true, &Source::new(t.as_slice::<T>()?, t.shape(), shape), out)?;
        return Ok(e);
    }
    let es = Source::new(e.as_slice::<T>()?, e.shape(), shape);
    if t.shape() == shape
        && let Some(out) = t.make_mut::<T>()
    {
        replace(&condition, false, &es, out)?;
        return Ok(t);
    }
    let mut out = Tensor::zeros(T::DTYPE, shape.clone())?;
    let to = fresh::<T>(&mut out)?;
    es.copy(0, to);
    replace(&condition, true, &Source::new(t.as_slice::<T>()?, t.shape(), shape), to)?;
    Ok(out)
}

// Writes the elements of `by` where the condition equals `when`.
fn replace<T: Element>(condition: &Source<bool>, when: bool, by: &Source<T>, out: &mut [T]) -> Result<()> {
    let mut pace = Pace::new();
    let (mut conditions, mut values) = ([false; TILE], [T::default(); TILE]);
    for (i, out) in out.chunks_mut(TILE).enumerate() {
        pace.spend(TILE)?;
        let at = i * TILE;
        let (conditions, values) =
            (condition.tile(at, out.len(), &mut conditions), by.tile(at, out.len(), &mut values));
        for (out, (&c, &v)) in out.iter_mut().zip(conditions.iter().zip(values)) {
            *out = if c == when { v } else { *out };
        }
    }
    Ok(())
}

fn choose_others(condition: &Tensor, t: &Tensor, e: &Tensor, shape: &Shape) -> Result<Tensor> {
    let condition = condition.broadcast_to(shape.clone())?;
    let (t, e) = (t.broadcast_to(shape.clone())?, e.broadcast_to(shape.clone())?);
    let mut out = Assembler::new(t.dtype(), shape.clone())?;
    for (i, &c) in condition.as_slice::<bool>()?.iter().enumerate() {
        out.push(if c { &t } else { &e }, i, 1)?;
    }
    out.finish()
}
