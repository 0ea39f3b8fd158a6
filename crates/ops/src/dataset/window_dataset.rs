//! `WindowDataset`: consecutive elements as datasets of their own.

use super::datasets::{
    Data, Dataset, Element, How, Kept, Over, Source, Spec, counted, keep, over, source, transforms,
};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Error, Result, Tensor, ensure};
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    transforms("WindowDataset", run, |def| {
        def.input("size", DType::I64)
            .input("shift", DType::I64)
            .input("stride", DType::I64)
            .input("drop_remainder", DType::Bool)
    })
    .doc(
        "Returns a dataset of windows. A window has a dataset for each component, of up to `size` elements \
         that are `stride` apart; the next window begins `shift` elements later. Windows that are smaller \
         are left out if `drop_remainder`.",
    )
}

/// The elements of a window, or of a group.
pub(super) struct Few(pub Arc<Charged<Kept>>, pub Spec);

impl Dataset for Few {
    fn spec(&self) -> &Spec {
        &self.1
    }
    fn begin(&self, _env: &StepEnv) -> Result<Source> {
        let elements = self.0.clone();
        let mut next = 0;
        Ok(source(move |_| {
            next += 1;
            Ok(elements.get(next - 1).map(|kept| Element::clone(kept)))
        }))
    }
    fn cardinality(&self) -> i64 {
        self.0.len() as i64
    }
}

struct Window {
    size: usize,
    shift: usize,
    stride: usize,
    whole_only: bool,
}

/// A pass that makes windows.
struct Pass {
    input: Source,
    spec: Spec,
    ahead: Charged<Kept>,
    /// The elements to leave out before the next window.
    to_skip: usize,
    ended: bool,
}

impl Pass {
    fn next(&mut self, how: &Window, env: &StepEnv) -> Result<Option<Element>> {
        let wanted = (how.size - 1).saturating_mul(how.stride).saturating_add(1);
        while !self.ended && (0 < self.to_skip || self.ahead.len() < wanted) {
            match self.input.next(env)? {
                None => self.ended = true,
                Some(_) if 0 < self.to_skip => self.to_skip -= 1,
                Some(element) => keep(&mut self.ahead, element)?,
            }
        }
        if self.ahead.is_empty() || how.whole_only && self.ahead.len() < wanted {
            self.ahead = Charged::new();
            return Ok(None);
        }
        let components = 0..self.spec.dtypes.len();
        let window = components.map(|c| self.component(how, c)).collect::<Result<Element>>()?;
        self.to_skip = how.shift.saturating_sub(self.ahead.len());
        self.ahead.drop_first(how.shift);
        Ok(Some(window))
    }

    fn component(&self, how: &Window, c: usize) -> Result<Tensor> {
        let missing = || Error::internal("an element has fewer components than its dataset says");
        let elements = self.ahead.iter().step_by(how.stride).take(how.size);
        let one =
            |element: &Kept| Kept::of([element.get(c).ok_or_else(missing)?.clone()].into_iter().collect());
        let elements = Charged::try_of(elements.map(one))?;
        let spec = Spec { dtypes: vec![self.spec.dtypes[c]], shapes: vec![self.spec.shapes[c].clone()] };
        Data::new(Few(elements.into(), spec), 0)?.tensor()
    }
}

impl How for Window {
    fn begin(over: &Over<Window>, env: &StepEnv) -> Result<Source> {
        let mut pass = Pass {
            input: over.input.begin(env)?,
            spec: over.input.spec().clone(),
            ahead: Charged::new(),
            to_skip: 0,
            ended: false,
        };
        let how = over.how.clone();
        Ok(source(move |env| pass.next(&how, env)))
    }

    fn cardinality(over: &Over<Window>) -> i64 {
        let whole = |v: usize| i128::try_from(v).unwrap_or(i128::MAX >> 8);
        let Window { size, shift, stride, whole_only } = *over.how;
        let (span, shift) = ((whole(size) - 1) * whole(stride) + 1, whole(shift));
        counted(over.input.cardinality(), |n| {
            let n = i128::from(n);
            let windows =
                if whole_only { (n - span + shift).max(0) / shift } else { (n + shift - 1) / shift };
            i64::try_from(windows).unwrap_or(i64::MAX)
        })
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let positive = |cx: &KernelCx, i: usize, what: &str| {
        let n = cx.int(i)?;
        ensure!(n > 0, "Window {what} must be greater than zero.");
        Ok(usize::try_from(n).unwrap_or(usize::MAX))
    };
    let (size, shift) = (positive(cx, 1, "size")?, positive(cx, 2, "shift")?);
    let stride = positive(cx, 3, "stride")?;
    let whole_only = cx.bool(4)?;
    over(cx, Window { size, shift, stride, whole_only })
}

cases! {
    is_a_variant: "WindowDataset(variant[], i64[], i64[], i64[], bool[]; output_types={variant}, output_shapes={shape[]}) : variant[]",
    a_window: "DatasetToSingleElement(BatchDataset(DatasetToSingleElement(WindowDataset(RangeDataset(i64 0, i64 5, i64 1; output_types={i64}, output_shapes={shape[]}), i64 3, i64 4, i64 2, true; output_types={variant}, output_shapes={shape[]}); output_types={variant}, output_shapes={shape[]}), i64 9; output_types={i64}, output_shapes={shape[?]}); output_types={i64}, output_shapes={shape[?]}) = i64[3] [0 2 4]",
    of_a_size: "WindowDataset(TensorDataset(1; output_shapes={shape[]}), i64 0, i64 1, i64 1, false; output_types={variant}, output_shapes={shape[]}) ! Window size must be greater than zero",
}
