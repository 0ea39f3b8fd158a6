//! [`TileProgram`]: steps computed tile by tile.
//!
//! A tile is a few hundred elements. Its steps run one after another, so what passes between them stays
//! in the first-level cache and takes no memory of its own. Results are the same bits as those of kernels:
//! every step is computed by the method that they use.
//!
//! ```text
//!   inputs ──► step, step, step ──► outputs       for each tile
//!              in registers of the thread, each of which holds a tile
//! ```
//!
//! A program whose values are all of `f32` has a second form, [`Floats`], whose steps take slices: a step on
//! 128 elements is about as long as the look at what its operands are.

use millstream_graph::op::expression::{Operand, Step};
use millstream_graph::op::{SliceFn, Tile, TileFn, TileMut, TileRef};
use millstream_tensor::{DType, Spread};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// Steps for tiles.
#[derive(Debug, Default)]
pub(crate) struct TileProgram {
    steps: Vec<TileStep>,
    /// The dtype of each register.
    registers: Vec<DType>,
    /// Tiles of one element.
    constants: Vec<Tile>,
    /// Outputs that repeat an input, a constant or another output.
    copies: Vec<(u16, At)>,
    /// For each output, the input whose memory it may take, and whether the steps may then read the input
    /// where it is: none does after the output is written.
    given: Vec<Option<(u16, bool)>>,
    /// For each output, its dtype, where [`TileWriter::finish_in_place`] wrote the program.
    written: Vec<DType>,
    /// The same for slices, where all values are of `f32`.
    floats: Option<Floats>,
}

/// Steps for slices of `f32`.
#[derive(Debug)]
pub(crate) struct Floats {
    steps: Vec<FloatStep>,
    constants: Vec<f32>,
    n_registers: usize,
}

#[derive(Clone, Copy, Debug)]
struct FloatStep {
    run: SliceFn<f32>,
    to: At,
    a: At,
    /// The same as `a` of a step with one operand.
    b: At,
}

/// How [`Floats`] read an input.
#[derive(Clone, Copy)]
pub(crate) enum FloatsIn<'a> {
    /// An element for each of the output.
    Whole(&'a [f32]),
    /// The same everywhere.
    One(f32),
    /// What an output holds before it is written.
    Given(usize),
}

#[derive(Debug)]
struct TileStep {
    name: &'static str,
    floats: Option<SliceFn<f32>>,
    /// Whether the result is bools.
    of_bools: bool,
    tile: TileFn,
    to: At,
    from: SmallVec<[At; 3]>,
}

/// Where an operand or a result is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum At {
    Input(u16),
    Constant(u16),
    Register(u16),
    Output(u16),
}

/// How a program reads an input.
pub(crate) enum Reads<'a> {
    /// An element for each of the output.
    Whole(TileRef<'a>),
    /// The same word everywhere, of this dtype.
    One(u64, DType),
    /// Repeated along some axes. The first element of the output is this one of the whole result.
    Spread(TileRef<'a>, &'a Spread, usize),
    /// What an output holds before it is written, of this dtype.
    Given(usize, DType),
}

/// The bytes of a first-level cache that the registers of a program may take.
const CACHE: usize = 16 << 10;
/// The elements that tiles are multiples of: whole cache lines and vectors of any type, so that where a tile
/// begins in an aligned tensor is aligned too.
const WHOLE: usize = 64;

/// The length of the tiles of `n` elements, all of about the same length, with `held` registers.
fn length(n: usize, held: usize) -> usize {
    // Programs without registers run in one go.
    if held == 0 {
        return n.max(1);
    }
    let most = (CACHE / size_of::<f32>() / held).clamp(4 * WHOLE, 4096) / WHOLE * WHOLE;
    n.div_ceil(n.div_ceil(most).max(1)).next_multiple_of(WHOLE).max(WHOLE)
}

/// A register of [`Floats`], which begins with a cache line: where vectors lie across two lines, each access
/// takes two.
#[derive(Default)]
struct Register {
    all: Vec<f32>,
    begin: usize,
}

impl Register {
    /// Has room for this many elements from now on.
    fn suit(&mut self, length: usize) {
        const LINE: usize = 64 / size_of::<f32>();
        if self.all.len() < self.begin + length {
            self.all = vec![0.0; length + LINE];
            let begin = self.all.as_ptr().align_offset(64);
            self.begin = if begin < LINE { begin } else { 0 };
        }
    }

    /// The first `n` elements; empty if the register is shorter.
    #[inline(always)]
    fn get(&self, n: usize) -> &[f32] {
        self.all.get(self.begin..self.begin + n).unwrap_or(&[])
    }

    #[inline(always)]
    fn get_mut(&mut self, n: usize) -> Option<&mut [f32]> {
        self.all.get_mut(self.begin..self.begin + n)
    }
}

impl Floats {
    /// The same program as `of`; `None` if it has values of another type, or outputs that are not results of
    /// its own steps.
    fn of(of: &TileProgram) -> Option<Floats> {
        // An output whose place is read after it was written needs a copy of it.
        let in_place = of.given.iter().flatten().all(|(_, reads_before)| *reads_before);
        if !in_place || !of.copies.is_empty() || of.registers.iter().any(|dtype| *dtype != DType::F32) {
            return None;
        }
        let constants = of.constants.iter().map(|tile| match tile.get(1) {
            TileRef::F32(&[one]) => Some(one),
            _ => None,
        });
        let steps = of.steps.iter().map(|step| {
            let (first, second) = (step.from.first()?, step.from.get(1));
            Some(FloatStep { run: step.floats?, to: step.to, a: *first, b: *second.unwrap_or(first) })
        });
        Some(Floats {
            steps: steps.collect::<Option<_>>()?,
            constants: constants.collect::<Option<_>>()?,
            n_registers: of.registers.len(),
        })
    }

    /// As [`TileProgram::run`].
    pub(crate) fn run(&self, n: usize, reads: &[FloatsIn<'_>], to: &mut [&mut [f32]]) -> bool {
        let length = length(n, self.n_registers);
        FLOATS.with_borrow_mut(|registers| {
            if registers.len() < self.n_registers {
                registers.resize_with(self.n_registers, Register::default);
            }
            registers[..self.n_registers].iter_mut().for_each(|register| register.suit(length));
            (0..n).step_by(length).all(|at| self.tile(registers, at, length.min(n - at), reads, to))
        })
    }

    fn tile(
        &self,
        registers: &mut [Register],
        at: usize,
        n: usize,
        reads: &[FloatsIn<'_>],
        to: &mut [&mut [f32]],
    ) -> bool {
        self.steps.iter().all(|step| match step.to {
            At::Register(r) => {
                let mut result = std::mem::take(&mut registers[usize::from(r)]);
                let place = FloatsAt { program: self, registers, reads, to, at, n, written: usize::MAX };
                let done = result.get_mut(n).is_some_and(|to| place.run(step, to));
                registers[usize::from(r)] = result;
                done
            }
            At::Output(k) => {
                let written = usize::from(k);
                let result = std::mem::take(&mut to[written]);
                let place = FloatsAt { program: self, registers, reads, to, at, n, written };
                let done = result.get_mut(at..at + n).is_some_and(|to| place.run(step, to));
                to[written] = result;
                done
            }
            At::Input(_) | At::Constant(_) => false,
        })
    }
}

/// A tile's place, and the output that is being written.
struct FloatsAt<'a, 'b> {
    program: &'a Floats,
    registers: &'a [Register],
    reads: &'a [FloatsIn<'b>],
    to: &'a [&'b mut [f32]],
    at: usize,
    n: usize,
    written: usize,
}

impl FloatsAt<'_, '_> {
    #[inline(always)]
    fn run(&self, step: &FloatStep, to: &mut [f32]) -> bool {
        (step.run)(to, self.read(step.a), self.read(step.b))
    }

    /// The operand; `None` if it is what the result's place holds. A slice of another length than a step
    /// expects, which the step refuses, if it is not there.
    #[inline(always)]
    fn read(&self, from: At) -> Option<&[f32]> {
        let (at, n) = (self.at, self.n);
        Some(match from {
            At::Register(r) => self.registers[usize::from(r)].get(n),
            At::Output(k) => self.to[usize::from(k)].get(at..at + n).unwrap_or(&[]),
            At::Constant(c) => std::slice::from_ref(&self.program.constants[usize::from(c)]),
            At::Input(i) => match &self.reads[usize::from(i)] {
                FloatsIn::Whole(from) => from.get(at..at + n).unwrap_or(&[]),
                FloatsIn::One(one) => std::slice::from_ref(one),
                FloatsIn::Given(k) if *k == self.written => return None,
                FloatsIn::Given(k) => self.to[*k].get(at..at + n).unwrap_or(&[]),
            },
        })
    }
}

impl TileProgram {
    /// The form for slices of `f32`, where there is one.
    pub(crate) fn floats(&self) -> Option<&Floats> {
        self.floats.as_ref()
    }

    /// The input whose memory an output may take.
    pub(crate) fn may_take(&self, output: usize) -> Option<usize> {
        self.given.get(output).copied().flatten().map(|(input, _)| usize::from(input))
    }

    /// The dtype of an output, all of which steps write.
    pub(crate) fn dtype_of(&self, output: usize) -> DType {
        self.written.get(output).copied().unwrap_or(DType::F32)
    }

    /// The estimated duration for `n` elements, in nanoseconds.
    pub(crate) fn cost(&self, n: usize) -> f64 {
        const NS: f64 = 0.15;
        let light =
            |name: &str| matches!(name, "add" | "sub" | "mul" | "neg" | "select" | "max" | "min" | "less");
        let steps: f64 = self.steps.iter().map(|step| if light(step.name) { 1.0 } else { 5.0 }).sum();
        NS * steps * n as f64
    }

    /// Computes `n` elements of each output. Returns false if a dtype or a length is not the expected one.
    pub(crate) fn run(&self, n: usize, reads: &[Reads<'_>], to: &mut [TileMut<'_>]) -> bool {
        let staged = reads.iter().filter(|reads| self.is_staged(reads)).count();
        let length = length(n, self.registers.len() + staged);
        WORKSPACE.with_borrow_mut(|tiles| {
            self.make_room(tiles, reads, length);
            (0..n).step_by(length).all(|at| self.tile(tiles, at, length.min(n - at), reads, to))
        })
    }

    /// Whether a tile is made of an input.
    fn is_staged(&self, reads: &Reads<'_>) -> bool {
        match reads {
            Reads::Spread(..) => true,
            Reads::Given(k, _) => !matches!(self.given.get(*k), Some(Some((_, true)))),
            Reads::Whole(_) | Reads::One(..) => false,
        }
    }

    /// Makes room for the registers, and behind them for inputs that steps do not read in place.
    fn make_room(&self, tiles: &mut Vec<Tile>, reads: &[Reads<'_>], length: usize) {
        let n = self.registers.len();
        if tiles.len() < n + reads.len() {
            tiles.resize(n + reads.len(), Tile::default());
        }
        let (registers, staged) = tiles.split_at_mut(n);
        for (tile, dtype) in registers.iter_mut().zip(&self.registers) {
            tile.suit(*dtype, length);
        }
        for (tile, reads) in staged.iter_mut().zip(reads) {
            match reads {
                Reads::Whole(_) => {}
                Reads::One(word, dtype) => {
                    tile.suit(*dtype, 1);
                    tile.get_mut(1).fill(*word);
                }
                Reads::Spread(from, ..) => tile.suit(from.dtype().unwrap_or(DType::Bool), length),
                Reads::Given(_, dtype) if self.is_staged(reads) => tile.suit(*dtype, length),
                Reads::Given(..) => {}
            }
        }
    }

    fn tile(
        &self,
        tiles: &mut [Tile],
        at: usize,
        n: usize,
        reads: &[Reads<'_>],
        to: &mut [TileMut<'_>],
    ) -> bool {
        let (registers, staged) = tiles.split_at_mut(self.registers.len());
        let mut fits = true;
        for (reads, tile) in reads.iter().zip(&mut *staged) {
            fits &= match reads {
                Reads::Spread(from, spread, first) => tile.get_mut(n).copy_spread(*from, spread, first + at),
                Reads::Given(k, _) if self.is_staged(reads) => {
                    tile.get_mut(n).copy(to[*k].as_ref().part(at, n))
                }
                Reads::Whole(_) | Reads::One(..) | Reads::Given(..) => true,
            };
        }
        let place = Place { program: self, reads, staged, at, n };
        for step in &self.steps {
            let mut operands = [TileRef::Bool(&[]); 3];
            let operands = &mut operands[..step.from.len()];
            match step.to {
                At::Register(r) => {
                    let mut result = std::mem::take(&mut registers[usize::from(r)]);
                    operands
                        .iter_mut()
                        .zip(&step.from)
                        .for_each(|(o, from)| *o = place.read(*from, registers, to, None));
                    fits &= (step.tile)(result.get_mut(n), operands);
                    registers[usize::from(r)] = result;
                }
                At::Output(k) => {
                    let mut result = std::mem::replace(&mut to[usize::from(k)], TileMut::Bool(&mut []));
                    operands
                        .iter_mut()
                        .zip(&step.from)
                        .for_each(|(o, from)| *o = place.read(*from, registers, to, Some(k)));
                    fits &= (step.tile)(result.part(at, n), operands);
                    to[usize::from(k)] = result;
                }
                At::Input(_) | At::Constant(_) => fits = false,
            }
        }
        for &(k, from) in &self.copies {
            let mut result = std::mem::replace(&mut to[usize::from(k)], TileMut::Bool(&mut []));
            fits &= result.part(at, n).copy(place.read(from, registers, to, Some(k)));
            to[usize::from(k)] = result;
        }
        fits
    }

    /// Whether no step reads an input after one has written an output, in whose place the input is.
    fn reads_before(&self, input: u16, output: u16) -> bool {
        let reads = |from: &At| *from == At::Input(input);
        let Some(writes) = self.steps.iter().position(|step| step.to == At::Output(output)) else {
            return false;
        };
        let last = self.steps.iter().rposition(|step| step.from.iter().any(reads)).unwrap_or(0);
        // What bools are computed from is read element by element.
        let of_bools = self.steps[writes].of_bools;
        last <= writes && !of_bools && !self.copies.iter().any(|(_, from)| reads(from))
    }

    /// Lets the steps write outputs where these are, and registers whose values are not needed any more hold
    /// the results of later steps.
    fn place(&mut self, outputs: &[At]) {
        let mut last: BTreeMap<u16, usize> = BTreeMap::new();
        for (i, step) in self.steps.iter().enumerate() {
            last.extend(step.to.register().map(|r| (r, i)));
            last.extend(step.from.iter().filter_map(|at| Some((at.register()?, i))));
        }
        let mut places = Places::default();
        for (k, output) in outputs.iter().enumerate() {
            let k = k as u16;
            match output {
                At::Register(r) if !places.of.contains_key(r) => {
                    places.of.insert(*r, At::Output(k));
                }
                At::Register(r) => self.copies.push((k, places.of[r])),
                other => self.copies.push((k, *other)),
            }
        }
        for (i, step) in self.steps.iter_mut().enumerate() {
            let At::Register(written) = step.to else { continue };
            let dtype = self.registers[usize::from(written)];
            step.to = places.take(written, dtype);
            let mut over: SmallVec<[u16; 4]> = SmallVec::new();
            for at in &mut step.from {
                let At::Register(r) = *at else { continue };
                *at = places.of[&r];
                if let (At::Register(place), Some(true)) = (*at, last.get(&r).map(|last| *last == i))
                    && !over.contains(&place)
                {
                    over.push(place);
                }
            }
            if let (At::Register(place), Some(true)) = (step.to, last.get(&written).map(|last| *last == i)) {
                over.push(place);
            }
            places.free.extend(over);
        }
        self.registers = places.registers;
    }
}

/// A tile's place, and where it reads inputs.
struct Place<'a> {
    program: &'a TileProgram,
    reads: &'a [Reads<'a>],
    staged: &'a [Tile],
    at: usize,
    n: usize,
}

impl<'a> Place<'a> {
    #[inline(always)]
    fn read<'b>(
        &self,
        from: At,
        registers: &'b [Tile],
        to: &'b [TileMut<'_>],
        written: Option<u16>,
    ) -> TileRef<'b>
    where
        'a: 'b,
    {
        match from {
            At::Register(r) => registers[usize::from(r)].get(self.n),
            At::Output(k) => to[usize::from(k)].as_ref().part(self.at, self.n),
            At::Constant(c) => self.program.constants[usize::from(c)].get(1),
            At::Input(i) => match &self.reads[usize::from(i)] {
                Reads::Whole(from) => from.part(self.at, self.n),
                Reads::One(..) => self.staged[usize::from(i)].get(1),
                Reads::Given(k, _) if !self.program.is_staged(&self.reads[usize::from(i)]) => {
                    match written.is_some_and(|written| usize::from(written) == *k) {
                        true => TileRef::Result,
                        false => to[*k].as_ref().part(self.at, self.n),
                    }
                }
                Reads::Spread(..) | Reads::Given(..) => self.staged[usize::from(i)].get(self.n),
            },
        }
    }
}

impl fmt::Display for TileProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, step.name)?;
        }
        Ok(())
    }
}

impl At {
    fn register(self) -> Option<u16> {
        match self {
            At::Register(r) => Some(r),
            At::Input(_) | At::Constant(_) | At::Output(_) => None,
        }
    }
}

/// Registers being shared out.
#[derive(Default)]
struct Places {
    registers: Vec<DType>,
    free: Vec<u16>,
    of: BTreeMap<u16, At>,
}

impl Places {
    fn take(&mut self, register: u16, dtype: DType) -> At {
        if let Some(place) = self.of.get(&register) {
            return *place;
        }
        let free = self.free.iter().position(|r| self.registers[usize::from(*r)] == dtype);
        let place = match free {
            Some(i) => self.free.swap_remove(i),
            None => {
                self.registers.push(dtype);
                (self.registers.len() - 1) as u16
            }
        };
        self.of.insert(register, At::Register(place));
        At::Register(place)
    }
}

/// A program being written. Every register is written once.
#[derive(Debug, Default)]
pub(crate) struct TileWriter {
    program: TileProgram,
    constants: BTreeMap<(u64, DType), u16>,
}

impl TileWriter {
    /// Writes the steps of an expression, whose value has this dtype. `None` if one cannot be computed by
    /// tiles.
    pub(crate) fn expression(
        &mut self,
        steps: &[Step],
        value: Operand,
        inputs: &[At],
        dtype: DType,
    ) -> Option<At> {
        let mut results: SmallVec<[At; 8]> = SmallVec::new();
        for step in steps {
            let operation = step.operation;
            let mut from = SmallVec::new();
            for (i, operand) in step.operands.iter().enumerate() {
                let is_mask = operation.name == "select" && i == 0;
                let dtype = if is_mask { DType::Bool } else { operation.dtype };
                from.push(self.operand(*operand, inputs, &results, dtype)?);
            }
            self.program.registers.push(operation.result);
            let to = At::Register(u16::try_from(self.program.registers.len() - 1).ok()?);
            let (name, functions) = (operation.name, operation.tile?);
            let of_bools = operation.result == DType::Bool;
            let (tile, floats) = (functions.any, functions.floats);
            self.program.steps.push(TileStep { name, floats, of_bools, tile, to, from });
            results.push(to);
        }
        self.operand(value, inputs, &results, dtype)
    }

    /// The program that gives these outputs, each with the input whose memory it may take.
    pub(crate) fn finish(mut self, outputs: &[(At, Option<u16>)]) -> TileProgram {
        let values: SmallVec<[At; 8]> = outputs.iter().map(|(at, _)| *at).collect();
        self.program.place(&values);
        for (k, (_, input)) in outputs.iter().enumerate() {
            let given = input.map(|input| (input, self.program.reads_before(input, k as u16)));
            self.program.given.push(given);
        }
        self.program.floats = Floats::of(&self.program);
        self.program
    }

    /// The program that gives these values, each the result of a step of its own and of this dtype. An output
    /// may take the memory of an input of its dtype that no step reads after the output is written; inputs
    /// without a dtype are not taken.
    pub(crate) fn finish_in_place(
        mut self,
        outputs: &[(At, DType)],
        inputs: &[Option<DType>],
    ) -> TileProgram {
        let values: SmallVec<[At; 8]> = outputs.iter().map(|(at, _)| *at).collect();
        self.program.place(&values);
        let mut taken: SmallVec<[bool; 8]> = SmallVec::from_elem(false, inputs.len());
        for (k, (_, dtype)) in outputs.iter().enumerate() {
            let suits = |i: &usize| {
                !taken[*i] && inputs[*i] == Some(*dtype) && self.program.reads_before(*i as u16, k as u16)
            };
            let input = (0..inputs.len().min(usize::from(u16::MAX))).find(suits);
            if let Some(i) = input {
                taken[i] = true;
            }
            self.program.given.push(input.map(|i| (i as u16, true)));
            self.program.written.push(*dtype);
        }
        self.program.floats = Floats::of(&self.program);
        self.program
    }

    /// Where an operand is, which is of this dtype.
    fn operand(&mut self, operand: Operand, inputs: &[At], results: &[At], dtype: DType) -> Option<At> {
        let word = match operand {
            Operand::Step(i) => return results.get(i as usize).copied(),
            Operand::Input(i) => return inputs.get(i as usize).copied(),
            Operand::Word(word) => word,
        };
        if let Some(constant) = self.constants.get(&(word, dtype)) {
            return Some(At::Constant(*constant));
        }
        let mut tile = Tile::new(dtype, 1)?;
        tile.get_mut(1).fill(word);
        self.program.constants.push(tile);
        let constant = u16::try_from(self.program.constants.len() - 1).ok()?;
        self.constants.insert((word, dtype), constant);
        Some(At::Constant(constant))
    }
}

thread_local! {
    /// The registers of [`Floats`], which stay from run to run.
    static FLOATS: RefCell<Vec<Register>> = const { RefCell::new(Vec::new()) };
    /// The registers of a thread, and tiles that inputs are brought into: they stay from run to run, so that
    /// short ones need not allocate.
    static WORKSPACE: RefCell<Vec<Tile>> = const { RefCell::new(Vec::new()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_graph::op::TileFns;
    use millstream_graph::op::expression::Operation;

    /// `2 a + b`, of slices, where either operand may be one element for all, or what the result holds.
    fn mix(to: &mut [f32], a: Option<&[f32]>, b: Option<&[f32]>) -> bool {
        let n = to.len();
        let suits = |from: Option<&[f32]>| from.is_none_or(|from| from.len() == n || from.len() == 1);
        let before = to.to_vec();
        let pick = |from: Option<&[f32]>, i: usize| match from {
            None => before[i],
            Some(&[one]) => one,
            Some(from) => from[i],
        };
        suits(a) && suits(b) && {
            to.iter_mut().enumerate().for_each(|(i, to)| *to = 2.0 * pick(a, i) + pick(b, i));
            true
        }
    }

    fn mix_tiles(to: TileMut<'_>, from: &[TileRef<'_>]) -> bool {
        let (TileMut::F32(to), &[a, b]) = (to, from) else { return false };
        let slice = |from| match from {
            TileRef::F32(slice) => Some(slice),
            TileRef::Result => None,
            _ => Some(&[][..]),
        };
        mix(to, slice(a), slice(b))
    }

    extern "C" fn mix_words(_: u64, _: u64, _: u64) -> u64 {
        0
    }

    /// Whatever the tiles, each element is what the steps make of it.
    #[test]
    fn elements_do_not_depend_on_tiles() {
        let tile = Some(TileFns::of_slices::<f32>(mix_tiles, mix));
        let (dtype, run) = (DType::F32, mix_words as _);
        let operation = Operation { name: "mix", dtype, result: dtype, run, tile };
        let step = |a, b| Step { operation, operands: SmallVec::from_slice(&[a, b]) };
        let (x, y, one) = (Operand::Input(0), Operand::Input(1), Operand::Word(1f32.to_bits().into()));
        // More and more values that are all needed at the end.
        for depth in 1..12u32 {
            let mut steps = vec![step(x, y)];
            (1..depth).for_each(|i| steps.push(step(Operand::Step(i - 1), one)));
            for i in 0..depth {
                steps.push(step(Operand::Step(steps.len() as u32 - 1), Operand::Step(i)));
            }
            let value = Operand::Step(steps.len() as u32 - 1);
            for n in [0usize, 1, 63, 64, 65, 256, 1000, 2048, 5001] {
                let a: Vec<f32> = (0..n).map(|i| (i % 13) as f32).collect();
                let b: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
                let expected = |i: usize| {
                    let mut values = vec![2.0 * a[i] + b[i]];
                    (1..depth as usize).for_each(|k| values.push(2.0 * values[k - 1] + 1.0));
                    (0..depth as usize).for_each(|k| values.push(2.0 * values[values.len() - 1] + values[k]));
                    values[values.len() - 1]
                };
                let expected: Vec<f32> = (0..n).map(expected).collect();

                let mut writer = TileWriter::default();
                let at = writer.expression(&steps, value, &[At::Input(0), At::Input(1)], dtype).unwrap();
                let program = writer.finish(&[(at, None)]);
                let mut to = vec![f32::NAN; n];
                let floats = program.floats().unwrap();
                assert!(floats.run(n, &[FloatsIn::Whole(&a), FloatsIn::Whole(&b)], &mut [&mut to[..]]));
                assert_eq!(to, expected, "{depth} {n}");

                let mut to = vec![f32::NAN; n];
                let reads = [Reads::Whole(TileRef::F32(&a)), Reads::Whole(TileRef::F32(&b))];
                assert!(program.run(n, &reads, &mut [TileMut::F32(&mut to[..])]));
                assert_eq!(to, expected, "{depth} {n}");
            }
        }
    }

    #[test]
    fn tiles_are_whole_lines_of_about_the_same_length() {
        assert_eq!(length(2048, 6), 512);
        assert_eq!((length(0, 0), length(1000, 0)), (1, 1000), "without registers, in one go");
        for held in 1..40 {
            for n in [0, 1, 63, 64, 65, 256, 2048, 2049, 10_000, 1 << 20] {
                let length = length(n, held);
                assert!(0 < length, "{n} {held}");
                assert!(length <= (CACHE / 4 / held).clamp(256, 4096), "{n} {held}: {length}");
                let tiles = n.div_ceil(length);
                assert!(tiles < 2 || length.is_multiple_of(WHOLE), "{n} {held}: {length}");
                // The last one may be shorter by a line for each of the others.
                assert!(length * tiles < n + WHOLE * tiles.max(1) + length, "{n} {held}: {length}");
            }
        }
    }

    #[test]
    fn registers_begin_with_a_cache_line_and_grow() {
        let mut register = Register::default();
        assert!(register.get(1).is_empty() && register.get_mut(1).is_none());
        for length in [1, 64, 3, 640, 4096] {
            register.suit(length);
            assert_eq!(register.get(length).len(), length);
            register.get_mut(length).unwrap().fill(length as f32);
            let moved = std::mem::take(&mut register);
            assert!(cfg!(miri) || moved.get(length).as_ptr().addr().is_multiple_of(64));
            assert!(moved.get(length).iter().all(|v| *v == length as f32));
            register = moved;
        }
    }
}
