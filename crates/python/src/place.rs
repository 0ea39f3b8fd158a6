//! Source locations of nodes: the innermost Python frames outside the package.

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use smallvec::SmallVec;
use std::collections::HashMap;

/// The location of a range of nodes.
pub struct Place {
    /// The first node.
    pub from: u32,
    /// The user's frames, innermost first.
    pub frames: SmallVec<[Frame; 2]>,
}

/// A saved frame: its code object and instruction offset. The frame itself would keep its variables alive.
pub struct Frame {
    code: Py<PyAny>,
    at: i64,
}

/// Maximum number of frames of a location: each costs a tenth of a microsecond per node created.
const MOST_FRAMES: usize = 8;

struct Frames {
    get: Py<PyAny>,
    /// The directory of the package.
    folder: String,
    /// Known code objects by address (each is held, so that its address is not reused), and whether they
    /// belong to the package.
    met: Mutex<HashMap<usize, (Py<PyAny>, bool)>>,
}

impl Frames {
    /// Whether code belongs to the package.
    fn is_ours(&self, code: &Bound<'_, PyAny>) -> PyResult<bool> {
        let address = code.as_ptr().addr();
        let known = self.met.lock().get(&address).map(|(_, ours)| *ours);
        if let Some(ours) = known {
            return Ok(ours);
        }
        let file: String = code.getattr("co_filename")?.extract()?;
        let ours = !self.folder.is_empty() && file.starts_with(&self.folder);
        let mut met = self.met.lock();
        let old = if MOST <= met.len() { std::mem::take(&mut *met) } else { HashMap::new() };
        met.insert(address, (code.clone().unbind(), ours));
        drop(met);
        // Dropped last: destructors may run Python code.
        drop(old);
        Ok(ours)
    }
}

/// Whether the Python code that runs now belongs to the user, not to the package.
pub fn is_users(py: Python<'_>) -> PyResult<bool> {
    let frames = frames(py)?;
    let code = frames.get.bind(py).call0()?.getattr(pyo3::intern!(py, "f_code"))?;
    Ok(!frames.is_ours(&code)?)
}

/// Maximum number of code objects remembered: programs that generate code must not exhaust memory.
const MOST: usize = 4096;

static FRAMES: PyOnceLock<Frames> = PyOnceLock::new();

fn frames(py: Python<'_>) -> PyResult<&Frames> {
    FRAMES.get_or_try_init(py, || {
        let file: String = py.import("millstream")?.getattr("__file__")?.extract()?;
        let folder = file.rsplit_once(['/', '\\']).map_or(String::new(), |(folder, _)| folder.to_owned());
        Ok(Frames { get: py.import("sys")?.getattr("_getframe")?.unbind(), folder, met: Mutex::default() })
    })
}

/// The current source lines of the user, for nodes from `from` on. `None` if all frames belong to the
/// package.
pub fn here(py: Python<'_>, from: u32) -> PyResult<Option<Place>> {
    let frames = frames(py)?;
    let mut frame = frames.get.bind(py).call0()?;
    let mut found = SmallVec::new();
    while !frame.is_none() && found.len() < MOST_FRAMES {
        let code = frame.getattr(pyo3::intern!(py, "f_code"))?;
        if !frames.is_ours(&code)? {
            let at = frame.getattr(pyo3::intern!(py, "f_lasti"))?.extract()?;
            found.push(Frame { code: code.unbind(), at });
        }
        frame = frame.getattr(pyo3::intern!(py, "f_back"))?;
    }
    Ok(if found.is_empty() { None } else { Some(Place { from, frames: found }) })
}

impl Frame {
    /// Clones the reference to the code object.
    pub fn clone_ref(&self, py: Python<'_>) -> Frame {
        Frame { code: self.code.clone_ref(py), at: self.at }
    }

    /// The file, line and function.
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
