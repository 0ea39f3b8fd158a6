//! [`Optional`]: a variant that contains some tensors, or none.

use millstream_tensor::budget::Charged;
use millstream_tensor::{Opaque, Result, Tensor, Variant, ensure};

/// The tensors that an optional contains, or `None`.
#[derive(Debug)]
pub(crate) struct Optional(Option<Charged<Tensor>>);

impl Optional {
    /// Returns an optional that contains these tensors, or nothing.
    pub fn variant(values: Option<Vec<Tensor>>) -> Result<Variant> {
        Variant::new(Optional(values.map(Charged::holding).transpose()?))
    }

    /// The tensors that it contains, if it has a value.
    pub fn values(&self) -> Option<&[Tensor]> {
        self.0.as_deref()
    }

    /// Returns an optional with `change` applied to each tensor.
    pub fn map(&self, change: impl FnMut(&Tensor) -> Result<Tensor>) -> Result<Variant> {
        let values = self.values().map(|values| values.iter().map(change).collect::<Result<_>>());
        Optional::variant(values.transpose()?)
    }

    /// Returns the sum of two optionals, tensor by tensor. If one has no value, returns the other.
    pub fn add(
        &self,
        other: &Optional,
        mut add: impl FnMut(&Tensor, &Tensor) -> Result<Tensor>,
    ) -> Result<Variant> {
        let (Some(a), Some(b)) = (self.values(), other.values()) else {
            return if self.0.is_some() { self } else { other }.map(|value| Ok(value.clone()));
        };
        ensure!(a.len() == b.len(), "optionals of {} and of {} tensors cannot be added", a.len(), b.len());
        Optional::variant(Some(a.iter().zip(b).map(|(a, b)| add(a, b)).collect::<Result<_>>()?))
    }
}

impl Opaque for Optional {
    fn kind(&self) -> &'static str {
        "optional"
    }
}
