//! Reading the lines of files, within the memory limit.

use millstream_files::{file_error, too_long};
use millstream_tensor::{Result, budget};
use std::io::BufRead;
use std::path::Path;

/// Returns a line without its end (`\n` or `\r\n`), or `None` at the end of the file. A line that exceeds the
/// memory limit is an error. `begun` is empty, or what a call read of the line whose run was called off.
pub(crate) fn line(from: &mut dyn BufRead, file: &str, begun: &mut Vec<u8>) -> Result<Option<Vec<u8>>> {
    let most = budget::left() as u64;
    let left = most.saturating_add(1).saturating_sub(begun.len() as u64);
    let mut limited = std::io::Read::take(from, left);
    limited.read_until(b'\n', begun).map_err(|e| file_error("read", Path::new(file), &e))?;
    let mut line = std::mem::take(begun);
    let n = line.len();
    if n == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_none() && n as u64 > most {
        return Err(too_long(file, most));
    }
    let _carriage_return = line.pop_if(|last| *last == b'\r');
    Ok(Some(line))
}
