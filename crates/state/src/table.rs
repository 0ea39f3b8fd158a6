//! [`Table`]: key-value tables that outlive a step.
//!
//! Definition: TensorFlow's `HashTable`, which is filled once, and `MutableHashTable`,
//! `MutableHashTableOfTensors` and `MutableDenseHashTable`. Unlike there, a table is exported in the order of
//! its keys. What an entry takes besides the elements of its value is charged, too.

#![expect(
    clippy::mutable_key_type,
    reason = "the budget that a string is charged to is no part of what it is"
)]

use millstream_tensor::budget::Room;
use millstream_tensor::{Assembler, Code, DType, Error, Opaque, Result, Shape, Str, Tensor, ensure, invalid};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::fmt;

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
    /// Keys with a special meaning in TensorFlow's implementation (empty, deleted), which are refused here as
    /// there.
    reserved: Vec<Tensor>,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    rows: HashMap<Key, Row>,
    /// Whether a fixed table was filled.
    filled: bool,
}

/// The value of a key, and the memory that its entry takes.
struct Row {
    value: Tensor,
    _room: Room,
}

impl Row {
    fn new(key: &Key, value: Tensor) -> Result<Row> {
        // A map is half empty after it has grown, and has a byte of its own for each place.
        const ENTRY: usize = 2 * (size_of::<(Key, Row)>() + 1);
        let parts = if let Key::Row(parts) = key { size_of_val::<[Key]>(parts) } else { 0 };
        Ok(Row { value, _room: Room::of(ENTRY + parts)? })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Int(i64),
    Text(Str),
    Row(Box<[Key]>),
}

impl Table {
    /// An empty table. `op` is the type of the op that makes it.
    pub fn new(
        name: impl Into<String>,
        op: &'static str,
        spec: TableSpec,
        reserved: Vec<Tensor>,
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
        for (i, key) in reserved.iter().enumerate() {
            ensure!(
                key.dtype() == spec.key && *key.shape() == spec.key_shape,
                "the empty and the deleted key must be {}{} like all keys, but one is {}{}",
                spec.key,
                spec.key_shape,
                key.dtype(),
                key.shape()
            );
            ensure!(
                !reserved[..i].iter().any(|other| other.bits_eq(key)),
                "the empty and the deleted key must not be equal"
            );
        }
        Ok(Table { name: name.into(), op, spec, reserved, state: RwLock::default() })
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
        for row in rows {
            out.push(row, 0, row.elements())?;
        }
        out.finish()
    }

    /// Inserts keys; the values of keys that are already there are replaced.
    pub fn insert(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        self.check_mutable("keys are not inserted")?;
        let rows = self.rows(keys, values)?;
        self.state.write().rows.extend(rows);
        Ok(())
    }

    /// Removes keys. Keys that are not there are ignored.
    pub fn remove(&self, keys: &Tensor) -> Result<()> {
        self.check_mutable("keys are not removed")?;
        let (_, keys) = self.keys(keys)?;
        let mut state = self.state.write();
        for key in keys {
            state.rows.remove(&key);
        }
        Ok(())
    }

    /// Replaces the whole content. A fixed table is filled.
    pub fn import(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        if self.spec.kind == TableKind::Fixed {
            return self.fill(keys, values);
        }
        let rows = self.rows(keys, values)?.into_iter().collect();
        let old = std::mem::replace(&mut self.state.write().rows, rows);
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
        for (key, row) in rows {
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
        *state = State { rows: map, filled: true };
        Ok(())
    }

    /// All keys in order, with their values.
    pub fn export(&self) -> Result<(Tensor, Tensor)> {
        let state = self.state.read();
        self.check_filled(&state)?;
        let mut rows: Vec<(&Key, &Row)> = state.rows.iter().collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        let mut flat = Vec::new();
        for (key, _) in &rows {
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
        Ok((keys, self.gather(&[rows.len()], rows.iter().map(|(_, row)| &row.value))?))
    }

    fn check_mutable(&self, but: &str) -> Result<()> {
        match self.spec.kind {
            TableKind::Mutable => Ok(()),
            TableKind::Fixed => {
                Err(Error::unimplemented(format!("{self:?} is filled once and then stays as it is: {but}"))
                    .with_help("use a mutable table"))
            }
        }
    }

    fn check_filled(&self, state: &State) -> Result<()> {
        match self.spec.kind == TableKind::Mutable || state.filled {
            true => Ok(()),
            false => Err(failed(format!("Table not initialized. It is {self:?}"))
                .with_help("run its initializer first, or all with `tables_initializer`")),
        }
    }

    /// The keys one by one, each with its value.
    fn rows(&self, keys: &Tensor, values: &Tensor) -> Result<Vec<(Key, Row)>> {
        let (batch, keys) = self.keys(keys)?;
        let spec = &self.spec;
        let whole = Shape::new(batch.iter().chain(spec.value_shape.dims()).copied());
        ensure!(
            values.dtype() == spec.value && *values.shape() == whole,
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
        let row = |(i, key)| {
            let row = Row::new(&key, own_row(&values, i)?)?;
            Ok((key, row))
        };
        keys.into_iter().enumerate().map(row).collect()
    }

    /// The keys one by one, and the shape they are arranged in.
    fn keys(&self, keys: &Tensor) -> Result<(Vec<usize>, Vec<Key>)> {
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
        let found = self.split(keys)?;
        for reserved in &self.reserved {
            let reserved = self.split(reserved)?;
            if let Some(key) = found.iter().find(|key| reserved.first() == Some(key)) {
                return Err(invalid!(
                    "{key} is the empty or the deleted key of {self:?} and cannot be one of its keys"
                ));
            }
        }
        Ok((batch.to_vec(), found))
    }

    fn split(&self, keys: &Tensor) -> Result<Vec<Key>> {
        let flat: Vec<Key> = match keys.dtype() {
            DType::I32 => keys.as_slice::<i32>()?.iter().map(|&n| Key::Int(n.into())).collect(),
            DType::I64 => keys.as_slice::<i64>()?.iter().map(|&n| Key::Int(n)).collect(),
            _ => keys.as_strs().unwrap_or_default().iter().map(|s| Key::Text(s.clone())).collect(),
        };
        let each = self.spec.key_shape.elements();
        Ok(match self.spec.key_shape.rank() {
            0 => flat,
            _ => flat.chunks(each.max(1)).map(|row| Key::Row(row.into())).collect(),
        })
    }
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
    fn flatten<'a>(&'a self, flat: &mut Vec<&'a Key>) {
        match self {
            Key::Row(keys) => keys.iter().for_each(|key| key.flatten(flat)),
            key => flat.push(key),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Int(n) => n.fmt(f),
            Key::Text(text) => write!(f, "{text:?}"),
            Key::Row(keys) => f.debug_list().entries(keys).finish(),
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
