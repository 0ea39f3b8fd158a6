//! Reference edges: reading the variable that a reference leads to.

use millstream_state::Variable;
use millstream_tensor::{Error, Result, Tensor, invalid};

/// The value of the variable that a reference leads to.
pub(crate) fn read_reference(reference: &Tensor) -> Result<Tensor> {
    match reference.as_handles() {
        Some([handle]) => match handle.get::<Variable>() {
            Some(variable) => variable.read(),
            None => Err(invalid!("a reference to a {}, not to a variable", handle.kind())),
        },
        _ => Err(Error::internal("a reference edge carries no handle")),
    }
}

/// The value that a fetched variable has at the end of the run.
pub(crate) fn fetched_reference(reference: &Tensor, name: &str) -> Result<Tensor> {
    read_reference(reference).map_err(|e| e.note(format!("`{name}` was fetched")))
}
