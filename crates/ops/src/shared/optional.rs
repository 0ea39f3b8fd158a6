//! [`Optional`]: a variant that contains some tensors, or none.

use millstream_tensor::{Opaque, Result, Tensor, Variant, ensure};
use std::sync::Arc;

/// The tensors that an optional contains, or `None`.
#[derive(Debug)]
pub(crate) struct Optional(pub Option<Vec<Tensor>>);

impl Optional {
    /// Returns an optional with `change` applied to each tensor.
    pub fn map(&self, change: impl FnMut(&Tensor) -> Result<Tensor>) -> Result<Variant> {
        let values =
            self.0.as_ref().map(|values| values.iter().map(change).collect::<Result<_>>()).transpose()?;
        Ok(Variant::new(Arc::new(Optional(values))))
    }

    /// Returns the sum of two optionals, tensor by tensor. If one has no value, returns the other.
    pub fn add(
        &self,
        other: &Optional,
        mut add: impl FnMut(&Tensor, &Tensor) -> Result<Tensor>,
    ) -> Result<Variant> {
        let (Some(a), Some(b)) = (&self.0, &other.0) else {
            return if self.0.is_some() { self } else { other }.map(|value| Ok(value.clone()));
        };
        ensure!(a.len() == b.len(), "optionals of {} and of {} tensors cannot be added", a.len(), b.len());
        let sums = a.iter().zip(b).map(|(a, b)| add(a, b)).collect::<Result<_>>()?;
        Ok(Variant::new(Arc::new(Optional(Some(sums)))))
    }
}

impl Opaque for Optional {
    fn kind(&self) -> &'static str {
        "optional"
    }
}
