//! `HistogramFixedWidth`: a histogram with bins of equal width.

use millstream_graph::op::spec::{IndexType, OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("HistogramFixedWidth")
        .doc(
            "Counts how many of `values` are in each of `nbins` bins of equal width in `value_range`. \
             Values outside the range are counted in the first or the last bin.",
        )
        .input("values", "T")
        .input("value_range", "T")
        .input("nbins", I32)
        .on_host()
        .output("out", "dtype")
        .attr("T", OneOf(&[I32, I64, F32, F64]))
        .attr("dtype", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn bins(n: i64) -> Result<usize> {
    usize::try_from(n)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| invalid!("Requires nbins > 0: {n}"; "`nbins` is {n} but must be positive"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let range = cx.vector(1)?;
    ensure!(
        range.is_none_or(|n| n == 2),
        "Dimension must be 2 but is {}", range.unwrap_or(0);
        "`value_range` has shape {} but must have two entries",
        cx.input(1)
    );
    cx.scalar(2)?;
    let n = cx.int(2).map(bins).transpose()?;
    cx.set(0, [n]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let n = bins(cx.int(2)?)?;
    let as_f64 = |t: &Tensor| -> Result<Charged<f64>> {
        with_element!(t.dtype(), T in reals => Charged::of(t.as_slice::<T>()?.iter().map(|v| num_traits::ToPrimitive::to_f64(v).unwrap_or(f64::NAN))),
            else => Err(crate::shared::elementwise::unsupported(cx)))
    };
    let range = cx.input(1);
    let [low, high] = as_f64(range)?[..] else {
        return Err(invalid!("`value_range` has shape {} but must have two entries", range.shape()));
    };
    ensure!(
        low < high,
        "value_range should satisfy value_range[0] < value_range[1], but got '[{low}, {high}]'";
        "`value_range` is [{low}, {high}]: it must go upwards"
    );
    let step = (high - low) / n as f64;
    let mut counts = Tensor::zeros(I64, [n])?;
    let cells = counts.make_mut_or_copy::<i64>()?;
    let mut pace = Pace::new();
    for v in &*as_f64(cx.input(0))? {
        pace.spend(1)?;
        // A NaN is counted in the first bin.
        cells[(((v - low) / step).max(0.0) as usize).min(n - 1)] += 1;
    }
    if cx.node.output_types[0].dtype == I32 {
        let narrow = |v: &i64| i32::try_from(*v);
        let narrow: std::result::Result<Vec<i32>, _> = counts.as_slice::<i64>()?.iter().map(narrow).collect();
        counts = Tensor::vector(
            &narrow.map_err(|_| Error::invalid("a count does not fit in i32").with_help("ask for i64"))?,
        )?;
    }
    cx.set(0, counts);
    Ok(())
}

cases! {
    counts: "HistogramFixedWidth([-1.0 0.0 1.5 2.0 5.0 15.0], [0.0 5.0], 5) = [2 1 1 0 2]",
    of_integers: "HistogramFixedWidth([[1 2] [3 9]], [0 10], 2; dtype=i64) = i64 [3 1]",
    of_nothing: "HistogramFixedWidth(f32[0] [], [0.0 1.0], 3) = [0 0 0]",
    infers: "HistogramFixedWidth(f32[?], f32[2], 7) : i32[7]",
    upwards: "HistogramFixedWidth([1.0], [2.0 1.0], 5) ! it must go upwards",
    some_bins: "HistogramFixedWidth([1.0], [1.0 2.0], 0) ! `nbins` is 0",
}
