//! Elements that are not plain data: strings ([`Str`]), resource handles ([`Handle`]) and variants ([`Variant`]).

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A string element: any bytes, shared when cloned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str(Arc<[u8]>);

impl Str {
    /// The text, with what is not UTF-8 replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl Default for Str {
    fn default() -> Self {
        Str(Arc::from([] as [u8; 0]))
    }
}

impl Deref for Str {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Str {
    fn from(s: &str) -> Self {
        Str(s.as_bytes().into())
    }
}

impl From<String> for Str {
    fn from(s: String) -> Self {
        Str(s.into_bytes().into())
    }
}

impl From<&[u8]> for Str {
    fn from(s: &[u8]) -> Self {
        Str(s.into())
    }
}

impl From<Vec<u8>> for Str {
    fn from(s: Vec<u8>) -> Self {
        Str(s.into())
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// What a handle or a variant may hold. Implemented by the state and the values themselves, which this crate does not know.
pub trait Opaque: Any + Send + Sync + fmt::Debug {
    /// The word that messages use for this kind of thing: `variable`, `queue`, `tensor list`.
    fn kind(&self) -> &'static str;
}

/// A resource handle: the shared thing itself with the names under which it is known.
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

    /// What kind of thing this is.
    pub fn kind(&self) -> &'static str {
        self.object.kind()
    }

    /// The thing, if it is a `T`.
    pub fn get<T: Opaque>(&self) -> Option<&T> {
        (&*self.object as &dyn Any).downcast_ref()
    }

    /// A share of the thing, if it is a `T`.
    pub fn share<T: Opaque>(&self) -> Option<Arc<T>> {
        (self.object.clone() as Arc<dyn Any + Send + Sync>).downcast().ok()
    }

    /// Whether both point to the same thing.
    pub fn same(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.object, &other.object)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} `{}`>", self.kind(), self.name)
    }
}

/// An element of dtype variant: a value that only its own ops look into.
#[derive(Clone)]
pub struct Variant(Arc<dyn Opaque>);

impl Variant {
    /// Wraps a value.
    pub fn new(value: Arc<dyn Opaque>) -> Variant {
        Variant(value)
    }

    /// What kind of thing this is.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Whether both hold the same thing, not merely an equal one.
    pub fn same(&self, other: &Variant) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The value, if it is a `T`.
    pub fn get<T: Opaque>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// The value to change in place, if it is a `T` that nobody else holds.
    pub fn get_mut<T: Opaque>(&mut self) -> Option<&mut T> {
        (Arc::get_mut(&mut self.0)? as &mut dyn Any).downcast_mut()
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{:?}>", self.0)
    }
}
