//! Checkpoints that TensorFlow wrote (`tests/golden/make_checkpoints.py`) are read, rewritten and damaged.

use millstream_checkpoint::{Checkpoint, Item, Slice, merge, write, write_old_in};
use millstream_files::Files;
use millstream_tensor::{Code, DType, Shape, Str, Tensor};
use std::fs;
use std::path::{Path, PathBuf};

const CASES: [&str; 4] = ["all", "parts", "shards", "many"];

fn golden(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/checkpoints").join(case)
}

/// An empty folder for a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _fresh = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("makes the folder");
    folder
}

fn hex(text: &str) -> Vec<u8> {
    if text == "-" {
        return Vec::new();
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex")).collect()
}

/// The names and tensors in the list of a case.
fn listed(case: &str) -> Vec<(String, Tensor)> {
    let text = fs::read_to_string(golden(case).with_extension("txt")).expect("the list");
    let line = |line: &str| {
        let mut words = line.rsplitn(3, ' ');
        let (data, ty, name) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let (dtype, dims) = ty.trim_end_matches(']').split_once('[').expect("a type");
        let dtype = DType::parse(dtype).expect("a dtype");
        let shape = Shape::new(dims.split(',').filter(|d| !d.is_empty()).map(|d| d.parse().expect("a size")));
        let tensor = match dtype {
            DType::Str if shape.elements() == 0 => Tensor::strings(shape, vec![]),
            DType::Str => Tensor::strings(shape, data.split(',').map(|s| Str::from(hex(s))).collect()),
            _ => Tensor::from_bytes(dtype, shape, &hex(data)),
        };
        (name.to_owned(), tensor.expect("a tensor"))
    };
    text.lines().map(line).collect()
}

#[track_caller]
fn check(path: &Path, want: &[(String, Tensor)]) {
    let checkpoint = Checkpoint::open(path).expect("opens");
    let names: Vec<&str> = checkpoint.tensors().into_iter().map(|(name, _)| name).collect();
    let mut wanted: Vec<&str> = want.iter().map(|(name, _)| name.as_str()).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    for (name, tensor) in want {
        let read = checkpoint.read(name).expect("reads");
        assert!(read.bits_eq(tensor), "{name}: {read} is not {tensor}");
    }
}

fn items(tensors: &[(String, Tensor)]) -> Vec<Item<'_>> {
    tensors.iter().map(|(name, tensor)| Item { name, part: None, tensor }).collect()
}

#[test]
fn reads_what_tensorflow_wrote() {
    for case in CASES {
        check(&golden(case), &listed(case));
    }
}

#[test]
fn reads_the_first_format() {
    let want = listed("old");
    check(&golden("old"), &want);
    let folder = folder("old");
    let path = folder.join("old");
    write_old_in(&Files::everything(), &path, &items(&want)).expect("writes");
    check(&path, &want);
    // The file stays for `make_checkpoints.py --check` to read.
    fs::copy(golden("old").with_extension("txt"), folder.join("old.txt")).expect("copies");
}

/// A bit flipped anywhere in a file of the first format is detected, or changes nothing that is read.
#[test]
fn damage_to_the_first_format_is_found_out() {
    let path = folder("damaged_old").join("old");
    let (bytes, want) = (fs::read(golden("old")).expect("reads"), listed("old"));
    let read_all = || {
        let checkpoint = Checkpoint::open(&path)?;
        want.iter().map(|(name, _)| checkpoint.read(name)).collect::<Result<Vec<_>, _>>()
    };
    for i in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[i] ^= 1 << (i % 8);
        fs::write(&path, &bad).expect("writes");
        if let Ok(read) = read_all() {
            assert!(read.iter().zip(&want).all(|(r, (_, w))| r.bits_eq(w)), "byte {i}");
        }
    }
    for end in (0..bytes.len()).step_by(11) {
        fs::write(&path, &bytes[..end]).expect("writes");
        assert!(read_all().is_err(), "cut at {end}");
    }
}

/// The files stay for `make_checkpoints.py --check` to read.
#[test]
fn writes_what_it_reads_again() {
    let folder = folder("checkpoints");
    for case in CASES {
        let tensors = listed(case);
        write(folder.join(case), &items(&tensors)).expect("writes");
        check(&folder.join(case), &tensors);
        fs::copy(golden(case).with_extension("txt"), folder.join(case).with_extension("txt"))
            .expect("copies");
    }
    let left: Vec<_> = fs::read_dir(&folder).expect("lists").map(|f| f.expect("file").file_name()).collect();
    assert_eq!(left.len(), 3 * CASES.len(), "nothing else is left behind: {left:?}");
}

#[test]
fn parts_in_several_files_become_one_checkpoint() {
    let folder = folder("merged");
    let rows = listed("parts").into_iter().find(|(name, _)| name == "rows").expect("rows").1;
    let mut prefixes = Vec::new();
    for (i, part) in ["8 10 0,5:-", "8 10 5,3:-"].into_iter().enumerate() {
        let (whole, slice) = Slice::parse(part).expect("parses");
        let tensor = slice.cut(&rows).expect("cuts");
        let (own, number) = (format!("own_{i}"), Tensor::scalar(i as i64));
        let part = Item { name: "rows", part: Some((whole, slice)), tensor: &tensor };
        let prefix = folder.join(format!("part-{i}"));
        write(&prefix, &[part, Item { name: &own, part: None, tensor: &number }]).expect("writes");
        prefixes.push(prefix);
    }
    let whole = folder.join("whole");
    let alone =
        Checkpoint::open(&prefixes[0]).expect("opens").read("rows").expect_err("half of it is missing");
    assert_eq!(alone.code(), Code::DataLoss);
    merge(&prefixes, &whole).expect("merges");
    let zero_one = [("own_0".to_owned(), Tensor::scalar(0i64)), ("own_1".to_owned(), Tensor::scalar(1i64))];
    let all = [&[("rows".to_owned(), rows.clone())][..], &zero_one].concat();
    check(&whole, &all);
    assert!(!prefixes[0].with_extension("index").exists(), "the parts are gone");
    // The files stay for TensorFlow to read.
    let text: Vec<String> = fs::read_to_string(golden("parts").with_extension("txt"))
        .expect("the list")
        .lines()
        .filter(|l| l.starts_with("rows "))
        .map(str::to_owned)
        .chain((0..2).map(|i| format!("own_{i} i64[] {i:02x}00000000000000")))
        .collect();
    fs::write(folder.join("whole.txt"), text.join("\n") + "\n").expect("writes the list");

    let (whole_shape, slice) = Slice::parse("8 10 2,4:1,2").expect("parses");
    let cut =
        Checkpoint::open(&whole).expect("opens").read_slice("rows", &whole_shape, &slice).expect("reads");
    assert!(cut.bits_eq(&slice.cut(&rows).expect("cuts")));
}

#[test]
fn safetensors_files_hold_the_plain_dtypes() {
    let folder = folder("safetensors");
    let path = folder.join("model.safetensors");
    let tensors: Vec<(String, Tensor)> =
        listed("all").into_iter().filter(|(_, t)| !matches!(t.dtype(), DType::Str | DType::C128)).collect();
    write(&path, &items(&tensors)).expect("writes");
    check(&path, &tensors);
    assert_eq!(fs::read_dir(&folder).expect("lists").count(), 1);
    let refused = write(&path, &items(&listed("all"))).expect_err("strings have no place");
    assert!(refused.message().contains("which the safetensors format cannot hold"), "{refused}");
    check(&path, &tensors);
    let bytes = fs::read(&path).expect("reads");
    for end in (0..bytes.len()).step_by(7) {
        fs::write(&path, &bytes[..end]).expect("writes");
        assert!(Checkpoint::open(&path).is_err(), "cut at {end}");
    }
}

#[test]
fn names_are_checked() {
    let folder = folder("names");
    let one = Tensor::scalar(1.0f32);
    let item = |name| Item { name, part: None, tensor: &one };
    for (names, why) in
        [(&["a", "a"][..], "written twice"), (&[""], "must not be empty"), (&["\0a"], "zero byte")]
    {
        let items: Vec<_> = names.iter().map(|name| item(name)).collect();
        let error = write(folder.join("bad"), &items).expect_err(why);
        assert!(error.message().contains(why), "{error}");
    }
    assert_eq!(fs::read_dir(&folder).expect("lists").count(), 0, "a failure leaves nothing behind");
    let error = Checkpoint::open(golden("all")).expect("opens").read("a/nothing").expect_err("is not there");
    assert_eq!(error.code(), Code::NotFound);
    assert_eq!(Checkpoint::open(folder.join("none")).expect_err("is not there").code(), Code::NotFound);
}

/// A bit flipped anywhere in either file is detected, or changes nothing that is read.
#[test]
fn damage_is_found_out() {
    let folder = folder("damaged");
    let at = folder.join("all");
    let (index, data) = (at.with_extension("index"), folder.join("all.data-00000-of-00001"));
    let good = [golden("all").with_extension("index"), golden("all.data-00000-of-00001")]
        .map(|f| fs::read(f).expect("reads"));
    let want = listed("all");
    let read_all = || {
        let checkpoint = Checkpoint::open(&at)?;
        want.iter().map(|(name, _)| checkpoint.read(name)).collect::<Result<Vec<_>, _>>()
    };
    for (file, bytes, other) in [(&index, &good[0], (&data, &good[1])), (&data, &good[1], (&index, &good[0]))]
    {
        fs::write(other.0, other.1).expect("writes");
        for i in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[i] ^= 1 << (i % 8);
            fs::write(file, &bad).expect("writes");
            if let Ok(read) = read_all() {
                assert!(
                    read.iter().zip(&want).all(|(r, (_, w))| r.bits_eq(w)),
                    "byte {i} of {}",
                    file.display()
                );
            }
        }
        for end in (0..bytes.len()).step_by(11) {
            fs::write(file, &bytes[..end]).expect("writes");
            assert!(read_all().is_err(), "{} cut at {end}", file.display());
        }
        fs::write(file, bytes).expect("writes");
    }
    assert!(read_all().is_ok());
}
