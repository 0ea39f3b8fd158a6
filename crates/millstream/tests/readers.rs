//! Readers against TensorFlow 1.15 (`tests/golden/make_readers.py`), and many runs that read and wait.

use millstream::Queue;
use millstream::checkpoint::records::{Compression, TfRecordWriter, tf_record_iterator};
use millstream::prelude::*;
use millstream::reader::{
    FixedLengthRecordReader, IdentityReader, TextLineReader, TfRecordReader, WholeFileReader,
};
use millstream::{Code, Error, Reader, RunOptions, SessionOptions, Str};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/readers.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the golden file")).expect("JSON")
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}

/// Returns a folder for one test.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readers").join(test);
    std::fs::create_dir_all(&folder).expect("makes the folder");
    folder
}

fn made<'g>(g: &'g Graph, case: &Value) -> Result<Reader<'g>> {
    let attrs = &case["attrs"];
    let int = |name: &str| attrs[name].as_i64().unwrap_or(0);
    let compression = |name: &str| Compression::parse(attrs[name].as_str().unwrap_or(""));
    match case["op"].as_str().expect("an op") {
        "TextLineReader" => TextLineReader::new(g).skip_header_lines(int("skip_header_lines")).build(),
        "WholeFileReader" => WholeFileReader::new(g).build(),
        "FixedLengthRecordReader" => FixedLengthRecordReader::new(g, int("record_bytes"))
            .header_bytes(int("header_bytes"))
            .footer_bytes(int("footer_bytes"))
            .hop_bytes(int("hop_bytes"))
            .encoding(compression("encoding")?)
            .build(),
        "TFRecordReader" => TfRecordReader::new(g).compression(compression("options")?).build(),
        "IdentityReader" => IdentityReader::new(g).build(),
        other => panic!("{other}"),
    }
}

/// The intended differences: TensorFlow ignores data lost at the end of a file, treats a file without its
/// header as the end of the input, reads only the first of several gzip members, and loses the records before
/// a damaged one.
fn differs(case: &Value, step: usize, theirs: &Value) -> bool {
    let names = case["names"].to_string();
    let message = theirs["message"].as_str().unwrap_or("");
    let up_to = |step: &Value| step[0].as_str().is_some_and(|s| s.starts_with("read "));
    ["cut_header", "two_gzips"].iter().any(|name| names.contains(name))
        || matches!(message, "reached end of file" | "EOF reached")
        || (case["op"] == "TFRecordReader"
            && case["steps"]
                .as_array()
                .is_some_and(|steps| steps[..=step].iter().any(|s| up_to(s) && s[1]["error"] == "DATA_LOSS")))
}

/// A step's result in the golden file: keys and values, or an error's code.
fn wanted(result: &Value) -> std::result::Result<Vec<Vec<Vec<u8>>>, &str> {
    let list = |v: &Value| -> Vec<Vec<u8>> {
        match v {
            Value::Array(all) => all.iter().map(|s| bytes(s.as_str().expect("hex"))).collect(),
            Value::String(hex) => vec![bytes(hex)],
            Value::Number(n) => vec![vec![n.as_u64().expect("a count") as u8]],
            other => panic!("{other}"),
        }
    };
    match result {
        Value::Object(error) => Err(error["error"].as_str().expect("a code")),
        Value::Array(both) => Ok(both.iter().map(list).collect()),
        Value::Null => Ok(vec![]),
        one => Ok(vec![list(one)]),
    }
}

#[test]
fn read_what_tensorflows_read() {
    let golden = golden();
    let folder = folder("golden");
    for (name, content) in golden["files"].as_object().expect("files") {
        match name.strip_suffix('/') {
            Some(name) => std::fs::create_dir_all(folder.join(name)).expect("a folder"),
            None => std::fs::write(folder.join(name), bytes(content.as_str().expect("hex"))).expect("a file"),
        }
    }
    let dir = folder.to_str().expect("UTF-8");
    let text = |s: &Str| -> Vec<u8> {
        match s.text().strip_prefix(dir) {
            Some(rest) => format!("DIR{rest}").into_bytes(),
            None => s.to_vec(),
        }
    };
    let (mut compared, mut different) = (0, 0);
    for case in golden["cases"].as_array().expect("cases") {
        let g = Graph::new();
        let queue = Queue::fifo(&g, 100, [DType::Str]).shapes([shape![]]).build().unwrap();
        let reader = made(&g, case).unwrap();
        let name = g.placeholder_of("name", DType::Str, shape![]);
        let (put, close) = (queue.enqueue(name).unwrap(), queue.close());
        let one = reader.read(&queue).unwrap();
        let count = g.placeholder::<i64>("count", shape![]);
        let some = reader.read_up_to(&queue, count).unwrap();
        let restore = reader.restore_state(name);
        let (reset, state) = (reader.reset(), reader.serialize_state());
        let (produced, finished) = (reader.num_records_produced(), reader.num_work_units_completed());
        let session = Session::new(&g).unwrap();
        for name_ in case["names"].as_array().expect("names") {
            let name_ = name_.as_str().expect("a name").replace("DIR", dir);
            session.run::<()>(put, feed![name => name_]).unwrap();
        }
        session.run::<()>(close, feed![]).unwrap();
        for (i, step) in case["steps"].as_array().expect("steps").iter().enumerate() {
            let word = step[0].as_str().expect("a step");
            let strings = |t: &Tensor| -> Vec<Vec<u8>> { t.as_strs().unwrap().iter().map(text).collect() };
            let got: Result<Vec<Vec<Vec<u8>>>> = match word.split_once(' ').unwrap_or((word, "")) {
                ("read", "") => {
                    session.run::<(Tensor, Tensor)>(one, feed![]).map(|(k, v)| vec![strings(&k), strings(&v)])
                }
                ("read", n) => session
                    .run::<(Tensor, Tensor)>(some, feed![count => n.parse::<i64>().unwrap()])
                    .map(|(k, v)| vec![strings(&k), strings(&v)]),
                ("restore", hex) => {
                    let state: Str = bytes(hex.trim()).into();
                    session.run::<()>(restore, feed![name => Tensor::str(state)]).map(|()| vec![])
                }
                ("reset", _) => session.run::<()>(reset, feed![]).map(|()| vec![]),
                ("state", _) => session.run::<Tensor>(state, feed![]).map(|s| vec![strings(&s)]),
                ("produced", _) => session.run::<i64>(produced, feed![]).map(|n| vec![vec![vec![n as u8]]]),
                _ => session.run::<i64>(finished, feed![]).map(|n| vec![vec![vec![n as u8]]]),
            };
            if differs(case, i, &step[1]) {
                different += 1;
                continue;
            }
            compared += 1;
            let want = wanted(&step[1]);
            match (&got, want) {
                (Ok(got), Ok(want)) => assert_eq!(*got, want, "step {i} `{word}` of {case}"),
                (Err(error), Err(code)) => {
                    assert_eq!(error.code().name(), code, "step {i} of {case}: {error}")
                }
                (got, want) => panic!("step {i} `{word}` of {case}: {got:?}, not {want:?}"),
            }
        }
    }
    assert!(compared > 350 && different < 90, "{compared} compared, {different} known to differ");
}

#[test]
fn nodes_are_tensorflows() {
    let g = Graph::new();
    let queue = Queue::fifo(&g, 10, [DType::Str]).shapes([shape![]]).build().unwrap();
    let readers = [
        TextLineReader::new(&g).skip_header_lines(1).build().unwrap(),
        WholeFileReader::new(&g).build().unwrap(),
        FixedLengthRecordReader::new(&g, 4).build().unwrap(),
        TfRecordReader::new(&g).build().unwrap(),
        IdentityReader::new(&g).build().unwrap(),
    ];
    for reader in &readers {
        reader.read(&queue).unwrap();
        reader.read_up_to(&queue, 3).unwrap();
    }
    let last = readers[4];
    last.num_records_produced();
    last.num_work_units_completed();
    last.restore_state(last.serialize_state());
    last.reset();
    let ours: Vec<Value> = g
        .operations()
        .into_iter()
        .map(|op| {
            let inputs: Vec<String> = op.inputs().iter().map(|i| i.name()).collect();
            serde_json::json!([op.name(), op.op_type(), inputs])
        })
        .collect();
    assert_eq!(&ours, golden()["nodes"].as_array().expect("nodes"));
}

/// A graph that reads files whose names are enqueued one by one.
struct Setup<'g> {
    session: Session,
    name: Output<'g>,
    put: Op<'g>,
    close: Op<'g>,
    one: (Output<'g>, Output<'g>),
}

fn setup<'g>(g: &'g Graph, reader: Reader<'g>) -> Setup<'g> {
    let queue = Queue::fifo(g, 100, [DType::Str]).shapes([shape![]]).build().unwrap();
    let name = g.placeholder_of("name", DType::Str, shape![]);
    let (put, close) = (queue.enqueue(name).unwrap(), queue.close());
    let one = reader.read(&queue).unwrap();
    Setup { session: Session::new(g).unwrap(), name, put, close, one }
}

#[test]
fn many_runs_read_each_record_once() {
    read_at_once("many", 0);
}

#[test]
fn runs_that_are_called_off_while_they_wait_hold_nothing_up() {
    read_at_once("impatient", 3);
}

fn within_ms(ms: u64) -> RunOptions {
    RunOptions { timeout: Some(Duration::from_millis(ms)), ..RunOptions::default() }
}

/// Six runs read, and others with short deadlines; each record goes to one of them.
fn read_at_once(test: &str, impatient_runs: usize) {
    let folder = folder(test);
    let (n_files, n_lines) = (23, 40);
    let mut expect = BTreeSet::new();
    for i in 0..n_files {
        // Some files are empty: a read continues with the next one, and waits again.
        let lines: Vec<String> =
            (0..if i % 3 == 0 { 0 } else { n_lines }).map(|j| format!("{i} {j}")).collect();
        std::fs::write(folder.join(i.to_string()), lines.join("\n")).unwrap();
        expect.extend(lines);
    }
    let g = Graph::new();
    let s = setup(&g, TextLineReader::new(&g).build().unwrap());
    let read = || -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match s.session.run::<(String, String)>(s.one, feed![]) {
                Ok((_, line)) => lines.push(line),
                Err(error) if error.code() == Code::OutOfRange => return lines,
                Err(error) => panic!("{error}"),
            }
        }
    };
    let late = AtomicUsize::new(0);
    let impatient = || {
        for _ in 0..30 {
            match s.session.run_with::<(String, String)>(s.one, feed![], &within_ms(1)) {
                Ok(((_, line), _)) => return Some(line),
                // A run past its deadline loses the records that it has read.
                Err(error) if error.code() == Code::DeadlineExceeded => _ = late.fetch_add(1, Relaxed),
                Err(error) if error.code() == Code::OutOfRange => return None,
                Err(error) => panic!("{error}"),
            }
        }
        None
    };
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..6).map(|_| scope.spawn(read)).collect();
        let others: Vec<_> = (0..impatient_runs).map(|_| scope.spawn(impatient)).collect();
        for i in 0..n_files {
            let path = folder.join(i.to_string()).display().to_string();
            s.session.run::<()>(s.put, feed![s.name => path]).unwrap();
            if i % 4 == 0 {
                std::thread::sleep(Duration::from_millis(3));
            }
        }
        s.session.run::<()>(s.close, feed![]).unwrap();
        all.extend(readers.into_iter().flat_map(|r| r.join().unwrap()));
        all.extend(others.into_iter().filter_map(|r| r.join().unwrap()));
    });
    let n_all = all.len();
    let all: BTreeSet<String> = all.into_iter().collect();
    assert_eq!(all.len(), n_all, "none twice");
    assert!(
        all.is_subset(&expect) && expect.len() - n_all <= late.into_inner(),
        "{n_all} of {}",
        expect.len()
    );
}

#[test]
fn a_waiting_read_is_called_off() {
    let g = Graph::new();
    let s = setup(&g, IdentityReader::new(&g).build().unwrap());
    let error = s.session.run_with::<(String, String)>(s.one, feed![], &within_ms(20)).err().unwrap();
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    s.session.run::<()>(s.put, feed![s.name => "later"]).unwrap();
    let (key, value): (String, String) = s.session.run(s.one, feed![]).unwrap();
    assert_eq!((&*key, &*value), ("later", "later"));
}

#[test]
fn unreadable_files_lose_nothing_else() {
    let folder = folder("unreadable");
    let good = folder.join("good").display().to_string();
    std::fs::write(&good, "a\n").unwrap();
    let g = Graph::new();
    let s = setup(&g, TextLineReader::new(&g).build().unwrap());
    let nowhere = folder.join("nowhere").display().to_string();
    for name in [nowhere.as_str(), "", &good] {
        s.session.run::<()>(s.put, feed![s.name => name]).unwrap();
    }
    let next = || s.session.run::<(String, String)>(s.one, feed![]);
    let error: Error = next().unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains(&nowhere), "{error}");
    assert!(next().unwrap_err().message().contains("the name of a file is empty"));
    assert_eq!(next().unwrap().1, "a");
}

#[test]
fn a_memory_limit_bounds_what_is_read() {
    let folder = folder("bomb");
    let bomb = folder.join("bomb.gz").display().to_string();
    let mut writer = TfRecordWriter::create(&bomb, Compression::Gzip).unwrap();
    writer.write(&vec![0; 50_000_000]).unwrap();
    writer.close().unwrap();
    assert!(std::fs::metadata(&bomb).unwrap().len() < 100_000);
    let g = Graph::new();
    let mut s = setup(&g, TfRecordReader::new(&g).compression(Compression::Gzip).build().unwrap());
    let options = SessionOptions { memory_limit: Some(1_000_000), ..SessionOptions::default() };
    s.session = Session::with_options(&g, options).unwrap();
    s.session.run::<()>(s.put, feed![s.name => bomb.as_str()]).unwrap();
    let error = s.session.run::<(String, String)>(s.one, feed![]).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
    assert!(error.message().contains("bomb.gz"), "{error}");
}

#[test]
fn records_go_through_files_of_all_kinds() {
    let folder = folder("records");
    for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
        let path = folder.join(format!("{compression:?}")).display().to_string();
        let mut writer = TfRecordWriter::create(&path, compression).unwrap();
        for i in 0..1000u32 {
            writer.write(&vec![i as u8; i as usize % 300]).unwrap();
        }
        writer.close().unwrap();
        assert_eq!(tf_record_iterator(&path, compression).unwrap().count(), 1000);
        let g = Graph::new();
        let s = setup(&g, TfRecordReader::new(&g).compression(compression).build().unwrap());
        s.session.run::<()>(s.put, feed![s.name => path]).unwrap();
        s.session.run::<()>(s.close, feed![]).unwrap();
        for i in 0..1000u32 {
            let (_, value): (Tensor, Tensor) = s.session.run(s.one, feed![]).unwrap();
            assert_eq!(value.as_strs().unwrap()[0][..], vec![i as u8; i as usize % 300]);
        }
    }
}
