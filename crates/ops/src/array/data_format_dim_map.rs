//! `DataFormatDimMap`, `DataFormatVecPermute`: axes, and entries of vectors, in another data format.

use millstream_graph::Attrs;
use millstream_graph::op::spec::{IndexType, Spec, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name, doc| {
        OpDef::new(name)
            .doc(doc)
            .input("x", "T")
            .output("y", "T")
            .attr("T", IndexType.or(I32))
            .attr("src_format", Text.or("NHWC"))
            .attr("dst_format", Text.or("NCHW"))
    };
    [
        def(
            "DataFormatDimMap",
            "Returns, for each axis in `x` of a tensor whose axes are named by the letters of `src_format`, the \
             axis of the same name in `dst_format`. Negative axes count from the back.",
        )
        .infer(|cx| {
            formats(cx.attrs())?;
            cx.same_as_input()
        })
        .kernel(Kernel::pure(map)),
        def(
            "DataFormatVecPermute",
            "Brings the rows of `x` into the order of `dst_format`. `x` is a vector, or a matrix of two columns, \
             with a row for each letter of `src_format`; or, if it has two rows less, for each letter but N and C.",
        )
        .infer(infer_permuted)
        .kernel(Kernel::pure(permute)),
    ]
}

/// For each letter of the first format, its position in the second. Both have the same letters, each once.
fn formats(attrs: &Attrs) -> Result<(Vec<u8>, Vec<u8>)> {
    let (from, to) = (attrs.str("src_format")?, attrs.str("dst_format")?);
    let sorted = |format: &[u8]| {
        let mut letters = format.to_vec();
        letters.sort_unstable();
        letters
    };
    let letters = sorted(from);
    ensure!(
        matches!(from.len(), 4 | 5),
        "Source format must be of length 4 or 5, received src_format = {}", from.text();
        "`src_format` is `{}`: it must have a letter for each of four or five axes", from.text()
    );
    ensure!(
        letters == sorted(to) && letters.windows(2).all(|pair| pair[0] != pair[1]),
        "Destination and source format must determine a permutation, got {} and {}", from.text(), to.text();
        "`src_format` is `{}` and `dst_format` is `{}`: both must have the same letters, each once", from.text(), to.text()
    );
    Ok((from.to_vec(), to.to_vec()))
}

fn place(letter: u8, format: &[u8]) -> usize {
    format.iter().position(|other| *other == letter).unwrap_or_default()
}

fn map(cx: &mut KernelCx) -> Result<()> {
    let (from, to) = formats(cx.attrs())?;
    let n = from.len() as i64;
    let mapped = |axis: &i64| {
        ensure!(
            (-n..n).contains(axis),
            "`x` has the axis {axis}, which is not in -{n}..{n}, those of the format `{}`",
            String::from_utf8_lossy(&from)
        );
        Ok(place(from[axis.rem_euclid(n) as usize], &to) as i64)
    };
    let axes = cx.ints(0)?.iter().map(mapped).collect::<Result<Vec<i64>>>()?;
    let out = ints(cx, axes)?;
    cx.set(0, out);
    Ok(())
}

/// A tensor of the dtype and shape of input 0.
fn ints(cx: &KernelCx, values: Vec<i64>) -> Result<Tensor> {
    let shape = cx.input(0).shape().clone();
    match cx.input(0).dtype() {
        I32 => Tensor::from_iter(shape, values.into_iter().map(|v| v as i32)),
        _ => Tensor::from_iter(shape, values),
    }
}

fn infer_permuted(cx: &mut InferCx) -> Result<()> {
    let (from, _) = formats(cx.attrs())?;
    if let Some(dims) = cx.input(0).dims() {
        let known: Vec<Option<usize>> = dims.to_vec();
        check(from.len(), &known).map_err(|why| invalid!("`x` has shape {}: {why}", cx.input(0)))?;
    }
    cx.same_as_input()
}

/// Checks the dimensions of the input of `DataFormatVecPermute`.
fn check(letters: usize, dims: &[Option<usize>]) -> std::result::Result<(), String> {
    let fits = match dims {
        [n] | [n, Some(2) | None] => n.is_none_or(|n| n == letters || n + 2 == letters),
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => Err(format!(
            "it must be a vector, or a matrix of two columns, with {letters} rows, or {} for the spatial axes",
            letters - 2
        )),
    }
}

fn permute(cx: &mut KernelCx) -> Result<()> {
    let (mut from, mut to) = formats(cx.attrs())?;
    let shape = cx.input(0).shape().clone();
    let dims: Vec<Option<usize>> = shape.dims().iter().copied().map(Some).collect();
    check(from.len(), &dims).map_err(|why| invalid!("`x` has shape {shape}: {why}"))?;
    if shape[0] != from.len() {
        let spatial = |letter: &u8| !matches!(letter, b'N' | b'C');
        from.retain(spatial);
        to.retain(spatial);
    }
    ensure!(
        from.len() == shape[0],
        "`x` has {} rows, and the format `{}` has other axes than N and C",
        shape[0],
        String::from_utf8_lossy(&from)
    );
    let (values, columns) = (cx.ints(0)?, shape.elements() / shape[0].max(1));
    let row = |letter: &u8| place(*letter, &from) * columns;
    let moved = to.iter().flat_map(|letter| values[row(letter)..][..columns].iter().copied()).collect();
    let out = ints(cx, moved)?;
    cx.set(0, out);
    Ok(())
}

cases! {
    axes: "DataFormatDimMap([0 1 2 3 -1]) = [0 2 3 1 1]",
    back: "DataFormatDimMap(i64[1] [3]; src_format=\"NCHW\", dst_format=\"NHWC\") = i64[1] [2]",
    volumes: "DataFormatDimMap([4]; src_format=\"NDHWC\", dst_format=\"NCDHW\") = [1]",
    an_axis: "DataFormatDimMap([4]) ! `x` has the axis 4",
    entries: "DataFormatVecPermute([7 4 9 3]) = [7 3 4 9]",
    pairs: "DataFormatVecPermute([[1 2] [3 4] [5 6] [7 8]]) = [[1 2] [7 8] [3 4] [5 6]]",
    spatial: "DataFormatVecPermute([5 6]; src_format=\"NHWC\", dst_format=\"NCWH\") = [6 5]",
    shape: "DataFormatVecPermute(i32[4,2]) : i32[4,2]",
    rows: "DataFormatVecPermute([1 2 3]) ! it must be a vector",
    columns: "DataFormatVecPermute(i32[4,3]) ! it must be a vector",
    formats: "DataFormatDimMap([0]; src_format=\"NHWC\", dst_format=\"NHWW\") ! both must have the same letters",
    letters: "DataFormatDimMap([0]; src_format=\"NC\", dst_format=\"CN\") ! four or five axes",
}
