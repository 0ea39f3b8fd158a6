//! [`Report`]: many cases as one test, with every failure listed and a count.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of the cases of a suite.
#[derive(Default)]
pub struct Report {
    passed: usize,
    failures: Vec<(String, String)>,
    expected: BTreeMap<String, usize>,
    stale: Vec<String>,
}

impl Report {
    /// Nothing has run yet.
    pub fn new() -> Report {
        Report::default()
    }

    /// A case ran. `reason` says why it is known to fail, if it is.
    pub fn add(&mut self, case: &str, reason: Option<&str>, result: Result<(), String>) {
        match (result, reason) {
            (Ok(()), None) => self.passed += 1,
            (Ok(()), Some(_)) => self.stale.push(case.to_owned()),
            (Err(_), Some(reason)) => *self.expected.entry(reason.to_owned()).or_default() += 1,
            (Err(error), None) => self.failures.push((case.to_owned(), error)),
        }
    }

    /// Runs a case and adds what became of it. A panic is a failure like any other.
    pub fn run(&mut self, case: &str, reason: Option<&str>, check: impl FnOnce() -> Result<(), String>) {
        let result = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Err(format!("PANIC: {}", text.unwrap_or_default()))
        });
        self.add(case, reason, result);
    }

    /// How many cases passed.
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// The counts and the failures, for people.
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

    /// Prints the counts; fails if a case did.
    ///
    /// # Panics
    /// When a case failed, or passed against expectation.
    #[expect(clippy::print_stdout, reason = "this is for tests, whose output this is")]
    pub fn finish(self, suite: &str) {
        let summary = self.summary(suite);
        println!("{summary}");
        assert!(self.failures.is_empty() && self.stale.is_empty(), "{summary}");
    }
}
