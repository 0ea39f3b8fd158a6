//! [`Group`]: elementwise nodes that run as one, tile by tile. What passes between them stays in the
//! first-level cache.

use super::KernelPlan;
use crate::sync::Mutex;
use crate::tiles::{FloatsIn, Reads, TileProgram};
use millstream_graph::op::{KernelCx, StepHost, TileMut, TileRef};
use millstream_tensor::pace::look;
use millstream_tensor::{DType, Error, Result, Shape, Spread, Tensor, with_word};
use smallvec::SmallVec;
use std::fmt;
use std::panic::Location;

/// Elementwise nodes that run as one.
pub(crate) struct Group {
    pub(super) program: TileProgram,
    pub(super) inputs: Vec<GroupInput>,
    /// The members, each after those that it reads.
    pub(super) members: Vec<Member>,
    /// The members whose outputs others read, by their places.
    pub(super) outputs: Vec<usize>,
}

/// What a group reads.
#[derive(Clone, Debug)]
pub(super) struct GroupInput {
    pub dtype: DType,
    /// Whether it has the shape of the outputs, as far as the plan knows.
    pub is_whole: bool,
    /// Whether it is repeated along axes where it has another shape.
    pub broadcasts: bool,
    /// Whether the plan knows it to be a scalar, which a node may read beside a tensor without broadcasting:
    /// the condition of a Select.
    pub is_scalar: bool,
}

/// A node of a group.
pub(super) struct Member {
    pub kernel: KernelPlan,
    pub from: SmallVec<[Wire; 3]>,
    /// Its line of the program, for errors.
    pub at: &'static Location<'static>,
}

/// Where a member reads an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Input(usize),
    Member(usize),
}

/// How an input's elements go into the outputs.
enum Fit {
    Whole,
    One(u64),
    Spread(Spread),
}

/// A piece of the outputs: its first element, and the elements.
type Piece<'a> = (usize, SmallVec<[TileMut<'a>; 8]>);

/// The most elements of a piece. The deadline and the cancellation of the run are looked at in between.
const MOST_OF_PIECE: usize = 1 << 16;
/// The nanoseconds that are worth another thread.
const WORTH: f64 = 20_000.0;

impl Group {
    /// The estimated duration with these inputs, in nanoseconds.
    pub(crate) fn cost(&self, inputs: &[Tensor]) -> f64 {
        self.program.cost(inputs.iter().map(Tensor::elements).max().unwrap_or(1))
    }

    /// Computes all members.
    pub(crate) fn run(&self, cx: &mut KernelCx) -> Result<()> {
        match self.fits(cx.inputs()) {
            Some((shape, fits)) => self.run_by_tiles(cx, &shape, &fits),
            // What a plan promises of shapes may be wrong, and then each node has its own, or its own error.
            None => self.run_one_by_one(cx),
        }
    }

    /// The shape of all members, and how the inputs go into it. `None` if members have several shapes.
    fn fits(&self, inputs: &[Tensor]) -> Option<(Shape, SmallVec<[Fit; 8]>)> {
        let is_whole = self.inputs.iter().position(|input| input.is_whole)?;
        let shape = inputs.get(is_whole)?.shape();
        let mut fits = SmallVec::new();
        for (input, value) in self.inputs.iter().zip(inputs) {
            let own = value.shape();
            if value.dtype() != input.dtype {
                return None;
            }
            fits.push(match own == shape {
                true => Fit::Whole,
                false if input.is_whole => return None,
                false if input.is_scalar && own.rank() == 0 || input.broadcasts && own.elements() == 1 => {
                    if shape.rank() < own.rank() {
                        return None;
                    }
                    Fit::One(word(value)?)
                }
                false if input.broadcasts && own.broadcast(shape).as_ref() == Some(shape) => {
                    Fit::Spread(Spread::new(own, shape))
                }
                false => return None,
            });
        }
        Some((shape.clone(), fits))
    }

    fn run_by_tiles(&self, cx: &mut KernelCx, shape: &Shape, fits: &[Fit]) -> Result<()> {
        let n_outputs = self.outputs.len();
        let mut outputs: SmallVec<[Tensor; 8]> = SmallVec::new();
        // Which output has the memory of an input.
        let mut taken: SmallVec<[Option<usize>; 8]> = SmallVec::from_elem(None, fits.len());
        for k in 0..n_outputs {
            let input = self.program.may_take(k).filter(|i| matches!(fits[*i], Fit::Whole));
            if let Some(i) = input {
                let mut value = cx.take(i);
                if TileMut::of(&mut value).is_some() {
                    taken[i] = Some(k);
                    outputs.push(value);
                    continue;
                }
                cx.put_back(i, value);
            }
            outputs.push(Tensor::anything(self.program.dtype_of(k), shape.clone())?);
        }
        if self.compute(cx, shape.elements(), fits, &taken, &mut outputs)? {
            outputs.into_iter().enumerate().for_each(|(k, output)| cx.set(k, output));
            return Ok(());
        }
        Err(Error::internal("the steps of a group of nodes do not suit its values"))
    }

    /// Fills the outputs. Returns false if the steps do not suit the values.
    fn compute(
        &self,
        cx: &KernelCx,
        n: usize,
        fits: &[Fit],
        taken: &[Option<usize>],
        outputs: &mut [Tensor],
    ) -> Result<bool> {
        let host: &dyn StepHost = &*cx.env.host;
        let cost = self.program.cost(n);
        let threads = if cost < 2.0 * WORTH { 1 } else { host.threads().clamp(1, (cost / WORTH) as usize) };
        // Several pieces for each thread, so that one that starts late can do fewer.
        let piece = match threads {
            1 => MOST_OF_PIECE,
            threads => n.div_ceil(2 * threads).next_multiple_of(1024).min(MOST_OF_PIECE),
        };
        let mut left: SmallVec<[TileMut<'_>; 8]> = SmallVec::new();
        for output in outputs {
            let Some(all) = TileMut::of(output) else { return Ok(false) };
            left.push(all);
        }
        let inputs = cx.inputs();
        if n <= piece {
            return Ok(self.piece(inputs, fits, taken, n, (0, left)));
        }
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        for at in (0..n).step_by(piece) {
            let len = piece.min(n - at);
            let mut here = SmallVec::new();
            for output in &mut left {
                let (first, rest) = split(std::mem::replace(output, TileMut::Bool(&mut [])), len);
                here.push(first);
                *output = rest;
            }
            pieces.push((at, here));
        }
        let pieces = Mutex::new(pieces);
        let failed = Mutex::new(Ok(true));
        let work = || {
            while matches!(*failed.lock(), Ok(true)) {
                let Some(next) = ({ pieces.lock().pop() }) else { return };
                let len = piece.min(n - next.0);
                let done = look().map(|()| self.piece(inputs, fits, taken, len, next));
                if !matches!(done, Ok(true)) {
                    *failed.lock() = done;
                }
            }
        };
        match threads {
            1 => work(),
            threads => host.share(threads, &work),
        }
        failed.into_inner()
    }

    fn piece(
        &self,
        inputs: &[Tensor],
        fits: &[Fit],
        taken: &[Option<usize>],
        n: usize,
        (at, mut to): Piece<'_>,
    ) -> bool {
        if let Some(floats) = self.program.floats()
            && let Some(reads) = floats_in(inputs, fits, taken, at..at + n)
        {
            let mut slices: SmallVec<[&mut [f32]; 8]> = SmallVec::new();
            for output in &mut to {
                let TileMut::F32(slice) = output else { return false };
                slices.push(slice);
            }
            return floats.run(n, &reads, &mut slices);
        }
        let mut reads: SmallVec<[Reads<'_>; 8]> = SmallVec::new();
        for (((value, fit), taken), input) in inputs.iter().zip(fits).zip(taken).zip(&self.inputs) {
            let whole = || TileRef::of(value);
            reads.push(match (fit, taken) {
                (_, Some(k)) => Reads::Given(*k, input.dtype),
                (Fit::One(word), None) => Reads::One(*word, input.dtype),
                (Fit::Whole, None) => match whole() {
                    Some(all) => Reads::Whole(all.part(at, n)),
                    None => return false,
                },
                (Fit::Spread(spread), None) => match whole() {
                    Some(all) => Reads::Spread(all, spread, at),
                    None => return false,
                },
            });
        }
        self.program.run(n, &reads, &mut to)
    }

    /// Runs the members' kernels, one after another.
    fn run_one_by_one(&self, cx: &mut KernelCx) -> Result<()> {
        let mut values: Vec<Tensor> = Vec::new();
        for member in &self.members {
            let read = |from: &Wire| match from {
                Wire::Input(i) => cx.input(*i).clone(),
                Wire::Member(i) => values[*i].clone(),
            };
            let mut inputs: SmallVec<[Tensor; 3]> = member.from.iter().map(read).collect();
            let mut output = [None];
            let info = &member.kernel.info;
            let named = |e: Error| e.at_node(&info.name, info.op.name).at_line(member.at);
            let mut own = KernelCx::new(info, cx.env, &mut inputs, &mut output);
            member.kernel.run(&mut own).map_err(named)?;
            let [output] = output;
            values.push(output.ok_or_else(|| named(Error::internal("the kernel gave no output")))?);
        }
        for (k, &member) in self.outputs.iter().enumerate() {
            cx.set(k, values[member].clone());
        }
        Ok(())
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes: {}", self.members.len(), self.program)
    }
}

/// How the steps on slices read these elements of the inputs; `None` if an input does not suit them.
fn floats_in<'a>(
    inputs: &'a [Tensor],
    fits: &[Fit],
    taken: &[Option<usize>],
    range: std::ops::Range<usize>,
) -> Option<SmallVec<[FloatsIn<'a>; 8]>> {
    let read = |((value, fit), taken): ((&'a Tensor, &Fit), &Option<usize>)| {
        Some(match (fit, taken) {
            (_, Some(k)) => FloatsIn::Given(*k),
            (Fit::One(word), None) => FloatsIn::One(f32::from_bits(*word as u32)),
            (Fit::Whole, None) => FloatsIn::Whole(value.as_slice::<f32>().ok()?.get(range.clone())?),
            (Fit::Spread(_), None) => return None,
        })
    };
    inputs.iter().zip(fits).zip(taken).map(read).collect()
}

/// The first `n` elements, and the others.
fn split(all: TileMut<'_>, n: usize) -> (TileMut<'_>, TileMut<'_>) {
    macro_rules! halves {
        ($($name:ident)*) => { match all { $(TileMut::$name(all) => {
            let (first, rest) = all.split_at_mut(n);
            (TileMut::$name(first), TileMut::$name(rest))
        })* } };
    }
    halves!(F32 F64 I32 I64 Bool)
}

/// The word of a tensor's only element.
fn word(value: &Tensor) -> Option<u64> {
    with_word!(value.dtype(), T => match value.as_slice::<T>() {
        Ok(&[one]) => Some(millstream_tensor::Word::word(one)),
        _ => None,
    }, else => None)
}
