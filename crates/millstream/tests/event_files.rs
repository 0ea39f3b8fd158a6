//! Event files: everything written is read back. `tests/golden/check_events.py target/tmp/events` reads the
//! same file with TensorBoard's own reader.

use millstream::interop::proto::{self, event::What, session_log::SessionStatus};
use millstream::prelude::*;
use millstream::summary::{self, Event, FileWriter, SessionLog, summary_iterator};
use millstream::{Code, CollectionItem, RunOptions};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Files of an earlier run.
    let _gone = std::fs::remove_dir_all(&folder);
    folder
}

fn events(path: &Path) -> Vec<Event> {
    summary_iterator(path).unwrap().collect::<Result<_>>().unwrap()
}

/// Returns the numbers of a tag by step.
fn numbers(events: &[Event], tag: &str) -> Vec<(i64, f32)> {
    let of = |e: &Event| match &e.what {
        Some(What::Summary(s)) => s.value.iter().find(|v| v.tag == tag).and_then(|v| match v.value {
            Some(proto::summary::value::Value::SimpleValue(x)) => Some((e.step, x)),
            _ => None,
        }),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[test]
fn all_that_is_written_is_read() {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", shape![3]);
    let y = g.name_scope("layer", || (x * 2.0).tanh());
    summary::histogram(&g, "values", x);
    summary::scalar(&g, "total", x.reduce_sum(()));
    let (_, last) =
        g.while_loop((g.constant(0), y)).run(|(i, _)| i.less(4), |(i, y)| (i + 1, y * 0.5)).unwrap();
    let all = summary::merge_all(&g).unwrap().unwrap();
    let session = Session::new(&g).unwrap();

    let writer = FileWriter::new(folder("events")).unwrap();
    writer.add_graph(&g, 0).unwrap();
    writer
        .add_session_log(SessionLog { status: SessionStatus::Start.into(), ..SessionLog::default() }, 0)
        .unwrap();
    for step in 1..=20i64 {
        let options = RunOptions { trace: step == 20, ..RunOptions::default() };
        let feeds = feed![x => [step as f32, 0.0, -1.0]];
        let ((made, _), run): ((Tensor, Tensor), _) = session.run_with((all, last), feeds, &options).unwrap();
        writer.add_summary(&made, step).unwrap();
        if step == 20 {
            writer.add_run_metadata(&run, "step 20", step).unwrap();
            let again = writer.add_run_metadata(&run, "step 20", step).unwrap_err();
            assert!(again.message().contains("already used for this event type: `step 20`"), "{again}");
        } else if step == 1 {
            let error = writer.add_run_metadata(&run, "none", step).unwrap_err();
            assert!(error.to_string().contains("the run of `none` has no trace"), "{error}");
        }
    }
    writer.add_summary(summary::numbers([("validation/loss", 0.25), ("validation/bits", 0.5)]), 20).unwrap();
    writer.close().unwrap();

    let name = writer.path().file_name().unwrap().to_str().unwrap().to_owned();
    let parts: Vec<&str> = name.splitn(5, '.').collect();
    assert_eq!(parts[..3], ["events", "out", "tfevents"], "{name}");
    assert!(parts[3].len() == 10 && parts[3].parse::<u64>().is_ok() && !parts[4].is_empty(), "{name}");

    let read = events(&writer.path());
    assert!(read.iter().all(|e| 1.7e9 < e.wall_time));
    assert_eq!(read[0].what, Some(What::FileVersion("brain.Event:2".into())));
    let sums = numbers(&read, "total");
    assert_eq!(sums.len(), 20);
    assert_eq!(sums[19], (20, 19.0));
    assert_eq!(numbers(&read, "validation/loss"), [(20, 0.25)]);

    let What::GraphDef(bytes) = read[1].what.as_ref().unwrap() else { panic!("{:?}", read[1]) };
    let def: proto::GraphDef = proto::decode(bytes).unwrap();
    assert_eq!(def.node.len(), g.len());
    let tanh = def.node.iter().find(|n| n.name == "layer/Tanh").unwrap();
    let shapes = format!("{:?}", tanh.attr["_output_shapes"]);
    assert!(shapes.contains("size: 3"), "{shapes}");
    let What::MetaGraphDef(bytes) = read[2].what.as_ref().unwrap() else { panic!("{:?}", read[2]) };
    let meta: proto::MetaGraphDef = proto::decode(bytes).unwrap();
    assert!(
        meta.collection_def.contains_key("summaries") && meta.collection_def.contains_key("while_context")
    );
    let back = Graph::new();
    millstream::interop::import_meta_graph(&back, &meta, &Default::default()).unwrap();
    assert_eq!(back.len(), g.len(), "what was written can be imported");
    assert!(matches!(&back.collection("summaries")[0], CollectionItem::Node(name) if name == "values:0"));

    let traces = read.iter().filter_map(|e| match &e.what {
        Some(What::TaggedRunMetadata(run)) => Some((e.step, run)),
        _ => None,
    });
    let [(20, run)] = traces.collect::<Vec<_>>()[..] else { panic!("one trace") };
    let ran: proto::RunMetadata = proto::decode(&run.run_metadata).unwrap();
    let stats = &ran.step_stats.unwrap().dev_stats[0].node_stats;
    let turns = stats.iter().filter(|n| n.node_name == "while/mul").count();
    assert_eq!(turns, 4, "a node of a loop is there for each iteration");
    assert!(stats.iter().all(|n| 0 < n.all_end_rel_micros && 1_700_000_000_000_000 < n.all_start_micros));
}

#[test]
fn closed_and_opened_again() {
    let writer = FileWriter::builder(folder("reopened")).filename_suffix(".mine").build().unwrap();
    writer.add_summary(summary::numbers([("a", 1.0)]), 1).unwrap();
    writer.reopen().unwrap();
    let first = writer.path();
    writer.flush().unwrap();
    assert_eq!(numbers(&events(&first), "a"), [(1, 1.0)], "flushed, not closed");
    writer.close().unwrap();
    writer.close().unwrap();
    let error = writer.add_summary(summary::numbers([("a", 2.0)]), 2).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.to_string().contains(&first.display().to_string()), "{error}");
    writer.flush().unwrap();
    writer.reopen().unwrap();
    writer.add_summary(summary::numbers([("a", 3.0)]), 3).unwrap();
    let second = writer.path();
    assert_ne!(first, second);
    assert!(second.to_str().unwrap().ends_with(".mine"));
    drop(writer);
    assert_eq!(numbers(&events(&first), "a"), [(1, 1.0)]);
    assert_eq!(numbers(&events(&second), "a"), [(3, 3.0)], "dropped, not closed");
}

#[test]
fn threads_write_side_by_side() {
    let writer = FileWriter::builder(folder("threads")).max_queue(3).build().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for i in 0..250 {
                    let summary = summary::numbers([(format!("t{thread}"), i as f32)]);
                    writer.add_summary(summary, i).unwrap();
                    if i % 50 == 0 {
                        writer.flush().unwrap();
                    }
                }
            });
        }
    });
    writer.close().unwrap();
    let read = events(&writer.path());
    for thread in 0..4 {
        let wanted: Vec<(i64, f32)> = (0..250).map(|i| (i, i as f32)).collect();
        assert_eq!(numbers(&read, &format!("t{thread}")), wanted, "each in its order");
    }
}

#[test]
fn metadata_is_written_once() {
    let writer = FileWriter::new(folder("metadata")).unwrap();
    let mut described = summary::numbers([("a", 1.0)]);
    described.value[0].metadata =
        Some(proto::SummaryMetadata { display_name: "A".into(), ..Default::default() });
    for step in 0..2 {
        writer.add_summary(&described, step).unwrap();
    }
    writer.close().unwrap();
    let has: Vec<bool> = events(&writer.path())
        .iter()
        .filter_map(|e| match &e.what {
            Some(What::Summary(s)) => Some(s.value[0].metadata.is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(has, [true, false]);
}

#[test]
fn mistakes_name_the_file() {
    let place = folder("mistakes");
    std::fs::create_dir_all(&place).unwrap();
    let taken = place.join("taken");
    std::fs::write(&taken, b"xyz").unwrap();
    let error = FileWriter::new(&taken).unwrap_err();
    assert!(error.message().contains("taken"), "{error}");
    let error = FileWriter::builder(&place).filename_suffix("/no/such").build().unwrap_err();
    assert!(error.code() == Code::NotFound && error.message().contains("/no/such"), "{error}");

    let writer = FileWriter::new(&place).unwrap();
    let error = writer.add_summary(&Tensor::str("xyz"), 1).unwrap_err();
    assert!(error.message().contains("this is not a summary"), "{error}");
    writer.close().unwrap();

    assert_eq!(summary_iterator(place.join("nothing")).unwrap_err().code(), Code::NotFound);
    let read: Vec<Result<Event>> = summary_iterator(&taken).unwrap().collect();
    assert!(read.len() == 1 && read[0].as_ref().unwrap_err().code() == Code::DataLoss, "{read:?}");
    let mut records = millstream::checkpoint::records::RecordWriter::new(Vec::new());
    records.write(b"\x09xyz").unwrap();
    std::fs::write(&taken, records.into_inner()).unwrap();
    let error = summary_iterator(&taken).unwrap().next().unwrap().unwrap_err();
    assert!(error.code() == Code::DataLoss && error.message().contains("record 1 of"), "{error}");
    let mut whole = std::fs::read(writer.path()).unwrap();
    whole.pop();
    std::fs::write(&taken, whole).unwrap();
    assert_eq!(summary_iterator(&taken).unwrap().next().unwrap().unwrap_err().code(), Code::DataLoss);
}
