//! Derivatives made of gradients: Jacobians, Hessians, and derivatives along a direction.

use crate::gradients::Gradients;
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result, ensure, invalid};

/// Derivatives beyond gradients of sums.
pub trait Derivatives: Gradients {
    /// Returns the Jacobian: the derivative of every element of `y` by every element of `x`, of shape
    /// `y.shape + x.shape`. It is computed by a loop over the elements of `y`, whose iterations may overlap.
    /// `x` may be a variable, here and below.
    #[track_caller]
    fn jacobian<'g>(&'g self, y: impl Into<Output<'g>>, x: impl Into<Output<'g>>) -> Result<Output<'g>>;

    /// Returns the Jacobian of each entry of a batch: `y` is `[b, ..]`, `x` is `[b, ..]`, and entry `i` of
    /// `y` depends on entry `i` of `x` only. The result has shape `[b] + y.shape[1..] + x.shape[1..]`.
    #[track_caller]
    fn batch_jacobian<'g>(&'g self, y: impl Into<Output<'g>>, x: impl Into<Output<'g>>)
    -> Result<Output<'g>>;

    /// Returns the Hessians: the second derivatives of the sum of `ys` by each x, of shape
    /// `x.shape + x.shape`.
    #[track_caller]
    fn hessians<'g, X: Into<Output<'g>>>(
        &'g self,
        ys: impl IntoIterator<Item = impl Into<Output<'g>>>,
        xs: impl IntoIterator<Item = X>,
    ) -> Result<Vec<Output<'g>>>;

    /// Returns the derivatives of the ys along `tangents`, one for each x. This is forward mode: it
    /// differentiates the gradient, which is linear in the gradients that flow in.
    #[track_caller]
    fn jvp<'g>(
        &'g self,
        ys: &[Output<'g>],
        xs: &[Output<'g>],
        tangents: &[Output<'g>],
    ) -> Result<Vec<Output<'g>>>;
}

impl Derivatives for Graph {
    #[track_caller]
    fn jacobian<'g>(&'g self, y: impl Into<Output<'g>>, x: impl Into<Output<'g>>) -> Result<Output<'g>> {
        let (y, x) = (y.into(), x.into());
        self.name_scope("jacobian", || {
            let n = self.op("Size").input(y).output();
            let rows = self.rows(n, x, |i| {
                let shape = self.op("Shape").input(y).output();
                let (one, zero) = (self.scalar_of(y.dtype()?, 1.0), self.scalar_of(y.dtype()?, 0.0));
                let flat = self.op("OneHot").inputs([i, n, one, zero]).output();
                let seed = self.op("Reshape").inputs([flat, shape]).output().set_shape(y.shape());
                Ok(self.gradients([y], [x]).grad_ys([Some(seed)]).dense()?[0])
            })?;
            let shape = self.joined_shapes(&[y, self.value_of(x)?]);
            let result = self.op("Reshape").inputs([rows, shape]).output();
            self.check()?;
            Ok(result)
        })
    }

    #[track_caller]
    fn batch_jacobian<'g>(
        &'g self,
        y: impl Into<Output<'g>>,
        x: impl Into<Output<'g>>,
    ) -> Result<Output<'g>> {
        let (y, by) = (y.into(), x.into());
        let x = self.value_of(by)?;
        for o in [y, x] {
            ensure!(o.shape().rank() != Some(0), "`{}` is a scalar: it has no batch axis", o.name());
        }
        self.name_scope("batch_jacobian", || {
            let (y_shape, x_shape) = (self.op("Shape").input(y).output(), self.op("Shape").input(x).output());
            let part = |shape: Output<'g>, begin: i32, end: Option<i32>| {
                let node =
                    self.op("StridedSlice").input(shape).input([begin]).input([end.unwrap_or(0)]).input([1]);
                node.attr("end_mask", i64::from(end.is_none())).output()
            };
            let concat = |parts: Vec<Output<'g>>| self.op("ConcatV2").inputs(parts).input(0).output();
            let batch = part(y_shape, 0, Some(1));
            let minus = self.constant([-1]);
            let flat = self.op("Reshape").inputs([y, concat(vec![batch, minus])]).output();
            let n = self.op("Prod").input(part(y_shape, 1, None)).input([0]).output();
            let rows = self.rows(n, by, |i| {
                // Entries do not depend on each other, so the gradient of the sum over the batch keeps them
                // apart.
                let one = self.op("Reshape").inputs([i, self.constant([1])]).output();
                let column = self.op("GatherV2").inputs([flat, one, self.constant(1)]).output();
                Ok(self.gradients([column], [by]).dense()?[0])
            })?;
            let x_rank = self.op("Rank").input(x).output();
            let rest = self.op("Range").input(2).input(x_rank + 1).input(1).output();
            let swapped =
                self.op("Transpose").inputs([rows, concat(vec![self.constant([1, 0]), rest])]).output();
            let shape = concat(vec![batch, part(y_shape, 1, None), part(x_shape, 1, None)]);
            let result = self.op("Reshape").inputs([swapped, shape]).output();
            self.check()?;
            Ok(result)
        })
    }

    #[track_caller]
    fn hessians<'g, X: Into<Output<'g>>>(
        &'g self,
        ys: impl IntoIterator<Item = impl Into<Output<'g>>>,
        xs: impl IntoIterator<Item = X>,
    ) -> Result<Vec<Output<'g>>> {
        let (ys, xs): (Vec<Output<'g>>, Vec<Output<'g>>) =
            (ys.into_iter().map(Into::into).collect(), xs.into_iter().map(Into::into).collect());
        self.name_scope("hessians", || {
            let grads = self.gradients(ys, xs.clone()).dense()?;
            grads.into_iter().zip(xs).map(|(grad, x)| self.jacobian(grad, x)).collect()
        })
    }

    #[track_caller]
    fn jvp<'g>(
        &'g self,
        ys: &[Output<'g>],
        xs: &[Output<'g>],
        tangents: &[Output<'g>],
    ) -> Result<Vec<Output<'g>>> {
        ensure!(xs.len() == tangents.len(), "{} tangents for {} xs", tangents.len(), xs.len());
        self.name_scope("jvp", || {
            let dummies: Vec<Output<'g>> =
                ys.iter().map(|y| self.op("ZerosLike").input(*y).output()).collect();
            let seeds: Vec<Option<Output<'g>>> = dummies.iter().copied().map(Some).collect();
            let grads = self.gradients(ys.iter().copied(), xs.iter().copied()).grad_ys(seeds).dense()?;
            let tangents: Vec<Option<Output<'g>>> = tangents.iter().copied().map(Some).collect();
            self.gradients(grads, dummies).grad_ys(tangents).dense()
        })
    }
}

/// The loops over rows that the functions above share.
trait Rows {
    /// Returns `row(i)` for each `i` below `n`, stacked: shape `[n] + x.shape`.
    fn rows<'g>(
        &'g self,
        n: Output<'g>,
        x: Output<'g>,
        row: impl FnOnce(Output<'g>) -> Result<Output<'g>>,
    ) -> Result<Output<'g>>;

    /// Returns a value with the dtype and shape of an `x`: itself, or the value of the variable behind a
    /// handle.
    fn value_of<'g>(&'g self, x: Output<'g>) -> Result<Output<'g>>;

    /// Returns the shapes of both, concatenated.
    fn joined_shapes<'g>(&'g self, values: &[Output<'g>]) -> Output<'g>;
}

impl Rows for Graph {
    fn rows<'g>(
        &'g self,
        n: Output<'g>,
        x: Output<'g>,
        row: impl FnOnce(Output<'g>) -> Result<Output<'g>>,
    ) -> Result<Output<'g>> {
        let x = self.value_of(x)?;
        let dtype = x.dtype()?;
        let shape = x.shape();
        let list = self.op("TensorListReserve").input(self.element_shape(&shape)).input(n);
        let list = list.attr("element_dtype", dtype).output();
        let (_, list) = self.while_loop((self.constant(0), list)).run(
            |(i, _)| self.op("Less").inputs([i, n]).output(),
            |(i, list)| {
                let row = row(i)?;
                let list = self.op("TensorListSetItem").inputs([list, i, row]).output();
                Ok::<_, millstream_tensor::Error>((i + 1, list))
            },
        )?;
        let stack = self.op("TensorListStack").input(list).input(self.op("Shape").input(x).output());
        Ok(stack.attr("element_dtype", dtype).output())
    }

    fn value_of<'g>(&'g self, x: Output<'g>) -> Result<Output<'g>> {
        if x.dtype()? != DType::Resource {
            return Ok(x);
        }
        let Some(handle) = self.read(|g| g.known_handle(x.port())) else {
            return Err(invalid!(
                "`{}` is a resource handle of unknown contents, so the shape of its derivative is unknown",
                x.name()
            )
            .with_help("differentiate with respect to the variable itself"));
        };
        Ok(self.op("ReadVariableOp").input(x).attr("dtype", handle.dtype).output())
    }

    fn joined_shapes<'g>(&'g self, values: &[Output<'g>]) -> Output<'g> {
        let shapes: Vec<Output<'g>> = values.iter().map(|v| self.op("Shape").input(*v).output()).collect();
        self.op("ConcatV2").inputs(shapes).input(0).output()
    }
}
