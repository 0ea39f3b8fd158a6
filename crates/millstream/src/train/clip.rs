//! Clipping: gradients kept from growing.

use crate::options::{Options, Start};
use crate::sugar::Functions;
use crate::value::Value;
use millstream_graph::{Arg, Grad, Graph, IndexedSlices, Output};
use millstream_tensor::{Result, Tensor, ensure};
use std::panic::Location;

/// Functions that clip by norms; within bounds, `clip_by_value` does it. What is said of a tensor holds for the rows of slices too.
pub trait Clipping<'g>: Start<'g> {
    /// Made smaller where its L2 norm is larger than `norm`, to have that norm.
    #[track_caller]
    fn clip_by_norm(self, x: impl Into<Grad<'g>>, norm: impl Into<Arg<'g>>) -> Result<Grad<'g>> {
        let (options, norm) = (self.options(), norm.into());
        let g = options.graph();
        g.name_scope(&options.name_or("clip_by_norm"), || {
            let scope = g.scope();
            map(x.into(), |x| {
                let axes = all_axes(g, x);
                let squares = g.with("keep_dims", true).start("Sum").input(x * x).input(axes).output();
                let some = g.op("Greater").input(squares).input(0.0f64).output();
                let ones = g.op("OnesLike").name("ones_like").input(squares).output();
                let safe = select(g, some, squares, ones);
                let root = g.op("Sqrt").input(safe).output();
                let own = select(g, some, root, squares);
                let scaled = g.op("Mul").name("mul").input(x).input(norm.clone()).output();
                let most = g.op("Maximum").input(own).input(norm).output();
                g.op("Identity").name(&scope).input(scaled / most).output()
            })
        })
    }

    /// Made smaller where its L2 norm over the number of its elements is larger than `norm`, to have that.
    #[track_caller]
    fn clip_by_average_norm(self, x: Output<'g>, norm: impl Into<Arg<'g>>) -> Output<'g> {
        let (options, norm) = (self.options(), norm.into());
        let g = options.graph();
        g.name_scope(&options.name_or("clip_by_average_norm"), || {
            let count = g.op("Size").input(x).output();
            let dtype = x.dtype().unwrap_or(millstream_tensor::DType::F32);
            let count = g.op("Cast").input(count).attr("DstT", dtype).output();
            let sum = g.reduce_sum(x * x, all_axes(g, x));
            let inverse = g.op("Rsqrt").input(sum).output();
            let own = count * inverse;
            let scaled = g.op("Mul").name("mul").input(x).input(norm.clone()).output();
            let one = g.scalar_of(dtype, 1.0);
            let limit = g.op("RealDiv").name("truediv").input(one).input(norm).output();
            let least = g.op("Minimum").input(own).input(limit).output();
            g.op("Mul").name(g.scope()).input(scaled).input(least).output()
        })
    }

    /// The L2 norm of all of them together; those that are none do not count.
    #[track_caller]
    fn global_norm(self, all: &[Option<Grad<'g>>]) -> Result<Output<'g>> {
        let options = self.options();
        let (g, at) = (options.graph(), Location::caller());
        ensure!(all.iter().any(Option::is_some), "the norm of no values at all is wanted");
        g.name_scope(&options.name_or("global_norm"), || {
            let halves =
                all.iter().flatten().map(|grad| Ok(g.op("L2Loss").at(at).input(values(grad)?).output()));
            let halves = halves.collect::<Result<Vec<_>>>()?;
            let sum = g.reduce_sum(g.stack(halves, 0), ());
            let two = millstream_graph::weak_cast(&Tensor::scalar(2.0), sum.dtype()?)?;
            let two = Value::from(two).place(g, "Const", at);
            Ok(g.op("Sqrt").name("global_norm").input(sum * two).output())
        })
    }

    /// All made smaller by one factor where their norm together is larger than `norm`, to have that together; with the norm that they had.
    /// Where that is infinite or NaN, all become NaN, so that it shows.
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
                let inverse = g.op("RealDiv").name("truediv").input(1.0f64).input(own).output();
                let one = Value::from(one).place(g, "Const", at);
                let limit = g.op("RealDiv").name("truediv").input(one).input(norm.clone()).output();
                let least = g.op("Minimum").input(inverse).input(limit).output();
                let scale = g.op("Mul").name("mul").input(norm).input(least).output();
                let finite = g.op("IsFinite").input(own).output();
                let nan = Value::from(nan).place(g, "Const", at);
                let scale = select(g, finite, scale, nan);
                let clip = |(i, grad): (usize, &Option<Grad<'g>>)| {
                    grad.map(|grad| {
                        map(grad, |x| {
                            g.op("Identity")
                                .name(format!("{}_{i}/", scope.trim_end_matches('/')))
                                .input(x * scale)
                                .output()
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

/// The same name, if one was asked for.
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

fn select<'g>(g: &'g Graph, condition: Output<'g>, yes: Output<'g>, no: Output<'g>) -> Output<'g> {
    g.op("Select").input(condition).input(yes).input(no).output()
}

/// All axes: a constant where their number is known.
fn all_axes<'g>(g: &'g Graph, x: Output<'g>) -> Output<'g> {
    match x.shape().rank() {
        Some(rank) => g.constant((0..rank as i32).collect::<Vec<i32>>()),
        None => {
            let rank = g.op("Rank").input(x).output();
            g.op("Range").name("range").input(0).input(rank).input(1).output()
        }
    }
}
