//! [`caught`]: code of ops, whose panics are errors.

use millstream_tensor::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls code of an op: a kernel, a shape rule, the preparation of a kernel. A panic in it is a bug of the op
/// and becomes an `INTERNAL` error that starts with `what`; the process lives.
pub fn caught<T>(work: impl FnOnce() -> Result<T>, what: &str) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Error::internal(format!("{what}: {text}")))
    })
}
