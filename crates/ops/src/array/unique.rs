//! `Unique`, `UniqueV2`, `UniqueWithCounts`, `UniqueWithCountsV2`: the distinct elements, in order of first
//! appearance.

use super::gather::take_along;
use crate::shared::axes::{axis, counts, dim_replaced, ints, product};
use crate::shared::keys::{Key, keys};
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, ensure};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

pub(crate) fn def() -> [OpDef; 4] {
    // Each with whether it takes an axis, and whether it counts.
    [
        (OpDef::new("Unique").doc(
            "Returns the distinct elements of a vector in order of first appearance, and the index of each \
             element among them.",
        ), false, false),
        (OpDef::new("UniqueWithCounts")
            .doc("Returns the results of Unique, and the number of occurrences of each distinct element."), false, true),
        (OpDef::new("UniqueV2").doc(
            "Returns the distinct slices of `x` along an axis in order of first appearance, and the index \
             of each slice among them. `axis` holds one number, or none if `x` is a vector.",
        ), true, false),
        (OpDef::new("UniqueWithCountsV2")
            .doc("Returns the results of UniqueV2, and the number of occurrences of each distinct slice."), true, true),
    ]
    .map(|(def, has_axis, counted)| {
        let def = def.input("x", "T");
        let def = if has_axis {
            def.input("axis", "Taxis").on_host().attr("Taxis", IndexType.or(DType::I64))
        } else {
            def
        };
        let def = def.output("y", "T").output("idx", "out_idx");
        let def = if counted { def.output("count", "out_idx") } else { def };
        def.attr("T", AnyType)
            .attr("out_idx", IndexType.or(DType::I32))
            .infer(infer)
            // Keys take 32 bytes, a map of them up to 40, places and counts 24, and lists that grow twice as
            // much.
            .kernel(Kernel::pure(run).scratch(136))
            .gradient(Gradient::none("which elements are equal changes by steps"))
    })
}

/// Returns the axis in an `axis` input, which holds one number, or none if `x` is a vector.
fn chosen(given: &[i64], rank: usize) -> Result<usize> {
    match *given {
        [] => {
            ensure!(rank == 1, "without an `axis`, `x` must be a vector, but it has rank {rank}");
            Ok(0)
        }
        [a] => axis("axis", a, rank),
        _ => Err(millstream_tensor::invalid!("`axis` has {} entries but may have at most one", given.len())),
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let vector = PartialShape::unknown_of_rank(1);
    (0..cx.n_outputs()).for_each(|i| cx.set(i, vector.clone()));
    if cx.n_inputs() == 1 {
        let n = cx.vector(0)?;
        cx.set(1, [n]);
        return Ok(());
    }
    cx.set(0, PartialShape::unknown());
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    match cx.ints(1) {
        Some(given) => {
            let axis = chosen(&given, dims.len())?;
            cx.set(0, dim_replaced(dims, axis, None));
            cx.set(1, [dims[axis]]);
        }
        None => cx.set(0, PartialShape::unknown_of_rank(dims.len())),
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let x = cx.input(0);
    let axis = match cx.n_inputs() {
        1 => {
            crate::shared::axes::vector("x", x).map_err(|e| e.led_by("unique expects a 1D vector."))?;
            0
        }
        _ => chosen(&ints(cx.input(1))?, x.rank())?,
    };
    let shape = x.shape();
    let len = shape[axis];
    let (outer, run) = (product(&shape[..axis]), product(&shape[axis + 1..]));
    let dtype = cx.attrs().dtype("out_idx")?;
    if outer * run == 0 && len > 0 {
        // Slices without elements are all equal, and there may be too many to list.
        let (y, idx) = (take_along(x, axis, &[0])?, Tensor::zeros(dtype, [len])?);
        cx.set(0, y);
        cx.set(1, idx);
        if cx.n_outputs() == 3 {
            cx.set(2, counts(dtype, [1], [len])?);
        }
        return Ok(());
    }
    let keys = keys(x)?;
    let mut firsts: Vec<usize> = Vec::new();
    let mut times: Vec<usize> = Vec::new();
    let mut places: Vec<usize> = Vec::with_capacity(len);
    let mut pace = Pace::new();
    let mut note = |place: usize, i: usize| {
        pace.spend(4 + outer * run)?;
        if place == firsts.len() {
            firsts.push(i);
            times.push(0);
        }
        times[place] += 1;
        places.push(place);
        Ok::<_, Error>(())
    };
    // With room for all, a table never moves what is in it, which takes seconds if there are millions.
    if outer == 1 && run == 1 {
        #[expect(
            clippy::mutable_key_type,
            reason = "what changes in a string is the count of what it is charged for"
        )]
        let mut seen: HashMap<&Key, usize> = HashMap::with_capacity(len);
        for (i, key) in keys.iter().enumerate() {
            let next = seen.len();
            note(*seen.entry(key).or_insert(next), i)?;
        }
    } else {
        let slices = Slices { keys: &keys, outer, len, run };
        #[expect(
            clippy::mutable_key_type,
            reason = "what changes in a string is the count of what it is charged for"
        )]
        let mut seen: HashMap<Slice, usize> = HashMap::with_capacity(len);
        for i in 0..len {
            let next = seen.len();
            note(*seen.entry(Slice { of: &slices, i }).or_insert(next), i)?;
        }
    }
    let y = take_along(x, axis, &firsts)?;
    cx.set(0, y);
    cx.set(1, counts(dtype, [len], places)?);
    if cx.n_outputs() == 3 {
        cx.set(2, counts(dtype, [times.len()], times)?);
    }
    Ok(())
}

/// A tensor's keys, as slices along an axis of size `len`.
struct Slices<'k> {
    keys: &'k [Key],
    outer: usize,
    len: usize,
    run: usize,
}

/// The slice at `i`.
#[derive(Clone, Copy)]
struct Slice<'s> {
    of: &'s Slices<'s>,
    i: usize,
}

impl<'s> Slice<'s> {
    fn runs(self) -> impl Iterator<Item = &'s [Key]> {
        let Slices { keys, outer, len, run } = *self.of;
        (0..outer).map(move |o| &keys[(o * len + self.i) * run..(o * len + self.i + 1) * run])
    }
}

impl PartialEq for Slice<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.runs().eq(other.runs())
    }
}

impl Eq for Slice<'_> {}

impl Hash for Slice<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.runs().for_each(|run| run.hash(state));
    }
}

cases! {
    of_ints: "Unique([5 3 5 1 3]) = [5 3 1], [0 1 0 2 1]",
    of_strings: "Unique(['b' 'a' 'b']; out_idx=i64) = ['b' 'a'], i64 [0 1 0]",
    of_nothing: "Unique(f32[0] []) = f32[0] [], i32[0] []",
    zeros_are_equal: "Unique([0.0 -0.0]) = [0.0], [0 0]",
    nans_differ: "Unique([nan nan]) = [nan nan], [0 1]",
    counted: "UniqueWithCounts([5 3 5 1 3]) = [5 3 1], [0 1 0 2 1], [2 2 1]",
    rows: "UniqueV2([[1 2] [3 4] [1 2]], i64[1] [0]) = [[1 2] [3 4]], [0 1 0]",
    columns: "UniqueV2([[1 2 1] [3 4 3]], [1]) = [[1 2] [3 4]], [0 1 0]",
    without_an_axis: "UniqueV2([1 1], i64[0] []) = [1], [0 0]",
    counted_rows: "UniqueWithCountsV2([[1 2] [1 2]], [0]) = [[1 2]], [0 0], [2]",
    infers: "Unique(f32[5]) : f32[?], i32[5]",
    infers_rows: "UniqueV2(f32[5,?], [0]) : f32[?,?], i32[5]",
    takes_vectors: "Unique([[1]]) ! `x` must have rank 1",
    needs_an_axis: "UniqueV2([[1]], i64[0] []) ! without an `axis`",
}
