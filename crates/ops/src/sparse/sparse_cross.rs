//! `SparseCross`: the crosses of features, row by row, as hashes or joined texts.
//!
//! Definition: TensorFlow's `SparseCross`; hashes are combined by its `FingerprintCat64`.

use super::entries::Entries;
use crate::strings::farm::fingerprint;
use millstream_graph::op::spec::{AtLeast, Bool, Int, OneOf, TypeList};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I64, Str as Text};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Str, Tensor, ensure, invalid, shape};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseCross")
        .doc(
            "Returns a sparse matrix whose row holds a value for each way to take one feature from the same \
             row of every input. The inputs are N sparse matrices, then dense ones, of i64 or strings. With \
             `hashed_output` a value is a hash of the features that begins with `hash_key`, modulo \
             `num_buckets` unless that is 0; otherwise it is the features joined by `_X_`.",
        )
        .inputs("indices", "N", I64)
        .input_list("values", "sparse_types")
        .inputs("shapes", "N", I64)
        .input_list("dense_inputs", "dense_types")
        .output("output_indices", I64)
        .output("output_values", "out_type")
        .output("output_shape", I64)
        .attr("N", AtLeast(0))
        .attr("hashed_output", Bool)
        .attr("num_buckets", AtLeast(0))
        .attr("hash_key", Int)
        .attr("sparse_types", TypeList)
        .attr("dense_types", TypeList)
        .attr("out_type", OneOf(&[I64, Text]))
        .attr("internal_type", OneOf(&[I64, Text]))
        .infer(infer)
        // An entry's index, its place among those of its row, and its hash.
        .kernel(Kernel::pure(run).scratch(48))
        .gradient(Gradient::none("of hashes and texts there is none, as in TensorFlow"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.set(0, PartialShape::new([None, Some(2)]));
    cx.set(1, PartialShape::new([None]));
    cx.set(2, shape![2]);
    Ok(())
}

/// The features of one input.
struct Column {
    values: Tensor,
    /// The positions of the values by their rows: all values of a dense input have as many in each row.
    places: Places,
    n_rows: i64,
}

enum Places {
    /// The row and the position of each value, sorted by row.
    Sparse(Charged<(i64, usize)>),
    /// The number of values in each row.
    Dense(usize),
}

impl Column {
    fn sparse(cx: &KernelCx, places: [usize; 3]) -> Result<Column> {
        let entries = Entries::new(cx, places)?;
        ensure!(entries.rank == 2, "`shapes` has {} sizes, but each input is a matrix", entries.rank);
        let rows = (0..entries.n).map(|row| (entries.index(row)[0], row)).collect();
        let mut rows = Charged::holding(rows)?;
        rows.sort_unstable();
        Ok(Column { n_rows: entries.shape[0], values: entries.values, places: Places::Sparse(rows) })
    }

    fn dense(values: &Tensor) -> Result<Column> {
        let [rows, columns] = *values.shape().dims() else {
            return Err(invalid!("`dense_inputs` are matrices, but one has shape {}", values.shape()));
        };
        Ok(Column { values: values.clone(), places: Places::Dense(columns), n_rows: rows as i64 })
    }

    /// The positions of the values in a row.
    fn of_row(&self, row: i64) -> Vec<usize> {
        match &self.places {
            Places::Sparse(rows) => {
                let first = rows.partition_point(|(r, _)| *r < row);
                rows[first..].iter().take_while(|(r, _)| *r == row).map(|(_, i)| *i).collect()
            }
            Places::Dense(n) => (row as usize * n..(row as usize + 1) * n).collect(),
        }
    }

    /// The rows with values, once each.
    fn rows(&self) -> Vec<i64> {
        match &self.places {
            Places::Sparse(rows) => {
                let mut rows: Vec<i64> = rows.iter().map(|(row, _)| *row).collect();
                rows.dedup();
                rows
            }
            Places::Dense(0) => Vec::new(),
            Places::Dense(_) => (0..self.n_rows).collect(),
        }
    }

    /// The hash of a value: of an integer itself.
    fn hash(&self, i: usize) -> Result<u64> {
        match self.values.as_strs() {
            Some(texts) => Ok(fingerprint(&texts[i])),
            None => Ok(self.values.as_slice::<i64>()?[i] as u64),
        }
    }

    fn write(&self, i: usize, text: &mut Vec<u8>) -> Result<()> {
        match self.values.as_strs() {
            Some(texts) => text.extend_from_slice(&texts[i]),
            None => text.extend_from_slice(self.values.as_slice::<i64>()?[i].to_string().as_bytes()),
        }
        Ok(())
    }
}

/// TensorFlow's combination of two hashes.
fn combined(a: u64, b: u64) -> u64 {
    const MUL: u64 = 0xc6a4_a793_5bd1_e995;
    let shifted = |v: u64| v ^ (v >> 47);
    let mixed = (a ^ MUL ^ shifted(b.wrapping_mul(MUL)).wrapping_mul(MUL)).wrapping_mul(MUL);
    shifted(shifted(mixed).wrapping_mul(MUL))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let attrs = cx.attrs();
    let n = attrs.int("N")? as usize;
    let is_hashed = attrs.bool("hashed_output")?;
    let (buckets, key) = (attrs.int("num_buckets")? as u64, attrs.int("hash_key")? as u64);
    let wanted = if is_hashed { I64 } else { Text };
    ensure!(attrs.dtype("out_type")? == wanted, "`out_type` must be {wanted} with this `hashed_output`");
    ensure!(attrs.dtypes("sparse_types")?.len() == n, "`sparse_types` must name {n} types, as `N` says");
    let mut columns =
        (0..n).map(|i| Column::sparse(cx, [i, n + i, 2 * n + i])).collect::<Result<Vec<_>>>()?;
    for values in &cx.inputs()[3 * n..] {
        columns.push(Column::dense(values)?);
    }
    let Some(first) = columns.first() else { return Err(invalid!("SparseCross needs at least one input")) };
    let n_rows = first.n_rows;
    for column in &columns {
        ensure!(
            column.n_rows == n_rows,
            "inputs have {n_rows} and {} rows: crossed ones have as many",
            column.n_rows
        );
        let dtype = column.values.dtype();
        ensure!(matches!(dtype, I64 | Text), "features are i64 or strings, not {dtype}");
    }
    let mut indices = Charged::holding(Vec::new())?;
    let (mut hashes, mut texts) = (Charged::holding(Vec::new())?, Vec::new());
    let (mut most, mut pace) = (0, Pace::new());
    for row in first.rows() {
        let places: Vec<Vec<usize>> = columns.iter().map(|column| column.of_row(row)).collect();
        if places.iter().any(Vec::is_empty) {
            continue;
        }
        let mut at = vec![0; columns.len()];
        let mut count = 0;
        loop {
            pace.spend(columns.len())?;
            indices.push([row, count])?;
            count += 1;
            let features =
                || columns.iter().zip(&places).zip(&at).map(|((column, places), at)| (column, places[*at]));
            if is_hashed {
                let hash = features().try_fold(key, |hash, (c, i)| c.hash(i).map(|h| combined(hash, h)))?;
                hashes.push((hash % if buckets > 0 { buckets } else { i64::MAX as u64 }) as i64)?;
            } else {
                let mut text = Vec::new();
                for (k, (column, i)) in features().enumerate() {
                    text.extend_from_slice(if k > 0 { b"_X_" } else { b"" });
                    column.write(i, &mut text)?;
                }
                texts.push(Str::new(text)?);
            }
            // The last column's features change first.
            let next = (0..at.len()).rev().find(|&k| at[k] + 1 < places[k].len());
            let Some(next) = next else { break };
            at[next] += 1;
            at[next + 1..].fill(0);
        }
        most = most.max(count);
    }
    let flat = indices.iter().flatten().copied();
    let places = Tensor::from_iter([indices.len(), 2], flat)?;
    let values = if is_hashed {
        Tensor::from_slice([hashes.len()], &hashes)?
    } else {
        Tensor::strings([texts.len()], texts)?
    };
    cx.set(0, places);
    cx.set(1, values);
    cx.set(2, Tensor::vector(&[n_rows, most])?);
    Ok(())
}

cases! {
    joins: "SparseCross(i64 [[0 0] [1 0] [1 1]], ['a' 'b' 'c'], i64 [2 2], i64 [[1 2] [3 4]]; N=1, hashed_output=false, num_buckets=0, hash_key=0, sparse_types={str}, dense_types={i64}, out_type=str, internal_type=str) = i64 [[0 0] [0 1] [1 0] [1 1] [1 2] [1 3]], ['a_X_1' 'a_X_2' 'b_X_3' 'b_X_4' 'c_X_3' 'c_X_4'], i64 [2 4]",
    hashes: "SparseCross(i64 [[0 0] [1 0] [1 1]], ['a' 'b' 'c'], i64 [2 2], i64 [[1 2] [3 4]]; N=1, hashed_output=true, num_buckets=0, hash_key=956888297470, sparse_types={str}, dense_types={i64}, out_type=i64, internal_type=i64) = i64 [[0 0] [0 1] [1 0] [1 1] [1 2] [1 3]], i64 [2928842892298887678 7560904255693475987 9204035953345268157 5665986376437707883 4384133765619275694 4779491748946477322], i64 [2 4]",
    in_buckets: "SparseCross(i64 [[1 1] [0 0] [1 0]], ['c' 'a' 'b'], i64 [2 2], i64 [[1 2] [3 4]]; N=1, hashed_output=true, num_buckets=100, hash_key=7, sparse_types={str}, dense_types={i64}, out_type=i64, internal_type=i64) = i64 [[0 0] [0 1] [1 0] [1 1] [1 2] [1 3]], i64 [77 40 12 62 82 71], i64 [2 4]",
    a_row_without_features: "SparseCross(i64 [[1 0]], i64[1] [5], i64 [2 1], i64 [[1] [3]]; N=1, hashed_output=false, num_buckets=0, hash_key=0, sparse_types={i64}, dense_types={i64}, out_type=str, internal_type=i64) = i64 [[1 0]], ['5_X_3'], i64 [2 1]",
    infers: "SparseCross(i64[2,2], str[?], i64[2]; N=1, hashed_output=false, num_buckets=0, hash_key=0, sparse_types={str}, dense_types={}, out_type=str, internal_type=str) : i64[?,2], str[?], i64[2]",
    as_many_rows: "SparseCross(i64 [[0 0]], i64[1] [5], i64 [2 1], i64 [[1]]; N=1, hashed_output=false, num_buckets=0, hash_key=0, sparse_types={i64}, dense_types={i64}, out_type=str, internal_type=i64) ! inputs have 2 and 1 rows",
    hashes_are_integers: "SparseCross(i64 [[0 0]], i64[1] [5], i64 [1 1]; N=1, hashed_output=true, num_buckets=0, hash_key=0, sparse_types={i64}, dense_types={}, out_type=str, internal_type=i64) ! `out_type` must be i64",
}
