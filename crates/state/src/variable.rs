//! [`Variable`]: a tensor that steps read and write.

use millstream_tensor::{Code, DType, Error, Opaque, PartialShape, Result, Tensor, invalid};
use parking_lot::Mutex;

/// A named tensor that outlives steps. Reads share the elements; an update copies them only if a reader still
/// uses them. A value never refers to memory that was lent for a run ([`Tensor::kept`]).
pub struct Variable {
    name: String,
    dtype: DType,
    shape: PartialShape,
    /// Guards the value. Held during one update; no other lock is taken under it.
    value: Mutex<Option<Tensor>>,
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
        Variable { name: name.into(), dtype, shape, value: Mutex::new(None) }
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
        self.value.lock().is_some()
    }

    /// The value. `FAILED_PRECONDITION` if there is none yet.
    pub fn read(&self) -> Result<Tensor> {
        self.value.lock().clone().ok_or_else(|| self.uninitialized())
    }

    /// Replaces the value. Its dtype and shape must fit.
    pub fn assign(&self, value: Tensor) -> Result<()> {
        self.check(&value)?;
        let value = value.kept()?;
        let old = self.value.lock().replace(value);
        drop(old);
        Ok(())
    }

    /// Replaces the value by one of any shape (`validate_shape=False`). The dtype must fit.
    pub fn assign_any_shape(&self, value: Tensor) -> Result<()> {
        self.check_dtype(&value)?;
        let value = value.kept()?;
        let old = self.value.lock().replace(value);
        drop(old);
        Ok(())
    }

    /// Removes the value.
    pub fn clear(&self) {
        let old = self.value.lock().take();
        drop(old);
    }

    /// Changes the value in one atomic step. Nothing is rolled back: if `change` fails, it must have left the
    /// value as it was.
    pub fn update<R>(&self, change: impl FnOnce(&mut Tensor) -> Result<R>) -> Result<R> {
        let mut slot = self.value.lock();
        let value = slot.as_mut().ok_or_else(|| self.uninitialized())?;
        let result = change(value)?;
        value.keep()?;
        Ok(result)
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
        .with_help("run its initialiser first (all of them: `global_variables_initializer`)")
    }
}
