//! [`Journal`]: what kernels change in objects that live for a step, so that it can be undone.
//!
//! A compiled loop that fails in the middle of an iteration leaves the iteration to the machine, which runs
//! it from its start. TensorArrays and stacks are then as they were before it. The kernels note their changes
//! in the journal that is open on their thread, if one is.

use crate::stack::Stack;
use crate::tensor_array::{Before, TensorArray};
use millstream_tensor::Tensor;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// Changes, the last one last.
#[derive(Default)]
pub struct Journal(Vec<Change>);

enum Change {
    /// An element of an array was written or read.
    Element(Arc<TensorArray>, Before),
    /// A tensor was pushed onto a stack.
    Push(Arc<Stack>),
    /// This tensor was popped from a stack.
    Pop(Arc<Stack>, Tensor),
}

thread_local! {
    /// The journal that is open on this thread.
    static OPEN: RefCell<Option<Journal>> = const { RefCell::new(None) };
}

impl Journal {
    /// Opens the journal on this thread while `work` runs.
    pub fn within<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let around = OPEN.replace(Some(std::mem::take(self)));
        let result = work();
        *self = OPEN.replace(around).unwrap_or_default();
        result
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a journal of {} changes", self.0.len())
    }
}

/// Notes that an element of an array is about to be written or read.
pub fn note_element(array: &Arc<TensorArray>, index: i64) {
    OPEN.with_borrow_mut(|open| {
        if let Some(journal) = open {
            journal.0.push(Change::Element(array.clone(), array.before(index)));
        }
    });
}

/// Notes that a tensor was pushed onto a stack.
pub fn note_push(stack: &Arc<Stack>) {
    OPEN.with_borrow_mut(|open| {
        if let Some(journal) = open {
            journal.0.push(Change::Push(stack.clone()));
        }
    });
}

/// Notes that a tensor was popped from a stack.
pub fn note_pop(stack: &Arc<Stack>, value: &Tensor) {
    OPEN.with_borrow_mut(|open| {
        if let Some(journal) = open {
            journal.0.push(Change::Pop(stack.clone(), value.clone()));
        }
    });
}

/// Forgets the changes that the open journal holds: they are final.
pub fn forget() {
    OPEN.with_borrow_mut(|open| {
        if let Some(journal) = open {
            journal.0.clear();
        }
    });
}

/// Undoes the changes that the open journal holds, the last one first.
pub fn undo() {
    let changes = OPEN.with_borrow_mut(|open| open.as_mut().map(|journal| std::mem::take(&mut journal.0)));
    for change in changes.into_iter().flatten().rev() {
        match change {
            Change::Element(array, before) => array.restore(before),
            Change::Push(stack) => drop(stack.pop()),
            Change::Pop(stack, value) => drop(stack.push(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TensorArrayOptions;
    use millstream_tensor::{DType, PartialShape};

    #[test]
    fn changes_are_undone() {
        let options = TensorArrayOptions {
            element_shape: PartialShape::unknown(),
            dynamic_size: true,
            clear_after_read: true,
            identical_element_shapes: true,
        };
        let array = Arc::new(TensorArray::new("a", DType::I32, 2, options).unwrap());
        let stack = Arc::new(Stack::new("s", DType::I32, None));
        let sum = |a, _| Ok(a);
        let write = |index: i64, value: i32| {
            note_element(&array, index);
            array.write([(index, Tensor::scalar(value))], &sum).unwrap();
        };
        let read = |index: i64| {
            note_element(&array, index);
            array.read([index]).unwrap()[0].to_scalar::<i32>().unwrap()
        };
        let mut journal = Journal::default();
        write(0, 7);
        journal.within(|| {
            write(1, 8);
            stack.push(Tensor::scalar(1)).unwrap();
            note_push(&stack);
            forget();
            assert_eq!(read(0), 7);
            write(3, 9);
            let popped = stack.pop().unwrap();
            note_pop(&stack, &popped);
            stack.push(Tensor::scalar(2)).unwrap();
            note_push(&stack);
            undo();
        });
        assert_eq!(array.len().unwrap(), 2);
        assert_eq!((read(0), read(1)), (7, 8));
        assert_eq!(stack.pop().unwrap().to_scalar::<i32>().unwrap(), 1);
        assert!(stack.pop().is_err());
    }
}
