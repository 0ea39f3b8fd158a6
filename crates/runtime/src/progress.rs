//! [`Progress`]: how far a run is, for people: the iterations of its loops, their bounds, and their rates.

use crate::bounds::Bounds;
use millstream_exec::LoopCount;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How far a run is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The time since it began.
    pub elapsed: Duration,
    /// The loops that are alive, each after the one around it.
    pub loops: Vec<LoopProgress>,
    /// Whether the run has ended. This is then the last time that it is shown, with the loops as they were
    /// last seen.
    pub over: bool,
}

/// How far a loop is.
#[derive(Clone, Debug)]
pub struct LoopProgress {
    /// The frame's name.
    pub name: String,
    /// The number of iterations that are over.
    pub iterations: u64,
    /// The most iterations, where constants, feeds or `maximum_iterations` bound them.
    pub bound: Option<u64>,
    /// Iterations per second since it was last shown; `None` before it was seen twice.
    pub rate: Option<f64>,
}

/// Shows the progress of a run that takes long, on the thread that called the run: first after `after`, then
/// about every `every`, and once more when the run is over. A run that is shorter than `after` is not shown.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// use std::sync::{Arc, Mutex};
/// use std::time::Duration;
/// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 100.0), |x| x * 2.0)?;
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let keep = seen.clone();
/// let mut show = ShowProgress::new(move |progress| keep.lock().unwrap().push(progress.over));
/// show.after = Duration::ZERO; // short runs, too
/// let options = RunOptions { progress: Some(show), ..RunOptions::default() };
/// Session::new(&g)?.run_with::<f32>(y, feed![], &options)?;
/// println!("shown {} times", seen.lock().unwrap().len());
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone)]
pub struct ShowProgress {
    /// How long a run has to take to be shown; half a second by default.
    pub after: Duration,
    /// The time between showings; a fifth of a second by default.
    pub every: Duration,
    show: Arc<dyn Fn(&Progress) + Send + Sync>,
}

impl ShowProgress {
    /// Shows progress with this function.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// use std::time::Duration;
    /// let show = ShowProgress::new(|progress| {
    ///     for one in &progress.loops {
    ///         eprintln!("{}: {} iterations", one.name, one.iterations);
    ///     }
    /// });
    /// assert_eq!(show.after, Duration::from_millis(500));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn new(show: impl Fn(&Progress) + Send + Sync + 'static) -> ShowProgress {
        ShowProgress {
            after: Duration::from_millis(500),
            every: Duration::from_millis(200),
            show: Arc::new(show),
        }
    }
}

impl fmt::Debug for ShowProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShowProgress")
            .field("after", &self.after)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

/// One run that is shown.
pub(crate) struct Shown {
    how: ShowProgress,
    start: Instant,
    /// Computed when the run is first shown.
    bounds: Mutex<Option<Bounds>>,
    last: Mutex<Option<Progress>>,
}

impl Shown {
    /// A run that begins now.
    pub(crate) fn new(how: &ShowProgress) -> Arc<Shown> {
        Arc::new(Shown {
            how: how.clone(),
            start: Instant::now(),
            bounds: Mutex::default(),
            last: Mutex::default(),
        })
    }

    /// The engine's part.
    pub(crate) fn engine(
        self: &Arc<Self>,
        find: impl Fn() -> Bounds + Send + Sync + 'static,
    ) -> millstream_exec::Progress {
        let it = self.clone();
        millstream_exec::Progress::new(self.how.after, self.how.every, move |counts| it.show(counts, &find))
    }

    fn show(&self, counts: &[LoopCount], find: &dyn Fn() -> Bounds) {
        let elapsed = self.start.elapsed();
        let mut bounds = self.bounds.lock();
        let bounds = bounds.get_or_insert_with(find);
        let before = self.last.lock().take();
        let before = before.as_ref();
        let seconds = before.map_or(0.0, |b| (elapsed - b.elapsed.min(elapsed)).as_secs_f64());
        let seen: HashMap<&str, u64> =
            before.iter().flat_map(|b| &b.loops).map(|l| (l.name.as_str(), l.iterations)).collect();
        let loops = counts.iter().map(|c| LoopProgress {
            name: c.name.clone(),
            iterations: c.iterations,
            bound: bounds.get(&c.name),
            // An inner loop may have started again.
            rate: (seen.get(c.name.as_str()))
                .filter(|n| **n <= c.iterations && 0.0 < seconds)
                .map(|n| (c.iterations - n) as f64 / seconds),
        });
        let now = Progress { elapsed, loops: loops.collect(), over: false };
        (self.how.show)(&now);
        *self.last.lock() = Some(now);
    }

    /// The run is over.
    pub(crate) fn end(&self) {
        if let Some(last) = self.last.lock().take() {
            (self.how.show)(&Progress { elapsed: self.start.elapsed(), over: true, ..last });
        }
    }
}

impl fmt::Display for LoopProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loop `{}`: iteration {}", short(&self.name), grouped(self.iterations))?;
        if let Some(bound) = self.bound.filter(|b| self.iterations <= *b) {
            let percent = (self.iterations * 100).checked_div(bound).unwrap_or(100);
            write!(f, " of {} ({percent} %)", grouped(bound))?;
        }
        match self.rate {
            Some(rate) if 10.0 <= rate => write!(f, ", {}/s", grouped(rate.round() as u64)),
            Some(rate) => write!(f, ", {rate:.1}/s"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Progress {
    /// One line: ``loop `while`: iteration 41,000 of 100,000 (41 %), 52,113/s; 0.8 s``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.over {
            return write!(f, "ended after {}", time(self.elapsed));
        }
        for it in &self.loops {
            write!(f, "{it}; ")?;
        }
        write!(f, "{}", time(self.elapsed))?;
        let left =
            self.loops.first().and_then(|l| Some((l.bound?.checked_sub(l.iterations)? as f64, l.rate?)));
        match left {
            Some((left, rate)) if 0.0 < rate => {
                write!(f, ", at most {} left", time(Duration::from_secs_f64((left / rate).min(1e9))))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a loop: its frame's, without the part that TensorFlow adds.
fn short(name: &str) -> &str {
    name.strip_suffix("/while_context").unwrap_or(name)
}

fn time(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        s @ 60..3600 => format!("{}:{:02} min", s / 60, s % 60),
        s => format!("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60),
    }
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if 0 < i && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(iterations: u64, bound: Option<u64>, rate: Option<f64>) -> String {
        let it = LoopProgress { name: "a/while/while_context".into(), iterations, bound, rate };
        Progress { elapsed: Duration::from_millis(2500), loops: vec![it], over: false }.to_string()
    }

    #[test]
    fn a_line_says_what_is_known() {
        assert_eq!(at(7, None, None), "loop `a/while`: iteration 7; 2.5 s");
        assert_eq!(
            at(41_000, Some(100_000), Some(29_500.0)),
            "loop `a/while`: iteration 41,000 of 100,000 (41 %), 29,500/s; 2.5 s, at most 2.0 s left"
        );
        // A bound that did not hold is not shown.
        assert_eq!(at(9, Some(8), Some(0.5)), "loop `a/while`: iteration 9, 0.5/s; 2.5 s");
        assert_eq!(at(0, Some(0), Some(0.0)), "loop `a/while`: iteration 0 of 0 (100 %), 0.0/s; 2.5 s");
        assert_eq!(time(Duration::from_secs(3723)), "1:02:03 h");
        assert_eq!(time(Duration::from_secs(62)), "1:02 min");
    }
}
