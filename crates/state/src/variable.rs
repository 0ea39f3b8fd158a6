//! [`Variable`]: a tensor that steps read and write.

use crate::closures::Closed;
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Code, DType, Error, Opaque, PartialShape, Result, Tensor, invalid};

/// A named tensor that outlives steps. Reads share the elements; an update copies them only if a reader still
/// uses them. A value never refers to memory that was lent for a run ([`Tensor::kept`]).
pub struct Variable {
    name: String,
    dtype: DType,
    shape: PartialShape,
    /// Guards the value. Held during one update; no other lock is taken under it.
    value: Closed<Option<Tensor>>,
}

/// The method that runs closures, in panics.
const UPDATE: &str = "Variable::update";

/// The value of a variable during an update. It can be written in place, which leaves the old elements or the
/// new ones, or be [replaced](Held::replace).
#[derive(Debug)]
pub struct Held<'a>(&'a mut Tensor);

impl Held<'_> {
    /// Replaces the value and returns the old one. A value that refers to memory lent for a run is copied
    /// first; if there is no memory for the copy, the old value stays.
    pub fn replace(&mut self, value: Tensor) -> Result<Tensor> {
        Ok(std::mem::replace(self.0, value.kept()?))
    }

    /// The value, to be written in place. What is assigned to it whole must not refer to memory lent for a
    /// run.
    pub fn in_place(&mut self) -> &mut Tensor {
        self.0
    }
}

impl std::ops::Deref for Held<'_> {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        self.0
    }
}

impl std::fmt::Debug for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "variable `{}` {}{}", self.name, self.dtype, self.shape)
    }
}

impl Opaque for Variable {
    fn kind(&self) -> &'static str {
        "variable"
    }
}

impl Variable {
    /// A variable without a value. Every value must fit `shape`.
    pub fn new(name: impl Into<String>, dtype: DType, shape: PartialShape) -> Variable {
        Variable { name: name.into(), dtype, shape, value: Closed::new(None) }
    }

    /// The name of the variable.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dtype of every value.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape that every value must fit.
    pub fn shape(&self) -> &PartialShape {
        &self.shape
    }

    /// Whether the variable has a value.
    pub fn is_initialized(&self) -> bool {
        self.value.lock(UPDATE).is_some()
    }

    /// The value. `FAILED_PRECONDITION` if there is none yet.
    pub fn read(&self) -> Result<Tensor> {
        self.value.lock(UPDATE).clone().ok_or_else(|| self.uninitialized())
    }

    /// Replaces the value. Its dtype and shape must fit.
    pub fn assign(&self, value: Tensor) -> Result<()> {
        self.check(&value)?;
        let value = value.kept()?;
        let old = self.value.lock(UPDATE).replace(value);
        drop(old);
        Ok(())
    }

    /// Replaces the value by one of any shape (`validate_shape=False`). The dtype must fit.
    pub fn assign_any_shape(&self, value: Tensor) -> Result<()> {
        self.check_dtype(&value)?;
        let value = value.kept()?;
        let old = self.value.lock(UPDATE).replace(value);
        drop(old);
        Ok(())
    }

    /// Removes the value.
    pub fn clear(&self) {
        let old = self.value.lock(UPDATE).take();
        drop(old);
    }

    /// Changes the value in one atomic step. Nothing is rolled back: if `change` fails, it must have left the
    /// value as it was. Nothing fails after `change`, so an update that failed has changed nothing and may be
    /// tried again.
    ///
    /// # Panics
    ///
    /// If `change` calls a method of the variable, on this thread.
    pub fn update<R>(&self, change: impl FnOnce(&mut Held<'_>) -> Result<R>) -> Result<R> {
        // Neither the deadline nor a cancellation leaves a value half changed.
        let _to_the_end = uninterrupted();
        let mut slot = self.value.run(UPDATE);
        let value = slot.as_mut().ok_or_else(|| self.uninitialized())?;
        change(&mut Held(value))
    }

    fn check(&self, value: &Tensor) -> Result<()> {
        self.check_dtype(value)?;
        if self.shape.contains(&value.shape().into()) {
            return Ok(());
        }
        Err(invalid!(
            "Assign requires shapes of both tensors to match. lhs shape= {} rhs shape= {}",
            self.shape,
            value.shape();
            "variable `{}` has shape {} but the value assigned has shape {}",
            self.name,
            self.shape,
            value.shape()
        ))
    }

    fn check_dtype(&self, value: &Tensor) -> Result<()> {
        if value.dtype() == self.dtype {
            return Ok(());
        }
        Err(invalid!(
            "variable `{}` has dtype {} but the value assigned has dtype {}",
            self.name,
            self.dtype,
            value.dtype()
        ))
    }

    fn uninitialized(&self) -> Error {
        Error::new(
            Code::FailedPrecondition,
            format!("variable `{}` is used before it has a value", self.name),
        )
        .led_by(format!("Attempting to use uninitialized value {}", self.name))
        .with_help(
            "run its initializer first: those of all variables are in `global_variables_initializer`, those of \
             local ones, such as metrics and epochs, in `local_variables_initializer`",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::budget::{self, Budget};

    /// An update that fails has changed nothing, so it may be tried again: here there is no memory for the
    /// copy that outlives the run.
    #[test]
    fn a_value_that_cannot_be_kept_leaves_the_old_one() -> Result<()> {
        let variable = Variable::new("v", DType::F32, PartialShape::unknown());
        variable.assign(Tensor::vector(&[1f32; 1000])?)?;
        let (lent, loan) = Tensor::lent([1000], vec![2f32; 1000])?;
        {
            let budget = Budget::new(16);
            let _budget = budget::enter(Some(&budget));
            for _ in 0..2 {
                let refused = variable.update(|held| held.replace(lent.clone())).unwrap_err();
                assert_eq!(refused.code(), Code::ResourceExhausted);
                assert_eq!(variable.assign(lent.clone()).unwrap_err().code(), Code::ResourceExhausted);
            }
        }
        assert_eq!(variable.read()?.as_slice::<f32>()?, [1.0; 1000]);
        let old = variable.update(|held| held.replace(lent.clone()))?;
        assert_eq!(old.as_slice::<f32>()?, [1.0; 1000]);
        drop(lent);
        loan.end()?;
        assert_eq!(variable.read()?.as_slice::<f32>()?, [2.0; 1000]);
        Ok(())
    }
}
