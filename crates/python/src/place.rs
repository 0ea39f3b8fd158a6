//! The Python lines that nodes are of: those of the innermost frames which do not belong to the package.

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Where a stretch of nodes was made.
pub struct Place {
    /// The first node.
    pub from: u32,
    /// The user's frames, the innermost first.
    pub frames: SmallVec<[Frame; 2]>,
}

/// A frame as it was: a code object and how far in it the frame was. The frame itself would hold its variables.
pub struct Frame {
    code: Py<PyAny>,
    at: i64,
}

/// How many frames a place has at the most: each costs a tenth of a microsecond whenever a node is made.
const MOST_FRAMES: usize = 8;

struct Frames {
    get: Py<PyAny>,
    /// The folder of the package.
    folder: String,
    /// Code objects that were met, by address (each is held, so that no other gets its address), and whether they are the package's.
    met: Mutex<HashMap<usize, (Py<PyAny>, bool)>>,
}

/// How many code objects are remembered at a time: programs that make code without end must not fill memory.
const MOST: usize = 4096;

static FRAMES: PyOnceLock<Frames> = PyOnceLock::new();

fn frames(py: Python<'_>) -> PyResult<&Frames> {
    FRAMES.get_or_try_init(py, || {
        let file: String = py.import("millstream")?.getattr("__file__")?.extract()?;
        let folder = file.rsplit_once(['/', '\\']).map_or(String::new(), |(folder, _)| folder.to_owned());
        Ok(Frames { get: py.import("sys")?.getattr("_getframe")?.unbind(), folder, met: Mutex::default() })
    })
}

/// The user's lines that are running, for nodes from `from` on. `None` if no frame is the user's.
pub fn here(py: Python<'_>, from: u32) -> PyResult<Option<Place>> {
    let frames = frames(py)?;
    let mut frame = frames.get.bind(py).call0()?;
    let mut found = SmallVec::new();
    while !frame.is_none() && found.len() < MOST_FRAMES {
        let code = frame.getattr(pyo3::intern!(py, "f_code"))?;
        let address = code.as_ptr().addr();
        let known = frames.met.lock().get(&address).map(|(_, ours)| *ours);
        let ours = match known {
            Some(ours) => ours,
            None => {
                let file: String = code.getattr("co_filename")?.extract()?;
                let ours = !frames.folder.is_empty() && file.starts_with(&frames.folder);
                let mut met = frames.met.lock();
                let old = if MOST <= met.len() { std::mem::take(&mut *met) } else { HashMap::new() };
                met.insert(address, (code.clone().unbind(), ours));
                drop(met);
                // Only now: what goes may run Python code.
                drop(old);
                ours
            }
        };
        if !ours {
            let at = frame.getattr(pyo3::intern!(py, "f_lasti"))?.extract()?;
            found.push(Frame { code: code.unbind(), at });
        }
        frame = frame.getattr(pyo3::intern!(py, "f_back"))?;
    }
    Ok(if found.is_empty() { None } else { Some(Place { from, frames: found }) })
}

impl Frame {
    /// Another share of it.
    pub fn clone_ref(&self, py: Python<'_>) -> Frame {
        Frame { code: self.code.clone_ref(py), at: self.at }
    }

    /// The file, the line and the function.
    pub fn read(&self, py: Python<'_>) -> PyResult<(String, i64, String)> {
        let code = self.code.bind(py);
        let mut line: i64 = code.getattr("co_firstlineno")?.extract()?;
        for start in py.import("dis")?.call_method1("findlinestarts", (code,))?.try_iter()? {
            let (offset, of): (i64, Option<i64>) = start?.extract()?;
            if self.at < offset {
                break;
            }
            line = of.unwrap_or(line);
        }
        Ok((code.getattr("co_filename")?.extract()?, line, code.getattr("co_name")?.extract()?))
    }
}
