//! Conversion of NumPy arrays and Python values to tensors and back.
//!
//! A fetched tensor of more than [`SHARED`] bytes is not copied: the array refers to the tensor's memory
//! through [`Elements`], which owns it. In the other direction, [`Memory`] states whether an array's memory
//! may be borrowed.

use crate::dtypes::dtype_object;
use crate::memory::{self, Memory};
use millstream::engine::tensor::{C64, C128, Element, f16};
use millstream::{DType, PartialShape, Shape, Tensor};
use numpy::ndarray::{ArrayView, IxDyn};
use numpy::{PyArray, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyNotImplementedError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Size in bytes from which a fetched array shares the tensor's memory. Below it, a copy is faster than the
/// array interface.
const SHARED: usize = 1 << 14;

/// `numpy.asarray`, or `numpy.from_dlpack` for values that support nothing else.
#[pyfunction]
pub fn asarray<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if !only_dlpack(value)? {
        return numpy_module(py)?.asarray.bind(py).call1((value,));
    }
    let numpy = py.import("numpy")?;
    match numpy.getattr_opt("from_dlpack")? {
        Some(from_dlpack) => from_dlpack.call1((value,)),
        None => Err(PyTypeError::new_err(format!(
            "{} offers its elements through DLPack only, which NumPy supports from 1.23 on; this is NumPy {}",
            value.get_type().name()?,
            numpy.getattr("__version__")?
        ))),
    }
}

/// Whether the value exposes its elements by DLPack only, and by nothing NumPy accepts directly.
fn only_dlpack(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("__dlpack__")? && !value.hasattr("__array__")?)
}

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

struct Numpy {
    array: Py<PyAny>,
    asarray: Py<PyAny>,
    generic: Py<PyAny>,
}

fn numpy_module(py: Python<'_>) -> PyResult<&Numpy> {
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        Ok(Numpy {
            array: module.getattr("array")?.unbind(),
            asarray: module.getattr("asarray")?.unbind(),
            generic: module.getattr("generic")?.unbind(),
        })
    })
}

/// Calls `$call::<T>` with the Rust type of a dtype's elements in NumPy arrays.
macro_rules! with_type {
    ($dtype:expr, $t:ident => $call:expr, else => $other:expr) => {
        match $dtype {
            DType::F16 => {
                type $t = f16;
                $call
            }
            DType::F32 => {
                type $t = f32;
                $call
            }
            DType::F64 => {
                type $t = f64;
                $call
            }
            DType::I8 => {
                type $t = i8;
                $call
            }
            DType::I16 => {
                type $t = i16;
                $call
            }
            DType::I32 => {
                type $t = i32;
                $call
            }
            DType::I64 => {
                type $t = i64;
                $call
            }
            DType::U8 => {
                type $t = u8;
                $call
            }
            DType::U16 => {
                type $t = u16;
                $call
            }
            DType::U32 => {
                type $t = u32;
                $call
            }
            DType::U64 => {
                type $t = u64;
                $call
            }
            DType::Bool => {
                type $t = bool;
                $call
            }
            DType::C64 => {
                type $t = C64;
                $call
            }
            DType::C128 => {
                type $t = C128;
                $call
            }
            _ => $other,
        }
    };
}

/// A buffer of elements exposed through the array interface.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Elements {
    /// Owned for its memory only; nothing else reads or writes it.
    _tensor: Tensor,
    address: usize,
    read_only: bool,
    shape: Vec<usize>,
    kind: &'static str,
}

#[pymethods]
impl Elements {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("version", 3)?;
        dict.set_item("typestr", self.kind)?;
        dict.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        dict.set_item("data", (self.address, self.read_only))?;
        Ok(dict)
    }
}

fn array_kind(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::Bool => "|b1",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
        _ => return None,
    })
}

/// A fetched value as TensorFlow returns it: a NumPy array; for a scalar a NumPy scalar, or `bytes` for a
/// string.
pub fn to_python<'py>(py: Python<'py>, tensor: Tensor) -> PyResult<Bound<'py, PyAny>> {
    let rank = tensor.rank();
    if let Some(strings) = tensor.as_strs() {
        return strings_to_python(py, &tensor, strings);
    }
    let array = to_array(py, tensor)?;
    match rank {
        0 => array.get_item(PyTuple::empty(py)),
        _ => Ok(array),
    }
}

/// A fetched value as a NumPy array, scalars too.
pub fn to_array<'py>(py: Python<'py>, tensor: Tensor) -> PyResult<Bound<'py, PyAny>> {
    let dtype = tensor.dtype();
    if let Some(strings) = tensor.as_strs() {
        let value = strings_to_python(py, &tensor, strings)?;
        return numpy_module(py)?.asarray.bind(py).call1((value,));
    }
    if SHARED < tensor.byte_size()
        && let Some(kind) = array_kind(dtype)
    {
        return shared_array(py, tensor, kind);
    }
    with_type!(dtype, T => copied::<T>(py, &tensor), else => opaque_array(py, &tensor))
}

fn copied<'py, T: Element + numpy::Element>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let values = tensor.as_slice::<T>().map_err(crate::errors::building)?;
    if let [n] = tensor.shape().dims() {
        debug_assert_eq!(*n, values.len());
        return Ok(PyArray::from_slice(py, values).into_any());
    }
    let view = ArrayView::from_shape(IxDyn(tensor.shape().dims()), values);
    let view = view.map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(PyArray::from_array(py, &view).into_any())
}

fn shared_array<'py>(py: Python<'py>, mut tensor: Tensor, kind: &'static str) -> PyResult<Bound<'py, PyAny>> {
    // A tensor with a single owner is writable, like any array that a session returns in TensorFlow.
    let writable = with_type!(
        tensor.dtype(),
        T => tensor.make_mut::<T>().map(|own| own.as_mut_ptr().expose_provenance()),
        else => None
    );
    let (address, read_only) = match writable {
        Some(address) => (address, false),
        None => {
            let bytes = tensor.as_bytes().ok_or_else(|| PyTypeError::new_err("no plain elements"))?;
            (bytes.as_ptr().expose_provenance(), true)
        }
    };
    let shape = tensor.shape().dims().to_vec();
    let elements = Bound::new(py, Elements { _tensor: tensor, address, read_only, shape, kind })?;
    let array = numpy_module(py)?.asarray.bind(py).call1((elements,))?;
    match read_only {
        // A variable's memory must not be shared: it can change.
        true => array.call_method0("copy"),
        false => Ok(array),
    }
}

fn strings_to_python<'py>(
    py: Python<'py>,
    tensor: &Tensor,
    strings: &[millstream::engine::tensor::Str],
) -> PyResult<Bound<'py, PyAny>> {
    if let ([one], 0) = (strings, tensor.rank()) {
        return Ok(PyBytes::new(py, one).into_any());
    }
    let objects: Vec<Py<PyAny>> = strings.iter().map(|s| PyBytes::new(py, s).into_any().unbind()).collect();
    let array = numpy::ndarray::Array::from_shape_vec(IxDyn(tensor.shape().dims()), objects);
    let array = array.map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(PyArray::from_owned_object_array(py, array).into_any())
}

/// An array of bfloat16, whose NumPy dtype the package defines, or of a quantized type. The latter is one
/// of plain integers, as in TensorFlow.
fn opaque_array<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let Some(bytes) = tensor.as_bytes() else {
        return Err(PyTypeError::new_err(format!(
            "a value of dtype {} cannot be fetched",
            tensor.dtype().tf_name()
        )));
    };
    let kind = match tensor.dtype() {
        DType::QI8 => PyString::new(py, "int8").into_any(),
        DType::QU8 => PyString::new(py, "uint8").into_any(),
        DType::QI16 => PyString::new(py, "int16").into_any(),
        DType::QU16 => PyString::new(py, "uint16").into_any(),
        DType::QI32 => PyString::new(py, "int32").into_any(),
        other => dtype_object(py, other)?.getattr("as_numpy_dtype")?,
    };
    let array = py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, bytes), kind))?;
    array.call_method1("reshape", (PyTuple::new(py, tensor.shape().dims())?,))?.call_method0("copy")
}

/// Converts a NumPy array to a tensor.
pub fn of_array(array: &Bound<'_, PyUntypedArray>, mut memory: Memory<'_>) -> PyResult<Tensor> {
    let py = array.py();
    let shape = Shape::from(array.shape());
    macro_rules! numeric {
        ($($t:ty),*) => {{ $(
            if let Ok(typed) = array.cast::<PyArray<$t, IxDyn>>() {
                return of_numbers::<$t>(typed, shape, &mut memory);
            }
        )* }};
    }
    let descr = array.dtype();
    match descr.kind() {
        b'f' => numeric!(f32, f64, f16),
        b'i' => numeric!(i32, i64, i8, i16),
        b'u' => numeric!(u8, u16, u32, u64),
        b'b' => {
            if let Ok(typed) = array.cast::<PyArray<bool, IxDyn>>() {
                return memory::bools(typed, shape);
            }
        }
        b'c' => numeric!(C64, C128),
        b'O' | b'S' | b'U' => return of_texts(array, shape),
        _ => {}
    }
    if descr.kind() != b'V' && descr.byteorder() == b'>' {
        let native = array.call_method1("astype", (descr.call_method1("newbyteorder", ("=",))?,))?;
        return of_array(native.cast::<PyUntypedArray>()?, Memory::Left);
    }
    of_opaque(py, array, shape)
}

/// Converts an array of a quantized type or bfloat16.
fn of_opaque(py: Python<'_>, array: &Bound<'_, PyUntypedArray>, shape: Shape) -> PyResult<Tensor> {
    use millstream::engine::tensor::{QInt8, QInt16, QInt32, QUInt8, QUInt16, bf16};
    let dtype = crate::dtypes::dtype_of(array.dtype().as_any())?.dtype;
    let bytes = array.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    let bytes = bytes.as_bytes();
    let pairs = || bytes.as_chunks::<2>().0.iter().copied();
    let tensor = match dtype {
        DType::QI8 => Tensor::from_iter(shape, bytes.iter().map(|&b| QInt8(b as i8))),
        DType::QU8 => Tensor::from_iter(shape, bytes.iter().map(|&b| QUInt8(b))),
        DType::QI16 => Tensor::from_iter(shape, pairs().map(|b| QInt16(i16::from_le_bytes(b)))),
        DType::QU16 => Tensor::from_iter(shape, pairs().map(|b| QUInt16(u16::from_le_bytes(b)))),
        DType::BF16 => Tensor::from_iter(shape, pairs().map(bf16::from_le_bytes)),
        DType::QI32 => {
            let words = bytes.as_chunks::<4>().0.iter();
            Tensor::from_iter(shape, words.map(|&b| QInt32(i32::from_le_bytes(b))))
        }
        _ => {
            let kind = array.dtype();
            return Err(PyTypeError::new_err(format!(
                "Unable to convert a numpy array of dtype {kind} to a tensor (on {})",
                py.version()
            )));
        }
    };
    tensor.map_err(crate::errors::building)
}

fn of_numbers<T: Element + numpy::Element>(
    array: &Bound<'_, PyArray<T, IxDyn>>,
    shape: Shape,
    memory: &mut Memory<'_>,
) -> PyResult<Tensor> {
    if !lies_well(array) {
        let copied = array.call_method0("copy")?;
        return of_numbers(copied.cast::<PyArray<T, IxDyn>>()?, shape, &mut Memory::Left);
    }
    if let Some(tensor) = memory::shared(array, &shape, memory)? {
        return Ok(tensor);
    }
    let array = array.try_readonly().map_err(|e| PyValueError::new_err(e.to_string()))?;
    // `as_slice` succeeds for column-major arrays as well.
    let tensor = match array.as_slice() {
        Ok(values) if array.is_c_contiguous() => Tensor::from_slice(shape, values),
        _ => Tensor::from_iter(shape, array.as_array().iter().copied()),
    };
    tensor.map_err(crate::errors::building)
}

/// Whether every element is aligned for Rust; fields of records and views of bytes need not be.
fn lies_well<T: numpy::Element>(array: &Bound<'_, PyArray<T, IxDyn>>) -> bool {
    let size = size_of::<T>() as isize;
    array.data().is_aligned() && array.strides().iter().all(|stride| stride % size == 0)
}

fn of_texts(array: &Bound<'_, PyUntypedArray>, shape: Shape) -> PyResult<Tensor> {
    let mut texts = Vec::with_capacity(array.len());
    for item in array.call_method0("ravel")?.call_method0("tolist")?.try_iter()? {
        let item = item?;
        match text_of(&item) {
            Some(text) => texts.push(text.as_slice().into()),
            None => {
                return Err(PyTypeError::new_err(format!(
                    "Unable to convert an array of objects to a tensor: {} is neither text nor bytes",
                    item.repr()?
                )));
            }
        }
    }
    Tensor::strings(shape, texts).map_err(crate::errors::building)
}

/// The bytes of a str or bytes object.
pub fn text_of(item: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return Some(bytes.as_bytes().to_vec());
    }
    item.cast::<PyString>().ok().and_then(|s| s.to_cow().ok().map(|s| s.as_bytes().to_vec()))
}

/// Leaves of a Python structure, by type.
enum Leaves {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<Vec<u8>>),
    /// Anything else, or a mixture; conversion is left to NumPy.
    Other,
}

/// Converts a Python value (a number, a string, an array, or lists of them) to a tensor, of dtype `wanted` if
/// given; `None` if the value is of another type.
pub fn of_python(value: &Bound<'_, PyAny>, wanted: Option<DType>) -> PyResult<Option<Tensor>> {
    let py = value.py();
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return of_array_as(array, wanted, Memory::Copied).map(Some);
    }
    if value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyString>()
    {
        return of_leaves(value, wanted).map(Some);
    }
    // Some NumPy scalars are subclasses of Python types.
    if value.is_instance(numpy_module(py)?.generic.bind(py))? {
        let array = numpy_module(py)?.asarray.bind(py).call1((value,))?;
        return of_array_as(array.cast::<PyUntypedArray>()?, wanted, Memory::Copied).map(Some);
    }
    if value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyComplex>()
    {
        return of_leaves(value, wanted).map(Some);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return match is_plain(value, MOST_AXES)? {
            true => of_leaves(value, wanted).map(Some),
            false => Ok(None),
        };
    }
    Ok(None)
}

/// Maximum nesting depth of lists: NumPy's own limit. It also stops at lists that contain themselves.
const MOST_AXES: usize = 64;

/// Whether a list contains only values that NumPy converts; an error if it is nested deeper than `depth`.
fn is_plain(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PyValueError::new_err(format!(
            "lists nested more than {MOST_AXES} deep (or that contain themselves) cannot become a tensor"
        )));
    };
    for item in value.try_iter()? {
        let item = item?;
        let plain = if item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
            is_plain(&item, depth)?
        } else {
            item.is_instance_of::<PyFloat>()
                || item.is_instance_of::<PyInt>()
                || item.is_instance_of::<PyString>()
                || item.is_instance_of::<PyBytes>()
                || item.is_instance_of::<PyComplex>()
                || item.is_none()
                || item.is_instance(numpy_module(item.py())?.generic.bind(item.py()))?
                || item.cast::<PyUntypedArray>().is_ok()
        };
        if !plain {
            return Ok(false);
        }
    }
    Ok(true)
}

fn of_array_as(
    array: &Bound<'_, PyUntypedArray>,
    wanted: Option<DType>,
    memory: Memory<'_>,
) -> PyResult<Tensor> {
    let py = array.py();
    if let Some(wanted) = wanted {
        let own = crate::dtypes::dtype_of(array.dtype().as_any()).map(|t| t.dtype);
        // NumPy casts numbers of types that are none of ours, such as `longdouble`, too.
        let casts = own.map_or_else(|_| b"fc".contains(&array.dtype().kind()), |own| own != wanted);
        if casts && wanted != DType::Str {
            let kind = dtype_object(py, wanted)?.getattr("as_numpy_dtype")?;
            let cast = array.call_method1("astype", (kind,))?;
            return of_array(cast.cast::<PyUntypedArray>()?, Memory::Left);
        }
    }
    of_array(array, memory)
}

/// Converts a number, a string, or lists of them.
fn of_leaves(value: &Bound<'_, PyAny>, wanted: Option<DType>) -> PyResult<Tensor> {
    if let Some(wanted) = wanted {
        check_leaves(value, wanted)?;
    } else if refuse_none(value).is_err() {
        return Err(if value.is_none() {
            PyValueError::new_err("None values not supported.")
        } else {
            no_tensor(value)
        });
    }
    let mut shape = Vec::new();
    let mut first = value.clone();
    while first.is_instance_of::<PyList>() || first.is_instance_of::<PyTuple>() {
        let n = first.len()?;
        shape.push(n);
        if n == 0 {
            break;
        }
        first = first.get_item(0)?;
    }
    let mut leaves = empty_leaves(&first, wanted);
    if shape.last() == Some(&0) || !collect(value, &shape, &mut leaves)? {
        leaves = Leaves::Other;
    }
    let shape = Shape::from(shape);
    let made = match leaves {
        Leaves::Bools(v) if wanted.is_none_or(|w| w == DType::Bool) => Tensor::from_slice(shape, &v),
        Leaves::Texts(v) => Tensor::strings(shape, v.iter().map(|s| s.as_slice().into()).collect()),
        Leaves::Ints(v) => match wanted {
            None if v.iter().all(|&v| i32::try_from(v).is_ok()) => {
                Tensor::from_iter(shape, v.into_iter().map(|v| v as i32))
            }
            None => Tensor::from_slice(shape, &v),
            // Integers out of range wrap, as in TensorFlow.
            Some(DType::I32) => Tensor::from_iter(shape, v.into_iter().map(|v| v as i32)),
            Some(DType::I64) => Tensor::from_slice(shape, &v),
            Some(DType::F32) => Tensor::from_iter(shape, v.into_iter().map(|v| v as f32)),
            Some(DType::F64) => Tensor::from_iter(shape, v.into_iter().map(|v| v as f64)),
            _ => return through_numpy(value, wanted),
        },
        Leaves::Floats(v) => match wanted {
            None | Some(DType::F32) => Tensor::from_iter(shape, v.into_iter().map(|v| v as f32)),
            Some(DType::F64) => Tensor::from_slice(shape, &v),
            _ => return through_numpy(value, wanted),
        },
        Leaves::Bools(_) | Leaves::Other => return through_numpy(value, wanted),
    };
    made.map_err(crate::errors::building)
}

fn empty_leaves(first: &Bound<'_, PyAny>, wanted: Option<DType>) -> Leaves {
    if first.is_instance_of::<PyBool>() {
        Leaves::Bools(Vec::new())
    } else if first.is_instance_of::<PyFloat>()
        || first.is_instance_of::<PyInt>() && wanted.is_some_and(DType::is_float)
    {
        Leaves::Floats(Vec::new())
    } else if first.is_instance_of::<PyInt>() {
        Leaves::Ints(Vec::new())
    } else if text_of(first).is_some() {
        Leaves::Texts(Vec::new())
    } else {
        Leaves::Other
    }
}

/// Appends the leaves; false if their types differ or the lists do not have this shape.
fn collect(value: &Bound<'_, PyAny>, shape: &[usize], leaves: &mut Leaves) -> PyResult<bool> {
    let Some((&n, inner)) = shape.split_first() else {
        return Ok(match leaves {
            Leaves::Bools(v) => value.cast::<PyBool>().map(|b| v.push(b.is_true())).is_ok(),
            Leaves::Ints(v) if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() => {
                value.extract().map(|i| v.push(i)).is_ok()
            }
            Leaves::Floats(v) if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() => {
                !value.is_instance_of::<PyBool>() && value.extract().map(|f| v.push(f)).is_ok()
            }
            Leaves::Texts(v) => text_of(value).map(|t| v.push(t)).is_some(),
            _ => false,
        });
    };
    if !(value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()) || value.len()? != n {
        return Ok(false);
    }
    for item in value.try_iter()? {
        if !collect(&item?, inner, leaves)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn refuse_none(value: &Bound<'_, PyAny>) -> PyResult<()> {
    if value.is_none() {
        return Err(PyValueError::new_err("None values not supported."));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        for item in value.try_iter()? {
            refuse_none(&item?)?;
        }
    }
    Ok(())
}

/// Checks that every leaf converts to this dtype; the error has TensorFlow's message.
fn check_leaves(value: &Bound<'_, PyAny>, wanted: DType) -> PyResult<()> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        for item in value.try_iter()? {
            check_leaves(&item?, wanted)?;
        }
        return Ok(());
    }
    if value.is_none() {
        return Err(PyValueError::new_err("None values not supported."));
    }
    let py = value.py();
    let is_integral = || -> PyResult<bool> { value.is_instance(&py.import("numbers")?.getattr("Integral")?) };
    let numpy_like =
        value.cast::<PyUntypedArray>().is_ok() || value.is_instance(numpy_module(py)?.generic.bind(py))?;
    let fits = numpy_like
        || match wanted {
            DType::Str => text_of(value).is_some(),
            DType::Bool => value.is_instance_of::<PyBool>(),
            w if w.is_complex() => {
                value.is_instance_of::<PyComplex>() || value.is_instance_of::<PyFloat>() || is_integral()?
            }
            w if w.is_float() => value.is_instance_of::<PyFloat>() || is_integral()?,
            w if w.is_integer() || w.is_quantized() => is_integral()?,
            _ => false,
        };
    if fits {
        return check_bounds(value, wanted);
    }
    Err(PyTypeError::new_err(format!(
        "Expected {}, got {} of type '{}' instead.",
        wanted.tf_name(),
        value.repr()?,
        value.get_type().name()?
    )))
}

/// Rejects integers of more than 64 bits, and those that a quantized type cannot hold. Others wrap.
fn check_bounds(value: &Bound<'_, PyAny>, wanted: DType) -> PyResult<()> {
    let (low, high): (i64, u64) = match wanted {
        DType::QI8 => (i8::MIN.into(), i8::MAX as u64),
        DType::QU8 => (0, u8::MAX.into()),
        DType::QI16 => (i16::MIN.into(), i16::MAX as u64),
        DType::QU16 => (0, u16::MAX.into()),
        DType::QI32 => (i32::MIN.into(), i32::MAX as u64),
        DType::U64 => (i64::MIN, u64::MAX),
        w if w.is_integer() => (i64::MIN, i64::MAX as u64),
        _ => return Ok(()),
    };
    let fits = match value.extract::<i64>() {
        Ok(number) => low <= number && u64::try_from(number).ok().is_none_or(|n| n <= high),
        Err(_) => value.extract::<u64>().is_ok_and(|n| n <= high),
    };
    if fits || value.cast::<PyUntypedArray>().is_ok() {
        return Ok(());
    }
    let kind = wanted.tf_name();
    Err(PyOverflowError::new_err(match wanted.is_quantized() {
        true => format!("Python integer {value} out of bounds for {kind}, which goes from {low} to {high}"),
        false => format!("Python int too large to convert to C long: {value} has more than 64 bits ({kind})"),
    }))
}

/// An array of integers of this dtype, in which those out of range wrap.
fn wrapped<'py>(value: &Bound<'py, PyAny>, kind: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let array = &numpy_module(py)?.array;
    let as_kind = |wide: &str| array.bind(py).call1((value, wide))?.call_method1("astype", (kind,));
    match as_kind("int64") {
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => as_kind("uint64").map_err(|_| error),
        made => made,
    }
}

/// Converts by NumPy, with TensorFlow's preference for 32 bits.
fn through_numpy(value: &Bound<'_, PyAny>, wanted: Option<DType>) -> PyResult<Tensor> {
    let py = value.py();
    if let Some(wanted) = wanted.filter(|w| w.is_integer()) {
        let kind = dtype_object(py, wanted)?.getattr("as_numpy_dtype")?;
        let array = wrapped(value, &kind).map_err(|e| sequence_error(value, Some(wanted), e))?;
        return of_array(array.cast::<PyUntypedArray>()?, Memory::Copied);
    }
    let kwargs = PyDict::new(py);
    if let Some(wanted) = wanted {
        let kind = if wanted == DType::Str {
            py.get_type::<PyAny>().into_any()
        } else {
            dtype_object(py, wanted)?.getattr("as_numpy_dtype")?
        };
        kwargs.set_item("dtype", kind)?;
    }
    // NumPy rejects lists of different lengths from 1.24 on; earlier versions warn and create object arrays.
    if wanted.is_none()
        && let Some(what) = ragged(value)
    {
        return Err(PyValueError::new_err(what));
    }
    let array = numpy_module(py)?.array.bind(py).call((value,), Some(&kwargs));
    let array = array.map_err(|e| sequence_error(value, wanted, e))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    // NumPy converts numbers to strings if the list contains strings, and unknown values to objects;
    // TensorFlow does neither.
    if wanted.is_none() && matches!(array.dtype().kind(), b'U' | b'S' | b'O') && !all_text(value)? {
        return Err(no_tensor(value));
    }
    let tensor = of_array(&array, Memory::Copied)?;
    Ok(match (wanted, tensor.dtype()) {
        (None, DType::F64) => {
            let values = tensor.as_slice::<f64>().map_err(crate::errors::building)?;
            Tensor::from_iter(tensor.shape().clone(), values.iter().map(|&v| v as f32))
                .map_err(crate::errors::building)?
        }
        (None, DType::I64) => {
            let values = tensor.as_slice::<i64>().map_err(crate::errors::building)?;
            match values.iter().all(|&v| i32::try_from(v).is_ok()) {
                true => Tensor::from_iter(tensor.shape().clone(), values.iter().map(|&v| v as i32))
                    .map_err(crate::errors::building)?,
                false => tensor,
            }
        }
        _ => tensor,
    })
}

/// TensorFlow's error for a value that NumPy makes no array of.
fn sequence_error(value: &Bound<'_, PyAny>, wanted: Option<DType>, error: PyErr) -> PyErr {
    let py = value.py();
    if error.is_instance_of::<PyOverflowError>(py) {
        return error;
    }
    match ragged(value) {
        Some(what) => PyValueError::new_err(what),
        None if wanted.is_none() => no_tensor(value),
        None => {
            PyValueError::new_err(format!("Can't convert Python sequence to a tensor: {}", error.value(py)))
        }
    }
}

/// TensorFlow's message for lists of different lengths.
fn ragged(value: &Bound<'_, PyAny>) -> Option<String> {
    let is_list = |v: &Bound<'_, PyAny>| v.is_instance_of::<PyList>() || v.is_instance_of::<PyTuple>();
    let mut wanted = Vec::new();
    let mut first = value.clone();
    while is_list(&first) {
        wanted.push(first.len().ok()?);
        let Ok(next) = first.get_item(0) else { break };
        first = next;
    }
    // Descends as long as all lists have the same length.
    let mut got: Vec<usize> = Vec::new();
    let mut level = vec![value.clone()];
    while level.iter().all(is_list) {
        let n = level.first()?.len().ok()?;
        if !level.iter().all(|v| v.len().is_ok_and(|m| m == n)) {
            break;
        }
        got.push(n);
        let lists: Vec<Vec<Bound<'_, PyAny>>> =
            level.iter().map(|v| v.try_iter()?.collect()).collect::<PyResult<_>>().ok()?;
        level = lists.into_iter().flatten().collect();
    }
    (got.len() < wanted.len()).then(|| {
        let shown = value.str().map_or_else(|_| String::new(), |s| s.to_string());
        format!("Argument must be a dense tensor: {shown} - got shape {got:?}, but wanted {wanted:?}.")
    })
}

fn all_text(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        for item in value.try_iter()? {
            if !all_text(&item?)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    Ok(text_of(value).is_some() || value.cast::<PyUntypedArray>().is_ok())
}

/// TensorFlow's error for values that cannot be converted to a tensor.
pub fn no_tensor(value: &Bound<'_, PyAny>) -> PyErr {
    let shown = value.str().map_or_else(|_| String::new(), |s| s.to_string());
    PyTypeError::new_err(format!(
        "Failed to convert object of type {} to Tensor. Contents: {shown}. Consider casting elements to a supported type.",
        value.get_type().str().map_or_else(|_| "object".into(), |s| s.to_string())
    ))
}

/// Converts a Python number that is fed to a scalar of this dtype; `None` for any other value, and for
/// numbers that the dtype does not hold.
pub fn of_fed_number(value: &Bound<'_, PyAny>, dtype: DType) -> Option<Tensor> {
    if let Ok(number) = value.cast_exact::<PyFloat>() {
        return match dtype {
            DType::F32 => Some(Tensor::scalar(number.value() as f32)),
            DType::F64 => Some(Tensor::scalar(number.value())),
            _ => None,
        };
    }
    let number: i64 = value.cast_exact::<PyInt>().ok()?.extract().ok()?;
    match dtype {
        DType::I32 => i32::try_from(number).ok().map(Tensor::scalar),
        DType::I64 => Some(Tensor::scalar(number)),
        _ => None,
    }
}

/// Converts a fed value to a tensor of this dtype and shape.
pub fn of_feed(
    value: &Bound<'_, PyAny>,
    name: impl FnOnce() -> String,
    dtype: DType,
    shape: &PartialShape,
    memory: Memory<'_>,
) -> PyResult<Tensor> {
    let fed = match value.cast::<PyUntypedArray>() {
        Ok(array) => of_array_as(array, Some(dtype), memory)?,
        // Values without a common dtype are converted by NumPy below.
        Err(_) => match of_python(value, None).unwrap_or(None) {
            Some(tensor) if tensor.dtype() == dtype => tensor,
            _ if dtype == DType::Str => through_numpy(value, Some(dtype))?,
            _ if only_dlpack(value)? => {
                of_array_as(asarray(value)?.cast::<PyUntypedArray>()?, Some(dtype), memory)?
            }
            // As in TensorFlow, NumPy converts the value or raises its error.
            _ => {
                let kind = dtype_object(value.py(), dtype)?.getattr("as_numpy_dtype")?;
                let array = match dtype.is_integer() {
                    true => wrapped(value, &kind)?,
                    false => numpy_module(value.py())?.asarray.bind(value.py()).call1((value, kind))?,
                };
                of_array_as(array.cast::<PyUntypedArray>()?, Some(dtype), memory)?
            }
        },
    };
    if !shape.contains(&fed.shape().into()) {
        return Err(PyValueError::new_err(format!(
            "Cannot feed value of shape {} for Tensor '{}', which has shape {}",
            tuple_text(&fed.shape().iter().map(|&d| Some(d)).collect::<Vec<_>>()),
            name(),
            match shape.dims() {
                Some(dims) => format!("'{}'", tuple_text(dims)),
                None => "'<unknown>'".into(),
            }
        )));
    }
    Ok(fed)
}

/// Formats a shape as a Python tuple: `(2, ?)`.
fn tuple_text(dims: &[Option<usize>]) -> String {
    let parts: Vec<String> = dims.iter().map(|d| d.map_or("?".into(), |d| d.to_string())).collect();
    match parts.as_slice() {
        [one] => format!("({one},)"),
        _ => format!("({})", parts.join(", ")),
    }
}

/// The error for values that the engine does not support.
pub fn cannot(what: &str) -> PyErr {
    PyNotImplementedError::new_err(format!("{what} is not supported yet"))
}
