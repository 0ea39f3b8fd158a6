//! Builds without some features: a loop runs, and a graph that needs a feature gets an error that names it.
//! `cargo xtask check features` runs this without any.

use millstream::prelude::*;
use millstream::{Code, registry};

/// An op type of each feature.
const OPS: [(&str, &str, bool); 6] = [
    ("DecodePng", "input", cfg!(feature = "input")),
    ("TextLineDataset", "input", cfg!(feature = "input")),
    ("RFFT", "spectra", cfg!(feature = "spectra")),
    ("Svd", "spectra", cfg!(feature = "spectra")),
    ("ScalarSummary", "summary", cfg!(feature = "summary")),
    ("RestoreV2", "tf-files", cfg!(feature = "tf-files")),
];

#[test]
fn a_loop_and_its_gradient_run() {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![]);
    let power = g.while_loop((g.constant(0), g.constant(1.0f64)));
    let (_, power) = power.run(|(i, _)| i.less(3), |(i, p)| (i + 1, p * x)).unwrap();
    let slope = g.gradients([power], [x]).dense().unwrap();
    let slope: f64 = Session::new(&g).unwrap().run(slope[0], feed![x => 2.0]).unwrap();
    assert_eq!(slope, 12.0);
}

#[test]
fn an_op_is_there_or_its_feature_is_named() {
    for (op, feature, on) in OPS {
        assert_eq!(registry().get(op).is_some(), on, "{op}");
        if !on {
            let g = Graph::new();
            g.op(op).input(g.constant("a")).finish();
            let error = g.check().unwrap_err();
            assert_eq!(error.code(), Code::Unimplemented, "{error}");
            let error = error.to_string();
            assert!(error.contains(op) && error.contains(&format!("the feature `{feature}`")), "{error}");
        }
    }
}

#[test]
fn about_names_the_features() {
    let about = millstream::about();
    for (_, feature, on) in OPS {
        assert_eq!(about.contains(feature), on, "{about}");
    }
}
