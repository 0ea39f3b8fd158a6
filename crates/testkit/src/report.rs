//! [`Report`]: runs many cases as one test, counts them, and lists every failure.

use crate::workers::on_all_cores;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns what the check says, or that it panicked.
fn caught(check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("PANIC: {}", text.unwrap_or_default()))
    })
}

/// The results of the cases of a suite.
#[derive(Default, Debug)]
pub struct Report {
    passed: usize,
    failures: Vec<(String, String)>,
    expected: BTreeMap<String, usize>,
    stale: Vec<String>,
}

impl Report {
    /// A report without cases.
    pub fn new() -> Report {
        Report::default()
    }

    /// Adds the result of a case. `reason` is given if the case is known to fail.
    pub fn add(&mut self, case: &str, reason: Option<&str>, result: Result<(), String>) {
        match (result, reason) {
            (Ok(()), None) => self.passed += 1,
            (Ok(()), Some(_)) => self.stale.push(case.to_owned()),
            (Err(_), Some(reason)) => *self.expected.entry(reason.to_owned()).or_default() += 1,
            (Err(error), None) => self.failures.push((case.to_owned(), error)),
        }
    }

    /// Runs a case and adds its result. A panic counts as a failure.
    pub fn run(&mut self, case: &str, reason: Option<&str>, check: impl FnOnce() -> Result<(), String>) {
        self.add(case, reason, caught(check));
    }

    /// Runs cases on all cores, and adds their results in order. A panic counts as a failure.
    pub fn run_all<T: Sync>(
        &mut self,
        cases: &[T],
        told: impl Fn(&T) -> (String, Option<&'static str>),
        check: impl Fn(&T) -> Result<(), String> + Sync,
    ) {
        let results = on_all_cores(cases, |case| caught(|| check(case)));
        for (case, result) in cases.iter().zip(results) {
            let (name, reason) = told(case);
            self.add(&name, reason, result);
        }
    }

    /// The number of cases that passed.
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// The error of the first case that failed.
    pub fn failure(&self) -> Option<&str> {
        self.failures.first().map(|(_, error)| error.as_str())
    }

    /// The counts and the failures, as text.
    pub fn summary(&self, suite: &str) -> String {
        let known: usize = self.expected.values().sum();
        let mut text = format!(
            "{suite}: {} passed, {} failed, {known} known to fail\n",
            self.passed,
            self.failures.len() + self.stale.len()
        );
        for (reason, count) in &self.expected {
            text += &format!("  known: {count} x {reason}\n");
        }
        for case in &self.stale {
            text +=
                &format!("  FAILED {case}: it is listed as known to fail but passes: take it off the list\n");
        }
        for (case, error) in &self.failures {
            let error: Vec<&str> = error.lines().take(6).collect();
            text += &format!("  FAILED {case}: {}\n", error.join("\n    "));
        }
        text
    }

    /// Prints the counts, and fails if a case failed.
    ///
    /// # Panics
    /// If a case failed, or passed although it is known to fail.
    #[expect(clippy::print_stdout, reason = "this is for tests, whose output this is")]
    pub fn finish(self, suite: &str) {
        let summary = self.summary(suite);
        println!("{summary}");
        assert!(self.failures.is_empty() && self.stale.is_empty(), "{summary}");
    }
}
