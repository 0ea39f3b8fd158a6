//! Moving elements of every width and strings, compared with naive loops.

use crate::*;
use proptest::prelude::*;

/// The numbers `0..n` as a tensor of this dtype; strings are decimal.
fn count(dtype: DType, shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    let size = dtype.size();
    match size {
        None => {
            let strs = (0..n).map(|i| Str::from(i.to_string())).collect();
            Tensor::strings(shape, strs).unwrap()
        }
        Some(size) => {
            let bytes: Vec<u8> = (0..n)
                .flat_map(|i| {
                    let mut word = [0; 16];
                    // The low bytes tell elements apart; the high ones catch half-copied words.
                    word[..4].copy_from_slice(&(i as u32).to_le_bytes());
                    word[size - 1] ^= (i as u8) << 4;
                    word[..size].to_vec()
                })
                .collect();
            Tensor::from_bytes(dtype, shape, &bytes).unwrap()
        }
    }
}

/// The elements at `indices`, one push at a time.
fn pick(t: &Tensor, shape: &[usize], indices: &[usize]) -> Tensor {
    let mut out = Assembler::new(t.dtype(), shape).unwrap();
    for &i in indices {
        out.push(t, i, 1).unwrap();
    }
    out.finish().unwrap()
}

const WIDTHS: [DType; 6] = [DType::I8, DType::F16, DType::I32, DType::C64, DType::C128, DType::Str];

/// The row-major flat indices of a strided space.
fn naive(shape: &[usize], offset: isize, strides: &[isize]) -> Vec<isize> {
    let mut out = vec![offset];
    for (&d, &s) in shape.iter().zip(strides) {
        out = out.iter().flat_map(|&at| (0..d as isize).map(move |i| at + i * s)).collect();
    }
    out
}

#[track_caller]
fn check_strided(len: usize, shape: &[usize], offset: isize, strides: &[isize]) {
    let indices = naive(shape, offset, strides);
    let fits = indices.iter().all(|&i| 0 <= i && i < len as isize);
    for dtype in WIDTHS {
        let src = count(dtype, &[len]);
        let got = src.strided(shape, offset, strides);
        if !fits {
            assert!(got.is_err(), "{shape:?} from {offset} by {strides:?} of {len}");
            continue;
        }
        let indices: Vec<usize> = indices.iter().map(|&i| i as usize).collect();
        let got = got.unwrap();
        assert!(
            got.bits_eq(&pick(&src, shape, &indices)),
            "{dtype} {shape:?} from {offset} by {strides:?} of {len}"
        );

        // The inverse: writes the elements over others, at the positions they were read from.
        let mut all = indices.clone();
        all.sort_unstable();
        all.dedup();
        if all.len() == indices.len() {
            let mut other = count(dtype, &[len + 3]).rows(3, len).unwrap();
            let mut wanted: Vec<Tensor> = (0..len).map(|i| pick(&other, &[], &[i])).collect();
            for &i in &indices {
                wanted[i] = pick(&src, &[], &[i]);
            }
            let shared = other.clone();
            other.assign_strided(offset, strides, shape, &got).unwrap();
            for (i, w) in wanted.iter().enumerate() {
                assert!(
                    pick(&other, &[], &[i]).bits_eq(w),
                    "{dtype} {shape:?} from {offset} by {strides:?}: {i}"
                );
            }
            assert!(shared.bits_eq(&count(dtype, &[len + 3]).rows(3, len).unwrap()), "a shared copy changed");
        }
    }
}

#[test]
fn strided_by_hand() {
    check_strided(6, &[2, 3], 0, &[3, 1]);
    check_strided(6, &[3, 2], 0, &[1, 3]);
    check_strided(6, &[6], 5, &[-1]);
    check_strided(6, &[2, 3], 5, &[-3, -1]);
    check_strided(6, &[4, 3], 3, &[0, 1]);
    check_strided(6, &[], 5, &[]);
    check_strided(6, &[], 6, &[]);
    check_strided(6, &[], -1, &[]);
    check_strided(6, &[7], 0, &[1]);
    check_strided(6, &[2], 0, &[isize::MAX]);
    check_strided(6, &[2], 0, &[isize::MIN]);
    check_strided(0, &[0, 3], 9, &[3, 1]);
    check_strided(40 * 35, &[40, 35], 0, &[1, 40]);
    check_strided(3 * 20 * 33, &[3, 33, 20], 0, &[660, 1, 33]);
    check_strided(5 * 18 * 7, &[5, 18, 7], 0, &[1, 5, 90]);
    check_strided(5 * 18 * 7, &[18, 5, 7], 0, &[5, 1, 90]);
    check_strided(5 * 18 * 7, &[18, 5, 7], 4 + 6 * 90, &[5, -1, -90]);
}

proptest! {
    #[test]
    fn strided_is_the_naive_loop(
        axes in prop::collection::vec((0usize..5, -20isize..20), 0..5),
        offset in -5isize..80,
        len in 0usize..120,
    ) {
        let (shape, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        check_strided(len, &shape, offset, &strides);
    }

    #[test]
    fn transposes(dims in prop::collection::vec(1usize..20, 1..4), seed in any::<u64>()) {
        let own = Shape::new(dims.iter().copied()).strides();
        let mut order: Vec<usize> = (0..dims.len()).collect();
        order.sort_by_key(|&i| seed.rotate_left(i as u32 * 9) % 31);
        let shape: Vec<usize> = order.iter().map(|&i| dims[i]).collect();
        let strides: Vec<isize> = order.iter().map(|&i| own[i] as isize).collect();
        check_strided(dims.iter().product(), &shape, 0, &strides);
    }

    #[test]
    fn runs(len in 1usize..40, run in 1usize..5, seeds in prop::collection::vec(any::<usize>(), 0..8)) {
        prop_assume!(run <= len);
        let starts: Vec<usize> = seeds.iter().map(|s| s % (len - run + 1)).collect();
        let indices: Vec<usize> = starts.iter().flat_map(|&s| s..s + run).collect();
        for dtype in WIDTHS {
            let src = count(dtype, &[len]);
            let got = src.take_runs([starts.len(), run], run, &starts).unwrap();
            prop_assert!(got.bits_eq(&pick(&src, &[starts.len(), run], &indices)));
            let mut out = Tensor::zeros(dtype, [len]).unwrap();
            let shared = out.clone();
            out.scatter_runs(run, &starts, &got).unwrap();
            for i in 0..len {
                let from = if indices.contains(&i) { &src } else { &shared };
                prop_assert!(pick(&out, &[], &[i]).bits_eq(&pick(from, &[], &[i])));
            }
        }
    }
}

#[track_caller]
fn refused<T>(result: Result<T>, words: &str) {
    match result {
        Ok(_) => panic!("expected an error: {words}"),
        Err(e) => assert!(e.message().contains(words), "{}", e.message()),
    }
}

#[test]
fn refusals() {
    let t = count(DType::I32, &[6]);
    refused(t.take([2], &[5, 6]), "6..6+1 are out of range: there are 6");
    refused(t.take([3], &[5, 4]), "2 runs of 1 elements do not fit shape [3]");
    refused(t.take_runs([2, 3], 3, &[0, 4]), "4..4+3 are out of range");
    refused(t.take_runs([7], 7, &[0]), "0..0+7 are out of range");
    refused(t.strided([2, 3], 0, &[1]), "1 strides were given for shape [2,3]");
    refused(t.strided([1 << 40, 1 << 40], 0, &[0, 0]), "more elements than fit");
    refused(t.strided([1 << 62], 0, &[0]), "");
    refused(count(DType::Str, &[2]).strided([1 << 60], 0, &[0]), "");
    refused(t.broadcast_to([5]), "Incompatible shapes: [6] vs. [5]");
    refused(t.broadcast_to([]), "Incompatible shapes: [6] vs. []");
    refused(t.bitcast(DType::Bool, [24]), "bool");
    refused(t.bitcast(DType::F64, [4]), "a different number of bytes");
    refused(count(DType::Str, &[1]).bitcast(DType::I8, [1]), "not plain data");
    refused(Tensor::from_bytes(DType::Bool, [2], &[1, 2]), "byte 2 at index 1 is not a bool");
    refused(Tensor::from_bytes(DType::I32, [2], &[1, 2]), "takes 8 bytes");
    refused(Tensor::fill([2], &t), "expected one element");
    let mut a = Assembler::new(DType::I32, [4]).unwrap();
    refused(a.push(&t, 0, 5), "has 4 elements but 0 + 5");
    refused(a.push(&t, 5, 2), "elements 5..5+2 are out of range of i32[6]");
    refused(a.push(&count(DType::F32, &[1]), 0, 1), "elements of f32 cannot go into a tensor of i32");
    a.push(&t, 4, 2).unwrap();
    refused(a.finish(), "has 4 elements but 2 were added");
    let mut u = t.clone();
    refused(u.scatter_runs(2, &[5], &count(DType::I32, &[2])), "5..5+2 are out of range");
    refused(
        u.scatter_runs(1, &[0], &count(DType::F32, &[1])),
        "elements of f32 cannot be written into i32[6]",
    );
    refused(u.assign_strided(0, &[1], [3], &count(DType::I32, &[2])), "2 elements of shape [2]");
}

#[test]
fn scalars_move_too() {
    let c = Tensor::scalar(C64::new(1.0, 2.0));
    assert!(c.strided([2, 2], 0, &[0, 0]).unwrap().bits_eq(&Tensor::fill([2, 2], &c).unwrap()));
    assert!(c.broadcast_to([2, 2]).unwrap().bits_eq(&Tensor::fill([2, 2], &c).unwrap()));
    assert!(c.take([3], &[0, 0, 0]).unwrap().bits_eq(&Tensor::fill([3], &c).unwrap()));
    assert!(c.strided([], 0, &[]).unwrap().bits_eq(&c));
    let mut d = Tensor::scalar(C64::default());
    d.assign_strided(0, &[], Shape::scalar(), &c).unwrap();
    assert!(d.bits_eq(&c));
    let mut v = Tensor::zeros(DType::C64, [2]).unwrap();
    v.assign_strided(1, &[], Shape::scalar(), &c).unwrap();
    v.scatter_runs(1, &[0], &c).unwrap();
    assert!(v.bits_eq(&Tensor::fill([2], &c).unwrap()));
    let s = Tensor::str("x").broadcast_to([2]).unwrap();
    assert_eq!(s.as_strs().unwrap(), &[Str::from("x"), Str::from("x")]);
}

#[test]
fn writes_in_place_when_unshared() {
    let mut t = count(DType::F32, &[8]);
    let before = t.as_bytes().unwrap().as_ptr();
    t.scatter_runs(2, &[6], &count(DType::F32, &[2])).unwrap();
    t.assign_strided(0, &[2], [2], &count(DType::F32, &[2])).unwrap();
    assert_eq!(before, t.as_bytes().unwrap().as_ptr());
}

#[test]
fn broadcasts_as_numpy() {
    let t = count(DType::I32, &[2, 1]);
    let got = t.broadcast_to([3, 2, 2]).unwrap();
    assert!(got.bits_eq(&pick(&t, &[3, 2, 2], &[0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1])));
    assert!(t.broadcast_to([2, 0]).unwrap().bits_eq(&Tensor::zeros(DType::I32, [2, 0]).unwrap()));
}

#[test]
fn bitcasts() {
    let t = Tensor::vector(&[1.0f32, -0.0, 2.0]).unwrap();
    let bits = t.bitcast(DType::U32, [3]).unwrap();
    assert_eq!(bits.as_slice::<u32>().unwrap(), &[0x3f80_0000, 0x8000_0000, 0x4000_0000]);
    let bytes = t.rows(1, 2).unwrap().bitcast(DType::U8, [2, 4]).unwrap();
    assert_eq!(bytes.as_slice::<u8>().unwrap(), &[0, 0, 0, 0x80, 0, 0, 0, 0x40]);
    // Bytes 4..12 do not start at a whole f64, so they are copied.
    let wide = t.rows(1, 2).unwrap().bitcast(DType::F64, []).unwrap();
    assert_eq!(wide.to_scalar::<f64>().unwrap().to_bits(), 0x4000_0000_8000_0000);
    let one = Tensor::scalar(1.0f32).bitcast(DType::U8, [4]).unwrap();
    assert_eq!(one.as_slice::<u8>().unwrap(), &[0, 0, 0x80, 0x3f]);
    assert!(t.bits_eq(&bits.bitcast(DType::F32, [3]).unwrap()));
    assert!(!Tensor::scalar(0.0f32).bits_eq(&Tensor::scalar(-0.0f32)));
    assert!(Tensor::scalar(f32::NAN).bits_eq(&Tensor::scalar(f32::NAN)));
}

/// Matrices smaller than a block, of whole blocks, and of blocks with a rest, in words of every width.
#[test]
fn a_transpose_is_the_matrix_turned() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) {
        for (rows, cols, pitch) in [(1, 1, 1), (3, 70, 70), (16, 16, 20), (64, 128, 128), (65, 130, 131)] {
            let data: Vec<T> = (0..rows * pitch).map(&of).collect();
            let turned = Tensor::transpose_of(&data, [rows, cols], pitch).unwrap();
            let want: Vec<T> = (0..rows * cols).map(|i| of(i % rows * pitch + i / rows)).collect();
            assert_eq!(turned.as_slice::<T>().unwrap(), want, "{rows} by {cols}, {pitch} apart");
        }
    }
    check(|i| i as u8);
    check(|i| i as u16);
    check(|i| i as f32);
    check(|i| i as f64);
    check(|i| C128::new(i as f64, -(i as f64)));
}

#[test]
fn a_transpose_of_too_few_elements_is_refused() {
    assert!(Tensor::transpose_of(&[0f32; 11], [3, 4], 4).is_err());
    assert!(Tensor::transpose_of(&[0f32; 12], [3, 4], 3).is_err());
    assert!(Tensor::transpose_of(&[0f32; 12], [usize::MAX, 4], 4).is_err());
    assert_eq!(Tensor::transpose_of(&[0f32; 0], [0, 4], 4).unwrap().shape()[..], [4, 0]);
}
