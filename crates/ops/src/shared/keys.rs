//! [`Key`]: elements as hashable keys, for the ops that look for equal elements.

use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, Result, Str, Tensor, with_element};

/// A hashable key of an element. Equal elements have equal keys.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The bits of plain data.
    Bits(u128),
    /// A string.
    Str(Str),
    /// A NaN, which equals nothing, identified by its position.
    Unequal(usize),
}

fn paced(keys: impl ExactSizeIterator<Item = Key>) -> Result<Vec<Key>> {
    let mut all = Vec::with_capacity(keys.len());
    let mut pace = Pace::new();
    for key in keys {
        pace.spend(1)?;
        all.push(key);
    }
    Ok(all)
}

/// Returns the keys of all elements. Keys of NaNs are comparable only within one tensor.
pub(crate) fn keys(t: &Tensor) -> Result<Vec<Key>> {
    if let Some(strs) = t.as_strs() {
        return paced(strs.iter().cloned().map(Key::Str));
    }
    with_element!(t.dtype(), T => {
        let zero = T::default();
        let values = t.as_slice::<T>()?;
        let bytes = t.as_bytes().unwrap_or(&[]);
        #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
        let key = |(i, (v, bytes)): (usize, (&T, &[u8]))| {
            if v != v {
                return Key::Unequal(i);
            }
            // -0.0 equals 0.0 but has other bits.
            if *v == zero {
                return Key::Bits(0);
            }
            let mut word = [0; 16];
            word[..bytes.len()].copy_from_slice(bytes);
            Key::Bits(u128::from_le_bytes(word))
        };
        paced(values.iter().zip(bytes.chunks_exact(size_of::<T>())).enumerate().map(key))
    }, else => Err(Error::unimplemented(format!("elements of {} cannot be compared", t.dtype()))))
}
