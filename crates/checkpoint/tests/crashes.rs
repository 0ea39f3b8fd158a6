//! Saving on a disk that fails, tears writes and loses power at its n-th call, for every n: afterwards the
//! old checkpoint or the new one reads whole, the next save succeeds, and nothing is left over.

#[path = "../../files/tests/crash/mod.rs"]
mod crash;

use crash::{CrashDisk, Outcome, every_fault};
use millstream_checkpoint::records::{Compression, TfRecordWriter, tf_record_iterator_in};
use millstream_checkpoint::{Checkpoint, Item, State, merge_in, remove, remove_in, write_in};
use millstream_files::{Files, write_whole};
use millstream_tensor::{Code, Result, Tensor};
use std::path::{Path, PathBuf};

/// The elements of `w` and `v` in a checkpoint that [`save`] wrote with `x`.
fn values(x: f32) -> (Vec<f32>, Vec<f32>) {
    (vec![x; 3], vec![x + 0.5; 2000])
}

fn save(files: &Files, path: &str, x: f32) -> Result<()> {
    let (w, v) = values(x);
    let tensors = [
        ("w", Tensor::from_slice([w.len()], &w).unwrap()),
        ("v", Tensor::from_slice([v.len()], &v).unwrap()),
    ];
    let items: Vec<Item<'_>> =
        tensors.iter().map(|(name, tensor)| Item { name, part: None, tensor }).collect();
    write_in(files, path, &items)
}

/// The number that a checkpoint was saved with; `None` if there is none. Fails if it is not whole.
#[track_caller]
fn saved(files: &Files, path: &str, what: &str) -> Option<f32> {
    let checkpoint = match Checkpoint::open_in(files, path) {
        Err(error) if error.code() == Code::NotFound => return None,
        opened => opened.unwrap_or_else(|e| panic!("{what}: {e}")),
    };
    let read = |name| {
        let tensor = checkpoint.read(name).unwrap_or_else(|e| panic!("{what}: {e}"));
        tensor.as_slice::<f32>().unwrap().to_vec()
    };
    let w = read("w");
    assert_eq!((w.clone(), read("v")), values(w[0]), "{what}: a mixture");
    Some(w[0])
}

/// Checks that the old or the new checkpoint reads, that another save works, and what is there then.
fn old_or_new(path: &'static str, old: Option<f32>, after: &'static [&str]) -> impl Fn(&CrashDisk, &Outcome) {
    move |disk, outcome| {
        let (files, what) = (disk.files(), &outcome.what);
        let found = saved(&files, path, what);
        match outcome.fine {
            true => assert_eq!(found, Some(2.0), "{what}: it was reported as saved"),
            false => assert!(found == old || found == Some(2.0), "{what}: {found:?}"),
        }
        save(&files, path, 3.0).unwrap_or_else(|e| panic!("{what}: the next save: {e}"));
        assert_eq!(saved(&files, path, what), Some(3.0), "{what}");
        assert_eq!(disk.names(), after, "{what}: nothing else is left");
    }
}

const ONE: &[&str] = &["/d/ck.data-00000-of-00001", "/d/ck.index"];

#[test]
fn a_first_save() {
    let n = every_fault(&["/d"], |_| (), |files| save(files, "/d/ck", 2.0), old_or_new("/d/ck", None, ONE));
    assert!(300 < n, "{n} states");
}

#[test]
fn a_save_over_another() {
    let before = |files: &Files| save(files, "/d/ck", 1.0).unwrap();
    let n =
        every_fault(&["/d"], before, |files| save(files, "/d/ck", 2.0), old_or_new("/d/ck", Some(1.0), ONE));
    assert!(700 < n, "{n} states");
}

#[test]
fn a_save_over_one_that_a_crash_left_with_two_data_files() {
    let before = |files: &Files| {
        let part = |path: &str, name: &str, x: f32, n: usize| {
            let tensor = Tensor::from_slice([n], &vec![x; n]).unwrap();
            write_in(files, path, &[Item { name, part: None, tensor: &tensor }]).unwrap();
        };
        part("/d/a", "w", 1.0, 3);
        part("/d/b", "v", 1.5, 2000);
        merge_in(files, &["/d/a".into(), "/d/b".into()], "/d/ck").unwrap();
    };
    every_fault(&["/d"], before, |files| save(files, "/d/ck", 2.0), old_or_new("/d/ck", Some(1.0), ONE));
}

#[test]
fn a_safetensors_file_over_another() {
    let path = "/d/m.safetensors";
    let before = |files: &Files| save(files, path, 1.0).unwrap();
    let check = old_or_new(path, Some(1.0), &["/d/m.safetensors"]);
    every_fault(&["/d"], before, |files| save(files, path, 2.0), check);
}

#[test]
fn parts_merged_over_another_merge() {
    let parts: [PathBuf; 2] = ["/d/a".into(), "/d/b".into()];
    let part = |files: &Files, path: &Path, name: &str, values: &[f32]| {
        let tensor = Tensor::from_slice([values.len()], values).unwrap();
        write_in(files, path, &[Item { name, part: None, tensor: &tensor }])
    };
    let save = |files: &Files, x: f32| {
        let (w, v) = values(x);
        part(files, &parts[0], "w", &w)?;
        part(files, &parts[1], "v", &v)
    };
    let merge = |files: &Files| merge_in(files, &parts, "/d/ck");
    let before = |files: &Files| {
        save(files, 1.0).and_then(|()| merge(files)).unwrap();
        save(files, 2.0).unwrap();
    };
    let n = every_fault(&["/d"], before, merge, |disk, outcome| {
        let (files, what) = (disk.files(), &outcome.what);
        match saved(&files, "/d/ck", what) {
            Some(1.0) => {
                assert!(!outcome.fine, "{what}: it was reported as merged");
                merge(&files).unwrap_or_else(|e| panic!("{what}: the parts are still there: {e}"));
                assert_eq!(saved(&files, "/d/ck", what), Some(2.0), "{what}");
            }
            found => assert_eq!(found, Some(2.0), "{what}"),
        }
        save(&files, 3.0).and_then(|()| merge(&files)).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(saved(&files, "/d/ck", what), Some(3.0), "{what}");
        assert_eq!(
            disk.names(),
            ["/d/ck.data-00000-of-00002", "/d/ck.data-00001-of-00002", "/d/ck.index"],
            "{what}"
        );
    });
    assert!(700 < n, "{n} states");
}

#[test]
fn the_list_of_checkpoints() {
    let list = |n: usize| State {
        all: (0..n).map(|i| (format!("/d/m-{i}").into(), i as f64)).collect(),
        last_preserved: 0.0,
    };
    let write = |files: &Files, n| list(n).write_in(files, "/d", "checkpoint");
    let mut texts = Vec::new();
    for n in [1, 2] {
        let disk = CrashDisk::new(&["/d"]);
        write(&disk.files(), n).unwrap();
        texts.push(disk.bytes("/d/checkpoint").unwrap());
    }
    every_fault(
        &["/d"],
        |files| write(files, 1).unwrap(),
        |files| write(files, 2),
        |disk, outcome| {
            let found = disk.bytes("/d/checkpoint").unwrap_or_else(|| panic!("{}: gone", outcome.what));
            assert!(found == texts[1] || !outcome.fine && found == texts[0], "{}", outcome.what);
            write(&disk.files(), 1).unwrap();
            assert_eq!(disk.names(), ["/d/checkpoint"], "{}", outcome.what);
        },
    );
}

#[test]
fn a_vocabulary_or_any_other_file_in_one_go() {
    let write = |files: &Files, word: &str| {
        write_whole(files, Path::new("/d/words"), format!("{word}\n").repeat(5000).as_bytes())
    };
    every_fault(
        &["/d"],
        |files| write(files, "old").unwrap(),
        |files| write(files, "new"),
        |disk, outcome| {
            let text = String::from_utf8(disk.bytes("/d/words").unwrap_or_default()).unwrap();
            let whole = |word: &str| text.len() == 20_000 && text.lines().all(|line| line == word);
            assert!(whole("new") || !outcome.fine && whole("old"), "{}", outcome.what);
        },
    );
}

#[test]
fn removal_leaves_no_checkpoint_without_its_data() {
    let before = |files: &Files| save(files, "/d/ck", 1.0).unwrap();
    every_fault(
        &["/d"],
        before,
        |files| remove_in(files, Path::new("/d/ck")),
        |disk, outcome| {
            // Names that were removed come back in any order after a power cut, so only a kill is looked at.
            if !outcome.what.contains("power cut") {
                saved(&disk.files(), "/d/ck", &outcome.what);
                assert!(
                    !outcome.fine || disk.names().is_empty(),
                    "{}: {:?} is left",
                    outcome.what,
                    disk.names()
                );
            }
        },
    );
    // Where there is no folder there is nothing to remove.
    let missing = std::env::temp_dir().join("millstream-no-such-folder");
    assert!(!missing.exists());
    remove(&missing.join("ck")).unwrap();
}

const RECORDS: [&[u8]; 4] = [b"first", &[7; 9000], b"", b"last"];

/// The records that can be read, and whether the file ends there without damage.
fn records(disk: &CrashDisk, what: &str) -> (Vec<Vec<u8>>, bool) {
    let Ok(mut found) = tf_record_iterator_in(&disk.files(), "/d/r", Compression::None) else {
        return (Vec::new(), false);
    };
    let mut whole = Vec::new();
    loop {
        match found.record() {
            Ok(Some(record)) => whole.push(record),
            Ok(None) => return (whole, true),
            Err(error) => {
                assert_eq!(error.code(), Code::DataLoss, "{what}: {error}");
                return (whole, false);
            }
        }
    }
}

#[test]
fn records_that_are_written_are_whole() {
    let write = |files: &Files| {
        let mut writer = TfRecordWriter::create_in(files, "/d/r", Compression::None)?;
        // What a caller does who does not look at errors: no later record may follow a torn one.
        let mut first = Ok(());
        for record in RECORDS {
            let written = writer.write(record).and_then(|()| writer.flush());
            first = first.and(written);
        }
        first.and(writer.close())
    };
    every_fault(
        &["/d"],
        |_| (),
        write,
        |disk, outcome| {
            let (found, ended) = records(disk, &outcome.what);
            assert!(
                RECORDS.starts_with(&found.iter().map(Vec::as_slice).collect::<Vec<_>>()),
                "{}",
                outcome.what
            );
            if outcome.fine {
                assert!(ended && found.len() == RECORDS.len(), "{}: it was closed", outcome.what);
            }
            write(&disk.files()).unwrap();
            assert_eq!(records(disk, &outcome.what), (RECORDS.map(<[u8]>::to_vec).to_vec(), true));
        },
    );
}
