//! Sparse tensors as strings, and back.

use crate::options::Start;
use millstream_graph::{Arg, Output, SparseTensor};
use millstream_tensor::{DType, Result};

/// Serializes a sparse tensor to a vector of three strings, or of variants:
/// `serialize_sparse(g.with("out_type", DType::Variant), &sparse)`.
///
/// ```
/// use millstream::parsing::{deserialize_sparse, serialize_sparse};
/// use millstream::prelude::*;
/// use millstream::SparseTensor;
/// let g = Graph::new();
/// let sparse = SparseTensor {
///     indices: g.constant([[0i64, 1], [2, 0]]),
///     values: g.constant([1.5f32, 2.5]),
///     dense_shape: g.constant([3i64, 2]),
/// };
/// let strings = serialize_sparse(&g, &sparse)?;
/// let both = g.pack([strings, strings]);
/// let batch = deserialize_sparse(&g, both, DType::F32, Some(3))?;
/// let session = Session::new(&g)?;
/// let (values, shape): (Vec<f32>, Vec<i64>) = session.run((batch.values, batch.dense_shape), feed![])?;
/// assert_eq!(values, [1.5, 2.5, 1.5, 2.5]);
/// assert_eq!(shape, [2, 3, 2]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn serialize_sparse<'g>(g: impl Start<'g>, sparse: &SparseTensor<'g>) -> Result<Output<'g>> {
    serialize(g, "SerializeSparse", sparse)
}

/// Serializes each row of a sparse tensor as [`serialize_sparse`] does, to a matrix.
///
/// ```
/// use millstream::parsing::{deserialize_many_sparse, serialize_many_sparse};
/// use millstream::prelude::*;
/// use millstream::SparseTensor;
/// let g = Graph::new();
/// let sparse = SparseTensor {
///     indices: g.constant([[0i64, 1], [2, 0]]),
///     values: g.constant([1.5f32, 2.5]),
///     dense_shape: g.constant([3i64, 2]),
/// };
/// let rows = serialize_many_sparse(&g, &sparse)?;
/// let back = deserialize_many_sparse(&g, rows, DType::F32, Some(2))?;
/// let indices: Tensor = Session::new(&g)?.run(back.indices, feed![])?;
/// assert_eq!(indices.to_string(), "i64[2,2] [[0 1] [2 0]]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn serialize_many_sparse<'g>(g: impl Start<'g>, sparse: &SparseTensor<'g>) -> Result<Output<'g>> {
    serialize(g, "SerializeManySparse", sparse)
}

/// Deserializes the sparse tensors in the last axis of `serialized`, three strings or variants each; the
/// other axes come first in the result. `dtype` is the dtype of the values, `rank` the rank of the result, if
/// known. See the example of [`serialize_sparse`].
#[track_caller]
pub fn deserialize_sparse<'g>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    dtype: DType,
    rank: Option<usize>,
) -> Result<SparseTensor<'g>> {
    deserialize(g, "DeserializeSparse", serialized.into(), dtype, rank)
}

/// Deserializes the sparse tensors in the rows of `serialized`, three strings each; the first axis of the
/// result is that of the rows. `dtype` is the dtype of the values, `rank` the rank of the result, if known.
/// See the example of [`serialize_many_sparse`].
#[track_caller]
pub fn deserialize_many_sparse<'g>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    dtype: DType,
    rank: Option<usize>,
) -> Result<SparseTensor<'g>> {
    deserialize(g, "DeserializeManySparse", serialized.into(), dtype, rank)
}

#[track_caller]
fn serialize<'g>(g: impl Start<'g>, op: &'static str, sparse: &SparseTensor<'g>) -> Result<Output<'g>> {
    let parts = [sparse.indices, sparse.values, sparse.dense_shape];
    Ok(g.start(op).inputs(parts).try_finish()?.output(0))
}

#[track_caller]
fn deserialize<'g>(
    g: impl Start<'g>,
    op: &'static str,
    serialized: Arg<'g>,
    dtype: DType,
    rank: Option<usize>,
) -> Result<SparseTensor<'g>> {
    let op = g.start(op).input(serialized).attr("dtype", dtype).try_finish()?;
    let indices = op.output(0).set_shape([None, rank]);
    Ok(SparseTensor { indices, values: op.output(1), dense_shape: op.output(2).set_shape([rank]) })
}
