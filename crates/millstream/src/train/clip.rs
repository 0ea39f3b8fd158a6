//! Gradient clipping.

use crate::ops::{Ops, OutputOps};
use crate::options::{Options, Start};
use crate::sugar::Functions;
use crate::value::Value;
use millstream_graph::{Arg, Grad, Graph, IndexedSlices, Output};
use millstream_tensor::{Result, Tensor, ensure};
use std::panic::Location;

/// Functions that clip by norm; the op `clip_by_value` clips to bounds. Slices are clipped like tensors, by
/// their rows.
///
/// ```
/// use millstream::Grad;
/// use millstream::prelude::*;
/// use millstream::train::Clipping as _;
/// let g = Graph::new();
/// let gradient = g.constant([3.0f32, 4.0]); // its norm is 5
/// let (clipped, norm) = g.clip_by_global_norm(&[Some(gradient.into())], 1.0f32)?;
/// let Some(Grad::Dense(clipped)) = clipped[0] else { unreachable!("a tensor stays one") };
/// let (clipped, norm): (Vec<f32>, f32) = Session::new(&g)?.run((clipped, norm), feed![])?;
/// assert_eq!(norm, 5.0);
/// assert!((clipped[0] - 0.6).abs() < 1e-6);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Clipping<'g>: Start<'g> {
    /// Scales `x` down to the L2 norm `norm`, if its norm is larger.
    ///
    /// ```
    /// use millstream::Grad;
    /// use millstream::prelude::*;
    /// use millstream::train::Clipping as _;
    /// let g = Graph::new();
    /// let Grad::Dense(clipped) = g.clip_by_norm(g.constant([3.0f32, 4.0]), 1.0f32)? else {
    ///     unreachable!("a tensor stays one")
    /// };
    /// let clipped: Vec<f32> = Session::new(&g)?.run(clipped, feed![])?;
    /// assert!((clipped[0] - 0.6).abs() < 1e-6 && (clipped[1] - 0.8).abs() < 1e-6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn clip_by_norm(self, x: impl Into<Grad<'g>>, norm: impl Into<Arg<'g>>) -> Result<Grad<'g>> {
        let (options, norm) = (self.options(), norm.into());
        let g = options.graph();
        g.name_scope(&options.name_or("clip_by_norm"), || {
            let scope = g.scope();
            map(x.into(), |x| {
                let axes = all_axes(g, x);
                let squares = g.with("keep_dims", true).start("Sum").input(x * x).input(axes).output();
                let some = squares.greater(0.0f64);
                let ones = g.named("ones_like").ones_like(squares);
                let safe = some.select(squares, ones);
                let root = safe.sqrt();
                let own = some.select(root, squares);
                let scaled = g.named("mul").mul(x, norm.clone());
                let most = own.maximum(norm);
                g.named(&scope).identity(scaled / most)
            })
        })
    }

    /// Scales `x` down to the average L2 norm `norm` (the L2 norm divided by the number of elements), if its
    /// own is larger.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Clipping as _;
    /// let g = Graph::new();
    /// let clipped = g.clip_by_average_norm(g.constant([3.0f32, 4.0]), 1.25f32); // the average norm is 5 / 2
    /// let clipped: Vec<f32> = Session::new(&g)?.run(clipped, feed![])?;
    /// assert!((clipped[0] - 1.5).abs() < 1e-6 && (clipped[1] - 2.0).abs() < 1e-6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn clip_by_average_norm(self, x: Output<'g>, norm: impl Into<Arg<'g>>) -> Output<'g> {
        let (options, norm) = (self.options(), norm.into());
        let g = options.graph();
        g.name_scope(&options.name_or("clip_by_average_norm"), || {
            let count = x.size();
            let dtype = x.dtype().unwrap_or(millstream_tensor::DType::F32);
            let count = g.math().cast(count, dtype);
            let sum = g.reduce_sum(x * x, all_axes(g, x));
            let inverse = sum.rsqrt();
            let own = count * inverse;
            let scaled = g.named("mul").mul(x, norm.clone());
            let one = g.scalar_of(dtype, 1.0);
            let limit = g.named("truediv").real_div(one, norm);
            let least = own.minimum(limit);
            g.named(g.scope()).mul(scaled, least)
        })
    }

    /// Returns the L2 norm of all gradients together; `None` entries do not count.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Clipping as _;
    /// let g = Graph::new();
    /// let (a, b) = (g.constant([3.0f32]), g.constant([4.0f32]));
    /// let norm = g.global_norm(&[Some(a.into()), None, Some(b.into())])?;
    /// assert_eq!(Session::new(&g)?.run::<f32>(norm, feed![])?, 5.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn global_norm(self, all: &[Option<Grad<'g>>]) -> Result<Output<'g>> {
        let options = self.options();
        let (g, at) = (options.graph(), Location::caller());
        ensure!(all.iter().any(Option::is_some), "the norm of no values at all is wanted");
        g.name_scope(&options.name_or("global_norm"), || {
            let halves = all.iter().flatten().map(|grad| Ok(g.at(at).nn().l2_loss(values(grad)?)));
            let halves = halves.collect::<Result<Vec<_>>>()?;
            let sum = g.reduce_sum(g.stack(halves, 0), ());
            let two = millstream_graph::weak_cast(&Tensor::scalar(2.0), sum.dtype()?)?;
            let two = Value::from(two).place(g, "Const", at);
            Ok(g.named("global_norm").sqrt(sum * two))
        })
    }

    /// Scales all gradients down by a common factor to the global norm `norm`, if theirs is larger, and
    /// returns them with their original global norm. If that is infinite or NaN, all become NaN, so that the
    /// problem is visible.
    ///
    /// ```
    /// use millstream::Grad;
    /// use millstream::prelude::*;
    /// use millstream::train::Clipping as _;
    /// let g = Graph::new();
    /// let (a, b) = (g.constant([3.0f32]), g.constant([4.0f32]));
    /// let (clipped, norm) = g.clip_by_global_norm(&[Some(a.into()), Some(b.into())], 10.0f32)?;
    /// let Some(Grad::Dense(unchanged)) = clipped[0] else { unreachable!("a tensor stays one") };
    /// let (unchanged, norm): (Vec<f32>, f32) = Session::new(&g)?.run((unchanged, norm), feed![])?;
    /// assert_eq!((unchanged[0], norm), (3.0, 5.0));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn clip_by_global_norm(
        self,
        all: &[Option<Grad<'g>>],
        norm: impl Into<Arg<'g>>,
    ) -> Result<(Vec<Option<Grad<'g>>>, Output<'g>)> {
        let (options, norm) = (self.options(), norm.into());
        let (g, at) = (options.graph(), Location::caller());
        let own = named_like(&options, g).global_norm(all)?;
        let dtype = own.dtype()?;
        let number = |value: f64| millstream_graph::weak_cast(&Tensor::scalar(value), dtype);
        let (one, nan) = (number(1.0)?, number(f64::NAN)?);
        let clipped =
            g.name_scope(&options.name_or("clip_by_global_norm"), || -> Result<Vec<Option<Grad<'g>>>> {
                let scope = g.scope();
                let inverse = g.named("truediv").real_div(1.0f64, own);
                let one = Value::from(one).place(g, "Const", at);
                let limit = g.named("truediv").real_div(one, norm.clone());
                let least = inverse.minimum(limit);
                let scale = g.named("mul").mul(norm, least);
                let finite = own.is_finite();
                let nan = Value::from(nan).place(g, "Const", at);
                let scale = finite.select(scale, nan);
                let clip = |(i, grad): (usize, &Option<Grad<'g>>)| {
                    grad.map(|grad| {
                        map(grad, |x| {
                            g.named(format!("{}_{i}/", scope.trim_end_matches('/'))).identity(x * scale)
                        })
                    })
                    .transpose()
                };
                all.iter().enumerate().map(clip).collect()
            });
        Ok((clipped?, own))
    }
}

impl<'g, S: Start<'g>> Clipping<'g> for S {}

/// Returns options with the same name, if it was set.
fn named_like<'g>(options: &Options<'g>, g: &'g Graph) -> Options<'g> {
    match options.name_or("") {
        name if name.is_empty() => g.options(),
        name => g.named(name),
    }
}

fn values<'g>(grad: &Grad<'g>) -> Result<Output<'g>> {
    match grad {
        Grad::Dense(x) => Ok(*x),
        Grad::Slices(slices) => Ok(slices.values),
        Grad::Item(_) => Err(millstream_tensor::invalid!("the gradient of a list cannot be clipped")),
    }
}

fn map<'g>(grad: Grad<'g>, f: impl FnOnce(Output<'g>) -> Output<'g>) -> Result<Grad<'g>> {
    let new = f(values(&grad)?);
    Ok(match grad {
        Grad::Slices(slices) => Grad::Slices(IndexedSlices { values: new, ..slices }),
        _ => Grad::Dense(new),
    })
}

/// Returns all axes; a constant if the rank is known.
fn all_axes<'g>(g: &'g Graph, x: Output<'g>) -> Output<'g> {
    match x.shape().rank() {
        Some(rank) => g.constant((0..rank as i32).collect::<Vec<i32>>()),
        None => {
            let rank = x.rank();
            g.named("range").reduce().range(0, rank, 1)
        }
    }
}
