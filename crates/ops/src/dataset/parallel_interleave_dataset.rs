//! `ParallelInterleaveDataset`: the elements of the datasets that a function returns, in turns, where a
//! dataset that ends makes room for one that waits.

use super::datasets::{Called, Calls, Element, How, Over, Source, calls, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result, ensure};
use std::collections::VecDeque;

pub(crate) fn def() -> [OpDef; 2] {
    ["ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset"].map(|name| {
        transforms(name, run, |def| {
            calls(def, "f", "other_arguments", "Targuments")
                .input("cycle_length", DType::I64)
                .input("block_length", DType::I64)
                .input("sloppy", DType::Bool)
                .input("buffer_output_elements", DType::I64)
                .input("prefetch_input_elements", DType::I64)
        })
        .doc(
            "Returns a dataset of the elements of the datasets that `f` returns, taken in turns from \
             `cycle_length` of them, `block_length` elements at a time, with `prefetch_input_elements` \
             datasets waiting for their turn. The order is that of a run that never has to wait, also if \
             `sloppy`.",
        )
    })
}

struct Interleave {
    f: Called,
    cycle: usize,
    block: usize,
    waiting: usize,
}

struct Turns {
    elements: Option<Calls>,
    f: Called,
    block: usize,
    /// The passes that take turns; `None` where one has ended and no other was there.
    places: Vec<Option<Source>>,
    waiting: VecDeque<Source>,
    at: usize,
    taken: usize,
    /// The number of passes that the beginning has yet to open.
    to_open: usize,
    cycle: usize,
}

impl Turns {
    /// The pass for the next element of the input.
    fn open(&mut self, env: &StepEnv) -> Result<Option<Source>> {
        let Some(elements) = &mut self.elements else { return Ok(None) };
        let f = &self.f;
        let pass = elements.next(env, |element| f.call_dataset(element, env)?.begin(env))?;
        if pass.is_none() {
            self.elements = None;
        }
        Ok(pass)
    }

    fn open_all(&mut self, env: &StepEnv) -> Result<()> {
        while 0 < self.to_open {
            let Some(pass) = self.open(env)? else {
                self.to_open = 0;
                return Ok(());
            };
            self.to_open -= 1;
            match self.places.len() < self.cycle {
                true => self.places.push(Some(pass)),
                false => self.waiting.push_back(pass),
            }
        }
        Ok(())
    }

    fn next(&mut self, env: &StepEnv) -> Result<Option<Element>> {
        self.open_all(env)?;
        let n = self.places.len();
        let mut empty = 0;
        while empty < n {
            let Some(pass) = &mut self.places[self.at] else {
                empty += 1;
                self.at = (self.at + 1) % n;
                continue;
            };
            if let Some(next) = pass.next(env)? {
                self.taken += 1;
                if self.taken == self.block {
                    self.at = (self.at + 1) % n;
                    self.taken = 0;
                }
                return Ok(Some(next));
            }
            if let Some(pass) = self.open(env)? {
                self.waiting.push_back(pass);
            }
            self.places[self.at] = self.waiting.pop_front();
            if self.places[self.at].is_some() {
                // The one that came in has its turn in the next round.
                (self.taken, empty) = (0, 0);
                self.at = (self.at + 1) % n;
            }
        }
        Ok(None)
    }
}

impl How for Interleave {
    fn begin(over: &Over<Interleave>, env: &StepEnv) -> Result<Source> {
        let Interleave { f, cycle, block, waiting } = &*over.how;
        let mut turns = Turns {
            elements: Some(Calls::over(over.input.begin(env)?)),
            f: f.clone(),
            block: *block,
            places: Vec::new(),
            waiting: VecDeque::new(),
            at: 0,
            taken: 0,
            to_open: cycle.saturating_add(*waiting),
            cycle: *cycle,
        };
        Ok(source(move |env| turns.next(env)))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let at = cx.node.input_range("other_arguments")?.end;
    let (cycle, block, _sloppy) = (cx.int(at)?, cx.int(at + 1)?, cx.bool(at + 2)?);
    let (buffer, waiting) = (cx.int(at + 3)?, cx.int(at + 4)?);
    ensure!(cycle > 0, "`cycle_length` must be > 0");
    ensure!(block > 0, "`block_length` must be > 0");
    ensure!(buffer > 0, "`buffer_output_elements` must be > 0");
    ensure!(waiting >= 0, "`prefetch_input_elements` must be >= 0");
    let f = Called::of(cx, "f", "other_arguments")?;
    let size = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
    over(cx, Interleave { f, cycle: size(cycle), block: size(block), waiting: size(waiting) })
}

cases! {
    is_a_variant: "ParallelInterleaveDataset(variant[], i64[], i64[], bool[], i64[], i64[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    by_its_old_name: "ExperimentalParallelInterleaveDataset(variant[], i64[], i64[], bool[], i64[], i64[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    has_a_cycle: "ParallelInterleaveDataset(TensorDataset(1; output_shapes={shape[]}), i64 0, i64 1, false, i64 1, i64 1; f=func(f), output_types={i32}, output_shapes={shape[]}) ! `cycle_length` must be > 0",
}
