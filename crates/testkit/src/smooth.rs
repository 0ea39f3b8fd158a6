//! Random smooth programs, and their derivatives by other means: the same program computed with dual numbers.
//!
//! As in [`generate`](crate::generate), a program is data that stays well formed whatever is removed from it.
//! Values are f64 scalars and vectors of three. There are loops, counted and data-dependent, branches,
//! captured values, and lists that are pushed to and read from. [`Smooth::graph`] builds the graph with its
//! loops; [`Smooth::unrolled`] builds it with every loop and branch resolved in advance; [`Smooth::eval`]
//! evaluates it over any [`Num`].

use crate::generate::Rng;
use millstream_graph::flow::Checkpoint;
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, PartialShape, Result, Tensor};

/// The length of vectors.
pub const WIDTH: usize = 3;

/// A number with the functions that programs use.
pub trait Num: Copy {
    /// A constant.
    fn of(value: f64) -> Self;
    /// The number without its derivatives.
    fn value(self) -> f64;
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The product.
    fn mul(self, other: Self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The sine.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
}

impl Num for f64 {
    fn of(value: f64) -> f64 {
        value
    }
    fn value(self) -> f64 {
        self
    }
    fn add(self, other: f64) -> f64 {
        self + other
    }
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
    fn sin(self) -> f64 {
        f64::sin(self)
    }
    fn cos(self) -> f64 {
        f64::cos(self)
    }
}

/// A number and its derivative along a direction. A dual of duals holds second derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Dual<N>(pub N, pub N);

impl<N: Num> Num for Dual<N> {
    fn of(value: f64) -> Self {
        Dual(N::of(value), N::of(0.0))
    }
    fn value(self) -> f64 {
        self.0.value()
    }
    fn add(self, other: Self) -> Self {
        Dual(self.0.add(other.0), self.1.add(other.1))
    }
    fn mul(self, other: Self) -> Self {
        Dual(self.0.mul(other.0), self.1.mul(other.0).add(self.0.mul(other.1)))
    }
    fn tanh(self) -> Self {
        let t = self.0.tanh();
        Dual(t, N::of(1.0).add(N::of(-1.0).mul(t).mul(t)).mul(self.1))
    }
    fn sin(self) -> Self {
        Dual(self.0.sin(), self.0.cos().mul(self.1))
    }
    fn cos(self) -> Self {
        Dual(self.0.cos(), N::of(-1.0).mul(self.0.sin()).mul(self.1))
    }
}

/// A value: a scalar or a vector.
#[derive(Clone, Copy, Debug)]
pub enum Val<N> {
    /// A scalar.
    Scalar(N),
    /// A vector.
    Vector([N; WIDTH]),
}

impl<N: Num> Val<N> {
    fn is_vector(&self) -> bool {
        matches!(self, Val::Vector(_))
    }

    fn at(&self, i: usize) -> N {
        match self {
            Val::Scalar(x) => *x,
            Val::Vector(v) => v[i],
        }
    }

    fn map2(self, other: Self, f: impl Fn(N, N) -> N) -> Self {
        match (self, other) {
            (Val::Scalar(a), Val::Scalar(b)) => Val::Scalar(f(a, b)),
            _ => Val::Vector(std::array::from_fn(|i| f(self.at(i), other.at(i)))),
        }
    }

    fn map(self, f: impl Fn(N) -> N) -> Self {
        self.map2(self, |x, _| f(x))
    }

    fn sum(self) -> N {
        match self {
            Val::Scalar(x) => x,
            Val::Vector([a, b, c]) => a.add(b).add(c),
        }
    }
}

/// A value, counted back from the newest in scope.
type Ref = usize;

#[derive(Clone, Debug)]
enum Stmt {
    Constant(f64),
    Tanh(Ref),
    Sin(Ref),
    Sum(Ref),
    Add(Ref, Ref),
    Mul(Ref, Ref),
    /// One of two blocks with a scalar result, depending on whether the sum of a value is below a bound.
    Cond {
        of: Ref,
        bound: f64,
        yes: (Block, Ref),
        no: (Block, Ref),
    },
    While(Box<While>),
}

#[derive(Clone, Debug)]
struct While {
    init: Vec<Ref>,
    trips: usize,
    /// The loop continues only while the sum of the first variable is below this.
    stop: Option<f64>,
    /// A value whose elements are read from a list, one per iteration.
    read: Option<Ref>,
    /// A value of the body that is pushed to a list; the sum of the list is an additional result.
    push: Option<Ref>,
    body: Block,
    next: Vec<Ref>,
    parallel: i64,
    checkpoint: Option<Checkpoint>,
}

/// A sequence of statements.
#[derive(Clone, Debug, Default)]
pub struct Block {
    stmts: Vec<Stmt>,
}

/// A program of a scalar and a vector, whose result is a scalar.
#[derive(Clone, Debug)]
pub struct Smooth {
    body: Block,
}

/// The state of making a program: the random numbers, and the statements left to make.
struct Maker<'r> {
    rng: &'r mut Rng,
    budget: usize,
}

impl Smooth {
    /// The program of a seed.
    pub fn from_seed(seed: u64) -> Smooth {
        let mut rng = Rng::new(seed);
        let budget = 6 + rng.below(24);
        let body = Maker { rng: &mut rng, budget }.block(0);
        Smooth { body }
    }

    /// The result at `x` and `v`.
    pub fn eval<N: Num>(&self, x: N, v: [N; WIDTH]) -> N {
        let mut scope = vec![Val::Scalar(x), Val::Vector(v)];
        run(&self.body, &mut scope);
        total(&scope)
    }

    /// Builds the graph. Returns `x`, `v` and the result.
    pub fn graph<'g>(&self, g: &'g Graph) -> Result<[Output<'g>; 3]> {
        let (x, v) = inputs(g);
        let mut scope = vec![(x, false), (v, true)];
        build(g, &self.body, &mut scope)?;
        let result = build_total(g, &scope);
        g.check()?;
        Ok([x, v, result])
    }

    /// Builds the graph without loops and branches, along the path of the program at `x` and `v`.
    pub fn unrolled<'g>(&self, g: &'g Graph, x: f64, v: [f64; WIDTH]) -> Result<[Output<'g>; 3]> {
        let (px, pv) = inputs(g);
        let mut scope = vec![(px, Val::Scalar(x)), (pv, Val::Vector(v))];
        unroll(g, &self.body, &mut scope);
        let outputs: Vec<(Output<'g>, bool)> = scope.iter().map(|(o, v)| (*o, v.is_vector())).collect();
        let result = build_total(g, &outputs);
        g.check()?;
        Ok([px, pv, result])
    }

    /// The nesting depth of loops, the numbers of loops and branches, and the number of loops with
    /// checkpoints.
    pub fn size(&self) -> [usize; 4] {
        size(&self.body)
    }

    /// Programs with one statement removed or simplified.
    pub fn smaller(&self) -> Vec<Smooth> {
        smaller(&self.body).into_iter().map(|body| Smooth { body }).collect()
    }
}

impl Maker<'_> {
    fn any(&mut self) -> Ref {
        // Mostly the newest value.
        if self.rng.below(3) > 0 { self.rng.below(3) } else { self.rng.below(12) }
    }

    fn block(&mut self, depth: usize) -> Block {
        let n = 1 + self.rng.below(5);
        let stmts = (0..n).map_while(|_| self.stmt(depth)).collect();
        Block { stmts }
    }

    fn stmt(&mut self, depth: usize) -> Option<Stmt> {
        self.budget = self.budget.checked_sub(1)?;
        let kind = self.rng.below(if depth < 4 { 20 } else { 12 });
        let number = |rng: &mut Rng| rng.below(2001) as f64 / 1000.0 - 1.0;
        Some(match kind {
            0 => Stmt::Constant(number(self.rng)),
            1 | 2 => Stmt::Tanh(self.any()),
            3 | 4 => Stmt::Sin(self.any()),
            5 => Stmt::Sum(self.any()),
            6..=8 => Stmt::Add(self.any(), self.any()),
            9..=11 => Stmt::Mul(self.any(), self.any()),
            12..=14 => {
                let (of, bound) = (self.any(), number(self.rng));
                let yes = (self.block(depth + 1), self.any());
                let no = (self.block(depth + 1), self.any());
                Stmt::Cond { of, bound, yes, no }
            }
            _ => {
                let n = 1 + self.rng.below(3);
                let init = (0..n).map(|_| self.any()).collect();
                let body = self.block(depth + 1);
                let next = (0..n).map(|_| self.any()).collect();
                Stmt::While(Box::new(While {
                    init,
                    trips: self.rng.below(5),
                    stop: (self.rng.below(3) == 0).then(|| 1.0 + number(self.rng)),
                    read: (self.rng.below(3) == 0).then(|| self.any()),
                    push: (self.rng.below(3) == 0).then(|| self.any()),
                    body,
                    next,
                    parallel: [1, 2, 10, 32][self.rng.below(4)],
                    checkpoint: match self.rng.below(8) {
                        0 => Some(Checkpoint::Every(1 + self.rng.below(3) as i64)),
                        1 => Some(Checkpoint::Auto { nested: self.rng.below(2) == 0 }),
                        _ => None,
                    },
                }))
            }
        })
    }
}

fn back<T>(scope: &[T], r: Ref) -> &T {
    &scope[scope.len() - 1 - r % scope.len()]
}

/// The index of a value of a kind, counted back among those of the kind. There always is one: the variable
/// itself.
fn back_of(kinds: &[bool], vector: bool, r: Ref) -> usize {
    let fit: Vec<usize> = (0..kinds.len()).filter(|&i| kinds[i] == vector).collect();
    fit[fit.len() - 1 - r % fit.len()]
}

fn total<N: Num>(scope: &[Val<N>]) -> N {
    scope.iter().fold(N::of(0.0), |sum, v| sum.add(v.sum().sin()))
}

fn run<N: Num>(block: &Block, scope: &mut Vec<Val<N>>) {
    for stmt in &block.stmts {
        match stmt {
            Stmt::Constant(c) => scope.push(Val::Scalar(N::of(*c))),
            Stmt::Tanh(r) => scope.push(back(scope, *r).map(N::tanh)),
            Stmt::Sin(r) => scope.push(back(scope, *r).map(N::sin)),
            Stmt::Sum(r) => scope.push(Val::Scalar(back(scope, *r).sum())),
            Stmt::Add(a, b) => scope.push(back(scope, *a).map2(*back(scope, *b), N::add)),
            Stmt::Mul(a, b) => scope.push(back(scope, *a).map2(*back(scope, *b), N::mul)),
            Stmt::Cond { of, bound, yes, no } => {
                let (block, r) = if back(scope, *of).sum().value() < *bound { yes } else { no };
                let mut inner = scope.clone();
                run(block, &mut inner);
                scope.push(Val::Scalar(back(&inner, *r).sum()));
            }
            Stmt::While(w) => {
                let mut vars: Vec<Val<N>> = w.init.iter().map(|r| *back(scope, *r)).collect();
                let read = w.read.map(|r| *back(scope, r));
                let mut pushed = N::of(0.0);
                let mut i = 0;
                while i < w.trips && w.stop.is_none_or(|stop| vars[0].sum().value() < stop) {
                    let mut inner = scope.clone();
                    inner.extend(vars.iter().copied());
                    inner.extend(read.map(|v| Val::Scalar(v.at(i % WIDTH))));
                    run(&w.body, &mut inner);
                    let kinds: Vec<bool> = inner.iter().map(Val::is_vector).collect();
                    for (var, r) in vars.iter_mut().zip(&w.next) {
                        *var = inner[back_of(&kinds, var.is_vector(), *r)];
                    }
                    if let Some(r) = w.push {
                        pushed = pushed.add(back(&inner, r).sum());
                    }
                    i += 1;
                }
                scope.extend(vars);
                scope.extend(w.push.map(|_| Val::Scalar(pushed)));
            }
        }
    }
}

fn inputs(g: &Graph) -> (Output<'_>, Output<'_>) {
    let x = g.placeholder_of("x", DType::F64, PartialShape::scalar());
    (x, g.placeholder_of("v", DType::F64, PartialShape::from([WIDTH])))
}

fn sum<'g>(g: &'g Graph, (o, vector): (Output<'g>, bool)) -> Output<'g> {
    if vector { g.op("Sum").input(o).input([0]).output() } else { o }
}

fn build_total<'g>(g: &'g Graph, scope: &[(Output<'g>, bool)]) -> Output<'g> {
    let zero = g.constant(0.0f64);
    scope.iter().fold(zero, |total, v| total + g.op("Sin").input(sum(g, *v)).output())
}

type Scope<'g> = Vec<(Output<'g>, bool)>;

fn build<'g>(g: &'g Graph, block: &Block, scope: &mut Scope<'g>) -> Result<()> {
    for stmt in &block.stmts {
        match stmt {
            Stmt::Cond { of, bound, yes, no } => {
                let pred = g.op("Less").input(sum(g, *back(scope, *of))).input(*bound).output();
                let branch = |(block, r): &(Block, Ref)| -> Result<Output<'g>> {
                    let mut inner = scope.clone();
                    build(g, block, &mut inner)?;
                    Ok(sum(g, *back(&inner, *r)))
                };
                let merged = g.cond(pred, || branch(yes), || branch(no))?;
                scope.push((merged, false));
            }
            Stmt::While(w) => build_loop(g, w, scope)?,
            _ => {
                let made = simple(g, stmt, |r| *back(scope, r));
                scope.extend(made);
            }
        }
    }
    Ok(())
}

/// A statement that is neither a loop nor a branch; `None` for those.
fn simple<'g>(
    g: &'g Graph,
    stmt: &Stmt,
    at: impl Fn(Ref) -> (Output<'g>, bool),
) -> Option<(Output<'g>, bool)> {
    let one = |op, r| (g.op(op).input(at(r).0).output(), at(r).1);
    Some(match stmt {
        Stmt::Constant(c) => (g.constant(*c), false),
        Stmt::Tanh(r) => one("Tanh", *r),
        Stmt::Sin(r) => one("Sin", *r),
        Stmt::Sum(r) => (sum(g, at(*r)), false),
        Stmt::Add(a, b) => (at(*a).0 + at(*b).0, at(*a).1 || at(*b).1),
        Stmt::Mul(a, b) => (at(*a).0 * at(*b).0, at(*a).1 || at(*b).1),
        Stmt::Cond { .. } | Stmt::While(_) => return None,
    })
}

fn build_loop<'g>(g: &'g Graph, w: &While, scope: &mut Scope<'g>) -> Result<()> {
    let vars: Scope<'g> = w.init.iter().map(|r| *back(scope, *r)).collect();
    let kinds: Vec<bool> = vars.iter().map(|v| v.1).collect();
    let list = w.read.map(|r| {
        let (value, vector) = *back(scope, r);
        let whole =
            if vector { value } else { g.op("BroadcastTo").input(value).input([WIDTH as i32]).output() };
        g.op("TensorListFromTensor")
            .input(whole)
            .input(Tensor::vector::<i32>(&[]).unwrap_or_else(|_| Tensor::scalar(-1)))
            .output()
    });
    let scalar_shape =
        || g.constant_tensor("shape", Tensor::vector::<i32>(&[]).unwrap_or_else(|_| Tensor::scalar(-1)));
    let mut init = vec![g.constant(0)];
    init.extend(vars.iter().map(|v| v.0));
    if w.push.is_some() {
        init.push(
            g.op("EmptyTensorList")
                .input(scalar_shape())
                .input(-1)
                .attr("element_dtype", DType::F64)
                .output(),
        );
    }
    let n = kinds.len();
    let results = g.while_loop(init).parallel_iterations(w.parallel).checkpoint(w.checkpoint).run(
        |now| {
            let counted = g.op("Less").input(now[0]).input(w.trips as i32).output();
            match w.stop {
                None => counted,
                Some(stop) => {
                    let low = g.op("Less").input(sum(g, (now[1], kinds[0]))).input(stop).output();
                    g.op("LogicalAnd").inputs([counted, low]).output()
                }
            }
        },
        |now| -> Result<Vec<Output<'g>>> {
            let mut inner = scope.clone();
            inner.extend(now[1..=n].iter().copied().zip(kinds.iter().copied()));
            if let Some(list) = list {
                let index = now[0] % WIDTH as i32;
                let item = g.op("TensorListGetItem").inputs([list, index, scalar_shape()]);
                inner.push((
                    item.attr("element_dtype", DType::F64).output().set_shape(PartialShape::scalar()),
                    false,
                ));
            }
            build(g, &w.body, &mut inner)?;
            let inner_kinds: Vec<bool> = inner.iter().map(|v| v.1).collect();
            let mut next = vec![now[0] + 1];
            for (kind, r) in kinds.iter().zip(&w.next) {
                next.push(inner[back_of(&inner_kinds, *kind, *r)].0);
            }
            if let Some(r) = w.push {
                next.push(g.op("TensorListPushBack").inputs([now[n + 1], sum(g, *back(&inner, r))]).output());
            }
            Ok(next)
        },
    )?;
    scope.extend(results[1..=n].iter().copied().zip(kinds));
    if w.push.is_some() {
        let stack = g
            .op("TensorListStack")
            .inputs([results[n + 1], scalar_shape()])
            .attr("element_dtype", DType::F64);
        scope.push((g.op("Sum").input(stack.output()).input([0]).output(), false));
    }
    Ok(())
}

fn unroll<'g>(g: &'g Graph, block: &Block, scope: &mut Vec<(Output<'g>, Val<f64>)>) {
    for stmt in &block.stmts {
        let kind = |v: &(Output<'g>, Val<f64>)| (v.0, v.1.is_vector());
        match stmt {
            Stmt::Cond { of, bound, yes, no } => {
                let (block, r) = if back(scope, *of).1.sum() < *bound { yes } else { no };
                let mut inner = scope.clone();
                unroll(g, block, &mut inner);
                let chosen = back(&inner, *r);
                scope.push((sum(g, kind(chosen)), Val::Scalar(chosen.1.sum())));
            }
            Stmt::While(w) => {
                let mut vars: Vec<(Output<'g>, Val<f64>)> = w.init.iter().map(|r| *back(scope, *r)).collect();
                let read = w.read.map(|r| *back(scope, r));
                let mut pushed = (g.constant(0.0f64), 0.0);
                let mut i = 0;
                while i < w.trips && w.stop.is_none_or(|stop| vars[0].1.sum() < stop) {
                    let mut inner = scope.clone();
                    inner.extend(vars.iter().copied());
                    if let Some((o, v)) = read {
                        let at = i % WIDTH;
                        let item = match v.is_vector() {
                            false => o,
                            true => g.op("GatherV2").input(o).input(at as i32).input(0).output(),
                        };
                        inner.push((item, Val::Scalar(v.at(at))));
                    }
                    unroll(g, &w.body, &mut inner);
                    let kinds: Vec<bool> = inner.iter().map(|v| v.1.is_vector()).collect();
                    for (var, r) in vars.iter_mut().zip(&w.next) {
                        *var = inner[back_of(&kinds, var.1.is_vector(), *r)];
                    }
                    if let Some(r) = w.push {
                        let value = back(&inner, r);
                        pushed = (pushed.0 + sum(g, kind(value)), pushed.1 + value.1.sum());
                    }
                    i += 1;
                }
                scope.extend(vars);
                scope.extend(w.push.map(|_| (pushed.0, Val::Scalar(pushed.1))));
            }
            _ => {
                let made = simple(g, stmt, |r| kind(back(scope, r)));
                let mut values: Vec<Val<f64>> = scope.iter().map(|v| v.1).collect();
                run(&Block { stmts: vec![stmt.clone()] }, &mut values);
                scope.extend(made.map(|(o, _)| o).zip(values.last().copied()));
            }
        }
    }
}

fn size(block: &Block) -> [usize; 4] {
    let mut all = [0; 4];
    for stmt in &block.stmts {
        let inner: Vec<[usize; 4]> = match stmt {
            Stmt::Cond { yes, no, .. } => {
                all[2] += 1;
                vec![size(&yes.0), size(&no.0)]
            }
            Stmt::While(w) => {
                all[1] += 1;
                all[3] += usize::from(w.checkpoint.is_some());
                let [depth, rest @ ..] = size(&w.body);
                vec![[depth + 1, rest[0], rest[1], rest[2]]]
            }
            _ => Vec::new(),
        };
        for [depth, loops, branches, checkpoints] in inner {
            all = [all[0].max(depth), all[1] + loops, all[2] + branches, all[3] + checkpoints];
        }
    }
    all
}

fn smaller(block: &Block) -> Vec<Block> {
    let mut all = Vec::new();
    for (i, stmt) in block.stmts.iter().enumerate() {
        let mut without = block.clone();
        without.stmts.remove(i);
        all.push(without);
        let mut put = |stmt: Stmt| {
            let mut changed = block.clone();
            changed.stmts[i] = stmt;
            all.push(changed);
        };
        match stmt {
            Stmt::Cond { of, bound, yes, no } => {
                for yes_less in smaller(&yes.0) {
                    put(Stmt::Cond { of: *of, bound: *bound, yes: (yes_less, yes.1), no: no.clone() });
                }
                for no_less in smaller(&no.0) {
                    put(Stmt::Cond { of: *of, bound: *bound, yes: yes.clone(), no: (no_less, no.1) });
                }
            }
            Stmt::While(w) => {
                for body in smaller(&w.body) {
                    put(Stmt::While(Box::new(While { body, ..(**w).clone() })));
                }
                let less = [
                    While { stop: None, ..(**w).clone() },
                    While { read: None, ..(**w).clone() },
                    While { push: None, ..(**w).clone() },
                    While { checkpoint: None, ..(**w).clone() },
                    While { trips: w.trips.saturating_sub(1), ..(**w).clone() },
                ];
                let is_less = |l: &While| {
                    (l.stop.is_none() && w.stop.is_some())
                        || (l.read.is_none() && w.read.is_some())
                        || (l.push.is_none() && w.push.is_some())
                        || (l.checkpoint.is_none() && w.checkpoint.is_some())
                        || l.trips < w.trips
                };
                less.into_iter().filter(is_less).for_each(|l| put(Stmt::While(Box::new(l))));
                if w.init.len() > 1 {
                    let (mut init, mut next) = (w.init.clone(), w.next.clone());
                    init.pop();
                    next.pop();
                    put(Stmt::While(Box::new(While { init, next, ..(**w).clone() })));
                }
            }
            _ => {}
        }
    }
    all
}
