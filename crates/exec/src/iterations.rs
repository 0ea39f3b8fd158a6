//! [`Iterations`]: the values of an output inside of loops, one for each iteration.

use millstream_tensor::budget::{self, Budget, Charged};
use millstream_tensor::{
    Assembler, DType, Error, MAX_RANK, PartialShape, Result, Shape, Tensor, ensure, invalid,
};
use std::fmt;
use std::sync::Arc;

/// The values of an output inside of loops, in all iterations in which it had one, in the order of the
/// iterations; those of an outer loop count first. There is no value for an iteration in which the output's
/// branch was not taken.
///
/// An output of a loop's body has one value for each time the body ran. An output of the condition, or a loop
/// variable as the condition sees it, has one more: the last, for which the condition was false.
pub struct Iterations {
    name: String,
    dtype: DType,
    shape: PartialShape,
    loops: Vec<String>,
    /// For each value, the iteration of each loop.
    at: Charged<u64>,
    values: Charged<Tensor>,
    /// The budget that stacked values are charged to.
    budget: Option<Arc<Budget>>,
}

impl Iterations {
    pub(crate) fn new(name: String, dtype: DType, shape: PartialShape, loops: Vec<String>) -> Iterations {
        Iterations { name, dtype, shape, loops, at: Charged::new(), values: Charged::new(), budget: None }
    }

    /// Adds a value, wherever it belongs in the order.
    pub(crate) fn push(&mut self, at: &[u64], value: Tensor) -> Result<()> {
        self.at.extend_from_slice(at)?;
        self.values.push(value)
    }

    /// Puts the values in order once all are there.
    pub(crate) fn sort(&mut self, budget: Option<Arc<Budget>>) -> Result<()> {
        self.budget = budget;
        if (1..self.len()).all(|k| self.at(k - 1) < self.at(k)) {
            return Ok(());
        }
        let mut order = Charged::with_room(self.len())?;
        order.resize_with(self.len(), || 0)?;
        order.iter_mut().enumerate().for_each(|(k, place)| *place = k);
        order.sort_unstable_by_key(|&k| self.at(k));
        let mut at = Charged::with_room(self.at.len())?;
        let mut values = Charged::with_room(self.len())?;
        for &k in order.iter() {
            at.extend_from_slice(self.at(k))?;
            values.push(std::mem::replace(&mut self.values[k], Tensor::scalar(false)))?;
        }
        (self.at, self.values) = (at, values);
        Ok(())
    }

    /// The output: `while/Mul:0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The loops around, outermost first.
    pub fn loops(&self) -> &[String] {
        &self.loops
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The iteration of value `k`, of each loop around.
    fn at(&self, k: usize) -> &[u64] {
        let depth = self.loops.len();
        &self.at[k * depth..][..depth]
    }

    /// The value in an iteration: `get(&[3])`. In nested loops the outermost loop's iteration comes first.
    /// `None` if there is no value.
    pub fn get(&self, at: &[u64]) -> Option<&Tensor> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.at(middle).cmp(at) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return self.values.get(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The iterations as a matrix: a row for each value, a column for each loop around.
    pub fn indices(&self) -> Result<Tensor> {
        let _budget = budget::enter(self.budget.as_ref());
        let mut indices = Charged::with_room(self.at.len())?;
        for &i in self.at.iter() {
            indices.push(i as i64)?;
        }
        Tensor::from_slice([self.len(), self.loops.len()], &indices)
    }

    /// The values with their iterations, in order: of each loop around, outermost first.
    pub fn iter(&self) -> impl Iterator<Item = (&[u64], &Tensor)> {
        self.values.iter().enumerate().map(|(k, value)| (self.at(k), value))
    }

    /// All values in one tensor, one after another along its first axis. An error where two values differ in
    /// shape, or where there are none and the shape is not known.
    pub fn stack(&self) -> Result<Tensor> {
        self.stacked(&[self.len()])
    }

    /// All values in one tensor with an axis for each loop around. An error where a loop did not always run
    /// equally often, or where iterations have no value.
    pub fn stack_by_loop(&self) -> Result<Tensor> {
        let depth = self.loops.len();
        let mut dims = vec![0usize; depth];
        for k in 0..self.len() {
            for (dim, &i) in dims.iter_mut().zip(self.at(k)) {
                *dim = (*dim).max(usize::try_from(i).unwrap_or(usize::MAX).saturating_add(1));
            }
        }
        // The values are in order, each once: if the last place of every axis is right, all places are taken.
        let mut want = vec![0u64; depth];
        for k in 0..self.len() {
            if self.at(k) != want {
                return Err(self.uneven(&want));
            }
            for d in (0..depth).rev() {
                want[d] += 1;
                if want[d] < dims[d] as u64 || d == 0 {
                    break;
                }
                want[d] = 0;
            }
        }
        match want.first().is_some_and(|&n| n as usize == dims[0]) && want[1..].iter().all(|&n| n == 0) {
            true => self.stacked(&dims),
            false => Err(self.uneven(&want)),
        }
    }

    fn uneven(&self, missing: &[u64]) -> Error {
        invalid!(
            "`{}` has no value in iteration {}, though later iterations have one: its values cannot be stacked into a tensor with one axis per loop",
            self.name,
            Place(missing)
        )
        .with_help("`stack` puts all values along one axis; `iter` yields each value with its iteration")
    }

    fn stacked(&self, leading: &[usize]) -> Result<Tensor> {
        let _budget = budget::enter(self.budget.as_ref());
        if matches!(self.dtype, DType::Variant | DType::Resource) {
            return Err(invalid!("`{}` holds {}, which cannot be stacked", self.name, self.dtype)
                .with_help("fetch it as `Iterations` and read its values one by one"));
        }
        let dims = match self.values.first() {
            Some(value) => value.shape().dims().to_vec(),
            None => self.shape.full().map(|s| s.dims().to_vec()).ok_or_else(|| {
                invalid!(
                    "`{}` had no value in any iteration, and its static shape {} is not fully known",
                    self.name,
                    self.shape
                )
                .with_help("fetch it as `Iterations`, which may be empty")
            })?,
        };
        if let Some(k) = self.values.iter().position(|v| v.shape().dims() != dims) {
            return Err(invalid!(
                "the values of `{}` cannot be stacked: shape {} in iteration {}, shape {} in iteration {}",
                self.name,
                Shape::from(&dims[..]),
                Place(self.at(0)),
                self.values[k].shape(),
                Place(self.at(k))
            )
            .with_help("fetch it as `Iterations` and read its values one by one"));
        }
        let shape = Shape::from([leading, &dims[..]].concat());
        ensure!(
            shape.rank() <= MAX_RANK,
            "the values of `{}` stacked would have {} axes: a tensor has at most {MAX_RANK}",
            self.name,
            shape.rank()
        );
        let mut stack = Assembler::new(self.dtype, shape)?;
        for value in self.values.iter() {
            stack.push(value, 0, value.elements())?;
        }
        stack.finish()
    }
}

/// An iteration in messages: `3`, or `(2, 0)` in nested loops.
pub(crate) struct Place<'a>(pub &'a [u64]);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [i] => write!(f, "{i}"),
            all => {
                f.write_str("(")?;
                for (k, i) in all.iter().enumerate() {
                    write!(f, "{}{i}", if k == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Debug for Iterations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (at, value) in self.iter() {
            map.entry(&format_args!("{}", Place(at)), &format_args!("{value}"));
        }
        map.finish()
    }
}
