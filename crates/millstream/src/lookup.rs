//! Tables: values by key, filled from tensors or a vocabulary file, or updated by runs.
//!
//! ```
//! use millstream::lookup::{Lookup, index_table_from_tensor};
//! use millstream::prelude::*;
//! let g = Graph::new();
//! let table = index_table_from_tensor(&g, ["emerson", "lake", "palmer"]).num_oov_buckets(1).build()?;
//! let words = g.constant_tensor("words", "str[3] [\"lake\" \"emerson\" \"king\"]".parse()?);
//! let ids = table.lookup(words)?;
//! let session = Session::new(&g)?;
//! session.run::<()>(g.tables_initializer(), feed![])?;
//! let ids: Vec<i64> = session.run(ids, feed![])?;
//! assert_eq!(ids, [1, 0, 3]);
//! # Ok::<(), millstream::Error>(())
//! ```
//!
//! Definition: `tf.lookup` and `tf.contrib.lookup` of TensorFlow 1.15, with its node names. Unlike there, a
//! table of values is named after its node, not by random letters, and tables are exported in the order of
//! their keys.
//!
//! Long because every item has an example.

use crate::ops::{Ops, OutputOps};
use crate::options::{Options, Start};
use crate::sugar::{Functions, Methods};
use crate::value::Value;
use millstream_graph::{CollectionItem, Graph, Op, Output};
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, ensure, invalid};
use std::panic::Location;

/// The collection of the operations that fill tables.
///
/// ```
/// use millstream::lookup::{HashTable, TABLE_INITIALIZERS, TableInitializer};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// HashTable::new(&g, TableInitializer::key_values(&g, ["tea"], [3i64])?, -1i64)?;
/// assert_eq!(g.collection(TABLE_INITIALIZERS).len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub const TABLE_INITIALIZERS: &str = "table_initializer";
/// The collection of the names of files that belong to the graph.
///
/// ```
/// use millstream::lookup::{ASSET_FILEPATHS, index_table_from_file};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// index_table_from_file(&g, "words.txt").build()?; // the file is opened when the table is filled
/// assert_eq!(g.collection(ASSET_FILEPATHS).len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub const ASSET_FILEPATHS: &str = "asset_filepaths";

/// A column of a vocabulary file.
///
/// ```
/// use millstream::lookup::{Column, HashTable, Lookup, TableInitializer};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// # let file = std::env::temp_dir().join(format!("millstream-column-{}.txt", std::process::id()));
/// std::fs::write(&file, "tea 3\ncoffee 2\n").unwrap();
/// let (name, count) = ((DType::Str, Column::Index(0)), (DType::I64, Column::Index(1)));
/// let lines = TableInitializer::text_file(file.to_str().unwrap(), name, count).delimiter(' ');
/// let table = HashTable::new(&g, lines, -1i64)?;
/// let found = table.lookup(g.pack(["coffee", "milk"]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [2, -1]);
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The whole line.
    WholeLine,
    /// The number of the line, starting at 0.
    LineNumber,
    /// A field between delimiters, counted from 0.
    Index(u32),
}

impl Column {
    fn number(self) -> i64 {
        match self {
            Column::WholeLine => -2,
            Column::LineNumber => -1,
            Column::Index(i) => i.into(),
        }
    }
}

/// The initial content of a table.
///
/// ```
/// use millstream::lookup::{HashTable, Lookup, TableInitializer};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let prices = TableInitializer::key_values(&g, ["tea", "coffee"], [2.5f32, 3.0])?;
/// let table = HashTable::new(&g, prices, 0.0f32)?;
/// let found = table.lookup(g.pack(["coffee", "milk"]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// assert_eq!(session.run::<Vec<f32>>(found, feed![])?, [3.0, 0.0]);
/// # Ok::<(), millstream::Error>(())
/// ```
pub struct TableInitializer<'g> {
    source: Source<'g>,
    key: DType,
    value: DType,
    scope: &'static str,
}

impl std::fmt::Debug for TableInitializer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableInitializer")
            .field("key", &self.key)
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

enum Source<'g> {
    Tensors { keys: Output<'g>, values: Output<'g> },
    File { name: String, key: Column, value: Column, vocab_size: Option<u64>, delimiter: char },
}

impl<'g> TableInitializer<'g> {
    /// Keys and values, vectors of equal length (`tf.lookup.KeyValueTensorInitializer`).
    ///
    /// ```
    /// use millstream::lookup::{HashTable, Lookup, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, [1i64, 2], ["one", "two"])?, "many")?;
    /// let found = table.lookup(g.constant([2i64, 3]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.tables_initializer(), feed![])?;
    /// assert_eq!(session.run::<Tensor>(found, feed![])?.to_string(), r#"str[2] ["two" "many"]"#);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn key_values(
        g: &'g Graph,
        keys: impl Into<Value<'g>>,
        values: impl Into<Value<'g>>,
    ) -> Result<Self> {
        let at = Location::caller();
        let (keys, values) = (keys.into().place(g, "keys", at), values.into().place(g, "values", at));
        Self::of_outputs(keys, values, "key_value_init")
    }

    fn of_outputs(keys: Output<'g>, values: Output<'g>, scope: &'static str) -> Result<Self> {
        let (key, value) = (keys.dtype()?, values.dtype()?);
        Ok(TableInitializer { source: Source::Tensors { keys, values }, key, value, scope })
    }

    /// Two columns of a text file as keys and values (`tf.lookup.TextFileInitializer`).
    ///
    /// ```
    /// use millstream::lookup::{Column, HashTable, Lookup, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-text-file-{}.txt", std::process::id()));
    /// std::fs::write(&file, "tea\ncoffee\n").unwrap();
    /// let (word, line) = ((DType::Str, Column::WholeLine), (DType::I64, Column::LineNumber));
    /// let lines = TableInitializer::text_file(file.to_str().unwrap(), word, line);
    /// let table = HashTable::new(&g, lines, -1i64)?;
    /// let found = table.lookup(g.pack(["coffee"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.tables_initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [1]);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn text_file(name: impl Into<String>, key: (DType, Column), value: (DType, Column)) -> Self {
        let source =
            Source::File { name: name.into(), key: key.1, value: value.1, vocab_size: None, delimiter: '\t' };
        TableInitializer { source, key: key.0, value: value.0, scope: "text_file_init" }
    }

    /// Sets how many lines of the file to read; fewer lines are an error.
    ///
    /// ```
    /// use millstream::lookup::{Column, HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-vocab-{}.txt", std::process::id()));
    /// std::fs::write(&file, "tea\ncoffee\nmilk\n").unwrap();
    /// let (word, line) = ((DType::Str, Column::WholeLine), (DType::I64, Column::LineNumber));
    /// let first_two = TableInitializer::text_file(file.to_str().unwrap(), word, line).vocab_size(2);
    /// let table = HashTable::new(&g, first_two, -1i64)?;
    /// let size = table.size();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<i64>(size, feed![])?, 2);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn vocab_size(mut self, lines: u64) -> Self {
        if let Source::File { vocab_size, .. } = &mut self.source {
            *vocab_size = Some(lines);
        }
        self
    }

    /// Sets the delimiter between the columns of the file; a tab by default.
    ///
    /// ```
    /// use millstream::lookup::{Column, HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-delimiter-{}.txt", std::process::id()));
    /// std::fs::write(&file, "tea,3\n").unwrap();
    /// let (name, count) = ((DType::Str, Column::Index(0)), (DType::I64, Column::Index(1)));
    /// let lines = TableInitializer::text_file(file.to_str().unwrap(), name, count).delimiter(',');
    /// let table = HashTable::new(&g, lines, -1i64)?;
    /// let found = table.lookup(g.pack(["tea"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [3]);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn delimiter(mut self, c: char) -> Self {
        if let Source::File { delimiter, .. } = &mut self.source {
            *delimiter = c;
        }
        self
    }

    fn initialize(self, g: &'g Graph, table: Output<'g>, file: Option<Output<'g>>) -> Result<Op<'g>> {
        let op = g.name_scope(self.scope, || match (self.source, file) {
            (Source::Tensors { keys, values }, _) => {
                g.op("LookupTableImportV2").input(table).input(keys).input(values).try_finish()
            }
            (Source::File { name, key, value, vocab_size, delimiter }, file) => g
                .op("InitializeTableFromTextFileV2")
                .input(table)
                .input(file.unwrap_or_else(|| g.constant(name)))
                .attr("key_index", key.number())
                .attr("value_index", value.number())
                .attr("vocab_size", vocab_size.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX)))
                .attr("delimiter", delimiter.to_string())
                .try_finish(),
        })?;
        g.add_to_collection(TABLE_INITIALIZERS, CollectionItem::Node(op.name()));
        Ok(op)
    }
}

/// The part that all tables share.
#[derive(Clone, Copy, Debug)]
struct Core<'g> {
    handle: Output<'g>,
    default: Output<'g>,
    key: DType,
    value: DType,
}

impl<'g> Core<'g> {
    fn graph(&self) -> &'g Graph {
        self.handle.graph()
    }

    /// Returns the last part of the table's name with a suffix: the scope of nodes that use it.
    fn scope(&self, suffix: &str) -> String {
        let name = self.handle.op().name();
        format!("{}_{suffix}", name.rsplit('/').next().unwrap_or_default())
    }

    #[track_caller]
    fn find(&self, keys: Output<'g>, suffix: &str) -> Result<Output<'g>> {
        let given = keys.dtype()?;
        ensure!(given == self.key, "the keys of `{}` are {}, not {given}", self.handle.op().name(), self.key);
        let op = self.graph().name_scope(&self.scope(suffix), || {
            self.graph()
                .op("LookupTableFindV2")
                .input(self.handle)
                .input(keys)
                .input(self.default)
                .try_finish()
        })?;
        Ok(op.output(0))
    }

    #[track_caller]
    fn size(&self) -> Output<'g> {
        let g = self.graph();
        g.name_scope(&self.scope("Size"), || g.lookup().lookup_table_size_v2(self.handle))
    }

    #[track_caller]
    fn export(&self) -> Result<(Output<'g>, Output<'g>)> {
        let op = self.graph().op("LookupTableExportV2").input(self.handle);
        let op = op.attr("Tkeys", self.key).attr("Tvalues", self.value).try_finish()?;
        Ok((op.output(0), op.output(1)))
    }
}

fn default_value<'g>(
    g: &'g Graph,
    value: Value<'g>,
    dtype: DType,
    name: &str,
    at: &'static Location<'static>,
) -> Result<Output<'g>> {
    let value = value.place(g, name, at);
    let given = value.dtype()?;
    ensure!(given == dtype, "the values of the table are {dtype}, but its default is {given}");
    Ok(value)
}

/// A table that its initializer fills once.
///
/// ```
/// use millstream::lookup::{HashTable, Lookup, TableInitializer};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let init = TableInitializer::key_values(&g, [10i64, 20], [0.5f32, 1.5])?;
/// let table = HashTable::new(&g, init, -1f32)?;
/// let x = table.lookup(g.constant([20i64, 30]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// let x: Vec<f32> = session.run(x, feed![])?;
/// assert_eq!(x, [1.5, -1.0]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HashTable<'g> {
    core: Core<'g>,
    initializer: Op<'g>,
}

impl<'g> HashTable<'g> {
    /// Adds a table that `init` fills. Missing keys have the value `default`.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, [1i64, 2], [0.5f32, 1.5])?, 0.0f32)?;
    /// let found = table.lookup(g.constant([2i64, 9]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<f32>>(found, feed![])?, [1.5, 0.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new(
        g: impl Start<'g>,
        init: TableInitializer<'g>,
        default: impl Into<Value<'g>>,
    ) -> Result<HashTable<'g>> {
        Self::shared(g.options(), init, default.into(), "", Location::caller())
    }

    fn shared(
        options: Options<'g>,
        init: TableInitializer<'g>,
        default: Value<'g>,
        shared_name: &str,
        at: &'static Location<'static>,
    ) -> Result<HashTable<'g>> {
        let g = options.graph();
        let (key, value) = (init.key, init.value);
        let file = match &init.source {
            Source::File { name, .. } => {
                let file = g.constant_tensor("asset_path", Tensor::str(name.as_str()));
                g.add_to_collection(ASSET_FILEPATHS, CollectionItem::Node(file.name()));
                Some(file)
            }
            Source::Tensors { .. } => None,
        };
        let default = default_value(g, default, value, "Const", at)?;
        let node = options.start_as("HashTableV2", "hash_table").at(at).attr("shared_name", shared_name);
        let handle = node.attr("key_dtype", key).attr("value_dtype", value).try_finish()?.output(0);
        let initializer = init.initialize(g, handle, file)?;
        Ok(HashTable { core: Core { handle, default, key, value }, initializer })
    }

    /// Returns the handle, a resource.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, ["tea"], [3i64])?, -1i64)?;
    /// assert_eq!(table.handle().dtype()?, DType::Resource);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn handle(&self) -> Output<'g> {
        self.core.handle
    }

    /// Returns the value of missing keys.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, ["tea"], [3i64])?, -1i64)?;
    /// assert_eq!(Session::new(&g)?.run::<i64>(table.default_value(), feed![])?, -1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn default_value(&self) -> Output<'g> {
        self.core.default
    }

    /// Returns the operation that fills the table; [`Lookup::tables_initializer`] runs those of all tables.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, ["tea"], [3i64])?, -1i64)?;
    /// let size = table.size();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<i64>(size, feed![])?, 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn initializer(&self) -> Op<'g> {
        self.initializer
    }

    /// Returns the values of these keys.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, ["tea"], [3i64])?, -1i64)?;
    /// let found = table.lookup(g.pack(["tea", "milk"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [3, -1]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn lookup(&self, keys: Output<'g>) -> Result<Output<'g>> {
        self.core.find(keys, "Lookup")
    }

    /// Returns the number of keys, an `int64` scalar.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, ["a", "b"], [1i64, 2])?, -1i64)?;
    /// let size = table.size();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<i64>(size, feed![])?, 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.core.size()
    }

    /// Returns all keys, in order, and their values.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, [5i64, 4], [50i64, 40])?, -1i64)?;
    /// let (keys, values) = table.export()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// let (keys, values): (Vec<i64>, Vec<i64>) = session.run((keys, values), feed![])?;
    /// assert_eq!((keys, values), (vec![4, 5], vec![40, 50]));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn export(&self) -> Result<(Output<'g>, Output<'g>)> {
        let scope = self.core.scope("Export");
        let g = self.core.graph();
        let op = g.op("LookupTableExportV2").name(scope).input(self.core.handle);
        let op = op.attr("Tkeys", self.core.key).attr("Tvalues", self.core.value).try_finish()?;
        Ok((op.output(0), op.output(1)))
    }
}

/// A table that runs update.
///
/// ```
/// use millstream::lookup::MutableHashTable;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let table = MutableHashTable::new(&g, DType::I64, 0f32)?;
/// let (key, value) = (g.placeholder::<i64>("key", shape![_]), g.placeholder::<f32>("value", shape![_]));
/// let (insert, find) = (table.insert(key, value)?, table.lookup(key)?);
/// let session = Session::new(&g)?;
/// session.run::<()>(insert, feed![key => [7i64, 8], value => [0.7f32, 0.8]])?;
/// let found: Vec<f32> = session.run(find, feed![key => [8i64, 9]])?;
/// assert_eq!(found, [0.8, 0.0]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MutableHashTable<'g> {
    core: Core<'g>,
}

impl<'g> MutableHashTable<'g> {
    /// Adds an empty table. Its values have the dtype and shape of `default`, the value of missing keys.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let counts = MutableHashTable::new(&g, DType::Str, 0i64)?;
    /// let found = counts.lookup(g.pack(["tea"]))?;
    /// assert_eq!(Session::new(&g)?.run::<Vec<i64>>(found, feed![])?, [0]); // the default
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new(g: impl Start<'g>, key: DType, default: impl Into<Value<'g>>) -> Result<MutableHashTable<'g>> {
        let (options, at) = (g.options(), Location::caller());
        let default = default.into().place(options.graph(), "Const", at);
        let (value, shape) = (default.dtype()?, default.shape());
        let shape: Shape = shape.full().ok_or_else(|| {
            invalid!(
                "the default of a table must have a known shape, which is that of its values, not {shape}"
            )
        })?;
        let op = if shape.rank() == 0 { "MutableHashTableV2" } else { "MutableHashTableOfTensorsV2" };
        let node = options.start_as(op, "MutableHashTable").at(at).attr("use_node_name_sharing", true);
        let node = node.attr("key_dtype", key).attr("value_dtype", value);
        let node = if shape.rank() == 0 { node } else { node.attr("value_shape", PartialShape::from(shape)) };
        Ok(MutableHashTable { core: Core { handle: node.try_finish()?.output(0), default, key, value } })
    }

    /// Adds an empty dense table (`tf.contrib.lookup.MutableDenseHashTable`). Its keys have the dtype and
    /// shape of `empty_key`; no key may equal `empty_key` or `deleted_key`. Its values have the dtype and
    /// shape of `default`, the value of missing keys.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = MutableHashTable::dense(&g, -1f32, [-1i64, -1], [-2i64, -2])?;
    /// let (places, heights) = (g.constant([[0i64, 1], [2, 3]]), g.constant([0.5f32, 1.5]));
    /// let (insert, find) = (table.insert(places, heights)?, table.lookup(g.constant([[2i64, 3], [4, 5]]))?);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(insert, feed![])?;
    /// let found: Vec<f32> = session.run(find, feed![])?;
    /// assert_eq!(found, [1.5, -1.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn dense(
        g: impl Start<'g>,
        default: impl Into<Value<'g>>,
        empty_key: impl Into<Value<'g>>,
        deleted_key: impl Into<Value<'g>>,
    ) -> Result<MutableHashTable<'g>> {
        let (options, at) = (g.options(), Location::caller());
        let g = options.graph();
        let default = default.into().place(g, "default_value", at);
        let (empty, deleted) =
            (empty_key.into().place(g, "empty_key", at), deleted_key.into().place(g, "deleted_key", at));
        let (key, value, shape) = (empty.dtype()?, default.dtype()?, default.shape());
        let node = options.start_as("MutableDenseHashTableV2", "MutableDenseHashTable").at(at);
        let node = node.input(empty).input(deleted).attr("use_node_name_sharing", true);
        let node = node.attr("value_dtype", value).attr("value_shape", shape);
        Ok(MutableHashTable { core: Core { handle: node.try_finish()?.output(0), default, key, value } })
    }

    /// Returns the handle, a resource.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let counts = MutableHashTable::new(&g, DType::Str, 0i64)?;
    /// assert_eq!(counts.handle().dtype()?, DType::Resource);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn handle(&self) -> Output<'g> {
        self.core.handle
    }

    /// Returns the values of these keys.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = MutableHashTable::new(&g, DType::I64, -1i64)?;
    /// let put = table.insert(g.constant([1i64]), g.constant([10i64]))?;
    /// let found = table.lookup(g.constant([1i64, 2]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [10, -1]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn lookup(&self, keys: Output<'g>) -> Result<Output<'g>> {
        self.core.find(keys, "lookup_table_find")
    }

    /// Inserts keys with their values.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = MutableHashTable::new(&g, DType::Str, 0i64)?;
    /// let (word, count) = (g.pack(["tea"]), g.constant([3i64]));
    /// let (put, found) = (table.insert(word, count)?, table.lookup(word)?);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn insert(&self, keys: Output<'g>, values: Output<'g>) -> Result<Op<'g>> {
        let g = self.core.graph();
        g.name_scope(&self.core.scope("lookup_table_insert"), || {
            g.op("LookupTableInsertV2").input(self.core.handle).input(keys).input(values).try_finish()
        })
    }

    /// Removes keys.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = MutableHashTable::new(&g, DType::I64, 0i64)?;
    /// let keys = g.constant([1i64, 2]);
    /// let (put, remove) = (table.insert(keys, keys)?, table.remove(g.constant([1i64]))?);
    /// let size = table.size();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// session.run::<()>(remove, feed![])?;
    /// assert_eq!(session.run::<i64>(size, feed![])?, 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn remove(&self, keys: Output<'g>) -> Result<Op<'g>> {
        let g = self.core.graph();
        g.name_scope(&self.core.scope("lookup_table_remove"), || {
            g.op("LookupTableRemoveV2").input(self.core.handle).input(keys).try_finish()
        })
    }

    /// Returns the number of keys, an `int64` scalar.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let size = MutableHashTable::new(&g, DType::I64, -1i64)?.size();
    /// assert_eq!(Session::new(&g)?.run::<i64>(size, feed![])?, 0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.core.size()
    }

    /// Returns all keys, in order, and their values.
    ///
    /// ```
    /// use millstream::lookup::MutableHashTable;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = MutableHashTable::new(&g, DType::I64, -1i64)?;
    /// let put = table.insert(g.constant([2i64, 1]), g.constant([20i64, 10]))?;
    /// let (keys, values) = table.export()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// let (keys, values): (Vec<i64>, Vec<i64>) = session.run((keys, values), feed![])?;
    /// assert_eq!((keys, values), (vec![1, 2], vec![10, 20]));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn export(&self) -> Result<(Output<'g>, Output<'g>)> {
        let scope = self.core.scope("lookup_table_export_values");
        self.core.graph().name_scope(&scope, || self.core.export())
    }
}

/// The hash that maps out-of-vocabulary keys to buckets.
///
/// ```
/// use millstream::lookup::{Hasher, Lookup, index_table_from_tensor};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let table = index_table_from_tensor(&g, ["a"]).num_oov_buckets(10).hasher(Hasher::Fast).build()?;
/// let indices = table.lookup(g.pack(["a", "z"]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// let indices: Vec<i64> = session.run(indices, feed![])?;
/// assert!(indices[0] == 0 && (1..11).contains(&indices[1]));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hasher {
    /// A fast hash; keys can be chosen so that they collide in one bucket.
    #[default]
    Fast,
    /// A hash keyed by two secret numbers, which makes such collisions hard to find.
    Strong([i64; 2]),
}

/// A builder of a table of indices, from [`index_table_from_file`] or [`index_table_from_tensor`].
///
/// ```
/// use millstream::lookup::{Hasher, index_table_from_tensor};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let table = index_table_from_tensor(&g, ["a", "b"]).num_oov_buckets(2).hasher(Hasher::Fast).build()?;
/// let size = table.size();
/// let session = Session::new(&g)?;
/// session.run::<()>(table.initializer(), feed![])?;
/// assert_eq!(session.run::<i64>(size, feed![])?, 4);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`build` adds the table"]
pub struct IndexTableBuilder<'g> {
    options: Options<'g>,
    vocabulary: Vocabulary<'g>,
    key: DType,
    num_oov_buckets: u32,
    default: i64,
    hasher: Hasher,
    columns: (Column, Column),
    vocab_size: Option<u64>,
    delimiter: char,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for IndexTableBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexTableBuilder")
            .field("key", &self.key)
            .field("num_oov_buckets", &self.num_oov_buckets)
            .finish_non_exhaustive()
    }
}

enum Vocabulary<'g> {
    File(String),
    Values(Value<'g>),
}

/// Describes a table of the lines of a file: the value of a key is the number of its line, starting at 0.
///
/// ```
/// use millstream::lookup::{Lookup, index_table_from_file};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// # let file = std::env::temp_dir().join(format!("millstream-index-{}.txt", std::process::id()));
/// std::fs::write(&file, "tea\ncoffee\n").unwrap();
/// let table = index_table_from_file(&g, file.to_str().unwrap()).num_oov_buckets(1).build()?;
/// let indices = table.lookup(g.pack(["coffee", "milk"]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// assert_eq!(session.run::<Vec<i64>>(indices, feed![])?, [1, 2]);
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn index_table_from_file<'g>(g: impl Start<'g>, file: impl Into<String>) -> IndexTableBuilder<'g> {
    IndexTableBuilder::new(g.options(), Vocabulary::File(file.into()), Location::caller())
}

/// Describes a table of the elements of a vector: the value of a key is its index.
///
/// ```
/// use millstream::lookup::{Lookup, index_table_from_tensor};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let table = index_table_from_tensor(&g, ["a", "b"]).build()?;
/// let indices = table.lookup(g.pack(["b", "z"]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// assert_eq!(session.run::<Vec<i64>>(indices, feed![])?, [1, -1]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn index_table_from_tensor<'g>(
    g: impl Start<'g>,
    vocabulary: impl Into<Value<'g>>,
) -> IndexTableBuilder<'g> {
    IndexTableBuilder::new(g.options(), Vocabulary::Values(vocabulary.into()), Location::caller())
}

impl<'g> IndexTableBuilder<'g> {
    fn new(options: Options<'g>, vocabulary: Vocabulary<'g>, at: &'static Location<'static>) -> Self {
        IndexTableBuilder {
            options,
            vocabulary,
            key: DType::Str,
            num_oov_buckets: 0,
            default: -1,
            hasher: Hasher::Fast,
            columns: (Column::WholeLine, Column::LineNumber),
            vocab_size: None,
            delimiter: '\t',
            at,
        }
    }

    /// Sets the number of out-of-vocabulary buckets: other keys hash to one of this many indices after those
    /// of the vocabulary.
    ///
    /// ```
    /// use millstream::lookup::{Lookup, index_table_from_tensor};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = index_table_from_tensor(&g, ["a", "b"]).num_oov_buckets(1).build()?;
    /// let indices = table.lookup(g.pack(["b", "z"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.tables_initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(indices, feed![])?, [1, 2]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn num_oov_buckets(mut self, n: u32) -> Self {
        self.num_oov_buckets = n;
        self
    }

    /// Sets the index of out-of-vocabulary keys if there are no buckets; -1 by default.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_tensor;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = index_table_from_tensor(&g, ["a", "b"]).default_value(7).build()?;
    /// let found = table.lookup(g.pack(["z"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [7]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn default_value(mut self, index: i64) -> Self {
        self.default = index;
        self
    }

    /// Sets the hash that selects a bucket.
    ///
    /// ```
    /// use millstream::lookup::{Hasher, index_table_from_tensor};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = index_table_from_tensor(&g, ["a"]).num_oov_buckets(1).hasher(Hasher::Fast).build()?;
    /// let found = table.lookup(g.pack(["z"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [1]); // the only bucket
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn hasher(mut self, hasher: Hasher) -> Self {
        self.hasher = hasher;
        self
    }

    /// Sets the dtype of the keys in the file: strings (the default) or `i64`.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_file;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-key-dtype-{}.txt", std::process::id()));
    /// std::fs::write(&file, "100\n200\n").unwrap();
    /// let table = index_table_from_file(&g, file.to_str().unwrap()).key_dtype(DType::I64).build()?;
    /// let found = table.lookup(g.constant([200i64]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [1]);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn key_dtype(mut self, dtype: DType) -> Self {
        self.key = dtype;
        self
    }

    /// Sets the columns of the key and the index in a line of the file.
    ///
    /// ```
    /// use millstream::lookup::{Column, index_table_from_file};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-columns-{}.txt", std::process::id()));
    /// std::fs::write(&file, "7\ttea\n9\tcoffee\n").unwrap();
    /// let table = index_table_from_file(&g, file.to_str().unwrap())
    ///     .columns(Column::Index(1), Column::Index(0)) // the word, and its number
    ///     .build()?;
    /// let found = table.lookup(g.pack(["coffee"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [9]);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn columns(mut self, key: Column, value: Column) -> Self {
        self.columns = (key, value);
        self
    }

    /// Sets how many lines of the file to read; fewer lines are an error.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_file;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-vocab-index-{}.txt", std::process::id()));
    /// std::fs::write(&file, "tea\ncoffee\nmilk\n").unwrap();
    /// let table = index_table_from_file(&g, file.to_str().unwrap()).vocab_size(2).build()?;
    /// let found = table.lookup(g.pack(["milk"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [-1]); // the third line was not read
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn vocab_size(mut self, lines: u64) -> Self {
        self.vocab_size = Some(lines);
        self
    }

    /// Sets the delimiter between the columns of the file; a tab by default.
    ///
    /// ```
    /// use millstream::lookup::{Column, index_table_from_file};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-commas-{}.txt", std::process::id()));
    /// std::fs::write(&file, "tea,7\n").unwrap();
    /// let table = index_table_from_file(&g, file.to_str().unwrap())
    ///     .columns(Column::Index(0), Column::Index(1))
    ///     .delimiter(',')
    ///     .build()?;
    /// let found = table.lookup(g.pack(["tea"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [7]);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn delimiter(mut self, c: char) -> Self {
        self.delimiter = c;
        self
    }

    /// Adds the table.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_tensor;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(index_table_from_tensor(&g, ["a", "b"]).build().is_ok());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn build(self) -> Result<IndexTable<'g>> {
        let g = self.options.graph();
        let at = self.at;
        let (num_oov_buckets, hasher, default) = (self.num_oov_buckets, self.hasher, self.default);
        let scope = self.options.name_or("string_to_index");
        let table = g.name_scope(&scope, || match self.vocabulary {
            Vocabulary::File(file) => g.name_scope("hash_table", || {
                let columns = (self.columns.0.number(), self.columns.1.number());
                let size = self.vocab_size.map_or(String::new(), |n| format!("_{n}"));
                let shared = format!("hash_table_{file}{size}_{}_{}", columns.0, columns.1);
                let mut init = TableInitializer::text_file(
                    file,
                    (self.key, self.columns.0),
                    (DType::I64, self.columns.1),
                )
                .delimiter(self.delimiter);
                if let Some(n) = self.vocab_size {
                    init = init.vocab_size(n);
                }
                init.scope = "table_init";
                HashTable::shared(g.options(), init, default.into(), &shared, at)
            }),
            Vocabulary::Values(keys) => {
                let keys = keys.place(g, "Const", at);
                let indices = places(keys);
                g.name_scope("hash_table", || {
                    let keys = if keys.dtype()? == DType::I32 { keys.cast_to(DType::I64) } else { keys };
                    let init = TableInitializer::of_outputs(keys, indices, "table_init")?;
                    HashTable::shared(g.options(), init, default.into(), "", at)
                })
            }
        })?;
        Ok(IndexTable { table, num_oov_buckets, hasher })
    }
}

/// Returns the indices of the elements of a vector: `i64`.
fn places<'g>(keys: Output<'g>) -> Output<'g> {
    let g = keys.graph();
    let size = match keys.shape().elements() {
        Some(n) => g.constant_tensor("Size", Tensor::scalar(i32::try_from(n).unwrap_or(i32::MAX))),
        None => keys.size(),
    };
    g.range(0, size, 1).cast_to(DType::I64)
}

/// A table of the indices of keys in a vocabulary.
///
/// ```
/// use millstream::lookup::{Lookup, index_table_from_tensor};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let table = index_table_from_tensor(&g, ["a", "b"]).num_oov_buckets(3).build()?;
/// let size = table.size();
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// assert_eq!(session.run::<i64>(size, feed![])?, 5);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IndexTable<'g> {
    table: HashTable<'g>,
    num_oov_buckets: u32,
    hasher: Hasher,
}

impl<'g> IndexTable<'g> {
    /// Returns the table of the vocabulary, without buckets.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_tensor;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = index_table_from_tensor(&g, ["a", "b"]).num_oov_buckets(5).build()?;
    /// let size = table.table().size(); // without the buckets
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<i64>(size, feed![])?, 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn table(&self) -> HashTable<'g> {
        self.table
    }

    /// Returns the operation that fills the table; [`Lookup::tables_initializer`] runs those of all tables.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_tensor;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = index_table_from_tensor(&g, ["a", "b"]).build()?;
    /// let found = table.lookup(g.pack(["b"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [1]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn initializer(&self) -> Op<'g> {
        self.table.initializer
    }

    /// Returns the indices of these keys: `int64`.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_tensor;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = index_table_from_tensor(&g, ["a", "b"]).build()?;
    /// let found = table.lookup(g.pack(["b", "a", "z"]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<i64>>(found, feed![])?, [1, 0, -1]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn lookup(&self, keys: Output<'g>) -> Result<Output<'g>> {
        let g = keys.graph();
        let keys = match (keys.dtype()?, self.table.core.key) {
            (DType::I32, DType::I64) => keys.cast_to(DType::I64),
            _ => keys,
        };
        if self.num_oov_buckets == 0 {
            return self.table.lookup(keys);
        }
        g.name_scope(&self.table.core.scope("Lookup"), || {
            let texts = if keys.dtype()? == DType::Str { keys } else { g.strings().as_string(keys) };
            let (strings, n) = (g.named("hash_bucket").strings(), i64::from(self.num_oov_buckets));
            let buckets = match self.hasher {
                Hasher::Fast => strings.string_to_hash_bucket_fast(texts, n),
                Hasher::Strong(key) => strings.string_to_hash_bucket_strong(texts, n, &key),
            };
            let ids = self.table.lookup(keys)?;
            let buckets = buckets.add(self.table.size());
            let found = ids.not_equal(self.table.core.default);
            Ok(g.op("SelectV2").input(found).input(ids).input(buckets).try_finish()?.output(0))
        })
    }

    /// Returns the number of indices, including those of the buckets, an `int64` scalar.
    ///
    /// ```
    /// use millstream::lookup::index_table_from_tensor;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = index_table_from_tensor(&g, ["a", "b"]).num_oov_buckets(5).build()?;
    /// let size = table.size();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(table.initializer(), feed![])?;
    /// assert_eq!(session.run::<i64>(size, feed![])?, 7);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        let g = self.table.core.graph();
        match self.num_oov_buckets {
            0 => self.table.size(),
            n => g.name_scope(&self.table.core.scope("Size"), || {
                g.named("add").math().add_v2(self.table.size(), i64::from(n))
            }),
        }
    }
}

/// Adds a table of the lines of a file by number; the value of other numbers is `default`.
///
/// ```
/// use millstream::lookup::{Lookup, index_to_string_table_from_file};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// # let file = std::env::temp_dir().join(format!("millstream-words-{}.txt", std::process::id()));
/// std::fs::write(&file, "tea\ncoffee\n").unwrap();
/// let table = index_to_string_table_from_file(&g, file.to_str().unwrap(), "?")?;
/// let words = table.lookup(g.constant([1i64, 9]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// assert_eq!(session.run::<Tensor>(words, feed![])?.to_string(), r#"str[2] ["coffee" "?"]"#);
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn index_to_string_table_from_file<'g>(
    g: impl Start<'g>,
    file: impl Into<String>,
    default: &str,
) -> Result<HashTable<'g>> {
    let (options, at) = (g.options(), Location::caller());
    let (g, file) = (options.graph(), file.into());
    let shared = format!("hash_table_{file}_-1_-2");
    let mut init =
        TableInitializer::text_file(file, (DType::I64, Column::LineNumber), (DType::Str, Column::WholeLine));
    init.scope = "table_init";
    g.name_scope(&options.name_or("index_to_string"), || {
        HashTable::shared(g.options(), init, default.into(), &shared, at)
    })
}

/// Adds a table of the elements of a vector of strings by index; the value of other indices is `default`.
///
/// ```
/// use millstream::lookup::{Lookup, index_to_string_table_from_tensor};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let table = index_to_string_table_from_tensor(&g, ["a", "b"], "?")?;
/// let words = table.lookup(g.constant([1i64, 7]))?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.tables_initializer(), feed![])?;
/// assert_eq!(session.run::<Tensor>(words, feed![])?.to_string(), r#"str[2] ["b" "?"]"#);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn index_to_string_table_from_tensor<'g>(
    g: impl Start<'g>,
    vocabulary: impl Into<Value<'g>>,
    default: &str,
) -> Result<HashTable<'g>> {
    let (options, at) = (g.options(), Location::caller());
    let g = options.graph();
    let vocabulary = vocabulary.into();
    g.name_scope(&options.name_or("index_to_string"), || {
        let values = vocabulary.place(g, "Const", at);
        let init = TableInitializer::of_outputs(places(values), values, "table_init")?;
        HashTable::shared(g.options(), init, default.into(), "", at)
    })
}

/// Tables of a graph.
///
/// ```
/// use millstream::lookup::{Lookup, index_table_from_tensor};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let indices = index_table_from_tensor(&g, ["a", "b"]).build()?.lookup(g.pack(["b"]))?;
/// let init = g.tables_initializer(); // fills all tables
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// assert_eq!(session.run::<Vec<i64>>(indices, feed![])?, [1]);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Lookup {
    /// Adds an operation that fills all tables, including those of an imported `MetaGraphDef`.
    ///
    /// ```
    /// use millstream::lookup::{HashTable, Lookup, TableInitializer};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let table = HashTable::new(&g, TableInitializer::key_values(&g, ["tea"], [3i64])?, -1i64)?;
    /// let (init, size) = (g.tables_initializer(), table.size());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// assert_eq!(session.run::<i64>(size, feed![])?, 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn tables_initializer(&self) -> Op<'_>;
}

impl Lookup for Graph {
    #[track_caller]
    fn tables_initializer(&self) -> Op<'_> {
        let fills = self.collection(TABLE_INITIALIZERS).into_iter().filter_map(|item| match item {
            CollectionItem::Node(name) => self.find(&name),
            _ => None,
        });
        let node = self.start_as("NoOp", "init_all_tables");
        fills.fold(node, |node, op| node.control(op)).finish()
    }
}
