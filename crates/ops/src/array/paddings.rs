//! [`Paddings`]: the number of elements added before and after each axis, as Pad, MirrorPad and
//! SpaceToBatchND take them.

use crate::shared::axes::{bounded, dim_replaced, ints, sum};
use millstream_graph::op::{InferCx, Known};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// The numbers of elements before and after each axis.
pub(super) struct Paddings(pub SmallVec<[(usize, usize); 4]>);

impl Paddings {
    /// Reads a tensor of shape [rank, 2].
    pub(super) fn of(t: &Tensor, rank: usize) -> Result<Paddings> {
        ensure!(
            t.shape()[..] == [rank, 2],
            "`paddings` has shape {} but `input` has rank {rank}: it must have shape [{rank},2]",
            t.shape()
        );
        Paddings::from_flat(&ints(t)?)
    }

    /// Reads a tensor of shape [rank, 2] whose rank must be that of `input`.
    pub(super) fn around(t: &Tensor, input: &Shape) -> Result<Paddings> {
        Paddings::of(t, input.rank()).map_err(|e| match t.shape()[..] == [input.rank(), 2] {
            true => e,
            false => e.led_by(format!(
                "The first dimension of paddings must be the rank of inputs{} {input}",
                t.shape()
            )),
        })
    }

    fn from_flat(flat: &[i64]) -> Result<Paddings> {
        let pairs = flat.chunks_exact(2).enumerate().map(|(axis, p)| {
            match (usize::try_from(p[0]), usize::try_from(p[1])) {
                (Ok(before), Ok(after)) => Ok((before, after)),
                _ => Err(invalid!("Paddings must be non-negative: {} {}", p[0], p[1]; "`paddings` {p:?} of axis {axis} must not be negative")),
            }
        });
        pairs.collect::<Result<_>>().map(Paddings)
    }

    /// Returns whether there is no padding on any axis.
    pub(super) fn is_none(&self) -> bool {
        self.0.iter().all(|p| *p == (0, 0))
    }

    /// Returns the shape with its paddings added.
    pub(super) fn padded(&self, shape: &Shape) -> Result<Shape> {
        let dims = shape.iter().zip(&self.0).map(|(&d, &(before, after))| {
            bounded(d.checked_add(before).and_then(|d| d.checked_add(after)))
                .ok_or_else(|| invalid!("{before} + {d} + {after} does not fit in 63 bits"))
        });
        let shape = Shape::new(dims.collect::<Result<SmallVec<[usize; 4]>>>()?);
        shape.checked_elements()?;
        Ok(shape)
    }
}

/// The shape rule of the ops that pad input 0 by input 1: each dimension plus its paddings.
pub(super) fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = padded(cx, cx.input(0), 1)?;
    cx.set(0, shape);
    Ok(())
}

/// The shape of a tensor that is padded by input `i`.
pub(crate) fn padded(cx: &InferCx, input: &PartialShape, i: usize) -> Result<PartialShape> {
    let paddings = cx.with_rank(i, 2)?;
    let rows = paddings.dim(0);
    if let Some(columns) = paddings.dim(1) {
        ensure!(columns == 2, "Dimension must be 2 but is {columns}"; "`paddings` has shape {paddings}: it must have two columns, before and after");
    }
    if let (Some(rows), Some(rank)) = (rows, input.rank()) {
        ensure!(
            rows == rank,
            "{}",
            input.not_of_rank(rows);
            "`paddings` has shape {paddings} but `input` has rank {rank}: it must have shape [{rank},2]"
        );
    }
    let Some(rank) = input.rank().or(rows).filter(|&r| r <= millstream_tensor::MAX_RANK) else {
        return Ok(PartialShape::unknown());
    };
    let mut shape = PartialShape::unknown_of_rank(rank);
    if let Some(Known::Value(value)) = cx.known(i) {
        let paddings =
            Paddings::from_flat(&ints(value)?).map_err(|e| e.led_by("Paddings must be non-negative"))?;
        for (axis, &(before, after)) in paddings.0.iter().enumerate() {
            let dim = sum(sum(input.dim(axis), Some(before))?, Some(after))?;
            shape = dim_replaced(shape.dims().unwrap_or(&[]), axis, dim);
        }
    }
    Ok(shape)
}
