//! [`TensorList`]: a list of tensors as a value, held in a [`Variant`].
//!
//! Items are shared handles: copying a list copies none of their elements. An op that holds the only reference to a
//! list changes it in place, so that a loop that pushes costs the same in every iteration.

use crate::budget::Charged;
use crate::{DType, Opaque, PartialShape, Result, Tensor, Variant, ensure, invalid};
use std::fmt;
use std::sync::Arc;

/// Tensors of one dtype whose shapes all fit the element shape. An item may be not yet written.
pub struct TensorList {
    dtype: DType,
    shape: PartialShape,
    max_len: Option<usize>,
    /// All of this dtype and shape.
    items: Charged<Option<Tensor>>,
}

impl TensorList {
    /// A list without items.
    pub fn new(dtype: DType, element_shape: PartialShape) -> TensorList {
        TensorList { dtype, shape: element_shape, max_len: None, items: Charged::new() }
    }

    /// With a number of items that pushing does not go beyond.
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
        let mut list = TensorList::new(dtype, element_shape);
        let items = items.into_iter();
        list.items.reserve(items.size_hint().0)?;
        for item in items {
            item.as_ref().map_or(Ok(()), |item| list.admit(item))?;
            list.items.push(item)?;
        }
        Ok(list)
    }

    /// The list with other items, and everything else as it is.
    pub fn with_items(&self, items: impl IntoIterator<Item = Option<Tensor>>) -> Result<TensorList> {
        Ok(TensorList::of(self.dtype, self.shape.clone(), items)?.with_max_len(self.max_len))
    }

    /// A copy: the items are shared.
    pub fn copy(&self) -> Result<TensorList> {
        let items = Charged::copy_of(&self.items)?;
        Ok(TensorList { dtype: self.dtype, shape: self.shape.clone(), max_len: self.max_len, items })
    }

    /// The dtype of the items.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// What the shapes of all items fit.
    pub fn element_shape(&self) -> &PartialShape {
        &self.shape
    }

    /// The number of items that pushing does not go beyond.
    pub fn max_len(&self) -> Option<usize> {
        self.max_len
    }

    /// The items; `None` for one that is not written.
    pub fn items(&self) -> &[Option<Tensor>] {
        &self.items
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// An error unless a list like this may hold `item`.
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
        self.items.push(Some(item))
    }

    /// Takes the last item off. The outer `None` says that there is none, the inner that it is not written.
    #[inline]
    pub fn pop(&mut self) -> Option<Option<Tensor>> {
        self.items.pop()
    }

    /// Writes item `i`, which must be there.
    #[inline]
    pub fn set(&mut self, i: usize, item: Tensor) -> Result<()> {
        self.admit(&item)?;
        let n = self.len();
        let place = self.items.get_mut(i).ok_or_else(|| invalid!("item {i} is not in a list of {n}"))?;
        *place = Some(item);
        Ok(())
    }

    /// Makes the list `len` items long: the last ones go, or unwritten ones come.
    pub fn resize(&mut self, len: usize) -> Result<()> {
        self.items.resize_with(len, || None)
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
        self.items.reserve(self.len().saturating_add(other.len()))?;
        other.items.iter().try_for_each(|item| self.items.push(item.clone()))
    }
}

impl Opaque for TensorList {
    fn kind(&self) -> &'static str {
        "tensor list"
    }
}

/// `list f32[2,3] of 5`.
impl fmt::Debug for TensorList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "list {}{} of {}", self.dtype, self.shape, self.len())
    }
}

impl From<TensorList> for Tensor {
    fn from(list: TensorList) -> Tensor {
        Tensor::variant(Variant::new(Arc::new(list)))
    }
}

/// Lists in lists, however deep, go one by one: a program can nest them deeper than the stack is.
impl Drop for TensorList {
    fn drop(&mut self) {
        if self.dtype != DType::Variant {
            return;
        }
        let mut dying = self.items.take();
        while let Some(item) = dying.pop() {
            let Some(mut item) = item else { continue };
            for variant in item.variants_mut().into_iter().flatten() {
                if let Some(list) = variant.get_mut::<TensorList>() {
                    dying.extend(list.items.take());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{self, Budget};
    use crate::shape;

    fn list(items: &[f32]) -> TensorList {
        let items = items.iter().map(|&v| Some(Tensor::scalar(v)));
        TensorList::of(DType::F32, shape![], items).unwrap()
    }

    #[test]
    fn prints() {
        assert_eq!(format!("{:?}", list(&[1.0, 2.0])), "list f32[] of 2");
        assert_eq!(Tensor::from(list(&[1.0])).to_string(), "variant <list f32[] of 1>");
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
        let address = |l: &TensorList| l.items()[0].as_ref().map(|t| t.as_slice::<f32>().unwrap().as_ptr());
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
        let _entered = budget::enter(Some(budget.clone()));
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
    fn lists_in_lists_may_be_deep() {
        let mut nested = list(&[]);
        for _ in 0..200_000 {
            let item = Tensor::from(nested);
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
