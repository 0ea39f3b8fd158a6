//! Output for users: `Report`, a table for notebooks; the progress of runs; conditions that stop runs.

use crate::array::to_python;
use millstream::engine::runtime::{Explanation, Holdings};
use millstream::{Output, ShowProgress, Watch};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread::ThreadId;

/// A table with a header, and notes below it.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Report {
    text: String,
    /// The rows; the first is the header.
    #[pyo3(get)]
    rows: Vec<Vec<String>>,
    /// Additional notes.
    #[pyo3(get)]
    notes: Vec<String>,
    /// For a run: the name, op type, enclosing loop (empty if none) and treatment of each node.
    #[pyo3(get)]
    nodes: Vec<(String, String, String, String)>,
    /// For a run: of what runs as code, the loop (empty for what runs before the loops), the instructions,
    /// the bytes of registers and buffers, and the nanoseconds of an iteration (None before a run).
    #[pyo3(get)]
    code: Vec<(String, String, usize, Option<f64>)>,
    /// The machine code of the loops, where it was asked for; otherwise empty.
    #[pyo3(get)]
    machine_code: String,
}

impl Report {
    /// A report on a run.
    pub fn of_run(it: &Explanation, machine_code: String) -> Report {
        let nodes = it.places.iter().flat_map(|place| {
            place
                .nodes
                .iter()
                .map(|n| (n.name.clone(), n.op.to_owned(), place.name.clone(), n.fate.to_string()))
        });
        let code = it.places.iter().filter_map(|place| {
            let code = place.code.as_ref()?;
            Some((place.name.clone(), code.listing.clone(), code.bytes, code.nanos_per_iteration()))
        });
        Report {
            text: it.to_string(),
            rows: it.table(),
            notes: it.notes(),
            nodes: nodes.collect(),
            code: code.collect(),
            machine_code,
        }
    }

    /// A report on the resources of a session.
    pub fn of_holdings(it: &Holdings) -> Report {
        Report {
            text: it.to_string(),
            rows: it.table(),
            notes: it.notes(),
            nodes: Vec::new(),
            code: Vec::new(),
            machine_code: String::new(),
        }
    }
}

#[pymethods]
impl Report {
    fn __repr__(&self) -> &str {
        &self.text
    }

    fn _repr_html_(&self) -> String {
        let mut out = String::from("<table>");
        for (i, row) in self.rows.iter().enumerate() {
            let cell = if i == 0 { "th" } else { "td" };
            out.push_str("<tr>");
            for (c, text) in row.iter().enumerate() {
                let is_number = 0 < i && text.chars().all(|c| c.is_ascii_digit());
                let align = if c == 0 || !is_number { "left" } else { "right" };
                let _ = write!(out, "<{cell} style=\"text-align:{align}\">{}</{cell}>", escaped(text));
            }
            out.push_str("</tr>");
        }
        out.push_str("</table>");
        for note in &self.notes {
            let _ = write!(out, "<div>{}</div>", escaped(note));
        }
        out
    }
}

/// A table of names and values.
pub fn html_rows(rows: &[(&str, String)]) -> String {
    let mut out = String::from("<table>");
    for (name, value) in rows {
        let align = "style=\"text-align:left\"";
        let _ = write!(out, "<tr><th {align}>{name}</th><td {align}>{}</td></tr>", escaped(value));
    }
    out + "</table>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Settings of threads for their runs: progress reports or conditions that stop them.
pub struct OfThreads<T> {
    /// Number of settings; the only field read by other runs.
    n: AtomicUsize,
    asked: Mutex<Vec<(ThreadId, T)>>,
}

impl<T> Default for OfThreads<T> {
    fn default() -> Self {
        OfThreads { n: AtomicUsize::new(0), asked: Mutex::default() }
    }
}

impl<T: Clone> OfThreads<T> {
    /// Starts a setting for this thread's runs.
    pub fn begin(&self, what: T) {
        let mut asked = self.asked.lock();
        asked.push((std::thread::current().id(), what));
        self.n.store(asked.len(), Release);
    }

    /// Ends the thread's last setting.
    pub fn end(&self) {
        let here = std::thread::current().id();
        let mut asked = self.asked.lock();
        let gone = asked.iter().rposition(|(thread, _)| *thread == here).map(|last| asked.remove(last));
        self.n.store(asked.len(), Release);
        drop(asked);
        // Dropping a Python object may run arbitrary code.
        drop(gone);
    }

    /// The settings of this thread, the latest last.
    pub fn here(&self) -> Vec<T> {
        if self.n.load(Acquire) == 0 {
            return Vec::new();
        }
        let here = std::thread::current().id();
        self.asked.lock().iter().filter(|(thread, _)| *thread == here).map(|(_, what)| what.clone()).collect()
    }
}

/// Reports progress by `show(text, over)`.
pub fn shown_by(show: Py<PyAny>) -> ShowProgress {
    ShowProgress::new(move |progress| {
        // The interpreter may be shutting down; a failed report does not stop the run.
        Python::try_attach(|py| {
            if let Err(error) = show.call1(py, (progress.to_string(), progress.over)) {
                error.write_unraisable(py, Some(show.bind(py)));
            }
        });
    })
}

/// A condition that stops a run: values of one output or of all that are NaN or infinite, or satisfy
/// `when(value, iterations)`.
pub fn watch(of: Option<Output<'_>>, nan: bool, infinite: bool, when: Option<Py<PyAny>>) -> Watch {
    let watch = of.map_or_else(Watch::all, Watch::on);
    let watch = match (nan, infinite) {
        (true, true) => watch.not_finite(),
        (true, false) => watch.nan(),
        (false, true) => watch.infinite(),
        (false, false) => watch,
    };
    let Some(when) = when else { return watch };
    watch.when(move |value, at| {
        let says = |py: Python<'_>| {
            when.call1(py, (to_python(py, value.clone())?, PyTuple::new(py, at)?))?.is_truthy(py)
        };
        let said = Python::try_attach(|py| {
            says(py).unwrap_or_else(|error| {
                // An exception in the condition stops the run and is reported.
                error.write_unraisable(py, Some(when.bind(py)));
                true
            })
        });
        said.unwrap_or(false)
    })
}
