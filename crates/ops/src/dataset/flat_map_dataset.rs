//! `FlatMapDataset`, `InterleaveDataset`, `ParallelInterleaveDatasetV2`: the elements of the datasets that a
//! function returns.

use super::datasets::{Called, Calls, Element, How, Over, Source, calls, over, source, transforms};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> [OpDef; 3] {
    let cycled = |def: OpDef| {
        let def = calls(def, "f", "other_arguments", "Targuments");
        def.input("cycle_length", DType::I64).input("block_length", DType::I64)
    };
    [
        transforms("FlatMapDataset", flat, |def| calls(def, "f", "other_arguments", "Targuments")).doc(
            "Returns a dataset of the elements of the datasets that `f` returns for each element, one after \
             another.",
        ),
        transforms("InterleaveDataset", interleaved, cycled).doc(
            "Returns a dataset of the elements of the datasets that `f` returns, taken in turns from \
             `cycle_length` of them, `block_length` elements at a time.",
        ),
        transforms("ParallelInterleaveDatasetV2", parallel, |def| {
            cycled(def).input("num_parallel_calls", DType::I64).attr("sloppy", Bool.or(false))
        })
        .doc(
            "Returns a dataset of the elements of the datasets that `f` returns, as InterleaveDataset does. \
             `num_parallel_calls`, which must be positive or -1, does not change the result.",
        ),
    ]
}

struct Interleave {
    f: Called,
    cycle: usize,
    block: usize,
}

/// The datasets that take turns.
struct Turns {
    elements: Calls,
    f: Called,
    /// The passes, each in its place in the cycle. The list grows up to `cycle` places.
    open: Vec<Option<Source>>,
    n_open: usize,
    cycle: usize,
    block: usize,
    at: usize,
    taken: usize,
    ended: bool,
}

impl Turns {
    fn advance(&mut self) {
        self.at = (self.at + 1) % self.cycle;
        self.taken = 0;
    }

    fn next(&mut self, env: &StepEnv) -> Result<Option<Element>> {
        while !self.ended || 0 < self.n_open {
            if let Some(Some(pass)) = self.open.get_mut(self.at) {
                if let Some(next) = pass.next(env)? {
                    self.taken += 1;
                    if self.taken == self.block {
                        self.advance();
                    }
                    return Ok(Some(next));
                }
                self.open[self.at] = None;
                self.n_open -= 1;
                self.advance();
            } else if !self.ended {
                let f = &self.f;
                match self.elements.next(env, |element| f.call_dataset(element, env)?.begin(env))? {
                    None => self.ended = true,
                    Some(pass) => {
                        self.n_open += 1;
                        match self.open.get_mut(self.at) {
                            Some(place) => *place = Some(pass),
                            None => self.open.push(Some(pass)),
                        }
                    }
                }
            } else {
                // Places that were never filled are empty.
                self.at = if self.open.len() <= self.at + 1 { 0 } else { self.at + 1 };
                self.taken = 0;
            }
        }
        Ok(None)
    }
}

impl How for Interleave {
    fn begin(over: &Over<Interleave>, env: &StepEnv) -> Result<Source> {
        let Interleave { f, cycle, block } = &*over.how;
        let mut turns = Turns {
            elements: Calls::over(over.input.begin(env)?),
            f: f.clone(),
            open: Vec::new(),
            n_open: 0,
            cycle: *cycle,
            block: *block,
            at: 0,
            taken: 0,
            ended: false,
        };
        Ok(source(move |env| turns.next(env)))
    }
}

fn flat(cx: &mut KernelCx) -> Result<()> {
    let f = Called::of(cx, "f", "other_arguments")?;
    over(cx, Interleave { f, cycle: 1, block: usize::MAX })
}

fn interleaved(cx: &mut KernelCx) -> Result<()> {
    let at = cx.node.input_range("other_arguments")?.end;
    let (cycle, block) = (cx.int(at)?, cx.int(at + 1)?);
    ensure!(cycle > 0, "cycle_length must be greater than zero.");
    ensure!(block > 0, "block_length must be greater than zero.");
    let f = Called::of(cx, "f", "other_arguments")?;
    let size = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
    over(cx, Interleave { f, cycle: size(cycle), block: size(block) })
}

fn parallel(cx: &mut KernelCx) -> Result<()> {
    let n = cx.int(cx.n_inputs() - 1)?;
    ensure!(n > 0 || n == -1, "num_parallel_calls must be greater than zero.");
    interleaved(cx)
}

cases! {
    is_a_variant: "FlatMapDataset(variant[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    in_turns: "InterleaveDataset(variant[], f32[], i64[], i64[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    in_parallel: "ParallelInterleaveDatasetV2(variant[], i64[], i64[], i64[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    calls_a_function: "FlatMapDataset(TensorDataset(1; output_shapes={shape[]}); f=func(f), output_types={i32}, output_shapes={shape[]}) ! no function `f`",
    has_a_cycle: "InterleaveDataset(TensorDataset(1; output_shapes={shape[]}), i64 0, i64 1; f=func(f), output_types={i32}, output_shapes={shape[]}) ! cycle_length must be greater than zero",
}
