//! Sets: the elements along the last axis of a dense or a sparse tensor. All other axes tell the sets apart.

use super::entries::Entries;
use millstream_graph::op::KernelCx;
use millstream_tensor::DType::{self, I8, I16, I32, I64, Str, U8, U16};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::sorting::sort;
use millstream_tensor::{Element, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::ops::Range;

/// The dtypes of elements.
pub(super) const TYPES: &[DType] = &[I8, I16, I32, I64, U8, U16, Str];

/// Which set an element belongs to: its index without the last entry.
pub(super) type Place = SmallVec<[i64; 4]>;

/// The sets that are not empty, in row-major order.
pub(super) struct Sets<T> {
    /// The sizes of all axes but the last.
    pub lead: Place,
    /// The place of each set, and its elements in `items`: in order, and without duplicates.
    pub sets: Charged<(Place, Range<usize>)>,
    pub items: Charged<T>,
}

/// Where the elements of an operand are: in a dense tensor, or in three inputs.
pub(super) enum Operand {
    Dense(Tensor),
    Sparse(Entries),
}

impl Operand {
    pub fn dense(cx: &KernelCx, i: usize) -> Result<Operand> {
        let shape = cx.input(i).shape();
        ensure!(
            shape.rank() >= 2,
            "Shape {shape} has rank {} < 2", shape.rank();
            "`{}` has shape {shape}: its last axis holds the elements of the sets", cx.name_of(i)
        );
        Ok(Operand::Dense(cx.input(i).clone()))
    }

    /// Reads a sparse tensor from three inputs. Its indices must be in order.
    pub fn sparse(cx: &KernelCx, i: usize) -> Result<Operand> {
        let entries = Entries::of(cx, i)?;
        ensure!(
            entries.rank >= 2,
            "Invalid rank {}.", entries.rank;
            "`{}` has {} columns: the last axis holds the elements of the sets", cx.name_of(i), entries.rank
        );
        let shown = |row: usize| {
            let at: Vec<String> = entries.index(row).iter().map(i64::to_string).collect();
            format!("indices[{row}] = [{}]", at.join(","))
        };
        for row in 1..entries.n {
            match entries.index(row - 1).cmp(entries.index(row)) {
                Ordering::Less => {}
                Ordering::Equal => {
                    return Err(invalid!("{} is repeated", shown(row); "{}", entries.says(row)));
                }
                Ordering::Greater => {
                    return Err(invalid!(
                        "{} is out of order. Many sparse ops require sorted indices.", shown(row);
                        "put the entries in order with SparseReorder"
                    ));
                }
            }
        }
        Ok(Operand::Sparse(entries))
    }

    /// The tensor that holds the elements.
    fn values(&self) -> &Tensor {
        match self {
            Operand::Dense(t) => t,
            Operand::Sparse(entries) => &entries.values,
        }
    }

    /// Returns the sets of plain elements.
    pub fn of_plain<T: Element + Ord + Copy>(&self) -> Result<Sets<T>> {
        self.sets(self.values().as_slice::<T>()?.iter().copied())
    }

    /// Returns the sets of strings.
    pub fn of_strings(&self) -> Result<Sets<&[u8]>> {
        self.sets(self.values().as_strs().unwrap_or_default().iter().map(|s| &s[..]))
    }

    fn sets<T: Ord + Copy>(&self, items: impl Iterator<Item = T>) -> Result<Sets<T>> {
        let items = Charged::of(items)?;
        let mut all = Sets { lead: Place::new(), sets: Charged::new(), items: Charged::new() };
        let mut pace = Pace::new();
        match self {
            Operand::Dense(t) => {
                let dims = t.shape().dims();
                let (width, lead) = (dims[dims.len() - 1], &dims[..dims.len() - 1]);
                all.lead = lead.iter().map(|d| *d as i64).collect();
                let mut place = Place::from_elem(0, lead.len());
                for row in items.chunks_exact(width.max(1)).filter(|_| width > 0) {
                    all.push(place.clone(), row, &mut pace)?;
                    for (at, size) in place.iter_mut().zip(&all.lead).rev() {
                        *at += 1;
                        if *at < *size {
                            break;
                        }
                        *at = 0;
                    }
                }
            }
            Operand::Sparse(entries) => {
                all.lead = entries.shape[..entries.rank - 1].iter().copied().collect();
                let place = |row: usize| &entries.index(row)[..entries.rank - 1];
                let mut start = 0;
                for end in 1..=entries.n {
                    if end == entries.n || place(end) != place(start) {
                        all.push(place(start).iter().copied().collect(), &items[start..end], &mut pace)?;
                        start = end;
                    }
                }
            }
        }
        Ok(all)
    }
}

impl<T: Ord + Copy> Sets<T> {
    /// Adds a set of these elements.
    fn push(&mut self, place: Place, items: &[T], pace: &mut Pace) -> Result<()> {
        pace.spend(4 + items.len())?;
        let mut sorted = Charged::of(items.iter().copied())?;
        sort(&mut sorted, T::cmp)?;
        let start = self.items.len();
        for item in sorted.take() {
            if self.items.len() == start || self.items.last() != Some(&item) {
                self.items.push(item)?;
            }
        }
        self.sets.push((place, start..self.items.len()))
    }
}
