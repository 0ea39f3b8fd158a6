//! The steps of the recurrent cells that are ops of their own: [`Lstm`], with its gradient, and helpers to
//! read and write their tensors. What the cells work with is charged to the run's memory.

use crate::linalg::product::{Matrix, Product};
use crate::number::{FloatElement, Number};
use millstream_graph::op::spec::{Bool, Float, OneOf, Spec};
use millstream_graph::op::{InferCx, KernelCx, OpDef, StepHost};
use millstream_graph::{Attr, Attrs};
use millstream_tensor::DType::{F16, F32, F64};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Element, PartialShape, Result, Shape, Tensor, ensure, invalid};

/// The floats that the cells compute with. TensorFlow has no f64.
pub(super) const FLOATS: &[millstream_tensor::DType] = &[F32, F16, F64];

/// A float type whose cells are computed in `Work`.
pub(super) trait CellFloat: FloatElement<Work: Product + Element> {}

impl<T: FloatElement<Work: Product + Element>> CellFloat for T {}

/// Returns the elements of a tensor of this shape. The error names the argument.
pub(super) fn floats<T: CellFloat>(cx: &KernelCx, i: usize, shape: &[usize]) -> Result<Charged<T::Work>> {
    let t = cx.input(i);
    ensure!(
        t.shape().dims() == shape,
        "{}.dims are {} but must be {}",
        cx.name_of(i),
        t.shape(),
        Shape::new(shape.iter().copied())
    );
    Charged::of(t.as_slice::<T>()?.iter().map(|v| v.work()))
}

/// Returns the dimensions of an input of this rank.
pub(super) fn dims<const N: usize>(cx: &KernelCx, i: usize) -> Result<[usize; N]> {
    let shape = cx.input(i).shape();
    <[usize; N]>::try_from(shape.dims())
        .map_err(|_| invalid!("{} must be rank {N} but is rank {}", cx.name_of(i), shape.rank()))
}

/// Returns a tensor of these elements.
pub(super) fn tensor<T: CellFloat>(shape: &[usize], values: &[T::Work]) -> Result<Tensor> {
    Tensor::from_iter(Shape::new(shape.iter().copied()), values.iter().map(|v| T::of_work(*v)))
}

/// Returns `[a b]`, row by row.
pub(super) fn beside<W: Element>(a: &[W], na: usize, b: &[W], nb: usize) -> Result<Charged<W>> {
    if na == 0 {
        return Charged::copy_of(b);
    }
    if nb == 0 {
        return Charged::copy_of(a);
    }
    let mut out = Charged::with_room(a.len() + b.len())?;
    for (a, b) in a.chunks_exact(na).zip(b.chunks_exact(nb)) {
        out.extend_from_slice(a)?;
        out.extend_from_slice(b)?;
    }
    Ok(out)
}

/// Returns columns `from..from + n` of a matrix with `width` columns.
pub(super) fn columns<W: Element>(m: &[W], width: usize, from: usize, n: usize) -> Result<Charged<W>> {
    let mut out = Charged::with_room(m.len().checked_div(width).unwrap_or(0) * n)?;
    for row in m.chunks_exact(width.max(1)) {
        out.extend_from_slice(&row[from..from + n])?;
    }
    Ok(out)
}

/// Returns the product of two matrices, each transposed if asked for.
pub(super) fn product<W: Product>(
    host: &dyn StepHost,
    (a, ar, ac, ta): (&[W], usize, usize, bool),
    (b, br, bc, tb): (&[W], usize, usize, bool),
) -> Result<Charged<W>> {
    let (a, b) = (Matrix::new(a, ar, ac)?.transposed(ta), Matrix::new(b, br, bc)?.transposed(tb));
    ensure!(a.cols == b.rows, "Matrix size-incompatible");
    let mut out = zeros(a.rows * b.cols)?;
    W::multiply(host, a, b, &mut out)?;
    Ok(out)
}

/// Returns `n` zeros.
pub(super) fn zeros<W: Number>(n: usize) -> Result<Charged<W>> {
    Charged::of(std::iter::repeat_n(W::ZERO, n))
}

pub(super) fn sigmoid<W: num_traits::Float>(x: W) -> W {
    W::one() / (W::one() + (-x).exp())
}

/// Adds to each row.
pub(super) fn add_rows<W: Number>(m: &mut [W], row: &[W]) {
    if !row.is_empty() {
        m.chunks_exact_mut(row.len()).for_each(|r| add(r, row));
    }
}

pub(super) fn add<W: Number>(sum: &mut [W], x: &[W]) {
    sum.iter_mut().zip(x).for_each(|(s, x)| *s = s.add(*x));
}

/// Returns the sum of the rows.
pub(super) fn sum_of_rows<W: Number>(m: &[W], width: usize) -> Result<Charged<W>> {
    let mut sum = zeros(width)?;
    if width != 0 {
        m.chunks_exact(width).for_each(|row| add(&mut sum, row));
    }
    Ok(sum)
}

/// The inputs of an LSTM op, by number.
pub(super) struct Places {
    /// `x`. The previous memory and output, the weights and the bias follow: `cs_prev h_prev w wci wcf wco
    /// b`.
    pub x: usize,
    /// Whether `x` has an axis of time before the others.
    pub is_sequence: bool,
}

/// Declares the inputs that all LSTM ops have from `x` on.
pub(super) fn lstm_inputs(def: OpDef) -> OpDef {
    ["x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"]
        .into_iter()
        .fold(def, |def, name| def.input(name, "T"))
}

/// Declares the outputs of the LSTM ops.
pub(super) fn lstm_outputs(def: OpDef) -> OpDef {
    ["i", "cs", "f", "o", "ci", "co", "h"].into_iter().fold(def, |def, name| def.output(name, "T"))
}

/// Declares the attributes of the forward LSTM ops.
pub(super) fn lstm_attrs(def: OpDef, clip: f32) -> OpDef {
    def.attr("cell_clip", Float.or(clip)).attr("use_peephole", Bool.or(false)).attr("T", OneOf(FLOATS))
}

/// Sets the shape of all outputs: batch and units, after time.
pub(super) fn infer_lstm(cx: &mut InferCx, places: &Places) -> Result<()> {
    let x = cx.with_rank(places.x, 2 + usize::from(places.is_sequence))?;
    let (cs, b) = (cx.with_rank(places.x + 1, 2)?, cx.vector(places.x + 7)?);
    let (time, batch) = match places.is_sequence {
        true => (Some(x.dim(0)), x.dim(1)),
        false => (None, x.dim(0)),
    };
    if let Some(width) = b {
        ensure!(width % 4 == 0, "Dimension size must be evenly divisible by 4 but is {width}"; "`b` has {width} entries, which are not four gates");
    }
    let units = b.map(|width| width / 4).or(cs.dim(1));
    let batch = batch.or(cs.dim(0));
    let shape = PartialShape::new(time.into_iter().chain([batch, units]));
    for i in 0..cx.n_outputs() {
        cx.set(i, shape.clone());
    }
    Ok(())
}

/// What an LSTM computes with in every step.
pub(super) struct Lstm<W> {
    pub batch: usize,
    pub inputs: usize,
    pub units: usize,
    pub w: Charged<W>,
    pub b: Charged<W>,
    /// The diagonals of the peepholes, for input, forget and output gate.
    pub peepholes: Option<[Charged<W>; 3]>,
    pub forget_bias: W,
    /// The largest absolute value of the memory; 0 or less for none.
    pub clip: W,
    /// The places of `i`, `ci`, `f` and `o` among the four blocks of columns of the weights.
    pub order: [usize; 4],
}

/// The gates, the memory and the output of a step, each `[batch, units]`.
pub(super) struct Gates<W> {
    pub i: Charged<W>,
    pub cs: Charged<W>,
    pub f: Charged<W>,
    pub o: Charged<W>,
    pub ci: Charged<W>,
    pub co: Charged<W>,
    pub h: Charged<W>,
}

impl<W> Gates<W> {
    /// All, in the order of the ops' outputs.
    pub fn into_list(self) -> [Charged<W>; 7] {
        [self.i, self.cs, self.f, self.o, self.ci, self.co, self.h]
    }

    pub fn of_list([i, cs, f, o, ci, co, h]: [Charged<W>; 7]) -> Self {
        Gates { i, cs, f, o, ci, co, h }
    }
}

/// The gradients of a step.
pub(super) struct StepGrads<W> {
    pub cs_prev: Charged<W>,
    /// Those of the gates before their activations, `[batch, 4 units]`, in the order of the weights.
    pub gates: Charged<W>,
    pub peepholes: [Charged<W>; 3],
}

/// The order of gates of the first generation: input, new memory, forget, output.
pub(super) const ICFO: [usize; 4] = [0, 1, 2, 3];
/// The order of the second: input, forget, new memory, output.
pub(super) const IFCO: [usize; 4] = [0, 2, 1, 3];

impl<W: Product + num_traits::Float + num_traits::FromPrimitive> Lstm<W> {
    /// Reads weights and attributes.
    pub fn of<T: CellFloat<Work = W>>(
        cx: &KernelCx,
        places: &Places,
        [batch, inputs]: [usize; 2],
        order: [usize; 4],
    ) -> Result<Lstm<W>> {
        let x = places.x;
        let [_, units] = dims(cx, x + 1)?;
        let w = floats::<T>(cx, x + 3, &[inputs + units, 4 * units])?;
        let b = floats::<T>(cx, x + 7, &[4 * units])?;
        let peepholes = match cx.attrs().bool("use_peephole")? {
            true => Some([
                floats::<T>(cx, x + 4, &[units])?,
                floats::<T>(cx, x + 5, &[units])?,
                floats::<T>(cx, x + 6, &[units])?,
            ]),
            false => None,
        };
        let number = |name: &str| {
            let of =
                |attrs: &Attrs| matches!(attrs.get(name), Some(Attr::Float(_))).then(|| attrs.float(name));
            of(cx.attrs()).transpose().map(|v| W::from_f64(v.unwrap_or(0.0) as f64).unwrap_or(W::zero()))
        };
        let (forget_bias, clip) = (number("forget_bias")?, number("cell_clip")?);
        Ok(Lstm { batch, inputs, units, w, b, peepholes, forget_bias, clip, order })
    }

    /// Computes a step.
    pub fn step(&self, host: &dyn StepHost, x: &[W], cs_prev: &[W], h_prev: &[W]) -> Result<Gates<W>> {
        let (n, width) = (self.units, 4 * self.units);
        let xh = beside(x, self.inputs, h_prev, n)?;
        let rows = self.inputs + n;
        let mut sums = product(host, (&xh, self.batch, rows, false), (&self.w, rows, width, false))?;
        add_rows(&mut sums, &self.b);
        let empty = || Charged::with_room(self.batch * n);
        let mut out = Gates {
            i: empty()?,
            cs: empty()?,
            f: empty()?,
            o: empty()?,
            ci: empty()?,
            co: empty()?,
            h: empty()?,
        };
        let [at_i, at_ci, at_f, at_o] = self.order.map(|block| block * n);
        let mut pace = Pace::new();
        for row in 0..self.batch {
            pace.spend(n)?;
            let sums = &sums[row * width..][..width];
            for u in 0..n {
                let before = cs_prev[row * n + u];
                let (mut i, mut f, mut o) =
                    (sums[at_i + u], sums[at_f + u] + self.forget_bias, sums[at_o + u]);
                if let Some([wci, wcf, _]) = &self.peepholes {
                    i = i + before * wci[u];
                    f = f + before * wcf[u];
                }
                let (i, ci, f) = (sigmoid(i), sums[at_ci + u].tanh(), sigmoid(f));
                let mut cs = ci * i + before * f;
                if W::zero() < self.clip {
                    cs = cs.max(-self.clip).min(self.clip);
                }
                if let Some([.., wco]) = &self.peepholes {
                    o = o + cs * wco[u];
                }
                let (o, co) = (sigmoid(o), cs.tanh());
                out.i.push(i)?;
                out.cs.push(cs)?;
                out.f.push(f)?;
                out.o.push(o)?;
                out.ci.push(ci)?;
                out.co.push(co)?;
                out.h.push(o * co)?;
            }
        }
        Ok(out)
    }

    /// Computes the gradients of a step. A clipped memory passes its gradient, as in TensorFlow.
    pub fn step_back(
        &self,
        of: &Gates<W>,
        cs_prev: &[W],
        cs_grad: &[W],
        h_grad: &[W],
    ) -> Result<StepGrads<W>> {
        let (n, one) = (self.units, W::one());
        let mut grads = StepGrads {
            cs_prev: zeros(self.batch * n)?,
            gates: zeros(self.batch * 4 * n)?,
            peepholes: [zeros(n)?, zeros(n)?, zeros(n)?],
        };
        let [at_i, at_ci, at_f, at_o] = self.order.map(|block| block * n);
        let mut pace = Pace::new();
        for row in 0..self.batch {
            pace.spend(n)?;
            for u in 0..n {
                let at = row * n + u;
                let (i, f, o, ci, co) = (of.i[at], of.f[at], of.o[at], of.ci[at], of.co[at]);
                let d_o = o * (one - o) * h_grad[at] * co;
                let mut dcs = (one - co * co) * h_grad[at] * o + cs_grad[at];
                if let Some([.., wco]) = &self.peepholes {
                    dcs = dcs + d_o * wco[u];
                }
                let dci = (one - ci * ci) * dcs * i;
                let df = f * (one - f) * dcs * cs_prev[at];
                let di = i * (one - i) * dcs * ci;
                let gates = &mut grads.gates[row * 4 * n..][..4 * n];
                (gates[at_i + u], gates[at_ci + u], gates[at_f + u], gates[at_o + u]) = (di, dci, df, d_o);
                grads.cs_prev[at] = dcs * f;
                if let Some([wci, wcf, _]) = &self.peepholes {
                    grads.cs_prev[at] = grads.cs_prev[at] + di * wci[u] + df * wcf[u];
                    let [i, f, o] = &mut grads.peepholes;
                    i[u] = i[u] + di * cs_prev[at];
                    f[u] = f[u] + df * cs_prev[at];
                    o[u] = o[u] + d_o * of.cs[at];
                }
            }
        }
        Ok(grads)
    }
}
