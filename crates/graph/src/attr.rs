//! Attributes: the values that are fixed when a node is built.

use millstream_tensor::{DType, Error, PartialShape, Result, Str, Tensor, invalid};
use std::borrow::Cow;
use std::fmt;

/// The value of an attribute.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "one variant per kind of value, named as it")]
pub enum Attr {
    Str(Str),
    Int(i64),
    Float(f32),
    Bool(bool),
    Type(ValueType),
    Shape(PartialShape),
    Tensor(Tensor),
    /// The name of a function in a library, with its own attributes.
    Func(FuncRef),
    List(Vec<Attr>),
}

/// A reference to a function by name.
#[derive(Clone, Debug)]
pub struct FuncRef {
    /// Its name in the library.
    pub name: String,
    /// The attributes it is instantiated with.
    pub attrs: Attrs,
}

/// The type of an edge: a dtype, and whether the edge carries a reference to a variable instead of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueType {
    /// The element type.
    pub dtype: DType,
    /// Whether it is a reference edge (`float32_ref` in TensorFlow).
    pub is_ref: bool,
}

impl ValueType {
    /// A reference to a variable of this dtype.
    pub fn reference(dtype: DType) -> ValueType {
        ValueType { dtype, is_ref: true }
    }
}

impl From<DType> for ValueType {
    fn from(dtype: DType) -> Self {
        ValueType { dtype, is_ref: false }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, if self.is_ref { "&" } else { "" })
    }
}

impl fmt::Debug for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Attr {
    /// The word for this kind of value in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Attr::Str(_) => "a string",
            Attr::Int(_) => "an int",
            Attr::Float(_) => "a float",
            Attr::Bool(_) => "a bool",
            Attr::Type(_) => "a type",
            Attr::Shape(_) => "a shape",
            Attr::Tensor(_) => "a tensor",
            Attr::Func(_) => "a function",
            Attr::List(_) => "a list",
        }
    }

    /// Whether both are the same value. Floats are compared by their bits.
    pub fn same(&self, other: &Attr) -> bool {
        match (self, other) {
            (Attr::Str(a), Attr::Str(b)) => a == b,
            (Attr::Int(a), Attr::Int(b)) => a == b,
            (Attr::Float(a), Attr::Float(b)) => a.to_bits() == b.to_bits(),
            (Attr::Bool(a), Attr::Bool(b)) => a == b,
            (Attr::Type(a), Attr::Type(b)) => a == b,
            (Attr::Shape(a), Attr::Shape(b)) => a == b,
            (Attr::Tensor(a), Attr::Tensor(b)) => {
                a.dtype() == b.dtype()
                    && a.shape() == b.shape()
                    && match (a.as_bytes(), b.as_bytes()) {
                        (Some(a), Some(b)) => a == b,
                        _ => a.as_strs() == b.as_strs(),
                    }
            }
            (Attr::Func(a), Attr::Func(b)) => a.name == b.name && a.attrs.same(&b.attrs),
            (Attr::List(a), Attr::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            _ => false,
        }
    }
}

macro_rules! attr_from {
    ($($t:ty => |$v:ident| $e:expr),* $(,)?) => { $(
        impl From<$t> for Attr {
            fn from($v: $t) -> Self { $e }
        }
    )* };
}
attr_from! {
    &str => |v| Attr::Str(v.into()),
    String => |v| Attr::Str(v.into()),
    Str => |v| Attr::Str(v),
    i64 => |v| Attr::Int(v),
    i32 => |v| Attr::Int(v.into()),
    usize => |v| Attr::Int(i64::try_from(v).unwrap_or(i64::MAX)),
    f32 => |v| Attr::Float(v),
    bool => |v| Attr::Bool(v),
    DType => |v| Attr::Type(v.into()),
    ValueType => |v| Attr::Type(v),
    PartialShape => |v| Attr::Shape(v),
    Tensor => |v| Attr::Tensor(v),
    FuncRef => |v| Attr::Func(v),
}

impl<T: Into<Attr>> From<Vec<T>> for Attr {
    fn from(values: Vec<T>) -> Self {
        Attr::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Attr> + Clone> From<&[T]> for Attr {
    fn from(values: &[T]) -> Self {
        Attr::List(values.iter().cloned().map(Into::into).collect())
    }
}

/// A node's attributes, ordered by name.
#[derive(Clone, Debug, Default)]
pub struct Attrs(Vec<(Cow<'static, str>, Attr)>);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident -> $t:ty: $pattern:pat => $value:expr, $word:literal;)*) => { $(
        $(#[$doc])*
        #[inline]
        pub fn $name(&self, name: &str) -> Result<$t> {
            match self.get(name) {
                Some($pattern) => Ok($value),
                other => Err(unsuited(name, other, $word)),
            }
        }
    )* };
}

/// The error for an attribute that is not there, or of another kind.
#[cold]
fn unsuited(name: &str, attr: Option<&Attr>, word: &str) -> Error {
    match attr {
        Some(other) => invalid!("attribute `{name}` is {}, not {word}", other.kind()),
        None => invalid!("the node has no attribute `{name}`"),
    }
}

impl Attrs {
    /// No attributes.
    pub fn new() -> Attrs {
        Attrs::default()
    }

    /// The attribute, if it is there.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Attr> {
        // There are few, and most names differ in length, so a linear scan is faster than a binary search.
        self.0.iter().find(|(n, _)| n.as_ref() == name).map(|(_, value)| value)
    }

    /// Sets an attribute, replacing an earlier value.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Attr>) {
        let (name, value) = (name.into(), value.into());
        match self.0.binary_search_by(|(n, _)| n.as_ref().cmp(name.as_ref())) {
            Ok(i) => self.0[i].1 = value,
            Err(i) => self.0.insert(i, (name, value)),
        }
    }

    /// Removes an attribute.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(n, _)| n != name);
    }

    /// Names and values in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attr)> {
        self.0.iter().map(|(n, v)| (n.as_ref(), v))
    }

    /// Whether both hold the same attributes.
    pub fn same(&self, other: &Attrs) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|((n, v), (m, w))| n == m && v.same(w))
    }

    fn require(&self, name: &str) -> Result<&Attr> {
        self.get(name).ok_or_else(|| invalid!("the node has no attribute `{name}`"))
    }

    fn list<'a, T>(&'a self, name: &str, word: &str, item: impl Fn(&'a Attr) -> Option<T>) -> Result<Vec<T>> {
        match self.require(name)? {
            Attr::List(values) => values
                .iter()
                .map(|v| {
                    item(v).ok_or_else(|| invalid!("attribute `{name}` holds {}, not only {word}", v.kind()))
                })
                .collect(),
            other => Err(invalid!("attribute `{name}` is {}, not a list of {word}", other.kind())),
        }
    }

    getters! {
        /// A string.
        str -> &Str: Attr::Str(v) => v, "a string";
        /// An int.
        int -> i64: Attr::Int(v) => *v, "an int";
        /// A float.
        float -> f32: Attr::Float(v) => *v, "a float";
        /// A bool.
        bool -> bool: Attr::Bool(v) => *v, "a bool";
        /// A dtype.
        dtype -> DType: Attr::Type(v) => v.dtype, "a type";
        /// A shape.
        shape -> &PartialShape: Attr::Shape(v) => v, "a shape";
        /// A tensor.
        tensor -> &Tensor: Attr::Tensor(v) => v, "a tensor";
        /// A function.
        func -> &FuncRef: Attr::Func(v) => v, "a function";
    }

    /// A list of ints.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>> {
        self.list(name, "ints", |v| if let Attr::Int(v) = v { Some(*v) } else { None })
    }

    /// A list of floats.
    pub fn floats(&self, name: &str) -> Result<Vec<f32>> {
        self.list(name, "floats", |v| if let Attr::Float(v) = v { Some(*v) } else { None })
    }

    /// A list of strings.
    pub fn strs(&self, name: &str) -> Result<Vec<&Str>> {
        self.list(name, "strings", |v| if let Attr::Str(v) = v { Some(v) } else { None })
    }

    /// A list of dtypes.
    pub fn dtypes(&self, name: &str) -> Result<Vec<DType>> {
        self.list(name, "types", |v| if let Attr::Type(v) = v { Some(v.dtype) } else { None })
    }

    /// A list of shapes.
    pub fn shapes(&self, name: &str) -> Result<Vec<&PartialShape>> {
        self.list(name, "shapes", |v| if let Attr::Shape(v) = v { Some(v) } else { None })
    }

    /// A list of functions.
    pub fn funcs(&self, name: &str) -> Result<Vec<&FuncRef>> {
        self.list(name, "functions", |v| if let Attr::Func(v) = v { Some(v) } else { None })
    }
}
