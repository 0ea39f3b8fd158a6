//! `Tile`: repeats a tensor along its axes.

use crate::shared::axes::{Sizes, bounded, size, vector};
use crate::shared::gradient::as_i32;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Known, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Shape, ensure, invalid};
use smallvec::SmallVec;

pub(crate) fn def() -> OpDef {
    OpDef::new("Tile")
        .doc("Repeats `input` along each axis, `multiples[i]` times along axis `i`.")
        .input("input", "T")
        .input("multiples", "Tmultiples")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Tmultiples", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn times(dim: usize, multiple: i64) -> Result<usize> {
    let multiple = size("multiples", multiple)?;
    bounded(dim.checked_mul(multiple))
        .ok_or_else(|| invalid!("{dim} repeated {multiple} times does not fit in 63 bits"))
}

// Each dimension is multiplied by its multiple; the result is unknown if either is.
fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.vector(1)?;
    let rank = cx.input(0).rank();
    if let (Some(n), Some(rank)) = (n, rank) {
        ensure!(n == rank, "Shape must be rank {rank} but is rank {n}"; "`multiples` has {n} entries but `input` has rank {rank}");
    }
    let Some(rank) = rank.or(n).filter(|&r| r <= millstream_tensor::MAX_RANK) else { return Ok(()) };
    let entries = cx.known(1).and_then(Known::entries);
    let dims = (0..rank).map(|i| {
        // TensorFlow reports a negative multiple only in the run.
        let multiple = entries.as_ref().and_then(|e| *e.get(i)?).filter(|m| 0 <= *m);
        match multiple {
            Some(0) => Ok(Some(0)),
            _ => cx.input(0).dim(i).zip(multiple).map(|(d, m)| times(d, m)).transpose(),
        }
    });
    let shape = PartialShape::new(dims.collect::<Result<SmallVec<[_; 4]>>>()?);
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("multiples", cx.input(1)).map_err(|e| {
        e.led_by(format!("Expected multiples to be 1-D, but got shape {}", cx.input(1).shape()))
    })?;
    let multiples = cx.ints(1)?;
    let input = cx.take(0);
    ensure!(
        multiples.len() == input.rank(),
        "Expected multiples argument to be a vector of length {} but got length {}",
        input.rank(),
        multiples.len();
        "`multiples` has {} entries but `input` has rank {}",
        multiples.len(),
        input.rank()
    );
    if let Some((i, m)) = multiples.iter().enumerate().find(|(_, m)| **m < 0) {
        return Err(
            invalid!("Expected multiples[{i}] >= 0, but got {m}"; "`multiples` is {m} but must not be negative"),
        );
    }
    let dims = input.shape().iter().zip(&multiples).map(|(&d, &m)| times(d, m)).collect::<Result<Sizes>>()?;
    // Each axis becomes two: the outer one repeats, so its stride is 0.
    let mut pairs = Shape::scalar();
    let mut strides: SmallVec<[isize; 8]> = SmallVec::new();
    for ((&d, &m), s) in input.shape().iter().zip(&multiples).zip(input.shape().strides()) {
        pairs.push(size("multiples", m)?);
        pairs.push(d);
        strides.extend([0, s as isize]);
    }
    let out = match multiples.iter().all(|&m| m == 1) {
        true => input,
        false => input.strided(pairs, 0, &strides)?.into_shape(Shape::new(dims))?,
    };
    cx.set(0, out);
    Ok(())
}

// Each element is used once in each tile.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let shape = cx.input_shape(0).full();
    let known = shape.and_then(|s| {
        Some((s.iter().map(|&d| i32::try_from(d).ok()).collect::<Option<Vec<i32>>>()?, cx.known_ints(1)?))
    });
    // Each axis is viewed as two: the tile, and the position in it.
    let (split, tiles) = match known {
        Some((shape, multiples)) => {
            let split = multiples.iter().zip(&shape).flat_map(|(&m, &d)| [m as i32, d]).collect::<Vec<i32>>();
            (cx.ints(&split), cx.ints(&(0..shape.len() as i32).map(|i| 2 * i).collect::<Vec<i32>>()))
        }
        None => {
            let (shape, multiples) = (cx.shape_of_input(0), cx.input(1));
            let multiples = as_i32(cx, multiples);
            let split = cx.op("Pack").inputs([multiples, shape]).attr("axis", 1).output();
            let split = cx.op("Reshape").input(split).input([-1]).output();
            (split, cx.op("Range").input(0).input(cx.call("Size", [split])).input(2).output())
        }
    };
    cx.give(0, cx.call("Sum", [cx.call("Reshape", [dy, split]), tiles]));
    Ok(())
}

cases! {
    a_row: "Tile([1 2], [2]) = [1 2 1 2]",
    a_matrix: "Tile([[1 2] [3 4]], i64 [2 2]) = [[1 2 1 2] [3 4 3 4] [1 2 1 2] [3 4 3 4]]",
    zero_times: "Tile([[1 2]], [1 0]) = i32[1,0] []",
    a_scalar: "Tile(7, i32[0] []) = 7",
    strings: "Tile(['a' 'b'], [2]) = ['a' 'b' 'a' 'b']",
    infers: "Tile(f32[?,3], [2 2]) : f32[?,6]",
    zero_times_the_unknown: "Tile(f32[?,3], [0 2]) : f32[0,6]",
    unknown_multiples: "Tile(f32[2,3], i32[2]) : f32[?,?]",
    rank_must_agree: "Tile([1 2], [2 2]) ! `multiples` has 2 entries but `input` has rank 1",
    negative: "Tile([1 2], [-1]) ! `multiples` is -1 but must not be negative",
    overflow: "Tile([1 2], i64[1] [9223372036854775807]) ! does not fit in 63 bits",
}
