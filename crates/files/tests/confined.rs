//! Access to folders: neither `..` nor a link nor a race leads out, and FIFOs and devices neither wait nor
//! flood.

#![cfg(unix)]

use millstream_files::{FileAccess, Files, Kind, write_whole};
use millstream_tensor::{Code, Error, Result, budget};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A folder with `in/` (allowed), `out/secret`, and links between them.
fn made(test: &str) -> PathBuf {
    let base = std::env::temp_dir().join(format!("millstream-files-{}-{test}", std::process::id()));
    let _old = fs::remove_dir_all(&base);
    fs::create_dir_all(base.join("in/deep")).unwrap();
    fs::create_dir_all(base.join("out")).unwrap();
    fs::write(base.join("out/secret"), "secret").unwrap();
    fs::write(base.join("in/own"), "own").unwrap();
    fs::write(base.join("in/deep/own"), "deep").unwrap();
    symlink("../out/secret", base.join("in/to_secret")).unwrap();
    symlink("../out", base.join("in/to_out")).unwrap();
    symlink(base.join("out/new"), base.join("in/to_new")).unwrap();
    symlink("/", base.join("in/to_root")).unwrap();
    symlink("deep/own", base.join("in/to_deep")).unwrap();
    symlink(base.join("in/deep"), base.join("in/to_deep_by_its_path")).unwrap();
    symlink("loop", base.join("in/loop")).unwrap();
    symlink("../in", base.join("out/back")).unwrap();
    base
}

fn inside(base: &Path) -> Files {
    Files::new(&FileAccess::folders([base.join("in")])).unwrap()
}

#[track_caller]
fn refused<T>(result: Result<T>, what: &str) {
    let error = result.err().unwrap_or_else(|| panic!("{what}: it was allowed"));
    assert_eq!(error.code(), Code::PermissionDenied, "{what}: {error}");
    assert!(error.help().is_some_and(|help| help.contains("--allow-files")), "{what}: {error}");
}

#[test]
fn paths_that_end_outside_are_refused() {
    let base = made("outside");
    let files = inside(&base);
    let long_way = "x/../".repeat(200);
    for path in [
        "out/secret",
        "out/nothing",
        "nothing/at/all",
        "in/../out/secret",
        "in/deep/../../out/secret",
        "in/to_secret",
        "in/to_out/secret",
        "in/to_out/nothing",
        "in/to_root/etc/passwd",
        "in/deep/../to_out/../out/secret",
        &format!("{long_way}out/secret"),
    ] {
        let path = base.join(path);
        let what = path.display().to_string();
        refused(files.read(&path), &what);
        refused(write_whole(&files, &path, b"x"), &what);
        refused(files.create(&path), &what);
        assert!(!files.is_file(&path), "{what}: whether it is there is not told");
    }
    for path in ["/etc/passwd", "/proc/self/environ", "/proc/self/root/etc/passwd", "/proc/self/cwd/../x"] {
        refused(files.read(Path::new(path)), path);
    }
    refused(write_whole(&files, &base.join("in/to_new"), b"x"), "a link to a file that is not there");
    refused(files.names(&base.join("out")), "names");
    refused(files.make_folders(&base.join("out/new/folder")), "folders");
    refused(files.make_folders(&base.join("in/to_out/folder")), "folders behind a link");
    refused(files.link(&base.join("out/secret"), &base.join("in/mine")), "a second name");
    refused(files.link(&base.join("in/own"), &base.join("out/theirs")), "a name outside");
    refused(files.remove(&base.join("out/secret")), "removal");
    assert!(files.disk().rename(&base.join("in/own"), &base.join("out/own")).is_err());
    assert_eq!(files.read(&base.join("in/loop")).unwrap_err().code(), Code::Unknown);
    assert_eq!(fs::read(base.join("out/secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(base.join("out")).unwrap().count(), 2, "nothing new");
    fs::remove_dir_all(&base).unwrap();
}

#[test]
fn paths_that_end_inside_are_allowed() {
    let base = made("inside");
    let files = inside(&base);
    let read = |path: &str| files.read(&base.join(path)).map(|b| String::from_utf8(b).unwrap()).unwrap();
    assert_eq!(read("in/own"), "own");
    assert_eq!(read("in/to_deep"), "deep");
    assert_eq!(read("in/to_deep_by_its_path/own"), "deep");
    assert_eq!(read("in/deep/../own"), "own");
    assert_eq!(read("out/../in/own"), "own");
    assert_eq!(read("out/back/own"), "own");
    assert_eq!(files.read(&base.join("in/nothing")).unwrap_err().code(), Code::NotFound);
    write_whole(&files, &base.join("in/deep/new"), b"new").unwrap();
    write_whole(&files, &base.join("in/to_deep"), b"through the link").unwrap();
    assert_eq!(read("in/deep/own"), "through the link");
    assert!(fs::symlink_metadata(base.join("in/to_deep")).unwrap().is_symlink(), "the link is still one");
    files.make_folders(&base.join("in/a/b/c")).unwrap();
    let mut names = files.names(&base.join("in/deep")).unwrap();
    names.sort();
    assert_eq!(names, ["new", "own"]);
    fs::remove_dir_all(&base).unwrap();
}

#[test]
fn nothing_is_nothing_and_reading_is_reading() {
    let base = made("reading");
    refused(Files::nothing().read(&base.join("in/own")), "nothing");
    let files = Files::new(&FileAccess::Nothing.and_read(base.join("in"))).unwrap();
    assert_eq!(files.read(&base.join("in/own")).unwrap(), b"own");
    refused(write_whole(&files, &base.join("in/own"), b"x"), "writing");
    refused(files.create(&base.join("in/new")), "creating");
    refused(files.remove(&base.join("in/own")), "removing");
    refused(files.link(&base.join("in/own"), &base.join("in/second")), "linking");
    let both = FileAccess::folders([base.join("in/deep")]).and_read(base.join("in"));
    let files = Files::new(&both).unwrap();
    write_whole(&files, &base.join("in/deep/new"), b"new").unwrap();
    refused(write_whole(&files, &base.join("in/new"), b"x"), "writing above");
    assert!(Files::new(&FileAccess::folders([base.join("in/own")])).is_err(), "a file is no folder");
    fs::remove_dir_all(&base).unwrap();
}

#[test]
fn a_single_file_is_the_file_and_its_checkpoint() {
    let base = made("single");
    let files = Files::new(&FileAccess::Nothing.and_file(base.join("in/ck"))).unwrap();
    for path in ["in/ck", "in/ck.index", "in/ck.data-00000-of-00001"] {
        write_whole(&files, &base.join(path), b"x").unwrap();
    }
    let mut names = files.names(&base.join("in")).unwrap();
    names.sort();
    assert_eq!(names, ["ck", "ck.data-00000-of-00001", "ck.index"]);
    for path in ["in/own", "in/ckx", "in/ck-1", "in/deep/ck", "out/ck", "in/to_secret"] {
        refused(files.read(&base.join(path)), path);
        refused(write_whole(&files, &base.join(path), b"x"), path);
    }
    symlink("../out/secret", base.join("in/ck.link")).unwrap();
    refused(files.read(&base.join("in/ck.link")), "a link of that name");
    fs::remove_dir_all(&base).unwrap();
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The files, with a check that fails after a while.
fn until(files: &Files, limit: Duration) -> Files {
    let end = Instant::now() + limit;
    files.checked_by(move || match end < Instant::now() {
        true => Err(Error::new(Code::DeadlineExceeded, "the time is over")),
        false => Ok(()),
    })
}

#[test]
fn a_fifo_waits_no_longer_than_the_check_lets_it() {
    let base = made("fifo");
    let path = base.join("in/fifo");
    fifo(&path);
    for files in [Files::everything(), inside(&base)] {
        let start = Instant::now();
        let files = until(&files, Duration::from_millis(200));
        let read = files.read(&path).unwrap_err();
        assert_eq!(read.code(), Code::DeadlineExceeded, "{read}");
        let written = write_whole(&files, &path, b"x").unwrap_err();
        assert_eq!(written.code(), Code::DeadlineExceeded, "{written}");
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    // With somebody at the other end, it is a stream like any other.
    let (from, to) = (path.clone(), path.clone());
    let reader = std::thread::spawn(move || fs::read(from).unwrap());
    write_whole(&Files::everything(), &to, &[7; 200_000]).unwrap();
    assert_eq!(reader.join().unwrap(), vec![7; 200_000]);
    let writer = std::thread::spawn(move || fs::write(to, [8; 200_000]).unwrap());
    assert_eq!(Files::everything().read(&path).unwrap(), vec![8; 200_000]);
    writer.join().unwrap();
    assert!(fs::metadata(&path).unwrap().file_type().is_fifo(), "it was never replaced");
    fs::remove_dir_all(&base).unwrap();
}

#[test]
fn a_device_is_read_within_the_limit_and_never_replaced() {
    let limit = budget::Budget::new(1 << 20);
    let _entered = budget::enter(Some(&limit));
    let error = Files::everything().read(Path::new("/dev/zero")).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
    let null = Path::new("/dev/null");
    write_whole(&Files::everything(), null, b"gone").unwrap();
    assert_eq!(Files::everything().read(null).unwrap(), b"");
    assert!(fs::metadata(null).unwrap().file_type().is_char_device());
    assert_eq!(Files::everything().disk().kind(null).unwrap(), Kind::Other);
    let base = made("device");
    symlink("/dev/null", base.join("in/null")).unwrap();
    write_whole(&Files::everything(), &base.join("in/null"), b"gone").unwrap();
    assert!(fs::symlink_metadata(base.join("in/null")).unwrap().is_symlink());
    refused(write_whole(&inside(&base), &base.join("in/null"), b"gone"), "a device through a link");
    fs::remove_dir_all(&base).unwrap();
}

#[test]
fn leftovers_of_the_dead_are_swept_and_those_of_the_living_are_not() {
    let base = made("sweep");
    let place = base.join("in/deep/file");
    let dead = base.join("in/deep/file.tempstate-0123456789abcdef");
    let other = base.join("in/deep/notes.tempstate-soon");
    fs::write(&dead, "half").unwrap();
    fs::write(&other, "mine").unwrap();
    let files = inside(&base);
    let mut living = millstream_files::Pending::new(&files, &place).unwrap();
    living.put(b"first").unwrap();
    assert!(!dead.exists(), "its writer is dead");
    assert!(other.exists(), "it is no leftover");
    // Another process, which has never been in the folder, looks at it by another path.
    let again = base.join("in/to_deep_by_its_path/file");
    write_whole(&files, &again, b"second").unwrap();
    living.finish().unwrap();
    assert_eq!(fs::read(&place).unwrap(), b"first");
    assert_eq!(fs::read_dir(base.join("in/deep")).unwrap().count(), 3, "file, own, notes");
    fs::remove_dir_all(&base).unwrap();
}

#[test]
fn permissions_are_kept() {
    let base = made("mode");
    let path = base.join("in/own");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write_whole(&Files::everything(), &path, b"new").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    fs::remove_dir_all(&base).unwrap();
}

#[test]
fn names_are_charged_as_they_are_read() {
    let base = made("many");
    for i in 0..500 {
        fs::write(base.join(format!("in/{i:0200}")), "").unwrap();
    }
    let files = inside(&base);
    let base = base.join("in");
    let budget = budget::Budget::new(50_000);
    {
        let _entered = budget::enter(Some(&budget));
        assert_eq!(files.names(&base).unwrap_err().code(), Code::ResourceExhausted);
        let mut n = 0;
        let count = |_: &std::ffi::OsStr| {
            n += 1;
            Ok(())
        };
        files.each_name(&base, count).unwrap();
        assert!(500 <= n, "a caller that keeps none needs no memory: {n}");
    }
    assert_eq!(budget.used(), 0);
    let _entered = budget::enter_until(None, Some(Instant::now()));
    let error = files.each_name(&base, |_| Ok(())).unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    fs::remove_dir_all(base.parent().unwrap()).unwrap();
}
