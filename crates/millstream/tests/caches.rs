//! Datasets that are kept in a file: one whole pass writes it, later passes and programs read it.

use millstream::checkpoint::Checkpoint;
use millstream::prelude::*;
use millstream::{Code, FileAccess, SessionOptions};
use std::path::{Path, PathBuf};

fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("caches").join(test);
    let _old = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("makes the folder");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("lists");
    let mut names: Vec<_> =
        names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A pass over the numbers from `start` to `stop`, which are kept under `prefix`: the op that begins it, and
/// the next number.
fn pass<'g>(g: &'g Graph, prefix: &Path, name: &str, (start, stop): (i64, i64)) -> (Op<'g>, Output<'g>) {
    let types = || vec![DType::I64];
    let shapes = || vec![PartialShape::scalar()];
    let numbers =
        g.op("RangeDataset").input(g.constant(start)).input(g.constant(stop)).input(g.constant(1i64));
    let numbers = numbers.attr("output_types", types()).attr("output_shapes", shapes()).output();
    let file = Tensor::str(prefix.to_str().expect("UTF-8"));
    let kept = g.op("CacheDataset").input(numbers).input(file);
    let kept = kept.attr("output_types", types()).attr("output_shapes", shapes()).output();
    let iterator = g.op("IteratorV2").attr("shared_name", name).attr("container", "");
    let iterator = iterator.attr("output_types", types()).attr("output_shapes", shapes()).output();
    let begin = g.op("MakeIterator").input(kept).input(iterator).finish();
    let next = g.op("IteratorGetNext").input(iterator);
    (begin, next.attr("output_types", types()).attr("output_shapes", shapes()).output())
}

/// At most `most` numbers of a pass in a session of its own.
fn numbers(prefix: &Path, range: (i64, i64), most: usize, options: SessionOptions) -> Result<Vec<i64>> {
    let g = Graph::new();
    let (begin, next) = pass(&g, prefix, "it", range);
    let session = Session::with_options(&g, options)?;
    session.run::<()>(begin, feed![])?;
    let mut numbers = Vec::new();
    while numbers.len() < most {
        match session.run::<i64>(next, feed![]) {
            Ok(n) => numbers.push(n),
            Err(e) if e.code() == Code::OutOfRange => break,
            Err(e) => return Err(e),
        }
    }
    Ok(numbers)
}

#[test]
fn a_whole_pass_is_kept_and_read_by_others() -> Result<()> {
    let folder = folder("whole");
    let prefix = folder.join("c");
    assert_eq!(numbers(&prefix, (0, 3), 9, SessionOptions::default())?, [0, 1, 2]);
    assert_eq!(names(&folder), ["c.data-00000-of-00001", "c.index"]);
    // TensorFlow's names of the components.
    let checkpoint = Checkpoint::open(&prefix)?;
    let tensors: Vec<_> = checkpoint.tensors().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(tensors, ["      0_0", "      1_0", "      2_0"]);
    // The file's elements, not those of the new input.
    assert_eq!(numbers(&prefix, (5, 7), 9, SessionOptions::default())?, [0, 1, 2]);
    assert_eq!(names(&folder), ["c.data-00000-of-00001", "c.index"]);
    Ok(())
}

#[test]
fn a_part_of_a_pass_keeps_nothing() -> Result<()> {
    let folder = folder("part");
    let prefix = folder.join("c");
    assert_eq!(numbers(&prefix, (0, 3), 3, SessionOptions::default())?, [0, 1, 2]);
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    assert_eq!(numbers(&prefix, (5, 7), 9, SessionOptions::default())?, [5, 6]);
    Ok(())
}

#[test]
fn an_empty_pass_is_kept() -> Result<()> {
    let prefix = folder("empty").join("c");
    assert!(numbers(&prefix, (0, 0), 9, SessionOptions::default())?.is_empty());
    assert!(numbers(&prefix, (0, 3), 9, SessionOptions::default())?.is_empty());
    Ok(())
}

#[test]
fn one_pass_writes_at_a_time() -> Result<()> {
    let folder = folder("lock");
    let prefix = folder.join("c");
    let g = Graph::new();
    let (begin, next) = pass(&g, &prefix, "a", (0, 2));
    let (begin_other, other) = pass(&g, &prefix, "b", (5, 7));
    let session = Session::new(&g)?;
    session.run::<()>((begin, begin_other), feed![])?;
    assert_eq!(session.run::<i64>(next, feed![])?, 0);
    assert!(names(&folder).contains(&"c_0.lockfile".to_owned()), "{:?}", names(&folder));
    let error = session.run::<i64>(other, feed![]).expect_err("another pass writes");
    assert_eq!(error.code(), Code::AlreadyExists, "{error}");
    let text = error.to_string();
    assert!(text.contains("There appears to be a concurrent caching iterator running"), "{text}");
    assert!(text.contains("Lockfile contents: Created at: "), "{text}");
    // An iterator that is initialized again drops its first pass, and the second one gets the lock.
    session.run::<()>(begin, feed![])?;
    assert_eq!(session.run::<i64>(next, feed![])?, 0);
    assert_eq!(session.run::<i64>(next, feed![])?, 1);
    let end = session.run::<i64>(next, feed![]).expect_err("the end");
    assert_eq!(end.code(), Code::OutOfRange, "{end}");
    // The pass that was refused reads what the other has written.
    assert_eq!(session.run::<i64>(other, feed![])?, 0);
    assert_eq!(names(&folder), ["c.data-00000-of-00001", "c.index"]);
    Ok(())
}

#[test]
fn the_lock_file_of_a_dead_writer_keeps_nobody_away() -> Result<()> {
    let folder = folder("dead");
    std::fs::write(folder.join("c_0.lockfile"), "Created at: 1").expect("writes");
    assert_eq!(numbers(&folder.join("c"), (0, 2), 9, SessionOptions::default())?, [0, 1]);
    assert_eq!(names(&folder), ["c.data-00000-of-00001", "c.index"]);
    Ok(())
}

#[test]
fn the_session_says_which_files_are_kept() -> Result<()> {
    let folder = folder("refused");
    let prefix = folder.join("c");
    let allowed = |files| SessionOptions { files, ..SessionOptions::default() };
    for files in [FileAccess::Nothing, FileAccess::folders([self::folder("elsewhere")])] {
        let Err(error) = numbers(&prefix, (0, 2), 9, allowed(files.clone())) else {
            panic!("{files:?} allows the file");
        };
        assert_eq!(error.code(), Code::PermissionDenied, "{error}");
        assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    }
    assert_eq!(numbers(&prefix, (0, 2), 9, allowed(FileAccess::folders([&folder])))?, [0, 1]);
    let only_read = FileAccess::Nothing.and_read(&folder);
    assert_eq!(numbers(&prefix, (5, 9), 9, allowed(only_read))?, [0, 1]);
    Ok(())
}

#[test]
fn the_file_of_another_dataset_is_named() -> Result<()> {
    let prefix = folder("other").join("c");
    let other = Tensor::from_slice([2], &[1.5f32, 2.5])?;
    millstream::checkpoint::write(
        &prefix,
        &[millstream::checkpoint::Item { name: "      0_0", part: None, tensor: &other }],
    )?;
    let error = numbers(&prefix, (0, 2), 9, SessionOptions::default()).expect_err("other elements");
    let text = error.to_string();
    assert!(text.contains("Data type mismatch at component 0: expected int64 but got float"), "{text}");
    assert!(text.contains("which another dataset has written") && text.contains("help: remove"), "{text}");
    Ok(())
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() -> Result<()> {
    let folder = folder("no_folder");
    let error = numbers(&folder.join("none").join("c"), (0, 2), 9, SessionOptions::default());
    let error = error.expect_err("there is no such folder");
    assert_eq!(error.code(), Code::NotFound, "{error}");
    assert!(error.to_string().contains("c_0.lockfile"), "{error}");
    Ok(())
}
