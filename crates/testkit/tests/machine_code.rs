//! Random code: machine code gives the words, the lists and the exits that the interpreter gives, however the
//! slices fall.
//!
//! `MILLSTREAM_CODES=N` runs N codes, `MILLSTREAM_SEED=S` runs one.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_exec::region::{
    Binding, Call, CallId, Calls, Code, Compiler, Exit, Held, Instruction, List, ListWords, Passed, Reg,
    Registers, interpret,
};
use millstream_graph::Entity;
use millstream_graph::op::expression::Operation;
use millstream_graph::op::{Lowering, NodeInfo};
use millstream_graph::{Graph, Index, Output};
use millstream_jit::Jit;
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Tensor, shape};
use millstream_testkit::generate::Rng;
use std::sync::Arc;

const DTYPES: [DType; 6] = [DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::Bool];

/// What the steps of all expressions compute, by name and dtype.
fn operations() -> Vec<Operation> {
    let mut all: Vec<Operation> = Vec::new();
    for def in millstream_ops::defs().iter().filter(|def| def.kernel.lowering.is_some()) {
        for dtype in DTYPES {
            for to in DTYPES {
                for n in 1..3 {
                    let Some(info) = node(def.name, &vec![dtype; n], to) else { continue };
                    let lowering = def.kernel.lowering.and_then(|pick| pick(&info));
                    if let Some(Lowering::Elements(it) | Lowering::Broadcast(it)) = lowering {
                        all.extend(it.steps.iter().map(|step| step.operation));
                    }
                }
                if def.name != "Cast" {
                    break;
                }
            }
        }
    }
    for dtype in DTYPES {
        all.push(Operation::select(dtype));
    }
    all.sort_by_key(|it| (it.name, format!("{}", it.dtype), it.run as *const () as usize));
    all.dedup_by_key(|it| (it.name, it.dtype));
    all
}

fn node(op: &'static str, inputs: &[DType], to: DType) -> Option<Arc<NodeInfo>> {
    let graph = Graph::with_ops(millstream_ops::registry());
    let feeds: Vec<Output> = (inputs.iter().enumerate())
        .map(|(i, dtype)| graph.placeholder_of(&format!("x{i}"), *dtype, shape![_]))
        .collect();
    let builder = graph.op(op).inputs(feeds);
    let builder = if op == "Cast" { builder.attr("DstT", to) } else { builder };
    let made = builder.try_finish().ok()?;
    graph.read(|g| Some(g.node(made.id()).ok()?.info.clone()))
}

/// The number of operands of a step: those with two are known by name.
fn arity(operation: &str) -> usize {
    match operation {
        "select" => 3,
        "add" | "sub" | "mul" | "div" | "pow" | "less" | "less_equal" | "equal" | "max" | "min"
        | "floor_div" | "floor_mod" | "trunc_mod" | "bit_and" | "bit_or" | "bit_xor" | "shl" | "shr"
        | "and" | "or" | "igamma" | "igammac" | "igamma_grad_a" | "random_gamma_grad" | "zeta"
        | "polygamma" | "atan2" | "next_after" => 2,
        _ => 1,
    }
}

/// Code being made: registers by dtype.
struct Maker<'a> {
    random: &'a mut Rng,
    operations: &'a [Operation],
    code: Code,
    known: Vec<(DType, Reg)>,
}

impl Maker<'_> {
    fn reg(&mut self, dtype: DType) -> Reg {
        let reg = Reg::new(self.code.n_words);
        self.code.n_words += 1;
        self.known.push((dtype, reg));
        reg
    }

    fn pick(&mut self, dtype: DType) -> Reg {
        let all: Vec<Reg> = self.known.iter().filter(|(d, _)| *d == dtype).map(|(_, reg)| *reg).collect();
        all[self.random.below(all.len())]
    }

    fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.instructions.push(instruction);
        self.code.instructions.len() - 1
    }

    fn aim(&mut self, jump: usize) {
        let here = self.code.instructions.len();
        if let Instruction::Unless { to, .. } = &mut self.code.instructions[jump] {
            *to = here;
        }
    }

    fn of_i64(&self, name: &str) -> Operation {
        *self.operations.iter().find(|it| it.name == name && it.dtype == DType::I64).unwrap()
    }

    fn compute(&mut self) {
        let operation = self.operations[self.random.below(self.operations.len())];
        let n = arity(operation.name);
        let mut from = [Reg::new(0); 3];
        for (i, from) in from.iter_mut().enumerate().take(n) {
            let mask = operation.name == "select" && i == 0;
            *from = self.pick(if mask { DType::Bool } else { operation.dtype });
        }
        let to = self.reg(operation.result);
        self.emit(Instruction::Compute { operation, to, from, n: n as u8 });
    }

    /// A call with two ints of either width, which gives two.
    fn call(&mut self) {
        let dtype = if self.random.below(2) == 0 { DType::I64 } else { DType::I32 };
        let from = [self.pick(dtype), self.pick(dtype)];
        let given = Reg::new(self.code.n_words);
        for from in from {
            let to = self.reg(dtype);
            self.emit(Instruction::Copy { to, from });
        }
        let results = Reg::new(self.code.n_words);
        let _ = (self.reg(dtype), self.reg(dtype));
        let inputs = vec![Passed::Words(given, dtype, [2].into())];
        let outputs = vec![Passed::Words(results, dtype, [2].into())];
        self.code.calls.push(Call { node: Index::new(0), op: "Numbers", inputs, outputs, cost: 10 });
        let call = CallId::new(self.code.calls.len() - 1);
        self.emit(Instruction::Call { call });
    }

    /// A loop of a few rounds with random work, and perhaps a loop inside.
    fn round(&mut self, depth: usize) {
        let (count, limit, one) = (self.reg(DType::I64), self.reg(DType::I64), self.reg(DType::I64));
        let rounds = 1 + self.random.below(4) as u64;
        self.code.constants.extend([(limit, rounds), (one, 1)]);
        let zero = self.reg(DType::I64);
        self.code.constants.push((zero, 0));
        if depth > 0 {
            self.emit(Instruction::Copy { to: count, from: zero });
        }
        // What the loop changes from round to round.
        let mut changed = Vec::new();
        for dtype in DTYPES {
            let reg = self.reg(dtype);
            if depth > 0 {
                let from = self.pick(dtype);
                self.emit(Instruction::Copy { to: reg, from });
            }
            changed.push((dtype, reg));
        }
        if depth == 0 {
            let held = |(dtype, reg): &(DType, Reg)| Binding {
                dtype: *dtype,
                shape: [].into(),
                held: Held::Words(*reg),
            };
            self.code.inputs = changed.iter().chain([&(DType::I64, count)]).map(held).collect();
            self.code.n_variables = self.code.inputs.len();
            self.code.outputs = self.code.inputs.clone();
            for (list, dtype) in [(0, DType::F32), (1, DType::I64)] {
                let held = Held::List(List::new(list));
                self.code.inputs.push(Binding { dtype, shape: [2].into(), held });
                self.code.lists.push(2);
            }
        }
        let outside = self.known.len();
        let top = self.emit(Instruction::Loop { outermost: depth == 0, units: 1 + depth as u32 });
        let goes_on = self.reg(DType::Bool);
        let operation = self.of_i64("less");
        self.emit(Instruction::Compute { operation, to: goes_on, from: [count, limit, zero], n: 2 });
        let leave = self.emit(Instruction::Unless { condition: goes_on, to: 0 });
        for _ in 0..1 + self.random.below(8) {
            self.compute();
        }
        if depth < 2 && self.random.below(2) == 0 {
            let skip = (self.random.below(2) == 0).then(|| {
                let condition = self.pick(DType::Bool);
                self.emit(Instruction::Unless { condition, to: 0 })
            });
            let before = self.known.len();
            self.round(depth + 1);
            if let Some(skip) = skip {
                self.aim(skip);
            }
            self.known.truncate(before);
        }
        if self.random.below(6) == 0 {
            let condition = self.pick(DType::Bool);
            self.emit(Instruction::Fail { condition });
        }
        if self.random.below(2) == 0 {
            let pair = Reg::new(self.code.n_words);
            for _ in 0..2 {
                let (to, from) = (self.reg(DType::F32), self.pick(DType::F32));
                self.emit(Instruction::Copy { to, from });
            }
            self.emit(Instruction::Push { list: List::new(0), from: pair });
        }
        if self.random.below(3) == 0 {
            self.call();
        }
        if self.random.below(3) == 0 {
            let to = Reg::new(self.code.n_words);
            let _ = (self.reg(DType::I64), self.reg(DType::I64));
            self.emit(Instruction::Pop { list: List::new(1), to });
        }
        let mut moves = Vec::new();
        for (dtype, to) in changed {
            let from = self.pick(dtype);
            let kept = self.reg(dtype);
            self.emit(Instruction::Copy { to: kept, from });
            moves.push((to, kept));
        }
        let operation = self.of_i64("add");
        let next = self.reg(DType::I64);
        self.emit(Instruction::Compute { operation, to: next, from: [count, one, zero], n: 2 });
        moves.push((count, next));
        for (to, from) in moves {
            self.emit(Instruction::Copy { to, from });
        }
        self.emit(Instruction::Jump { to: top });
        self.aim(leave);
        self.known.truncate(outside);
    }
}

fn make(random: &mut Rng, operations: &[Operation]) -> Code {
    let code = Code {
        changes: false,
        instructions: Vec::new(),
        n_words: 0,
        lists: Vec::new(),
        constants: Vec::new(),
        blocks: Vec::new(),
        block_constants: Vec::new(),
        tiles: Vec::new(),
        calls: Vec::new(),
        inputs: Vec::new(),
        n_variables: 0,
        outputs: Vec::new(),
    };
    let mut maker = Maker { random, operations, code, known: Vec::new() };
    for dtype in DTYPES {
        for _ in 0..3 {
            let word = maker.random.draw();
            let word = match dtype {
                DType::Bool => word & 1,
                DType::U8 => word & 0xff,
                DType::F32 | DType::I32 => word & 0xffff_ffff,
                _ => word,
            };
            let reg = maker.reg(dtype);
            maker.code.constants.push((reg, word));
        }
    }
    maker.round(0);
    maker.emit(Instruction::End);
    maker.code
}

/// All that a run leaves behind.
#[derive(Debug, PartialEq)]
struct Left {
    exit: Exit,
    iterations: u64,
    words: Vec<u64>,
    lists: Vec<Vec<u64>>,
}

/// What calls do: they count on, and fail at multiples of 11.
struct Numbers;

impl Calls for Numbers {
    fn call(&self, _: CallId, inputs: &mut [Tensor], outputs: &mut [Option<Tensor>]) -> bool {
        let [input] = inputs else { return false };
        let mut words = [0; 2];
        assert!(input.write_words(&mut words));
        let next = words.map(|word| word.wrapping_mul(3).wrapping_add(1) & 0x7fff_ffff);
        outputs[0] = Tensor::of_words(input.dtype(), [2], &next).ok();
        !words[0].is_multiple_of(11)
    }
}

fn run(code: &Code, slice: i64, mut step: impl FnMut(&mut Registers) -> Exit) -> Left {
    let mut registers = Registers::new(code);
    for (i, input) in code.inputs.iter().enumerate() {
        for at in input.words() {
            registers.words[at] = if input.dtype == DType::Bool { (i & 1) as u64 } else { 3 };
        }
    }
    // The counter.
    let counter = code.inputs[code.n_variables - 1].words().start;
    registers.words[counter] = 0;
    registers.lists[1] = ListWords::holding(Charged::holding((0..8).collect()).unwrap());
    for _ in 0..100_000 {
        registers.units = slice;
        let exit = step(&mut registers);
        if exit == Exit::Paused {
            continue;
        }
        let held = if exit == Exit::Done { &code.outputs[..] } else { &code.inputs[..code.n_variables] };
        let words = held.iter().flat_map(|held| registers.words[held.words()].to_vec()).collect();
        let lists = registers.lists.iter().map(|list| list.items().to_vec()).collect();
        return Left { exit, iterations: registers.iterations, words, lists };
    }
    panic!("no end");
}

#[test]
fn machine_code_does_what_the_interpreter_does() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let seeds = match (number("MILLSTREAM_SEED"), number("MILLSTREAM_CODES")) {
        (Some(seed), _) => seed..seed + 1,
        (None, n) => 0..n.unwrap_or(500),
    };
    let operations = operations();
    assert!(operations.len() > 150, "only {} operations", operations.len());
    let (mut n, mut failed) = (0, 0);
    for seed in seeds {
        let mut random = Rng::new(seed);
        let code = Arc::new(make(&mut random, &operations));
        let want = run(&code, i64::MAX / 2, |registers| interpret(&code, registers, &Numbers));
        let compiled = Jit.compile(&code).unwrap_or_else(|| panic!("seed {seed} is not compiled\n{code}"));
        for slice in [i64::MAX / 2, 0, 3 + seed as i64 % 20] {
            let got = run(&code, slice, |registers| compiled.run(registers, &Numbers));
            assert_eq!(want, got, "seed {seed}, slices of {slice}\n{code}");
            let again = run(&code, slice, |registers| interpret(&code, registers, &Numbers));
            assert_eq!(want, again, "seed {seed}, interpreted in slices of {slice}\n{code}");
        }
        n += 1;
        failed += usize::from(want.exit == Exit::Failed);
    }
    println!("{n} codes, {failed} of them failed, {} operations", operations.len());
}
