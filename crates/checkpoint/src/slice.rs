//! [`Slice`]: a part of a tensor, and its key in a checkpoint.

use crate::corrupt;
use millstream_proto::{TensorSliceProto, tensor_slice_proto};
use millstream_tensor::{Result, Shape, Tensor, ensure, invalid};
use std::ops::Range;

/// A part of a tensor: a range of each dimension; `None` is the whole dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice(pub Vec<Option<Range<usize>>>);

impl Slice {
    /// Parses TensorFlow's text form of a part, the sizes of the whole tensor and the extents: `10 4 0,5:-`
    /// is rows 0 to 4 of a 10 by 4 matrix.
    pub fn parse(text: &str) -> Result<(Shape, Slice)> {
        let bad =
            |why: &str| invalid!("`{text}` is not a part of a tensor: {why}").with_help("write `10 4 0,5:-`");
        let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
        let extents = words.pop().ok_or_else(|| bad("it is empty"))?;
        let dims: Option<Vec<usize>> = words.iter().map(|w| w.parse().ok()).collect();
        let shape = Shape::new(dims.ok_or_else(|| bad("a size is not a number"))?);
        shape.checked_elements()?;
        let extents = if extents.is_empty() { Vec::new() } else { extents.split(':').collect() };
        let extent = |text: &str| match text.split_once(',') {
            _ if text == "-" => Some(None),
            Some((start, len)) => {
                let (start, len) = (start.parse::<usize>().ok()?, len.parse::<usize>().ok()?);
                Some(Some(start..start.checked_add(len)?))
            }
            None => None,
        };
        let slice: Option<Vec<_>> = extents.into_iter().map(extent).collect();
        let slice = Slice(slice.ok_or_else(|| bad("an extent is neither `-` nor `start,length`"))?);
        slice.ranges(&shape).map_err(|e| bad(e.message()))?;
        Ok((shape, slice))
    }

    pub(crate) fn from_message(message: &TensorSliceProto) -> Result<Slice> {
        let extent = |e: &tensor_slice_proto::Extent| match e.has_length {
            None => Ok(None),
            Some(tensor_slice_proto::extent::HasLength::Length(len)) => {
                let (start, len) = (usize::try_from(e.start), usize::try_from(len));
                let (Ok(start), Ok(len)) = (start, len) else {
                    return Err(corrupt("a part starts before 0 or has a negative length"));
                };
                start
                    .checked_add(len)
                    .map(|end| Some(start..end))
                    .ok_or_else(|| corrupt("the end of a part overflows"))
            }
        };
        message.extent.iter().map(extent).collect::<Result<_>>().map(Slice)
    }

    pub(crate) fn to_message(&self) -> TensorSliceProto {
        let extent = |range: &Option<Range<usize>>| match range {
            None => tensor_slice_proto::Extent::default(),
            Some(range) => tensor_slice_proto::Extent {
                start: range.start as i64,
                has_length: Some(tensor_slice_proto::extent::HasLength::Length(range.len() as i64)),
            },
        };
        TensorSliceProto { extent: self.0.iter().map(extent).collect() }
    }

    /// Whether the slice is the whole tensor.
    pub fn is_whole(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The range of each dimension in a tensor of this shape; an error if one is out of bounds.
    fn ranges(&self, whole: &Shape) -> Result<Vec<Range<usize>>> {
        ensure!(
            self.0.len() == whole.rank(),
            "it has {} extents for a tensor of shape {whole}",
            self.0.len()
        );
        let range = |(range, &dim): (&Option<Range<usize>>, &usize)| {
            let range = range.clone().unwrap_or(0..dim);
            ensure!(
                range.start <= range.end && range.end <= dim,
                "the extent {},{} does not lie in a tensor of shape {whole}",
                range.start,
                range.len()
            );
            Ok(range)
        };
        self.0.iter().zip(whole.dims()).map(range).collect()
    }

    /// The shape of the slice of a tensor of this shape.
    pub fn shape(&self, whole: &Shape) -> Result<Shape> {
        Ok(Shape::new(self.ranges(whole)?.into_iter().map(|r| r.len())))
    }

    /// The runs of consecutive elements in the slice of a tensor of this shape: the start of each, and their
    /// common length.
    pub(crate) fn runs(&self, whole: &Shape) -> Result<(Vec<usize>, usize)> {
        let ranges = self.ranges(whole)?;
        let mut starts = vec![0];
        // A run grows from the last dimension for as long as whole dimensions are taken.
        let (mut stride, mut run, mut open) = (1, 1, true);
        for (range, &dim) in ranges.iter().zip(whole.dims()).rev() {
            if open {
                starts.iter_mut().for_each(|s| *s += range.start * stride);
                run *= range.len();
                open = range.len() == dim;
            } else {
                starts = range.clone().flat_map(|i| starts.iter().map(move |s| s + i * stride)).collect();
            }
            stride *= dim;
        }
        Ok((if run == 0 { Vec::new() } else { starts }, run))
    }

    /// Returns the slice of `tensor`.
    pub fn cut(&self, tensor: &Tensor) -> Result<Tensor> {
        let shape = self.shape(tensor.shape())?;
        let (starts, run) = self.runs(tensor.shape())?;
        let at = |start: usize| start..start + run;
        let gone = || corrupt("a part lies outside of its tensor");
        if let Some(strs) = tensor.as_strs() {
            let parts = starts.into_iter().map(|s| strs.get(at(s)).ok_or_else(gone));
            return Tensor::strings(shape, parts.collect::<Result<Vec<_>>>()?.concat());
        }
        let (Some(bytes), Some(size)) = (tensor.as_bytes(), tensor.dtype().size()) else {
            return Err(crate::not_plain(tensor.dtype()));
        };
        let parts = starts.into_iter().map(|s| bytes.get(s * size..(s + run) * size).ok_or_else(gone));
        Tensor::from_bytes(tensor.dtype(), shape, &parts.collect::<Result<Vec<_>>>()?.concat())
    }

    /// The key of this part of the tensor `name`. It sorts before all names, which do not begin with a zero
    /// byte.
    pub(crate) fn key(&self, name: &str) -> Vec<u8> {
        let mut key = Vec::new();
        put_number(&mut key, 0);
        for &byte in name.as_bytes() {
            match byte {
                0x00 => key.extend([0x00, 0xff]),
                0xff => key.extend([0xff, 0x00]),
                _ => key.push(byte),
            }
        }
        key.extend([0x00, 0x01]);
        put_number(&mut key, self.0.len() as u64);
        for range in &self.0 {
            put_signed(&mut key, range.as_ref().map_or(0, |r| r.start as i64));
            put_signed(&mut key, range.as_ref().map_or(-1, |r| r.len() as i64));
        }
        key
    }
}

/// Appends the number of significant bytes and the bytes, highest first. This sorts as the numbers do.
fn put_number(key: &mut Vec<u8>, value: u64) {
    let bytes = value.to_be_bytes();
    let from = bytes.iter().position(|b| *b != 0).unwrap_or(bytes.len());
    key.push((bytes.len() - from) as u8);
    key.extend(&bytes[from..]);
}

/// Appends one leading bit per byte, all of them the complement of the sign, and then the number. This sorts
/// as signed numbers do.
fn put_signed(key: &mut Vec<u8>, value: i64) {
    const HEADERS: [[u8; 2]; 11] = [
        [0, 0],
        [0x80, 0],
        [0xc0, 0],
        [0xe0, 0],
        [0xf0, 0],
        [0xf8, 0],
        [0xfc, 0],
        [0xfe, 0],
        [0xff, 0],
        [0xff, 0x80],
        [0xff, 0xc0],
    ];
    let magnitude = if value < 0 { !value } else { value } as u64;
    let len = (u64::BITS - magnitude.leading_zeros()) as usize / 7 + 1;
    let sign = if value < 0 { 0xff } else { 0 };
    let mut bytes = [sign; 10];
    bytes[2..].copy_from_slice(&value.to_be_bytes());
    let tail = &mut bytes[10 - len..];
    tail[0] ^= HEADERS[len][0];
    if let Some(second) = tail.get_mut(1) {
        *second ^= HEADERS[len][1];
    }
    key.extend_from_slice(tail);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut() {
        #[track_caller]
        fn check(text: &str, want: &[i32]) {
            let (whole, slice) = Slice::parse(text).expect("parses");
            let numbers: Vec<i32> = (0..whole.elements() as i32).collect();
            let tensor = Tensor::from_slice(whole.clone(), &numbers).expect("makes");
            let part = slice.cut(&tensor).expect("cuts");
            assert_eq!(part.as_slice::<i32>().expect("i32"), want, "{text}");
            assert_eq!(*part.shape(), slice.shape(&whole).expect("shape"));
        }
        check("3 4 -:-", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        check("3 4 1,2:-", &[4, 5, 6, 7, 8, 9, 10, 11]);
        check("3 4 -:1,2", &[1, 2, 5, 6, 9, 10]);
        check("3 4 1,1:3,1", &[7]);
        check("2 2 2 1,1:-:0,1", &[4, 6]);
        check("2 3 2 -:1,2:-", &[2, 3, 4, 5, 8, 9, 10, 11]);
        check("4 2,0", &[]);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in
            ["", "4", "4 0,5", "4 5,1", "4 -:-", "a 0,1", "4 0;1", "4 0,99999999999999999999", "4 -1,2"]
        {
            assert!(Slice::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_sort_as_numbers_do() {
        let numbers = [i64::MIN, -5000, -65, -64, -1, 0, 63, 64, 8191, 8192, 1 << 40, i64::MAX];
        let keys: Vec<Vec<u8>> = numbers
            .iter()
            .map(|&n| {
                let mut key = Vec::new();
                put_signed(&mut key, n);
                key
            })
            .collect();
        assert!(keys.is_sorted(), "{keys:?}");
        assert_eq!(keys[4..6], [vec![0x7f], vec![0x80]]);
    }
}
