//! Requirements of ops on their inputs and names, and TensorFlow's messages for violations.

use crate::tensor::Tensor;
use millstream::DType;
use millstream::engine::graph::ValueType;
use millstream::engine::graph::op::{ArgSpec, AttrKind, OpDef, TypeSpec};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// The dtypes inferred for attributes so far, each with the argument that determined it.
#[derive(Default)]
pub struct Known(SmallVec<[(&'static str, DType, &'static str); 2]>);

impl Known {
    pub fn push(&mut self, attr: &'static str, dtype: DType, by: &'static str) {
        self.0.push((attr, dtype, by));
    }

    /// The dtype that an input must have, if it is known.
    pub fn dtype(&self, ty: TypeSpec) -> Option<DType> {
        match ty {
            TypeSpec::Fixed(dtype) => Some(dtype),
            TypeSpec::Attr(attr) => self.find(attr).map(|(dtype, _)| dtype),
        }
    }

    fn find(&self, attr: &str) -> Option<(DType, &'static str)> {
        self.0.iter().find(|(a, ..)| *a == attr).map(|(_, dtype, by)| (*dtype, *by))
    }
}

/// An error unless an input matches the declaration; records the attributes it determines.
pub fn input(def: &OpDef, arg: &ArgSpec, ty: ValueType, known: &mut Known) -> PyResult<()> {
    if arg.is_ref && !ty.is_ref {
        return Err(PyTypeError::new_err(format!(
            "'{}' Op requires that input '{}' be a mutable tensor (e.g.: a tf.Variable)\n  help: pass the variable \
             itself, made with `use_resource=False`, and not a value read from it",
            def.name, arg.name
        )));
    }
    let TypeSpec::Attr(attr) = arg.ty else { return input_type(def, arg, ty) };
    match known.find(attr) {
        Some((dtype, by)) if dtype != ty.dtype => Err(PyTypeError::new_err(format!(
            "Input '{}' of '{}' Op has type {} that does not match type {} of argument '{by}'.",
            arg.name,
            def.name,
            shown(ty),
            dtype.tf_name()
        ))),
        Some(_) => Ok(()),
        None => {
            input_type(def, arg, ty)?;
            known.push(attr, ty.dtype, arg.name);
            Ok(())
        }
    }
}

/// An error unless the op accepts this type for an input.
pub fn input_type(def: &OpDef, arg: &ArgSpec, ty: ValueType) -> PyResult<()> {
    match arg.ty {
        TypeSpec::Fixed(wanted) if wanted != ty.dtype => Err(PyTypeError::new_err(format!(
            "Input '{}' of '{}' Op has type {} that does not match expected type of {}.",
            arg.name,
            def.name,
            shown(ty),
            wanted.tf_name()
        ))),
        TypeSpec::Fixed(_) => Ok(()),
        TypeSpec::Attr(attr) => match def.attr_spec(attr).map(|s| s.kind) {
            Some(AttrKind::Type(allowed)) => one_of(arg.name, ty, allowed),
            _ => Ok(()),
        },
    }
}

/// An error unless a parameter accepts this type; an empty list accepts all.
pub fn one_of(parameter: &str, ty: ValueType, allowed: &[DType]) -> PyResult<()> {
    if allowed.is_empty() || allowed.contains(&ty.dtype) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "Value passed to parameter '{parameter}' has DataType {} not in list of allowed values: {}",
        shown(ty),
        names(allowed)
    )))
}

/// An error unless the tensors of a list have the same type; other values are converted later.
pub fn one_type(def: &OpDef, arg: &ArgSpec, list: &[Bound<'_, PyAny>]) -> PyResult<()> {
    let mut types = Vec::new();
    for item in list {
        let Ok(tensor) = item.cast::<Tensor>() else { return Ok(()) };
        types.push(tensor.get().value_type()?.dtype);
    }
    if types.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "Tensors in list passed to '{}' of '{}' Op have types [{}] that don't all match.",
        arg.name,
        def.name,
        names(&types)
    )))
}

/// The error for a list whose length differs from that of another list with the same length attribute.
pub fn of_length(def: &OpDef, arg: &ArgSpec, len: i64, first: i64, of: &ArgSpec) -> PyErr {
    PyValueError::new_err(format!(
        "List argument '{}' to '{}' Op with length {len} must match length {first} of argument '{}'.",
        arg.name,
        snake_case(def.name),
        of.name
    ))
}

/// An error unless the name is valid for a node.
pub fn name(name: &str) -> PyResult<()> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    match name.chars().all(fine) && !name.starts_with(['_', '-', '/']) {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "'{name}' is not a valid node name: it may hold letters, digits and any of `_.-/`, and begins with a letter, a digit or a dot"
        ))),
    }
}

fn shown(ty: ValueType) -> String {
    format!("{}{}", ty.dtype.tf_name(), if ty.is_ref { "_ref" } else { "" })
}

fn names(dtypes: &[DType]) -> String {
    dtypes.iter().map(|d| d.tf_name()).collect::<Vec<_>>().join(", ")
}

/// Converts `DynamicStitch` to `dynamic_stitch`.
pub fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c.is_ascii_uppercase() && 0 < i {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
