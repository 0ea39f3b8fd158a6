//! Counters and what bounds them: the only place that knows how loops count.
//!
//! A counter is a variable whose next value is itself plus a step. A condition bounds it where it is, or is a
//! conjunction with, a comparison of the counter as less than a limit. All of these are recognised behind
//! Identities and on both sides:
//!
//! ```text
//! counter < limit     counter <= limit     limit > counter     limit >= counter
//! counter + step      step + counter       (a and b) and c
//! ```
//!
//! Counters that run down are counters, but nothing bounds them yet.

use super::{Bound, Key, Loop, LoopId, LoopTree, Variable, View};
use crate::attr::Attr;
use crate::op::{Meaning, Role};
use millstream_tensor::{DType, Tensor};

/// How far values are followed through nodes that pass them on, and how many parts of a condition are looked
/// at.
const MOST_STEPS: usize = 64;

type Value<V> = <<V as View>::Node as Key>::Value;

/// What the caller knows of values: feeds, or what inference found out. Constants need not be told.
pub type Given<'a, N> = &'a dyn Fn(<N as Key>::Value) -> Option<Tensor>;

/// The value that is added to a variable to get its next value.
pub(super) fn step<V: View + ?Sized>(view: &V, variable: &Variable<V::Node>) -> Option<Value<V>> {
    let next = view.producer(variable.next?)?;
    if view.info(next)?.op.meaning != Some(Meaning::Sum) {
        return None;
    }
    let &[a, b] = view.inputs(next) else { return None };
    match (merge_behind(view, a) == variable.merge, merge_behind(view, b) == variable.merge) {
        (true, _) => Some(b),
        (false, true) => Some(a),
        (false, false) => None,
    }
}

/// The number of parts of a condition, and those that bound a counter of the loop.
pub(super) fn bounds<V: View + ?Sized>(
    view: &V,
    it: &Loop<V::Node>,
    condition: Value<V>,
) -> (usize, Vec<Bound<V::Node>>) {
    let (mut n_parts, mut bounds) = (0, Vec::new());
    let mut work = vec![condition];
    for _ in 0..MOST_STEPS {
        let Some(part) = work.pop() else { break };
        let Some(node) = view.producer(part) else { continue };
        let inputs = view.inputs(node);
        let meaning = view.info(node).and_then(|info| info.op.meaning);
        let (counter, limit, inclusive) = match (meaning, inputs) {
            (None, [input, ..]) if view.role(node) == Role::Identity => {
                work.push(*input);
                continue;
            }
            (Some(Meaning::And), [a, b]) => {
                work.extend([*b, *a]);
                continue;
            }
            (Some(Meaning::Less), [a, b]) => (*a, *b, false),
            (Some(Meaning::LessEqual), [a, b]) => (*a, *b, true),
            (Some(Meaning::Greater), [a, b]) => (*b, *a, false),
            (Some(Meaning::GreaterEqual), [a, b]) => (*b, *a, true),
            _ => {
                n_parts += 1;
                continue;
            }
        };
        let merge = merge_behind(view, counter);
        let counts = |v: &Variable<V::Node>| v.merge == merge && v.step.is_some();
        if let Some(variable) = merge.and_then(|_| it.variables.iter().position(counts)) {
            bounds.push(Bound { variable, limit, inclusive, part: n_parts });
        }
        n_parts += 1;
    }
    (n_parts, bounds)
}

/// The Merge that a value comes from unchanged.
fn merge_behind<V: View + ?Sized>(view: &V, mut value: Value<V>) -> Option<V::Node> {
    for _ in 0..MOST_STEPS {
        let node = view.producer(value)?;
        match view.role(node) {
            Role::Merge => return Some(node),
            Role::Identity | Role::Switch => value = *view.inputs(node).first()?,
            _ => return None,
        }
    }
    None
}

/// The number that a value is in every iteration, if a constant or the caller tells.
fn number<V: View + ?Sized>(view: &V, mut value: Value<V>, given: Given<V::Node>) -> Option<f64> {
    for _ in 0..MOST_STEPS {
        if let Some(tensor) = given(value) {
            return scalar(&tensor);
        }
        let node = view.producer(value)?;
        match view.role(node) {
            Role::Const => match view.info(node)?.attrs.get("value") {
                Some(Attr::Tensor(tensor)) => return scalar(tensor),
                _ => return None,
            },
            // The Enter of a variable is not passed: only its Merge takes it.
            Role::Identity | Role::Enter => value = *view.inputs(node).first()?,
            _ => return None,
        }
    }
    None
}

fn scalar(value: &Tensor) -> Option<f64> {
    value.as_scalar()?;
    match value.dtype() {
        DType::I32 => value.to_scalar::<i32>().ok().map(f64::from),
        DType::I64 => value.to_scalar::<i64>().ok().map(|v| v as f64),
        DType::F32 => value.to_scalar::<f32>().ok().map(f64::from),
        DType::F64 => value.to_scalar::<f64>().ok(),
        _ => None,
    }
}

impl<N: Key> LoopTree<N> {
    /// The first value and the step of a counter, where both are known.
    pub fn counter<V: View<Node = N> + ?Sized>(
        view: &V,
        variable: &Variable<N>,
        given: Given<N>,
    ) -> Option<(f64, f64)> {
        Some((number(view, variable.initial?, given)?, number(view, variable.step?, given)?))
    }

    /// The most iterations that the condition of a loop admits, where a bounded counter tells.
    pub fn trips<V: View<Node = N> + ?Sized>(&self, view: &V, id: LoopId, given: Given<N>) -> Option<u64> {
        let it = self.get(id)?;
        let bounds = it.condition.iter().flat_map(|c| &c.bounds);
        bounds.filter_map(|bound| trips(view, it, bound, given)).min()
    }
}

/// How often `counter < limit` holds, where the counter grows by the same each time.
fn trips<V: View + ?Sized>(
    view: &V,
    it: &Loop<V::Node>,
    bound: &Bound<V::Node>,
    given: Given<V::Node>,
) -> Option<u64> {
    let (initial, step) = LoopTree::counter(view, &it.variables[bound.variable], given)?;
    let limit = number(view, bound.limit, given)?;
    if step <= 0.0 || !(limit - initial).is_finite() {
        return None;
    }
    let steps = (limit - initial) / step;
    let n = if bound.inclusive { steps.floor() + 1.0 } else { steps.ceil() };
    // The count is exact where the floats are.
    (n < 9e15).then_some(n.max(0.0) as u64)
}
