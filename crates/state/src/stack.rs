//! [`Stack`]: tensors that a loop saves for the loop that computes its gradient.

use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Error, Opaque, Result, Tensor, ensure, invalid};
use parking_lot::Mutex;
use std::fmt;

/// A stack of tensors of one dtype: last in, first out.
pub struct Stack {
    name: String,
    dtype: DType,
    max_len: Option<usize>,
    /// The tensors; `None` once the stack is closed. The lock guards only this field, and no other lock is
    /// taken under it.
    items: Mutex<Option<Charged<Tensor>>>,
}

impl Stack {
    /// An empty stack.
    pub fn new(name: impl Into<String>, dtype: DType, max_len: Option<usize>) -> Stack {
        Stack { name: name.into(), dtype, max_len, items: Mutex::new(Some(Charged::new())) }
    }

    /// The dtype of the tensors.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Pushes a tensor.
    pub fn push(&self, value: Tensor) -> Result<()> {
        ensure!(value.dtype() == self.dtype, "{self:?} holds {}, not {}", self.dtype, value.dtype());
        let mut items = self.items.lock();
        let items = items.as_mut().ok_or_else(|| self.closed())?;
        if let Some(max) = self.max_len {
            ensure!(items.len() < max, "Stack[{}_0] overflowed its max_size ({max})", self.name; "{self:?} is full: it holds `max_size` = {max} tensors");
        }
        items.push(value)
    }

    /// Pops the last tensor.
    pub fn pop(&self) -> Result<Tensor> {
        let mut items = self.items.lock();
        let items = items.as_mut().ok_or_else(|| self.closed())?;
        items.pop().ok_or_else(|| invalid!("Stack[{}_0] is empty when calling Pop().", self.name; "{self:?} is empty: there is nothing to pop"))
    }

    /// The tensor that would be popped, if there is one.
    pub fn top(&self) -> Option<Tensor> {
        self.items.lock().as_ref()?.last().cloned()
    }

    /// Closes the stack and drops its tensors. Afterwards only `close` may be called again.
    pub fn close(&self) {
        let old = self.items.lock().take();
        drop(old);
    }

    fn closed(&self) -> Error {
        invalid!("Stack[{}_0] has already been closed.", self.name; "{self:?} has been closed already")
    }
}

impl Opaque for Stack {
    fn kind(&self) -> &'static str {
        "stack"
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stack `{}`", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_in_first_out() {
        let s = Stack::new("s", DType::I32, Some(2));
        for v in [1, 2] {
            s.push(Tensor::scalar(v)).unwrap();
        }
        let say = |r: Result<()>| r.unwrap_err().to_string();
        assert_eq!(
            say(s.push(Tensor::scalar(3))),
            "Stack[s_0] overflowed its max_size (2)\n  stack `s` is full: it holds `max_size` = 2 tensors"
        );
        assert_eq!(say(s.push(Tensor::scalar(3.0))), "stack `s` holds i32, not f64");
        let pop = || s.pop().unwrap().to_scalar::<i32>().unwrap();
        assert_eq!((pop(), pop()), (2, 1));
        assert_eq!(
            say(s.pop().map(drop)),
            "Stack[s_0] is empty when calling Pop().\n  stack `s` is empty: there is nothing to pop"
        );
        s.close();
        assert_eq!(
            say(s.pop().map(drop)),
            "Stack[s_0] has already been closed.\n  stack `s` has been closed already"
        );
        assert_eq!(
            say(s.push(Tensor::scalar(3))),
            "Stack[s_0] has already been closed.\n  stack `s` has been closed already"
        );
        s.close();
    }
}
