//! Elements that are not plain data: strings ([`Str`]), resource handles ([`Handle`]) and variants
//! ([`Variant`]).

use crate::budget::{Charge, OVERHEAD};
use crate::{Code, Error, Result};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::fmt::{self, Write as _};
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
    /// The bytes charged for a string besides its own.
    const HEADER: usize = size_of::<Text>() + OVERHEAD;

    /// The bytes charged for a string of this length: two allocations, rounded up as allocators do. A string
    /// of one byte takes 96.
    fn cost(len: usize) -> usize {
        // The allocator keeps 8 bytes of its own with each allocation, and takes 32 at least. An empty string
        // has one allocation only.
        let own = if len == 0 { 0 } else { (len.saturating_add(8 + 15) / 16 * 16).max(32) };
        own.saturating_add(Str::HEADER)
    }

    /// A string of these bytes, charged to the budget in force.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Str> {
        let bytes: Box<[u8]> = bytes.into().into();
        let charge = Charge::take(Str::cost(bytes.len()))?;
        Ok(Str(Arc::new(Text { bytes, _charge: charge })))
    }

    /// The parts joined with `separator` between them. The bytes are charged to the budget in force before
    /// they are allocated.
    pub fn join(parts: &[&[u8]], separator: &[u8]) -> Result<Str> {
        let between = separator.len().checked_mul(parts.len().saturating_sub(1));
        let len = parts.iter().try_fold(0usize, |len, part| len.checked_add(part.len()));
        let len =
            between.and_then(|between| len?.checked_add(between)).filter(|&len| len <= isize::MAX as usize);
        let len = len.ok_or_else(|| {
            Error::new(Code::ResourceExhausted, format!("{} strings joined cannot be addressed", parts.len()))
        })?;
        let charge = Charge::take(Str::cost(len))?;
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
/// of other crates. They may hold further handles and variants to any depth: `Held` drops them one after
/// another, and `Debug` of a variant prints few of them.
pub trait Opaque: Any + Send + Sync + fmt::Debug {
    /// The word for this kind of value in messages: `variable`, `queue`, `tensor list`.
    fn kind(&self) -> &'static str;
}

/// A shared opaque value. A program can nest such values deeper than the stack, so those that become free
/// while another is dropped wait until that is done.
#[derive(Clone)]
struct Held(Option<Arc<dyn Opaque>>);

/// What is left of a value that is being dropped; nothing can see it.
#[derive(Debug)]
struct Gone;

impl Opaque for Gone {
    fn kind(&self) -> &'static str {
        "nothing"
    }
}

thread_local! {
    /// Whether a value is being dropped on this thread, and those that are next.
    static DROPPING: Cell<bool> = const { Cell::new(false) };
    static NEXT: RefCell<Vec<Arc<dyn Opaque>>> = const { RefCell::new(Vec::new()) };
}

impl Held {
    fn get(&self) -> &dyn Opaque {
        self.0.as_deref().unwrap_or(&Gone)
    }

    fn same(&self, other: &Held) -> bool {
        std::ptr::addr_eq(self.get(), other.get())
    }

    fn downcast<T: Opaque>(&self) -> Option<&T> {
        (self.get() as &dyn Any).downcast_ref()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(object) = self.0.take() else { return };
        // Another reference is left. Should that one go at the very same time, this drop is one level deeper.
        if 1 < Arc::strong_count(&object) {
            return;
        }
        match DROPPING.try_with(|dropping| dropping.replace(true)) {
            Ok(false) => {
                let _over = Over;
                drop(object);
                while let Ok(Some(next)) = NEXT.try_with(|next| next.borrow_mut().pop()) {
                    drop(next);
                }
            }
            Ok(true) => {
                let mut object = Some(object);
                // A thread that is ending keeps no list any more; the value is then dropped at once.
                let _ = NEXT.try_with(|next| next.borrow_mut().extend(object.take()));
            }
            Err(_) => drop(object),
        }
    }
}

/// Marks the end of a drop, also of one that panicked.
struct Over;

impl Drop for Over {
    fn drop(&mut self) {
        let _ = DROPPING.try_with(|dropping| dropping.set(false));
    }
}

/// A resource handle: a shared resource with the names under which it is known.
#[derive(Clone)]
pub struct Handle {
    /// The container that owns the resource; empty for the default one.
    pub container: Arc<str>,
    /// The name in the container.
    pub name: Arc<str>,
    object: Held,
}

impl Handle {
    /// A handle to `object`.
    pub fn new(container: impl Into<Arc<str>>, name: impl Into<Arc<str>>, object: Arc<dyn Opaque>) -> Handle {
        Handle { container: container.into(), name: name.into(), object: Held(Some(object)) }
    }

    /// The kind of resource.
    pub fn kind(&self) -> &'static str {
        self.object.get().kind()
    }

    /// The resource, if it is a `T`.
    pub fn get<T: Opaque>(&self) -> Option<&T> {
        self.object.downcast()
    }

    /// A shared reference to the resource, if it is a `T`.
    pub fn share<T: Opaque>(&self) -> Option<Arc<T>> {
        (self.object.0.clone()? as Arc<dyn Any + Send + Sync>).downcast().ok()
    }

    /// Whether both handles refer to the same resource.
    pub fn same(&self, other: &Handle) -> bool {
        self.object.same(&other.object)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} `", self.kind())?;
        // A name comes from a graph, and a terminal would obey its control characters.
        for c in self.name.chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { f.write_char(c)? }
        }
        f.write_str("`>")
    }
}

/// An element of dtype variant: a value that only its own ops inspect. It always holds a `Kept` value.
#[derive(Clone)]
pub struct Variant(Held);

/// A value and the charge for its own memory. One op can make millions of small values, such as empty lists.
struct Kept<T> {
    value: T,
    _charge: Charge,
}

impl<T: Opaque> Opaque for Kept<T> {
    fn kind(&self) -> &'static str {
        self.value.kind()
    }
}

impl<T: Opaque> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl Variant {
    /// Wraps a value, whose own memory is charged to the budget in force. What it points to is not: the value
    /// charges for it.
    pub fn new<T: Opaque>(value: T) -> Result<Variant> {
        let charge = Charge::take(size_of::<Kept<T>>() + OVERHEAD)?;
        Ok(Variant(Held(Some(Arc::new(Kept { value, _charge: charge })))))
    }

    /// The kind of value.
    pub fn kind(&self) -> &'static str {
        self.0.get().kind()
    }

    /// Whether both hold the same value, not merely an equal one.
    pub fn same(&self, other: &Variant) -> bool {
        self.0.same(&other.0)
    }

    /// The value, if it is a `T`.
    pub fn get<T: Opaque>(&self) -> Option<&T> {
        self.0.downcast::<Kept<T>>().map(|kept| &kept.value)
    }

    /// The value, mutably, if it is a `T` that nothing else shares.
    pub fn get_mut<T: Opaque>(&mut self) -> Option<&mut T> {
        let kept = (Arc::get_mut(self.0.0.as_mut()?)? as &mut dyn Any).downcast_mut::<Kept<T>>();
        kept.map(|kept| &mut kept.value)
    }
}

/// How deep the variants in a variant are printed, and how many of them in all. One that contains another
/// twice, which contains a third twice, would otherwise print as a tree of any size.
const SHOWN: Shown = Shown { depth: 4, left: 32 };

#[derive(Clone, Copy)]
struct Shown {
    depth: u32,
    left: u32,
}

thread_local! {
    /// What the variant that is being printed may still show; `None` outside of one.
    static SHOWING: Cell<Option<Shown>> = const { Cell::new(None) };
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let around = SHOWING.get();
        let may = around.unwrap_or(SHOWN);
        if may.depth == 0 || may.left == 0 {
            return write!(f, "<{} ..>", self.kind());
        }
        SHOWING.set(Some(Shown { depth: may.depth - 1, left: may.left - 1 }));
        let result = write!(f, "<{:?}>", self.0.get());
        let left = SHOWING.get().map_or(0, |shown| shown.left);
        SHOWING.set(around.map(|around| Shown { left, ..around }));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MIRI;

    /// A value that holds others, without a drop of its own.
    #[derive(Debug)]
    struct Nest(#[expect(dead_code, reason = "printed")] Vec<Variant>);

    impl Opaque for Nest {
        fn kind(&self) -> &'static str {
            "nest"
        }
    }

    #[derive(Debug)]
    struct Place(#[expect(dead_code, reason = "printed")] Option<Handle>);

    impl Opaque for Place {
        fn kind(&self) -> &'static str {
            "place"
        }
    }

    fn nest(of: Vec<Variant>) -> Variant {
        Variant::new(Nest(of)).unwrap()
    }

    #[test]
    fn control_characters_of_names_are_escaped() {
        let handle = Handle::new("", "a\u{1b}[2J\u{9b}é\n", Arc::new(Place(None)));
        assert_eq!(format!("{handle:?}"), r"<place `a\u{1b}[2J\u{9b}é\n`>");
    }

    #[test]
    fn chains_are_dropped_without_recursion() {
        let mut chain = nest(vec![]);
        for _ in 0..300_000 / MIRI {
            chain = nest(vec![chain, nest(vec![])]);
        }
        let copy = chain.clone();
        drop(chain);
        assert_eq!(copy.kind(), "nest");
        std::thread::spawn(move || drop(copy)).join().unwrap();
        let mut handle = Handle::new("", "end", Arc::new(Place(None)));
        for _ in 0..300_000 / MIRI {
            handle = Handle::new("", "next", Arc::new(Place(Some(handle))));
        }
        drop(handle);
    }

    #[test]
    fn trees_print_short() {
        let tree = (0..40).fold(nest(vec![]), |tree, _| nest(vec![tree.clone(), tree]));
        let text = format!("{tree:?}");
        assert!(text.len() < 1000, "{text}");
        assert!(text.starts_with("<Nest([<Nest([") && text.contains("<nest ..>"), "{text}");
        let wide = nest((0..1000).map(|_| nest(vec![])).collect());
        assert_eq!(format!("{wide:?}").matches("<Nest([])>").count(), 31);
        assert_eq!(format!("{:?}", nest(vec![nest(vec![])])), "<Nest([<Nest([])>])>");
    }

    #[test]
    fn a_panic_in_a_drop_leaves_later_drops_alone() {
        #[derive(Debug)]
        struct Bad;
        impl Opaque for Bad {
            fn kind(&self) -> &'static str {
                "bad"
            }
        }
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let bad = Variant::new(Bad).unwrap();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(bad))).is_err());
        #[derive(Debug)]
        struct Last(#[expect(dead_code, reason = "its references are counted")] Arc<()>);
        impl Opaque for Last {
            fn kind(&self) -> &'static str {
                "last"
            }
        }
        let shared = Arc::new(());
        drop(Variant::new(Last(shared.clone())).unwrap());
        assert_eq!(Arc::strong_count(&shared), 1);
    }
}
