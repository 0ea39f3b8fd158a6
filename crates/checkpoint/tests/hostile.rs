//! Indexes with impossible content: huge lengths, inconsistent parts, missing files.

use millstream_checkpoint::Checkpoint;
use millstream_proto::tensor_slice_proto::{Extent, extent::HasLength};
use millstream_proto::{
    BundleEntryProto, BundleHeaderProto, TensorShapeProto, TensorSliceProto, encode, tensor_shape_proto,
};
use std::fs;
use std::path::{Path, PathBuf};

fn shape(dims: &[i64]) -> Option<TensorShapeProto> {
    let dim = dims.iter().map(|&size| tensor_shape_proto::Dim { size, name: String::new() }).collect();
    Some(TensorShapeProto { dim, unknown_rank: false })
}

fn varint(out: &mut Vec<u8>, mut n: usize) {
    while n >= 128 {
        out.push(n as u8 | 128);
        n >>= 7;
    }
    out.push(n as u8);
}

fn block(file: &mut Vec<u8>, entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let start = file.len();
    for (key, value) in entries {
        for n in [0, key.len(), value.len()] {
            varint(file, n);
        }
        file.extend(key);
        file.extend(value);
    }
    file.extend([0u32.to_le_bytes(), 1u32.to_le_bytes()].concat());
    let len = file.len() - start;
    file.push(0);
    let sum = crc32c::crc32c(&file[start..]).rotate_right(15).wrapping_add(0xa282_ead8);
    file.extend(sum.to_le_bytes());
    let mut place = Vec::new();
    varint(&mut place, start);
    varint(&mut place, len);
    place
}

/// A checkpoint of these entries, with a data file of 64 zero bytes.
fn made(test: &str, header: &BundleHeaderProto, entries: &[(&str, BundleEntryProto)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    fs::create_dir_all(&folder).expect("makes the folder");
    let mut all = vec![(Vec::new(), encode(header))];
    all.extend(entries.iter().map(|(name, entry)| (name.as_bytes().to_vec(), encode(entry))));
    let mut file = Vec::new();
    let data = block(&mut file, &all);
    let meta = block(&mut file, &[]);
    let index = block(&mut file, &[(vec![0xff], data)]);
    let start = file.len();
    file.extend([meta, index].concat());
    file.resize(start + 40, 0);
    file.extend(0xdb47_7524_8b80_fb57u64.to_le_bytes());
    fs::write(folder.join(format!("{test}.index")), file).expect("writes");
    fs::write(folder.join(format!("{test}.data-00000-of-00001")), [0; 64]).expect("writes");
    folder.join(test)
}

fn one() -> BundleHeaderProto {
    BundleHeaderProto { num_shards: 1, ..BundleHeaderProto::default() }
}

#[track_caller]
fn refused(test: &str, entry: BundleEntryProto, why: &str) {
    let error =
        Checkpoint::open(made(test, &one(), &[("x", entry)])).and_then(|c| c.read("x")).expect_err(why);
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn entries_must_fit_the_file() {
    let entry = |dims: &[i64], offset, size| BundleEntryProto {
        dtype: 1,
        shape: shape(dims),
        offset,
        size,
        ..Default::default()
    };
    refused("size", entry(&[4], 0, 17), "does not have 17 bytes");
    refused("behind", entry(&[4], 60, 16), "16 bytes from byte 60 are needed");
    refused("huge", entry(&[1 << 40], 0, 1 << 42), "bytes from byte 0 are needed");
    refused("overflow", entry(&[4], i64::MAX, 16), "are needed of");
    refused("before", entry(&[4], -8, 16), "16 bytes from byte -8");
    refused("uncountable", entry(&[1 << 40, 1 << 40], 0, 0), "damaged");
    refused("negative", entry(&[-1], 0, 0), "damaged");
    refused("sum", entry(&[4], 0, 16), "checksum of its elements");
    refused("shard", BundleEntryProto { shard_id: 1, ..entry(&[4], 0, 16) }, "data file 1 of 1");
    refused("dtype", BundleEntryProto { dtype: 99, ..entry(&[4], 0, 16) }, "not a known dtype number");
    refused(
        "strings",
        BundleEntryProto { dtype: 7, ..entry(&[1 << 50], 0, 64) },
        "strings do not fit into 64 bytes",
    );
    refused("resource", BundleEntryProto { dtype: 20, ..entry(&[1], 0, 8) }, "resource cannot be read");
}

#[test]
fn parts_must_make_up_the_whole() {
    let part = |extents: &[(i64, Option<i64>)]| TensorSliceProto {
        extent: extents
            .iter()
            .map(|&(start, len)| Extent { start, has_length: len.map(HasLength::Length) })
            .collect(),
    };
    let whole = |dims: &[i64], slices| BundleEntryProto {
        dtype: 1,
        shape: shape(dims),
        slices,
        ..Default::default()
    };
    refused("missing", whole(&[1 << 40], vec![part(&[(0, Some(4))])]), "is missing");
    refused("start", whole(&[4], vec![part(&[(-1, Some(4))])]), "starts before 0");
    refused("length", whole(&[4], vec![part(&[(0, Some(-4))])]), "negative length");
    refused("end", whole(&[4], vec![part(&[(i64::MAX, Some(i64::MAX))])]), "is missing");
    // The only part of this tensor is the tensor itself, whose own entry is not that of a part.
    refused("rank", whole(&[4], vec![part(&[(0, None), (0, None)])]), "is missing");
}

#[test]
fn headers_are_checked() {
    let open = |test, header: &BundleHeaderProto| Checkpoint::open(made(test, header, &[])).map(drop);
    assert!(open("good", &one()).is_ok());
    let error = open("big_endian", &BundleHeaderProto { endianness: 1, ..one() }).expect_err("big-endian");
    assert!(error.message().contains("big-endian"), "{error}");
    let version = millstream_proto::VersionDef { min_consumer: 9, ..Default::default() };
    let error = open("version", &BundleHeaderProto { version: Some(version), ..one() }).expect_err("newer");
    assert!(error.message().contains("version 9"), "{error}");
    assert!(open("shards", &BundleHeaderProto { num_shards: -1, ..one() }).is_err());
}
