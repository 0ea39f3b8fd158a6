//! Elements that are not plain data: strings ([`Str`]), resource handles ([`Handle`]) and variants
//! ([`Variant`]).

use crate::budget::Charge;
use crate::{Code, Error, Result};
use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A string element: any bytes, shared by clones.
///
/// A string made during a run ([`Str::new`], [`Str::join`]) is charged to the budget in force until its last
/// clone is dropped. A string made by `From`, like literals and feeds, is not charged.
#[derive(Clone, Default)]
pub struct Str(Arc<Text>);

#[derive(Default)]
struct Text {
    bytes: Box<[u8]>,
    _charge: Charge,
}

impl Str {
    /// A string of these bytes, charged to the budget in force.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Str> {
        let bytes: Box<[u8]> = bytes.into().into();
        let charge = Charge::take(size_of::<Text>() + bytes.len())?;
        Ok(Str(Arc::new(Text { bytes, _charge: charge })))
    }

    /// The parts joined with `separator` between them. The bytes are charged to the budget in force before
    /// they are allocated.
    pub fn join(parts: &[&[u8]], separator: &[u8]) -> Result<Str> {
        let between = separator.len().checked_mul(parts.len().saturating_sub(1));
        let len = parts.iter().try_fold(size_of::<Text>(), |len, part| len.checked_add(part.len()));
        let len =
            between.and_then(|between| len?.checked_add(between)).filter(|&len| len <= isize::MAX as usize);
        let len = len.ok_or_else(|| {
            Error::new(Code::ResourceExhausted, format!("{} strings joined cannot be addressed", parts.len()))
        })?;
        let charge = Charge::take(len)?;
        Ok(Str(Arc::new(Text { bytes: parts.join(separator).into(), _charge: charge })))
    }

    /// The text, with invalid UTF-8 replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self)
    }
}

impl Deref for Str {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Str {}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Str {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl From<&str> for Str {
    fn from(s: &str) -> Self {
        Str::from(s.as_bytes())
    }
}

impl From<String> for Str {
    fn from(s: String) -> Self {
        Str::from(s.into_bytes())
    }
}

impl From<&[u8]> for Str {
    fn from(s: &[u8]) -> Self {
        Str::from(s.to_vec())
    }
}

impl From<Vec<u8>> for Str {
    fn from(s: Vec<u8>) -> Self {
        Str(Arc::new(Text { bytes: s.into(), _charge: Charge::default() }))
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.escape_ascii())
    }
}

/// A value that a handle or a variant may hold. This crate does not know the implementors: state and values
/// of other crates.
pub trait Opaque: Any + Send + Sync + fmt::Debug {
    /// The word for this kind of value in messages: `variable`, `queue`, `tensor list`.
    fn kind(&self) -> &'static str;
}

/// A resource handle: a shared resource with the names under which it is known.
#[derive(Clone)]
pub struct Handle {
    /// The container that owns the resource; empty for the default one.
    pub container: Arc<str>,
    /// The name in the container.
    pub name: Arc<str>,
    object: Arc<dyn Opaque>,
}

impl Handle {
    /// A handle to `object`.
    pub fn new(container: impl Into<Arc<str>>, name: impl Into<Arc<str>>, object: Arc<dyn Opaque>) -> Handle {
        Handle { container: container.into(), name: name.into(), object }
    }

    /// The kind of resource.
    pub fn kind(&self) -> &'static str {
        self.object.kind()
    }

    /// The resource, if it is a `T`.
    pub fn get<T: Opaque>(&self) -> Option<&T> {
        (&*self.object as &dyn Any).downcast_ref()
    }

    /// A shared reference to the resource, if it is a `T`.
    pub fn share<T: Opaque>(&self) -> Option<Arc<T>> {
        (self.object.clone() as Arc<dyn Any + Send + Sync>).downcast().ok()
    }

    /// Whether both handles refer to the same resource.
    pub fn same(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.object, &other.object)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} `{}`>", self.kind(), self.name)
    }
}

/// An element of dtype variant: a value that only its own ops inspect.
#[derive(Clone)]
pub struct Variant(Arc<dyn Opaque>);

impl Variant {
    /// Wraps a value.
    pub fn new(value: Arc<dyn Opaque>) -> Variant {
        Variant(value)
    }

    /// The kind of value.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Whether both hold the same value, not merely an equal one.
    pub fn same(&self, other: &Variant) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The value, if it is a `T`.
    pub fn get<T: Opaque>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// The value, mutably, if it is a `T` that nothing else shares.
    pub fn get_mut<T: Opaque>(&mut self) -> Option<&mut T> {
        (Arc::get_mut(&mut self.0)? as &mut dyn Any).downcast_mut()
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{:?}>", self.0)
    }
}
