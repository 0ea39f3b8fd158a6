//! [`SparseTensorsMap`]: sparse tensors by number. A queue, whose items are dense tensors, can hold the
//! numbers.

use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Opaque, Result, Tensor, ensure, invalid};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;

/// The indices, values and shape of a sparse tensor.
pub type Sparse = [Tensor; 3];

/// Sparse tensors of one dtype by number. No number is ever used twice.
pub struct SparseTensorsMap {
    name: String,
    dtype: DType,
    /// Guards only itself; no other lock is taken under it.
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    next: i64,
    tensors: BTreeMap<i64, Entry>,
}

/// A sparse tensor in the map, and the memory that its entry takes.
struct Entry {
    tensors: Sparse,
    _room: Room,
}

impl Entry {
    fn new(mut tensors: Sparse) -> Result<Entry> {
        // The nodes of a tree are at least half full.
        const ENTRY: usize = 2 * size_of::<(i64, Entry)>();
        tensors.iter_mut().try_for_each(Tensor::keep)?;
        Ok(Entry { tensors, _room: Room::of(ENTRY)? })
    }
}

impl SparseTensorsMap {
    /// An empty map for values of this dtype.
    pub fn new(name: impl Into<String>, dtype: DType) -> SparseTensorsMap {
        SparseTensorsMap { name: name.into(), dtype, kept: Mutex::default() }
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The number of sparse tensors kept.
    pub fn len(&self) -> usize {
        self.kept.lock().tensors.len()
    }

    /// Whether no sparse tensor is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps these tensors under consecutive numbers. Returns the first number.
    pub fn add(&self, tensors: impl ExactSizeIterator<Item = Sparse>) -> Result<i64> {
        let count =
            i64::try_from(tensors.len()).map_err(|_| invalid!("{self:?} cannot keep this many tensors"))?;
        // Nothing is kept before all is charged.
        let mut pace = Pace::new();
        let kept = |tensors| pace.spend(1).and_then(|()| Entry::new(tensors));
        let tensors = Charged::try_of(tensors.map(kept))?.take();
        let mut kept = self.kept.lock();
        let first = kept.next;
        kept.next =
            first.checked_add(count).ok_or_else(|| invalid!("{self:?} has no handle numbers left"))?;
        kept.tensors.extend((first..).zip(tensors));
        Ok(first)
    }

    /// Removes and returns the tensors with these numbers. If one number has no tensor, none is removed.
    pub fn take(&self, numbers: &[i64]) -> Result<Charged<Sparse>> {
        let (mut taken, mut tensors) =
            (Charged::with_room(numbers.len())?, Charged::with_room(numbers.len())?);
        let mut kept = self.kept.lock();
        for number in numbers {
            match kept.tensors.remove(number) {
                // There is room for it.
                Some(entry) => taken.push(entry)?,
                None => {
                    kept.tensors.extend(numbers.iter().copied().zip(taken.take()));
                    return Err(invalid!("Unable to find SparseTensor: {number} in map: {}", self.name)
                        .with_help("each number can be taken only once"));
                }
            }
        }
        drop(kept);
        for entry in taken.take() {
            tensors.push(entry.tensors)?;
        }
        Ok(tensors)
    }

    /// Returns an error unless the values are of this dtype.
    pub fn check_dtype(&self, dtype: DType) -> Result<()> {
        ensure!(self.dtype == dtype, "{self:?} keeps values that are {}, not {dtype}", self.dtype);
        Ok(())
    }
}

impl Opaque for SparseTensorsMap {
    fn kind(&self) -> &'static str {
        "map of sparse tensors"
    }
}

impl fmt::Debug for SparseTensorsMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the map of sparse tensors `{}`", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_taken_once_and_all_or_none() {
        let map = SparseTensorsMap::new("m", DType::I32);
        let sparse = |v: i32| [Tensor::scalar(0i64), Tensor::scalar(v), Tensor::scalar(1i64)];
        assert_eq!(
            (map.add([sparse(5)].into_iter()).unwrap(), map.add([sparse(6), sparse(7)].into_iter()).unwrap()),
            (0, 1)
        );
        for bad in [&[0, 3][..], &[1, 1], &[-1]] {
            let error = map.take(bad).unwrap_err().to_string();
            assert!(error.contains("Unable to find SparseTensor"), "{error}");
            assert_eq!(map.len(), 3);
        }
        let values = |numbers: &[i64]| -> Vec<i32> {
            map.take(numbers).unwrap().iter().map(|s| s[1].to_scalar().unwrap()).collect()
        };
        assert_eq!((values(&[2, 0]), values(&[])), (vec![7, 5], vec![]));
        assert_eq!(map.add([].into_iter()).unwrap(), 3);
        assert_eq!((map.len(), map.is_empty()), (1, false));
        assert!(map.check_dtype(DType::F32).is_err() && map.check_dtype(DType::I32).is_ok());
    }
}
