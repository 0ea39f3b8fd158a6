//! Arrays whose memory the engine looks at where it is: [`Memory`] says on which terms, [`Loans`] are those of a run. The only `unsafe` of this
//! crate.
//!
//! Large arrays are worth it, of numbers, in NumPy's usual layout. Others are copied, and so are those of the integers that kernels take for indexes,
//! where their owner might write to them while a run reads: a kernel looks whether an index is in range, and uses it, and it must be the same both
//! times, however the compiler has it read. Any other number that changes meanwhile makes a wrong result, as in TensorFlow, but no wrong address.
#![expect(unsafe_code, reason = "the one place where arrays' elements are looked at beyond a call")]

use crate::errors::building;
use millstream::tensor::{Element, Loan};
use millstream::{DType, Shape, Tensor};
use numpy::ndarray::IxDyn;
use numpy::{PyArray, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// From how many bytes on an array is not copied. Below, a copy is faster than what holds the array and lets it go.
const LEAST: usize = 1 << 15;

/// What kernels take for indexes.
const INDEXES: [DType; 3] = [DType::I16, DType::I32, DType::I64];

/// What the engine may do with an array's memory.
pub enum Memory<'a> {
    /// Look at it now, and have a copy.
    Copied,
    /// Look at it until the loans end.
    Lent(&'a mut Loans),
    /// Keep it if nobody else has it: the caller owns a reference to the array, and lets go of that.
    Left,
}

/// The arrays that a run looks at.
#[derive(Default)]
pub struct Loans(Vec<Loan>);

impl Loans {
    /// To be called when the run is through and its results are handed out: what it left behind somewhere has memory of its own from now on.
    pub fn end(self) -> PyResult<()> {
        self.0.into_iter().try_for_each(Loan::end).map_err(building)
    }
}

/// The tensor of an array's elements where they are; `None` where they have to be copied. The array is aligned and in native byte order.
pub fn shared<T: Element + numpy::Element>(
    array: &Bound<'_, PyArray<T, IxDyn>>,
    shape: &Shape,
    memory: &mut Memory<'_>,
) -> PyResult<Option<Tensor>> {
    if array.len().saturating_mul(size_of::<T>()) < LEAST
        || T::DTYPE == DType::Bool
        || !array.is_c_contiguous()
    {
        return Ok(None);
    }
    let tensor = match memory {
        Memory::Lent(loans) if !INDEXES.contains(&T::DTYPE) => {
            Tensor::lent(shape.clone(), Elements::of(array)?).map(|(tensor, loan)| {
                loans.0.push(loan);
                tensor
            })
        }
        Memory::Left if is_nobody_elses(array)? => Tensor::from_owner(shape.clone(), Elements::of(array)?),
        Memory::Copied | Memory::Lent(_) | Memory::Left => return Ok(None),
    };
    tensor.map(Some).map_err(building)
}

/// Whether the caller's reference is the only way to an array and to its memory.
fn is_nobody_elses<T: numpy::Element>(array: &Bound<'_, PyArray<T, IxDyn>>) -> PyResult<bool> {
    let py = array.py();
    Ok(counts_are_exact(py)?
        && array.get_refcnt() == 1
        && array.is_exact_instance_of::<PyUntypedArray>()
        && array.getattr("base")?.is_none()
        && array.getattr("flags")?.getattr("owndata")?.is_truthy()?
        && weak_references(array.as_any())? == 0)
}

fn weak_references(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    static COUNT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    COUNT.import(object.py(), "weakref", "getweakrefcount")?.call1((object,))?.extract()
}

/// Whether the interpreter counts every reference at once. Without its lock it does not, and other threads take references meanwhile.
fn counts_are_exact(py: Python<'_>) -> PyResult<bool> {
    static EXACT: PyOnceLock<bool> = PyOnceLock::new();
    let exact = EXACT.get_or_try_init(py, || -> PyResult<bool> {
        let free = py.import("sysconfig")?.call_method1("get_config_var", ("Py_GIL_DISABLED",))?;
        Ok(!free.is_truthy()?)
    });
    exact.copied()
}

/// An array's elements, and the array, which keeps them where they are.
struct Elements<T> {
    first: *const T,
    len: usize,
    /// Dropped by any thread: without the interpreter's lock the reference is put down for who has it next (whoever returns from a run, for one).
    _array: Py<PyAny>,
}

// SAFETY: elements are only read, and plain data; the reference is `Send`.
unsafe impl<T: Element> Send for Elements<T> {}

impl<T: Element + numpy::Element> Elements<T> {
    /// Those of an array that is aligned and contiguous; an error if something writes to it right now.
    fn of(array: &Bound<'_, PyArray<T, IxDyn>>) -> PyResult<Elements<T>> {
        let elements = array.try_readonly().map_err(|e| PyValueError::new_err(e.to_string()))?;
        let elements = elements.as_slice().map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Elements {
            first: elements.as_ptr(),
            len: elements.len(),
            _array: array.as_any().clone().unbind(),
        })
    }
}

impl<T: Element> AsRef<[T]> for Elements<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: NumPy gave so many elements there, and neither moves nor frees them while a reference to the array is held (short of
        // `resize(refcheck=False)`, which is documented to break whoever looks at the array). `T` is no bool, so any bytes are valid elements.
        // That nobody writes to them is the rule that `Session.run` states. Somebody who breaks it changes numbers; what
        // addresses are made of is not looked at this way, see the head of this file.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

/// Bools are always copied: any byte but zero is true in NumPy, and one is here.
pub fn bools(array: &Bound<'_, PyArray<bool, IxDyn>>, shape: Shape) -> PyResult<Tensor> {
    if !array.is_c_contiguous() {
        let copied = array.call_method0("copy")?;
        return bools(copied.cast::<PyArray<bool, IxDyn>>()?, shape);
    }
    // SAFETY: a contiguous array has so many bytes there, and they are read here and now. Where there is no interpreter's lock somebody may write to
    // them meanwhile, who then changes what is true.
    let bytes = unsafe { std::slice::from_raw_parts(array.data().cast::<u8>(), array.len()) };
    Tensor::from_iter(shape, bytes.iter().map(|&byte| byte != 0)).map_err(building)
}
