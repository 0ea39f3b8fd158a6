//! The seeds of the targets: the examples of all ops, golden graphs, and values as text and as NumPy files.
//! They are generated, not stored, so that a new op is included automatically.

use crate::files::Folder;
use millstream::engine::checkpoint::records::RecordWriter;
use millstream::engine::checkpoint::{Checkpoint, Item, write as write_checkpoint};
use millstream::engine::interop::{ImportOptions, export_meta_graph, import_graph_def};
use millstream::engine::state::{Batches, QueueKind, QueueSpec};
use millstream::engine::tensor::npy::{self, Compression};
use millstream::{DType, Graph, PartialShape, Tensor};
use millstream_ops::cases::{Arg, Case, Expect};
use millstream_proto::feature::Kind;
use millstream_proto::{
    BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SequenceExample,
    encode, to_text,
};
use millstream_store::{Address, foreign};
use millstream_testkit::examples::{self, Given};
use millstream_testkit::graphs::{GoldenGraph, folders};
use std::error::Error;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The largest graph, in bytes, that becomes a seed: corruption of a small graph is more telling.
const MAX_BYTES: usize = 6_000;

type Written = Result<(), Box<dyn Error>>;

/// Writes the seeds to the folder named by `FUZZ_SEEDS`, if it is set.
pub fn write_if_asked() {
    if let Some(out) = std::env::var_os("FUZZ_SEEDS") {
        write(Path::new(&out)).expect("the seeds can be written");
    }
}

/// Writes the seeds, one folder per target.
pub fn write(out: &Path) -> Written {
    ops(out)?;
    golden(out)?;
    checkpoints(out)?;
    saved_models(out)?;
    merges(out)?;
    lines(out)?;
    records(out)?;
    stored(out)
}

/// Elements of each kind of queue, with the queues' types.
fn stored(out: &Path) -> Written {
    let at = Address::parse("valkey://localhost/seeds")?;
    let spec = |kind, dtypes: &[DType]| QueueSpec {
        kind,
        capacity: 8,
        dtypes: dtypes.to_vec(),
        shapes: None,
        min_after_dequeue: 0,
        seeds: (1, 2),
        batches: Batches::default(),
    };
    let text = Tensor::strings([2], vec!["a".into(), "".into()])?;
    let floats = Tensor::from_slice([2], &[1.5f32, -2.0])?;
    let mut padded = spec(QueueKind::PaddingFifo, &[DType::F32]);
    padded.shapes = Some(vec![PartialShape::from([None])]);
    padded.batches = Batches { padding: vec![Tensor::scalar(9f32)], pad_to: vec![4], max_tokens: Some(64) };
    let queues = [
        ("fifo", spec(QueueKind::Fifo, &[DType::F32, DType::Str]), vec![floats.clone(), text]),
        ("shuffle", spec(QueueKind::RandomShuffle, &[DType::I64]), vec![Tensor::scalar(7i64)]),
        (
            "priority",
            spec(QueueKind::Priority, &[DType::I64, DType::F32]),
            vec![Tensor::scalar(-3i64), floats.clone()],
        ),
        ("padded", padded, vec![floats]),
    ];
    for (name, spec, item) in queues {
        let (of_type, row) = (foreign::spec_written(&spec)?, foreign::written(&item, &spec, &at)?);
        let whole = part(&of_type).ok_or("the type of a queue is short")?;
        put(out, "store_element", name, [whole, row].concat())?;
    }
    Ok(())
}

/// A part of an input, after its length; `None` if it is too long.
fn part(bytes: &[u8]) -> Option<Vec<u8>> {
    Some([&u16::try_from(bytes.len()).ok()?.to_le_bytes(), bytes].concat())
}

/// The golden SavedModels, with their variables.
fn saved_models(out: &Path) -> Written {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/models");
    for entry in fs::read_dir(root)? {
        let folder = entry?.path();
        let Ok(model) = fs::read(folder.join("saved_model.pb")) else { continue };
        let variables = |end: &str| fs::read(folder.join("variables/variables").with_extension(end));
        let (index, data) =
            (variables("index").unwrap_or_default(), variables("data-00000-of-00001").unwrap_or_default());
        let name = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if let (Some(model), Some(index), Some(asset)) = (part(&model), part(&index), part(b"one")) {
            put(out, "saved_model", name, [model, index, asset, data].concat())?;
        }
    }
    Ok(())
}

/// Two checkpoints that can be merged, and an event.
fn merges(out: &Path) -> Written {
    let folder = Folder::new();
    let mut indexes = Vec::new();
    let one = Tensor::vector(&[1f32, 2.0])?;
    for name in ["a", "b"] {
        let path = folder.path().join(name);
        write_checkpoint(&path, &[Item { name, part: None, tensor: &one }])?;
        indexes.push(part(&fs::read(path.with_extension("index"))?).ok_or("an index is long")?);
    }
    let data = fs::read(folder.path().join("a.data-00000-of-00001"))?;
    put(out, "checkpoint_merge", "two", [&indexes.concat()[..], &data].concat())?;
    put(out, "checkpoint_merge", "twice", [&indexes[0].repeat(2)[..], &data].concat())?;
    let mut events = RecordWriter::new(Vec::new());
    events.write(b"\x09\0\0\0\0\0\0\xf8?\x1a\x0dbrain.Event:2")?;
    put(out, "event_file", "version", events.into_inner())
}

/// Lines of CSV, and an example in JSON.
fn lines(out: &Path) -> Written {
    put(out, "csv_json", "numbers", "1.5,2,3,4,five")?;
    put(out, "csv_json", "quotes", "1,2,3,4,\"a \"\"b\"\", c\"\n-,-,-,-,-")?;
    put(
        out,
        "csv_json",
        "json",
        r#"{"features": {"feature": {"f": {"floatList": {"value": [0.5, "NaN"]}}}}}"#,
    )
}

/// Files of records, and examples.
fn records(out: &Path) -> Written {
    let mut writer = RecordWriter::new(Vec::new());
    for record in [&b"one"[..], b"", &[7; 100]] {
        writer.write(record)?;
    }
    put(out, "records", "plain", [&[0][..], writer.get_ref()].concat())?;
    let list = |kind| Some(Feature { kind: Some(kind) });
    let features = [
        ("f", list(Kind::FloatList(FloatList { value: vec![1.0] }))),
        ("is", list(Kind::Int64List(Int64List { value: vec![1, -2] }))),
        ("sv", list(Kind::BytesList(BytesList { value: vec![b"x".to_vec()] }))),
    ];
    let named = features.into_iter().filter_map(|(name, feature)| Some((name.to_owned(), feature?)));
    let features = Features { feature: named.collect() };
    put(out, "example", "example", encode(&Example { features: Some(features.clone()) }))?;
    put(
        out,
        "example",
        "json",
        r#"{"features": {"feature": {"i": {"int64List": {"value": [1, "2"]}}, "s": {"bytesList": {"value": ["YQ=="]}}}}}"#,
    )?;
    put(out, "example", "floats", b"\x08\x01\x12\x04\x12\x02\x08\x02\"\x08\0\0\x80?\0\0\0@")?;
    put(out, "example", "strings", b"\x08\x07\x12\x04\x12\x02\x08\x02B\x02abB\x01c")?;
    put(
        out,
        "example",
        "indices",
        b"\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01\"\x08\x01\0\0\0\0\0\0\0",
    )?;
    let list = |feature: &Feature| FeatureList { feature: vec![feature.clone(), feature.clone()] };
    let lists = features.feature.iter().map(|(name, feature)| (name.clone(), list(feature))).collect();
    let lists = Some(FeatureLists { feature_list: lists });
    put(
        out,
        "example",
        "sequence",
        encode(&SequenceExample { context: Some(features), feature_lists: lists }),
    )
}

fn put(out: &Path, target: &str, name: &str, bytes: impl AsRef<[u8]>) -> Written {
    fs::create_dir_all(out.join(target))?;
    Ok(fs::write(out.join(target).join(name.replace('/', "_")), bytes)?)
}

/// The examples of the op library: a graph of one op, and its values.
fn ops(out: &Path) -> Written {
    for (op, name, text) in examples::all() {
        let case = Case::parse(text)?;
        let name = format!("{op}_{name}");
        if let Ok(built) = examples::build(&case, Given::Constant) {
            put(out, "graph_text", &name, built.graph.to_text())?;
        }
        let Expect::Values(values) = &case.expect else { continue };
        let given = case.call.args.iter().filter_map(|a| match a {
            Arg::Value(value) => Some(value),
            _ => None,
        });
        for (i, value) in given.chain(values).enumerate() {
            put(out, "feed", &format!("{name}_{i}"), format!("x={value:#}"))?;
            let mut bytes = Vec::new();
            if npy::write(&mut bytes, value).is_ok() {
                put(out, "npy", &format!("{name}_{i}.npy"), bytes)?;
            }
        }
        let mut archive = Cursor::new(Vec::new());
        let named = values.iter().map(|v| (op, v)).take(1);
        if npy::write_npz(&mut archive, named, Compression::Deflated).is_ok() {
            put(out, "npy", &format!("{name}.npz"), archive.into_inner())?;
        }
    }
    Ok(())
}

/// The golden graphs in every form that is read.
fn golden(out: &Path) -> Written {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/graphs");
    for folder in folders(&root)? {
        let name = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        let def = GoldenGraph::load(&folder)?.def;
        let bytes = encode(&def);
        if MAX_BYTES < bytes.len() {
            continue;
        }
        put(out, "graph_def", &format!("{name}.pb"), bytes)?;
        put(out, "graph_def_text", &format!("{name}.pbtxt"), to_text(&def)?)?;
        let graph = Graph::new();
        if import_graph_def(&graph, &def, &ImportOptions::default()).is_err() {
            continue; // It uses ops that we lack.
        }
        put(out, "graph_text", &name, graph.to_text())?;
        put(out, "meta_graph_def", &format!("{name}.pb"), encode(&export_meta_graph(&graph)?))?;
    }
    Ok(())
}

/// The golden checkpoints, also as safetensors files.
fn checkpoints(out: &Path) -> Written {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/checkpoints");
    for entry in fs::read_dir(root)? {
        let index = entry?.path();
        if index.extension().is_none_or(|e| e != "index") {
            continue;
        }
        let prefix = index.with_extension("");
        let name = prefix.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let (bytes, mut data) = (fs::read(&index)?, Vec::new());
        for shards in [1, 2] {
            if let Ok(first) = fs::read(prefix.with_file_name(format!("{name}.data-00000-of-{shards:05}"))) {
                data = first;
            }
        }
        let Ok(length) = u16::try_from(bytes.len()) else { continue };
        let whole = [&[1][..], &length.to_le_bytes(), &bytes, &data].concat();
        if whole.len() <= MAX_BYTES {
            put(out, "checkpoint", name, whole)?;
        }
        let checkpoint = Checkpoint::open(&prefix)?;
        let tensors = checkpoint.tensors().into_iter().map(|(name, _)| Ok((name, checkpoint.read(name)?)));
        let tensors = tensors.take(8).collect::<Result<Vec<_>, millstream::Error>>()?;
        let items: Vec<_> = tensors.iter().map(|(name, tensor)| Item { name, part: None, tensor }).collect();
        let folder = Folder::new();
        let path = folder.path().join("x.safetensors");
        if write_checkpoint(&path, &items).is_ok() {
            put(out, "checkpoint", &format!("{name}.safetensors"), [&[0][..], &fs::read(path)?].concat())?;
        }
    }
    let state = "\u{2}model_checkpoint_path: \"m-2\"\nall_model_checkpoint_paths: \"m-1\"\nall_model_checkpoint_paths: \"m-2\"\n\
                 all_model_checkpoint_timestamps: 1.5\nall_model_checkpoint_timestamps: 2.5\nlast_preserved_timestamp: 1.0\n";
    put(out, "checkpoint", "state", state)
}
