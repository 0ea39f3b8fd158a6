//! [`HostFunction`]: functions of the host program, which nodes of a graph call by a token.
//!
//! A process-wide table holds the functions. A function stays in it as long as its [`HostToken`], which must
//! be kept while the function may be called (a graph keeps the tokens of its nodes). A function may do
//! whatever the program may, including running sessions. A run on a thread that is inside a host function
//! uses no other threads; see [`in_host_function`].

use crate::Cancellation;
use millstream_tensor::{Result, Tensor};
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

/// A function of the host program. Several threads may call it at a time.
pub trait HostFunction: Send + Sync {
    /// Calls the function. It owns its inputs; `cancel` is raised when the calling run is to stop.
    fn call(&self, inputs: Vec<Tensor>, cancel: &Cancellation) -> Result<Vec<Tensor>>;
}

impl<F: Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync> HostFunction for F {
    fn call(&self, inputs: Vec<Tensor>, _cancel: &Cancellation) -> Result<Vec<Tensor>> {
        self(&inputs)
    }
}

type Table = HashMap<String, Arc<dyn HostFunction>>;

/// The functions in use, by token. The lock is not held during calls.
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// The number of the next token.
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The token of a function in the table; dropping it removes the function.
#[derive(Debug)]
pub struct HostToken(String);

impl HostToken {
    /// Adds a function to the table.
    pub fn new(function: impl HostFunction + 'static) -> HostToken {
        HostToken::with(|_| function)
    }

    /// Adds a function that needs to know its own token; otherwise the same as [`HostToken::new`].
    pub fn with<F: HostFunction + 'static>(make: impl FnOnce(&str) -> F) -> HostToken {
        // TensorFlow's tokens have this form.
        let token = format!("pyfunc_{}", NEXT.fetch_add(1, Relaxed));
        let function: Arc<dyn HostFunction> = Arc::new(make(&token));
        TABLE.lock().insert(token.clone(), function);
        HostToken(token)
    }

    /// The token as nodes carry it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Drop for HostToken {
    fn drop(&mut self) {
        // The function may own anything, so it is dropped after the lock is released.
        let function = TABLE.lock().remove(&self.0);
        drop(function);
    }
}

/// Calls the function with this token; `None` if there is none.
pub fn call_host_function(
    token: &str,
    inputs: Vec<Tensor>,
    cancel: &Cancellation,
) -> Option<Result<Vec<Tensor>>> {
    let function = TABLE.lock().get(token).cloned()?;
    let _inside = Inside::enter();
    Some(function.call(inputs, cancel))
}

/// Whether this thread is inside a call of a host function. Code that runs there must not wait for threads of
/// a pool: all of them may be inside functions that wait for the same.
pub fn in_host_function() -> bool {
    DEPTH.get() > 0
}

struct Inside;

impl Inside {
    fn enter() -> Inside {
        DEPTH.set(DEPTH.get() + 1);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_as_long_as_its_token() {
        let held = Arc::new(());
        let inside = held.clone();
        let token = HostToken::new(move |x: &[Tensor]| {
            let _ = &inside;
            assert!(in_host_function());
            Ok(x.to_vec())
        });
        let name = token.as_str().to_owned();
        assert!(name.starts_with("pyfunc_"));
        let call = || call_host_function(&name, vec![Tensor::scalar(2)], &Cancellation::new());
        assert_eq!(call().expect("is there").expect("works").len(), 1);
        assert!(!in_host_function());
        drop(token);
        assert!(call().is_none());
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn may_be_put_away_while_it_is_called() {
        let token = Arc::new(Mutex::new(None));
        let own = token.clone();
        let made = HostToken::new(move |_: &[Tensor]| {
            drop(own.lock().take());
            Ok(Vec::new())
        });
        let name = made.as_str().to_owned();
        *token.lock() = Some(made);
        assert!(call_host_function(&name, Vec::new(), &Cancellation::new()).expect("is there").is_ok());
        assert!(call_host_function(&name, Vec::new(), &Cancellation::new()).is_none());
    }
}
