//! `StatefulUniform`, `StatefulUniformInt`, `StatefulUniformFullInt`, `StatefulStandardNormal`,
//! `StatefulStandardNormalV2`, `StatefulTruncatedNormal`, `RngSkip`, `NonDeterministicInts`: random numbers
//! whose generator is a variable.
//!
//! The variable is a vector of `int64`: the counter of Philox, lower half first, and the key.

use super::fill::{Law, all_ints, floats, ints, shape_of};
use crate::number::no_kernel;
use crate::shared::philox::{PHILOX, Philox, RESERVED, key_and_counter, seeded};
use millstream_graph::op::spec::{FloatType, IndexType, OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_state::Variable;
use millstream_tensor::DType::{F32, I32, I64, Resource, U32, U64};
use millstream_tensor::{DType, Result, ensure, with_element};

const INTS: &[DType] = &[I32, I64, U32, U64];

pub(crate) fn def() -> [OpDef; 8] {
    let on = |name| OpDef::new(name).input("resource", Resource);
    let numbered = |name| on(name).input("algorithm", I64).on_host();
    let shaped =
        |def: OpDef| def.input("shape", "shape_dtype").on_host().attr("shape_dtype", IndexType.or(I64));
    let rest =
        |def: OpDef, run: RunFn| def.output("output", "dtype").infer(infer).kernel(Kernel::writes(run));
    [
        rest(shaped(numbered("StatefulUniform")), |cx| draw(cx, Law::Uniform))
            .doc("Draws floats uniformly from `[0, 1)`, and moves the generator in the variable `resource` on.")
            .attr("dtype", FloatType.or(F32)),
        rest(shaped(numbered("StatefulStandardNormalV2")), |cx| draw(cx, Law::Normal))
            .doc("Draws standard normal floats, and moves the generator in the variable `resource` on.")
            .attr("dtype", FloatType.or(F32)),
        rest(shaped(numbered("StatefulTruncatedNormal")), |cx| draw(cx, Law::Truncated))
            .doc(
                "Draws standard normal floats within two standard deviations of zero, and moves the generator in the \
                 variable `resource` on.",
            )
            .attr("dtype", FloatType.or(F32)),
        rest(shaped(on("StatefulStandardNormal")), |cx| {
            let shape = shape_of(cx, 1)?;
            let philox = advance(cx, shape.elements() as u64, None)?;
            let value = floats(Law::Normal, cx.attrs().dtype("dtype")?, shape, philox)?;
            cx.set(0, value);
            Ok(())
        })
        .doc("The first form of `StatefulStandardNormalV2`: the number of the algorithm is the variable's first entry.")
        .attr("dtype", FloatType.or(F32)),
        rest(shaped(numbered("StatefulUniformInt")).input("minval", "dtype").input("maxval", "dtype"), |cx| {
            let shape = shape_of(cx, 2)?;
            for i in [3, 4] {
                let t = cx.input(i);
                let name = cx.name_of(i);
                ensure!(t.rank() == 0, "{name} must be 0-D, got shape {}", t.shape(); "`{name}` must be a scalar");
            }
            // As in TensorFlow, the range must not be empty even if nothing is drawn.
            with_element!(cx.input(3).dtype(), T in [I32 I64 U32 U64] => {
                let (low, high) = (cx.input(3).to_scalar::<T>()?, cx.input(4).to_scalar::<T>()?);
                ensure!(low < high, "Need minval < maxval, got {low} >= {high}"; "the range must not be empty");
            }, else => return Err(no_kernel("StatefulUniformInt", cx.input(3).dtype())));
            let philox = advance(cx, shape.elements() as u64, Some(1))?;
            let value = ints(cx.input(3), cx.input(4), shape, philox)?;
            cx.set(0, value);
            Ok(())
        })
        .doc("Draws integers from `minval..maxval`, and moves the generator in the variable `resource` on.")
        .attr("dtype", OneOf(INTS).or(I64)),
        rest(shaped(numbered("StatefulUniformFullInt")), |cx| {
            let shape = shape_of(cx, 2)?;
            let philox = advance(cx, shape.elements() as u64, Some(1))?;
            let value = all_ints(cx.attrs().dtype("dtype")?, shape, philox)?;
            cx.set(0, value);
            Ok(())
        })
        .doc("Draws integers that are uniform over all values, and moves the generator in the variable `resource` on.")
        .attr("dtype", OneOf(INTS).or(U64)),
        numbered("RngSkip")
            .doc("Moves the generator in the variable `resource` on, as if `delta` numbers were drawn.")
            .input("delta", I64)
            .on_host()
            .infer(|cx| (0..3).try_for_each(|i| cx.scalar(i)))
            .kernel(Kernel::writes(|cx| {
                let delta = cx.int(2)? as u64;
                advance(cx, delta, Some(1))?;
                Ok(())
            })),
        shaped(OpDef::new("NonDeterministicInts"))
            .doc("Draws integers that are uniform over all values, from random seeds of the system in each run.")
            .output("output", "dtype")
            .attr("dtype", OneOf(INTS).or(I64))
            .infer(infer)
            .kernel(Kernel::stateful(|cx| {
                let value = all_ints(cx.attrs().dtype("dtype")?, shape_of(cx, 0)?, seeded(0, 0)?)?;
                cx.set(0, value);
                Ok(())
            })),
    ]
}

/// The inputs are a handle and a number, if they are there, then the shape, then scalars.
fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = (0..cx.n_inputs().min(3)).find(|i| cx.name_of(*i) == "shape").unwrap_or(0);
    for i in (0..cx.n_inputs()).filter(|i| *i != shape) {
        cx.scalar(i)?;
    }
    cx.vector(shape)?;
    let value = cx.as_shape(shape)?;
    cx.set(0, value);
    Ok(())
}

fn draw(cx: &mut KernelCx, law: Law) -> Result<()> {
    let shape = shape_of(cx, 2)?;
    let philox = advance(cx, shape.elements() as u64, Some(1))?;
    let value = floats(law, cx.attrs().dtype("dtype")?, shape, philox)?;
    cx.set(0, value);
    Ok(())
}

/// Moves the generator in the variable at input 0 on by `outputs` numbers. Returns the one before. The number
/// of the algorithm is input `algorithm`, or the first entry of the variable.
fn advance(cx: &KernelCx, outputs: u64, algorithm: Option<usize>) -> Result<Philox> {
    let given = match algorithm {
        Some(i) => {
            let t = cx.input(i);
            ensure!(
                t.rank() == 0,
                "input {i} (0-based) must have shape [], not {}", t.shape(); "`algorithm` must be a scalar"
            );
            Some(cx.int(i)?)
        }
        None => None,
    };
    cx.resource::<Variable>(0)?.update(|state| {
        ensure!(
            state.dtype() == I64,
            "dtype of RNG state variable must be int64, not {}", state.dtype().kernel_name();
            "`resource` must refer to a vector of i64"
        );
        ensure!(
            state.rank() == 1,
            "RNG state must have one and only one dimension, not {}", state.rank();
            "the variable has shape {}", state.shape()
        );
        let words = state.in_place().make_mut_or_copy::<i64>()?;
        let (algorithm, words) = match (given, words) {
            (Some(algorithm), words) => (algorithm, words),
            (None, [algorithm, words @ ..]) => (*algorithm, words),
            (None, []) => (0, &mut [][..]),
        };
        ensure!(
            algorithm == i64::from(PHILOX),
            "Unsupported algorithm id: {algorithm}"; "the algorithm must be 1, Philox"
        );
        let n = words.len();
        let [low, high, key, ..] = words else {
            return Err(millstream_tensor::invalid!(
                "For the Philox algorithm, the size of state must be at least 3; got {n}";
                "the state is the two halves of the counter, and the key"
            ));
        };
        let start = Philox::new(*key as u64, u128::from(*low as u64) | u128::from(*high as u64) << 64);
        let (_, counter) = key_and_counter(&start.ahead(outputs.wrapping_mul(RESERVED)));
        (*low, *high) = (counter[0] as i64, counter[1] as i64);
        Ok(start)
    })
}

cases! {
    of_a_key: "StatefulUniform(@i64[3] [0 0 5], i64 1, [3]) = [0.18286479 0.68998957 0.6732248]",
    nothing: "StatefulUniformInt(@i64[3] [0 0 5], i64 1, [0], 5, 6) = i32[0] []",
    one_value: "StatefulUniformInt(@i64[3] [0 0 5], i64 1, [2], i64 5, i64 6) = i64[2] [5 5]",
    truncated: "StatefulTruncatedNormal(@i64[3] [-1 3 -5], i64 1, [3]) ~ [-1.0408382 -0.61410964 1.4705782]",
    normal: "StatefulStandardNormalV2(@i64[3] [-1 3 -5], i64 1, [3]; dtype=f64) ~ f64[3] [-0.27625667 -0.48835927 1.02279918]",
    normal_of_the_first_form: "StatefulStandardNormal(@i64[4] [1 -1 3 -5], [0]) = f32[0] []",
    all: "StatefulUniformFullInt(@i64[3] [1 2 3], i64 1, [3]; dtype=i32) = i32[3] [1027260645 -230406332 -671400921]",
    infers: "StatefulStandardNormalV2(@i64[3], i64[], [2 3]; dtype=f64) : f64[2,3]",
    infers_first_form: "StatefulStandardNormal(@i64[4], [2 3]) : f32[2,3]",
    infers_ints: "StatefulUniformFullInt(@i64[3], i64[], i64[2]) : u64[?,?]",
    infers_any: "NonDeterministicInts([2 3]; dtype=i32) : i32[2,3]",
    infers_truncated: "StatefulTruncatedNormal(@i64[3], i64[], [2]; dtype=f16) : f16[2]",
    three_words: "StatefulUniform(@i64[2] [0 0], i64 1, [3]) ! For the Philox algorithm, the size of state must be at least 3; got 2",
    philox: "StatefulUniform(@i64[3] [0 0 5], i64 2, [3]) ! Unsupported algorithm id: 2",
    philox_within: "StatefulStandardNormal(@i64[4] [2 0 0 5], [3]) ! Unsupported algorithm id: 2",
    of_integers: "StatefulTruncatedNormal(@[0.0 0.0 0.0], i64 1, [3]) ! dtype of RNG state variable must be int64, not float",
    a_vector: "RngSkip(@i64 3, i64 1, i64 1) ! RNG state must have one and only one dimension, not 0",
    a_range: "StatefulUniformInt(@i64[3] [0 0 5], i64 1, [2], 5, 5) ! Need minval < maxval, got 5 >= 5",
}
