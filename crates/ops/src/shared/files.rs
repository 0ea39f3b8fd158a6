//! The names of files.

use millstream_tensor::{Result, Str, ensure, invalid};

/// Returns a string as a file name.
pub(crate) fn file_name(name: &Str) -> Result<&str> {
    let text =
        std::str::from_utf8(name).map_err(|_| invalid!("the file name {name:?} is not valid UTF-8"))?;
    ensure!(!text.is_empty(), "the name of a file is empty");
    Ok(text)
}
