//! Sampling from distributions with a parameter tensor: a block of samples for each parameter. Each sample
//! has its own position in the stream, so it does not depend on the number of words that its neighbours used
//! up in rejections.

use super::fill::{normals_f64, shape_of, unit_f64};
use crate::shared::philox::{Philox, RESERVED, Stream, WORDS};
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Element, Error, Result, Tensor, invalid};

/// The source of one sample: uniform and normal doubles. Each step yields two, of which the second is used
/// first.
pub(super) struct Draws {
    philox: Philox,
    uniform: Pair,
    normal: Pair,
}

#[derive(Default)]
struct Pair {
    values: [f64; 2],
    left: usize,
}

impl Pair {
    fn next(&mut self, refill: impl FnOnce() -> [f64; 2]) -> f64 {
        if self.left == 0 {
            *self = Pair { values: refill(), left: 2 };
        }
        self.left -= 1;
        self.values[self.left]
    }
}

impl Draws {
    fn new(philox: Philox) -> Draws {
        Draws { philox, uniform: Pair::default(), normal: Pair::default() }
    }

    /// Returns a uniform value in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        self.uniform.next(|| {
            let w: [u32; WORDS] = self.philox.step();
            [unit_f64(w[0], w[1]), unit_f64(w[2], w[3])]
        })
    }

    /// Returns a standard normal value.
    pub fn normal(&mut self) -> f64 {
        self.normal.next(|| normals_f64(self.philox.step()))
    }
}

/// Sets output 0: for each sample of the shape in input 0, one value for each parameter in input 1. `law`
/// prepares the sampling for a parameter.
pub(super) fn run<P: Element, T: Element, L: Fn(&mut Draws) -> T>(
    cx: &mut KernelCx,
    stream: &Stream,
    law: impl Fn(P) -> L,
) -> Result<()> {
    let parameters = cx.input(1).as_slice::<P>()?;
    let mut shape = shape_of(cx, 0)?;
    let samples = shape.elements();
    cx.input(1).shape().dims().iter().for_each(|&d| shape.push(d));
    shape.checked_elements()?;
    let mut result = Tensor::zeros(T::DTYPE, shape)?;
    if samples > 0 && !parameters.is_empty() {
        let philox = stream.reserve_outputs(samples.saturating_mul(parameters.len()));
        let out = result.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
        let mut pace = Pace::new();
        for (p, &parameter) in parameters.iter().enumerate() {
            let sample = law(parameter);
            let column = out.iter_mut().skip(p).step_by(parameters.len());
            for (s, out) in column.enumerate() {
                pace.spend(4)?;
                // Positions in the stream are ordered by parameter, then sample; values in memory by sample,
                // then parameter.
                let place = (p as u64).wrapping_mul(samples as u64).wrapping_add(s as u64);
                *out = sample(&mut Draws::new(philox.ahead(place.wrapping_mul(RESERVED))));
            }
        }
    }
    cx.set(0, result);
    Ok(())
}

/// The output's shape is the one in input 0, followed by that of the parameters.
pub(super) fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    let (samples, parameters) = (cx.as_shape(0)?, cx.input(1));
    if let (Some(samples), Some(parameters)) = (samples.dims(), parameters.dims()) {
        let rank = samples.len() + parameters.len();
        if rank > millstream_tensor::MAX_RANK {
            return Err(invalid!("{} would have {rank} dimensions", cx.node().op.name));
        }
        let dims: Vec<_> = samples.iter().chain(parameters).copied().collect();
        cx.set(0, millstream_tensor::PartialShape::new(dims));
    }
    Ok(())
}
