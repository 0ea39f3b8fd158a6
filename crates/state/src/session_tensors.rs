//! [`SessionTensors`]: tensors that a session keeps between runs, each under a handle, which is a string.

use millstream_tensor::{Opaque, Result, Tensor, invalid};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;

/// The device that handles end in: the one that there is.
const DEVICE: &str = "/job:localhost/replica:0/task:0/device:CPU:0";

/// Tensors, each under a handle that no other had or will have.
///
/// Definition: TensorFlow's `SessionState`. A tensor is kept as soon as its handle is made, while TensorFlow waits for the run to end and
/// keeps those whose handles were fetched.
#[derive(Default)]
pub struct SessionTensors(
    /// Guards nothing else, and nothing is locked beneath it.
    Mutex<Kept>,
);

#[derive(Default)]
struct Kept {
    next: u64,
    tensors: BTreeMap<String, Tensor>,
}

impl SessionTensors {
    /// Where a session's kernels have it, among what they keep: no node's name begins so.
    pub const NAME: &str = "_session_tensors";

    /// Keeps a tensor for the node of this name; gives its handle.
    pub fn keep(&self, node: &str, tensor: Tensor) -> String {
        let mut kept = self.0.lock();
        let handle = format!("{node};{};{DEVICE}", kept.next);
        kept.next += 1;
        kept.tensors.insert(handle.clone(), tensor);
        handle
    }

    /// The tensor under a handle.
    pub fn get(&self, handle: &str) -> Result<Tensor> {
        self.0.lock().tensors.get(handle).cloned().ok_or_else(|| {
            invalid!("The tensor with handle '{handle}' is not in the session store.")
                .with_help("a handle is good in the session that made it, until it is deleted")
        })
    }

    /// Forgets the tensor under a handle.
    pub fn delete(&self, handle: &str) -> Result<()> {
        // Dropped only after the lock.
        let found = self.0.lock().tensors.remove(handle);
        found.map(drop).ok_or_else(|| {
            invalid!("Failed to delete a tensor with handle '{handle}' in the session store.")
                .with_help("a handle is deleted once, in the session that made it")
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.lock().tensors.len()
    }

    /// Whether there are none.
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
        // No handle is given out twice.
        assert!(kept.keep("h", Tensor::scalar(7)).starts_with("h;2;"));
    }
}
