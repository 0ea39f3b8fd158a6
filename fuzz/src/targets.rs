//! The behaviour of each target. It is here and not in `fuzz_targets`, so that `tests/corpus.rs` can run the
//! corpus without libFuzzer.

use crate::feed::{Feed, Value, resolve};
use crate::files::Folder;
use crate::number;
use crate::run::{MEMORY_LIMIT, import_options, run_all, session_of};
use millstream::FileAccess;
use millstream::engine::checkpoint::records::{Compression, RecordReader, RecordWriter};
use millstream::engine::checkpoint::{Checkpoint, Item, State, exists, merge, remove, write};
use millstream::engine::interop::{
    export_graph_def, export_meta_graph, import_graph_def, import_meta_graph, read_graph,
};
use millstream::engine::tensor::budget::{self, Budget};
use millstream::engine::tensor::npy;
use millstream::parsing::{
    Column, Feature, FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, decode_csv, parse_example,
    parse_sequence_example, parse_single_sequence_example,
};
use millstream::summary::{decode as decode_summary, summary_iterator};
use millstream::train::restore_saved_model;
use millstream::{DType, Graph, PartialShape, Session, SessionOptions, Shape, Tensor, feed};
use millstream_proto::{GraphDef, MetaGraphDef, decode, encode, from_text, to_text};
use millstream_store::{Address, foreign};
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Reads bytes as a graph file, and imports, exports and runs the graph.
pub fn graph_def(bytes: &[u8]) {
    let Ok(file) = read_graph(bytes) else { return };
    let graph = Graph::new();
    match file.import(&graph, &import_options()) {
        Ok(_) => {
            drop(export_graph_def(&graph));
            run_all(&graph, bytes.len());
        }
        Err(_) => assert!(graph.is_empty(), "nodes are left of an import that failed"),
    }
}

/// Reads bytes as a `MetaGraphDef`, imports it with its contexts and collections, exports it, imports it
/// again, and runs it.
pub fn meta_graph_def(bytes: &[u8]) {
    let Ok(meta) = decode::<MetaGraphDef>(bytes) else { return };
    let graph = Graph::new();
    if import_meta_graph(&graph, &meta, &import_options()).is_err() {
        assert!(graph.is_empty(), "nodes are left of an import that failed");
        return;
    }
    if let Ok(exported) = export_meta_graph(&graph) {
        drop(import_meta_graph(&Graph::new(), &exported, &import_options()));
    }
    run_all(&graph, bytes.len());
}

/// Parses text as a `GraphDef`, prints it, parses it again, and imports it.
pub fn graph_def_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(def) = from_text::<GraphDef>(text) else { return };
    if let Ok(printed) = to_text(&def) {
        let back: GraphDef = from_text(&printed).expect("what was printed reads back");
        // Bytes are compared instead of messages, so that a NaN equals itself.
        assert!(encode(&back) == encode(&def), "another message reads back from\n{printed}");
    }
    let graph = Graph::new();
    if import_graph_def(&graph, &def, &import_options()).is_err() {
        assert!(graph.is_empty(), "nodes are left of an import that failed");
    }
}

/// Parses text as a graph in Millstream's own form, prints it, parses it again, and runs it. This is the
/// shortest way to every op.
pub fn graph_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    let Ok(graph) = Graph::parse(text) else { return };
    let printed = graph.to_text();
    let back = Graph::parse(&printed);
    let back = back.unwrap_or_else(|e| panic!("what was printed does not read back: {e}\n{printed}"));
    assert_eq!(back.to_text(), printed);
    run_all(&graph, text.len());
}

/// Reads bytes as a `.npy` and as a `.npz`, within the budget. What was read is written, and must read back
/// the same.
pub fn npy(bytes: &[u8]) {
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    if let Ok(tensor) = npy::read(&mut &*bytes) {
        let mut written = Vec::new();
        npy::write(&mut written, &tensor).expect("what was read can be written");
        let back = npy::read(&mut &*written).expect("what was written can be read");
        assert!(tensor.bits_eq(&back), "{tensor} comes back as {back}");
    }
    if let Ok(arrays) = npy::read_npz(Cursor::new(bytes)) {
        let list = arrays.iter().map(|(name, tensor)| (name.as_str(), tensor));
        let mut written = Cursor::new(Vec::new());
        // Duplicate names are an error.
        if npy::write_npz(&mut written, list, npy::Compression::Stored).is_ok() {
            let back =
                npy::read_npz(Cursor::new(written.into_inner())).expect("what was written can be read");
            assert!(arrays.iter().zip(&back).all(|((n, a), (m, b))| n == m && a.bits_eq(b)));
        }
    }
}

/// Reads bytes as a checkpoint; the first byte selects the kind. For safetensors, the other bytes are the
/// file. For TensorFlow's format, they are the length of the index, the index, and the elements, which every
/// data file contains. For the list of a folder's checkpoints, they are the text. What was read is written,
/// and must read back the same.
pub fn checkpoint(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    let folder = Folder::new();
    let path = match kind % 3 {
        0 => folder.put("x.safetensors", rest),
        1 => {
            let Some((length, rest)) = rest.split_first_chunk() else { return };
            let (index, data) = rest.split_at(rest.len().min(u16::from_le_bytes(*length).into()));
            for (shard, shards) in [(0, 1), (0, 2), (1, 2)] {
                folder.put(&format!("x.data-{shard:05}-of-{shards:05}"), data);
            }
            folder.put("x.index", index).with_extension("")
        }
        _ => {
            folder.put("checkpoint", rest);
            if let Ok(Some(state)) = State::read(folder.path(), "checkpoint") {
                state.write(folder.path(), "again").expect("what was read can be written");
            }
            return;
        }
    };
    let Ok(checkpoint) = Checkpoint::open(path) else { return };
    let names = checkpoint.tensors().into_iter().map(|(name, _)| name);
    let tensors: Vec<_> = names.filter_map(|name| Some((name, checkpoint.read(name).ok()?))).collect();
    let items: Vec<_> = tensors.iter().map(|(name, tensor)| Item { name, part: None, tensor }).collect();
    for name in ["again", "again.safetensors"] {
        let path = folder.path().join(name);
        // Not every format admits every name and dtype.
        if write(&path, &items).is_ok() {
            let back = Checkpoint::open(&path).expect("what was written opens");
            for (name, tensor) in &tensors {
                let again = back.read(name).expect("what was written reads back");
                assert!(tensor.bits_eq(&again), "{tensor} comes back as {again}");
            }
        }
    }
}

/// Parses text as a `--feed` of the command line, for every dtype. Files that it names are not opened.
pub fn feed(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    drop(number::bytes(text));
    drop(number::seconds(text));
    drop(number::seconds_or_never(text));
    let Ok(Feed::One(name, Value::Literal(value))) = text.parse::<Feed>() else { return };
    // A short text can mean millions of elements, so it is fed to every shape of one dtype alone.
    let dtype = DType::ALL.get(bytes.len() % DType::ALL.len()).unwrap_or(&DType::F32);
    TAKERS.with(|graph| {
        for i in 0..SHAPES.len() {
            let feed = Feed::One(format!("{}:0", taker(*dtype, i)), Value::Literal(value.clone()));
            drop(resolve(graph, &[feed]));
        }
        drop(resolve(graph, &[Feed::One(name, Value::Literal(value))]));
    });
}

/// The shapes of placeholders to feed, for every dtype.
const SHAPES: [Option<&[i64]>; 5] = [None, Some(&[]), Some(&[-1]), Some(&[2, -1]), Some(&[1, 2])];

thread_local! {
    static TAKERS: Graph = takers();
}

/// The name of the placeholder of a dtype and the shape with this index.
fn taker(dtype: DType, shape: usize) -> String {
    format!("{dtype}_{shape}")
}

fn takers() -> Graph {
    let graph = Graph::new();
    for dtype in DType::ALL {
        for (i, dims) in SHAPES.iter().enumerate() {
            let shape = dims.and_then(|d| PartialShape::from_signed(d).ok());
            graph.placeholder_of(&taker(dtype, i), dtype, shape.unwrap_or_else(PartialShape::unknown));
        }
    }
    graph
}

/// Reads bytes as a file of records within the budget; the first byte selects the compression. What was read
/// is written, and must read back the same.
pub fn records(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    let compression = [Compression::None, Compression::Gzip, Compression::Zlib][usize::from(kind % 3)];
    let Ok(from) = compression.reader(Cursor::new(rest.to_vec())) else { return };
    // Records belong to the caller, and are here three times.
    let mut kept = 0;
    let within = |record: &Vec<u8>| {
        kept += record.len();
        kept <= MEMORY_LIMIT / 8
    };
    let records = RecordReader::new(from, "x").map_while(Result::ok).take_while(within);
    let records: Vec<Vec<u8>> = records.take(1000).collect();
    let mut writer = RecordWriter::new(Vec::new());
    for record in &records {
        writer.write(record).expect("memory can be written");
    }
    let written = writer.into_inner();
    let back: Vec<Vec<u8>> =
        RecordReader::new(&written[..], "x").collect::<Result<_, _>>().expect("what was written can be read");
    assert!(records == back);
}

/// Parses bytes as an `Example` and as a `SequenceExample` with features of all kinds, as an `Example` in
/// JSON, as a tensor, and as part of a sparse tensor.
pub fn example(bytes: &[u8]) {
    static PARSER: OnceLock<(Graph, Session)> = OnceLock::new();
    let (graph, session) = PARSER.get_or_init(|| {
        let graph = Graph::new();
        let bytes = graph.placeholder_of("bytes", DType::Str, PartialShape::from(Shape::default()));
        let fixed = |dtype| -> Feature {
            let default = Tensor::zeros(dtype, Shape::default()).expect("a scalar");
            FixedLenFeature::new(Shape::default(), dtype).default_value(default).into()
        };
        let varies = |dtype| -> Feature { FixedLenSequenceFeature::new([2], dtype).allow_missing().into() };
        let both = |dtype, name: char| {
            [
                (format!("{name}"), fixed(dtype)),
                (format!("{name}s"), varies(dtype)),
                (format!("{name}v"), VarLenFeature::new(dtype).into()),
            ]
        };
        let all =
            || [both(DType::F32, 'f'), both(DType::I64, 'i'), both(DType::Str, 's')].into_iter().flatten();
        let steps = || all().filter(|(_, feature)| !matches!(feature, Feature::FixedLen(_)));
        let batch = graph.op("Pack").inputs([bytes, bytes]).output();
        parse_example(&graph, batch, all()).expect("a parser");
        parse_single_sequence_example(&graph, bytes, all(), steps()).expect("a parser");
        parse_sequence_example(&graph, batch, all(), steps()).expect("a parser");
        graph.op("DecodeJSONExample").input(bytes).output();
        for dtype in [DType::F32, DType::Str] {
            graph
                .op("ParseTensor")
                .name(format!("ParseTensor_{dtype}"))
                .input(bytes)
                .attr("out_type", dtype)
                .output();
        }
        let parts = graph.op("Pack").inputs([bytes, bytes, bytes]).output();
        graph.op("DeserializeSparse").input(parts).attr("dtype", DType::I64).output();
        let options = SessionOptions {
            memory_limit: Some(MEMORY_LIMIT),
            threads: Some(1),
            ..SessionOptions::default()
        };
        let session = Session::with_options(&graph, options).expect("a session");
        (graph, session)
    });
    let given = graph.output("bytes:0").expect("is there");
    for op in [
        "ParseExample/ParseExample",
        "ParseSingleSequenceExample/ParseSingleSequenceExample",
        "ParseSequenceExample/ParseSequenceExample",
        "DecodeJSONExample",
        "ParseTensor_f32",
        "ParseTensor_str",
        "DeserializeSparse",
    ] {
        let op = graph.operation(op).expect("is there");
        let _values = session.run::<Vec<Tensor>>(op.outputs(), feed![given => Tensor::str(bytes)]);
    }
}

/// Splits off a part whose length is in the first two bytes.
fn part<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (part, rest) = rest.split_at(rest.len().min(u16::from_le_bytes(*length).into()));
    *bytes = rest;
    Some(part)
}

/// Puts the files of a SavedModel into a folder, restores the model and runs it. The bytes are the model, the
/// index of its variables and an asset, each after its length, and the elements of the variables. The graph
/// may open the files of its folder only.
pub fn saved_model(mut bytes: &[u8]) {
    let rest = &mut bytes;
    let (Some(model), Some(index), Some(asset)) = (part(rest), part(rest), part(rest)) else { return };
    let Ok(file) = read_graph(model) else { return };
    let Ok(Some(meta)) = file.meta_graph() else { return };
    let folder = Folder::new();
    folder.put("saved_model.pb", model);
    for inside in ["variables", "assets"] {
        std::fs::create_dir(folder.path().join(inside)).expect("makes a folder");
    }
    folder.put("variables/variables.index", index);
    folder.put("variables/variables.data-00000-of-00001", bytes);
    folder.put("assets/asset.txt", asset);
    let graph = Graph::new();
    if file.import(&graph, &import_options()).is_err() {
        return;
    }
    let access = FileAccess::folders([folder.path()]);
    if let Some(session) = session_of(&graph, model.len(), access) {
        let _restored = restore_saved_model(&session, meta, folder.path());
    }
    run_all(&graph, model.len());
}

/// Reads bytes as an event file. What was read is written, and must read back the same.
pub fn event_file(bytes: &[u8]) {
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    let folder = Folder::new();
    let Ok(events) = summary_iterator(folder.put("events", bytes)) else { return };
    let events: Vec<_> = events.map_while(Result::ok).take(1000).collect();
    let mut writer = RecordWriter::new(Vec::new());
    for event in &events {
        let message = encode(event);
        drop(decode_summary(&Tensor::str(message.clone())));
        writer.write(&message).expect("memory can be written");
    }
    let again = summary_iterator(folder.put("again", &writer.into_inner())).expect("what was written opens");
    let again: Vec<_> = again.collect::<Result<_, _>>().expect("what was written reads back");
    // Bytes are compared instead of messages, so that a NaN equals itself.
    assert!(events.iter().map(encode).eq(again.iter().map(encode)));
}

/// Merges two checkpoints and removes the result. The bytes are the two indexes, each after its length, and
/// the elements of both. A merge that fails leaves both as they were, and files of other names stay.
pub fn checkpoint_merge(mut bytes: &[u8]) {
    let rest = &mut bytes;
    let (Some(first), Some(second)) = (part(rest), part(rest)) else { return };
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    let folder = Folder::new();
    let other = folder.put("m.other", b"kept");
    let prefixes: Vec<PathBuf> = [("a", first), ("b", second)]
        .into_iter()
        .map(|(name, index)| {
            folder.put(&format!("{name}.data-00000-of-00001"), bytes);
            folder.put(&format!("{name}.index"), index).with_extension("")
        })
        .collect();
    let contents = |path: &PathBuf| -> Option<Vec<(String, Option<Tensor>)>> {
        let checkpoint = Checkpoint::open(path).ok()?;
        let names = checkpoint.tensors().into_iter().map(|(name, _)| name);
        Some(names.map(|name| (name.to_owned(), checkpoint.read(name).ok())).collect())
    };
    let before: Vec<_> = prefixes.iter().map(contents).collect();
    let merged = folder.path().join("m");
    let same = |a: &Option<Tensor>, b: &Option<Tensor>| match (a, b) {
        (Some(a), Some(b)) => a.bits_eq(b),
        (a, b) => a.is_none() && b.is_none(),
    };
    match merge(&prefixes, &merged) {
        Ok(()) => {
            let all = Checkpoint::open(&merged).expect("what was merged opens");
            for (name, tensor) in before.iter().flatten().flatten() {
                // Parts of one tensor are whole only together.
                assert!(tensor.is_none() || same(tensor, &all.read(name).ok()), "`{name}` differs");
            }
            remove(&merged).expect("what was merged can be removed");
            assert!(!exists(&merged), "something is left");
        }
        Err(_) => {
            for (before, prefix) in before.iter().zip(&prefixes) {
                let after = contents(prefix);
                let (Some(before), Some(after)) = (before, &after) else {
                    assert_eq!(before.is_some(), after.is_some(), "a merge that failed changed a checkpoint");
                    continue;
                };
                assert!(before.iter().zip(after).all(|(b, a)| b.0 == a.0 && same(&b.1, &a.1)));
            }
        }
    }
    for prefix in &prefixes {
        let _gone = remove(prefix);
    }
    assert_eq!(std::fs::read(other).ok().as_deref(), Some(&b"kept"[..]), "another file is gone");
}

/// Parses bytes as lines of comma-separated fields, for columns of all dtypes with and without defaults, and
/// as an `Example` in JSON.
pub fn csv_json(bytes: &[u8]) {
    static PARSER: OnceLock<(Graph, Session)> = OnceLock::new();
    let (graph, session) = PARSER.get_or_init(|| {
        let graph = Graph::new();
        let bytes = graph.placeholder_of("bytes", DType::Str, PartialShape::from(Shape::default()));
        let types = [DType::F32, DType::F64, DType::I32, DType::I64, DType::Str];
        for (i, quotes) in [true, false].into_iter().enumerate() {
            let zero = |dtype| Tensor::zeros(dtype, Shape::default()).expect("a scalar");
            let mut columns: Vec<Column> = types.iter().map(|t| Column::required(*t)).collect();
            columns.extend(types.iter().map(|t| Column::or(zero(*t))));
            let first = if i == 0 { 5 } else { 0 };
            let columns: Vec<Column> = columns.into_iter().skip(first).take(5).collect();
            let read = decode_csv(&graph, bytes, columns).use_quote_delim(quotes).na_value("-").run();
            for (c, column) in read.expect("decodes").into_iter().enumerate() {
                graph.op("Identity").name(format!("csv_{i}_{c}")).input(column).output();
            }
        }
        graph.op("DecodeJSONExample").name("json").input(bytes).output();
        graph.check().expect("the graph is right");
        let options = SessionOptions { memory_limit: Some(MEMORY_LIMIT), ..SessionOptions::default() };
        let session = Session::with_options(&graph, options).expect("a session");
        (graph, session)
    });
    let given = graph.output("bytes:0").expect("is there");
    let columns = (0..2).flat_map(|i| (0..5).map(move |c| format!("csv_{i}_{c}:0")));
    for name in columns.chain(["json:0".to_owned()]) {
        let output = graph.output(&name).expect("is there");
        let _value = session.run::<Tensor>(output, feed![given => Tensor::str(bytes)]);
    }
}

/// Reads bytes as what a server holds of a queue: the length of the type, the type, and an element. What was
/// read and fits is written, and must read back the same.
pub fn store_element(bytes: &[u8]) {
    let budget = Budget::new(MEMORY_LIMIT);
    let _limit = budget::enter(Some(&budget));
    let at = Address::parse("valkey://localhost/fuzz?max_element_bytes=65536").expect("an address");
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return };
    let Some((of_type, row)) = rest.split_at_checked(u16::from_le_bytes(*length).into()) else { return };
    let Ok(spec) = foreign::spec(of_type) else { return };
    let written = foreign::spec_written(&spec).expect("what was read can be written");
    let again = foreign::spec(&written).expect("what was written can be read");
    assert_eq!(foreign::spec_written(&again).expect("writes"), written, "another type reads back");
    let Ok(item) = foreign::element(row, &spec, &at) else { return };
    if spec.check_item(&item, "fuzz").is_ok()
        && let Ok(row) = foreign::written(&item, &spec, &at)
    {
        let back = foreign::element(&row, &spec, &at).expect("what was written can be read");
        assert!(item.len() == back.len() && item.iter().zip(back.iter()).all(|(a, b)| a.bits_eq(b)));
    }
}
