//! Shapes in gradients: [`Dims`], numbers that are known while the graph is built, or a vector that is
//! computed in the run.

use millstream_graph::Output;
use millstream_graph::op::GradCx;

/// Some dimensions, in order.
#[derive(Clone, Debug)]
pub(crate) enum Dims<'g> {
    /// These.
    Known(Vec<i32>),
    /// An i32 vector.
    Made(Output<'g>),
}

impl<'g> Dims<'g> {
    /// The shape of input `i`.
    pub(crate) fn of_input(cx: &mut GradCx<'g, '_>, i: usize) -> Self {
        match known(cx.input_shape(i).dims().unwrap_or(&[None])) {
            Some(dims) => Dims::Known(dims),
            None => Dims::Made(cx.shape_of_input(i)),
        }
    }

    /// The shape of a value of the gradient.
    pub(crate) fn of(cx: &GradCx<'g, '_>, x: Output<'g>) -> Self {
        match known(x.shape().dims().unwrap_or(&[None])) {
            Some(dims) => Dims::Known(dims),
            None => Dims::Made(cx.call("Shape", [x])),
        }
    }

    /// What an i32 vector holds.
    pub(crate) fn of_vector(cx: &GradCx<'g, '_>, x: Output<'g>) -> Self {
        let value = cx.graph().read(|g| g.known_value(x.port()));
        match value.as_ref().and_then(|value| value.as_slice::<i32>().ok()) {
            Some(dims) => Dims::Known(dims.to_vec()),
            None => Dims::Made(x),
        }
    }

    /// The dimensions `from..to` of input `i`, of which less needs to be known than of all. `None` reaches to
    /// the end.
    pub(crate) fn part_of_input(cx: &mut GradCx<'g, '_>, i: usize, from: i32, to: Option<i32>) -> Self {
        let shape = cx.input_shape(i);
        let part = shape.dims().and_then(|dims| dims.get(range(dims.len(), from, to)));
        match part.and_then(known) {
            Some(dims) => Dims::Known(dims),
            None => Dims::of_input(cx, i).part(cx, from, to),
        }
    }

    /// The dimensions `from..to`; negative numbers count from the back, `None` reaches to the end.
    pub(crate) fn part(&self, cx: &GradCx<'g, '_>, from: i32, to: Option<i32>) -> Self {
        match self {
            Dims::Known(dims) => Dims::Known(dims.get(range(dims.len(), from, to)).unwrap_or(&[]).to_vec()),
            Dims::Made(dims) => Dims::Made(
                cx.op("StridedSlice")
                    .input(dims)
                    .input([from])
                    .input([to.unwrap_or(0)])
                    .input([1])
                    .attr("end_mask", i64::from(to.is_none()))
                    .output(),
            ),
        }
    }

    /// Their product, as one dimension.
    pub(crate) fn product(&self, cx: &GradCx<'g, '_>) -> Self {
        if let Dims::Known(dims) = self
            && let Some(product) = dims.iter().try_fold(1i32, |n, &d| n.checked_mul(d))
        {
            return Dims::Known(vec![product]);
        }
        let dims = self.output(cx);
        Dims::Made(cx.op("Prod").input(dims).input([0]).attr("keep_dims", true).output())
    }

    /// All of these in order.
    pub(crate) fn joined(cx: &GradCx<'g, '_>, parts: &[Dims<'g>]) -> Self {
        let known = parts.iter().map(|part| match part {
            Dims::Known(dims) => Some(dims.as_slice()),
            Dims::Made(_) => None,
        });
        if let Some(known) = known.collect::<Option<Vec<&[i32]>>>() {
            return Dims::Known(known.concat());
        }
        let parts = parts.iter().filter(|part| !matches!(part, Dims::Known(dims) if dims.is_empty()));
        let parts: Vec<Output<'g>> = parts.map(|part| part.output(cx)).collect();
        match parts.as_slice() {
            [one] => Dims::Made(*one),
            _ => Dims::Made(cx.op("ConcatV2").inputs(parts).input(0).output()),
        }
    }

    /// Whether this is one dimension, known to be 1.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self, Dims::Known(dims) if *dims == [1])
    }

    /// As an i32 vector.
    pub(crate) fn output(&self, cx: &GradCx<'g, '_>) -> Output<'g> {
        match self {
            Dims::Known(dims) => cx.ints(dims),
            Dims::Made(dims) => *dims,
        }
    }

    /// A single dimension as a scalar.
    pub(crate) fn scalar(&self, cx: &GradCx<'g, '_>) -> Output<'g> {
        match self {
            Dims::Known(dims) => cx.graph().constant(dims.first().copied().unwrap_or(1)),
            Dims::Made(dims) => cx.op("Reshape").input(dims).input(cx.ints(&[])).output(),
        }
    }
}

fn known(dims: &[Option<usize>]) -> Option<Vec<i32>> {
    dims.iter().map(|d| d.and_then(|d| i32::try_from(d).ok())).collect()
}

fn range(n: usize, from: i32, to: Option<i32>) -> std::ops::Range<usize> {
    let at = |i: i32| match usize::try_from(i) {
        Ok(i) => i.min(n),
        Err(_) => n.saturating_sub(i.unsigned_abs() as usize),
    };
    let (from, to) = (at(from), to.map_or(n, at));
    from..to.max(from)
}
