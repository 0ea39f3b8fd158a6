//! [`HostFunction`]: functions of the host program, which nodes of a graph call by a token.
//!
//! Each graph has a table of its functions ([`HostFunctions`]), and its runs call no others: a graph from a
//! file cannot call a function of the program that imports it, whatever token its nodes carry. Tokens are
//! random, too. A function stays in the table as long as its [`HostToken`]. A function may do whatever the
//! program may, including running sessions. A run on a thread that is inside a host function uses no other
//! threads; see [`in_host_function`].

use crate::Cancellation;
use crate::activity::InHostFunction;
use millstream_tensor::{Code, Error, Result, Tensor};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock, Weak};

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

/// The functions that the nodes of one graph may call, by token.
#[derive(Default)]
pub struct HostFunctions {
    /// The lock is not held during calls.
    table: Mutex<HashMap<String, Arc<dyn HostFunction>>>,
}

impl std::fmt::Debug for HostFunctions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostFunctions").field("functions", &self.table.lock().len()).finish_non_exhaustive()
    }
}

impl HostFunctions {
    /// Calls the function with this token; `None` if the graph has none. A call inside of 32 others
    /// on this thread is an error.
    pub fn call(
        &self,
        token: &str,
        inputs: Vec<Tensor>,
        cancel: &Cancellation,
    ) -> Option<Result<Vec<Tensor>>> {
        let function = self.table.lock().get(token).cloned()?;
        if MAX_DEPTH <= InHostFunction::depth() {
            return Some(Err(too_deep(token)));
        }
        let _inside = InHostFunction::enter();
        Some(function.call(inputs, cancel))
    }
}

/// The most calls of host functions inside of one another: of functions that run sessions whose nodes call
/// functions. Each takes about 20 KiB of the stack in a build for tests, and threads have 2 MiB.
const MAX_DEPTH: usize = 32;

#[cold]
fn too_deep(token: &str) -> Error {
    let message = format!(
        "{token} is called inside of {MAX_DEPTH} other calls of host functions, each by a run of the one \
         before: at most {MAX_DEPTH} may be nested"
    );
    Error::new(Code::FailedPrecondition, message).with_help(
        "a function must not fetch what its own call computes; fetch only values that do not need it",
    )
}

/// The token of a function. No node can call the function before [`HostToken::join`], nor after the token was
/// dropped.
pub struct HostToken {
    token: String,
    function: Arc<dyn HostFunction>,
    functions: OnceLock<Weak<HostFunctions>>,
}

impl std::fmt::Debug for HostToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HostToken").field(&self.token).finish()
    }
}

impl HostToken {
    /// A token for a function.
    pub fn new(function: impl HostFunction + 'static) -> HostToken {
        HostToken::with(|_| function)
    }

    /// A token for a function that needs to know it; otherwise the same as [`HostToken::new`].
    pub fn with<F: HostFunction + 'static>(make: impl FnOnce(&str) -> F) -> HostToken {
        // TensorFlow's tokens begin like this and go on with a count, which anybody can guess. The keys of a
        // `RandomState` are random, and its hashes do not reveal them.
        let random = RandomState::new();
        let token = format!("pyfunc_{:016x}{:016x}", random.hash_one(0), random.hash_one(1));
        let function = Arc::new(make(&token));
        HostToken { token, function, functions: OnceLock::new() }
    }

    /// Lets the nodes of one graph call the function. Only the first call has an effect.
    pub fn join(&self, functions: &Arc<HostFunctions>) {
        let mut first = false;
        self.functions.get_or_init(|| {
            first = true;
            Arc::downgrade(functions)
        });
        if first {
            functions.table.lock().insert(self.token.clone(), self.function.clone());
        }
    }

    /// The token as nodes carry it.
    pub fn as_str(&self) -> &str {
        &self.token
    }
}

impl Drop for HostToken {
    fn drop(&mut self) {
        // The function may own anything, so it is dropped after the lock is released.
        let functions = self.functions.get().and_then(Weak::upgrade);
        let function = functions.and_then(|functions| functions.table.lock().remove(&self.token));
        drop(function);
    }
}

/// Whether this thread is inside a call of a host function. Code that runs there must not wait for threads of
/// a pool: all of them may be inside functions that wait for the same.
pub fn in_host_function() -> bool {
    InHostFunction::depth() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(functions: &HostFunctions, token: &str) -> Option<Result<Vec<Tensor>>> {
        functions.call(token, vec![Tensor::scalar(2)], &Cancellation::new())
    }

    #[test]
    fn lives_as_long_as_its_token() {
        let held = Arc::new(());
        let inside = held.clone();
        let functions = Arc::new(HostFunctions::default());
        let token = HostToken::new(move |x: &[Tensor]| {
            let _ = &inside;
            assert!(in_host_function());
            Ok(x.to_vec())
        });
        let name = token.as_str().to_owned();
        assert!(call(&functions, &name).is_none(), "it belongs to no graph yet");
        token.join(&functions);
        assert_eq!(call(&functions, &name).expect("is there").expect("works").len(), 1);
        assert!(!in_host_function());
        drop(token);
        assert!(call(&functions, &name).is_none());
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn calls_inside_of_calls_are_bounded() {
        let functions = Arc::new(HostFunctions::default());
        let (own, inner) = (Arc::new(OnceLock::<String>::new()), functions.clone());
        let name = own.clone();
        let token =
            HostToken::new(move |_: &[Tensor]| call(&inner, name.get().expect("is set")).expect("is there"));
        token.join(&functions);
        own.set(token.as_str().to_owned()).expect("is set once");
        for _ in 0..2 {
            let error = call(&functions, token.as_str()).expect("is there").expect_err("it never ends");
            assert!(error.message().contains("is called inside of 32 other calls"), "{error}");
            assert!(error.message().contains(token.as_str()), "{error}");
        }
    }

    #[test]
    fn tokens_are_random_and_valid_in_one_table_only() {
        let functions = [Arc::new(HostFunctions::default()), Arc::new(HostFunctions::default())];
        let tokens: Vec<_> = (0..100).map(|_| HostToken::new(|x: &[Tensor]| Ok(x.to_vec()))).collect();
        tokens.iter().for_each(|token| token.join(&functions[0]));
        tokens.iter().for_each(|token| token.join(&functions[1]));
        for token in &tokens {
            assert!(call(&functions[0], token.as_str()).is_some());
            assert!(call(&functions[1], token.as_str()).is_none(), "the first graph is the only one");
            let digits = token.as_str().strip_prefix("pyfunc_").expect("begins as TensorFlow's");
            assert_eq!(digits.len(), 32, "{digits}");
        }
        let different: std::collections::BTreeSet<&str> = tokens.iter().map(HostToken::as_str).collect();
        assert_eq!(different.len(), tokens.len());
        assert!(!different.contains("pyfunc_0"));
    }

    #[test]
    fn may_be_put_away_while_it_is_called() {
        let functions = Arc::new(HostFunctions::default());
        let token = Arc::new(Mutex::new(None));
        let own = token.clone();
        let made = HostToken::new(move |_: &[Tensor]| {
            drop(own.lock().take());
            Ok(Vec::new())
        });
        made.join(&functions);
        let name = made.as_str().to_owned();
        *token.lock() = Some(made);
        assert!(call(&functions, &name).expect("is there").is_ok());
        assert!(call(&functions, &name).is_none());
    }
}
