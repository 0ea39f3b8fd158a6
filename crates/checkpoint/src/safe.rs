//! Files of the safetensors format.

use crate::files::make_folder;
use crate::write::Item;
use crate::{Info, check_name, corrupt, shape_of};
use millstream_files::{Files, Pending};
use millstream_tensor::{DType, Result, Tensor, ensure, invalid};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const DTYPES: [(DType, Dtype); 14] = [
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::Bool, Dtype::BOOL),
    (DType::C64, Dtype::C64),
];

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Safe {
    bytes: Vec<u8>,
    /// The offset of the elements.
    start: usize,
    entries: BTreeMap<String, (Info, usize, usize)>,
}

impl Safe {
    pub(crate) fn open(files: &Files, path: &Path) -> Result<Safe> {
        Safe::from_bytes(files.read(path)?)
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<Safe> {
        let (header, metadata): (usize, Metadata) = SafeTensors::read_metadata(&bytes).map_err(corrupt)?;
        let entry = |(name, info): (String, &TensorInfo)| {
            let dtype = DTYPES.iter().find(|(_, d)| *d == info.dtype).map(|(dtype, _)| *dtype);
            let dtype = dtype
                .ok_or_else(|| invalid!("`{name}` has the dtype {:?}, which is not supported", info.dtype))?;
            let dims: Option<Vec<i64>> = info.shape.iter().map(|&d| i64::try_from(d).ok()).collect();
            let shape = shape_of(&dims.ok_or_else(|| corrupt("a dimension is too large"))?)?;
            let (from, to) = info.data_offsets;
            Ok((name, (Info { dtype, shape }, from, to)))
        };
        let entries = metadata.tensors().into_iter().map(entry).collect::<Result<_>>()?;
        // The first 8 bytes are the header's length.
        Ok(Safe { bytes, start: header + 8, entries })
    }

    pub(crate) fn tensors(&self) -> Vec<(&str, Info)> {
        self.entries.iter().map(|(name, (info, ..))| (name.as_str(), info.clone())).collect()
    }

    pub(crate) fn info(&self, name: &str) -> Option<Info> {
        self.entries.get(name).map(|(info, ..)| info.clone())
    }

    pub(crate) fn read(&self, name: &str) -> Result<Tensor> {
        let (info, from, to) =
            self.entries.get(name).ok_or_else(|| corrupt(format!("`{name}` is missing")))?;
        let data = self.bytes.get(self.start..).and_then(|data| data.get(*from..*to));
        let data = data.ok_or_else(|| corrupt(format!("`{name}` lies outside of the file")))?;
        Tensor::from_bytes(info.dtype, info.shape.clone(), data)
    }
}

pub(crate) fn write(files: &Files, path: &Path, items: &[Item<'_>]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut all = items.iter().map(|item| encoded(item, &mut seen)).collect::<Result<Vec<_>>>()?;
    // The order of the library: it aligns the elements of every tensor.
    all.sort_by_key(|(name, dtype, ..)| (Reverse(*dtype), *name));
    make_folder(files, path)?;
    let mut file = Pending::new(files, path)?;
    file.put(&header(&all)?)?;
    all.iter().try_for_each(|(.., bytes)| file.put(bytes))?;
    file.finish()
}

/// The name, dtype, shape and elements of a tensor.
type Encoded<'a> = (&'a str, Dtype, Vec<usize>, &'a [u8]);

/// Checks that the format has a place for an item.
fn encoded<'a>(item: &'a Item<'_>, seen: &mut BTreeSet<&'a str>) -> Result<Encoded<'a>> {
    let Item { name, tensor, part } = item;
    check_name(name)?;
    let whole = part.as_ref().is_none_or(|(_, slice)| slice.is_whole());
    ensure!(whole, "`{name}` is a part of a tensor, which the safetensors format cannot hold");
    let dtype = DTYPES.iter().find(|(d, _)| *d == tensor.dtype()).map(|(_, dtype)| *dtype);
    let (Some(dtype), Some(bytes)) = (dtype, tensor.as_bytes()) else {
        return Err(invalid!("`{name}` is {}, which the safetensors format cannot hold", tensor.dtype())
            .with_help("save to TensorFlow's format: a path that does not end in `.safetensors`"));
    };
    ensure!(seen.insert(name), "`{name}` would be written twice");
    Ok((name, dtype, tensor.shape().dims().to_vec(), bytes))
}

/// The bytes before the elements. The library writes whole files only, not durably and under a name of its
/// choice, or copies all elements.
fn header(all: &[Encoded<'_>]) -> Result<Vec<u8>> {
    let mut end = 0;
    let infos = all.iter().map(|(name, dtype, shape, bytes)| {
        let start = end;
        end += bytes.len();
        let info = TensorInfo { dtype: *dtype, shape: shape.clone(), data_offsets: (start, end) };
        ((*name).to_owned(), info)
    });
    let metadata = Metadata::new(None, infos.collect()).map_err(|e| invalid!("cannot be written: {e}"))?;
    let mut json = serde_json::to_vec(&metadata).map_err(|e| invalid!("cannot be written: {e}"))?;
    json.resize(json.len().next_multiple_of(8), b' ');
    Ok([&(json.len() as u64).to_le_bytes()[..], &json].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::TensorView;

    #[test]
    fn the_bytes_are_those_of_the_library() {
        let tensors = [
            ("b", Tensor::from_slice([3], &[1u8, 2, 3]).unwrap()),
            ("a", Tensor::from_slice([2, 1], &[1.5f32, -2.0]).unwrap()),
            ("z", Tensor::from_slice([0], &[0i64; 0]).unwrap()),
            ("c", Tensor::from_slice([1], &[7i64]).unwrap()),
        ];
        let items: Vec<Item<'_>> =
            tensors.iter().map(|(name, tensor)| Item { name, part: None, tensor }).collect();
        let path = std::env::temp_dir().join(format!("millstream-safe-{}.safetensors", std::process::id()));
        write(&Files::everything(), &path, &items).unwrap();
        let view = |tensor: &Tensor| {
            let dtype = DTYPES.iter().find(|(d, _)| *d == tensor.dtype()).unwrap().1;
            // The slice outlives the view: both end with the test.
            TensorView::new(dtype, tensor.shape().dims().to_vec(), tensor.as_bytes().unwrap().to_vec().leak())
        };
        let views = tensors.iter().map(|(name, tensor)| (*name, view(tensor).unwrap()));
        let theirs = safetensors::serialize(views, None).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), theirs);
        std::fs::remove_file(&path).unwrap();
    }
}
