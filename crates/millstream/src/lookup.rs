//! Tables: values by key, filled from values or from a vocabulary file, or changed by runs.
//!
//! ```
//! use millstream::lookup::{Lookup, index_table_from_tensor};
//! use millstream::prelude::*;
//! let g = Graph::new();
//! let table = index_table_from_tensor(&g, ["emerson", "lake", "palmer"]).num_oov_buckets(1).make()?;
//! let words = g.constant_tensor("words", "str[3] [\"lake\" \"emerson\" \"king\"]".parse()?);
//! let ids = table.lookup(words)?;
//! let session = Session::new(&g)?;
//! session.run::<()>(g.tables_initializer(), feed![])?;
//! let ids: Vec<i64> = session.run(ids, feed![])?;
//! assert_eq!(ids, [1, 0, 3]);
//! # Ok::<(), millstream::Error>(())
//! ```
//!
//! Definition: `tf.lookup` and `tf.contrib.lookup` of TensorFlow 1.15, with its node names. Other than there a table of values has the name of its
//! node, not one of random letters, and tables are exported in the order of their keys.

use crate::options::{Options, Start};
use crate::sugar::{Functions, Methods};
use crate::value::Value;
use millstream_graph::{CollectionItem, Graph, Op, Output};
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, ensure, invalid};
use std::panic::Location;

/// The collection of the operations that fill tables.
pub const TABLE_INITIALIZERS: &str = "table_initializer";
/// The collection of the names of files that go with the graph.
pub const ASSET_FILEPATHS: &str = "asset_filepaths";

/// A column of a vocabulary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The whole line.
    WholeLine,
    /// The number of the line, from 0.
    LineNumber,
    /// What stands between delimiters, counted from 0.
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

/// What fills a table.
pub struct TableInitializer<'g> {
    source: Source<'g>,
    key: DType,
    value: DType,
    scope: &'static str,
}

enum Source<'g> {
    Tensors { keys: Output<'g>, values: Output<'g> },
    File { name: String, key: Column, value: Column, vocab_size: Option<u64>, delimiter: char },
}

impl<'g> TableInitializer<'g> {
    /// These keys and values, vectors that are equally long (`tf.lookup.KeyValueTensorInitializer`).
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

    /// A column of a text file as keys and one as values (`tf.lookup.TextFileInitializer`).
    pub fn text_file(name: impl Into<String>, key: (DType, Column), value: (DType, Column)) -> Self {
        let source =
            Source::File { name: name.into(), key: key.1, value: value.1, vocab_size: None, delimiter: '\t' };
        TableInitializer { source, key: key.0, value: value.0, scope: "text_file_init" }
    }

    /// The file has so many lines that are wanted; to have fewer is an error.
    pub fn vocab_size(mut self, lines: u64) -> Self {
        if let Source::File { vocab_size, .. } = &mut self.source {
            *vocab_size = Some(lines);
        }
        self
    }

    /// What stands between the columns of the file; a tab otherwise.
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

/// A table, whoever fills it.
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

    /// The last part of the table's name, and this behind it: the scope of what uses it.
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
        g.name_scope(&self.scope("Size"), || g.op("LookupTableSizeV2").input(self.handle).output())
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

/// A table that is filled once, by its initializer.
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
    /// A table that is filled by `init`; keys that are not in it have the value `default`.
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

    /// The handle: a resource.
    pub fn handle(&self) -> Output<'g> {
        self.core.handle
    }

    /// What keys have that are not in it.
    pub fn default_value(&self) -> Output<'g> {
        self.core.default
    }

    /// The operation that fills it; [`Lookup::tables_initializer`] runs those of all tables.
    pub fn initializer(&self) -> Op<'g> {
        self.initializer
    }

    /// The values of these keys.
    #[track_caller]
    pub fn lookup(&self, keys: Output<'g>) -> Result<Output<'g>> {
        self.core.find(keys, "Lookup")
    }

    /// How many keys are in it: an `int64` scalar.
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.core.size()
    }

    /// All its keys, in order, and their values.
    #[track_caller]
    pub fn export(&self) -> Result<(Output<'g>, Output<'g>)> {
        let scope = self.core.scope("Export");
        let g = self.core.graph();
        let op = g.op("LookupTableExportV2").name(scope).input(self.core.handle);
        let op = op.attr("Tkeys", self.core.key).attr("Tvalues", self.core.value).try_finish()?;
        Ok((op.output(0), op.output(1)))
    }
}

/// A table whose keys come and go.
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
    /// A table that is empty at first. Its values have the dtype and shape of `default`, the value of keys that are not in it.
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

    /// A dense table that is empty at first (`tf.contrib.lookup.MutableDenseHashTable`). Its keys have the dtype and shape of `empty_key`, and may
    /// be neither that one nor `deleted_key`; its values have those of `default`, the value of keys that are not in it.
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

    /// The handle: a resource.
    pub fn handle(&self) -> Output<'g> {
        self.core.handle
    }

    /// The values of these keys.
    #[track_caller]
    pub fn lookup(&self, keys: Output<'g>) -> Result<Output<'g>> {
        self.core.find(keys, "lookup_table_find")
    }

    /// Puts keys in, each with its value.
    #[track_caller]
    pub fn insert(&self, keys: Output<'g>, values: Output<'g>) -> Result<Op<'g>> {
        let g = self.core.graph();
        g.name_scope(&self.core.scope("lookup_table_insert"), || {
            g.op("LookupTableInsertV2").input(self.core.handle).input(keys).input(values).try_finish()
        })
    }

    /// Takes keys out.
    #[track_caller]
    pub fn remove(&self, keys: Output<'g>) -> Result<Op<'g>> {
        let g = self.core.graph();
        g.name_scope(&self.core.scope("lookup_table_remove"), || {
            g.op("LookupTableRemoveV2").input(self.core.handle).input(keys).try_finish()
        })
    }

    /// How many keys are in it: an `int64` scalar.
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.core.size()
    }

    /// All its keys, in order, and their values.
    #[track_caller]
    pub fn export(&self) -> Result<(Output<'g>, Output<'g>)> {
        let scope = self.core.scope("lookup_table_export_values");
        self.core.graph().name_scope(&scope, || self.core.export())
    }
}

/// How keys that are in no vocabulary are spread over buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hasher {
    /// Fast; whoever chooses the keys can make them meet in one bucket.
    #[default]
    Fast,
    /// With two secret numbers, which make that hard.
    Strong([i64; 2]),
}

/// A table of indices being described: made by [`index_table_from_file`] and [`index_table_from_tensor`].
#[must_use = "the table is made by `make`"]
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

enum Vocabulary<'g> {
    File(String),
    Values(Value<'g>),
}

/// Indices of the lines of a file: of each key the number of its line, from 0.
#[track_caller]
pub fn index_table_from_file<'g>(g: impl Start<'g>, file: impl Into<String>) -> IndexTableBuilder<'g> {
    IndexTableBuilder::new(g.options(), Vocabulary::File(file.into()), Location::caller())
}

/// Indices of the elements of a vector: of each key the place where it stands.
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

    /// Keys that are not in the vocabulary have one of so many indices behind those of the vocabulary, by their hash.
    pub fn num_oov_buckets(mut self, n: u32) -> Self {
        self.num_oov_buckets = n;
        self
    }

    /// The index of keys that are not in the vocabulary where there are no buckets for them; -1 otherwise.
    pub fn default_value(mut self, index: i64) -> Self {
        self.default = index;
        self
    }

    /// How the buckets are chosen.
    pub fn hasher(mut self, hasher: Hasher) -> Self {
        self.hasher = hasher;
        self
    }

    /// What the keys in the file are: strings (as here otherwise), or `i64`.
    pub fn key_dtype(mut self, dtype: DType) -> Self {
        self.key = dtype;
        self
    }

    /// Where in a line of the file the key and the index stand.
    pub fn columns(mut self, key: Column, value: Column) -> Self {
        self.columns = (key, value);
        self
    }

    /// So many lines of the file are wanted; to have fewer is an error.
    pub fn vocab_size(mut self, lines: u64) -> Self {
        self.vocab_size = Some(lines);
        self
    }

    /// What stands between the columns of the file; a tab otherwise.
    pub fn delimiter(mut self, c: char) -> Self {
        self.delimiter = c;
        self
    }

    /// Makes the table.
    pub fn make(self) -> Result<IndexTable<'g>> {
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

/// The numbers of the elements of a vector: `i64`.
fn places<'g>(keys: Output<'g>) -> Output<'g> {
    let g = keys.graph();
    let size = match keys.shape().elements() {
        Some(n) => g.constant_tensor("Size", Tensor::scalar(i32::try_from(n).unwrap_or(i32::MAX))),
        None => g.op("Size").input(keys).output(),
    };
    g.range(0, size, 1).cast_to(DType::I64)
}

/// Indices of keys in a vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct IndexTable<'g> {
    table: HashTable<'g>,
    num_oov_buckets: u32,
    hasher: Hasher,
}

impl<'g> IndexTable<'g> {
    /// The table of the vocabulary alone.
    pub fn table(&self) -> HashTable<'g> {
        self.table
    }

    /// The operation that fills it; [`Lookup::tables_initializer`] runs those of all tables.
    pub fn initializer(&self) -> Op<'g> {
        self.table.initializer
    }

    /// The indices of these keys: `int64`.
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
            let texts =
                if keys.dtype()? == DType::Str { keys } else { g.op("AsString").input(keys).output() };
            let buckets = match self.hasher {
                Hasher::Fast => g.op("StringToHashBucketFast"),
                Hasher::Strong(key) => {
                    let key = key.into_iter().map(Into::into).collect();
                    g.op("StringToHashBucketStrong").attr("key", millstream_graph::Attr::List(key))
                }
            };
            let buckets = buckets.name("hash_bucket").input(texts);
            let buckets = buckets.attr("num_buckets", i64::from(self.num_oov_buckets)).output();
            let ids = self.table.lookup(keys)?;
            let buckets = g.op("Add").input(buckets).input(self.table.size()).output();
            let found = g.op("NotEqual").input(ids).input(self.table.core.default).output();
            Ok(g.op("SelectV2").input(found).input(ids).input(buckets).try_finish()?.output(0))
        })
    }

    /// How many indices there are, the buckets' among them: an `int64` scalar.
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        let g = self.table.core.graph();
        match self.num_oov_buckets {
            0 => self.table.size(),
            n => g.name_scope(&self.table.core.scope("Size"), || {
                g.op("AddV2").name("add").input(self.table.size()).input(i64::from(n)).output()
            }),
        }
    }
}

/// The lines of a file by their numbers: `default` where there is none.
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

/// The elements of a vector of strings by their places: `default` where there is none.
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

/// What graphs say of their tables.
pub trait Lookup {
    /// An operation that fills all tables, also those of an imported `MetaGraphDef`.
    fn tables_initializer(&self) -> Op<'_>;
}

impl Lookup for Graph {
    #[track_caller]
    fn tables_initializer(&self) -> Op<'_> {
        let fills = self.collection(TABLE_INITIALIZERS).into_iter().filter_map(|item| match item {
            CollectionItem::Node(name) => self.operation(&name).ok(),
            _ => None,
        });
        let node = self.start_as("NoOp", "init_all_tables");
        fills.fold(node, |node, op| node.control(op)).finish()
    }
}
