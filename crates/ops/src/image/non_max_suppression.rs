//! `NonMaxSuppression` in its versions: selects boxes by their scores.

use super::boxes::{infer_boxes, infer_count};
use super::suppression::{Rule, checked, most, overlap, scalar, scores, select};
use crate::shared::casting::cast;
use millstream_graph::op::spec::{Bool, Float, OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, F16, F32, I32};
use millstream_tensor::{Dim, PartialShape, Result, Tensor, ensure, invalid};

const VERSIONS: [&str; 5] = [
    "NonMaxSuppression",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionV3",
    "NonMaxSuppressionV4",
    "NonMaxSuppressionV5",
];

pub(crate) fn def() -> [OpDef; 5] {
    [1usize, 2, 3, 4, 5].map(|version| {
        let def = OpDef::new(VERSIONS[version - 1]).doc(
            "Returns the indices of boxes, `[n, 4]`, in the order of their scores. A box is left out if the quotient \
             of its intersection and its union with a selected one is `iou_threshold` or more. At most \
             `max_output_size` are selected; later versions select only those with a score above `score_threshold`, \
             fill up the result with zeros and return the number of selected boxes, and lower scores softly.",
        );
        let def = match version {
            1 => def
                .input("boxes", F32)
                .input("scores", F32)
                .input("max_output_size", I32)
                .on_host()
                .attr("iou_threshold", Float.or(0.5f32)),
            _ => thresholds(
                def.input("boxes", "T").input("scores", "T").input("max_output_size", I32).on_host(),
                version,
            ),
        };
        let def = def.output("selected_indices", I32);
        let def = if version == 5 { def.output("selected_scores", "T") } else { def };
        let def = if 4 <= version {
            def.output("valid_outputs", I32).attr("pad_to_max_output_size", Bool.or(false))
        } else {
            def
        };
        def.infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(50.0)))
            .gradient(Gradient::none("which boxes are selected does not change by degrees"))
    })
}

fn thresholds(def: OpDef, version: usize) -> OpDef {
    let own = if version == 5 { "T" } else { "T_threshold" };
    let def = def.attr("T", OneOf(&[F16, F32]).or(F32)).input("iou_threshold", own);
    let def = if 3 <= version { def.input("score_threshold", own) } else { def };
    match version {
        5 => def.input("soft_nms_sigma", own),
        _ => def.attr("T_threshold", OneOf(&[F16, F32]).or(F32)),
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    infer_boxes(cx, 0, 2)?;
    cx.vector(1)?;
    infer_count(cx, 0, 1)?;
    for i in 2..cx.n_inputs() {
        cx.scalar(i)?;
    }
    let pads =
        cx.attrs().get("pad_to_max_output_size").is_some() && cx.attrs().bool("pad_to_max_output_size")?;
    let n: Dim = if pads { cx.int(2).and_then(|n| usize::try_from(n).ok()) } else { None };
    for i in 0..cx.n_outputs() {
        let is_count = 0 < i && i + 1 == cx.n_outputs();
        cx.set(i, if is_count { PartialShape::scalar() } else { PartialShape::from([n]) });
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let boxes = cx.input(0);
    let &[n, 4] = boxes.shape().dims() else {
        return Err(
            invalid!("boxes must be 2-D{}", boxes.shape(); "`boxes` must have shape [n,4] but has shape {}", boxes.shape()),
        );
    };
    let dtype: DType = boxes.dtype();
    let (boxes, scores, most) = (cast(boxes, F32)?, scores(cx, n)?, most(cx)?);
    let given = cx.n_inputs();
    let similar = if given == 3 { cx.attrs().float("iou_threshold")? } else { scalar(cx, 3)? };
    let least = if given < 5 { f32::MIN } else { scalar(cx, 4)? };
    let sigma = if given < 6 { 0.0 } else { scalar(cx, 5)? };
    ensure!(0.0 <= sigma, "soft_nms_sigma_val must be >= 0"; "`soft_nms_sigma` is {sigma}");
    let rule = Rule { most, similar: checked(similar)?, least, sigma };
    let corners = boxes.as_slice::<f32>()?;
    let (selected, kept) = select(cx.env, scores.as_slice()?, &rule, |i, j| overlap(corners, i, j))?;
    let count = selected.len();
    let pads = 2 <= cx.n_outputs() && cx.attrs().bool("pad_to_max_output_size")?;
    let size = if pads && most != usize::MAX { most } else { count };
    let mut indices = Tensor::zeros(I32, [size])?;
    crate::shared::elementwise::fresh::<i32>(&mut indices)?[..count].copy_from_slice(&selected);
    if cx.n_outputs() == 3 {
        let mut scores = Tensor::zeros(F32, [size])?;
        crate::shared::elementwise::fresh::<f32>(&mut scores)?[..count].copy_from_slice(&kept);
        cx.set(1, cast(&scores, dtype)?);
    }
    if 2 <= cx.n_outputs() {
        cx.set(cx.n_outputs() - 1, Tensor::scalar(count as i32));
    }
    cx.set(0, indices);
    Ok(())
}

cases! {
    similar_ones_go: "NonMaxSuppression([[0.0 0.0 1.0 1.0] [0.0 0.0 1.0 1.1] [2.0 2.0 3.0 3.0]], [0.5 0.9 0.3], 3) = [1 2]",
    corners_in_any_order: "NonMaxSuppressionV2([[1.0 1.0 0.0 0.0] [0.0 1.0 1.0 0.0]], [0.5 0.4], 3, 0.5) = [0]",
    low_ones_go: "NonMaxSuppressionV3([[0.0 0.0 1.0 1.0] [4.0 4.0 5.0 5.0]], [0.5 0.9], 3, 0.5, 0.6) = [1]",
    filled_up: "NonMaxSuppressionV4([[0.0 0.0 1.0 1.0] [4.0 4.0 5.0 5.0]], [0.5 0.9], 4, 0.5, 0.0; pad_to_max_output_size=true) = [1 0 0 0], 2",
    softly: "NonMaxSuppressionV5([[0.0 0.0 1.0 1.0] [0.0 0.0 1.0 0.5]], [0.9 0.8], 4, 0.6, 0.0, 0.5) ~ [0 1], [0.9 0.6230406], 2",
    infers: "NonMaxSuppressionV3(f32[?,4], f32[?], i32[], f32[], f32[]) : i32[?]",
    infers_filled_up: "NonMaxSuppressionV5(f16[?,4], f16[?], 7, f16[], f16[], f16[]; pad_to_max_output_size=true) : i32[7], f16[7], i32[]",
    sides: "NonMaxSuppression(f32[2,3], f32[2], i32[]) ! Dimension must be 4 but is 3",
    a_score_each: "NonMaxSuppression(f32[2,4], f32[3], i32[]) ! Dimensions must be equal, but are 2 and 3",
    a_share: "NonMaxSuppression([[0.0 0.0 1.0 1.0]], [0.5], 1; iou_threshold=1.5) ! iou_threshold must be in [0, 1]",
}
