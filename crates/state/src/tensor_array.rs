//! [`TensorArray`]: tensors by index that live for a step, each written once and read back, as in TensorFlow
//! 1.
//!
//! An array has one lock, so concurrent iterations may share it. The graph determines the order of their
//! accesses.

use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Error, Opaque, PartialShape, Result, Shape, Tensor, ensure, invalid};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The options of a [`TensorArray`].
#[derive(Clone, Debug)]
pub struct TensorArrayOptions {
    /// The shape that all elements must fit.
    pub element_shape: PartialShape,
    /// Whether a write beyond the end extends the array.
    pub dynamic_size: bool,
    /// Whether an element can be read only once.
    pub clear_after_read: bool,
    /// Whether all elements have the shape of the first one written.
    pub identical_element_shapes: bool,
}

/// An array of tensors.
pub struct TensorArray {
    name: String,
    dtype: DType,
    clear_after_read: bool,
    identical_element_shapes: bool,
    /// Whether the array is a gradient: writes to one index are summed, and unwritten elements read as zeros.
    sums: bool,
    state: Mutex<State>,
    /// The gradients of this array by source. Locked after `state`, never before.
    gradients: Mutex<BTreeMap<String, Arc<TensorArray>>>,
}

struct State {
    element_shape: PartialShape,
    dynamic_size: bool,
    closed: bool,
    /// Whether several writes to one index were summed: the array then has no gradient.
    summed: bool,
    /// The number of elements that an unpack or split wrote, which its gradient concatenates.
    marked: usize,
    slots: Charged<Slot>,
}

#[derive(Clone, Default)]
struct Slot {
    value: Content,
    read: bool,
}

#[derive(Clone, Default)]
enum Content {
    #[default]
    Unwritten,
    /// Zeros of this shape, which are made when they are read.
    Zeros(Arc<Shape>),
    Value(Tensor),
    /// An element that was read and dropped. Holds its shape if the element shape does not determine it.
    Cleared(Option<Box<Shape>>),
}

/// What an access to an element may change, as it was before.
pub struct Before {
    /// The element, if there was one at the index.
    slot: Option<(usize, Slot)>,
    len: usize,
    element_shape: PartialShape,
    summed: bool,
}

/// Adds two tensors of equal dtype and shape.
pub type Sum<'a> = &'a dyn Fn(Tensor, Tensor) -> Result<Tensor>;

impl TensorArray {
    /// An array of `len` unwritten elements.
    pub fn new(
        name: impl Into<String>,
        dtype: DType,
        len: usize,
        options: TensorArrayOptions,
    ) -> Result<TensorArray> {
        let mut slots = Charged::new();
        slots.resize_with(len, Slot::default)?;
        Ok(TensorArray {
            name: name.into(),
            dtype,
            clear_after_read: options.clear_after_read,
            identical_element_shapes: options.identical_element_shapes,
            sums: false,
            state: Mutex::new(State {
                element_shape: options.element_shape,
                dynamic_size: options.dynamic_size,
                closed: false,
                summed: false,
                marked: 0,
                slots,
            }),
            gradients: Mutex::new(BTreeMap::new()),
        })
    }

    /// The name of the array, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape that all elements must fit, as far as it is known by now.
    pub fn element_shape(&self) -> PartialShape {
        self.state.lock().element_shape.clone()
    }

    /// A shape that elements have as far as it can be told: that which all must fit, or else that of the
    /// first element that was written.
    pub fn likely_shape(&self) -> PartialShape {
        let state = self.state.lock();
        let first = state.slots.iter().find_map(|slot| match &slot.value {
            Content::Value(value) => Some(value.shape().into()),
            Content::Zeros(shape) => Some((&**shape).into()),
            Content::Cleared(Some(shape)) => Some((&**shape).into()),
            Content::Unwritten | Content::Cleared(None) => None,
        });
        match first {
            Some(first) if state.element_shape.full().is_none() => first,
            _ => state.element_shape.clone(),
        }
    }

    /// Whether a write beyond the end extends the array.
    pub fn has_dynamic_size(&self) -> bool {
        self.state.lock().dynamic_size
    }

    /// The number of elements, written or not.
    pub fn len(&self) -> Result<usize> {
        Ok(self.open()?.slots.len())
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The number of elements that a concatenation of the whole array takes. For a gradient, it is the number
    /// that an unpack or split of the array wrote.
    pub fn whole_len(&self) -> Result<usize> {
        let state = self.open()?;
        Ok(if self.sums { state.marked } else { state.slots.len() })
    }

    /// Records that an unpack or split wrote the first `len` elements.
    pub fn mark_len(&self, len: usize) {
        if !self.sums {
            self.state.lock().marked = len;
        }
    }

    /// Restricts the element shape to `shape`, too.
    pub fn constrain(&self, shape: &PartialShape) -> Result<()> {
        let mut state = self.open()?;
        let merged = state.element_shape.merge(shape);
        state.element_shape = merged.ok_or_else(|| {
            self.error(format!("its element shape is {} and cannot be {shape}", state.element_shape))
        })?;
        Ok(())
    }

    /// What writing or reading the element at an index may change.
    pub(crate) fn before(&self, index: i64) -> Before {
        let state = self.state.lock();
        let at = usize::try_from(index).ok();
        let slot = at.and_then(|at| Some((at, state.slots.get(at)?.clone())));
        let (len, summed) = (state.slots.len(), state.summed);
        Before { slot, len, element_shape: state.element_shape.clone(), summed }
    }

    /// Undoes what was done to the element since.
    pub(crate) fn restore(&self, before: Before) {
        let mut state = self.state.lock();
        let gone = before.slot.and_then(|(at, slot)| Some(std::mem::replace(state.slots.get_mut(at)?, slot)));
        (state.element_shape, state.summed) = (before.element_shape, before.summed);
        state.slots.truncate(before.len);
        drop(state);
        drop(gone);
    }

    /// Writes each value to its index.
    pub fn write(&self, values: impl IntoIterator<Item = (i64, Tensor)>, sum: Sum) -> Result<()> {
        let mut state = self.open()?;
        values.into_iter().try_for_each(|(index, value)| self.write_one(&mut state, index, value, sum))
    }

    /// As [`TensorArray::write`], of values that are made one by one. The first error ends it.
    pub fn try_write(&self, values: impl IntoIterator<Item = Result<(i64, Tensor)>>, sum: Sum) -> Result<()> {
        let mut state = self.open()?;
        let mut pace = Pace::new();
        values.into_iter().try_for_each(|each| {
            pace.spend(1)?;
            let (index, value) = each?;
            self.write_one(&mut state, index, value, sum)
        })
    }

    fn write_one(&self, state: &mut State, index: i64, value: Tensor, sum: Sum) -> Result<()> {
        let len = state.slots.len();
        let i = usize::try_from(index).ok().filter(|i| state.dynamic_size || *i < len).ok_or_else(|| {
            let error = self.error(format!("index {index} cannot be written: there are {len} elements"));
            // TensorFlow uses these words for negative indices too, even if the array is resizable.
            let error = error.led_by(self.words(format!(
                "Tried to write to index {index} but array is not resizeable and size is: {len}"
            )));
            if index < 0 { error } else { error.with_help("make it larger, or set `dynamic_size=True`") }
        })?;
        ensure!(
            value.dtype() == self.dtype,
            "{}",
            self.words(format!(
                "Could not write to TensorArray index {index} because the value dtype is {} but TensorArray dtype is {}.",
                value.dtype().kernel_name(),
                self.dtype.kernel_name()
            ));
            "{self:?} holds {}: {} cannot be written to index {index}",
            self.dtype,
            value.dtype()
        );
        if !state.element_shape.admits(value.shape()) {
            let shape = &state.element_shape;
            return Err(self
                .error(format!(
                    "a value of shape {} cannot be written to index {index}: its elements have shape {shape}",
                    value.shape()
                ))
                .led_by(self.words(format!(
                    "Could not write to TensorArray index {index} because the value shape is {} which is incompatible with the TensorArray's inferred element shape: {shape} (consider setting infer_shape=False).",
                    value.shape()
                )))
                .with_help("elements of different shapes need `infer_shape=False`"));
        }
        if len <= i {
            state.slots.resize_with(i.saturating_add(1), Slot::default)?;
        }
        if self.identical_element_shapes && !state.element_shape.is_full() {
            state.element_shape = value.shape().into();
        }
        let slot = &mut state.slots[i];
        if slot.read {
            let words =
                format!("Could not write to TensorArray index {index} because it has already been read.");
            return Err(self
                .error(format!("index {index} cannot be written: it has been read already"))
                .led_by(self.words(words)));
        }
        let written = match std::mem::take(&mut slot.value) {
            Content::Unwritten => value,
            old if !self.sums => {
                slot.value = old;
                let words = format!(
                    "Could not write to TensorArray index {index} because it has already been written to."
                );
                return Err(self
                    .error(format!("index {index} cannot be written: it has been written already"))
                    .led_by(self.words(words)));
            }
            Content::Zeros(shape) => {
                self.same_shape(index, &shape, &value)?;
                value
            }
            Content::Value(old) => {
                self.same_shape(index, old.shape(), &value)?;
                state.summed = true;
                sum(old, value)?
            }
            Content::Cleared(_) => return Err(Error::internal("an element is gone that was not read")),
        };
        slot.value = Content::Value(written);
        Ok(())
    }

    fn same_shape(&self, index: i64, old: &Shape, value: &Tensor) -> Result<()> {
        match old == value.shape() {
            true => Ok(()),
            false => Err(self
                .error(format!(
                    "index {index} has shape {old}, so a value of shape {} cannot be added to it",
                    value.shape()
                ))
                .led_by(self.words(format!(
                    "Could not aggregate to TensorArray index {index} because the existing shape is {old} but the new input shape is {}.",
                    value.shape()
                )))),
        }
    }

    /// Reads the elements at these indices.
    pub fn read(&self, indices: impl IntoIterator<Item = i64>) -> Result<Charged<Tensor>> {
        let mut state = self.open()?;
        let mut pace = Pace::new();
        Charged::try_of(indices.into_iter().map(|index| {
            pace.spend(1)?;
            self.read_one(&mut state, index)
        }))
    }

    fn read_one(&self, state: &mut State, index: i64) -> Result<Tensor> {
        let len = state.slots.len();
        // In a gradient every unwritten element reads as zeros, even beyond the end.
        let i = usize::try_from(index).ok().filter(|i| self.sums || *i < len);
        let i = i.ok_or_else(|| {
            self.error(format!("index {index} cannot be read: there are {len} elements"))
                .led_by(format!("Tried to read from index {index} but array size is: {len}"))
        })?;
        let unwritten = state.slots.get(i).is_none_or(|s| matches!(s.value, Content::Unwritten));
        if unwritten {
            let shape = state.element_shape.full().ok_or_else(|| {
                self.error(format!(
                    "index {index} cannot be read: nothing was written there, and the element shape {} is not fully known",
                    state.element_shape
                ))
                .led_by(self.words(format!(
                    "Could not read from TensorArray index {index}.  Furthermore, the element shape is not fully defined: {}.  It is possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be written.  If you set the full element_shape property on the forward TensorArray, the proper all-zeros tensor will be returned instead of incurring this error.",
                    said(&state.element_shape)
                )))
                .with_help("write it first, or declare a fully known `element_shape` to read zeros")
            })?;
            let shape = Arc::new(shape);
            let zeros = || Slot { value: Content::Zeros(shape.clone()), read: false };
            match i < len {
                true => state.slots[i] = zeros(),
                false => state.slots.resize_with(i.saturating_add(1), zeros)?,
            }
        }
        let slot = &mut state.slots[i];
        let value = match &slot.value {
            Content::Value(value) => value.clone(),
            Content::Zeros(shape) => Tensor::zeros(self.dtype, Shape::clone(shape))?,
            Content::Unwritten => return Err(Error::internal("an element is still not written")),
            Content::Cleared(_) => {
                return Err(self
                    .error(format!("index {index} cannot be read again: it was cleared after it was read"))
                    .led_by(self.words(format!(
                        "Could not read index {index} twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?)."
                    )))
                    .with_help("create the TensorArray with `clear_after_read=False`"));
            }
        };
        slot.value = match self.clear_after_read {
            true if state.element_shape.is_full() => Content::Cleared(None),
            true => Content::Cleared(Some(Box::new(value.shape().clone()))),
            false => Content::Value(value.clone()),
        };
        slot.read = true;
        Ok(value)
    }

    /// Closes the array and drops its elements. Afterwards only `close` may be called again.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let old = std::mem::take(&mut state.slots);
        drop(state);
        drop(old);
    }

    /// The gradient of the array for `source`, created on first use. Its element shapes are those of the
    /// array with the dimensions of `prepended` in front. The array can no longer grow.
    pub fn gradient(&self, source: &str, prepended: &Shape) -> Result<Arc<TensorArray>> {
        let mut state = self.open()?;
        state.dynamic_size = false;
        if state.summed {
            return Err(self.error("it has no gradient: several values were written to one index and summed"));
        }
        let mut gradients = self.gradients.lock();
        if let Some(gradient) = gradients.get(source) {
            return Ok(gradient.clone());
        }
        let behind = |shape: &Shape| Shape::new(prepended.iter().chain(shape.iter()).copied());
        let dims = state.element_shape.dims();
        let element_shape = dims.map_or(PartialShape::unknown(), |dims| {
            PartialShape::new(prepended.iter().map(|&d| Some(d)).chain(dims.iter().copied()))
        });
        let mut slots = Charged::new();
        slots.reserve(state.slots.len())?;
        // Most elements have the shape of the one before.
        let mut last: Option<Arc<Shape>> = None;
        for slot in state.slots.iter() {
            let shape = match &slot.value {
                Content::Value(value) => Some(value.shape()),
                Content::Zeros(shape) => Some(&**shape),
                Content::Cleared(Some(shape)) => Some(&**shape),
                // The element shape determines it, if anything does.
                Content::Cleared(None) | Content::Unwritten => None,
            };
            let value = shape.map_or(Content::Unwritten, |shape| {
                let shape = behind(shape);
                let same = last.take().filter(|last| **last == shape);
                Content::Zeros(last.insert(same.unwrap_or_else(|| Arc::new(shape))).clone())
            });
            slots.push(Slot { value, read: false })?;
        }
        let gradient = Arc::new(TensorArray {
            name: format!("{}@{source}", self.name),
            dtype: self.dtype,
            clear_after_read: true,
            identical_element_shapes: self.identical_element_shapes,
            sums: true,
            state: Mutex::new(State {
                element_shape,
                dynamic_size: false,
                closed: false,
                summed: false,
                marked: state.marked,
                slots,
            }),
            gradients: Mutex::new(BTreeMap::new()),
        });
        gradients.insert(source.to_owned(), gradient.clone());
        Ok(gradient)
    }

    fn open(&self) -> Result<parking_lot::MutexGuard<'_, State>> {
        let state = self.state.lock();
        match state.closed {
            false => Ok(state),
            true => Err(self
                .error("it has been closed already")
                .led_by(format!("TensorArray {} has already been closed.", self.numbered()))),
        }
    }

    /// The name as in TensorFlow's messages, which programs parse: with the number of the array in the
    /// process, which is always 0 here.
    fn numbered(&self) -> String {
        match self.name.split_once('@') {
            None => format!("{}_0", self.name),
            Some((name, source)) => format!("{name}_0@{source}"),
        }
    }

    /// A message about the array in TensorFlow's words.
    fn words(&self, what: String) -> String {
        format!("TensorArray {}: {what}", self.numbered())
    }

    fn error(&self, what: impl fmt::Display) -> Error {
        invalid!("{self:?}: {what}")
    }
}

/// A shape as in TensorFlow's messages.
fn said(shape: &PartialShape) -> String {
    match shape.rank() {
        Some(_) => shape.to_string(),
        None => "<unknown>".to_owned(),
    }
}

impl Opaque for TensorArray {
    fn kind(&self) -> &'static str {
        "TensorArray"
    }
}

impl fmt::Debug for TensorArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorArray `{}`", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::Code;
    use millstream_tensor::budget::{self, Budget};

    fn array(len: usize, change: impl FnOnce(&mut TensorArrayOptions)) -> TensorArray {
        let mut options = TensorArrayOptions {
            element_shape: PartialShape::unknown(),
            dynamic_size: false,
            clear_after_read: true,
            identical_element_shapes: false,
        };
        change(&mut options);
        TensorArray::new("t", DType::F32, len, options).unwrap()
    }

    fn add(a: Tensor, b: Tensor) -> Result<Tensor> {
        let sums = a.as_slice::<f32>()?.iter().zip(b.as_slice::<f32>()?).map(|(a, b)| a + b);
        Tensor::from_iter(a.shape().clone(), sums.collect::<Vec<_>>())
    }

    fn row(values: &[f32]) -> Tensor {
        Tensor::vector(values).unwrap()
    }

    #[test]
    fn closed_is_closed() {
        assert!(array(0, |_| {}).is_empty().unwrap() && array(0, |_| {}).name() == "t");
        let a = array(1, |_| {});
        assert!(!a.is_empty().unwrap());
        a.write([(0, row(&[1.0]))], &add).unwrap();
        a.close();
        a.close();
        let error = a.read([0]).unwrap_err().to_string();
        assert_eq!(
            error,
            "TensorArray t_0 has already been closed.\n  TensorArray `t`: it has been closed already"
        );
        assert!(a.write([(0, row(&[1.0]))], &add).is_err() && a.len().is_err());
        assert!(a.gradient("g", &Shape::scalar()).is_err());
    }

    #[test]
    fn a_gradient_knows_the_shape_of_what_was_cleared() {
        let a = array(1, |_| {});
        a.write([(0, row(&[1.0, 2.0]))], &add).unwrap();
        a.read([0]).unwrap();
        let g = a.gradient("g", &Shape::scalar()).unwrap();
        assert!(g.read([0]).unwrap()[0].bits_eq(&row(&[0.0, 0.0])));
    }

    #[test]
    fn a_gradient_reads_zeros_behind_the_end() {
        let g = array(1, |o| o.element_shape = [2].into()).gradient("g", &Shape::scalar()).unwrap();
        assert!(g.read([5]).unwrap()[0].bits_eq(&row(&[0.0, 0.0])));
        let error = g.read([i64::from(i32::MAX)]).unwrap_err().to_string();
        assert!(error.contains("too many"), "{error}");
    }

    #[test]
    fn the_list_of_what_is_read_is_charged() {
        let a = array(1000, |o| o.element_shape = PartialShape::scalar());
        let budget = Budget::new(1000 * size_of::<Tensor>() - 1);
        let _within = budget::enter(Some(&budget));
        assert_eq!(a.read(0..1000).unwrap_err().code(), Code::ResourceExhausted);
        assert_eq!(a.read(0..10).unwrap().len(), 10);
    }

    #[test]
    fn a_sum_of_a_gradient_of_a_split_takes_what_was_split() {
        let a = array(1, |o| o.dynamic_size = true);
        a.write([(0, row(&[1.0])), (1, row(&[2.0]))], &add).unwrap();
        a.mark_len(2);
        a.write([(2, row(&[7.0]))], &add).unwrap();
        let g = a.gradient("g", &Shape::scalar()).unwrap();
        assert_eq!((a.whole_len().unwrap(), g.whole_len().unwrap(), g.len().unwrap()), (3, 2, 3));
    }

    #[test]
    fn threads_may_share_it() {
        let a = Arc::new(array(1000, |o| o.element_shape = PartialShape::scalar()));
        let g = a.gradient("g", &Shape::scalar()).unwrap();
        std::thread::scope(|scope| {
            for t in 0..4i64 {
                let (a, g) = (a.clone(), g.clone());
                scope.spawn(move || {
                    for i in (t..1000).step_by(4) {
                        a.write([(i, Tensor::scalar(i as f32))], &add).unwrap();
                        g.write([(i % 10, Tensor::scalar(1f32))], &add).unwrap();
                    }
                });
            }
        });
        let all = a.read(0..1000).unwrap();
        assert!(all.iter().enumerate().all(|(i, v)| v.to_scalar::<f32>().unwrap() == i as f32));
        assert_eq!(g.read([3]).unwrap()[0].to_scalar::<f32>().unwrap(), 100.0);
    }
}
