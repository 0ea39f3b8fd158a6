//! Gradients of every op against central differences: first and second derivatives, with known and unknown
//! shapes.

use millstream_graph::op::Gradient;
use millstream_ops::cases::{Case, Expect};
use millstream_tensor::DType;
use millstream_testkit::differences::{Domain, Knowing, Needs, Point, is_differentiable};
use millstream_testkit::examples::all;
use millstream_testkit::report::Report;

/// The domains of ops that are not smooth, or not defined, everywhere.
const DOMAINS: &[(&str, Domain)] = &[
    ("Acos", (-0.8, 0.8)),
    ("Acosh", (1.2, 3.0)),
    ("Asin", (-0.8, 0.8)),
    ("Atanh", (-0.8, 0.8)),
    ("Digamma", (0.5, 3.0)),
    ("DivNoNan", (0.5, 3.0)),
    ("Erfinv", (-0.8, 0.8)),
    ("Lgamma", (0.5, 3.0)),
    ("Log", (0.5, 3.0)),
    ("Log1p", (-0.5, 3.0)),
    ("Betainc", (0.2, 0.8)),
    ("Igamma", (0.5, 3.0)),
    ("IgammaGradA", (0.5, 3.0)),
    ("Igammac", (0.5, 3.0)),
    ("Ndtri", (0.1, 0.9)),
    ("Polygamma", (0.5, 3.0)),
    ("SparseDenseCwiseDiv", (0.5, 3.0)),
    ("Zeta", (1.5, 3.0)),
    ("Pow", (0.5, 3.0)),
    ("Reciprocal", (0.5, 3.0)),
    ("Inv", (0.5, 3.0)),
    ("Rsqrt", (0.5, 3.0)),
    ("RsqrtGrad", (0.5, 3.0)),
    ("Sqrt", (0.5, 3.0)),
    ("SqrtGrad", (0.5, 3.0)),
    ("Tan", (-1.0, 1.0)),
    ("Xdivy", (0.5, 3.0)),
    ("Xlog1py", (0.5, 3.0)),
    ("Xlogy", (0.5, 3.0)),
    ("RealDiv", (0.5, 3.0)),
    ("Div", (0.5, 3.0)),
];

/// Examples that cannot be checked this way, with the reason.
const KNOWN: &[(&str, &str)] = &[
    ("AllReduce largest", "no rank knows whose element the largest was: an error"),
    ("ClipByValue the_lower_bound_wins", CONTRADICTION),
    ("DynamicStitch last_one_stays", REPEATED),
    ("TensorScatterUpdate last_one_stays", REPEATED),
    ("MaxPool3DGrad to_all_equals", EQUALS),
    ("MaxPool3DGradGrad of_the_first_of_equals", EQUALS),
    ("Max of_no_floats", NOT_FINITE),
    ("Max of_no_integers", NOT_FINITE),
    ("Min of_no_floats", NOT_FINITE),
    ("Min of_no_integers", NOT_FINITE),
    ("Mean of_no_floats", NOT_FINITE),
    ("Mean of_no_integers", NOT_FINITE),
    ("Betainc outside", NOT_FINITE),
    ("CTCLoss", "one of its outputs is a gradient, which has none: an error"),
    ("Cholesky root_of_each", "made symmetric it has no root"),
    ("InplaceUpdate the_last_one_stays", REPEATED),
    ("MatrixSolveLs of_low_rank", "as in TensorFlow, there is none without the normal equations: an error"),
    ("MatrixSquareRoot without_a_real_root", NOT_FINITE),
    ("CumulativeLogsumexp exclusive", NOT_FINITE),
    ("IgammaGradA edges", NOT_FINITE),
    ("Polygamma edges", NOT_FINITE),
    ("Qr all_columns", ALL_COLUMNS),
    ("QuantizeAndDequantize by_attributes", STEPS),
    ("QuantizeAndDequantizeV2", STEPS),
    ("QuantizeAndDequantizeV3", STEPS),
    ("CropAndResize cut", SINGLE),
    ("CropAndResize of_one_pixel", SINGLE),
    ("ResizeBicubic corners_aligned", SINGLE),
    ("ResizeBicubic half_pixels", SINGLE),
    ("ResizeBicubic larger", SINGLE),
    ("ResizeBicubicGrad of_a_larger", SINGLE),
    ("ResizeBicubicGrad of_doubles", SINGLE),
    ("ResizeBilinear corners_aligned", SINGLE),
    ("ResizeBilinear half_pixels", SINGLE),
    ("ResizeBilinear larger", SINGLE),
    ("ResizeBilinear not_resized", SINGLE),
    ("ResizeBilinear smaller", SINGLE),
    ("ResizeBilinearGrad corners_aligned", SINGLE),
    ("ResizeBilinearGrad of_a_larger", SINGLE),
    ("ResizeBilinearGrad of_halves", SINGLE),
    ("Qr no_columns", ALL_COLUMNS),
    ("ScaleAndTranslate", SINGLE),
    ("SparseTensorDenseMatMul conjugates", "as in TensorFlow, there is none of complex numbers: an error"),
    ("Zeta edges", NOT_FINITE),
    ("TensorArrayReadV3 again", "what was read orders what is read again, and flows are f32"),
    ("TensorArrayWriteV3 passes_the_flow_on", "flows only order: to differentiate one is an error"),
    ("UnsortedSegmentMax finds", DROWNED),
    ("UnsortedSegmentMax finite_floats", DROWNED),
    ("UnsortedSegmentMin finds", DROWNED),
    ("UnsortedSegmentMin finite_floats", DROWNED),
];

/// Examples without a gradient where nothing is known of the inputs' shapes, with the reason.
const KNOWN_SHAPELESS: &[(&str, &str)] = &[
    ("Einsum broadcasts", ELLIPSIS),
    ("Einsum broadcasts_inside", ELLIPSIS),
    ("BatchMatrixSolveLs", SIDES),
    ("BatchSvd", INNER),
    ("MatrixSolveLs", SIDES),
    ("ParallelConcat", "as in TensorFlow, all shapes must be known"),
    ("Svd of_no_rows", INNER),
    ("Svd values_alone", INNER),
    ("Svd values_of_a_tall_one", INNER),
    ("Svd values_of_each", INNER),
];

/// Ops with broadcasting that cannot be checked this way, with the reason.
const KNOWN_BROADCASTING: &[(&str, &str)] =
    &[("SoftmaxCrossEntropyWithLogits", "labels that are repeated along a row are no probabilities")];

/// Examples whose gradient in half-width floats differs, with the reason.
const KNOWN_HALF_WIDTH: &[(&str, &str)] =
    &[("CumulativeLogsumexp reverse", "its numbers are so great that their differences have no digits left")];

const CONTRADICTION: &str = "as in TensorFlow, both of two contradicting bounds get the gradient";
const REPEATED: &str = "as in TensorFlow, every row for a place gets the gradient, not only the last one";
const ALL_COLUMNS: &str = "which columns make the others a whole basis is not determined: an error";
const EQUALS: &str =
    "as in TensorFlow, all equal largest cells get the gradient, whose gradient only the first gives";
const ELLIPSIS: &str = "the axes of an ellipsis are counted while the gradient is built";
const SIDES: &str = "whether there are more rows or more columns must be known while the gradient is built";
const INNER: &str = "as in TensorFlow, the gradient needs a matrix of known shape";
const SINGLE: &str = "floats of 32 bits come out whatever goes in, or its image has no gradient: TensorFlow's values are the check";
const STEPS: &str = "as in TensorFlow, its gradient is that of the number before it is rounded";
const NOT_FINITE: &str = "its value is not finite";
const DROWNED: &str =
    "where no row is the value is the greatest number there is, beside which differences are nothing";

/// Ops and examples whose second derivative is not checked, with the reason.
const ONCE: &[(&str, &str)] = &[
    ("Dilation2D", "as in TensorFlow, a dilation has no second derivative: an error"),
    ("EuclideanNorm of_nothing", "the length is 0, where it has no second derivative"),
    ("FractionalAvgPool", "as in TensorFlow, a fractional pool has no second derivative: an error"),
    ("FractionalMaxPool", "as in TensorFlow, a fractional pool has no second derivative: an error"),
    ("RandomGamma", "how samples curve is not computed"),
    ("Igamma", "its second derivative by `a` is not computed"),
    ("Igammac", "its second derivative by `a` is not computed"),
];

/// Inputs without a gradient, with the reason.
const HELD: &[(&str, &[usize], &str)] = &[
    ("Betainc", &[0, 1], "as in TensorFlow, a gradient flows to `x` alone"),
    ("Polygamma", &[0], "the order is a count"),
    ("Zeta", &[0], "as in TensorFlow, a gradient flows to `q` alone"),
    ("IgammaGradA", &[0], "only that by `x` is computed; the other is an error"),
    ("Conv3DBackpropFilter", &[1], "the shape of the filter alone matters"),
    ("Conv3DBackpropInput", &[0], "the shape of the volume alone matters"),
    ("MaxPool3DGrad", &[0, 1], "the second is the largest cells of the first"),
    ("MaxPool3DGradGrad", &[0, 1], "the second is the largest cells of the first"),
    ("MaxPoolGradGradV2", &[0, 1], "the second is the largest cells of the first"),
    ("MaxPoolGradV2", &[0, 1], "the second is the largest cells of the first"),
    ("SparseAdd", &[6], "the threshold moves by steps"),
];

fn needs(op: &str) -> Needs {
    let domain = DOMAINS.iter().find(|(name, _)| *name == op).map(|(_, domain)| *domain);
    let held = HELD.iter().find(|(name, ..)| *name == op).map_or(&[][..], |(_, held, _)| *held);
    Needs { domain, held }
}

fn reason(list: &[(&str, &'static str)], op: &str, case: &str) -> Option<&'static str> {
    let whole = format!("{op} {case}");
    list.iter().find(|(known, _)| *known == op || *known == whole).map(|(_, reason)| *reason)
}

#[test]
fn examples() {
    let mut report = Report::new();
    for (op, name, text) in all() {
        let Ok(case) = Case::parse(text) else { continue };
        if case.call.op != op
            || !is_differentiable(op)
            || !matches!(case.expect, Expect::Values(_) | Expect::Near(_))
        {
            continue;
        }
        for (seed, knowing) in [Knowing::All, Knowing::Nothing].into_iter().enumerate() {
            let label = format!("{op} {name} ({knowing:?})");
            let shapeless = match knowing {
                Knowing::Nothing => reason(KNOWN_SHAPELESS, op, name),
                _ => None,
            };
            let known = reason(KNOWN, op, name).or(shapeless);
            match Point::of(&case, needs(op), seed as u64) {
                Ok(None) => {}
                Ok(Some(point)) => report.run(&label, known, || {
                    point
                        .check(knowing, reason(ONCE, op, name).is_none(), seed as u64)
                        .map_err(|e| format!("{text}\n{e}"))
                }),
                Err(e) => report.add(&label, known, Err(e)),
            }
        }
    }
    assert!(report.passed() > 0);
    report.finish("gradients of examples");
}

/// Gradients in half-width floats are close to those of the same numbers in f64.
#[test]
fn half_width() {
    let mut report = Report::new();
    for (op, name, text) in all() {
        let Ok(case) = Case::parse(text) else { continue };
        if case.call.op != op
            || !is_differentiable(op)
            || reason(KNOWN, op, name).is_some()
            || !matches!(case.expect, Expect::Values(_) | Expect::Near(_))
        {
            continue;
        }
        let Ok(Some(point)) = Point::of(&case, needs(op), 2) else { continue };
        for dtype in [DType::F16, DType::BF16] {
            match point.check_narrow(dtype, 2) {
                Ok(false) => {}
                result => report.add(
                    &format!("{op} {name} ({dtype})"),
                    reason(KNOWN_HALF_WIDTH, op, name),
                    result.map(drop).map_err(|e| format!("{text}\n{e}")),
                ),
            }
        }
    }
    assert!(report.passed() > 0);
    report.finish("gradients in half-width floats");
}

/// Every op with two inputs of one type that broadcasts does so in both directions, and its gradient sums
/// over the broadcast axes.
#[test]
fn broadcasting() {
    let mut report = Report::new();
    let shapes: [(&[usize], &[usize]); 3] = [(&[2, 1, 3], &[4, 1]), (&[3], &[2, 3]), (&[2, 3], &[])];
    for op in millstream_ops::registry().iter().filter(|op| is_differentiable(op.name)) {
        for (seed, shapes) in shapes.into_iter().enumerate() {
            let point = Point::broadcasting(op, shapes, needs(op.name), seed as u64);
            let Ok(Some(point)) = point else { continue };
            if !point.is_valid() {
                continue;
            }
            for knowing in [Knowing::All, Knowing::Nothing] {
                let label = format!("{} {shapes:?} ({knowing:?})", op.name);
                let twice = reason(ONCE, op.name, "").is_none();
                report.run(&label, reason(KNOWN_BROADCASTING, op.name, ""), || {
                    point.check(knowing, twice, seed as u64)
                });
            }
        }
    }
    assert!(report.passed() > 0);
    report.finish("gradients with broadcasting");
}

/// Every op declares how it is differentiated, or why it is not.
#[test]
fn every_op_says() {
    let silent: Vec<&str> =
        millstream_ops::registry().iter().filter(|op| op.gradient_of().is_none()).map(|op| op.name).collect();
    assert!(silent.is_empty(), "{} ops say nothing of their gradient: {}", silent.len(), silent.join(" "));
    for op in millstream_ops::registry().iter() {
        if let Some(Gradient::None(why) | Gradient::Missing(why)) = op.gradient_of() {
            assert!(!why.is_empty(), "{} has no reason", op.name);
        }
    }
}
