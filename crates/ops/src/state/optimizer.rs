//! Optimizer steps: a variable, its slots, numbers, and a gradient of the whole variable or of some rows.
//!
//! A step is a few sweeps. Each changes one variable in place while holding only that variable's lock. It
//! uses the gradient and the results of earlier sweeps over other variables, so two locks are never held at
//! once, whichever variables are passed. All shapes and indices are checked before the first sweep.
//!
//! A step is whole or nothing. Whatever may refuse it does so in [`Step::new`]: the elements of every
//! variable that a reader shares are copied there, and the memory of the sweeps is tried. From then on
//! neither the deadline nor a cancellation nor the memory limit stops it, so that a step that failed may be
//! tried again.

use super::runs::{Starts, row_starts};
use super::target::{VariableArgs, give_back, gives, held};
use millstream_graph::op::spec::{Bool, FloatType, IndexType, Spec as _};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_state::Variable;
use millstream_tensor::budget::{Overdrawing, Room, overdraw};
use millstream_tensor::pace::{Uninterrupted, uninterrupted};
use millstream_tensor::{DType, Element, PartialShape, Result, Shape, Tensor, ensure, invalid};
use num_traits::Float;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The declaration of a step, for handles and for references. The value arguments follow the variables. Those
/// named `indices` and `grad` (or `delta`) are tensors; the others are scalars.
pub(crate) struct Spec {
    pub doc: &'static str,
    pub variables: &'static [&'static str],
    pub values: &'static [&'static str],
    pub flags: &'static [(&'static str, bool)],
    pub run: RunFn,
}

impl Spec {
    /// Returns the op on resource handles.
    pub(crate) fn resource(&self, name: &'static str) -> OpDef {
        self.def(name, false)
    }

    /// Returns the op on references.
    pub(crate) fn reference(&self, name: &'static str) -> OpDef {
        self.def(name, true)
    }

    /// Returns the same step with other value arguments.
    pub(crate) fn values(&self, values: &'static [&'static str]) -> Spec {
        Spec { values, ..*self }
    }

    fn def(&self, name: &'static str, by_ref: bool) -> OpDef {
        let mut def = OpDef::new(name).doc(self.doc);
        for variable in self.variables {
            def = def.variable(by_ref, variable, "T");
        }
        for value in self.values {
            def = match *value {
                "indices" => def.input(value, "Tindices"),
                "global_step" => def.input(value, DType::I64),
                _ => def.input(value, "T"),
            };
        }
        def = def.updated(by_ref, "out", "T").attr("T", FloatType);
        if self.values.contains(&"indices") {
            def = def.attr("Tindices", IndexType);
        }
        def = def.attr("use_locking", Bool.or(false));
        for (flag, default) in self.flags {
            def = def.attr(flag, Bool.or(*default));
        }
        def.infer(infer).kernel(Kernel::writes(self.run))
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let dtype = cx.attrs().dtype("T")?;
    let mut shape = held(cx, 0, dtype)?;
    let indexed = cx.node().input_range("indices").ok();
    for i in 1..cx.n_inputs() {
        let own = match cx.name_of(i) {
            _ if is_variable(cx, i) => held(cx, i, dtype)?,
            "grad" | "delta" => match (&indexed, cx.input(i).dims()) {
                (None, _) => cx.input(i).clone(),
                (Some(at), Some([rows, row @ ..])) => {
                    let both = PartialShape::from([*rows]).merge(cx.input(at.start));
                    ensure!(
                        both.is_some(),
                        "`indices` has shape {} but `{}` has shape {}: they must have equally many rows",
                        cx.input(at.start),
                        cx.name_of(i),
                        cx.input(i)
                    );
                    let any = std::iter::once(None);
                    PartialShape::new(any.chain(row.iter().copied()))
                }
                (Some(_), _) => continue,
            },
            "indices" => {
                cx.vector(i)?;
                continue;
            }
            _ => {
                cx.scalar(i)?;
                continue;
            }
        };
        shape = shape.merge(&own).ok_or_else(|| {
            invalid!(
                "the variable has shape {shape} but `{}` has shape {own}; they must be compatible",
                cx.name_of(i)
            )
            .led_by(shape.difference(&own))
        })?;
    }
    gives(cx, shape);
    Ok(())
}

fn is_variable(cx: &InferCx, i: usize) -> bool {
    let ty = cx.node().input_types[i];
    ty.is_ref || ty.dtype == DType::Resource
}

/// A step that is being executed.
pub(crate) struct Step<'a, 'g> {
    cx: &'a KernelCx<'a>,
    /// The gradient.
    pub grad: &'g Tensor,
    shape: Shape,
    /// The offsets of the rows to change, and the length of a row, or `None` to change the whole variable.
    rows: Option<(Starts, usize)>,
    /// The guards of the whole step; a round of it has none of its own.
    _whole: Option<(Uninterrupted, Overdrawing)>,
}

impl<'a> Step<'a, 'a> {
    /// Checks all inputs. The first inputs are the variables; the gradient and the indices are found by name.
    pub(crate) fn new<T: Element>(cx: &'a KernelCx<'a>, variables: usize) -> Result<Step<'a, 'a>> {
        let at = |name| cx.node.input_range(name).map(|r| cx.input(r.start));
        let grad = at("grad").or_else(|_| at("delta"))?;
        let shape = cx.resource::<Variable>(0)?.read()?.shape().clone();
        for i in 0..variables {
            let variable = cx.resource::<Variable>(i)?;
            let value = variable.read()?;
            ensure!(
                *value.shape() == shape && value.dtype() == T::DTYPE,
                "`{}` is {}{} but must be {}{shape}, as the variable is",
                cx.name_of(i),
                value.dtype(),
                value.shape(),
                T::DTYPE
            );
        }
        let rows = match at("indices") {
            Ok(indices) => {
                let [rows, row @ ..] = shape.dims() else {
                    return Err(invalid!("a scalar variable has no rows"));
                };
                let wanted = Shape::new(indices.shape().iter().chain(row).copied());
                ensure!(
                    indices.rank() == 1 && *grad.shape() == wanted,
                    "`grad` has shape {} and `indices` {}: with the variable of shape {shape}, `indices` must be a \
                     vector and `grad` have one row for each",
                    grad.shape(),
                    indices.shape()
                );
                let run = Shape::from(row).elements();
                Some((row_starts(indices, *rows, run)?, run))
            }
            Err(_) => {
                let same = *grad.shape() == shape;
                ensure!(
                    same,
                    "the gradient has shape {} but the variable has shape {shape}; they must be equal",
                    grad.shape()
                );
                None
            }
        };
        for i in 0..variables {
            cx.resource::<Variable>(i)?.update(|value| value.in_place().make_mut_or_copy::<T>().map(drop))?;
        }
        // The results of the sweeps over rows, and the list of rounds.
        let results = if rows.is_some() { variables * grad.elements() * size_of::<T>() } else { 0 };
        let rounds = rows.as_ref().map_or(0, |(starts, _)| 64 * starts.len());
        drop(Room::of(results + rounds)?);
        Ok(Step { cx, grad, shape, rows, _whole: Some((uninterrupted(), overdraw())) })
    }
}

impl<'a> Step<'a, '_> {
    /// Returns the scalar input called `name`.
    pub(crate) fn number<T: Element>(&self, name: &str) -> Result<T> {
        let number = self.cx.input(self.cx.node.input_range(name)?.start);
        ensure!(number.rank() == 0, "`{name}` must be a scalar but has shape {}", number.shape());
        number.to_scalar::<T>()
    }

    /// Returns a flag of the node.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        self.cx.attrs().bool(name)
    }

    /// Updates the variable at input `i`: each element with a gradient becomes `f` of itself and of the
    /// corresponding elements of `others`. Returns the new elements, in the gradient's shape. A row that is
    /// listed twice is updated twice.
    pub(crate) fn sweep<T: Element, const N: usize>(
        &self,
        i: usize,
        others: [&Tensor; N],
        f: impl Fn(T, [T; N]) -> T,
    ) -> Result<Tensor> {
        let change = |out: &mut [T], given: Option<&mut [T]>, others: [&[T]; N]| {
            each(out, given, others, |old, others| {
                let new = f(old, others);
                (new, new)
            });
        };
        match self.rows {
            Some(_) => self.change_giving(i, others, &change),
            None => self.change_whole(i, others, &change),
        }
    }

    /// As [`Step::sweep`], but `f` also returns the value for the result of each element.
    pub(crate) fn sweep_giving<T: Element, const N: usize>(
        &self,
        i: usize,
        others: [&Tensor; N],
        f: impl Fn(T, [T; N]) -> (T, T),
    ) -> Result<Tensor> {
        self.change_giving(i, others, &|out, given, others| each(out, given, others, &f))
    }

    // The result is the variable's new value itself and not a copy.
    fn change_whole<T: Element, const N: usize>(
        &self,
        i: usize,
        others: [&Tensor; N],
        change: &Change<T, N>,
    ) -> Result<Tensor> {
        let slices = slices(others)?;
        self.cx.resource::<Variable>(i)?.update(|value| {
            self.check_unchanged(i, value)?;
            let out = value.in_place().make_mut_or_copy::<T>()?;
            fits(out.len(), None, slices)?;
            change(out, None, slices);
            Ok((**value).clone())
        })
    }

    fn change_giving<T: Element, const N: usize>(
        &self,
        i: usize,
        others: [&Tensor; N],
        change: &Change<T, N>,
    ) -> Result<Tensor> {
        let slices = slices(others)?;
        let mut given = Tensor::zeros(T::DTYPE, self.grad.shape().clone())?;
        self.cx.resource::<Variable>(i)?.update(|value| {
            self.check_unchanged(i, value)?;
            let out = value.in_place().make_mut_or_copy::<T>()?;
            let all = given.make_mut_or_copy::<T>()?;
            let Some((starts, run)) = &self.rows else {
                fits(out.len(), Some(all.len()), slices)?;
                change(out, Some(all), slices);
                return Ok(());
            };
            for (k, &start) in starts.iter().enumerate() {
                let range = k * run..(k + 1) * run;
                let mut rows: [&[T]; N] = [&[]; N];
                for (row, slice) in rows.iter_mut().zip(slices) {
                    *row = slice.get(range.clone()).ok_or_else(ragged)?;
                }
                let out = out.get_mut(start..start + run).ok_or_else(ragged)?;
                change(out, Some(all.get_mut(range).ok_or_else(ragged)?), rows);
            }
            Ok(())
        })?;
        Ok(given)
    }

    /// Runs the whole step for all rows at once if they are distinct. Otherwise it runs it for the first
    /// gradient of each row, then for the second gradient of each row that has one, and so on. Steps need
    /// this if a sweep uses the results of another one for the same row. A round takes time for its own rows
    /// only: if all gradients are of one row, there are as many rounds as gradients.
    pub(crate) fn in_rounds(self, step: impl Fn(&Step) -> Result<()>) -> Result<()> {
        let Some((starts, run)) = &self.rows else {
            return step(&self);
        };
        let mut rounds: Vec<Vec<usize>> = vec![];
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        for (k, start) in starts.iter().enumerate() {
            let times = seen.entry(*start).or_default();
            if rounds.len() <= *times {
                rounds.push(vec![]);
            }
            rounds[*times].push(k);
            *times += 1;
        }
        if rounds.len() < 2 {
            return step(&self);
        }
        for round in rounds {
            let from: SmallVec<[usize; 1]> = round.iter().map(|k| k * run).collect();
            let shape = Shape::new([round.len()].into_iter().chain(self.grad.shape()[1..].iter().copied()));
            let grad = self.grad.take_runs(shape, *run, &from)?;
            let rows = Some((round.iter().map(|&k| starts[k]).collect(), *run));
            step(&Step { cx: self.cx, grad: &grad, shape: self.shape.clone(), rows, _whole: None })?;
        }
        Ok(())
    }

    fn check_unchanged(&self, i: usize, value: &Tensor) -> Result<()> {
        ensure!(*value.shape() == self.shape, "`{}` changed its shape meanwhile", self.cx.name_of(i));
        Ok(())
    }
}

/// Returns -1, 0 or 1, or NaN for NaN.
pub(crate) fn sign<T: Float>(x: T) -> T {
    if x > T::zero() {
        T::one()
    } else if x < T::zero() {
        -T::one()
    } else {
        x
    }
}

/// Shrinks `x` towards zero by `l1`, but not past it, and divides it by `1 + l2`.
pub(crate) fn drawn_to_zero<T: Float>(x: T, l1: T, l2: T) -> T {
    let nearer = if l1 > T::zero() { sign(x) * (x.abs() - l1).max(T::zero()) } else { x };
    nearer / (T::one() + l2)
}

fn slices<T: Element, const N: usize>(others: [&Tensor; N]) -> Result<[&[T]; N]> {
    let mut slices: [&[T]; N] = [&[]; N];
    for (slice, other) in slices.iter_mut().zip(others) {
        *slice = other.as_slice::<T>()?;
    }
    Ok(slices)
}

/// A formula's loop over elements: of the variable, of the result if it is not the variable, and of the
/// other tensors, all of one length. The code around the loop is compiled once for each dtype, and not for
/// each formula.
type Change<'f, T, const N: usize> = dyn Fn(&mut [T], Option<&mut [T]>, [&[T]; N]) + 'f;

fn fits<T, const N: usize>(n: usize, given: Option<usize>, others: [&[T]; N]) -> Result<()> {
    let even = others.iter().all(|o| o.len() == n) && given.is_none_or(|g| g == n);
    if even { Ok(()) } else { Err(ragged()) }
}

/// Updates the elements of `out`, and writes the second result of `f` for each to `given`.
fn each<T: Element, const N: usize>(
    out: &mut [T],
    given: Option<&mut [T]>,
    mut others: [&[T]; N],
    f: impl Fn(T, [T; N]) -> (T, T),
) {
    let n = out.len();
    // All slices have the same length; where the compiler sees that, it removes the bounds checks.
    for other in &mut others {
        *other = &other[..n];
    }
    let mut row = [T::default(); N];
    match given {
        Some(given) => {
            let given = &mut given[..n];
            for i in 0..n {
                for (cell, other) in row.iter_mut().zip(&others) {
                    *cell = other[i];
                }
                (out[i], given[i]) = f(out[i], row);
            }
        }
        None => {
            for i in 0..n {
                for (cell, other) in row.iter_mut().zip(&others) {
                    *cell = other[i];
                }
                out[i] = f(out[i], row).0;
            }
        }
    }
}

fn ragged() -> millstream_tensor::Error {
    millstream_tensor::Error::internal("a step was checked but its parts do not fit")
}

/// Runs a step's sweeps for the node's dtype, and returns the reference.
macro_rules! steps {
    ($cx:ident, $T:ident => $sweeps:expr) => {{
        let dtype = $cx.attrs().dtype("T")?;
        millstream_tensor::with_element!(
            dtype, $T in floats => $sweeps,
            else => Err($crate::number::no_kernel($cx.node.op.name, dtype))
        )?;
        super::optimizer::finish($cx);
        Ok(())
    }};
}
pub(crate) use steps;

/// Returns the reference as the output, if there is one.
pub(crate) fn finish(cx: &mut KernelCx) {
    give_back(cx);
}
