//! The timing loop, and the line that it prints.

use super::Options;
use millstream::{Passes, SessionOptions};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The options and measurements that all cases share.
pub(super) struct Bench {
    variant: Option<String>,
    n: Option<usize>,
    pub(super) threads: usize,
    passes: Passes,
    pub(super) reps: usize,
    json: bool,
    /// What was measured so far.
    pub(super) rows: RefCell<Vec<Row>>,
}

/// A measurement.
pub(super) struct Row {
    pub(super) case: String,
    pub(super) variant: String,
    pub(super) value: f64,
    pub(super) unit: String,
}

impl Bench {
    pub(super) fn new(options: &Options) -> Bench {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Bench {
            variant: options.variant.clone(),
            n: options.n,
            threads: options.threads.unwrap_or(cores),
            passes: options.passes.unwrap_or_default(),
            reps: options.reps.max(1),
            json: options.json,
            rows: RefCell::default(),
        }
    }

    /// The options of a session that is measured.
    pub(super) fn session_options(&self) -> SessionOptions {
        SessionOptions { threads: Some(self.threads), passes: self.passes, ..SessionOptions::default() }
    }

    pub(super) fn wanted(&self, variant: &str) -> bool {
        self.variant.as_ref().is_none_or(|v| variant.contains(v.as_str()))
    }

    /// Whether the options name this variant in full.
    pub(super) fn only(&self, variant: &str) -> bool {
        self.variant.as_deref() == Some(variant)
    }

    pub(super) fn size(&self, default: usize) -> usize {
        self.n.unwrap_or(default)
    }

    /// The seconds of each counted repetition.
    pub(super) fn timed(
        &self,
        mut work: impl FnMut() -> millstream::Result<()>,
    ) -> millstream::Result<Vec<f64>> {
        self.timed_by(|| {
            let begin = Instant::now();
            work()?;
            Ok(begin.elapsed().as_secs_f64())
        })
    }

    /// Like `timed`, for work that returns its own time, without its preparation.
    pub(super) fn timed_by(
        &self,
        mut work: impl FnMut() -> millstream::Result<f64>,
    ) -> millstream::Result<Vec<f64>> {
        let begin = Instant::now();
        let mut warm = 0;
        while warm < 2 || begin.elapsed() < Duration::from_secs(1) {
            work()?;
            warm += 1;
        }
        (0..self.reps).map(|_| work()).collect()
    }

    /// Prints the rate: the `work` of a repetition divided by its seconds.
    pub(super) fn rate(&self, case: &str, variant: &str, n: usize, work: f64, times: &[f64], unit: &str) {
        self.emit(
            case,
            variant,
            n,
            times.iter().map(|t| work / t).collect(),
            unit,
            &[("rep_s", median(times))],
        );
    }

    /// Prints a note on the progress.
    pub(super) fn note(&self, text: &str) {
        if !self.json {
            println!("     {text}");
        }
    }

    pub(super) fn emit(
        &self,
        case: &str,
        variant: &str,
        n: usize,
        values: Vec<f64>,
        unit: &str,
        extra: &[(&str, f64)],
    ) {
        let (value, reps) = (median(&values), values.len());
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let threads = self.threads;
        let (case_of, variant_of, unit_of) = (case.to_owned(), variant.to_owned(), unit.to_owned());
        self.rows.borrow_mut().push(Row { case: case_of, variant: variant_of, value, unit: unit_of });
        if self.json {
            let extra: String = extra.iter().map(|(k, v)| format!(", \"{k}\": {}", digits(*v))).collect();
            println!(
                "{{\"peer\": \"millstream\", \"case\": \"{case}\", \"variant\": \"{variant}\", \"n\": {n}, \"value\": {}, \"unit\": \"{unit}\", \"reps\": {reps}, \"min\": {}, \"median\": {}, \"max\": {}, \"threads\": {threads}{extra}}}",
                digits(value),
                digits(min),
                digits(value),
                digits(max)
            );
        } else {
            println!(
                "{case:4} {variant:24} n={n:<9} {:>12} {unit}   ({} to {})",
                digits(value),
                digits(min),
                digits(max)
            );
        }
    }
}

pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mid = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[mid] } else { (sorted[mid - 1] + sorted[mid]) / 2.0 }
}

/// A number with five significant digits.
pub(super) fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let places = (4 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.places$}")
}
