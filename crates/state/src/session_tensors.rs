//! [`SessionTensors`]: tensors that a session keeps between runs, each under a handle, which is a string.

use millstream_tensor::{Opaque, Result, Tensor, invalid};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;

/// The device in every handle; there is only this one.
const DEVICE: &str = "/job:localhost/replica:0/task:0/device:CPU:0";

/// Tensors by handle. No handle is ever used twice.
///
/// Definition: TensorFlow's `SessionState`. Here a tensor is kept as soon as its handle is made; TensorFlow
/// waits for the end of the run and keeps only tensors whose handles were fetched.
#[derive(Default)]
pub struct SessionTensors(
    /// Guards only itself; no other lock is taken under it.
    Mutex<Kept>,
);

#[derive(Default)]
struct Kept {
    next: u64,
    tensors: BTreeMap<String, Tensor>,
}

impl SessionTensors {
    /// The name of the store among the resources of a session's kernels; no node name begins with an
    /// underscore.
    pub const NAME: &str = "_session_tensors";

    /// Keeps a tensor for the node of this name. Returns its handle.
    pub fn keep(&self, node: &str, tensor: Tensor) -> String {
        let mut kept = self.0.lock();
        let handle = format!("{node};{};{DEVICE}", kept.next);
        kept.next += 1;
        kept.tensors.insert(handle.clone(), tensor);
        handle
    }

    /// The tensor with this handle.
    pub fn get(&self, handle: &str) -> Result<Tensor> {
        self.0.lock().tensors.get(handle).cloned().ok_or_else(|| {
            invalid!("The tensor with handle '{handle}' is not in the session store.")
                .with_help("a handle is valid in the session that created it, until it is deleted")
        })
    }

    /// Removes the tensor with this handle.
    pub fn delete(&self, handle: &str) -> Result<()> {
        // The tensor is dropped after the lock is released.
        let found = self.0.lock().tensors.remove(handle);
        found.map(drop).ok_or_else(|| {
            invalid!("Failed to delete a tensor with handle '{handle}' in the session store.")
                .with_help("a handle can be deleted once, in the session that created it")
        })
    }

    /// The number of tensors kept.
    pub fn len(&self) -> usize {
        self.0.lock().tensors.len()
    }

    /// Whether no tensor is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Opaque for SessionTensors {
    fn kind(&self) -> &'static str {
        "store of tensors"
    }
}

impl fmt::Debug for SessionTensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tensors kept under handles", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_until_it_is_deleted() {
        let kept = SessionTensors::default();
        let first = kept.keep("h", Tensor::scalar(5));
        let second = kept.keep("h", Tensor::scalar(6));
        assert_eq!(first, "h;0;/job:localhost/replica:0/task:0/device:CPU:0");
        assert_ne!(first, second);
        assert_eq!(kept.get(&second).unwrap().to_scalar::<i32>().unwrap(), 6);
        kept.delete(&first).unwrap();
        let gone = kept.get(&first).unwrap_err().to_string();
        assert!(gone.contains("is not in the session store"), "{gone}");
        let twice = kept.delete(&first).unwrap_err().to_string();
        assert!(twice.contains("Failed to delete a tensor with handle 'h;0;"), "{twice}");
        assert_eq!((kept.len(), kept.is_empty()), (1, false));
        // No handle is used twice.
        assert!(kept.keep("h", Tensor::scalar(7)).starts_with("h;2;"));
    }
}
