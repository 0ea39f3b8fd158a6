//! Arrays whose memory the engine borrows: [`Memory`] states the conditions, [`Loans`] holds the arrays of a
//! run. This file has the only `unsafe` code of the crate.
//!
//! Borrowing pays off for large arrays of numbers in NumPy's usual layout. Others are copied. Arrays of the
//! integer types that kernels use as indices are also copied if their owner could write to them during a run:
//! a kernel checks that an index is in range and then uses it, and both reads must give the same value,
//! however the compiler arranges them. Any other number modified during a run gives a wrong result, as in
//! TensorFlow, but no invalid address.
#![expect(unsafe_code, reason = "the one place where arrays' elements are looked at beyond a call")]

use crate::errors::building;
use millstream::engine::tensor::{Element, Loan};
use millstream::{DType, Shape, Tensor};
use numpy::ndarray::IxDyn;
use numpy::{PyArray, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Size in bytes from which an array is not copied. Below it, a copy is faster than holding and releasing the
/// array.
const LEAST: usize = 1 << 15;

/// Dtypes that kernels use as indices.
const INDEXES: [DType; 3] = [DType::I16, DType::I32, DType::I64];

/// What the engine may do with an array's memory.
pub enum Memory<'a> {
    /// Read it now and copy it.
    Copied,
    /// Read it until the loans end.
    Lent(&'a mut Loans),
    /// Keep it if there is no other owner: the caller owns a reference to the array and drops it.
    Left,
}

/// The arrays that a run reads.
#[derive(Default)]
pub struct Loans(Vec<Loan>);

impl Loans {
    /// Called when the run has finished and its results are returned: values it stored elsewhere get memory
    /// of their own.
    pub fn end(self) -> PyResult<()> {
        self.0.into_iter().try_for_each(Loan::end).map_err(building)
    }
}

/// A tensor that shares the array's elements; `None` if they must be copied. The array is aligned and in
/// native byte order.
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

/// Whether the caller's reference is the only one to the array and its memory.
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

/// Whether reference counts are exact. Without the GIL they are not, and other threads may take references at
/// any time.
fn counts_are_exact(py: Python<'_>) -> PyResult<bool> {
    static EXACT: PyOnceLock<bool> = PyOnceLock::new();
    let exact = EXACT.get_or_try_init(py, || -> PyResult<bool> {
        let free = py.import("sysconfig")?.call_method1("get_config_var", ("Py_GIL_DISABLED",))?;
        Ok(!free.is_truthy()?)
    });
    exact.copied()
}

/// An array's elements, and the array, which keeps them alive.
struct Elements<T> {
    first: *const T,
    len: usize,
    /// Dropped on any thread: without the interpreter's lock the decrement is deferred to the next thread
    /// that holds it.
    _array: Py<PyAny>,
}

// SAFETY: elements are plain data and only read; the reference is `Send`.
unsafe impl<T: Element> Send for Elements<T> {}

impl<T: Element + numpy::Element> Elements<T> {
    /// The elements of an aligned and contiguous array; an error if something is writing to it.
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
        // SAFETY: NumPy allocated this many elements there, and neither moves nor frees them while a
        // reference to the array is held (except by `resize(refcheck=False)`, which is documented as unsafe).
        // `T` is not bool, so any bytes are valid elements. That nothing writes to them is the contract of
        // `Session.run`. Breaking it changes numbers; values used as addresses are not borrowed, see the
        // module's docs.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

/// `PyBUF_READ` and `PyBUF_WRITE`, which PyO3 does not have for Python 3.9.
const READ: std::ffi::c_int = 0x100;
const WRITE: std::ffi::c_int = 0x200;

/// Calls `work` with a view of the bytes, which ends with the call. `work` must not keep it, nor arrays made
/// of it: an error tells if it does.
pub fn view<R>(
    py: Python<'_>,
    bytes: &[u8],
    work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
) -> PyResult<R> {
    // SAFETY: the view is read-only, and is used only while `bytes` are borrowed.
    unsafe { viewed(py, bytes.as_ptr().cast_mut(), bytes.len(), READ, work) }
}

/// Calls `work` with a view of the bytes that can be written to, as [`view`] does.
pub fn view_mut<R>(
    py: Python<'_>,
    bytes: &mut [u8],
    work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
) -> PyResult<R> {
    // SAFETY: the view is used only while `bytes` are borrowed exclusively, and any bytes may be written.
    unsafe { viewed(py, bytes.as_mut_ptr(), bytes.len(), WRITE, work) }
}

/// # Safety
/// There are `len` bytes at `first`, which nothing else uses meanwhile, except for reading if `flags` are for
/// reading.
unsafe fn viewed<R>(
    py: Python<'_>,
    first: *mut u8,
    len: usize,
    flags: std::ffi::c_int,
    work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
) -> PyResult<R> {
    let len = isize::try_from(len).map_err(|_| PyValueError::new_err("too many bytes"))?;
    // SAFETY: the caller's promise. The view is released before this function returns: afterwards it refers
    // to no memory, and an object that still did would have made the release an error.
    let view =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyMemoryView_FromMemory(first.cast(), len, flags))? };
    let result = work(&view);
    view.call_method0("release")?;
    result
}

/// Copies a bool array: in NumPy any nonzero byte is true, here only 1.
pub fn bools(array: &Bound<'_, PyArray<bool, IxDyn>>, shape: Shape) -> PyResult<Tensor> {
    if !array.is_c_contiguous() {
        let copied = array.call_method0("copy")?;
        return bools(copied.cast::<PyArray<bool, IxDyn>>()?, shape);
    }
    // SAFETY: a contiguous array has this many bytes there, and they are read immediately. Without the GIL
    // another thread may write to them meanwhile, which changes only the values read.
    let bytes = unsafe { std::slice::from_raw_parts(array.data().cast::<u8>(), array.len()) };
    Tensor::from_iter(shape, bytes.iter().map(|&byte| byte != 0)).map_err(building)
}
