//! Gradients of the TensorArrays of TensorFlow 1's graphs: of any order, of arrays that grow, and the cases
//! that are errors.

use millstream_autodiff::Gradients;
use millstream_graph::{Graph, Output};
use millstream_runtime::{Session, feed};
use millstream_tensor::{DType, PartialShape, Result, Tensor};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

/// A handle and a flow of f64 elements.
fn array(g: &Graph, size: i32, grows: bool) -> [Output<'_>; 2] {
    let made = g.op("TensorArrayV3").input(size).attr("dtype", DType::F64).attr("dynamic_size", grows);
    let made = made.attr("clear_after_read", false).finish();
    [made.output(0), made.output(1)]
}

fn write<'g>(array: Output<'g>, i: Output<'g>, x: Output<'g>, flow: Output<'g>) -> Output<'g> {
    array.graph().op("TensorArrayWriteV3").inputs([array, i, x, flow]).output()
}

fn read<'g>(array: Output<'g>, i: Output<'g>, flow: Output<'g>) -> Output<'g> {
    array.graph().op("TensorArrayReadV3").inputs([array, i, flow]).attr("dtype", DType::F64).output()
}

/// Returns `xⁿ`, computed by a loop that writes each power as an element and reads the one before, and the
/// final elements.
fn powers<'g>(g: &'g Graph, x: Output<'g>, n: i32, grows: bool) -> Result<Output<'g>> {
    let [ta, flow] = array(g, if grows { 1 } else { n + 1 }, grows);
    let zero = g.constant(0);
    let flow = write(ta, zero, g.constant(1.0f64), flow);
    let (_, flow) = g.while_loop((zero, flow)).run(
        |(i, _)| g.op("Less").input(i).input(n).output(),
        |(i, flow)| (i + 1, write(ta, i + 1, read(ta, i, flow) * x, flow)),
    )?;
    Ok(read(ta, g.constant(n), flow))
}

#[test]
fn any_order() -> Result<()> {
    for grows in [false, true] {
        let g = graph();
        let x = g.placeholder_of("x", DType::F64, PartialShape::scalar());
        let mut y = powers(&g, x, 5, grows)?;
        let mut want = 1.5f64.powi(5);
        for order in 1..4 {
            y = g.gradients([y], [x]).dense()?[0];
            want *= f64::from(6 - order) / 1.5;
            let got: f64 = Session::new(&g)?.run(y, feed![x => 1.5f64])?;
            assert!((got - want).abs() < 1e-9, "grows {grows}, order {order}: {got}, not {want}");
        }
    }
    Ok(())
}

/// An element that is gathered twice gets both gradients; one that is not gathered gets none.
#[test]
fn gathered_twice() -> Result<()> {
    for (grows, size) in [(false, 3), (true, 0)] {
        let g = graph();
        let x = g.placeholder_of("x", DType::F64, PartialShape::from([3]));
        let [ta, flow] = array(&g, size, grows);
        let flow = g.op("TensorArrayScatterV3").input(ta).input([0, 1, 2]).input(x * x).input(flow).output();
        let rows = g.op("TensorArrayGatherV3").input(ta).input([2, 0, 2]).input(flow);
        let y = rows.attr("dtype", DType::F64).output() * g.constant([1.0f64, 10.0, 100.0]);
        let d = g.gradients([y], [x]).dense()?[0];
        let second = g.gradients([d], [x]).dense()?[0];
        let x_value = Tensor::vector(&[1.0, 2.0, 3.0])?;
        let (d, second): (Tensor, Tensor) = Session::new(&g)?.run((d, second), feed![x => x_value])?;
        assert_eq!(d.as_slice::<f64>()?, [20.0, 0.0, 606.0]);
        assert_eq!(second.as_slice::<f64>()?, [20.0, 0.0, 202.0]);
    }
    Ok(())
}

/// Which elements are gathered only the run knows: here, none.
#[test]
fn none_gathered() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F64, PartialShape::from([3, 2]));
    let which = g.placeholder_of("which", DType::I32, PartialShape::new([None]));
    let [ta, flow] = array(&g, 3, false);
    let flow = g.op("TensorArrayScatterV3").input(ta).input([0, 1, 2]).input(x).input(flow).output();
    let rows = g.op("TensorArrayGatherV3").input(ta).input(which).input(flow);
    let rows = rows.attr("dtype", DType::F64).attr("element_shape", PartialShape::from([2])).output();
    let d = g.gradients([rows * rows], [x]).dense()?[0];
    let x_value = Tensor::fill([3, 2], &Tensor::scalar(1.5f64))?;
    for (indices, want) in [(&[][..], [0.0; 6]), (&[1, 1][..], [0.0, 0.0, 6.0, 6.0, 0.0, 0.0])] {
        let indices = Tensor::vector::<i32>(indices)?;
        let d: Tensor = Session::new(&g)?.run(d, feed![x => x_value.clone(), which => indices])?;
        assert_eq!(d.as_slice::<f64>()?, want);
    }
    Ok(())
}

/// The gradients of two readers of an array that grows are lists of different lengths, which are filled up
/// before they are added. Those of another array have its length.
#[test]
fn gathered_by_three() -> Result<()> {
    for (grows, size) in [(false, 3), (true, 0)] {
        let g = graph();
        let x = g.placeholder_of("x", DType::F64, PartialShape::from([3]));
        let [ta, flow] = array(&g, size, grows);
        let flow = g.op("TensorArrayScatterV3").input(ta).input([0, 1, 2]).input(x * x).input(flow).output();
        let row = |i: i32| {
            let rows = g.op("TensorArrayGatherV3").input(ta).input([i]).input(flow);
            rows.attr("dtype", DType::F64).output()
        };
        let ys = [row(0), row(2), row(1)];
        let d = g.gradients(ys, [x]).dense()?[0];
        let fillings = g.read(|g| g.nodes().iter().filter(|n| n.op() == "TensorListResize").count());
        assert_eq!(fillings != 0, grows);
        let d: Tensor = Session::new(&g)?.run(d, feed![x => Tensor::vector(&[1.0, 2.0, 3.0])?])?;
        assert_eq!(d.as_slice::<f64>()?, [2.0, 4.0, 6.0]);
    }
    Ok(())
}

/// The gradient never uses the array itself, so the array may be closed, and its elements cleared after they
/// are read.
#[test]
fn a_closed_array() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F64, PartialShape::scalar());
    let [ta, flow] = array(&g, 1, false);
    let zero = g.constant(0);
    let y = read(ta, zero, write(ta, zero, x, flow)) * x;
    let closed = g.op("TensorArrayCloseV3").input(ta).control(y.op()).finish();
    let d = g
        .gradients([y], [x])
        .grad_ys([Some(g.op("Identity").input(1.0f64).control(closed).output())])
        .dense()?[0];
    let got: f64 = Session::new(&g)?.run(d, feed![x => 3.0f64])?;
    assert_eq!(got, 6.0);
    Ok(())
}

/// The nodes of TensorFlow's own gradient cannot be differentiated again. The message says what to do.
#[test]
fn not_through_tensor_arrays_of_gradients() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F64, PartialShape::scalar());
    let [ta, flow] = array(&g, 1, false);
    let zero = g.constant(0);
    let sums = g.op("TensorArrayGradV3").inputs([ta, write(ta, zero, x, flow)]).attr("source", "s").finish();
    let flow = write(sums.output(0), zero, x * x, sums.output(1));
    let y = read(sums.output(0), zero, flow);
    let error = g.gradients([y], [x]).run().unwrap_err().to_string();
    assert!(
        error.contains("comes from TensorArrayGradV3") && error.contains("from the forward graph"),
        "{error}"
    );
    Ok(())
}

#[test]
fn not_of_the_oldest() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F64, PartialShape::scalar());
    let ta = g.op("TensorArrayV2").input(1).attr("dtype", DType::F64).output();
    let zero = g.constant(0);
    let flow = g.op("TensorArrayWriteV2").inputs([ta, zero, x, g.constant(0f32)]).output();
    let y = g.op("TensorArrayReadV2").inputs([ta, zero, flow]).attr("dtype", DType::F64).output();
    let error = g.gradients([y], [x]).run().unwrap_err().to_string();
    assert!(error.contains("TensorArrayReadV2 has no gradient here: only TensorArrayV3"), "{error}");
    Ok(())
}

#[test]
fn not_of_a_flow() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F64, PartialShape::scalar());
    let [ta, flow] = array(&g, 1, false);
    let flow = g.op("Identity").input(write(ta, g.constant(0), x, flow)).output();
    let error = g.gradients([flow], [x]).run().unwrap_err().to_string();
    assert!(error.contains("`Identity:0` is the flow of a TensorArray"), "{error}");
    assert!(error.contains("differentiate values read"), "{error}");
    Ok(())
}
