//! What each target does with an input. Here rather than in `fuzz_targets`, so that `tests/corpus.rs` runs the corpus without libFuzzer.

use crate::feed::{Feed, Value, resolve};
use crate::files::Folder;
use crate::number;
use crate::run::{MEMORY_LIMIT, import_options, run_all};
use millstream::checkpoint::{Checkpoint, Item, State, write};
use millstream::interop::{
    export_graph_def, export_meta_graph, import_graph_def, import_meta_graph, read_graph,
};
use millstream::tensor::budget::{self, Budget};
use millstream::tensor::npy;
use millstream::{Build, DType, Graph, PartialShape};
use millstream_proto::{GraphDef, MetaGraphDef, decode, encode, from_text, to_text};
use std::io::Cursor;

/// Bytes as a graph file: read, imported, exported, run.
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

/// Bytes as a `MetaGraphDef`: imported with its contexts and collections, exported, imported again, run.
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

/// Text as a `GraphDef`: read, printed, read again, imported.
pub fn graph_def_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(def) = from_text::<GraphDef>(text) else { return };
    if let Ok(printed) = to_text(&def) {
        let back: GraphDef = from_text(&printed).expect("what was printed reads back");
        // Bytes rather than messages: a NaN equals itself.
        assert!(encode(&back) == encode(&def), "another message reads back from\n{printed}");
    }
    let graph = Graph::new();
    if import_graph_def(&graph, &def, &import_options()).is_err() {
        assert!(graph.is_empty(), "nodes are left of an import that failed");
    }
}

/// Text as a graph in Millstream's own form: read, printed, read again, run. The shortest way to every op.
pub fn graph_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _limit = budget::enter(Some(Budget::new(MEMORY_LIMIT)));
    let Ok(graph) = Graph::parse(text, millstream::registry()) else { return };
    let printed = graph.to_text();
    let back = Graph::parse(&printed, millstream::registry());
    let back = back.unwrap_or_else(|e| panic!("what was printed does not read back: {e}\n{printed}"));
    assert_eq!(back.to_text(), printed);
    run_all(&graph, text.len());
}

/// Bytes as a `.npy` and as a `.npz`: read within the budget; what was read is written, and reads back the same.
pub fn npy(bytes: &[u8]) {
    let _limit = budget::enter(Some(Budget::new(MEMORY_LIMIT)));
    if let Ok(tensor) = npy::read(&mut &*bytes) {
        let mut written = Vec::new();
        npy::write(&mut written, &tensor).expect("what was read can be written");
        let back = npy::read(&mut &*written).expect("what was written can be read");
        assert!(tensor.bits_eq(&back), "{tensor} comes back as {back}");
    }
    if let Ok(arrays) = npy::read_npz(Cursor::new(bytes)) {
        let list = arrays.iter().map(|(name, tensor)| (name.as_str(), tensor));
        let mut written = Cursor::new(Vec::new());
        // Two arrays of one name are an error.
        if npy::write_npz(&mut written, list, npy::Compression::Stored).is_ok() {
            let back =
                npy::read_npz(Cursor::new(written.into_inner())).expect("what was written can be read");
            assert!(arrays.iter().zip(&back).all(|((n, a), (m, b))| n == m && a.bits_eq(b)));
        }
    }
}

/// Bytes as checkpoints: the first says of which kind. Of a safetensors file the others are the file; of TensorFlow's format they are the
/// index, behind its length, and the elements, which every data file has; of the list of a folder's checkpoints the text. What was read is
/// written, and reads back the same.
pub fn checkpoint(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let _limit = budget::enter(Some(Budget::new(MEMORY_LIMIT)));
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
        // Not every name and dtype is one of every format.
        if write(&path, &items).is_ok() {
            let back = Checkpoint::open(&path).expect("what was written opens");
            for (name, tensor) in &tensors {
                let again = back.read(name).expect("what was written reads back");
                assert!(tensor.bits_eq(&again), "{tensor} comes back as {again}");
            }
        }
    }
}

/// Text as a `--feed` of the command line, for every dtype; files that it may name are not opened.
pub fn feed(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _limit = budget::enter(Some(Budget::new(MEMORY_LIMIT)));
    drop(number::bytes(text));
    drop(number::seconds(text));
    let Ok(Feed::One(name, Value::Literal(value))) = text.parse::<Feed>() else { return };
    TAKERS.with(|graph| {
        for op in graph.operations() {
            let feed = Feed::One(format!("{}:0", op.name()), Value::Literal(value.clone()));
            drop(resolve(graph, &[feed]));
        }
        drop(resolve(graph, &[Feed::One(name, Value::Literal(value))]));
    });
}

/// What can be fed: every dtype with each of these shapes.
const SHAPES: [Option<&[i64]>; 5] = [None, Some(&[]), Some(&[-1]), Some(&[2, -1]), Some(&[1, 2])];

thread_local! {
    static TAKERS: Graph = takers();
}

fn takers() -> Graph {
    let graph = Graph::new();
    for dtype in DType::ALL {
        for (i, dims) in SHAPES.iter().enumerate() {
            let shape = dims.and_then(|d| PartialShape::from_signed(d).ok());
            graph.placeholder_of(&format!("{dtype}_{i}"), dtype, shape.unwrap_or_else(PartialShape::unknown));
        }
    }
    graph
}
