//! What people look at: `Report`, a table that shows itself in a notebook, and the runs whose progress is shown.

use millstream::ShowProgress;
use millstream::runtime::{Explanation, Holdings};
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread::ThreadId;

/// A table with a heading, and sentences below it.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Report {
    text: String,
    /// The rows, the first of them the heading.
    #[pyo3(get)]
    rows: Vec<Vec<String>>,
    /// What the table does not say.
    #[pyo3(get)]
    notes: Vec<String>,
    /// Of a run: each node with its op type, the loop that it is in (empty for none), and what becomes of it.
    #[pyo3(get)]
    nodes: Vec<(String, String, String, String)>,
}

impl Report {
    /// Of what a run does.
    pub fn of_run(it: &Explanation) -> Report {
        let nodes = it.places.iter().flat_map(|place| {
            place
                .nodes
                .iter()
                .map(|n| (n.name.clone(), n.op.to_owned(), place.name.clone(), n.fate.to_string()))
        });
        Report { text: it.to_string(), rows: it.table(), notes: it.notes(), nodes: nodes.collect() }
    }

    /// Of what a session holds.
    pub fn of_holdings(it: &Holdings) -> Report {
        Report { text: it.to_string(), rows: it.table(), notes: it.notes(), nodes: Vec::new() }
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

/// Which threads want to see how far their runs are, and what shows it.
#[derive(Default)]
pub struct Showing {
    /// How many there are: all that other runs look at.
    n: AtomicUsize,
    shows: Mutex<Vec<(ThreadId, Py<PyAny>)>>,
}

impl Showing {
    /// From now on this thread's runs show themselves.
    pub fn begin(&self, show: Py<PyAny>) {
        let mut shows = self.shows.lock();
        shows.push((std::thread::current().id(), show));
        self.n.store(shows.len(), Release);
    }

    /// The last `begin` of this thread is over.
    pub fn end(&self) {
        let here = std::thread::current().id();
        let mut shows = self.shows.lock();
        let gone = shows.iter().rposition(|(thread, _)| *thread == here).map(|last| shows.remove(last));
        self.n.store(shows.len(), Release);
        drop(shows);
        // Dropping a Python object may run anything.
        drop(gone);
    }

    /// What shows a run of this thread.
    pub fn here(&self, py: Python<'_>) -> Option<ShowProgress> {
        if self.n.load(Acquire) == 0 {
            return None;
        }
        let here = std::thread::current().id();
        let shows = self.shows.lock();
        let show = shows.iter().rfind(|(thread, _)| *thread == here)?.1.clone_ref(py);
        Some(ShowProgress::new(move |progress| {
            // The interpreter may be going away; a report that fails is no reason for the run to.
            Python::try_attach(|py| {
                if let Err(error) = show.call1(py, (progress.to_string(), progress.over)) {
                    error.write_unraisable(py, Some(show.bind(py)));
                }
            });
        }))
    }
}
