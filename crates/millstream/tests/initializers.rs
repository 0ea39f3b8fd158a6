//! Initializers: TensorFlow 1.15's numbers for seed 4.

use millstream::prelude::*;
use millstream::{Fan, Initializer, Spread, VariableScopes};

/// Returns the initial value of a variable of this shape.
fn first(initializer: Initializer, shape: &[usize]) -> Result<Tensor> {
    let g = Graph::new();
    let v = g.get_variable("v", shape).initializer(initializer).build()?;
    let session = Session::new(&g)?;
    session.run::<()>(g.global_variables_initializer(), feed![])?;
    session.run(v.value(), feed![])
}

#[track_caller]
fn near(got: &Tensor, want: &[f32]) -> Result<()> {
    let numbers = got.as_slice::<f32>()?;
    assert_eq!(numbers.len(), want.len());
    assert!(numbers.iter().zip(want).all(|(a, b)| (a - b).abs() <= 2e-6), "got {got}, want {want:?}");
    Ok(())
}

#[test]
fn scaled_variance() -> Result<()> {
    use Fan::{In, Mean, Out};
    use Spread::{Normal, TruncatedNormal, Uniform};
    let cases: [(Fan, Spread, [f32; 6]); 9] = [
        (In, TruncatedNormal, [0.33684334, -0.03571205, -0.062197603, 0.0427816, -1.2887479, -0.01805216]),
        (In, Uniform, [1.5816454, -0.8077912, 1.7244219, 1.1982085, -1.6274915, -0.7293012]),
        (In, Normal, [0.29629603, -0.031413235, -0.054710608, 0.03763179, 2.564978, -0.6494583]),
        (Out, TruncatedNormal, [0.27503142, -0.029158767, -0.05078413, 0.03493103, -1.0522583, -0.014739527]),
        (Out, Uniform, [1.2914082, -0.6595587, 1.4079846, 0.9783331, -1.3288412, -0.5954719]),
        (Out, Normal, [0.2419247, -0.025648799, -0.044671025, 0.03072623, 2.0942957, -0.5302805]),
        (
            Mean,
            TruncatedNormal,
            [0.30128184, -0.031941827, -0.055631228, 0.038265023, -1.1526912, -0.016146343],
        ),
        (Mean, Uniform, [1.4146667, -0.7225104, 1.5423698, 1.0717103, -1.4556727, -0.6523068]),
        (Mean, Normal, [0.2650152, -0.028096851, -0.048934653, 0.033658896, 2.2941859, -0.58089316]),
    ];
    for (fan, spread, want) in cases {
        near(&first(Initializer::variance_scaling(2.0, fan, spread, Some(4)), &[2, 3])?, &want)?;
    }
    Ok(())
}

#[test]
fn orthogonal() -> Result<()> {
    let of = |shape: &[usize]| first(Initializer::orthogonal(1.5, Some(4)), shape);
    near(&of(&[3, 2])?, &[0.17209089, 1.3067298, -0.031776298, 0.7239444, 1.4897568, -0.13550645])?;
    near(&of(&[2, 3])?, &[0.17209089, -0.031776298, 1.4897568, 1.3067298, 0.7239444, -0.13550645])?;
    let square = [
        0.5950942,
        0.047040313,
        1.3760996,
        0.07558137,
        1.4957483,
        -0.08381552,
        -1.3748274,
        0.10259043,
        0.5910371,
    ];
    near(&of(&[3, 3])?, &square)?;
    let cube = [0.16634685, 0.29128435, -0.030715689, 0.1293989, 1.4400326, 0.3490279, -0.3843059, 1.423583];
    near(&of(&[2, 2, 2])?, &cube)?;
    let error = of(&[3]).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("must be at least two-dimensional"), "{error}");
    Ok(())
}
