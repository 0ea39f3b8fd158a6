//! [`Progress`]: how far a run is, for people: its loops with the iterations that are over, how many there will be, and how fast they go.

use crate::bounds::Bounds;
use millstream_exec::LoopCount;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a run is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// How long it has been going on.
    pub elapsed: Duration,
    /// The loops that are alive, each after the one around it.
    pub loops: Vec<LoopProgress>,
    /// The run has ended: this is the last time that it is shown, and the loops are as they were when last seen.
    pub over: bool,
}

/// Where a loop is.
#[derive(Clone, Debug)]
pub struct LoopProgress {
    /// Its frame.
    pub name: String,
    /// How many iterations are over.
    pub iterations: u64,
    /// No more than so many come, where constants, feeds or `maximum_iterations` say.
    pub bound: Option<u64>,
    /// Iterations in a second, since it was last shown; none before it was seen twice.
    pub rate: Option<f64>,
}

/// What shows the progress of a run that takes long, called by the thread that called the run: not before `after`, then about every `every`, and
/// once more when the run is over, if it was ever shown. Of a run that is shorter nothing is seen.
#[derive(Clone)]
pub struct ShowProgress {
    /// How long a run has to take to be shown at all; half a second by default.
    pub after: Duration,
    /// How often it is shown; five times in a second by default.
    pub every: Duration,
    show: Arc<dyn Fn(&Progress) + Send + Sync>,
}

impl ShowProgress {
    /// Shows by this function.
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
    /// Found out when it is first shown.
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

    /// What the engine asks for.
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
            // An inner loop may have begun anew.
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

/// A frame's name as people know the loop: without what TensorFlow adds.
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
        // A bound that did not hold is not told.
        assert_eq!(at(9, Some(8), Some(0.5)), "loop `a/while`: iteration 9, 0.5/s; 2.5 s");
        assert_eq!(at(0, Some(0), Some(0.0)), "loop `a/while`: iteration 0 of 0 (100 %), 0.0/s; 2.5 s");
        assert_eq!(time(Duration::from_secs(3723)), "1:02:03 h");
        assert_eq!(time(Duration::from_secs(62)), "1:02 min");
    }
}
