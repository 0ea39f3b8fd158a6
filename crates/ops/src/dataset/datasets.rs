//! [`Dataset`]: the description of a sequence of elements, and [`Elements`], one pass over it. Helpers of the
//! ops that make datasets.
//!
//! A dataset never changes. In the graph it is a variant ([`Data`]). An op that transforms a dataset keeps
//! the dataset that it reads, and a pass over the one begins a pass over the other, so an element is made
//! when it is asked for, on the thread that asks. A pass that is interrupted keeps what it has taken: the
//! next run goes on where this one stopped.

use millstream_graph::Attrs;
use millstream_graph::op::spec::{Func, ShapeList, Spec as _, TypeList, TypesFrom1};
use millstream_graph::op::{CallFunction, Gradient, InferCx, Kernel, KernelCx, OpDef, RunFn, StepEnv};
use millstream_state::dtype_names;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::{look, uninterrupted};
use millstream_tensor::{
    Code, DType, Error, Opaque, PartialShape, Result, Tensor, Variant, budget, ensure, invalid,
};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// What an allocation takes beyond its content, in bytes.
const BLOCK: usize = 32;

/// The number of elements of a dataset without end.
pub(super) const ENDLESS: i64 = -1;

/// The number of elements of a dataset whose number is not known before a pass.
pub(super) const UNKNOWN: i64 = -2;

/// The number of elements that `count` makes of the input's, unless the input is endless or of unknown size.
pub(super) fn counted(input: i64, count: impl FnOnce(i64) -> i64) -> i64 {
    if input < 0 { input } else { count(input) }
}

/// The components of an element.
pub(crate) type Element = SmallVec<[Tensor; 2]>;

/// An element that a pass holds for later, such as for a batch. Whatever holds many of them is [`Charged`],
/// and components that do not fit in place are charged here.
pub(super) struct Kept {
    element: Element,
    _room: budget::Room,
}

impl Kept {
    pub fn of(element: Element) -> Result<Kept> {
        let beside = if element.spilled() { element.capacity() * size_of::<Tensor>() + BLOCK } else { 0 };
        Ok(Kept { _room: budget::Room::of(beside)?, element })
    }

    pub fn into_element(self) -> Element {
        self.element
    }
}

impl std::ops::Deref for Kept {
    type Target = Element;
    fn deref(&self) -> &Element {
        &self.element
    }
}

/// Adds an element to those that a pass holds. A run that is over by now does not end here: its element would
/// be lost.
pub(super) fn keep(held: &mut Charged<Kept>, element: Element) -> Result<()> {
    let _whole = uninterrupted();
    held.push(Kept::of(element)?)
}

/// A sequence of elements.
pub(crate) trait Dataset: Send + Sync {
    /// The types of the elements.
    fn spec(&self) -> &Spec;
    /// How many datasets read each other, this one included. Asked once: see [`Data::depth`].
    fn depth(&self) -> u32 {
        1
    }
    /// Begins a pass.
    fn begin(&self, env: &StepEnv) -> Result<Source>;
    /// The dataset that TensorFlow's optimizer makes of this one, if that changes the order of elements.
    fn optimized(&self, _seen: &mut Optimized) -> Result<Option<Data>> {
        Ok(None)
    }
    /// The bytes of what only this dataset points to, apart from its types and the parts that
    /// [`Data::new`] is told of.
    fn beside(&self) -> usize {
        0
    }
    /// How this dataset shuffles, if it does.
    fn shuffles(&self) -> Option<Shuffles> {
        None
    }
    /// The number of elements, [`ENDLESS`] or [`UNKNOWN`]. Asked once: see [`Data::cardinality`].
    fn cardinality(&self) -> i64 {
        UNKNOWN
    }
}

/// What a shuffled dataset shuffles, for a repetition that becomes one with it.
pub(crate) struct Shuffles {
    pub input: Data,
    pub buffer_size: usize,
    pub seeds: (i64, i64),
}

/// A pass over a dataset.
pub(crate) trait Elements: Send {
    /// The next element, or `None` at the end. After the end it is not asked again.
    fn next(&mut self, env: &StepEnv) -> Result<Option<Element>>;
}

impl<F: FnMut(&StepEnv) -> Result<Option<Element>> + Send> Elements for F {
    fn next(&mut self, env: &StepEnv) -> Result<Option<Element>> {
        self(env)
    }
}

/// A pass, as the datasets that read from it hold it. [`Data::begin`] charges what it takes itself.
pub(crate) struct Source(Box<dyn Elements>, budget::Room);

/// A pass whose elements this function makes.
pub(crate) fn source<F>(next: F) -> Source
where
    F: FnMut(&StepEnv) -> Result<Option<Element>> + Send + 'static,
{
    Source(Box::new(next), budget::Room::default())
}

impl Source {
    /// The next element. An error if the run is cancelled or out of time.
    pub(crate) fn next(&mut self, env: &StepEnv) -> Result<Option<Element>> {
        let _deeper = Deeper::by(1)?;
        env.cancel.check()?;
        check_deadline()?;
        self.0.next(env)
    }
}

/// Whether an error ended the run, but not the pass: nothing that the pass holds is lost. The caller of a run
/// can end it with an error of any code, such as that of Ctrl-C in Python.
pub(crate) fn is_interrupt(error: &Error) -> bool {
    matches!(error.code(), Code::Cancelled | Code::DeadlineExceeded) || look().is_err()
}

/// The types of the components of elements.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub dtypes: Vec<DType>,
    pub shapes: Vec<PartialShape>,
}

impl Spec {
    /// The types in the attributes `output_types` and `output_shapes`.
    pub(crate) fn of(attrs: &Attrs) -> Result<Spec> {
        Spec::named(attrs, "output_types")
    }

    /// The types in the attributes `types` and `output_shapes`.
    pub(crate) fn named(attrs: &Attrs, types: &str) -> Result<Spec> {
        let shapes: Vec<PartialShape> = attrs.shapes("output_shapes")?.into_iter().cloned().collect();
        let dtypes = attrs.dtypes(types)?;
        ensure!(
            dtypes.len() == shapes.len(),
            "`{types}` has {} entries but `output_shapes` {}",
            dtypes.len(),
            shapes.len()
        );
        Ok(Spec { dtypes, shapes })
    }

    /// The bytes that the types take besides this struct.
    fn bytes(&self) -> usize {
        let of_shape = |shape: &PartialShape| size_of::<PartialShape>() + shape.rank().unwrap_or(0) * 16;
        self.dtypes.len() * size_of::<DType>() + self.shapes.iter().map(of_shape).sum::<usize>() + 2 * BLOCK
    }

    /// Elements of one scalar.
    pub(crate) fn scalar(dtype: DType) -> Spec {
        Spec { dtypes: vec![dtype], shapes: vec![PartialShape::unknown_of_rank(0)] }
    }

    /// An error unless elements of `given` can be elements of this type.
    pub(crate) fn check(&self, given: &Spec) -> Result<()> {
        ensure!(
            self.dtypes.len() == given.dtypes.len(),
            "Number of components does not match: expected {} types but got {}.",
            self.dtypes.len(),
            given.dtypes.len()
        );
        for (i, (wanted, is)) in self.dtypes.iter().zip(&given.dtypes).enumerate() {
            ensure!(
                wanted == is,
                "Data type mismatch at component {i}: expected {} but got {}.",
                wanted.kernel_name(),
                is.kernel_name()
            );
        }
        for (i, (wanted, is)) in self.shapes.iter().zip(&given.shapes).enumerate() {
            ensure!(
                wanted.merge(is).is_some(),
                "Incompatible shapes at component {i}: expected {wanted} but got {is}."
            );
        }
        Ok(())
    }

    /// An error unless the element is of this type.
    pub(crate) fn check_element(&self, element: &[Tensor]) -> Result<()> {
        let given = Spec {
            dtypes: element.iter().map(Tensor::dtype).collect(),
            shapes: element.iter().map(|value| value.shape().into()).collect(),
        };
        self.check(&given)
    }
}

/// What the optimizer made of each dataset so far, by address. A dataset that reads another twice, which
/// reads a third twice, .. is small, and would become a tree of any size if each reader had its own copy.
/// The datasets are kept, so that no other takes their address.
#[derive(Default)]
pub(crate) struct Optimized(HashMap<*const (), (Data, Option<Data>)>);

/// A dataset and the charge for its memory. A loop can make millions of datasets that hold each other.
struct Weighed<D: ?Sized> {
    _room: budget::Room,
    dataset: D,
}

/// A dataset, as a value of the graph.
#[derive(Clone)]
pub(crate) struct Data {
    dataset: Arc<Weighed<dyn Dataset>>,
    /// Kept, because a dataset that reads another twice, which reads a third twice, .. is small and has
    /// exponentially many readers.
    depth: u32,
    /// Kept for the same reason.
    cardinality: i64,
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dataset of {}", dtype_names(self.spec().dtypes.iter().copied()))
    }
}

impl std::ops::Deref for Data {
    type Target = dyn Dataset;
    fn deref(&self) -> &(dyn Dataset + 'static) {
        &self.dataset.dataset
    }
}

impl Opaque for Data {
    fn kind(&self) -> &'static str {
        "dataset"
    }
}

impl Data {
    /// The most datasets that read each other.
    const DEEPEST: u32 = 500;

    /// A dataset that holds `n_parts` tensors and datasets in lists of its own.
    pub(crate) fn new<D: Dataset + 'static>(dataset: D, n_parts: usize) -> Result<Data> {
        let depth = dataset.depth();
        if depth > Data::DEEPEST {
            let text = format!("{depth} datasets read each other; at most {} may", Data::DEEPEST);
            return Err(Error::new(Code::ResourceExhausted, text));
        }
        let cardinality = dataset.cardinality();
        let parts = n_parts.saturating_mul(size_of::<Data>().max(size_of::<Tensor>()));
        let bytes = size_of::<Weighed<D>>() + BLOCK + dataset.spec().bytes() + dataset.beside();
        let room = budget::Room::of(bytes.saturating_add(parts))?;
        Ok(Data { dataset: Arc::new(Weighed { _room: room, dataset }), depth, cardinality })
    }

    /// See [`Dataset::depth`].
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// See [`Dataset::cardinality`].
    pub(crate) fn cardinality(&self) -> i64 {
        self.cardinality
    }

    /// See [`Dataset::optimized`].
    pub(crate) fn optimized(&self, seen: &mut Optimized) -> Result<Option<Data>> {
        look()?;
        let at = Arc::as_ptr(&self.dataset).cast::<()>();
        if let Some((_, known)) = seen.0.get(&at) {
            return Ok(known.clone());
        }
        let made = (**self).optimized(seen)?;
        seen.0.insert(at, (self.clone(), made.clone()));
        Ok(made)
    }

    /// These datasets, each optimized if that changes it; `None` if none is changed.
    pub(super) fn all_optimized(inputs: &[Data], seen: &mut Optimized) -> Result<Option<Vec<Data>>> {
        let made = inputs.iter().map(|input| input.optimized(seen)).collect::<Result<Vec<_>>>()?;
        if made.iter().all(Option::is_none) {
            return Ok(None);
        }
        Ok(Some(inputs.iter().zip(made).map(|(old, new)| new.unwrap_or(old.clone())).collect()))
    }

    /// The dataset in a tensor.
    pub(crate) fn in_tensor(value: &Tensor, name: &str) -> Result<Data> {
        let Some([variant]) = value.as_variants() else {
            return Err(invalid!(
                "`{name}` must be a scalar variant but is {}{}",
                value.dtype(),
                value.shape()
            ));
        };
        let data = variant.get::<Data>();
        data.cloned().ok_or_else(|| invalid!("`{name}` is a {}, not a dataset", variant.kind()))
    }

    /// The dataset in input `i` of a node.
    pub(crate) fn input(cx: &KernelCx, i: usize) -> Result<Data> {
        Data::in_tensor(cx.input(i), cx.name_of(i))
    }

    /// The dataset as a tensor.
    pub(crate) fn tensor(self) -> Result<Tensor> {
        Variant::new(self).map(Tensor::variant)
    }

    /// Begins a pass.
    pub(crate) fn begin(&self, env: &StepEnv) -> Result<Source> {
        let _deeper = Deeper::by(1)?;
        env.cancel.check()?;
        check_deadline()?;
        let mut pass = self.dataset.dataset.begin(env)?;
        pass.1.add(size_of_val(&*pass.0) + BLOCK)?;
        Ok(pass)
    }
}

/// A dataset that transforms another: [`How`] says how.
pub(crate) struct Over<T> {
    pub input: Data,
    pub spec: Spec,
    pub how: Arc<T>,
}

/// A transformation of a dataset.
pub(crate) trait How: Send + Sync + Sized + 'static {
    /// Begins a pass.
    fn begin(over: &Over<Self>, env: &StepEnv) -> Result<Source>;
    /// See [`Dataset::optimized`].
    fn optimized(_over: &Over<Self>, _seen: &mut Optimized) -> Result<Option<Data>> {
        Ok(None)
    }
    /// See [`Dataset::shuffles`].
    fn shuffles(_over: &Over<Self>) -> Option<Shuffles> {
        None
    }
    /// See [`Dataset::cardinality`].
    fn cardinality(_over: &Over<Self>) -> i64 {
        UNKNOWN
    }
}

impl<T: How> Dataset for Over<T> {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn depth(&self) -> u32 {
        1 + self.input.depth()
    }
    fn begin(&self, env: &StepEnv) -> Result<Source> {
        T::begin(self, env)
    }
    fn optimized(&self, seen: &mut Optimized) -> Result<Option<Data>> {
        if let Some(own) = T::optimized(self, seen)? {
            return Ok(Some(own));
        }
        let Some(input) = self.input.optimized(seen)? else { return Ok(None) };
        Data::new(Over { input, spec: self.spec.clone(), how: self.how.clone() }, 0).map(Some)
    }
    fn beside(&self) -> usize {
        size_of::<T>() + BLOCK
    }
    fn shuffles(&self) -> Option<Shuffles> {
        T::shuffles(self)
    }
    fn cardinality(&self) -> i64 {
        T::cardinality(self)
    }
}

/// Sets the node's output to a transformation of the dataset in input 0.
pub(super) fn over(cx: &mut KernelCx, how: impl How) -> Result<()> {
    let (input, spec) = (Data::input(cx, 0)?, Spec::of(cx.attrs())?);
    give(cx, Over { input, spec, how: Arc::new(how) })
}

/// Sets the node's output to a dataset. It holds no more tensors and datasets than the node has inputs.
pub(super) fn give(cx: &mut KernelCx, dataset: impl Dataset + 'static) -> Result<()> {
    let data = Data::new(dataset, cx.n_inputs())?;
    cx.set(0, data.tensor()?);
    Ok(())
}

/// Declares an op that makes a dataset, without its inputs.
pub(super) fn makes(def: OpDef, run: RunFn) -> OpDef {
    // Each run makes its own dataset: random numbers and caches start from the beginning.
    def.output("handle", DType::Variant)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::stateful(run))
        .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
}

/// Declares an op that transforms a dataset; `with` declares the other inputs and attributes.
pub(super) fn transforms(name: &'static str, run: RunFn, with: impl Fn(OpDef) -> OpDef) -> OpDef {
    let def = with(OpDef::new(name).input("input_dataset", DType::Variant));
    makes(typed(def), run).infer(infer)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    cx.scalars()
}

/// Declares the types of elements.
pub(super) fn typed(def: OpDef) -> OpDef {
    def.attr("output_types", TypesFrom1).attr("output_shapes", ShapeList)
}

/// Declares a function, the tensors that it captured, and their types.
pub(super) fn calls(def: OpDef, f: &'static str, arguments: &'static str, types: &'static str) -> OpDef {
    def.input_list(arguments, types)
        .attr(f, Func)
        .attr(types, TypeList.or(millstream_graph::Attr::List(Vec::new())))
}

/// A function with the tensors that it captured.
#[derive(Clone)]
pub(crate) struct Called {
    function: Arc<dyn CallFunction>,
    captured: Arc<[Tensor]>,
}

impl Called {
    /// The function in the attribute `f`, with the captured tensors in the argument `arguments`.
    pub(super) fn of(cx: &KernelCx, f: &str, arguments: &str) -> Result<Called> {
        let range = cx.node.input_range(arguments)?;
        let captured: Vec<Tensor> =
            cx.inputs()[range].iter().map(|t| t.clone().kept()).collect::<Result<_>>()?;
        let function = cx.env.library.prepare(cx.attrs().func(f)?)?;
        Ok(Called { function, captured: captured.into() })
    }

    /// The results of a call.
    pub(crate) fn call(&self, arguments: &[Tensor], env: &StepEnv) -> Result<Element> {
        let _deeper = Deeper::by(Deeper::CALL)?;
        let inputs = arguments.iter().chain(&*self.captured).cloned().collect();
        Ok(self.function.call(inputs, env)?.into())
    }

    /// The results of a call, which must be of these types.
    pub(super) fn call_for(&self, arguments: &[Tensor], spec: &Spec, env: &StepEnv) -> Result<Element> {
        let results = self.call(arguments, env)?;
        spec.check_element(&results)?;
        Ok(results)
    }

    /// The one result of a call, a bool.
    pub(super) fn call_bool(&self, arguments: &[Tensor], env: &StepEnv) -> Result<bool> {
        let results = self.call(arguments, env)?;
        let one = results.first().filter(|_| results.len() == 1).and_then(|t| t.to_scalar::<bool>().ok());
        one.ok_or_else(|| invalid!("Filter predicate `f` must return a scalar bool."))
    }

    /// The one result of a call, an int64.
    pub(super) fn call_int(&self, arguments: &[Tensor], env: &StepEnv, what: &str) -> Result<i64> {
        let results = self.call(arguments, env)?;
        let one = results.first().filter(|_| results.len() == 1).and_then(|t| t.to_scalar::<i64>().ok());
        one.ok_or_else(|| invalid!("`{what}` must return a scalar int64."))
    }

    /// The one result of a call, a dataset.
    pub(super) fn call_dataset(&self, arguments: &[Tensor], env: &StepEnv) -> Result<Data> {
        let results = self.call(arguments, env)?;
        let one = results.first().filter(|_| results.len() == 1);
        let one = one.ok_or_else(|| invalid!("Function must return a single scalar of dtype DT_VARIANT."))?;
        Data::in_tensor(one, "the function's result")
    }
}

/// A pass over elements that a function is called with: an element stays until its call has ended.
pub(super) struct Calls {
    input: Source,
    held: Option<Element>,
}

impl Calls {
    pub(super) fn over(input: Source) -> Calls {
        Calls { input, held: None }
    }

    /// The result of `call` with the next element, or `None` at the end. An interrupted call is made again.
    pub(super) fn next<T>(
        &mut self,
        env: &StepEnv,
        call: impl FnOnce(&Element) -> Result<T>,
    ) -> Result<Option<T>> {
        let held = match self.held.take() {
            Some(held) => held,
            None => match self.input.next(env)? {
                Some(next) => next,
                None => return Ok(None),
            },
        };
        let result = call(&held);
        if result.as_ref().is_err_and(is_interrupt) {
            self.held = Some(held);
        }
        result.map(Some)
    }
}

thread_local! {
    /// How deep datasets and functions are nested on this thread's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Counts nested passes and calls, so that no graph exhausts the stack.
struct Deeper(u32);

impl Deeper {
    /// A call of a function takes the stack of that many passes.
    const CALL: u32 = 25;
    const MOST: u32 = 800;

    fn by(levels: u32) -> Result<Deeper> {
        let depth = DEPTH.get() + levels;
        if depth > Deeper::MOST {
            let text = "datasets and the functions that they call are nested too deep";
            return Err(Error::new(Code::ResourceExhausted, text));
        }
        DEPTH.set(depth);
        Ok(Deeper(levels))
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - self.0);
    }
}

/// An error if the run's deadline has passed.
pub(super) fn check_deadline() -> Result<()> {
    match budget::deadline() {
        Some(deadline) if deadline <= Instant::now() => {
            Err(Error::new(Code::DeadlineExceeded, "Timed out waiting for notification"))
        }
        _ => Ok(()),
    }
}
