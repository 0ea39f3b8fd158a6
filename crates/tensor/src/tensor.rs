//! [`Tensor`]: a value. A scalar of plain data is stored inline; everything else is shared and copied on
//! write.

use crate::budget::{Charged, Fixed, OVERHEAD};
use crate::buffer::{self, Buffer, Foreign, Loan};
use crate::{
    Assembler, DType, Element, Handle, Result, Scalar, Shape, Str, Variant, ensure, invalid, shape,
    with_element,
};
use std::ops::Range;
use std::sync::Arc;

/// A value: dtype, shape and elements in row-major order. Clones share the elements; [`Tensor::make_mut`]
/// writes in place if nothing else shares them.
///
/// A tensor takes 24 bytes. A scalar of plain data needs no allocation.
#[derive(Clone)]
pub struct Tensor(Repr);

const _: () = assert!(size_of::<Option<Tensor>>() == 24);

#[derive(Clone)]
enum Repr {
    Scalar(Scalar),
    Dense(Arc<Dense>),
}

/// Elements `start..start + shape.elements()` of a storage.
struct Dense {
    dtype: DType,
    shape: Shape,
    start: usize,
    held: Held,
    /// The memory of this very struct. Plain elements of one's own are charged together with it.
    _header: Header,
}

/// The memory that a tensor takes besides its elements. A queue of ten million scalars in vectors of length 1
/// takes a gigabyte that way.
type Header = Fixed<{ Tensor::HEADER }>;
const _: () = assert!(size_of::<Dense>() <= 128);

/// The owner of a tensor's elements. Most tensors own theirs, which takes one allocation and one reference
/// count instead of two.
enum Held {
    Own(Storage),
    /// The elements of another tensor, which owns them.
    Of(Arc<Dense>),
}

impl Dense {
    #[inline]
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.shape.elements()
    }

    #[inline]
    fn storage(&self) -> &Storage {
        let mut dense = self;
        loop {
            match &dense.held {
                Held::Own(storage) => return storage,
                Held::Of(owner) => dense = owner,
            }
        }
    }

    /// The storage and the range of this tensor's elements in it, mutably, if it may be written to and
    /// nothing else shares it.
    #[inline]
    fn storage_mut(this: &mut Arc<Dense>) -> Option<(&mut Storage, Range<usize>)> {
        let dense = unshared(this)?;
        let range = dense.range();
        match &mut dense.held {
            Held::Own(Storage::Foreign(_)) => None,
            Held::Own(storage) => Some((storage, range)),
            Held::Of(owner) => match &mut unshared(owner)?.held {
                Held::Own(Storage::Foreign(_)) | Held::Of(_) => None,
                Held::Own(storage) => Some((storage, range)),
            },
        }
    }

    /// A tensor that shares some of these elements.
    fn share(this: &Arc<Dense>, dtype: DType, shape: Shape, start: usize) -> Tensor {
        Self::share_with(this, dtype, shape, start, Header::force())
    }

    fn share_with(this: &Arc<Dense>, dtype: DType, shape: Shape, start: usize, header: Header) -> Tensor {
        let owner = match &this.held {
            Held::Own(_) => this,
            Held::Of(owner) => owner,
        };
        let held = Held::Of(owner.clone());
        Tensor(Repr::Dense(Arc::new(Dense { dtype, shape, start, held, _header: header })))
    }
}

pub(crate) enum Storage {
    Plain(Buffer),
    Str(Charged<Str>),
    Handle(Charged<Handle>),
    Variant(Charged<Variant>),
    /// Plain data in memory of its owner. It is never lent mutably.
    Foreign(Arc<Foreign>),
}

/// The content of an `Arc` that nothing else shares. Reads the count first, which is cheap: `get_mut` locks
/// the memory bus to check.
#[inline(always)]
fn unshared<T>(arc: &mut Arc<T>) -> Option<&mut T> {
    if 1 < Arc::strong_count(arc) { None } else { Arc::get_mut(arc) }
}

impl Tensor {
    /// The bytes charged for a tensor that is no inline scalar, besides its elements: the struct, and its
    /// place in the queue, list or vector that keeps it, which may have room for twice as many.
    pub(crate) const HEADER: usize = 128 + OVERHEAD + 96;

    /// A scalar of plain data.
    #[inline]
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor(Repr::Scalar(value.scalar()))
    }

    /// A scalar string.
    pub fn str(value: impl Into<Str>) -> Tensor {
        Self::dense(DType::Str, Shape::scalar(), Storage::Str(Charged::one(value.into())))
    }

    /// A scalar resource handle.
    pub fn handle(handle: Handle) -> Tensor {
        Self::dense(DType::Resource, Shape::scalar(), Storage::Handle(Charged::one(handle)))
    }

    /// A scalar variant.
    pub fn variant(value: Variant) -> Tensor {
        Self::dense(DType::Variant, Shape::scalar(), Storage::Variant(Charged::one(value)))
    }

    /// A copy of `values` in this shape.
    pub fn from_slice<T: Element>(shape: impl Into<Shape>, values: &[T]) -> Result<Tensor> {
        let shape = shape.into();
        check_count(&shape, values.len())?;
        match values {
            [value] if shape.rank() == 0 => Ok(Self::scalar(*value)),
            _ => Ok(Self::dense(T::DTYPE, shape, Storage::Plain(Buffer::copy_of(values)?))),
        }
    }

    /// A tensor of the elements that `values` yields. If it yields too few, the rest is zero; elements beyond
    /// the shape are dropped.
    #[inline]
    pub fn from_iter<T: Element>(
        shape: impl Into<Shape>,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Tensor> {
        let shape = shape.into();
        if shape.rank() == 0 {
            return Ok(Self::scalar(values.into_iter().next().unwrap_or_default()));
        }
        let buffer = Buffer::collect(shape.checked_elements()?, values)?;
        Ok(Self::dense(T::DTYPE, shape, Storage::Plain(buffer)))
    }

    /// A tensor of the elements that `owner` exposes, in place: no copy, whatever the size of a `Vec`, a
    /// `bytes::Bytes` or a mapped file. The owner's `as_ref` is called once. The owner is dropped with the
    /// last tensor that shares its elements, on the thread that drops that tensor. A write to the tensor
    /// copies the elements first.
    ///
    /// ```
    /// # use millstream_tensor::{Result, Tensor};
    /// let rows = Tensor::from_owner([2, 3], vec![1f32, 2., 3., 4., 5., 6.])?;
    /// assert_eq!(rows.row(1)?.as_slice::<f32>()?, [4., 5., 6.]);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn from_owner<T: Element>(
        shape: impl Into<Shape>,
        owner: impl AsRef<[T]> + Send + 'static,
    ) -> Result<Tensor> {
        Ok(Self::foreign::<T>(shape.into(), Foreign::of(owner, false))?.0)
    }

    /// A tensor like that of [`Tensor::from_owner`], of memory that the owner will write to again once the
    /// [`Loan`] ends.
    ///
    /// Such an owner exposes elements that others can write to, which takes `unsafe` code; the loan is how it
    /// keeps its promise. It also promises that no slice obtained before the end of the loan is still being
    /// read then: that the run the tensor was fed to is over, or that the memory does not change.
    pub fn lent<T: Element>(
        shape: impl Into<Shape>,
        owner: impl AsRef<[T]> + Send + 'static,
    ) -> Result<(Tensor, Loan)> {
        Self::foreign::<T>(shape.into(), Foreign::of(owner, true))
    }

    fn foreign<T: Element>(shape: Shape, foreign: Foreign) -> Result<(Tensor, Loan)> {
        let elements = foreign.typed::<T>();
        check_count(&shape, elements.len())?;
        if let ([value], 0) = (elements, shape.rank()) {
            return Ok((Self::scalar(*value), Loan::default()));
        }
        let foreign = Arc::new(foreign);
        let loan = Loan::of(&foreign);
        Ok((Self::dense(T::DTYPE, shape, Storage::Foreign(foreign)), loan))
    }

    /// This tensor, fit to be kept beyond a run: a copy if its memory is only lent ([`Tensor::lent`]).
    #[inline]
    pub fn kept(mut self) -> Result<Tensor> {
        self.keep()?;
        Ok(self)
    }

    /// Makes this tensor fit to be kept, as [`Tensor::kept`] does, in place.
    #[inline]
    pub fn keep(&mut self) -> Result<()> {
        if let Some((Storage::Foreign(foreign), _)) = self.storage()
            && foreign.is_lent()
        {
            *self = self.copied()?;
        }
        Ok(())
    }

    #[cold]
    fn copied(&self) -> Result<Tensor> {
        let mut copy = Assembler::new(self.dtype(), self.shape().clone())?;
        copy.push(self, 0, self.elements())?;
        copy.finish()
    }

    /// A vector with these elements.
    pub fn vector<T: Element>(values: &[T]) -> Result<Tensor> {
        Self::from_slice([values.len()], values)
    }

    /// A tensor of strings.
    pub fn strings(shape: impl Into<Shape>, values: Vec<Str>) -> Result<Tensor> {
        let shape = shape.into();
        check_count(&shape, values.len())?;
        Self::charged(DType::Str, shape, Storage::Str(Charged::holding(values)?))
    }

    /// A tensor of resource handles.
    pub fn handles(shape: impl Into<Shape>, values: Vec<Handle>) -> Result<Tensor> {
        let shape = shape.into();
        check_count(&shape, values.len())?;
        Self::charged(DType::Resource, shape, Storage::Handle(Charged::holding(values)?))
    }

    /// A tensor of variants.
    pub fn variants(shape: impl Into<Shape>, values: Vec<Variant>) -> Result<Tensor> {
        let shape = shape.into();
        check_count(&shape, values.len())?;
        Self::charged(DType::Variant, shape, Storage::Variant(Charged::holding(values)?))
    }

    /// A tensor of zeros, falses or empty strings. Resources and variants have no zero: an error unless the
    /// shape has no elements.
    pub fn zeros(dtype: DType, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        let count = shape.checked_elements()?;
        if shape.rank() == 0
            && let Some(zero) = Scalar::zero(dtype)
        {
            return Ok(Tensor(Repr::Scalar(zero)));
        }
        let storage = match dtype.size() {
            Some(size) => {
                let bytes = count.checked_mul(size).ok_or_else(|| invalid!("{dtype}{shape} is too large"))?;
                Storage::Plain(Buffer::zeroed_bytes(bytes)?)
            }
            None if dtype == DType::Str => {
                let empty = Str::default();
                let mut strings = Charged::with_room(count)?;
                strings.resize_with(count, || empty.clone())?;
                Storage::Str(strings)
            }
            None => {
                ensure!(count == 0, "there is no zero of dtype {dtype}");
                match dtype {
                    DType::Resource => Storage::Handle(Charged::new()),
                    _ => Storage::Variant(Charged::new()),
                }
            }
        };
        Self::charged(dtype, shape, storage)
    }

    /// A tensor of numbers or bools with arbitrary contents, for callers that write every element: zeros, or
    /// what a dropped tensor left behind. Unlike [`Tensor::zeros`], it takes no time to clear a large tensor.
    pub fn anything(dtype: DType, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        match dtype.size() {
            Some(size) if shape.rank() > 0 => {
                let bytes = shape.checked_elements()?.checked_mul(size);
                let bytes = bytes.ok_or_else(|| invalid!("{dtype}{shape} is too large"))?;
                let (buffer, _) = Buffer::any_bytes(dtype, bytes)?;
                Ok(Self::dense(dtype, shape, Storage::Plain(buffer)))
            }
            _ => Self::zeros(dtype, shape),
        }
    }

    /// A tensor of the elements in `buffer`; `dtype` must be the type that the buffer was written as.
    pub(crate) fn from_buffer(dtype: DType, shape: Shape, buffer: Buffer) -> Tensor {
        if shape.rank() == 0
            && let Some(scalar) = with_element_scalar(dtype, &buffer)
        {
            return Tensor(Repr::Scalar(scalar));
        }
        Self::dense(dtype, shape, Storage::Plain(buffer))
    }

    /// A tensor of these elements, for constructors that cannot fail: the header is charged over the limit if
    /// need be.
    fn dense(dtype: DType, shape: Shape, storage: Storage) -> Tensor {
        let header = match &storage {
            Storage::Plain(_) => Header::default(),
            _ => Header::force(),
        };
        Self::with_header(dtype, shape, storage, header)
    }

    /// A tensor of these elements; an error if its header exceeds the budget in force. A kernel can make
    /// millions of tensors without elements, so this is for every constructor that can fail.
    pub(crate) fn charged(dtype: DType, shape: Shape, storage: Storage) -> Result<Tensor> {
        let header = match &storage {
            Storage::Plain(_) => Header::default(),
            _ => Header::take()?,
        };
        Ok(Self::with_header(dtype, shape, storage, header))
    }

    fn with_header(dtype: DType, shape: Shape, storage: Storage, header: Header) -> Tensor {
        let held = Held::Own(storage);
        Tensor(Repr::Dense(Arc::new(Dense { dtype, shape, start: 0, held, _header: header })))
    }

    /// Makes this a copy of another tensor. If it is one already, no reference count changes.
    #[inline]
    pub fn set_to(&mut self, other: &Tensor) {
        match (&self.0, &other.0) {
            (Repr::Dense(a), Repr::Dense(b)) if Arc::ptr_eq(a, b) => {}
            _ => *self = other.clone(),
        }
    }

    /// The dtype.
    #[inline]
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Repr::Scalar(s) => s.dtype(),
            Repr::Dense(d) => d.dtype,
        }
    }

    /// The shape.
    #[inline]
    pub fn shape(&self) -> &Shape {
        match &self.0 {
            Repr::Scalar(_) => &shape::SCALAR,
            Repr::Dense(d) => &d.shape,
        }
    }

    /// The number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// The number of elements.
    #[inline]
    pub fn elements(&self) -> usize {
        match &self.0 {
            Repr::Scalar(_) => 1,
            Repr::Dense(d) => d.shape.elements(),
        }
    }

    /// The size of the elements in bytes; for strings, the sum of their lengths.
    pub fn byte_size(&self) -> usize {
        match self.dtype().size() {
            Some(size) => self.elements().saturating_mul(size),
            None => self.as_strs().map_or(0, |s| s.iter().map(|s| s.len()).sum()),
        }
    }

    /// The inline element, if this is a scalar of plain data.
    #[inline]
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.0 {
            Repr::Scalar(s) => Some(s),
            Repr::Dense(_) => None,
        }
    }

    /// The inline element, mutably, if this is a scalar of plain data. The caller must keep its dtype.
    #[inline]
    pub fn as_scalar_mut(&mut self) -> Option<&mut Scalar> {
        match &mut self.0 {
            Repr::Scalar(s) => Some(s),
            Repr::Dense(_) => None,
        }
    }

    /// The elements; an error if they are not of type `T`.
    #[inline]
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        match &self.0 {
            Repr::Scalar(s) => T::of(s).map(std::slice::from_ref).ok_or_else(|| self.not_a(T::DTYPE)),
            Repr::Dense(d) => match d.storage() {
                Storage::Plain(b) if d.dtype == T::DTYPE => {
                    b.typed::<T>().get(d.range()).ok_or_else(|| self.not_a(T::DTYPE))
                }
                Storage::Foreign(f) if d.dtype == T::DTYPE => {
                    f.typed::<T>().get(d.range()).ok_or_else(|| self.not_a(T::DTYPE))
                }
                _ => Err(self.not_a(T::DTYPE)),
            },
        }
    }

    /// The value of a scalar, or of any tensor of one element.
    #[inline]
    pub fn to_scalar<T: Element>(&self) -> Result<T> {
        match self.as_slice::<T>()? {
            [value] => Ok(*value),
            _ => Err(invalid!("expected one element, got {}{}", self.dtype(), self.shape())),
        }
    }

    /// The elements, mutably, if nothing else shares them and they are of type `T`.
    #[inline]
    pub fn make_mut<T: Element>(&mut self) -> Option<&mut [T]> {
        match &mut self.0 {
            Repr::Scalar(s) => T::of_mut(s).map(std::slice::from_mut),
            Repr::Dense(d) => {
                let dtype = d.dtype;
                match Dense::storage_mut(d)? {
                    (Storage::Plain(b), range) if dtype == T::DTYPE => b.typed_mut::<T>().get_mut(range),
                    _ => None,
                }
            }
        }
    }

    /// The elements, mutably, copied first if they are shared; an error if they are not of type `T`.
    pub fn make_mut_or_copy<T: Element>(&mut self) -> Result<&mut [T]> {
        if self.make_mut::<T>().is_none() {
            *self = Self::from_slice(self.shape().clone(), self.as_slice::<T>()?)?;
        }
        self.make_mut::<T>().ok_or_else(|| crate::Error::internal("a fresh copy is shared"))
    }

    /// The strings; `None` for other dtypes.
    pub fn as_strs(&self) -> Option<&[Str]> {
        match self.opaque()? {
            (Storage::Str(v), range) => v.get(range),
            _ => None,
        }
    }

    /// The handles; `None` for other dtypes.
    #[inline]
    pub fn as_handles(&self) -> Option<&[Handle]> {
        match self.opaque()? {
            (Storage::Handle(v), range) => v.get(range),
            _ => None,
        }
    }

    /// The variants; `None` for other dtypes.
    pub fn as_variants(&self) -> Option<&[Variant]> {
        match self.opaque()? {
            (Storage::Variant(v), range) => v.get(range),
            _ => None,
        }
    }

    /// The strings, mutably, if nothing else shares them.
    pub fn strs_mut(&mut self) -> Option<&mut [Str]> {
        match self.storage_mut()? {
            (Storage::Str(v), range) => v.get_mut(range),
            _ => None,
        }
    }

    /// The variants, mutably, if nothing else shares them.
    pub fn variants_mut(&mut self) -> Option<&mut [Variant]> {
        match self.storage_mut()? {
            (Storage::Variant(v), range) => v.get_mut(range),
            _ => None,
        }
    }

    #[inline]
    fn opaque(&self) -> Option<(&Storage, Range<usize>)> {
        self.storage()
    }

    /// The storage and the range of this tensor's elements in it; `None` for an inline scalar.
    #[inline]
    pub(crate) fn storage(&self) -> Option<(&Storage, Range<usize>)> {
        match &self.0 {
            Repr::Scalar(_) => None,
            Repr::Dense(d) => Some((d.storage(), d.range())),
        }
    }

    /// The same as [`Tensor::storage`], mutably; also `None` if the elements are shared.
    #[inline]
    pub(crate) fn storage_mut(&mut self) -> Option<(&mut Storage, Range<usize>)> {
        match &mut self.0 {
            Repr::Scalar(_) => None,
            Repr::Dense(d) => Dense::storage_mut(d),
        }
    }

    /// A tensor of another plain dtype that shares these bytes. `None` where they must be copied: if they are
    /// misaligned, or in foreign memory, which is aligned only for its own elements. The caller checks that
    /// the byte counts agree and that the bytes are valid for `dtype`.
    pub(crate) fn share_as(&self, dtype: DType, shape: &Shape) -> Option<Tensor> {
        let Repr::Dense(d) = &self.0 else { return None };
        if let Storage::Foreign(_) = d.storage() {
            return None;
        }
        let at = d.start.checked_mul(d.dtype.size()?)?;
        let size = dtype.size()?;
        (shape.rank() > 0 && at.is_multiple_of(size))
            .then(|| Dense::share(d, dtype, shape.clone(), at / size))
    }

    /// The bytes of plain elements in the machine's byte order; `None` for strings, resources and variants.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            Repr::Scalar(s) => {
                with_element!(s.dtype(), T => T::of(s).map(|v| buffer::slice_bytes(std::slice::from_ref(v))), else => None)
            }
            Repr::Dense(d) => match (d.storage(), d.dtype.size()) {
                (Storage::Plain(b), Some(size)) => {
                    let range = d.range();
                    b.bytes().get(range.start * size..range.end * size)
                }
                (Storage::Foreign(f), Some(size)) => {
                    let range = d.range();
                    f.bytes().get(range.start * size..range.end * size)
                }
                _ => None,
            },
        }
    }

    /// The bytes of plain elements, mutably, if nothing else shares them. `None` for scalars, and for bools,
    /// as most bytes are not valid bools.
    pub fn make_mut_bytes(&mut self) -> Option<&mut [u8]> {
        let Repr::Dense(d) = &mut self.0 else { return None };
        let size = d.dtype.size().filter(|_| d.dtype != DType::Bool)?;
        match Dense::storage_mut(d)? {
            (Storage::Plain(b), range) => b.bytes_mut().get_mut(range.start * size..range.end * size),
            _ => None,
        }
    }

    /// A tensor of another shape that shares these elements. An error if the element counts differ.
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        let count = shape.checked_elements()?;
        ensure!(
            count == self.elements(),
            "{} elements of shape {} do not fit shape {shape}",
            self.elements(),
            self.shape()
        );
        self.clone().reshaped(shape)
    }

    /// Reshapes by value, as [`Tensor::reshape`] does. The elements stay unshared, so the next kernel may
    /// write in place.
    pub fn into_shape(self, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        ensure!(
            shape.checked_elements()? == self.elements(),
            "{} elements of shape {} do not fit shape {shape}",
            self.elements(),
            self.shape()
        );
        self.reshaped(shape)
    }

    fn reshaped(self, shape: Shape) -> Result<Tensor> {
        let dtype = self.dtype();
        match self.0 {
            Repr::Scalar(s) if shape.rank() == 0 => Ok(Tensor(Repr::Scalar(s))),
            Repr::Scalar(s) => with_element!(dtype, T => match T::of(&s) {
                Some(v) => Ok(Self::dense(dtype, shape, Storage::Plain(Buffer::copy_of(std::slice::from_ref(v))?))),
                None => Err(crate::Error::internal("a scalar of another dtype than its own")),
            }, else => Err(crate::Error::internal("a scalar that is not plain data"))),
            Repr::Dense(d) if shape.rank() == 0 && dtype.size().is_some() => {
                let t = Tensor(Repr::Dense(d));
                with_element!(dtype, T => t.to_scalar::<T>().map(Tensor::scalar), else => Ok(t))
            }
            Repr::Dense(mut d) => match unshared(&mut d) {
                Some(own) => {
                    own.shape = shape;
                    Ok(Tensor(Repr::Dense(d)))
                }
                None => Ok(Dense::share_with(&d, dtype, shape, d.start, Header::take()?)),
            },
        }
    }

    /// A tensor that shares rows `start..start + count` along the outermost axis.
    pub fn rows(&self, start: usize, count: usize) -> Result<Tensor> {
        let shape = self.shape();
        let Some(&outer) = shape.first() else { return Err(invalid!("a scalar has no rows")) };
        ensure!(
            start.checked_add(count).is_some_and(|end| end <= outer),
            "rows {start}..{start}+{count} are out of range of shape {shape}"
        );
        let row = elements_of(&shape[1..]);
        let mut shape = shape.clone();
        shape.dims_mut()[0] = count;
        match &self.0 {
            Repr::Scalar(_) => Err(invalid!("a scalar has no rows")),
            // Whatever is as long as a first axis is made of rows, so a hostile length ends here.
            Repr::Dense(d) => {
                Ok(Dense::share_with(d, d.dtype, shape, d.start + start * row, Header::take()?))
            }
        }
    }

    /// A tensor that shares row `i` along the outermost axis, without that axis.
    pub fn row(&self, i: usize) -> Result<Tensor> {
        let (dtype, shape) = (self.dtype(), self.shape());
        let (Repr::Dense(d), Some((&outer, inner))) = (&self.0, shape.split_first()) else {
            return Err(invalid!("a scalar has no rows"));
        };
        ensure!(i < outer, "rows {i}..{i}+1 are out of range of shape {shape}");
        if inner.is_empty() && dtype.size().is_some() {
            return with_element!(dtype, T => match self.as_slice::<T>()?.get(i) {
                Some(v) => Ok(Self::scalar(*v)),
                None => Err(crate::Error::internal("a vector is shorter than its shape")),
            }, else => Err(self.not_a(dtype)));
        }
        let start = d.start + i * elements_of(inner);
        Ok(Dense::share_with(d, dtype, Shape::from(inner), start, Header::take()?))
    }

    /// A tensor of `shape` that shares the elements of `parts` one after another, if they are adjacent in one
    /// buffer; `None` where they must be copied.
    pub fn spliced<'a>(parts: impl IntoIterator<Item = &'a Tensor>, shape: &Shape) -> Option<Tensor> {
        let mut parts = parts.into_iter().map(|part| match &part.0 {
            Repr::Scalar(_) => None,
            Repr::Dense(d) => Some(d),
        });
        let first = parts.next()??;
        let mut end = first.start + first.shape.elements();
        for part in parts {
            let part = part?;
            if part.dtype != first.dtype
                || part.start != end
                || !std::ptr::eq(part.storage(), first.storage())
            {
                return None;
            }
            end += part.shape.elements();
        }
        let fits = end - first.start == shape.elements() && shape.rank() > 0;
        fits.then(|| Dense::share(first, first.dtype, shape.clone(), first.start))
    }

    fn not_a(&self, wanted: DType) -> crate::Error {
        invalid!("expected a tensor of {wanted}, got {}{}", self.dtype(), self.shape())
    }
}

/// The product of the inner dimensions of a tensor. It saturates, but not where there are elements.
#[inline]
fn elements_of(inner: &[usize]) -> usize {
    inner.iter().fold(1, |n, &d| n.saturating_mul(d))
}

fn check_count(shape: &Shape, count: usize) -> Result<()> {
    let wanted = shape.checked_elements()?;
    ensure!(wanted == count, "shape {shape} has {wanted} elements but {count} were given");
    Ok(())
}

fn with_element_scalar(dtype: DType, buffer: &Buffer) -> Option<Scalar> {
    with_element!(dtype, T => buffer.typed::<T>().first().map(|v| v.scalar()), else => None)
}

impl<T: Element> From<T> for Tensor {
    fn from(value: T) -> Self {
        Tensor::scalar(value)
    }
}

impl From<Scalar> for Tensor {
    fn from(scalar: Scalar) -> Self {
        Tensor(Repr::Scalar(scalar))
    }
}
