//! Conversion of dtypes and shapes between the package's `DType` and `TensorShape` and the engine's types.

use millstream::engine::graph::ValueType;
use millstream::{DType, PartialShape};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};

/// Offset of the number of a reference dtype from that of its base dtype.
const REF: i32 = 100;

/// The package's dtype objects by number, and its functions.
struct Package {
    as_dtype: Py<PyAny>,
    shape: Py<PyAny>,
    values: Vec<Option<Py<PyAny>>>,
    refs: Vec<Option<Py<PyAny>>>,
}

static PACKAGE: PyOnceLock<Package> = PyOnceLock::new();

fn package(py: Python<'_>) -> PyResult<&Package> {
    PACKAGE.get_or_try_init(py, || {
        let as_dtype = py.import("millstream.framework.dtypes")?.getattr("as_dtype")?;
        let all = |offset: i32| -> PyResult<Vec<Option<Py<PyAny>>>> {
            let mut objects = Vec::new();
            objects.resize_with(24, || None);
            for dtype in DType::ALL {
                objects[dtype.number() as usize] = Some(as_dtype.call1((dtype.number() + offset,))?.unbind());
            }
            Ok(objects)
        };
        Ok(Package {
            values: all(0)?,
            refs: all(REF)?,
            shape: py.import("millstream.framework.shapes")?.getattr("TensorShape")?.unbind(),
            as_dtype: as_dtype.unbind(),
        })
    })
}

/// The package's dtype object for a type.
pub fn dtype_object<'py>(py: Python<'py>, ty: impl Into<ValueType>) -> PyResult<Bound<'py, PyAny>> {
    let ty = ty.into();
    let package = package(py)?;
    let list = if ty.is_ref { &package.refs } else { &package.values };
    let object = list.get(ty.dtype.number() as usize).and_then(Option::as_ref);
    object.map(|o| o.bind(py).clone()).ok_or_else(|| PyTypeError::new_err("an unknown dtype"))
}

/// Converts a `DType`, a NumPy dtype, a name, a number or a Python type to a type.
pub fn dtype_of(value: &Bound<'_, PyAny>) -> PyResult<ValueType> {
    let object = package(value.py())?.as_dtype.bind(value.py()).call1((value,))?;
    let number: i32 = object.getattr("as_datatype_enum")?.extract()?;
    let is_ref = REF < number;
    let dtype = DType::from_number(if is_ref { number - REF } else { number });
    let dtype =
        dtype.ok_or_else(|| PyTypeError::new_err(format!("{object} is not a dtype of the engine")))?;
    Ok(ValueType { dtype, is_ref })
}

/// Converts a shape to a `TensorShape`.
pub fn shape_object<'py>(py: Python<'py>, shape: &PartialShape) -> PyResult<Bound<'py, PyAny>> {
    let class = package(py)?.shape.bind(py);
    match shape.dims() {
        Some(dims) => class.call1((PyList::new(py, dims)?,)),
        None => class.call1((py.None(),)),
    }
}

/// Converts a `TensorShape`, a list of ints, `Dimension`s and Nones, an int, or None (unknown) to a shape.
pub fn shape_of(value: &Bound<'_, PyAny>) -> PyResult<PartialShape> {
    if value.is_none() {
        return Ok(PartialShape::unknown());
    }
    let list = match value.cast::<PyTuple>() {
        Ok(tuple) => tuple.to_list(),
        Err(_) => match value.cast::<PyList>() {
            Ok(list) => list.clone(),
            Err(_) => {
                let shape = package(value.py())?.shape.bind(value.py()).call1((value,))?;
                if shape.getattr("ndims")?.is_none() {
                    return Ok(PartialShape::unknown());
                }
                shape.call_method0("as_list")?.cast_into::<PyList>()?
            }
        },
    };
    let mut dims = Vec::with_capacity(list.len());
    for dim in list.iter() {
        let dim = if dim.hasattr("value")? { dim.getattr("value")? } else { dim };
        let dim: Option<i64> = match dim.is_none() {
            true => None,
            false => Some(dim.call_method0("__index__")?.extract().map_err(|_| {
                PyValueError::new_err(format!(
                    "Error converting shape to a TensorShape: Value out of range: {dim}"
                ))
            })?),
        };
        dims.push(dim.filter(|d| *d != -1).map(|d| {
            usize::try_from(d).map_err(|_| PyValueError::new_err(format!("Dimension {d} must be >= 0")))
        }));
    }
    let dims = dims.into_iter().map(Option::transpose).collect::<PyResult<Vec<_>>>()?;
    Ok(PartialShape::new(dims))
}
