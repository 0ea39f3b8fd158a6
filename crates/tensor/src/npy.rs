//! NumPy's array files: one tensor in a `.npy` ([`read`], [`write`](fn@write)), named ones in a `.npz`
//! ([`read_npz`], [`write_npz`]).
//!
//! The functions work on readers and writers, not on files.
//!
//! | dtype | in the file |
//! |---|---|
//! | floats, integers, complex, bool | the same; big-endian and column-major files are read too |
//! | bf16 | `V2`, as NumPy saves arrays of its bfloat16 extension; `V2` reads as bf16 |
//! | quantised | the integers below; reads back as these |
//! | str | `S<n>`, NUL-padded to the longest, so trailing NULs are lost; `U<n>` reads as UTF-8 |
//! | resource, variant | an error; so are Python objects (`O`), records and dates when read |
//!
//! The format is small, and a hostile file must not make us allocate what it only claims to hold, so it is
//! parsed here instead of by a library. Memory grows with the data that is present, and the size that a
//! header claims is checked against the [budget](crate::budget) in force before any data is read. The
//! exception is deflated data, which can expand a thousandfold: set a budget where files are not trusted.

mod header;
#[cfg(test)]
mod tests;

use crate::budget::Charge;
use crate::{Code, DType, Error, Result, Shape, Str, Tensor, ensure, invalid};
use header::{Format, Header};
use std::io::{self, Read, Seek, Write};
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Reads a `.npy`, up to the end of its data.
pub fn read(from: &mut impl Read) -> Result<Tensor> {
    let header = Header::read(from)?;
    let count = header.shape.checked_elements()?;
    let width = header.format.width();
    let bytes = count.checked_mul(width).filter(|&n| n <= isize::MAX as usize);
    let bytes = bytes.ok_or_else(|| invalid!("an array of shape {} is too large", header.shape))?;
    // Empty strings take no bytes in the file, so the data does not bound their number.
    ensure!(width > 0 || count <= 1 << 16, "{count} empty strings are too many: at most 65536 are read");
    drop(Charge::take(bytes)?);

    let mut data = Vec::new();
    from.take(bytes as u64).read_to_end(&mut data).map_err(|e| failed("reading array data", &e))?;
    if data.len() < bytes {
        return Err(Error::new(
            Code::DataLoss,
            format!("the array data ends after {} of {bytes} bytes", data.len()),
        ));
    }
    // A column-major array is a row-major one with its axes in reverse.
    let dims = header.shape.iter().copied();
    let stored = if header.fortran { Shape::new(dims.rev()) } else { header.shape.clone() };
    let tensor = match header.format {
        Format::Plain { dtype, swap } => {
            if swap > 1 {
                data.chunks_exact_mut(swap).for_each(<[u8]>::reverse);
            }
            Tensor::from_bytes(dtype, stored, &data)?
        }
        Format::Bytes(n) => strings(stored, count, &data, n, |s| Ok(Str::from(trimmed(s))))?,
        Format::Unicode { chars, big } => strings(stored, count, &data, chars * 4, |s| utf32(s, big))?,
    };
    if !header.fortran || header.shape.rank() < 2 {
        return Ok(tensor);
    }
    let mut strides: Vec<isize> = tensor.shape().strides().iter().map(|&s| s as isize).collect();
    strides.reverse();
    tensor.strided(header.shape, 0, &strides)
}

fn strings(
    shape: Shape,
    count: usize,
    data: &[u8],
    width: usize,
    decode: impl Fn(&[u8]) -> Result<Str>,
) -> Result<Tensor> {
    let values = match width {
        0 => vec![Str::default(); count],
        _ => data.chunks_exact(width).map(decode).collect::<Result<_>>()?,
    };
    Tensor::strings(shape, values)
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

fn utf32(bytes: &[u8], big: bool) -> Result<Str> {
    let code = |c: &[u8]| {
        let bytes = c.try_into().unwrap_or_default();
        if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    let mut out = String::with_capacity(bytes.len() / 4);
    for c in bytes.chunks_exact(4).map(code) {
        out.push(char::from_u32(c).ok_or_else(|| invalid!("{c:#x} in a unicode array is not a character"))?);
    }
    Ok(Str::from(out.trim_end_matches('\0')))
}

/// Writes a `.npy`, row-major, in the machine's byte order.
pub fn write(to: &mut impl Write, tensor: &Tensor) -> Result<()> {
    let file = |e: io::Error| failed("writing an array", &e);
    let Some(strs) = tensor.as_strs() else {
        let format = Format::of(tensor.dtype())?;
        to.write_all(&format.header(tensor.shape())).map_err(file)?;
        return to.write_all(tensor.as_bytes().unwrap_or_default()).map_err(file);
    };
    // NumPy has no `S0` arrays: the width is at least one byte.
    let width = strs.iter().map(|s| s.len()).max().unwrap_or(0).max(1);
    to.write_all(&Format::Bytes(width).header(tensor.shape())).map_err(file)?;
    for s in strs {
        to.write_all(s).map_err(file)?;
        io::copy(&mut io::repeat(0).take((width - s.len()) as u64), to).map_err(file)?;
    }
    Ok(())
}

/// Reads every array of a `.npz` in the file's order, each with its name without `.npy`.
pub fn read_npz(from: impl Read + Seek) -> Result<Vec<(String, Tensor)>> {
    let mut zip = ZipArchive::new(from).map_err(|e| broken("opening an npz archive", &e))?;
    let mut out = Vec::new();
    for i in 0..zip.len() {
        let mut entry = zip.by_index(i).map_err(|e| broken("reading an npz archive", &e))?;
        let name = entry.name().map_err(|e| broken("reading an npz archive", &e))?.into_owned();
        let Some(short) = name.strip_suffix(".npy") else {
            return Err(invalid!(
                "entry `{name}` of the npz archive is not an array: its name does not end in .npy"
            ));
        };
        let tensor =
            read(&mut entry).map_err(|e| e.note(format!("in entry    `{name}` of the npz archive")))?;
        // Reading to the end verifies the checksum. Nothing may follow an array.
        let rest = io::copy(&mut entry.by_ref().take(1), &mut io::sink());
        match rest.map_err(|e| failed(&format!("reading entry `{name}`"), &e))? {
            0 => out.push((short.to_owned(), tensor)),
            _ => return Err(invalid!("entry `{name}` of the npz archive has more data than its array")),
        }
    }
    Ok(out)
}

/// How [`write_npz`] stores arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are, like `numpy.savez`.
    Stored,
    /// Deflated, like `numpy.savez_compressed`.
    Deflated,
}

/// Writes a `.npz`. The same tensors give the same bytes: entries have no times and no random order.
/// Duplicate names are an error.
pub fn write_npz<'a>(
    to: impl Write + Seek,
    arrays: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    compression: Compression,
) -> Result<()> {
    let method = match compression {
        Compression::Stored => CompressionMethod::Stored,
        Compression::Deflated => CompressionMethod::Deflated,
    };
    let mut zip = ZipWriter::new(to);
    for (name, tensor) in arrays {
        // The zip format needs wider fields beyond 4 GiB, and a string array is padded to its longest string.
        let longest = tensor.as_strs().and_then(|s| s.iter().map(|s| s.len()).max());
        let size = longest.map_or(tensor.byte_size(), |n| tensor.elements().saturating_mul(n.max(1)));
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            .large_file(size > (u32::MAX - (1 << 20)) as usize);
        zip.start_file(format!("{name}.npy"), options)
            .map_err(|e| broken(&format!("adding `{name}` to an npz archive"), &e))?;
        write(&mut zip, tensor).map_err(|e| e.note(format!("in array    `{name}` of the npz archive")))?;
    }
    zip.finish().map_err(|e| broken("finishing an npz archive", &e))?;
    Ok(())
}

fn failed(doing: &str, e: &io::Error) -> Error {
    let code = match e.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => Code::DataLoss,
        io::ErrorKind::StorageFull => Code::ResourceExhausted,
        _ => Code::Unknown,
    };
    Error::new(code, format!("{doing} failed: {e}"))
}

fn broken(doing: &str, e: &zip::result::ZipError) -> Error {
    match e {
        zip::result::ZipError::Io(e) => failed(doing, e),
        e => Error::new(Code::DataLoss, format!("{doing} failed: {e}")),
    }
}

impl Format {
    /// The format for a dtype; strings, whose format depends on their width, are handled separately.
    fn of(dtype: DType) -> Result<Format> {
        match dtype.size() {
            Some(_) => Ok(Format::Plain { dtype, swap: 0 }),
            None => Err(invalid!("elements of dtype {dtype} cannot be written to a NumPy file")),
        }
    }
}
