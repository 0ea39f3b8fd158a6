//! Files of the safetensors format.

use crate::files::{file_error, make_folder, with_suffix};
use crate::write::Item;
use crate::{Info, check_name, corrupt, shape_of};
use millstream_tensor::{DType, Result, Tensor, ensure, invalid};
use safetensors::tensor::{Dtype, Metadata, TensorInfo, TensorView};
use safetensors::{SafeTensors, serialize_to_file};
use std::collections::BTreeMap;
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
    pub(crate) fn open(path: &Path) -> Result<Safe> {
        let bytes = std::fs::read(path).map_err(|e| file_error("read", path, &e))?;
        Safe::from_bytes(bytes)
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

pub(crate) fn write(path: &Path, items: &[Item<'_>]) -> Result<()> {
    let mut views = BTreeMap::new();
    for item in items {
        check_name(item.name)?;
        let whole = item.part.as_ref().is_none_or(|(_, slice)| slice.is_whole());
        ensure!(whole, "`{}` is a part of a tensor, which the safetensors format cannot hold", item.name);
        let dtype = DTYPES.iter().find(|(d, _)| *d == item.tensor.dtype()).map(|(_, dtype)| *dtype);
        let (Some(dtype), Some(bytes)) = (dtype, item.tensor.as_bytes()) else {
            return Err(invalid!(
                "`{}` is {}, which the safetensors format cannot hold",
                item.name,
                item.tensor.dtype()
            )
            .with_help("save to TensorFlow's format: a path that does not end in `.safetensors`"));
        };
        let view = TensorView::new(dtype, item.tensor.shape().dims().to_vec(), bytes);
        let view = view.map_err(|e| invalid!("`{}` cannot be written: {e}", item.name))?;
        let again = views.insert(item.name, view).is_some();
        ensure!(!again, "`{}` would be written twice", item.name);
    }
    make_folder(path)?;
    let beside = with_suffix(path, &format!(".tempstate-{}", std::process::id()));
    let written = serialize_to_file(views, None, &beside)
        .map_err(|e| invalid!("cannot write `{}`: {e}", beside.display()));
    let moved =
        written.and_then(|()| std::fs::rename(&beside, path).map_err(|e| file_error("write", path, &e)));
    if moved.is_err() {
        let _gone = std::fs::remove_file(&beside);
    }
    moved
}
