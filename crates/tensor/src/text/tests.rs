//! Printing and parsing the text form.

use crate::*;
use proptest::prelude::*;

/// Checks that `text` parses, and prints as `expect`, which parses to the same bits.
#[track_caller]
fn check(text: &str, expect: &str) {
    let t = Tensor::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(format!("{t:#}"), expect);
    assert!(Tensor::parse(expect).unwrap().bits_eq(&t), "{expect} reads back as another");
}

#[test]
fn prints_and_parses() {
    check("f32[2,3] [[1 2 3] [4 5 6]]", "f32[2,3] [[1 2 3] [4 5 6]]");
    check("[[1, 2], [3, 4]]", "i32[2,2] [[1 2] [3 4]]");
    check("[[1,2,],[3,4,],]", "i32[2,2] [[1 2] [3 4]]");
    check("1", "i32 1");
    check("i32[] 1", "i32 1");
    check(" -7 ", "i32 -7");
    check("i64 [1 2]", "i64[2] [1 2]");
    check("int64 [1 2]", "i64[2] [1 2]");
    check("[1 2.5]", "f32[2] [1 2.5]");
    check("1e3", "f32 1000");
    check("[inf -inf nan]", "f32[3] [inf -inf nan]");
    check("f32[0,3] []", "f32[0,3] []");
    check("[]", "f32[0] []");
    check("[[] []]", "f32[2,0] []");
    check("str []", "str[0] []");
    check("f32[2,2] 0", "f32[2,2] [[0 0] [0 0]]");
    check("str[2] 'a'", "str[2] [\"a\" \"a\"]");
    check("[true False]", "bool[2] [true false]");
    check("bool true", "bool true");
    check("1+2i", "c64 1+2i");
    check("[1-2j 3 -4.5i 1e-3+1e-30i]", "c64[4] [1-2i 3+0i 0-4.5i 0.001+1e-30i]");
    check("c128 nan-infi", "c128 nan-infi");
    check("c64 -0-0i", "c64 -0-0i");
    check("c64 nan(0xffc00000)+nan(0xffc00001)i", "c64 nan(0xffc00000)+nan(0xffc00001)i");
    check("f64 0.1", "f64 0.1");
    check("f32 0.1", "f32 0.1");
    check("f16 0.1", "f16 0.1");
    check("bf16 0.1", "bf16 0.1");
    check("f16 65504", "f16 65500");
    check("f16 6e-8", "f16 6e-8");
    check("f32 -0", "f32 -0");
    check("f32 3.4028235e38", "f32 3.4028235e38");
    check("f64 nan(0xfff8000000000000)", "f64 nan(0xfff8000000000000)");
    check("u64 18446744073709551615", "u64 18446744073709551615");
    check("i8 -128", "i8 -128");
    check("qi32 [-5]", "qi32[1] [-5]");
    check("\"a b\"", "str \"a b\"");
    check("['x' \"y\"]", "str[2] [\"x\" \"y\"]");
    check(r#""q\"\\\n\t\0\xff\u{1F600} é it's""#, r#"str "q\"\\\n\t\0\xff😀 é it's""#);
    check(r#"'\x41\'"'"#, r#"str "A'\"""#);
}

#[track_caller]
fn refused(text: &str, expect: &str) {
    match Tensor::parse(text) {
        Ok(t) => panic!("{text} parsed as {t}"),
        Err(e) => assert_eq!(e.message(), expect, "{text}"),
    }
}

#[test]
fn errors_name_the_column() {
    refused("", "column 1: the value is missing");
    refused("f32", "column 4: the value is missing");
    refused("i32[1 2]", "column 9: the value is missing (put a space between the dtype and the value)");
    refused("f32[2", "column 6: expected a size or `]`");
    refused("f32[-2] 1", "column 4: Dimension -2 must be >= 0");
    refused("f32[2] [1 2 3]", "column 8: the value has shape [3], but [2] is declared");
    refused("[1 2", "column 5: 1 lists are not closed: expected `]`");
    refused("[[1 2] [3]]", "column 10: this list has 1 entries but the one before has 2");
    refused("[1 [2]]", "column 4: a list among single values");
    refused("[[1] 2]", "column 6: a single value among lists");
    refused("[1,,2]", "column 4: expected a value, got `,`");
    refused("1 2", "column 3: expected the end, got `2`");
    refused("]", "column 1: `]` closes nothing");
    refused("[é 1]", "column 2: `é` is not a valid f32");
    refused("3000000000", "column 1: `3000000000` is not a valid i32; write `i64` before the value");
    refused("u8 [1 256]", "column 7: `256` is not a valid u8");
    refused("i32 1.5", "column 5: `1.5` is not a valid i32");
    refused("[true 1]", "column 7: `1` is not a valid bool");
    refused("['a' 1]", "column 6: expected a quoted string, got `1`");
    refused("f32 'a'", "column 5: expected a value of f32, got a string");
    refused("'é\\q'", r#"column 3: unknown escape; the known ones are \n \r \t \0 \\ \" \' \xff \u{1f600}"#);
    refused("'\\xé'", r#"column 2: unknown escape; the known ones are \n \r \t \0 \\ \" \' \xff \u{1f600}"#);
    refused("'abc", "column 1: the string is not closed");
    refused("resource 1", "column 1: elements of dtype resource have no text form");
    refused("f32 nan(0x0)", "column 5: `nan(0x0)` is not a valid f32");
    refused(&"[".repeat(1_000_000 / MIRI), "column 255: nested deeper than 254 lists");
    refused(
        "f32[4611686018427387904,4] 0",
        "column 4: shape [4611686018427387904,4] has more elements than fit in 63 bits",
    );
}

#[track_caller]
fn cut(t: Tensor, expect: &str) {
    assert_eq!(t.to_string(), expect);
    assert_eq!(format!("{t:?}"), expect);
}

#[test]
fn long_ones_are_cut_in_the_middle() {
    let ramp = |shape: &[usize]| Tensor::from_iter(shape, 0i32..).unwrap();
    cut(ramp(&[64]), &format!("{:#}", ramp(&[64])));
    cut(ramp(&[1000]), "i32[1000] [0 1 2 .. 997 998 999]");
    cut(ramp(&[2, 100]), "i32[2,100] [[0 1 2 .. 97 98 99] [100 101 102 .. 197 198 199]]");
    cut(
        ramp(&[9, 9, 9]),
        "i32[9,9,9] [[[0 1 .. 7 8] [9 10 .. 16 17] .. [63 64 .. 70 71] [72 73 .. 79 80]] [[81 82 .. 88 89] [90 91 .. 97 98] .. [144 145 .. 151 152] [153 154 .. 160 161]] .. [[567 568 .. 574 575] [576 577 .. 583 584] .. [630 631 .. 637 638] [639 640 .. 646 647]] [[648 649 .. 655 656] [657 658 .. 664 665] .. [711 712 .. 718 719] [720 721 .. 727 728]]]",
    );
    cut(ramp(&[2; 10]), "i32[2,2,2,2,2,2,2,2,2,2] [..]");
    cut(Tensor::zeros(DType::F32, [usize::MAX >> 8, 0]).unwrap(), "f32[72057594037927935,0] []");
    cut(Tensor::str("x".repeat(1000)), &format!("str \"{0}\"..\"{0}\"", "x".repeat(40)));
    let deep = Tensor::scalar(1i32).reshape(vec![1; 254]).unwrap();
    assert!(deep.to_string().ends_with(&("[".repeat(254) + "1" + &"]".repeat(254))));
}

proptest! {
    #[test]
    fn every_bit_pattern_reads_back(words in prop::collection::vec(any::<[u64; 2]>(), 1..20)) {
        for dtype in DType::ALL {
            let Some(size) = dtype.size() else { continue };
            let bytes: Vec<u8> = words
                .iter()
                .flat_map(|w| w[0].to_le_bytes().into_iter().chain(w[1].to_le_bytes()).take(size))
                .map(|b| if dtype == DType::Bool { b & 1 } else { b })
                .collect();
            let t = Tensor::from_bytes(dtype, [words.len()], &bytes).unwrap();
            let text = format!("{t:#}");
            prop_assert!(Tensor::parse(&text).unwrap().bits_eq(&t), "{}", text);
        }
    }

    #[test]
    fn every_string_reads_back(strs in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..4), s in ".*") {
        let mut strs: Vec<Str> = strs.into_iter().map(Str::from).collect();
        strs.push(s.into());
        let t = Tensor::strings([strs.len()], strs).unwrap();
        let text = format!("{t:#}");
        prop_assert!(Tensor::parse(&text).unwrap().bits_eq(&t));
    }

    #[test]
    fn no_text_panics(text in "([\\[\\] ,0-9.einfa\"'\\\\x-]|f32|str|nan|true){0,40}", any in ".*") {
        let _ = Tensor::parse(&text);
        let _ = Tensor::parse(&any);
    }
}

#[test]
fn every_half_reads_back() {
    for dtype in [DType::F16, DType::BF16] {
        let all: Vec<u8> = (0..=u16::MAX).step_by(MIRI).flat_map(u16::to_ne_bytes).collect();
        let t = Tensor::from_bytes(dtype, [all.len() / 2], &all).unwrap();
        assert!(Tensor::parse(&format!("{t:#}")).unwrap().bits_eq(&t), "{dtype}");
    }
}
