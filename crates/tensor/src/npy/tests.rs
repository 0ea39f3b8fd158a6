//! Round trips, files written by other programs, and files with false headers.

use super::*;
use proptest::prelude::*;
use std::io::Cursor;

fn bytes(t: &Tensor) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, t).unwrap();
    out
}

/// A version 1 file with this header dict and this data.
fn file(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((dict.len() as u16).to_le_bytes());
    out.extend(dict.bytes());
    out.extend(data);
    out
}

#[track_caller]
fn round(text: &str) {
    let t = Tensor::parse(text).unwrap();
    let file = bytes(&t);
    let got = read(&mut &file[..]).unwrap();
    assert!(got.bits_eq(&t), "{text} came back as {got}");
}

#[test]
fn round_trips() {
    for dtype in DType::ALL {
        if dtype.size().is_some() && !dtype.is_quantized() && dtype != DType::Bool {
            for value in ["1", "[1 2 3]", "[[1 2] [3 4]]"] {
                round(&format!("{dtype} {value}"));
            }
            round(&format!("{dtype}[0,3] []"));
        }
    }
    round("[true false]");
    round("'a'");
    round("['' 'abc' 'é\\xff']");
    round("['' '']");
    round("str[2,0] []");
}

#[test]
fn quantised_becomes_plain() {
    let t = Tensor::parse("qu8 [1 255]").unwrap();
    assert_eq!(read(&mut &bytes(&t)[..]).unwrap().to_string(), "u8[2] [1 255]");
}

#[test]
fn header_is_as_numpys() {
    let file = bytes(&Tensor::parse("f32 [1 2]").unwrap());
    assert_eq!(file.len(), 128 + 8);
    let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    assert!(file.starts_with(b"\x93NUMPY\x01\x00\x76\x00"));
    assert_eq!(std::str::from_utf8(&file[10..128]).unwrap().trim_end(), dict);
}

#[track_caller]
fn reads(dict: &str, data: &[u8], expect: &str) {
    assert_eq!(read(&mut &file(dict, data)[..]).unwrap().to_string(), expect);
}

#[test]
fn files_of_other_makes() {
    let dict = |descr: &str, fortran: &str, shape: &str| {
        format!("{{\"shape\": {shape}, 'descr':'{descr}','fortran_order':{fortran}}}  \n")
    };
    reads(&dict(">i2", "False", "(2,)"), &[0, 1, 1, 0], "i16[2] [1 256]");
    reads(&dict(">c8", "False", "()"), &[0x3f, 0x80, 0, 0, 0x40, 0, 0, 0], "c64 1+2i");
    reads(&dict("|u1", "True", "(2, 3)"), &[1, 4, 2, 5, 3, 6], "u8[2,3] [[1 2 3] [4 5 6]]");
    reads(&dict("|u1", "True", "(2L, 1L, 2L)"), &[1, 3, 2, 4], "u8[2,1,2] [[[1 2]] [[3 4]]]");
    reads(&dict("|S2", "True", "(2,2)"), b"a\0bbc\0d\0", "str[2,2] [[\"a\" \"c\"] [\"bb\" \"d\"]]");
    reads(&dict("<U2", "False", "(1,)"), b"\xe9\0\0\0\0\0\0\0", "str[1] [\"é\"]");
    reads(&dict(">U2", "False", "(1,)"), b"\0\0\0\xe9\0\x01\xf6\x00", "str[1] [\"é😀\"]");
    reads(&dict("|V2", "False", "()"), &[0x80, 0x3f], "bf16 1");
    reads(&dict("=f8", "False", "(0,)"), &[], "f64[0] []");
    reads(&dict("|S0", "False", "(2,)"), &[], "str[2] [\"\" \"\"]");
}

#[track_caller]
fn refused(file: &[u8], words: &str) {
    match read(&mut &file[..]) {
        Ok(t) => panic!("read as {t}"),
        Err(e) => assert!(e.message().contains(words), "{}", e.message()),
    }
}

#[test]
fn refusals() {
    let dict = |descr: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
    };
    refused(b"", "ends within its header");
    refused(b"PK\x03\x04........", "not a NumPy array");
    refused(b"\x93NUMPY\x09\x00\x00\x00", "version 9.0 is not supported");
    refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "claims 4294967295 bytes");
    refused(&file("{}", b""), "cannot be parsed");
    refused(&file(&dict("'<f4'", "(-1,)"), b""), "cannot be parsed");
    refused(&file(&dict("'<f4'", "(1 1)"), b""), "cannot be parsed");
    refused(&file(&dict("'<f4'", "(99999999999999999999,)"), b""), "cannot be parsed");
    refused(&file(&dict("'|O'", "(1,)"), b"...."), "Python objects");
    refused(&file(&dict("[('a', '<i4')]", "(1,)"), b"...."), "records");
    refused(&file(&dict("'<M8[s]'", "(1,)"), b"...."), "`<M8[s]` is not supported");
    refused(&file(&dict("'<f16'", "(1,)"), b"...."), "`<f16` is not supported");
    refused(&file(&dict("''", "(1,)"), b"...."), "`` is not supported");
    refused(&file(&dict("'<f4'", "(2,)"), b"......."), "ends after 7 of 8 bytes");
    refused(&file(&dict("'<f4'", "(1000000000000,)"), b"......."), "ends after 7 of 4000000000000 bytes");
    refused(&file(&dict("'<f8'", "(4611686018427387904,)"), b""), "too large");
    refused(&file(&dict("'<f8'", "(0, 4611686018427387904, 4)"), b""), "more elements than fit");
    refused(&file(&dict("'|S0'", "(1000000000000,)"), b""), "too many");
    refused(&file(&dict("'<U9223372036854775807'", "(1,)"), b""), "too wide");
    refused(&file(&dict("'|b1'", "(1,)"), &[2]), "is not a bool");
    refused(&file(&dict("'<U1'", "(1,)"), &[0, 0xd8, 0, 0]), "0xd800 in a unicode array is not a character");

    let budget = crate::budget::Budget::new(1000);
    let _entered = crate::budget::enter(Some(&budget));
    refused(&file(&dict("'<f4'", "(1000000000000,)"), b""), "out of memory");
}

#[test]
fn archives_keep_names_order_and_bytes() {
    let (a, b) = (Tensor::parse("[[1 2] [3 4]]").unwrap(), Tensor::parse("['x' 'yz']").unwrap());
    for compression in [Compression::Stored, Compression::Deflated] {
        let make = || {
            let mut out = Cursor::new(Vec::new());
            write_npz(&mut out, [("w/b", &b), ("a", &a)], compression).unwrap();
            out
        };
        let out = make();
        assert_eq!(out.get_ref(), make().get_ref());
        let got = read_npz(out).unwrap();
        assert_eq!(got.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["w/b", "a"]);
        assert!(got[0].1.bits_eq(&b) && got[1].1.bits_eq(&a));
    }
    let mut out = Cursor::new(Vec::new());
    assert!(write_npz(&mut out, [("a", &a), ("a", &a)], Compression::Stored).is_err());
    assert!(read_npz(Cursor::new(b"not a zip".to_vec())).is_err());
}

proptest! {
    #[test]
    fn no_file_panics(start in 0usize..200, noise in prop::collection::vec(any::<u8>(), 0..8), cut in 0usize..300) {
        let t = Tensor::parse("[[1 2] [3 4]]").unwrap();
        let mut npy = bytes(&t);
        let mut npz = Cursor::new(Vec::new());
        write_npz(&mut npz, [("a", &t)], Compression::Deflated).unwrap();
        let mut npz = npz.into_inner();
        let budget = crate::budget::Budget::new(1 << 20);
        let _entered = crate::budget::enter(Some(&budget));
        for file in [&mut npy, &mut npz] {
            for (to, from) in file.iter_mut().skip(start).zip(&noise) {
                *to = *from;
            }
            file.truncate(file.len().max(cut) - cut.min(file.len()) / 2);
        }
        let _ = read(&mut &npy[..]);
        let _ = read_npz(Cursor::new(npz));
    }

    #[test]
    fn strings_lose_only_their_last_nuls(strs in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 0..5)) {
        let t = Tensor::strings([strs.len()], strs.iter().map(|s| Str::from(trimmed(s))).collect()).unwrap();
        let whole = Tensor::strings([strs.len()], strs.into_iter().map(Str::from).collect()).unwrap();
        prop_assert!(read(&mut &bytes(&whole)[..]).unwrap().bits_eq(&t));
    }
}
