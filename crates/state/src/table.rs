//! [`Table`]: key-value tables that outlive a step.
//!
//! Definition: TensorFlow's `HashTable`, which is filled once, and `MutableHashTable`,
//! `MutableHashTableOfTensors` and `MutableDenseHashTable`. Unlike there, a table is exported in the order
//! of its keys; a dense one with all its buckets, as there. What an entry takes besides the elements of its
//! value is charged, too.
//!
//! A change is whole or not at all, also if its run is called off: what can be prepared is prepared before.

#![expect(
    clippy::mutable_key_type,
    reason = "the budget that a string is charged to is no part of what it is"
)]

use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::sorting::sort;
use millstream_tensor::{Assembler, Code, DType, Error, Opaque, Result, Shape, Str, Tensor, ensure, invalid};
use parking_lot::{RwLock, RwLockUpgradableReadGuard};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The type of a table: its kind, keys and values.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSpec {
    /// Whether the table can change.
    pub kind: TableKind,
    /// The dtype of the keys: `int32`, `int64` or string.
    pub key: DType,
    /// The shape of one key: a scalar, except in dense tables.
    pub key_shape: Shape,
    /// The dtype of the values.
    pub value: DType,
    /// The shape of one value.
    pub value_shape: Shape,
}

/// The kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Filled once.
    Fixed,
    /// Keys can be inserted and removed.
    Mutable,
}

/// A key-value table.
pub struct Table {
    name: String,
    op: &'static str,
    spec: TableSpec,
    dense: Option<Dense>,
    state: RwLock<State>,
}

/// What is special about a dense table: in TensorFlow its keys lie in buckets, and so they are exported.
#[derive(Clone, Debug)]
pub struct Dense {
    /// The key that marks a free bucket. It is no key of the table, and neither is the next.
    pub empty: Tensor,
    /// The key that marks the bucket of a removed key.
    pub deleted: Tensor,
    /// The number of buckets at first, a power of two.
    pub buckets: usize,
    /// The part of the buckets that may be used, between 0 and 1. The buckets double before it is more.
    pub max_load_factor: f32,
}

impl Dense {
    fn reserved(&self) -> [&Tensor; 2] {
        [&self.empty, &self.deleted]
    }

    fn check(&self, spec: &TableSpec) -> Result<()> {
        for key in self.reserved() {
            ensure!(
                key.dtype() == spec.key && *key.shape() == spec.key_shape,
                "Empty and deleted keys must have same shape, got shapes: {} and {}",
                self.empty.shape(),
                self.deleted.shape();
                "the empty and the deleted key must be {}{} like all keys, but one is {}{}",
                spec.key,
                spec.key_shape,
                key.dtype(),
                key.shape()
            );
        }
        ensure!(
            !self.empty.bits_eq(&self.deleted),
            "Empty and deleted keys cannot be equal"; "`empty_key` and `deleted_key` must differ"
        );
        ensure!(
            self.buckets.is_power_of_two() && self.buckets >= 4,
            "Number of buckets must be at least 4 and a power of 2, got: {}", self.buckets;
            "`initial_num_buckets` must be a power of 2 from 4, but is {}",
            self.buckets
        );
        ensure!(
            0.0 < self.max_load_factor && self.max_load_factor < 1.0,
            "max_load_factor must be between 0 and 1, got: {}", self.max_load_factor;
            "`max_load_factor` must be between 0 and 1, but is {}",
            self.max_load_factor
        );
        Ok(())
    }

    /// The number of buckets with which this many keys do not use too many.
    fn buckets_for(&self, mut buckets: usize, keys: usize) -> Result<usize> {
        while buckets as f64 * f64::from(self.max_load_factor) < keys as f64 {
            buckets = buckets.checked_mul(2).ok_or_else(|| {
                invalid!("{keys} keys do not fit into any number of buckets at this `max_load_factor`")
            })?;
        }
        Ok(buckets)
    }
}

#[derive(Default)]
struct State {
    rows: HashMap<Key, Row>,
    /// Whether a fixed table was filled.
    filled: bool,
    /// The number of buckets of a dense table.
    buckets: usize,
}

/// The value of a key, and the memory that its entry takes.
struct Row {
    value: Tensor,
    _room: Room,
}

impl Row {
    fn new(value: Tensor) -> Result<Row> {
        // A map is half empty after it has grown, and has a byte of its own for each place.
        const ENTRY: usize = 2 * (size_of::<(Key, Row)>() + 1);
        Ok(Row { value, _room: Room::of(ENTRY)? })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Int(i64),
    Text(Str),
    Row(Arc<Parts>),
}

/// The parts of a key that is no scalar. They are charged once, however often the key is kept.
#[derive(Debug)]
struct Parts(Charged<Key>);

impl PartialEq for Parts {
    fn eq(&self, other: &Parts) -> bool {
        self.0[..] == other.0[..]
    }
}

impl Eq for Parts {}

impl PartialOrd for Parts {
    fn partial_cmp(&self, other: &Parts) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Parts {
    fn cmp(&self, other: &Parts) -> Ordering {
        self.0[..].cmp(&other.0[..])
    }
}

impl Hash for Parts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0[..].hash(state);
    }
}

impl Table {
    /// An empty table. `op` is the type of the op that makes it.
    pub fn new(
        name: impl Into<String>,
        op: &'static str,
        spec: TableSpec,
        dense: Option<Dense>,
    ) -> Result<Table> {
        ensure!(
            matches!(spec.key, DType::I32 | DType::I64 | DType::Str),
            "the keys of a table are i32, i64 or strings, not {}",
            spec.key
        );
        ensure!(
            spec.value == DType::Str || spec.value.size().is_some(),
            "the values of a table are numbers, bools or strings, not {}",
            spec.value
        );
        let mut state = State::default();
        if let Some(dense) = &dense {
            dense.check(&spec)?;
            state.buckets = dense.buckets;
        }
        Ok(Table { name: name.into(), op, spec, dense, state: RwLock::new(state) })
    }

    /// Returns an error unless the table could have been made by `op` with this spec.
    pub fn check_same(&self, op: &'static str, spec: &TableSpec) -> Result<()> {
        ensure!(
            self.op == op && self.spec == *spec,
            "`{}` is a {} of {} {} to {} {}, not a {op} of {} {} to {} {}",
            self.name,
            self.op,
            self.spec.key,
            self.spec.key_shape,
            self.spec.value,
            self.spec.value_shape,
            spec.key,
            spec.key_shape,
            spec.value,
            spec.value_shape
        );
        Ok(())
    }

    /// The type of the table.
    pub fn spec(&self) -> &TableSpec {
        &self.spec
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.state.read().rows.len()
    }

    /// Whether the table has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values of the keys; `default` for keys that are not in the table.
    pub fn find(&self, keys: &Tensor, default: &Tensor) -> Result<Tensor> {
        let (batch, keys) = self.keys(keys)?;
        let spec = &self.spec;
        ensure!(
            default.dtype() == spec.value && *default.shape() == spec.value_shape,
            "`default_value` must be {}{} as the values of {self:?}, but is {}{}",
            spec.value,
            spec.value_shape,
            default.dtype(),
            default.shape()
        );
        let state = self.state.read();
        self.check_filled(&state)?;
        self.gather(&batch, keys.iter().map(|key| state.rows.get(key).map_or(default, |row| &row.value)))
    }

    fn gather<'a>(&self, batch: &[usize], rows: impl Iterator<Item = &'a Tensor>) -> Result<Tensor> {
        let whole = Shape::new(batch.iter().chain(self.spec.value_shape.dims()).copied());
        let mut out = Assembler::new(self.spec.value, whole)?;
        let mut pace = Pace::new();
        for row in rows {
            pace.spend(1)?;
            out.push(row, 0, row.elements())?;
        }
        out.finish()
    }

    /// Inserts keys; the values of keys that are already there are replaced.
    pub fn insert(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        self.check_mutable("keys are not inserted")?;
        let rows = self.rows(keys, values)?;
        let mut state = self.state.write();
        if let Some(dense) = &self.dense {
            state.buckets = dense.buckets_for(state.buckets, state.rows.len() + rows.len())?;
        }
        state.rows.extend(rows);
        Ok(())
    }

    /// Removes keys. Keys that are not there are ignored.
    pub fn remove(&self, keys: &Tensor) -> Result<()> {
        self.check_mutable("keys are not removed")?;
        let (_, keys) = self.keys(keys)?;
        let state = self.state.upgradable_read();
        let (mut there, mut pace) = (Charged::new(), Pace::new());
        for key in keys.iter() {
            pace.spend(1)?;
            if state.rows.contains_key(key) {
                there.push(key)?;
            }
        }
        let mut state = RwLockUpgradableReadGuard::upgrade(state);
        for key in there.iter() {
            state.rows.remove(*key);
        }
        Ok(())
    }

    /// Replaces the whole content. A fixed table is filled.
    pub fn import(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        if self.spec.kind == TableKind::Fixed {
            return self.fill(keys, values);
        }
        // An exported column holds scalars.
        let listed = |t: &Tensor, each: &Shape| match *t.shape().dims() {
            [n, 1] if self.dense.is_some() && each.rank() == 0 => t.clone().into_shape([n]),
            _ => Ok(t.clone()),
        };
        let (keys, values) = (listed(keys, &self.spec.key_shape)?, listed(values, &self.spec.value_shape)?);
        let (mut rows, mut pace) = (HashMap::new(), Pace::new());
        for (key, row) in self.rows_to_import(&keys, &values)? {
            pace.spend(1)?;
            rows.insert(key, row);
        }
        let mut state = self.state.write();
        if let Some(dense) = &self.dense {
            state.buckets = dense.buckets_for(dense.buckets, rows.len())?;
        }
        let old = std::mem::replace(&mut state.rows, rows);
        drop(state);
        drop(old);
        Ok(())
    }

    /// Fills a fixed table, once. Filling it again is no error if the number of keys is the same.
    pub fn fill(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        ensure!(self.spec.kind == TableKind::Fixed, "{self:?} is not filled for good: its keys are inserted");
        ensure!(
            keys.rank() == 1 && keys.shape() == values.shape(),
            "a table is filled with a vector of keys and one of values, equally long, but they are {}{} and {}{}",
            keys.dtype(),
            keys.shape(),
            values.dtype(),
            values.shape()
        );
        let rows = self.rows(keys, values)?;
        let mut map: HashMap<Key, Row> = HashMap::with_capacity(rows.len());
        let mut pace = Pace::new();
        for (key, row) in rows {
            pace.spend(1)?;
            if let Some(other) = map.get(&key).filter(|other| !other.value.bits_eq(&row.value)) {
                return Err(failed(format!(
                    "HashTable has different value for same key. Key {} has {} and trying to add value {}: {self:?} was given it twice",
                    key.to_string().trim_matches('"'),
                    plain(&other.value.to_string()),
                    plain(&row.value.to_string())
                )));
            }
            map.insert(key, row);
        }
        let mut state = self.state.write();
        if state.filled {
            return match state.rows.len() == map.len() {
                true => Ok(()),
                false => Err(failed(format!(
                    "{self:?} was already filled with different data: {} keys, not {}",
                    state.rows.len(),
                    map.len()
                ))),
            };
        }
        *state = State { rows: map, filled: true, buckets: 0 };
        Ok(())
    }

    /// All keys in order, with their values. Of a dense table all buckets, as rows of a matrix if keys or
    /// values are scalars: those that are free have the empty key and a value of zeros.
    pub fn export(&self) -> Result<(Tensor, Tensor)> {
        let state = self.state.read();
        self.check_filled(&state)?;
        let rows = sorted(&state.rows)?;
        let Some(dense) = &self.dense else { return self.tensors(&rows) };
        let empty = self.split(&dense.empty)?;
        let zeros = Tensor::zeros(self.spec.value, self.spec.value_shape.clone())?;
        let Some(empty) = empty.first() else { return self.tensors(&rows) };
        let _room = Room::of(state.buckets.saturating_mul(size_of::<(&Key, &Tensor)>()))?;
        let mut buckets = vec![(empty, &zeros); state.buckets];
        let mut pace = Pace::new();
        for &(key, value) in rows.iter() {
            let mut at = key.place() as usize & (state.buckets - 1);
            let mut probes = 0;
            while buckets[at].0 != empty {
                pace.spend(1)?;
                probes += 1;
                at = (at + probes) & (state.buckets - 1);
            }
            buckets[at] = (key, value);
        }
        // Scalars are columns, as TensorFlow exports them from a dense table.
        let column = |t: Tensor| {
            if t.rank() == 1 {
                let n = t.elements();
                t.into_shape([n, 1])
            } else {
                Ok(t)
            }
        };
        let (keys, values) = self.tensors(&buckets)?;
        Ok((column(keys)?, column(values)?))
    }

    /// The keys and the values as tensors.
    fn tensors(&self, rows: &[(&Key, &Tensor)]) -> Result<(Tensor, Tensor)> {
        let each = self.spec.key_shape.elements().saturating_mul(size_of::<&Key>());
        let _room = Room::of(rows.len().saturating_mul(each))?;
        let mut flat = Vec::with_capacity(rows.len().saturating_mul(self.spec.key_shape.elements()));
        let mut pace = Pace::new();
        for (key, _) in rows {
            pace.spend(1)?;
            key.flatten(&mut flat);
        }
        let shape = Shape::new([rows.len()].into_iter().chain(self.spec.key_shape.dims().iter().copied()));
        let int = |key: &&Key| if let Key::Int(n) = key { *n } else { 0 };
        let text = |key: &&Key| if let Key::Text(s) = key { s.clone() } else { Str::default() };
        let keys = match self.spec.key {
            DType::Str => Tensor::strings(shape, flat.iter().map(text).collect())?,
            DType::I32 => Tensor::from_iter(shape, flat.iter().map(|k| int(k) as i32))?,
            _ => Tensor::from_iter(shape, flat.iter().map(int))?,
        };
        Ok((keys, self.gather(&[rows.len()], rows.iter().map(|(_, value)| *value))?))
    }

    fn check_mutable(&self, but: &str) -> Result<()> {
        match self.spec.kind {
            TableKind::Mutable => Ok(()),
            TableKind::Fixed => {
                Err(Error::unimplemented(format!("{self:?} cannot be changed after initialization: {but}"))
                    .with_help("use a mutable table"))
            }
        }
    }

    fn check_filled(&self, state: &State) -> Result<()> {
        match self.spec.kind == TableKind::Mutable || state.filled {
            true => Ok(()),
            false => Err(failed(format!("Table not initialized. It is {self:?}"))
                .with_help("run its initializer first, or `tables_initializer` for all tables")),
        }
    }

    /// The keys one by one, each with its value.
    fn rows(&self, keys: &Tensor, values: &Tensor) -> Result<Vec<(Key, Row)>> {
        let (batch, keys) = self.keys(keys)?;
        self.paired(&batch, keys, values)
    }

    /// As [`Table::rows`], without those that an export of a dense table made of free buckets.
    fn rows_to_import(&self, keys: &Tensor, values: &Tensor) -> Result<Vec<(Key, Row)>> {
        let (batch, keys) = self.keys_and_marks(keys)?;
        let mut rows = self.paired(&batch, keys, values)?;
        for mark in self.marks()? {
            rows.retain(|(key, _)| *key != mark);
        }
        Ok(rows)
    }

    fn paired(&self, batch: &[usize], keys: Charged<Key>, values: &Tensor) -> Result<Vec<(Key, Row)>> {
        let spec = &self.spec;
        let whole = Shape::new(batch.iter().chain(spec.value_shape.dims()).copied());
        ensure!(
            values.dtype() == spec.value && *values.shape() == whole,
            "Expected shape {whole} for value, got {}", values.shape();
            "`values` must be {}{whole} for these keys of {self:?}, but is {}{}",
            spec.value,
            values.dtype(),
            values.shape()
        );
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let flat = Shape::new([keys.len()].into_iter().chain(spec.value_shape.dims().iter().copied()));
        let values = values.reshape(flat)?;
        let mut pace = Pace::new();
        let row = |(i, key): (usize, &Key)| {
            pace.spend(1)?;
            let row = Row::new(own_row(&values, i)?)?;
            Ok((key.clone(), row))
        };
        keys.iter().enumerate().map(row).collect()
    }

    /// The keys one by one, and the shape they are arranged in.
    fn keys(&self, keys: &Tensor) -> Result<(Vec<usize>, Charged<Key>)> {
        let (batch, found) = self.keys_and_marks(keys)?;
        for (mark, what) in self.marks()?.iter().zip(["empty_key", "deleted_key"]) {
            if found.contains(mark) {
                return Err(invalid!(
                    "Using the {what} as a table key is not allowed";
                    "{mark} marks buckets of {self:?} and cannot be one of its keys"
                )
                .with_help(format!("make the table with an `{what}` that is no key of yours")));
            }
        }
        Ok((batch, found))
    }

    /// The keys that mark buckets of a dense table.
    fn marks(&self) -> Result<Vec<Key>> {
        let mut marks = Vec::new();
        for key in self.dense.iter().flat_map(Dense::reserved) {
            marks.extend(self.split(key)?.first().cloned());
        }
        Ok(marks)
    }

    fn keys_and_marks(&self, keys: &Tensor) -> Result<(Vec<usize>, Charged<Key>)> {
        let spec = &self.spec;
        let batch = keys.shape().dims().strip_suffix(spec.key_shape.dims());
        let batch = batch.filter(|_| keys.dtype() == spec.key).ok_or_else(|| {
            invalid!(
                "the keys of {self:?} are {}{} each, but `keys` is {}{}",
                spec.key,
                spec.key_shape,
                keys.dtype(),
                keys.shape()
            )
        })?;
        Ok((batch.to_vec(), self.split(keys)?))
    }

    fn split(&self, keys: &Tensor) -> Result<Charged<Key>> {
        let mut flat = Charged::with_room(keys.elements())?;
        let mut pace = Pace::new();
        let mut add = |key| pace.spend(1).and_then(|()| flat.push(key));
        match keys.dtype() {
            DType::I32 => keys.as_slice::<i32>()?.iter().try_for_each(|&n| add(Key::Int(n.into())))?,
            DType::I64 => keys.as_slice::<i64>()?.iter().try_for_each(|&n| add(Key::Int(n)))?,
            _ => keys.as_strs().unwrap_or_default().iter().try_for_each(|s| add(Key::Text(s.clone())))?,
        }
        if self.spec.key_shape.rank() == 0 {
            return Ok(flat);
        }
        let mut rows = Charged::new();
        for row in flat.chunks(self.spec.key_shape.elements().max(1)) {
            rows.push(Key::Row(Arc::new(Parts(Charged::copy_of(row)?))))?;
        }
        Ok(rows)
    }
}

/// The entries of a table by their keys.
fn sorted(rows: &HashMap<Key, Row>) -> Result<Charged<(&Key, &Tensor)>> {
    let mut all = Charged::with_room(rows.len())?;
    let mut pace = Pace::new();
    for (key, row) in rows {
        pace.spend(1)?;
        all.push((key, &row.value))?;
    }
    sort(&mut all, |(a, _), (b, _)| a.cmp(b))?;
    Ok(all)
}

/// A copy of a row. A shared row that lives long would keep the whole tensor alive.
fn own_row(values: &Tensor, i: usize) -> Result<Tensor> {
    let row = values.row(i)?;
    if row.as_scalar().is_some() {
        return Ok(row);
    }
    let mut own = Assembler::new(row.dtype(), row.shape().clone())?;
    own.push(&row, 0, row.elements())?;
    own.finish()
}

/// A value as in TensorFlow's messages: without type and quotes.
fn plain(shown: &str) -> &str {
    let value = shown.split_once(' ').map_or(shown, |(_, value)| value);
    value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value)
}

fn failed(what: String) -> Error {
    Error::new(Code::FailedPrecondition, what)
}

impl Key {
    /// The number by which buckets are found: of an integer TensorFlow's hash.
    fn place(&self) -> u64 {
        match self {
            Key::Int(n) => *n as u64,
            Key::Row(keys) if keys.0.len() == 1 => keys.0[0].place(),
            other => {
                let mut hasher = DefaultHasher::new();
                other.hash(&mut hasher);
                hasher.finish()
            }
        }
    }

    fn flatten<'a>(&'a self, flat: &mut Vec<&'a Key>) {
        match self {
            Key::Row(keys) => keys.0.iter().for_each(|key| key.flatten(flat)),
            key => flat.push(key),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Int(n) => n.fmt(f),
            Key::Text(text) => write!(f, "{text:?}"),
            Key::Row(keys) => {
                let keys: Vec<String> = keys.0.iter().map(Key::to_string).collect();
                write!(f, "[{}]", keys.join(", "))
            }
        }
    }
}

impl Opaque for Table {
    fn kind(&self) -> &'static str {
        "table"
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.op, self.name)
    }
}
