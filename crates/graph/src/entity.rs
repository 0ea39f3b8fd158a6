//! Typed indices: [`entity!`](crate::entity!) declares one, [`Dense`] is the list that it indexes.
//!
//! An id is a `u32` that only one kind of list accepts, and that prints with its kind: `p17`, `frame2`. It
//! costs nothing at run time. [`None`](Entity::NONE) is the largest number, so that an optional id takes four
//! bytes.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into lists of one kind. Declared with [`entity!`](crate::entity!).
pub trait Entity: Copy + Eq + Ord + fmt::Debug {
    /// No entity. No list reaches this far.
    const NONE: Self;

    /// The id of the list's element at this position.
    fn new(position: usize) -> Self;

    /// The position in the list.
    fn index(self) -> usize;
}

/// Declares the type of an id and the word that it prints before its number.
#[macro_export]
macro_rules! entity {
    ($($(#[$doc:meta])* $vis:vis struct $name:ident = $word:literal;)+) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis struct $name(u32);

        impl $crate::Entity for $name {
            const NONE: Self = $name(u32::MAX);

            #[inline(always)]
            fn new(position: usize) -> Self {
                debug_assert!(position < u32::MAX as usize, "too many");
                $name(position as u32)
            }

            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match *self == <$name as $crate::Entity>::NONE {
                    true => f.write_str("none"),
                    false => write!(f, concat!($word, "{}"), self.0),
                }
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    )+ };
}

/// A list whose positions are ids: a value for every entity of a kind.
pub struct Dense<K, V> {
    list: Vec<V>,
    key: PhantomData<fn(K) -> K>,
}

impl<K: Entity, V> Dense<K, V> {
    /// An empty list.
    pub const fn new() -> Self {
        Dense { list: Vec::new(), key: PhantomData }
    }

    /// An empty list with room for `n` values.
    pub fn with_capacity(n: usize) -> Self {
        Vec::with_capacity(n).into()
    }

    /// `n` copies of a value.
    pub fn filled(value: V, n: usize) -> Self
    where
        V: Clone,
    {
        vec![value; n].into()
    }

    /// Appends a value and returns its id.
    #[inline]
    pub fn push(&mut self, value: V) -> K {
        self.list.push(value);
        K::new(self.list.len() - 1)
    }

    /// Removes all values; keeps the memory.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// The number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The value of an id, if the list reaches so far.
    #[inline]
    pub fn get(&self, id: K) -> Option<&V> {
        self.list.get(id.index())
    }

    /// The value of an id, if the list reaches so far.
    #[inline]
    pub fn get_mut(&mut self, id: K) -> Option<&mut V> {
        self.list.get_mut(id.index())
    }

    /// The ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.list.len()).map(K::new)
    }

    /// The values with their ids, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.list.iter().enumerate().map(|(i, value)| (K::new(i), value))
    }

    /// The values, in order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, V> {
        self.list.iter()
    }

    /// The values, in order.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, V> {
        self.list.iter_mut()
    }

    /// The values as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[V] {
        &self.list
    }

    /// The values as a slice.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [V] {
        &mut self.list
    }
}

impl<K: Entity, V> Index<K> for Dense<K, V> {
    type Output = V;

    #[inline(always)]
    fn index(&self, id: K) -> &V {
        &self.list[id.index()]
    }
}

impl<K: Entity, V> IndexMut<K> for Dense<K, V> {
    #[inline(always)]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.list[id.index()]
    }
}

impl<K, V> From<Vec<V>> for Dense<K, V> {
    fn from(list: Vec<V>) -> Self {
        Dense { list, key: PhantomData }
    }
}

impl<K, V> FromIterator<V> for Dense<K, V> {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl<K, V> Extend<V> for Dense<K, V> {
    fn extend<I: IntoIterator<Item = V>>(&mut self, values: I) {
        self.list.extend(values);
    }
}

impl<'a, K, V> IntoIterator for &'a Dense<K, V> {
    type Item = &'a V;
    type IntoIter = std::slice::Iter<'a, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut Dense<K, V> {
    type Item = &'a mut V;
    type IntoIter = std::slice::IterMut<'a, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter_mut()
    }
}

impl<K, V> IntoIterator for Dense<K, V> {
    type Item = V;
    type IntoIter = std::vec::IntoIter<V>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<K, V> Default for Dense<K, V> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<K, V: Clone> Clone for Dense<K, V> {
    fn clone(&self) -> Self {
        self.list.clone().into()
    }
}

impl<K: Entity, V: fmt::Debug> fmt::Debug for Dense<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}
