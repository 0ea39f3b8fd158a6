//! `QuantizeAndDequantize`, `QuantizeAndDequantizeV2`, `QuantizeAndDequantizeV3`: numbers rounded to those
//! that integers of few bits stand for.

use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, Float as Number, FloatType, Int, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{Result, Tensor, ensure, with_element};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 3] {
    let input = |name| OpDef::new(name).input("input", "T");
    let ranged = |name| input(name).input("input_min", "T").input("input_max", "T");
    let common = |def: OpDef, range_given: bool| {
        def.output("output", "T")
            .attr("signed_input", Bool.or(true))
            .attr("range_given", Bool.or(range_given))
            .attr("T", FloatType)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    [
        common(input("QuantizeAndDequantize"), false)
            .doc("The first form of `QuantizeAndDequantizeV2`, with the range in attributes.")
            .attr("num_bits", Int.or(8))
            .attr("input_min", Number.or(0.0f32))
            .attr("input_max", Number.or(0.0f32)),
        common(ranged("QuantizeAndDequantizeV2"), false)
            .doc(
                "Replaces each element by the nearest multiple of a scale: the least for which integers of `num_bits` \
                 bits reach from `input_min` to `input_max`, or over all elements unless `range_given`. With a range \
                 given, elements outside are moved to its ends first. The gradient passes unchanged.",
            )
            .attr("num_bits", Int.or(8))
            .attr("round_mode", Words(&["HALF_TO_EVEN", "HALF_UP"]).or("HALF_TO_EVEN"))
            .attr("narrow_range", Bool.or(false)),
        common(ranged("QuantizeAndDequantizeV3").input("num_bits", I32).on_host(), true)
            .doc("Returns what `QuantizeAndDequantizeV2` returns, with a number of bits that is an input.")
            .attr("narrow_range", Bool.or(false)),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    (1..cx.n_inputs()).try_for_each(|i| cx.scalar(i))?;
    cx.same_as_input()
}

/// How elements are rounded.
struct Rounding {
    signed: bool,
    narrow: bool,
    bits: i64,
    /// Halves are rounded up, and not to even integers.
    up: bool,
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let attrs = cx.attrs();
    let (signed, range_given) = (attrs.bool("signed_input")?, attrs.bool("range_given")?);
    let bits = if cx.n_inputs() == 4 { cx.int(3)? } else { attrs.int("num_bits")? };
    let most = if signed { 62 } else { 63 };
    ensure!(
        0 < bits && bits < most,
        "num_bits is out of range: {bits} with signed_input_ {signed}";
        "`num_bits` must be positive and less than {most}"
    );
    let up = attrs.get("round_mode").is_some() && &**attrs.str("round_mode")? == b"HALF_UP";
    let narrow = attrs.get("narrow_range").is_some() && attrs.bool("narrow_range")?;
    let how = Rounding { signed, narrow, bits, up };
    let given = |cx: &KernelCx, i: usize, name: &str| match cx.n_inputs() {
        1 => attrs.float(name).map(f64::from),
        _ => {
            let value = crate::shared::casting::cast(cx.input(i), millstream_tensor::DType::F64)?;
            value.to_scalar::<f64>().map_err(|_| {
                millstream_tensor::invalid!("`{name}` must be a scalar but has shape {}", cx.input(i).shape())
            })
        }
    };
    let range = match range_given {
        true => {
            let (min, max) = (given(cx, 1, "input_min")?, given(cx, 2, "input_max")?);
            ensure!(
                min <= max,
                "Invalid range: input_min {min} > input_max {max}";
                "the range must not be empty"
            );
            Some((min, max))
        }
        false => None,
    };
    let input = cx.take(0);
    let dtype = input.dtype();
    let mut out = Tensor::zeros(dtype, input.shape().clone())?;
    with_element!(dtype, T in [F32 F64] => {
        let range = range.map(|(min, max)| (min as T, max as T));
        how.round(input.as_slice::<T>()?, range, fresh::<T>(&mut out)?)
    }, else => return Err(no_kernel(cx.node.op.name, dtype)));
    cx.set(0, out);
    Ok(())
}

impl Rounding {
    fn round<T: Float>(&self, x: &[T], given: Option<(T, T)>, out: &mut [T]) {
        let (mut min, mut max) = given.unwrap_or_else(|| {
            // A NaN is neither the least nor the greatest element.
            x.iter().fold((T::infinity(), T::neg_infinity()), |(min, max), v| {
                (if *v < min { *v } else { min }, if max < *v { *v } else { max })
            })
        });
        let whole = |v: i64| T::from(v).unwrap_or_else(T::zero);
        let (least, most) = match self.signed {
            true => (-(1 << (self.bits - 1)) + i64::from(self.narrow), (1i64 << (self.bits - 1)) - 1),
            false => (0, (1i64 << self.bits) - 1),
        };
        let (least, most) = (whole(least), whole(most));
        // The range is that of the side which needs the smaller factor: zero stays what it is.
        let factor = |integer: T, end: T| {
            if T::zero() < integer * end { integer / end } else { T::max_value() }
        };
        let (from_min, from_max) = (factor(least, min), factor(most, max));
        let (scale, back) = if from_min < from_max {
            let back = min / least;
            max = most * back;
            (from_min, back)
        } else {
            let back = max / most;
            min = least * back;
            (from_max, back)
        };
        let half = T::from(0.5).unwrap_or_else(T::zero);
        for (out, x) in out.iter_mut().zip(x) {
            let x = match given {
                Some(_) if *x < min => min,
                Some(_) if max < *x => max,
                _ => *x,
            };
            let scaled = x * scale;
            let rounded = if self.up { (scaled + half).floor() } else { to_even(scaled) };
            *out = rounded * back;
        }
    }
}

/// The nearest integer; of two, the even one.
fn to_even<T: Float>(x: T) -> T {
    let (low, two) = (x.floor(), T::one() + T::one());
    let rest = x - low;
    if rest + rest < T::one() || (rest + rest == T::one() && low % two == T::zero()) { low } else { x.ceil() }
}

// As in TensorFlow, the gradient is that of what is simulated: the identity.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, dy);
    Ok(())
}

cases! {
    to_two_bits: "QuantizeAndDequantizeV2([-1.0 -0.4 0.1 0.3 1.0], 0.0, 0.0; num_bits=2, signed_input=true) = [-1.0 -0.0 0.0 0.0 1.0]",
    in_a_range: "QuantizeAndDequantizeV2(f64 [-3.0 0.2 0.6 3.0], f64 -2.0, f64 1.0; num_bits=2, range_given=true) = f64 [-2.0 0.0 1.0 1.0]",
    halves_up: "QuantizeAndDequantizeV2([-0.5 0.5 1.5 3.0], 0.0, 3.0; num_bits=2, signed_input=false, range_given=true, round_mode=\"HALF_UP\") = [0.0 1.0 2.0 3.0]",
    halves_to_even: "QuantizeAndDequantizeV2([0.5 1.5 2.5 3.0], 0.0, 3.0; num_bits=2, signed_input=false, range_given=true) = [0.0 2.0 2.0 3.0]",
    narrow: "QuantizeAndDequantizeV3([-1.0 0.3 1.0], -1.0, 1.0, 2; narrow_range=true) = [-1.0 0.0 1.0]",
    of_nothing: "QuantizeAndDequantize(f32[0] []) = f32[0] []",
    by_attributes: "QuantizeAndDequantize([0.5 1.5 9.0]; num_bits=2, signed_input=false, range_given=true, input_max=3.0) = [0.0 2.0 3.0]",
    infers: "QuantizeAndDequantizeV2(f32[?,3], f32[], f32[]) : f32[?,3]",
    range_is_not_empty: "QuantizeAndDequantizeV2([1.0], 2.0, 1.0; range_given=true) ! Invalid range: input_min 2 > input_max 1",
    few_bits: "QuantizeAndDequantizeV3([1.0], 0.0, 1.0, 63) ! num_bits is out of range: 63",
}
