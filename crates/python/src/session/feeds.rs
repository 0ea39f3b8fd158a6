//! Feeds: ports and the tensors converted from their values.

use super::Session;
use super::fetches::DEEPEST;
use crate::array::of_feed;
use crate::errors::building;
use crate::graph::Graph;
use crate::kept::kept_value;
use crate::memory::{Loans, Memory};
use crate::operation::Operation;
use crate::stack;
use crate::tensor::Tensor;
use millstream::DType;
use millstream::engine::graph::Port;
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};

/// The original feeds: the port, the value and the dtype.
pub type Fed<'py> = Vec<(Port, Bound<'py, PyAny>, DType)>;

/// Returns pairs of a port and a tensor, and the original values. With `loans`, tensors may borrow the memory
/// of arrays until the loans end.
pub fn feeds_of<'py>(
    session: &Bound<'py, Session>,
    graph: &Bound<'py, Graph>,
    feeds: Option<&Bound<'py, PyAny>>,
    mut loans: Option<&mut Loans>,
    add: &mut impl FnMut(Port, millstream::Tensor),
) -> PyResult<Fed<'py>> {
    let mut fed = Fed::new();
    let Some(feeds) = feeds.filter(|f| !f.is_none()) else { return Ok(fed) };
    if let Ok(dict) = feeds.cast::<PyDict>() {
        // A copy: another thread or a callback may modify the dict meanwhile.
        for (key, value) in dict.copy()?.iter() {
            feed(graph, &key, &value, &mut fed)?;
        }
    } else {
        if !feeds.hasattr("items")? {
            return Err(PyTypeError::new_err("input must be a dictionary (feed_dict)"));
        }
        for pair in feeds.call_method0("items")?.try_iter()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            feed(graph, &key, &value, &mut fed)?;
        }
    }
    for (port, value, dtype) in &fed {
        let output = graph.get().output(*port);
        let memory = loans.as_deref_mut().map_or(Memory::Copied, Memory::Lent);
        let tensor = match kept_value(session, value, *dtype)? {
            Some(kept) => kept,
            None => of_feed(value, || output.name(), *dtype, &output.shape(), memory)?,
        };
        add(*port, tensor);
    }
    Ok(fed)
}

/// Adds a key and its value; a repeated key replaces the earlier value.
fn feed<'py>(
    graph: &Bound<'py, Graph>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    fed: &mut Fed<'py>,
) -> PyResult<()> {
    let Some(port) = key_port(graph, key)? else {
        // For composites such as a SparseTensor, the components are fed.
        let py = key.py();
        let (list, _): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            stack::hooks(py)?.expand.bind(py).call1((key, value))?.extract()?;
        for pair in list.try_iter()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            feed(graph, &key, &value, fed)?;
        }
        return Ok(());
    };
    if value.is_instance_of::<Tensor>() {
        return Err(PyTypeError::new_err(format!(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {} which was passed to the feed with key {}.",
            value.str()?,
            key.str()?
        )));
    }
    if !graph.get().is_feedable(port) {
        return Err(PyValueError::new_err(format!(
            "Tensor {} may not be fed.",
            Tensor::of(graph, port)?.str()?
        )));
    }
    let dtype = graph.get().output(port).dtype().map_err(building)?;
    if value.is_instance_of::<PyInt>() {
        check_range(value, dtype)?;
    }
    fed.retain(|(known, ..)| *known != port);
    fed.push((port, value.clone(), dtype));
    Ok(())
}

/// An error if an int is out of range of the dtype. A bool is 0 or 1.
fn check_range(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<()> {
    let (least, most): (i64, u64) = match dtype {
        DType::I8 => (i8::MIN.into(), i8::MAX as u64),
        DType::I16 => (i16::MIN.into(), i16::MAX as u64),
        DType::I32 => (i32::MIN.into(), i32::MAX as u64),
        DType::I64 => (i64::MIN, i64::MAX as u64),
        DType::U8 => (0, u8::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::U64 => (0, u64::MAX),
        DType::Bool => (0, 1),
        _ => return Ok(()),
    };
    let number: i128 = value.extract().map_err(|_| {
        PyOverflowError::new_err(format!(
            "Python int too large to convert to C long: {value} was fed as {}",
            dtype.tf_name()
        ))
    })?;
    if (i128::from(least)..=i128::from(most)).contains(&number) {
        return Ok(());
    }
    if i64::try_from(number).is_err() {
        return Err(PyOverflowError::new_err(format!(
            "Python int too large to convert to C long: {number} was fed as {}",
            dtype.tf_name()
        )));
    }
    let of_numpy = if dtype == DType::Bool { "bool_" } else { dtype.tf_name() };
    Err(PyTypeError::new_err(format!(
        "Type of feed value {number} with type {} is not compatible with Tensor type <class 'numpy.{of_numpy}'>. Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).",
        value.get_type().str()?,
    )))
}

/// The port of a feed's key, a tensor or a name; None for types that the package handles.
fn key_port(graph: &Bound<'_, Graph>, key: &Bound<'_, PyAny>) -> PyResult<Option<Port>> {
    if let Ok(tensor) = key.cast::<Tensor>()
        && tensor.get().graph(key.py()).is(graph)
    {
        return Ok(Some(tensor.get().port()));
    }
    if let Ok(name) = key.cast::<PyString>() {
        let name = name.to_cow()?;
        if name.contains(':')
            && let Ok(output) = graph.get().inner().output(&name)
        {
            return Ok(Some(output.port()));
        }
    } else if !key.is_instance_of::<Tensor>() && !key.is_instance_of::<Operation>() {
        return Ok(None);
    }
    // The graph raises the error that describes the problem.
    let kwargs = PyDict::new(key.py());
    kwargs.set_item("allow_operation", false)?;
    let element = graph.call_method("as_graph_element", (key,), Some(&kwargs)).map_err(|why| {
        let why = why.value(key.py());
        // The text of a KeyError has quotes.
        let text = why.getattr("args").and_then(|args| args.get_item(0)).and_then(|text| text.str());
        let text = text.or_else(|_| why.str()).map_or_else(|_| String::new(), |t| t.to_string());
        PyTypeError::new_err(format!("Cannot interpret feed_dict key as Tensor: {text}"))
    })?;
    Ok(Some(element.cast::<Tensor>()?.get().port()))
}

/// The ports of a list of feeds, each a name, a tensor, or a composite of tensors.
pub fn ports_of(graph: &Bound<'_, Graph>, feeds: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Port>> {
    let mut ports = Vec::new();
    if let Some(feeds) = feeds.filter(|f| !f.is_none()) {
        add_ports(graph, feeds, &mut ports, DEEPEST)?;
    }
    for port in &ports {
        if !graph.get().is_feedable(*port) {
            let tensor = Tensor::of(graph, *port)?;
            return Err(PyValueError::new_err(format!("Tensor {} may not be fed.", tensor.str()?)));
        }
    }
    Ok(ports)
}

fn add_ports(
    graph: &Bound<'_, Graph>,
    feeds: &Bound<'_, PyAny>,
    ports: &mut Vec<Port>,
    depth: usize,
) -> PyResult<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PyRecursionError::new_err(format!(
            "feeds are nested more than {DEEPEST} deep (or contain themselves): feed a flat list"
        )));
    };
    for item in feeds.try_iter()? {
        let item = item?;
        match key_port(graph, &item)? {
            Some(port) => ports.push(port),
            None => {
                let py = item.py();
                let expand = stack::hooks(py)?.expand.bind(py);
                let parts: Vec<Bound<'_, PyAny>> = expand.call1((&item, py.None(), true))?.extract()?;
                add_ports(graph, PyList::new(py, parts)?.as_any(), ports, depth)?;
            }
        }
    }
    Ok(())
}
