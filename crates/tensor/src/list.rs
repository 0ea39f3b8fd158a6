//! [`TensorList`]: a list of tensors as a value, held in a [`Variant`].
//!
//! Items are shared handles: copying a list copies no elements. An op that holds the only reference to a list
//! changes it in place, so an iteration of a loop that pushes takes constant time. A list of known length
//! that is written item by item is one block of memory ([`Packed`]) until something uses its items one by
//! one.

use crate::budget::Charged;
use crate::pace::Pace;
use crate::packed::Packed;
use crate::{DType, Opaque, PartialShape, Result, Tensor, Variant, ensure, invalid};
use std::fmt;

/// A list of tensors of one dtype, whose shapes all fit the element shape. An item may be unwritten.
pub struct TensorList {
    dtype: DType,
    shape: PartialShape,
    max_len: Option<usize>,
    /// The items, all of this dtype and shape. All are `None` while they are packed.
    items: Charged<Option<Tensor>>,
    packed: Option<Box<Packed>>,
    /// Whether nothing was written since the list was [made of unwritten items](TensorList::unwritten).
    blank: bool,
}

impl TensorList {
    /// An empty list.
    pub fn new(dtype: DType, element_shape: PartialShape) -> TensorList {
        TensorList {
            dtype,
            shape: element_shape,
            max_len: None,
            items: Charged::new(),
            packed: None,
            blank: false,
        }
    }

    /// A list of `len` unwritten items.
    pub fn unwritten(dtype: DType, element_shape: PartialShape, len: usize) -> Result<TensorList> {
        let mut list = TensorList::new(dtype, element_shape);
        list.resize(len)?;
        list.blank = true;
        Ok(list)
    }

    /// Sets the most items that pushing may reach.
    #[must_use]
    pub fn with_max_len(mut self, max_len: Option<usize>) -> TensorList {
        self.max_len = max_len;
        self
    }

    /// A list of these items; an error if one does not fit.
    pub fn of(
        dtype: DType,
        element_shape: PartialShape,
        items: impl IntoIterator<Item = Option<Tensor>>,
    ) -> Result<TensorList> {
        TensorList::try_of(dtype, element_shape, items.into_iter().map(Ok))
    }

    /// As [`TensorList::of`], of items that may be errors. They need no vector, whose memory nobody charges.
    pub fn try_of(
        dtype: DType,
        element_shape: PartialShape,
        items: impl IntoIterator<Item = Result<Option<Tensor>>>,
    ) -> Result<TensorList> {
        let mut list = TensorList::new(dtype, element_shape);
        let items = items.into_iter();
        list.items.reserve(items.size_hint().0)?;
        let mut pace = Pace::new();
        for item in items {
            pace.spend(1)?;
            let item = item?;
            item.as_ref().map_or(Ok(()), |item| list.admit(item))?;
            list.items.push(item)?;
        }
        Ok(list)
    }

    /// A list of other items with the same dtype, element shape and maximum length.
    pub fn with_items(&self, items: impl IntoIterator<Item = Option<Tensor>>) -> Result<TensorList> {
        Ok(TensorList::of(self.dtype, self.shape.clone(), items)?.with_max_len(self.max_len))
    }

    /// A list whose items are the rows of `rows`, with the dtype, element shape and maximum length of this
    /// one.
    pub fn with_rows(&self, rows: Tensor) -> Result<TensorList> {
        let n = rows.shape().first().copied();
        let n = n.ok_or_else(|| invalid!("a scalar has no rows to make a list from"))?;
        let mut list = TensorList::new(self.dtype, self.shape.clone()).with_max_len(self.max_len);
        if 0 < n {
            list.admit(&rows.row(0)?)?;
        }
        if let Some(max) = self.max_len {
            ensure!(n <= max, "{n} rows are too many: the list holds `max_num_elements` = {max} items");
        }
        list.items.resize_with(n, || None)?;
        list.packed = Some(Box::new(Packed::of(rows)?));
        Ok(list)
    }

    /// A copy that shares the items.
    pub fn copy(&self) -> Result<TensorList> {
        let items = self.items()?.into_charged()?;
        let list = TensorList::new(self.dtype, self.shape.clone()).with_max_len(self.max_len);
        Ok(TensorList { items, blank: self.blank, ..list })
    }

    /// The dtype of the items.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The element shape, which the shapes of all items fit.
    pub fn element_shape(&self) -> &PartialShape {
        &self.shape
    }

    /// The most items that pushing may reach.
    pub fn max_len(&self) -> Option<usize> {
        self.max_len
    }

    /// The items; `None` for an unwritten one. Packed items get handles of their own as long as the result
    /// lives; an error if there is no room for them.
    pub fn items(&self) -> Result<Items<'_>> {
        match &self.packed {
            None => Ok(Items::Kept(&self.items)),
            Some(packed) => Ok(Items::Made(packed.rows()?)),
        }
    }

    /// Item `i`, shared, if it exists and is written; an error if it is packed, and there is no room for a
    /// handle.
    #[inline]
    pub fn get(&self, i: usize) -> Result<Option<Tensor>> {
        match &self.packed {
            None => Ok(self.items.get(i).cloned().flatten()),
            Some(packed) => packed.row(i),
        }
    }

    /// Whether item `i` exists and is written.
    #[inline]
    pub fn is_written(&self, i: usize) -> bool {
        match &self.packed {
            None => self.items.get(i).is_some_and(Option::is_some),
            Some(packed) => packed.is_written(i),
        }
    }

    /// All items as the rows of one tensor, if they are packed and all are written.
    pub fn stacked(&self) -> Option<&Tensor> {
        self.packed.as_ref()?.whole()
    }

    /// Splits packed items into tensors of their own. If there is no room for all of them, the list is
    /// unchanged.
    fn unpack(&mut self) -> Result<()> {
        if let Some(packed) = &self.packed {
            self.items = packed.rows()?;
            self.packed = None;
        }
        self.blank = false;
        Ok(())
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns an error unless the list may hold `item`.
    #[inline]
    pub fn admit(&self, item: &Tensor) -> Result<()> {
        ensure!(
            item.dtype() == self.dtype && self.shape.admits(item.shape()),
            "a list of {}{} cannot hold an item of {}{}",
            self.dtype,
            self.shape,
            item.dtype(),
            item.shape()
        );
        Ok(())
    }

    /// Appends an item.
    #[inline]
    pub fn push(&mut self, item: Tensor) -> Result<()> {
        self.admit(&item)?;
        if let Some(max) = self.max_len {
            ensure!(self.len() < max, "the list is full: it holds `max_num_elements` = {max} items");
        }
        self.unpack()?;
        self.items.push(Some(item))
    }

    /// Removes the last item. The outer `None` means that the list was empty, the inner that the item was
    /// unwritten.
    #[inline]
    pub fn pop(&mut self) -> Result<Option<Option<Tensor>>> {
        self.unpack()?;
        Ok(self.items.pop())
    }

    /// Writes item `i`; an error if the list is shorter.
    #[inline]
    pub fn set(&mut self, i: usize, item: Tensor) -> Result<()> {
        self.admit(&item)?;
        let n = self.len();
        ensure!(i < n, "item {i} is not in a list of {n}");
        if std::mem::take(&mut self.blank) {
            self.packed = Packed::like(&item, n).map(Box::new);
        }
        if self.packed.as_mut().is_some_and(|packed| packed.write(i, &item)) {
            return Ok(());
        }
        self.unpack()?;
        self.items[i] = Some(item);
        Ok(())
    }

    /// Resizes the list to `len` items: truncates it, or appends unwritten items.
    pub fn resize(&mut self, len: usize) -> Result<()> {
        self.unpack()?;
        self.items.resize_with(len, || None)
    }

    /// The list as a scalar variant.
    pub fn into_tensor(self) -> Result<Tensor> {
        Variant::new(self).map(Tensor::variant)
    }

    /// Appends the items of another list of the same dtype and element shape.
    pub fn append(&mut self, other: &TensorList) -> Result<()> {
        ensure!(
            self.dtype == other.dtype && self.shape == other.shape,
            "a list of {}{} and one of {}{} cannot be joined: dtype and element shape must be the same",
            self.dtype,
            self.shape,
            other.dtype,
            other.shape
        );
        let more = other.items()?;
        self.unpack()?;
        self.items.extend_from_slice(&more)
    }
}

/// The items of a [`TensorList`], as a slice.
#[derive(Debug)]
pub enum Items<'l> {
    /// The list keeps its items one by one.
    Kept(&'l [Option<Tensor>]),
    /// Handles made of packed items. They are charged.
    Made(Charged<Option<Tensor>>),
}

impl Items<'_> {
    fn into_charged(self) -> Result<Charged<Option<Tensor>>> {
        match self {
            Items::Kept(items) => Charged::copy_of(items),
            Items::Made(items) => Ok(items),
        }
    }
}

impl std::ops::Deref for Items<'_> {
    type Target = [Option<Tensor>];
    fn deref(&self) -> &[Option<Tensor>] {
        match self {
            Items::Kept(items) => items,
            Items::Made(items) => items,
        }
    }
}

impl Opaque for TensorList {
    fn kind(&self) -> &'static str {
        "tensor list"
    }
}

/// Prints as `list f32[2,3] of 5`.
impl fmt::Debug for TensorList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "list {}{} of {}", self.dtype, self.shape, self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{self, Budget};
    use crate::{MIRI, shape};

    fn list(items: &[f32]) -> TensorList {
        let items = items.iter().map(|&v| Some(Tensor::scalar(v)));
        TensorList::of(DType::F32, shape![], items).unwrap()
    }

    #[test]
    fn prints() {
        assert_eq!(format!("{:?}", list(&[1.0, 2.0])), "list f32[] of 2");
        assert_eq!(list(&[1.0]).into_tensor().unwrap().to_string(), "variant <list f32[] of 1>");
        let unknown = TensorList::new(DType::I32, PartialShape::unknown());
        assert_eq!(format!("{unknown:?}"), "list i32[..] of 0");
    }

    #[test]
    fn copies_share_the_items() {
        let one = Tensor::vector(&[1f32, 2.0]).unwrap();
        let a = TensorList::of(DType::F32, shape![2], [Some(one), None]).unwrap();
        let mut b = a.copy().unwrap();
        b.push(Tensor::vector(&[3f32, 4.0]).unwrap()).unwrap();
        assert_eq!((a.len(), b.len()), (2, 3));
        let address =
            |l: &TensorList| l.items().unwrap()[0].as_ref().map(|t| t.as_slice::<f32>().unwrap().as_ptr());
        assert_eq!(address(&a), address(&b));
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let mut l = TensorList::new(DType::F32, shape![2, _]).with_max_len(Some(1));
        for bad in [Tensor::scalar(1f32), Tensor::from_slice([2, 1], &[1i32, 2]).unwrap()] {
            let error = l.push(bad).unwrap_err().to_string();
            assert!(error.starts_with("a list of f32[2,?] cannot hold an item of "), "{error}");
        }
        let good = Tensor::from_slice([2, 1], &[1f32, 2.0]).unwrap();
        l.push(good.clone()).unwrap();
        assert!(l.push(good).unwrap_err().to_string().contains("the list is full"));
    }

    #[test]
    fn the_handles_are_charged() {
        let budget = Budget::new(4096);
        let _entered = budget::enter(Some(&budget));
        let mut l = list(&[]);
        assert!(l.resize(1_000_000).unwrap_err().to_string().contains("out of memory"));
        l.resize(100).unwrap();
        assert_eq!(budget.used(), 100 * size_of::<Option<Tensor>>());
        drop(l);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn too_many_items_are_refused_without_a_budget() {
        let error = list(&[]).resize(usize::MAX).unwrap_err();
        assert!(error.to_string().contains("too many"), "{error}");
    }

    #[test]
    fn what_is_written_item_by_item_is_stacked_already() {
        let row = |v: f32| Tensor::vector(&[v, -v]).unwrap();
        let mut l = TensorList::unwritten(DType::F32, shape![_], 3).unwrap();
        for i in [2, 0] {
            l.set(i, row(i as f32)).unwrap();
        }
        assert!(l.stacked().is_none());
        assert_eq!((0..4).map(|i| l.is_written(i)).collect::<Vec<_>>(), [true, false, true, false]);
        assert!(l.items().unwrap()[1].is_none() && l.get(1).unwrap().is_none());
        assert!(l.set(3, row(3.0)).is_err());
        l.set(1, row(7.0)).unwrap();
        l.set(1, row(1.0)).unwrap();
        let whole = l.stacked().unwrap().clone();
        assert_eq!(whole.as_slice::<f32>().unwrap(), [0.0, -0.0, 1.0, -1.0, 2.0, -2.0]);
        assert!(l.items().unwrap().iter().flatten().zip(0..).all(|(item, i)| item.bits_eq(&row(i as f32))));
        // A tensor that shares the rows keeps their values.
        l.set(0, row(8.0)).unwrap();
        assert!(whole.row(0).unwrap().bits_eq(&row(0.0)));
        assert!([(0, 8.0), (1, 1.0)].iter().all(|&(i, v)| l.get(i).unwrap().unwrap().bits_eq(&row(v))));
        assert_eq!(l.pop().unwrap().flatten().unwrap().as_slice::<f32>().unwrap(), [2.0, -2.0]);
    }

    #[test]
    fn rows_become_items() {
        let rows = Tensor::from_slice([3, 2], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let mut l =
            TensorList::new(DType::F32, shape![_]).with_max_len(Some(4)).with_rows(rows.clone()).unwrap();
        assert!(l.stacked().unwrap().bits_eq(&rows) && l.len() == 3 && l.max_len() == Some(4));
        l.push(Tensor::vector(&[7f32, 8.0]).unwrap()).unwrap();
        assert_eq!(l.items().unwrap()[1].as_ref().unwrap().as_slice::<f32>().unwrap(), [3.0, 4.0]);
        assert!(l.with_rows(Tensor::zeros(DType::F32, [5, 2]).unwrap()).is_err());
        assert!(l.with_rows(Tensor::zeros(DType::F32, [3]).unwrap()).is_err());
        assert!(l.with_rows(Tensor::scalar(1f32)).is_err());
        assert!(
            list(&[])
                .with_rows(Tensor::vector(&[1f32, 2.0]).unwrap())
                .unwrap()
                .get(1)
                .unwrap()
                .unwrap()
                .bits_eq(&Tensor::scalar(2f32))
        );
    }

    #[test]
    fn items_of_several_shapes_and_scalars_stay_apart() {
        let mut l = TensorList::unwritten(DType::F32, PartialShape::unknown(), 2).unwrap();
        l.set(0, Tensor::vector(&[1f32, 2.0]).unwrap()).unwrap();
        l.set(1, Tensor::vector(&[3f32]).unwrap()).unwrap();
        assert!(l.stacked().is_none());
        let lengths: Vec<usize> = l.items().unwrap().iter().flatten().map(Tensor::elements).collect();
        assert_eq!(lengths, [2, 1]);
        let mut l = TensorList::unwritten(DType::F32, PartialShape::unknown(), 1).unwrap();
        l.set(0, Tensor::scalar(1f32)).unwrap();
        assert!(l.stacked().is_none() && l.is_written(0));
    }

    #[test]
    fn without_room_for_all_items_they_are_kept_one_by_one() {
        let budget = Budget::new(1 << 20);
        let _entered = budget::enter(Some(&budget));
        let mut l = TensorList::unwritten(DType::F32, PartialShape::unknown(), 1000).unwrap();
        l.set(0, Tensor::zeros(DType::F32, [1000]).unwrap()).unwrap();
        assert!(l.is_written(0) && budget.used() < 100_000, "{}", budget.used());
        drop(l);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn without_room_for_handles_packed_items_are_an_error() {
        let n = 1000;
        let budget = Budget::new(n * (size_of::<Option<Tensor>>() + 9) + 2000);
        let _entered = budget::enter(Some(&budget));
        let rows = Tensor::zeros(DType::F32, [n, 2]).unwrap();
        let mut l = TensorList::new(DType::F32, shape![_]).with_rows(rows).unwrap();
        let refused = |error: crate::Error| assert_eq!(error.code(), crate::Code::ResourceExhausted);
        refused(l.items().unwrap_err());
        refused(l.copy().unwrap_err());
        refused(l.pop().unwrap_err());
        refused(l.push(Tensor::zeros(DType::F32, [3]).unwrap()).unwrap_err());
        refused(TensorList::new(DType::F32, shape![_]).append(&l).unwrap_err());
        let mut all = Vec::new();
        while let Ok(room) = budget::Room::of(16) {
            all.push(room);
        }
        refused(l.get(1).unwrap_err());
        drop(all);
        assert!(l.len() == n && l.stacked().is_some(), "nothing was lost");
        assert!((0..n).all(|i| l.get(i).unwrap().is_some()));
    }

    #[test]
    fn lists_in_lists_may_be_deep() {
        let mut nested = list(&[]);
        for _ in 0..200_000 / MIRI {
            let item = nested.into_tensor().unwrap();
            nested = TensorList::of(DType::Variant, PartialShape::scalar(), [Some(item)]).unwrap();
        }
        drop(nested);
    }

    #[test]
    fn rows_of_one_buffer_are_spliced() {
        let t = Tensor::from_slice([3, 2], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let rows: Vec<Tensor> = (0..3).map(|i| t.row(i).unwrap()).collect();
        let all = Tensor::spliced(&rows, t.shape()).unwrap();
        assert_eq!(all.as_slice::<f32>().unwrap().as_ptr(), t.as_slice::<f32>().unwrap().as_ptr());
        assert!(all.bits_eq(&t));
        assert!(Tensor::spliced([&rows[1], &rows[0]], &[2, 2].into()).is_none());
        assert!(Tensor::spliced(&rows[1..], &[2, 2].into()).unwrap().bits_eq(&t.rows(1, 2).unwrap()));
    }
}
