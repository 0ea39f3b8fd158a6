//! Gradients through loops whose variables are IndexedSlices and SparseTensors. They equal those of the same
//! program on dense tensors.

use millstream_autodiff::Gradients;
use millstream_graph::{Arg, Graph, IndexedSlices, Output, SparseTensor};
use millstream_runtime::{Session, feed};
use millstream_tensor::{DType, PartialShape, Result, Tensor};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn fed<'g>(g: &'g Graph, name: &str, shape: impl Into<PartialShape>) -> Output<'g> {
    g.placeholder_of(name, DType::F64, shape.into())
}

fn less<'g>(a: Output<'g>, b: impl Into<Arg<'g>>) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn tanh(x: Output<'_>) -> Output<'_> {
    x.graph().op("Tanh").input(x).output()
}

fn sum<'g>(x: Output<'g>, axes: impl Into<Arg<'g>>) -> Output<'g> {
    x.graph().op("Sum").input(x).input(axes).output()
}

fn concat<'g>(a: Output<'g>, b: Output<'g>) -> Output<'g> {
    a.graph().op("ConcatV2").inputs([a, b]).input(0).output()
}

/// Returns a tensor of this shape with a 1 at position `i` and zeros elsewhere.
fn hot<'g>(i: Output<'g>, shape: [i32; 2]) -> Output<'g> {
    let g = i.graph();
    let hot = g.op("OneHot").input(i).input(shape[0] * shape[1]).input(1.0f64).input(0.0f64).output();
    g.op("Reshape").input(hot).input(shape).output()
}

fn value(shape: &[usize], seed: u32) -> Result<Tensor> {
    let n = shape.iter().product::<usize>() as u32;
    let numbers: Vec<f64> = (0..n).map(|i| f64::from((i * 7 + seed * 5) % 11) / 8.0 - 0.6).collect();
    Tensor::from_slice(shape, &numbers)
}

#[track_caller]
fn same(what: &str, got: &[Tensor], want: &[Tensor]) -> Result<()> {
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got.shape(), want.shape(), "{what} {i}");
        let (a, b) = (got.as_slice::<f64>()?, want.as_slice::<f64>()?);
        assert!(b.iter().any(|v| *v != 0.0), "{what} {i}: the program does not depend on it");
        let near = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-10 * b.abs().max(1.0));
        assert!(near, "{what} {i}: got {got}, want {want}");
    }
    Ok(())
}

/// Checks values, first and second derivatives of `y` against those of `dense`, with seven iterations and
/// with none.
#[track_caller]
fn agrees<'g>(
    g: &'g Graph,
    (y, dense): (Output<'g>, Output<'g>),
    n: Output<'g>,
    xs: &[(Output<'g>, Tensor)],
) -> Result<()> {
    let by: Vec<Output<'_>> = xs.iter().map(|(x, _)| *x).collect();
    let mut results = Vec::new();
    let session = Session::new(g)?;
    for n_value in [7i32, 1] {
        for y in [y, dense] {
            let first = g.gradients([y], by.clone()).dense()?;
            let square = |d: &Output<'g>| {
                let d = *d * *d;
                g.op("Sum").input(g.op("Reshape").input(d).input([-1]).output()).input(0).output()
            };
            let of_first = first.iter().map(square).reduce(|a, b| a + b);
            let second = g.gradients(of_first, by.clone()).dense()?;
            let fetches: Vec<Output<'_>> = [y].into_iter().chain(first).chain(second).collect();
            let mut feeds = feed![n => n_value];
            for (x, value) in xs {
                feeds = feeds.and(*x, value);
            }
            results.push(session.run::<Vec<Tensor>>(fetches, feeds)?);
        }
        let (dense, sparse) = (results.pop().unwrap_or_default(), results.pop().unwrap_or_default());
        assert_eq!(dense.len(), 1 + 2 * xs.len());
        same(&format!("{n_value} iterations, result"), &sparse, &dense)?;
    }
    Ok(())
}

#[test]
fn slices_that_move() -> Result<()> {
    let g = graph();
    let (x, w) = (fed(&g, "x", [2, 3]), fed(&g, "w", [3]));
    let n = g.placeholder_of("n", DType::I32, PartialShape::scalar());
    let slices =
        IndexedSlices { values: x, indices: g.constant([0, 2]), dense_shape: Some(g.constant([5, 3])) };
    let weights = g.constant_tensor("weights", value(&[5, 3], 3)?);
    let (_, slices) = g.while_loop((g.constant(0), slices)).run(
        |(i, _)| less(i, n),
        |(i, s)| {
            let moved =
                IndexedSlices { values: tanh(s.values * w) + s.values, indices: (s.indices + 1) % 5, ..s };
            (i + 1, moved)
        },
    )?;
    let whole = slices.to_dense(g.constant([5, 3]));
    let y = sum(whole * whole * weights, [0, 1]);
    let start = g.op("ScatterNd").input([[0], [2]]).input(x).input([5, 3]).output();
    let (_, d) = g.while_loop((g.constant(0), start)).run(
        |(i, _)| less(i, n),
        |(i, d)| (i + 1, g.op("Roll").input(tanh(d * w) + d).input(1).input(0).output()),
    )?;
    let dense = sum(d * d * weights, [0, 1]);
    agrees(&g, (y, dense), n, &[(x, value(&[2, 3], 1)?), (w, value(&[3], 2)?)])
}

#[test]
fn slices_that_grow() -> Result<()> {
    let g = graph();
    let (x, w) = (fed(&g, "x", [1, 3]), fed(&g, "w", [1, 3]));
    let n = g.placeholder_of("n", DType::I32, PartialShape::scalar());
    let slices = IndexedSlices { values: x, indices: g.constant([0]), dense_shape: None };
    let (_, slices) = g.while_loop((g.constant(0), slices)).shape_of(1, [None, Some(3)]).run(
        |(i, _)| less(i, n),
        |(i, s)| {
            let place = g.op("Reshape").input(i % 4).input([1]).output();
            let grown = IndexedSlices {
                values: concat(tanh(s.values) * w, x),
                indices: concat(s.indices, place),
                dense_shape: None,
            };
            (i + 1, grown)
        },
    )?;
    let whole = slices.to_dense(g.constant([4, 3]));
    let weights = g.constant_tensor("weights", value(&[4, 3], 3)?);
    let y = sum(whole * whole * weights, [0, 1]);
    // Rows with the same index are summed only in the end, so there are eight.
    let row = |i| g.op("MatMul").input(hot(i, [8, 1])).input(x).output();
    let (_, d) = g
        .while_loop((g.constant(0), row(g.constant(0))))
        .run(|(i, _)| less(i, n), |(i, d)| (i + 1, tanh(d) * w + row(i + 1)))?;
    let places = g.constant([[0], [0], [1], [2], [3], [0], [1], [2]]);
    let whole = g.op("ScatterNd").input(places).input(d).input([4, 3]).output();
    let dense = sum(whole * whole * weights, [0, 1]);
    agrees(&g, (y, dense), n, &[(x, value(&[1, 3], 1)?), (w, value(&[1, 3], 2)?)])
}

#[test]
fn sparse_tensors() -> Result<()> {
    let g = graph();
    let (x, w, b) = (fed(&g, "x", [3]), fed(&g, "w", [2]), fed(&g, "b", [4, 2]));
    let n = g.placeholder_of("n", DType::I32, PartialShape::scalar());
    let (places, shape) = (g.constant([[0i64, 1], [1, 3], [2, 0]]), g.constant([3i64, 4]));
    let (added, zero) = (g.constant([[0i64, 1], [2, 2]]), g.constant(0.0f64));
    let start = SparseTensor { indices: places, values: x, dense_shape: shape };
    let (_, s) = g.while_loop((g.constant(0), start)).shape_of(1, [2]).run(
        |(i, _)| less(i, n),
        |(i, s)| {
            let add =
                g.op("SparseAdd").inputs([s.indices, tanh(s.values), s.dense_shape, added, w, shape, zero]);
            let add = add.finish();
            let next =
                SparseTensor { indices: add.output(0), values: add.output(1), dense_shape: add.output(2) };
            (i + 1, next)
        },
    )?;
    let product = g.op("SparseTensorDenseMatMul").inputs([s.indices, s.values, s.dense_shape, b]).output();
    let y = sum(product * product, [0, 1]);
    let whole = |places, values| g.op("ScatterNd").inputs([places, values, shape]).output();
    let (_, d) = g
        .while_loop((g.constant(0), whole(places, x)))
        .run(|(i, _)| less(i, n), |(i, d)| (i + 1, tanh(d) + whole(added, w)))?;
    let product = g.op("MatMul").input(d).input(b).output();
    let dense = sum(product * product, [0, 1]);
    agrees(&g, (y, dense), n, &[(x, value(&[3], 1)?), (w, value(&[2], 2)?), (b, value(&[4, 2], 3)?)])
}

/// A loop that takes one of four rows after the other.
fn recurrent<'g>(
    x: Output<'g>,
    n: Output<'g>,
    row: impl FnOnce(Output<'g>) -> Output<'g>,
) -> Result<Output<'g>> {
    let g = x.graph();
    let step = |(i, h)| (i + 1, tanh(h * row(i % 4) + h + x));
    let (_, h) = g.while_loop((g.constant(0), x)).run(|(i, _)| less(i, n), step)?;
    Ok(sum(h, [0, 1]))
}

#[test]
fn rows_gathered_of_what_the_loop_captures() -> Result<()> {
    let g = graph();
    let (table, x) = (fed(&g, "table", [4, 2]), fed(&g, "x", [1, 2]));
    let n = g.placeholder_of("n", DType::I32, PartialShape::scalar());
    let gathered = |i| {
        let i = g.op("Reshape").input(i).input([1]).output();
        g.op("GatherV2").input(table).input(i).input(0).output()
    };
    let multiplied = |i| g.op("MatMul").input(hot(i, [1, 4])).input(table).output();
    let (y, dense) = (recurrent(x, n, gathered)?, recurrent(x, n, multiplied)?);
    agrees(&g, (y, dense), n, &[(table, value(&[4, 2], 1)?), (x, value(&[1, 2], 2)?)])
}
