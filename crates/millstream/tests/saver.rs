//! The saver: kept checkpoints, lists, errors; in both formats.

use millstream::Code;
use millstream::checkpoint::{Checkpoint, State};
use millstream::interop::{ImportOptions, export_meta_graph, import_meta_graph};
use millstream::prelude::*;
use millstream::train::{Saver, latest_checkpoint};
use std::path::{Path, PathBuf};

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("saver-{test}"));
    let _fresh = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("makes the folder");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let all = std::fs::read_dir(folder).expect("lists");
    let mut names: Vec<String> =
        all.map(|f| f.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[track_caller]
fn refused<T>(result: Result<T>, code: Code, parts: &[&str]) {
    let error: Error = result.err().expect("refused");
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn old_checkpoints_are_removed_and_the_latest_is_found() -> Result<()> {
    for end in ["", ".safetensors"] {
        let folder = folder(&format!("keep{end}"));
        let g = Graph::new();
        let v = g.variable("v", 0.0f32);
        let (init, more) = (g.global_variables_initializer(), v.assign_add(1.0));
        let saver = Saver::of(&g, &g.global_variables()).max_to_keep(2).build()?;
        let session = Session::new(&g)?;
        session.run::<()>(init, feed![])?;
        assert_eq!(latest_checkpoint(&folder)?, None);
        for step in 1..=4 {
            session.run::<()>(more, feed![])?;
            saver.save(&session, folder.join(format!("model{end}")), Some(step))?;
        }
        let kept = [3, 4].map(|step| folder.join(format!("model-{step}{end}")));
        assert_eq!(saver.last_checkpoints(), kept);
        assert_eq!(latest_checkpoint(&folder)?.as_ref(), kept.last());
        assert_eq!(names(&folder).len(), 1 + if end.is_empty() { 4 } else { 2 }, "{:?}", names(&folder));
        let text = std::fs::read_to_string(folder.join("checkpoint")).expect("the list");
        assert!(text.starts_with(&format!("model_checkpoint_path: \"model-4{end}\"\n")), "{text}");
        assert!(text.contains(&format!("all_model_checkpoint_paths: \"model-3{end}\"\n")), "{text}");
        saver.restore(&session, &kept[0])?;
        assert_eq!(session.run::<f32>(v.read(), feed![])?, 3.0);
    }
    Ok(())
}

#[test]
fn one_in_so_many_hours_is_kept_for_good() -> Result<()> {
    let folder = folder("hours");
    let g = Graph::new();
    g.variable("v", 0.0f32);
    let init = g.global_variables_initializer();
    let saver =
        Saver::of(&g, &g.global_variables()).max_to_keep(1).keep_checkpoint_every_n_hours(0.0).build()?;
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    for step in 0..3 {
        saver.save(&session, folder.join("m"), Some(step))?;
    }
    assert_eq!(names(&folder).len(), 7, "all are there: {:?}", names(&folder));
    let state = State::read(&folder, "checkpoint")?.expect("a list");
    assert_eq!(state.all.len(), 1);
    assert!(0.0 < state.last_preserved);
    Ok(())
}

#[test]
fn some_variables_and_other_names() -> Result<()> {
    let folder = folder("names");
    let g = Graph::new();
    let (a, b) = (g.variable("a", [1i32, 2]), g.ref_variable("b", "text"));
    let init = g.global_variables_initializer();
    let saver = Saver::by_name(&g, [("old/a", a), ("old/b", b)]).build()?;
    let only = Saver::of(&g, &[a]).build()?;
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    let path = saver.save(&session, folder.join("m"), None)?;
    let held: Vec<String> =
        Checkpoint::open(&path)?.tensors().iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(held, ["old/a", "old/b"]);
    refused(
        only.restore(&session, &path),
        Code::NotFound,
        &[
            "does not fit",
            "missing in it: `a` i32[2]",
            "only in it: `old/a` i32[2], `old/b` str[]",
            "Saver::by_name",
        ],
    );
    let fresh = Session::new(&g)?;
    saver.restore(&fresh, &path)?;
    let (a, b): (Vec<i32>, Tensor) = fresh.run((a.read(), b.read()), feed![])?;
    assert_eq!((a, b.to_string()), (vec![1, 2], r#"str "text""#.to_owned()));
    refused(
        saver.save(&session, folder.join("m.safetensors"), None),
        Code::InvalidArgument,
        &["`old/b` is str, which the safetensors format cannot hold"],
    );
    Ok(())
}

#[test]
fn what_does_not_fit_is_said_of_all() -> Result<()> {
    let folder = folder("fit");
    let of = |a: Tensor, b: Tensor| -> Result<(Graph, Tensor)> {
        let g = Graph::new();
        g.variable("a", a.clone());
        g.variable("b", b);
        Ok((g, a))
    };
    let (g, _) = of(Tensor::vector(&[1.0f32, 2.0])?, Tensor::scalar(1i32))?;
    let init = g.global_variables_initializer();
    let saver = Saver::new(&g)?;
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    let path = saver.save(&session, folder.join("m"), None)?;
    let (other, _) = of(Tensor::vector(&[1.0f32, 2.0, 3.0])?, Tensor::scalar(1i64))?;
    let restorer = Saver::new(&other)?;
    let session = Session::new(&other)?;
    refused(
        restorer.restore(&session, &path),
        Code::InvalidArgument,
        &["`a` is f32[3] but f32[2] in the checkpoint", "`b` is i64[] but i32[] in the checkpoint"],
    );
    refused(restorer.restore(&session, folder.join("none")), Code::NotFound, &["none.index"]);
    refused(
        restorer.save(&session, folder.join("no/such/place"), None),
        Code::NotFound,
        &["Parent directory of", "doesn't exist, can't save."],
    );
    let uninitialized = restorer.save(&session, folder.join("empty"), None);
    assert!(uninitialized.is_err());
    assert!(!folder.join("empty.index").exists());
    refused(Saver::of(&other, &[]).build(), Code::InvalidArgument, &["No variables to save"]);
    let twice = other.global_variables().into_iter().map(|v| ("same", v));
    refused(
        Saver::by_name(&other, twice).build(),
        Code::InvalidArgument,
        &["two variables are to be saved as `same`"],
    );
    Ok(())
}

/// A program that reads the graph from a file continues the training.
#[test]
fn an_imported_graph_saves_and_restores() -> Result<()> {
    let folder = folder("imported");
    let g = Graph::new();
    g.variable("v", [1.0f32, 2.0]);
    g.ref_variable("r", 5i32);
    g.global_variables_initializer();
    let saver = Saver::new(&g)?;
    let meta = export_meta_graph(&g)?;
    let def = meta.saver_def.clone().expect("a saver");
    assert_eq!(def, saver.def());

    let read = Graph::new();
    import_meta_graph(&read, &meta, &ImportOptions { prefix: "in".into(), ..ImportOptions::default() })?;
    let variables: Vec<String> = read.global_variables().iter().map(|v| v.name()).collect();
    assert_eq!(variables, ["in/v", "in/r"]);
    let session = Session::new(&read)?;
    session.run::<()>(read.operation("in/init")?, feed![])?;
    let path = folder.join("m");
    let filename = read.output(&format!("in/{}", def.filename_tensor_name))?;
    let name = || Tensor::str(path.to_str().expect("UTF-8"));
    let saved = read.output(&format!("in/{}", def.save_tensor_name))?;
    session.run::<Tensor>(saved, feed![filename => name()])?;

    let fresh = Session::new(&read)?;
    let restore = read.operation(&format!("in/{}", def.restore_op_name))?;
    fresh.run::<()>(restore, feed![filename => name()])?;
    let values = read.global_variables().into_iter().map(|v| v.value()).collect::<Vec<_>>();
    let values: Vec<Tensor> = fresh.run(values, feed![])?;
    assert_eq!(values.iter().map(|v| v.to_string()).collect::<Vec<_>>(), ["f32[2] [1 2]", "i32 5"]);
    Ok(())
}

#[test]
fn the_list_is_written_before_old_checkpoints_are_removed() -> Result<()> {
    let folder = folder("order");
    let g = Graph::new();
    g.variable("v", 0.0f32);
    let saver = Saver::of(&g, &g.global_variables()).max_to_keep(1).build()?;
    let session = Session::new(&g)?;
    session.run::<()>(g.global_variables_initializer(), feed![])?;
    let first = saver.save(&session, folder.join("model"), Some(1))?;

    // A list that cannot be written: the checkpoint that the old list names is still there.
    let list = folder.join("checkpoint");
    let old_list = std::fs::read(&list).expect("the list");
    std::fs::remove_file(&list).expect("removes");
    std::fs::create_dir(&list).expect("makes a folder in its place");
    assert!(saver.save(&session, folder.join("model"), Some(2)).is_err());
    std::fs::remove_dir(&list).expect("removes");
    std::fs::write(&list, old_list).expect("writes");
    assert_eq!(latest_checkpoint(&folder)?, Some(first));

    // One that cannot be removed: the new one is saved all the same, and the list names it alone.
    let second = saver.save(&session, folder.join("model"), Some(3))?;
    let data = folder.join("model-3.data-00000-of-00001");
    std::fs::remove_file(&data).expect("removes");
    std::fs::create_dir(&data).expect("makes a folder in its place");
    let third = saver.save(&session, folder.join("model"), Some(4))?;
    assert_eq!(latest_checkpoint(&folder)?, Some(third));
    assert!(!millstream::checkpoint::exists(&second), "its index is gone");
    assert!(data.is_dir());
    Ok(())
}
