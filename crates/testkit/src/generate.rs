//! Random programs: loops, branches, captures, control dependencies and variables around the arithmetic of
//! scalars and vectors.
//!
//! A [`Program`] is data made from a seed. It refers to values by number; when the graph is built, a number
//! selects a value of the wanted type, counted back from the newest, modulo their count. A program thus stays
//! well formed whatever is removed from it, as [`shrink`] does with a failing one. Loops count to a small
//! number, so every program ends.

use millstream_graph::{Graph, Output, Port};
use millstream_tensor::{DType, Result, Tensor};

/// The type of a value: a dtype, as a scalar or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    dtype: DType,
    vector: bool,
}

/// The number of different elements of a vector that is written out.
const WIDTH: usize = 3;
/// The lengths of vectors: in registers of compiled code, in blocks, and in blocks of more than a tile. All
/// are multiples of [`WIDTH`].
const LENGTHS: [usize; 4] = [3, 3, 21, 600];

const I32: Type = Type { dtype: DType::I32, vector: false };
const F32: Type = Type { dtype: DType::F32, vector: false };
const BOOL: Type = Type { dtype: DType::Bool, vector: false };
const I32S: Type = Type { dtype: DType::I32, vector: true };
const F32S: Type = Type { dtype: DType::F32, vector: true };

/// A value, counted back from the newest of its type.
type Ref = u32;

/// A random program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The statements.
    pub body: Block,
    /// The values of the placeholders: an int and a float.
    pub feeds: (i32, f32),
    /// The length of its vectors.
    pub length: usize,
}

/// A sequence of statements.
#[derive(Clone, Debug, Default)]
pub struct Block {
    stmts: Vec<Stmt>,
}

#[derive(Clone, Debug)]
enum Stmt {
    Int(i32),
    Float(f32),
    Floats([f32; WIDTH]),
    /// An op with arguments; it has one result.
    Op(usize, [Ref; 3]),
    /// Statements that run after this value is computed.
    After(Ref, Block),
    Cond {
        pred: Ref,
        types: Vec<Type>,
        yes: (Block, Vec<Ref>),
        no: (Block, Vec<Ref>),
    },
    Switch {
        index: Ref,
        types: Vec<Type>,
        branches: Vec<(Block, Vec<Ref>)>,
    },
    While(Box<While>),
    /// Adds to the variable of the enclosing loop, and reads it.
    Add(Ref),
}

#[derive(Clone, Debug)]
struct While {
    types: Vec<Type>,
    init: Vec<Ref>,
    /// The maximum number of iterations; `limit` may lower it.
    trips: u32,
    limit: Option<Ref>,
    /// An additional condition of the loop.
    also: Option<(Block, Ref)>,
    body: Block,
    next: Vec<Ref>,
    parallel: u32,
    maximum: Option<u32>,
}

/// An op that the generator uses: its name, its arguments, its result, and its extra inputs or attributes.
struct OpKind {
    name: &'static str,
    takes: &'static [Type],
    gives: Type,
    extra: Extra,
}

#[derive(Clone, Copy, PartialEq)]
enum Extra {
    None,
    /// The axis 0 as a constant input.
    Axis,
    /// The attribute `DstT`.
    Cast(DType),
    /// The inputs as one list.
    List,
}

const fn op(name: &'static str, takes: &'static [Type], gives: Type) -> OpKind {
    OpKind { name, takes, gives, extra: Extra::None }
}

const fn with(name: &'static str, takes: &'static [Type], gives: Type, extra: Extra) -> OpKind {
    OpKind { name, takes, gives, extra }
}

const OPS: &[OpKind] = &[
    op("AddV2", &[I32, I32], I32),
    op("Sub", &[I32, I32], I32),
    op("Mul", &[I32, I32], I32),
    op("Maximum", &[I32, I32], I32),
    op("BitwiseXor", &[I32, I32], I32),
    op("Neg", &[I32], I32),
    op("Square", &[I32], I32),
    op("AddV2", &[F32, F32], F32),
    op("Sub", &[F32, F32], F32),
    op("Mul", &[F32, F32], F32),
    op("Minimum", &[F32, F32], F32),
    op("Tanh", &[F32], F32),
    op("Sigmoid", &[F32], F32),
    op("Exp", &[F32], F32),
    op("Less", &[I32, I32], BOOL),
    op("GreaterEqual", &[F32, F32], BOOL),
    op("Equal", &[I32, I32], BOOL),
    op("LogicalAnd", &[BOOL, BOOL], BOOL),
    op("LogicalOr", &[BOOL, BOOL], BOOL),
    op("LogicalNot", &[BOOL], BOOL),
    op("Identity", &[BOOL], BOOL),
    op("Identity", &[I32], I32),
    op("Identity", &[F32S], F32S),
    op("SelectV2", &[BOOL, I32, I32], I32),
    op("SelectV2", &[BOOL, F32, F32], F32),
    op("SelectV2", &[BOOL, F32S, F32], F32S),
    with("Cast", &[I32], F32, Extra::Cast(DType::F32)),
    with("Cast", &[BOOL], I32, Extra::Cast(DType::I32)),
    with("Cast", &[I32S], F32S, Extra::Cast(DType::F32)),
    op("AddV2", &[I32S, I32], I32S),
    op("Mul", &[I32S, I32S], I32S),
    op("AddV2", &[F32S, F32], F32S),
    op("Mul", &[F32S, F32S], F32S),
    op("Sub", &[F32, F32S], F32S),
    op("Tanh", &[F32S], F32S),
    with("Sum", &[F32S], F32, Extra::Axis),
    with("Max", &[I32S], I32, Extra::Axis),
    with("Pack", &[F32, F32, F32], F32S, Extra::List),
    with("Pack", &[I32, I32, I32], I32S, Extra::List),
    with("ReverseV2", &[F32S], F32S, Extra::Axis),
    op("FloorDiv", &[I32, I32], I32),
];

const TYPES: [Type; 5] = [I32, F32, BOOL, I32S, F32S];

/// A small random number generator (SplitMix64): the same numbers for the same seed everywhere.
#[derive(Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next random number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn value(&mut self) -> Ref {
        // Mostly the newest value.
        (self.below(4) * self.below(4)) as Ref
    }

    fn types(&mut self, most: usize) -> Vec<Type> {
        (0..1 + self.below(most)).map(|_| TYPES[self.below(TYPES.len())]).collect()
    }
}

impl Program {
    /// The program of a seed.
    pub fn new(seed: u64) -> Program {
        let mut rng = Rng::new(seed);
        let size = 4 + rng.below(14);
        let feeds = (rng.below(9) as i32 - 4, rng.below(17) as f32 / 4.0 - 2.0);
        let body = block(&mut rng, size, 0);
        Program { body, feeds, length: LENGTHS[rng.below(LENGTHS.len())] }
    }

    /// The same program without its accesses to variables.
    #[must_use]
    pub fn without_variables(&self) -> Program {
        Program { body: without_accesses(&self.body), ..self.clone() }
    }

    /// The number of statements, nested ones included.
    pub fn size(&self) -> usize {
        self.body.size()
    }
}

impl Block {
    fn size(&self) -> usize {
        self.stmts.iter().map(|s| 1 + s.blocks().iter().map(|b| b.size()).sum::<usize>()).sum()
    }
}

impl Stmt {
    fn blocks(&self) -> Vec<&Block> {
        match self {
            Stmt::After(_, block) => vec![block],
            Stmt::Cond { yes, no, .. } => vec![&yes.0, &no.0],
            Stmt::Switch { branches, .. } => branches.iter().map(|b| &b.0).collect(),
            Stmt::While(w) => w.also.iter().map(|a| &a.0).chain([&w.body]).collect(),
            _ => Vec::new(),
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Stmt::After(_, block) => vec![block],
            Stmt::Cond { yes, no, .. } => vec![&mut yes.0, &mut no.0],
            Stmt::Switch { branches, .. } => branches.iter_mut().map(|b| &mut b.0).collect(),
            Stmt::While(w) => w.also.iter_mut().map(|a| &mut a.0).chain([&mut w.body]).collect(),
            _ => Vec::new(),
        }
    }
}

fn block(rng: &mut Rng, size: usize, depth: usize) -> Block {
    Block { stmts: (0..size).map(|_| stmt(rng, depth)).collect() }
}

fn stmt(rng: &mut Rng, depth: usize) -> Stmt {
    let inner = |rng: &mut Rng| {
        let size = rng.below(5);
        block(rng, size, depth + 1)
    };
    let refs = |rng: &mut Rng, n: usize| -> Vec<Ref> { (0..n).map(|_| rng.value()).collect() };
    let deep = depth >= 3;
    match rng.below(100) {
        0..8 => Stmt::Int(rng.below(7) as i32 - 2),
        8..14 => Stmt::Float(rng.below(13) as f32 / 4.0 - 1.0),
        14..18 => Stmt::Floats([0; WIDTH].map(|_| rng.below(9) as f32 / 2.0 - 2.0)),
        18..24 => Stmt::Add(rng.value()),
        24..30 if !deep => Stmt::After(rng.value(), inner(rng)),
        30..44 if !deep => {
            let types = rng.types(3);
            let n = types.len();
            let yes = (inner(rng), refs(rng, n));
            let no = (inner(rng), refs(rng, n));
            Stmt::Cond { pred: rng.value(), types, yes, no }
        }
        44..48 if !deep => {
            let types = rng.types(2);
            let n = types.len();
            let branches = (0..1 + rng.below(3)).map(|_| (inner(rng), refs(rng, n))).collect();
            Stmt::Switch { index: rng.value(), types, branches }
        }
        48..64 if !deep => {
            let types = rng.types(4);
            let n = types.len();
            Stmt::While(Box::new(While {
                init: refs(rng, n),
                trips: rng.below(6) as u32,
                limit: rng.chance(30).then(|| rng.value()),
                also: rng.chance(20).then(|| (inner(rng), rng.value())),
                body: inner(rng),
                next: refs(rng, n),
                parallel: [1, 2, 3, 10, 32][rng.below(5)],
                maximum: rng.chance(20).then(|| rng.below(5) as u32),
                types,
            }))
        }
        _ => {
            // The last op may fail, so it is rare.
            let n = if rng.chance(3) { OPS.len() } else { OPS.len() - 1 };
            Stmt::Op(rng.below(n), [rng.value(), rng.value(), rng.value()])
        }
    }
}

/// The graph of a program.
pub struct Built {
    /// The graph.
    pub graph: Graph,
    /// The placeholders with their values.
    pub feeds: [(&'static str, Tensor); 2],
    /// The names of the outputs to fetch.
    pub fetches: Vec<String>,
    /// The names of the operations that initialise the variables.
    pub init: Vec<String>,
    /// The names of the outputs that read the variables after the run.
    pub reads: Vec<String>,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built").field("fetches", &self.fetches).finish_non_exhaustive()
    }
}

/// Builds the graph of a program.
pub fn build(program: &Program) -> Result<Built> {
    let graph = Graph::with_ops(millstream_ops::registry());
    let mut variables = Variables::default();
    let values = {
        let i = graph.placeholder_of("i", DType::I32, millstream_tensor::PartialShape::scalar());
        let x = graph.placeholder_of("x", DType::F32, millstream_tensor::PartialShape::scalar());
        let mut scope =
            Scope { graph: &graph, values: vec![(I32, i), (F32, x)], variable: None, length: program.length };
        scope.block(&program.body, &mut variables)?;
        scope.values
    };
    let names =
        |ports: &[Port]| -> Vec<String> { ports.iter().map(|p| Output::new(&graph, *p).name()).collect() };
    let fetches: Vec<Port> = values.iter().rev().take(12).map(|(_, v)| v.port()).collect();
    let (fetches, reads) = (names(&fetches), names(&variables.reads));
    graph.check()?;
    Ok(Built {
        fetches,
        init: variables.init,
        reads,
        feeds: [("i:0", Tensor::scalar(program.feeds.0)), ("x:0", Tensor::scalar(program.feeds.1))],
        graph,
    })
}

#[derive(Default)]
struct Variables {
    init: Vec<String>,
    reads: Vec<Port>,
}

/// The values in scope at a place of the program.
struct Scope<'g> {
    graph: &'g Graph,
    values: Vec<(Type, Output<'g>)>,
    /// The variable of the enclosing frame: the accesses within one frame are ordered.
    variable: Option<Output<'g>>,
    /// The length of vectors.
    length: usize,
}

impl<'g> Scope<'g> {
    /// The value of type `wanted` that a number selects.
    fn get(&self, wanted: Type, number: Ref) -> Output<'g> {
        let of_type: Vec<Output<'g>> =
            self.values.iter().rev().filter(|(t, _)| *t == wanted).map(|(_, v)| *v).collect();
        match of_type.is_empty() {
            false => of_type[number as usize % of_type.len()],
            true => self.start(wanted, number as i32),
        }
    }

    fn start(&self, wanted: Type, number: i32) -> Output<'g> {
        let n = if wanted.vector { self.length } else { 1 };
        let shape: Vec<usize> = if wanted.vector { vec![n] } else { Vec::new() };
        let tensor = match wanted.dtype {
            DType::Bool => Tensor::from_slice(shape, &vec![number % 2 == 0; n]),
            DType::F32 => Tensor::from_slice(shape, &vec![number as f32 + 0.5; n]),
            _ => Tensor::from_slice(shape, &vec![number; n]),
        };
        self.graph.constant_tensor("start", tensor.unwrap_or_else(|_| Tensor::scalar(0)))
    }

    fn refs(&self, types: &[Type], refs: &[Ref]) -> Vec<Output<'g>> {
        types.iter().zip(refs).map(|(t, r)| self.get(*t, *r)).collect()
    }

    fn block(&mut self, block: &Block, variables: &mut Variables) -> Result<()> {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt, variables))
    }

    /// The results of a block, which has a scope of its own.
    fn inner(
        &self,
        (block, results): &(Block, Vec<Ref>),
        types: &[Type],
        variables: &mut Variables,
    ) -> Result<Vec<Output<'g>>> {
        let mut scope = Scope { values: self.values.clone(), ..*self };
        scope.block(block, variables)?;
        // Some results are returned as they are and may be values from outside; others are made in the block.
        let own = |(i, v): (usize, Output<'g>)| match results.get(i).is_some_and(|r| r % 2 == 0) {
            true => self.graph.op("Identity").input(v).output(),
            false => v,
        };
        Ok(scope.refs(types, results).into_iter().enumerate().map(own).collect())
    }

    fn stmt(&mut self, stmt: &Stmt, variables: &mut Variables) -> Result<()> {
        let g = self.graph;
        match stmt {
            Stmt::Int(v) => self.values.push((I32, g.constant_tensor("int", Tensor::scalar(*v)))),
            Stmt::Float(v) => self.values.push((F32, g.constant_tensor("float", Tensor::scalar(*v)))),
            Stmt::Floats(v) => {
                let element = |i: usize| v[i % WIDTH] + (i / WIDTH) as f32 / 8.0;
                let value = Tensor::from_iter([self.length], (0..self.length).map(element))?;
                self.values.push((F32S, g.constant_tensor("floats", value)));
            }
            Stmt::Op(k, refs) => {
                let kind = &OPS[*k];
                let args = self.refs(kind.takes, refs);
                let mut node = g.op(kind.name);
                node = match kind.extra {
                    Extra::List => node.inputs(args).attr("axis", 0),
                    Extra::Axis => node.inputs(args).input(Tensor::vector(&[0i32])?),
                    Extra::Cast(to) => node.inputs(args).attr("DstT", to),
                    Extra::None => node.inputs(args),
                };
                let repeats = (kind.name == "Pack").then_some(self.length / WIDTH).filter(|n| 1 < *n);
                let value = match repeats {
                    Some(n) => g.op("Tile").input(node.output()).input(Tensor::vector(&[n as i32])?).output(),
                    None => node.output(),
                };
                self.values.push((kind.gives, value));
            }
            Stmt::After(value, block) => {
                let value = self.get(TYPES[*value as usize % TYPES.len()], *value);
                g.control_dependencies([value.op()], || self.block(block, variables))?;
            }
            Stmt::Cond { pred, types, yes, no } => {
                let pred = self.get(BOOL, *pred);
                let variables = std::cell::RefCell::new(variables);
                let results = g.cond(
                    pred,
                    || self.inner(yes, types, &mut variables.borrow_mut()),
                    || self.inner(no, types, &mut variables.borrow_mut()),
                )?;
                self.values.extend(types.iter().copied().zip(results));
            }
            Stmt::Switch { index, types, branches } => {
                let index = self.get(I32, *index);
                let variables = std::cell::RefCell::new(variables);
                let (this, variables) = (&*self, &variables);
                let branch = |b| {
                    Box::new(move || this.inner(b, types, &mut variables.borrow_mut()))
                        as Box<dyn FnOnce() -> Result<Vec<Output<'g>>> + '_>
                };
                let results = g.switch_case(index, branches.iter().map(branch).collect(), None)?;
                self.values.extend(types.iter().copied().zip(results));
            }
            Stmt::While(w) => self.while_loop(w, variables)?,
            Stmt::Add(value) => {
                let value = self.get(F32, *value);
                let variable = match self.variable {
                    Some(variable) => variable,
                    None => self.add_variable(variables),
                };
                let add = g.op("AssignAddVariableOp").input(variable).input(value).finish();
                let read = g.control_dependencies([add], || {
                    g.op("ReadVariableOp").input(variable).attr("dtype", DType::F32).output()
                });
                self.values.push((F32, read));
            }
        }
        g.check()
    }

    fn add_variable(&mut self, variables: &mut Variables) -> Output<'g> {
        let g = self.graph;
        let (variable, assign, read) = g.without_control(|| {
            let name = g.unique_name("variable");
            let handle = g
                .op("VarHandleOp")
                .attr("dtype", DType::F32)
                .attr("shape", millstream_tensor::PartialShape::scalar());
            let handle = handle.attr("shared_name", name.as_str()).output();
            let start = g.constant_tensor("start", Tensor::scalar(1.0f32));
            let assign = g.op("AssignVariableOp").input(handle).input(start).finish();
            let read = g.op("ReadVariableOp").input(handle).attr("dtype", DType::F32).output();
            (handle, assign, read)
        });
        variables.init.push(assign.name());
        variables.reads.push(read.port());
        self.variable = Some(variable);
        variable
    }

    fn while_loop(&mut self, w: &While, variables: &mut Variables) -> Result<()> {
        let g = self.graph;
        let counter = g.constant_tensor("counter", Tensor::scalar(0i32));
        let trips = g.constant_tensor("trips", Tensor::scalar(w.trips as i32));
        let limit = match w.limit {
            Some(limit) => g.op("Minimum").input(self.get(I32, limit)).input(trips).output(),
            None => trips,
        };
        let mut init = vec![counter];
        init.extend(self.refs(&w.types, &w.init));
        let types: Vec<Type> = [I32].into_iter().chain(w.types.iter().copied()).collect();
        let inside = |vars: &[Output<'g>]| {
            let mut values = self.values.clone();
            values.extend(types.iter().copied().zip(vars.iter().copied()));
            // The loop gets a variable of its own: accesses from different frames are not ordered.
            Scope { graph: g, values, variable: None, length: self.length }
        };
        let variables = std::cell::RefCell::new(variables);
        let mut the_loop = g.while_loop(init).parallel_iterations(w.parallel.into());
        if let Some(n) = w.maximum {
            the_loop = the_loop.maximum_iterations(n as i32);
        }
        let results = the_loop.run(
            |vars: Vec<Output<'g>>| -> Result<Output<'g>> {
                let more = g.op("Less").input(vars[0]).input(limit).output();
                match &w.also {
                    None => Ok(more),
                    Some((block, pred)) => {
                        let mut scope = inside(&vars);
                        // A condition has no accesses: they would not be ordered with those in the body.
                        scope.block(&without_accesses(block), &mut variables.borrow_mut())?;
                        let pred = scope.get(BOOL, *pred);
                        Ok(g.op("LogicalAnd").input(more).input(pred).output())
                    }
                }
            },
            |vars: Vec<Output<'g>>| -> Result<Vec<Output<'g>>> {
                let mut scope = inside(&vars);
                scope.block(&w.body, &mut variables.borrow_mut())?;
                let next = g.op("AddV2").input(vars[0]).input(1i32).output();
                let mut all = vec![next];
                all.extend(scope.refs(&w.types, &w.next));
                Ok(all)
            },
        )?;
        self.values.extend(types.into_iter().zip(results));
        Ok(())
    }
}

fn without_accesses(block: &Block) -> Block {
    let mut block = block.clone();
    block.stmts.retain(|s| !matches!(s, Stmt::Add(_)));
    for stmt in &mut block.stmts {
        for inner in stmt.blocks_mut() {
            *inner = without_accesses(inner);
        }
    }
    block
}

/// Reduces a failing program: removes statements as long as it still fails.
pub fn shrink(program: &Program, fails: impl Fn(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let mut smaller = None;
        for n in 0..best.size() {
            for how in [How::Remove, How::Unwrap, How::Simplify] {
                let mut candidate = best.clone();
                let mut n = n;
                if change(&mut candidate.body, &mut n, how) && fails(&candidate) {
                    smaller = Some(candidate);
                    break;
                }
            }
            if smaller.is_some() {
                break;
            }
        }
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    Remove,
    /// Replaces the statement by the statements inside it.
    Unwrap,
    /// Reduces results, trips and options.
    Simplify,
}

/// Changes statement `n`, counted from the outside in. Returns whether there was anything to change.
fn change(block: &mut Block, n: &mut usize, how: How) -> bool {
    for i in 0..block.stmts.len() {
        if *n == 0 {
            return match how {
                How::Remove => {
                    block.stmts.remove(i);
                    true
                }
                How::Unwrap => {
                    let inside: Vec<Stmt> =
                        block.stmts[i].blocks().iter().flat_map(|b| b.stmts.clone()).collect();
                    let any = !block.stmts[i].blocks().is_empty();
                    block.stmts.splice(i..=i, inside);
                    any
                }
                How::Simplify => simplify(&mut block.stmts[i]),
            };
        }
        *n -= 1;
        for inner in block.stmts[i].blocks_mut() {
            let size = inner.size();
            if *n < size {
                return change(inner, n, how);
            }
            *n -= size;
        }
    }
    false
}

fn simplify(stmt: &mut Stmt) -> bool {
    match stmt {
        Stmt::Cond { types, .. } if types.len() > 1 => types.pop().is_some(),
        Stmt::Switch { types, .. } if types.len() > 1 => types.pop().is_some(),
        Stmt::Switch { branches, .. } if branches.len() > 1 => branches.pop().is_some(),
        Stmt::While(w) if w.types.len() > 1 => w.types.pop().is_some(),
        Stmt::While(w) if w.maximum.is_some() => w.maximum.take().is_some(),
        Stmt::While(w) if w.also.is_some() => w.also.take().is_some(),
        Stmt::While(w) if w.limit.is_some() => w.limit.take().is_some(),
        Stmt::While(w) if w.trips > 0 => {
            w.trips -= 1;
            true
        }
        _ => false,
    }
}
