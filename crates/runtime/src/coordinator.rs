//! [`Coordinator`]: threads that stop together.

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering::*, spawn};
use millstream_state::Asleep;
use millstream_tensor::{Code, Error, Result, invalid};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long [`Coordinator::join`] waits for threads after a stop.
const GRACE: Duration = Duration::from_secs(120);

/// Starts threads that stop together: the first that ends with an error stops all, and so does a request.
/// Clones share it.
///
/// A thread is asked to stop, never forced: it looks at [`Coordinator::should_stop`] between pieces of work.
/// Listeners ([`Coordinator::on_stop`]) wake threads that wait.
///
/// Definition: TensorFlow's `tf.train.Coordinator`.
///
/// ```
/// use millstream_runtime::Coordinator;
/// use std::time::Duration;
///
/// let coordinator = Coordinator::new();
/// let worker = coordinator.clone();
/// coordinator.spawn("worker", move || {
///     while !worker.wait_for_stop(Duration::from_millis(1)) { /* a piece of work */ }
///     Ok(())
/// })?;
/// coordinator.request_stop();
/// coordinator.join()?;
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone)]
pub struct Coordinator(Arc<Shared>);

struct Shared {
    /// Errors with these codes stop all threads, but are not reported.
    clean: Vec<Code>,
    /// Everything that changes. Nothing is locked while it is held, and no listener is called.
    state: Mutex<State>,
    /// Whether there is a stop, for threads that look between short pieces of work. Changes under the lock.
    stopped: AtomicBool,
    /// Notified when a stop is requested, and when a thread ends.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    stop: Option<Stop>,
    joined: bool,
    next: u64,
    /// The names of the threads that run.
    running: BTreeMap<u64, String>,
    listeners: Vec<Listener>,
}

type Listener = Box<dyn FnOnce(&Stop) + Send>;

/// The reason of a stop.
#[derive(Clone, Debug)]
pub enum Stop {
    /// It was requested, or the input came to its end.
    Asked,
    /// A thread failed with this error.
    Failed(Error),
}

impl std::fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coordinator")
            .field("running", &self.running())
            .field("stopped", &self.should_stop())
            .finish_non_exhaustive()
    }
}

impl Default for Coordinator {
    fn default() -> Self {
        Self::new()
    }
}

impl Coordinator {
    /// A coordinator for which `OUT_OF_RANGE`, the end of the input, is no error.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// assert!(!coordinator.should_stop());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn new() -> Coordinator {
        Self::with_clean_stops([Code::OutOfRange])
    }

    /// A coordinator for which errors with these codes are a reason to stop, but not reported.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// use std::time::Duration;
    /// let coordinator = Coordinator::with_clean_stops([Code::Cancelled]);
    /// coordinator.spawn("worker", || Err(millstream_tensor::Error::new(Code::Cancelled, "enough")))?;
    /// coordinator.join()?; // a reason to stop, but not an error
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn with_clean_stops(codes: impl IntoIterator<Item = Code>) -> Coordinator {
        let clean = codes.into_iter().collect();
        Coordinator(Arc::new(Shared {
            clean,
            state: Mutex::default(),
            stopped: AtomicBool::new(false),
            changed: Condvar::new(),
        }))
    }

    /// Runs `work` on a thread of its own. If it returns an error or panics, all threads stop.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// coordinator.spawn("fails", || Err(millstream_tensor::Error::invalid("no such file")))?;
    /// assert!(coordinator.join().unwrap_err().to_string().contains("no such file"));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn spawn(
        &self,
        name: impl Into<String>,
        work: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let name = name.into();
        let id = {
            let mut state = self.0.state.lock();
            if state.joined {
                return Err(invalid!(
                    "thread `{name}` was started after the coordinator's threads were joined"
                )
                .with_help("call `clear_stop` first"));
            }
            state.next += 1;
            let id = state.next;
            state.running.insert(id, name.clone());
            id
        };
        let ending = Ending { coordinator: self.clone(), id };
        let body = move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            let result = result.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                Err(Error::internal(format!("a thread panicked: {text}")))
            });
            if let Err(error) = result {
                // After a join there is nobody to report it to.
                let _ = ending.coordinator.request_stop_for(error);
            }
            drop(ending);
        };
        // Where no thread can be started the closure is dropped, which takes the thread off the list.
        spawn(name.clone(), body).map_err(|e| {
            Error::new(Code::ResourceExhausted, format!("thread `{name}` could not be started: {e}"))
        })
    }

    /// Calls `work` every `interval` on a thread of its own, or without pause if there is no interval, until
    /// the stop.
    ///
    /// Definition: TensorFlow's `LooperThread`.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let coordinator = Coordinator::new();
    /// let beats = Arc::new(AtomicUsize::new(0));
    /// let (count, asks) = (beats.clone(), coordinator.clone());
    /// coordinator.spawn_looper("heart", None, move || {
    ///     if count.fetch_add(1, Ordering::SeqCst) == 2 {
    ///         asks.request_stop();
    ///     }
    ///     Ok(())
    /// })?;
    /// coordinator.join()?;
    /// assert_eq!(beats.load(Ordering::SeqCst), 3);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn spawn_looper(
        &self,
        name: impl Into<String>,
        interval: Option<Duration>,
        mut work: impl FnMut() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let coordinator = self.clone();
        self.spawn(name, move || {
            let mut next = Instant::now();
            while !coordinator.should_stop() {
                work()?;
                if let Some(interval) = interval {
                    next += interval;
                    coordinator.wait_for_stop(next.saturating_duration_since(Instant::now()));
                }
            }
            Ok(())
        })
    }

    /// Asks all threads to stop.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// coordinator.request_stop();
    /// assert!(coordinator.should_stop());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn request_stop(&self) {
        self.stop(Stop::Asked);
    }

    /// Asks all threads to stop because of an error. [`Coordinator::join`] returns the first such error,
    /// unless its code is one that is not reported. After the join the error is returned from here.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// coordinator.request_stop_for(millstream_tensor::Error::invalid("out of paper"))?;
    /// assert!(coordinator.join().unwrap_err().to_string().contains("out of paper"));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn request_stop_for(&self, error: Error) -> Result<()> {
        if self.0.clean.contains(&error.code()) {
            self.stop(Stop::Asked);
            return Ok(());
        }
        if self.0.state.lock().joined {
            return Err(error);
        }
        self.stop(Stop::Failed(error));
        Ok(())
    }

    fn stop(&self, why: Stop) {
        let listeners = {
            let mut state = self.0.state.lock();
            // A failure replaces a mere request.
            match (&state.stop, &why) {
                (None, _) | (Some(Stop::Asked), Stop::Failed(_)) => state.stop = Some(why.clone()),
                (Some(_), _) => {}
            }
            self.0.stopped.store(true, Release);
            std::mem::take(&mut state.listeners)
        };
        self.0.changed.notify_all();
        for tell in listeners {
            tell(&why);
        }
    }

    /// Whether a stop was requested.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// let worker = coordinator.clone();
    /// coordinator.spawn("worker", move || {
    ///     while !worker.should_stop() {
    ///         std::thread::yield_now(); // a piece of work
    ///     }
    ///     Ok(())
    /// })?;
    /// coordinator.request_stop();
    /// coordinator.join()?;
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn should_stop(&self) -> bool {
        self.0.stopped.load(Acquire)
    }

    /// Waits for a stop, at most this long. Returns whether one was requested.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// use std::time::Duration;
    /// let coordinator = Coordinator::new();
    /// assert!(!coordinator.wait_for_stop(Duration::from_millis(1)));
    /// coordinator.request_stop();
    /// assert!(coordinator.wait_for_stop(Duration::from_secs(60))); // returns at once
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn wait_for_stop(&self, at_most: Duration) -> bool {
        let until = Instant::now().checked_add(at_most);
        let mut state = self.0.state.lock();
        while state.stop.is_none() {
            match until {
                Some(until) if self.0.changed.wait_until(&mut state, until).timed_out() => break,
                Some(_) => {}
                None => self.0.changed.wait(&mut state),
            }
        }
        state.stop.is_some()
    }

    /// Calls `tell` when a stop is requested; at once if it was. For waking threads that wait.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// use std::sync::mpsc::channel;
    /// let coordinator = Coordinator::new();
    /// let (send, receive) = channel();
    /// coordinator.on_stop(move |_| drop(send.send("stopped")));
    /// coordinator.request_stop();
    /// assert_eq!(receive.recv(), Ok("stopped"));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn on_stop(&self, tell: impl FnOnce(&Stop) + Send + 'static) {
        let mut state = self.0.state.lock();
        match state.stop.clone() {
            None => state.listeners.push(Box::new(tell)),
            Some(stop) => {
                drop(state);
                tell(&stop);
            }
        }
    }

    /// Forgets the stop, so that threads may be started and joined again.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// coordinator.request_stop();
    /// coordinator.clear_stop();
    /// assert!(!coordinator.should_stop());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn clear_stop(&self) {
        let mut state = self.0.state.lock();
        (state.stop, state.joined) = (None, false);
        self.0.stopped.store(false, Release);
    }

    /// Calls `work`. An error that it returns stops all threads and is returned by [`Coordinator::join`].
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// assert_eq!(coordinator.stop_on_error(|| Ok(7))?, Some(7));
    /// let work = || -> Result<()> { Err(millstream_tensor::Error::invalid("out of paper")) };
    /// let failed = coordinator.stop_on_error(work)?;
    /// assert_eq!(failed, None);
    /// assert!(coordinator.should_stop());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn stop_on_error<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        match work() {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.request_stop_for(error).map(|()| None),
        }
    }

    /// Waits until all threads have ended. Returns the error that stopped them. Threads that still run two
    /// minutes after the stop are named in an error.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// coordinator.spawn("worker", || Ok(()))?;
    /// coordinator.request_stop();
    /// coordinator.join()?; // the error of a thread, if one failed
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn join(&self) -> Result<()> {
        self.join_within(GRACE)
    }

    /// As [`Coordinator::join`], with `grace` instead of two minutes.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// use std::time::Duration;
    /// let coordinator = Coordinator::new();
    /// coordinator.spawn("worker", || Ok(()))?;
    /// coordinator.request_stop();
    /// coordinator.join_within(Duration::from_secs(5))?;
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn join_within(&self, grace: Duration) -> Result<()> {
        // This thread can no longer end what the others wait for.
        let _asleep = Asleep::outside();
        let mut state = self.0.state.lock();
        while !state.running.is_empty() && state.stop.is_none() {
            self.0.changed.wait(&mut state);
        }
        let until = Instant::now().checked_add(grace);
        while !state.running.is_empty() {
            match until {
                Some(until) if self.0.changed.wait_until(&mut state, until).timed_out() => break,
                Some(_) => {}
                None => self.0.changed.wait(&mut state),
            }
        }
        state.joined = true;
        if let Some(Stop::Failed(error)) = &state.stop {
            return Err(error.clone());
        }
        if state.running.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = state.running.values().map(|name| format!("`{name}`")).collect();
        Err(Error::new(
            Code::DeadlineExceeded,
            format!("the coordinator stopped with threads still running after {grace:?}: {}", names.join(", ")),
        )
        .with_help("check `should_stop` more often in them, wake them with `on_stop`, or join with a longer grace period"))
    }

    /// The names of the threads that run.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// let coordinator = Coordinator::new();
    /// let worker = coordinator.clone();
    /// coordinator.spawn("worker", move || {
    ///     while !worker.should_stop() {
    ///         std::thread::yield_now();
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(coordinator.running(), ["worker"]);
    /// coordinator.request_stop();
    /// coordinator.join()?;
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn running(&self) -> Vec<String> {
        self.0.state.lock().running.values().cloned().collect()
    }
}

/// Takes a thread off the coordinator's list when it drops.
struct Ending {
    coordinator: Coordinator,
    id: u64,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.coordinator.0.state.lock().running.remove(&self.id);
        self.coordinator.0.changed.notify_all();
    }
}
