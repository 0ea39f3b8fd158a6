//! Gradients without loops: straight graphs and conds.

use millstream_autodiff::Gradients;
use millstream_graph::{Graph, Output};
use millstream_runtime::{Session, feed};
use millstream_tensor::{DType, PartialShape, Result, Tensor};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn x(g: &Graph) -> Output<'_> {
    g.placeholder_of("x", DType::F64, PartialShape::scalar())
}

fn at(g: &Graph, y: Output<'_>, x: Output<'_>, value: f64) -> Result<f64> {
    Session::new(g)?.run(y, feed![x => value])
}

#[test]
fn product_rule() -> Result<()> {
    let g = graph();
    let x = x(&g);
    let y = x * x * x + x * 2.0;
    let dx = g.gradients([y], [x]).dense()?[0];
    assert_eq!(at(&g, dx, x, 3.0)?, 29.0);
    let ddx = g.gradients([dx], [x]).dense()?[0];
    assert_eq!(at(&g, ddx, x, 3.0)?, 18.0);
    let dddx = g.gradients([ddx], [x]).dense()?[0];
    assert_eq!(at(&g, dddx, x, 3.0)?, 6.0);
    Ok(())
}

#[test]
fn unconnected_is_none_or_zeros() -> Result<()> {
    let g = graph();
    let (x, y) = (x(&g), g.placeholder_of("y", DType::F64, PartialShape::scalar()));
    assert!(g.gradients([y * y], [x]).run()?[0].is_none());
    let zero = g.gradients([y * y], [x]).dense()?[0];
    assert_eq!(Session::new(&g)?.run::<f64>(zero, feed![])?, 0.0);
    Ok(())
}

#[test]
fn what_nobody_asks_for_is_not_built() -> Result<()> {
    let g = graph();
    let matrix = |name| g.placeholder_of(name, DType::F32, PartialShape::unknown_of_rank(2));
    let (a, b) = (matrix("a"), matrix("b"));
    let y = g.op("MatMul").input(a).input(b).output();
    let n_products = || g.operations().iter().filter(|op| op.op_type() == "MatMul").count();
    g.gradients([y], [a]).dense()?;
    assert_eq!(n_products(), 2, "the gradient at `b` is built, too");
    g.gradients([y], [a, b]).dense()?;
    assert_eq!(n_products(), 4);
    Ok(())
}

#[test]
fn both_branches_and_their_dead_sides() -> Result<()> {
    let g = graph();
    let x = x(&g);
    let positive = g.op("Greater").input(x).input(0.0).output();
    let y = g.cond(positive, || x * x, || x * 3.0)?;
    let dx = g.gradients([y * x], [x]).dense()?[0];
    assert_eq!(at(&g, dx, x, 2.0)?, 12.0);
    assert_eq!(at(&g, dx, x, -2.0)?, -12.0);
    // One branch does not use it.
    let y = g.cond(positive, || x * x, || g.constant(7.0))?;
    let dx = g.gradients([y], [x]).dense()?[0];
    assert_eq!(at(&g, dx, x, 2.0)?, 4.0);
    assert_eq!(at(&g, dx, x, -2.0)?, 0.0);
    let ddx = g.gradients([dx], [x]).dense()?[0];
    assert_eq!(at(&g, ddx, x, 2.0)?, 2.0);
    assert_eq!(at(&g, ddx, x, -2.0)?, 0.0);
    Ok(())
}

#[test]
fn matrices_broadcast_and_sum() -> Result<()> {
    let g = graph();
    let a = g.placeholder_of("a", DType::F32, PartialShape::unknown_of_rank(2));
    let b = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    let y = g.op("MatMul").input(a).input(b).output() + g.constant([1.0f32, 2.0]);
    let total = g.op("Sum").input(y * y).input([0, 1]).output();
    let da = g.gradients([total], [a, b]).dense()?;
    let ones = Tensor::from_slice([1, 2], &[1.0f32, 1.0])?;
    let (da, db): (Tensor, Tensor) = Session::new(&g)?.run((da[0], da[1]), feed![a => ones])?;
    // y = [5 8]: da = 2 y bᵀ, db = aᵀ 2 y.
    assert_eq!(da.as_slice::<f32>()?, [10.0 + 32.0, 30.0 + 64.0]);
    assert_eq!(db.as_slice::<f32>()?, [10.0, 16.0, 10.0, 16.0]);
    Ok(())
}

#[test]
fn partial_derivatives_by_what_stops_the_gradient() -> Result<()> {
    let g = graph();
    let a = x(&g);
    let b = a * 2.0;
    let y = a + b;
    let both = |d: Vec<Output<'_>>| Session::new(&g)?.run::<[f64; 2]>(d, feed![a => 1.0]);
    assert_eq!(both(g.gradients([y], [a, b]).dense()?)?, [3.0, 1.0]);
    // The example of TensorFlow's documentation.
    assert_eq!(both(g.gradients([y], [a, b]).stop_gradients([a, b]).dense()?)?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn by_the_result_of_a_loop() -> Result<()> {
    let g = graph();
    let a = x(&g);
    let r = g.while_loop(a).run(|r| g.op("Less").input(r).input(10.0).output(), |r| r * r)?;
    let d = g.gradients([r * r], [r, a]).dense()?;
    let (dr, da): (f64, f64) = Session::new(&g)?.run((d[0], d[1]), feed![a => 2.0])?;
    // 2 -> 4 -> 16: r = a⁴, y = r².
    assert_eq!((dr, da), (32.0, 8.0 * 128.0));
    let d = g.gradients([r * r], [r, a]).stop_gradients([r]).run()?;
    assert!(d[0].is_some() && d[1].is_none());
    Ok(())
}

/// Values and gradient are those of TensorFlow 1.15.
#[test]
fn samples_move_with_their_parameters() -> Result<()> {
    let g = graph();
    let alpha = g.constant([[0.5f64], [2.0]]);
    let y = g.op("RandomGamma").input([3]).input(alpha).attr("seed", 7).attr("seed2", 9).output();
    let d = g.gradients([y * y], [alpha]).dense()?[0];
    let (y, d): (Tensor, Tensor) = Session::new(&g)?.run((y, d), feed![])?;
    let near = |got: &Tensor, want: &[f64]| -> Result<bool> {
        Ok(got.as_slice::<f64>()?.iter().zip(want).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs()))
    };
    let samples = [0.2893727446821027, 2.468_964_471_958_704, 0.0032317527835949464, 0.6036276640226195];
    assert!(near(&y, &samples)?, "{y}");
    assert!(near(&d, &[3.562540964039269, 18.545176546919574])?, "{d}");
    Ok(())
}

/// As `Graph.gradient_override_map` has it: a node asks for a gradient by name.
#[test]
fn a_node_may_ask_for_another_gradient() -> Result<()> {
    let g = graph();
    let x = x(&g);
    let floor = |name: &str| g.op("Floor").input(x).attr("_gradient_op_type", name).output();
    // The gradient of another op.
    let through = g.gradients([floor("Identity") * 3.0], [x]).dense()?[0];
    assert_eq!(at(&g, through, x, 1.5)?, 3.0);
    // One that the caller registered.
    g.register_gradient(
        "Tenfold",
        std::sync::Arc::new(|cx| {
            let grad = cx.grad(0) * 10.0;
            cx.give(0, grad);
            Ok(())
        }),
    );
    let tenfold = g.gradients([floor("Tenfold")], [x]).dense()?[0];
    assert_eq!(at(&g, tenfold, x, 1.5)?, 10.0);
    // An op without a gradient passes none on.
    assert!(g.gradients([floor("ZerosLike")], [x]).run()?[0].is_none());
    let error = g.gradients([floor("Gone")], [x]).run().unwrap_err().to_string();
    assert!(error.contains("the gradient `Gone`") && error.contains("Graph::register_gradient"), "{error}");
    Ok(())
}

#[test]
fn a_value_inside_a_loop_is_not_differentiated_from_outside() -> Result<()> {
    let g = graph();
    let x = x(&g);
    let mut inside = None;
    g.while_loop(x).run(
        |r| g.op("Less").input(r).input(10.0).output(),
        |r| {
            inside = Some((r * r).port());
            r * r
        },
    )?;
    let inside = inside.map(|port| Output::new(&g, port)).expect("the body was built");
    let error = g.gradients([inside], [x]).run().unwrap_err().to_string();
    assert!(error.contains("is inside a loop") && error.contains("make it a loop variable"), "{error}");
    Ok(())
}

#[test]
fn nodes_of_gradients_have_the_scope_that_is_asked_for() -> Result<()> {
    let g = graph();
    let x = x(&g);
    let asked = g.gradients([x * x], [x]).name("slopes").grad_ys([g.constant(5.0)]);
    assert!(format!("{asked:?}").contains("slopes"));
    let dx = asked.dense()?[0];
    assert!(dx.op().name().starts_with("slopes/"), "{}", dx.op().name());
    assert_eq!(at(&g, dx, x, 2.0)?, 20.0);
    Ok(())
}
