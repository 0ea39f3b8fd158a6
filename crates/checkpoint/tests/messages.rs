//! Tensors as messages, of every dtype and in every form that TensorFlow writes; streams of records.

use millstream_checkpoint::message::{decode, encode, encode_constant, encode_packed};
use millstream_checkpoint::records::{RecordReader, RecordWriter};
use millstream_checkpoint::{Checkpoint, Item, Slice, merge, write, write_whole};
use millstream_tensor::{Code, DType, Shape, Str, Tensor};
use std::path::{Path, PathBuf};

/// The dtypes that messages hold.
const DTYPES: [DType; 21] = [
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::Bool,
    DType::C64,
    DType::C128,
    DType::QI8,
    DType::QU8,
    DType::QI16,
    DType::QU16,
    DType::QI32,
    DType::Str,
];

/// Elements whose bytes differ.
fn tensor(dtype: DType, shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    match dtype.size() {
        None => {
            Tensor::strings(shape, (0..n).map(|i| Str::from(format!("s{i}").as_str())).collect()).unwrap()
        }
        Some(size) => {
            let byte = |i: usize| if dtype == DType::Bool { (i % 2) as u8 } else { (i * 7 % 61 + 1) as u8 };
            Tensor::from_bytes(dtype, shape, &(0..n * size).map(byte).collect::<Vec<_>>()).unwrap()
        }
    }
}

#[test]
fn every_dtype_is_read_as_it_was_written() {
    for dtype in DTYPES {
        for shape in [&[][..], &[1], &[0, 3], &[2, 3]] {
            let tensor = tensor(dtype, shape);
            for message in [encode(&tensor).unwrap(), encode_constant(&tensor).unwrap()] {
                let back = decode(&message, &mut |_, _| Ok(())).unwrap();
                assert!(back.bits_eq(&tensor), "{tensor} came back as {back}");
            }
        }
    }
}

/// As constants in TensorFlow's graphs are: one element in the list of its dtype, and no bytes beside it.
#[test]
fn a_single_element_is_listed() {
    for dtype in DTYPES {
        let message = encode_constant(&tensor(dtype, &[1])).unwrap();
        assert!(message.tensor_content.is_empty(), "{dtype}");
    }
    let packed = encode_packed(&tensor(DType::Str, &[2])).unwrap();
    assert_eq!((packed.tensor_content.as_slice(), packed.string_val.len()), (&b"\x02\x02s0s1"[..], 0));
}

/// Packed strings begin with all lengths, each in as many bytes as it needs, seven bits to a byte.
#[test]
fn packed_strings_may_be_long() {
    let texts = [0, 127, 128, 300, 1 << 14].map(|n: usize| Str::from("x".repeat(n).as_str()));
    let tensor = Tensor::strings([5], texts.to_vec()).unwrap();
    let packed = encode_packed(&tensor).unwrap();
    assert_eq!(packed.tensor_content[..6], [0, 127, 128, 1, 172, 2]);
    assert!(decode(&packed, &mut |_, _| Ok(())).unwrap().bits_eq(&tensor));
}

#[test]
fn records_are_read_where_they_begin() {
    let mut writer = RecordWriter::new(Vec::new());
    writer.write(b"one").unwrap();
    writer.write(b"").unwrap();
    writer.flush().unwrap();
    let length = writer.get_ref().len();
    assert_eq!(length, 2 * 16 + 3, "a record has 16 bytes of its own");
    let bytes = writer.into_inner();
    let mut reader = RecordReader::new(&bytes[..], "bytes");
    assert_eq!(reader.offset(), 0);
    assert_eq!(reader.record().unwrap().unwrap(), b"one");
    assert_eq!((reader.offset(), reader.get_ref().len()), (19, 16));
    assert_eq!(reader.record().unwrap().unwrap(), b"");
    assert!(reader.record().unwrap().is_none());
}

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("messages").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn item<'a>(name: &'a str, tensor: &'a Tensor) -> Item<'a> {
    Item { name, part: None, tensor }
}

#[test]
fn a_part_of_a_whole_tensor_is_cut_out() {
    let at = folder("parts").join("model");
    let words = tensor(DType::Str, &[2, 3]);
    write(&at, &[item("w", &tensor(DType::I32, &[2, 3])), item("words", &words)]).unwrap();
    let checkpoint = Checkpoint::open(&at).unwrap();
    let (whole, slice) = Slice::parse("2 3 0,2:1,2").unwrap();
    let part = checkpoint.read_slice("w", &whole, &slice).unwrap();
    assert_eq!(&part.shape()[..], [2, 2]);
    let cut = checkpoint.read_slice("words", &whole, &slice).unwrap();
    let [_, b, c, _, e, f] = words.as_strs().unwrap() else { panic!("six words") };
    assert_eq!(cut.as_strs().unwrap(), [b, c, e, f].map(Str::clone));
    let error = checkpoint.read_slice("w", &Shape::new([3, 3]), &slice).unwrap_err();
    assert!(error.to_string().contains("[3,3]") && error.to_string().contains("[2,3]"), "{error}");
}

#[test]
fn checkpoints_with_one_name_between_them_do_not_merge() {
    let folder = folder("merge");
    let [a, b, both] = ["a", "b", "both"].map(|name| folder.join(name));
    for at in [&a, &b] {
        write(at, &[item("w", &tensor(DType::F32, &[2]))]).unwrap();
    }
    let error = merge(&[a.clone(), b.clone()], &both).unwrap_err();
    assert!(error.to_string().contains("two of the checkpoints hold `w`"), "{error}");
    assert!(Checkpoint::open(&a).is_ok() && Checkpoint::open(&b).is_ok() && Checkpoint::open(&both).is_err());
    let error = merge(&[a, folder.join("c.safetensors")], &both).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
}

#[test]
fn a_whole_file_replaces_the_one_before() {
    let folder = folder("whole");
    for bytes in [&b"the first"[..], b"2"] {
        write_whole(folder.join("file"), bytes).unwrap();
        assert_eq!(std::fs::read(folder.join("file")).unwrap(), bytes);
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "nothing is left beside it");
}
