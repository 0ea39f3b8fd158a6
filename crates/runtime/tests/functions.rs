//! Functions of the graph's library that a kernel calls: their plans are made once, and an error in one names
//! the function.

use millstream_graph::{Attr, Attrs, FuncRef, Function, Graph, Output};
use millstream_runtime::{RunOptions, Session, feed};
use millstream_tensor::{Code, DType, PartialShape, Result, Tensor};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn list<T: Into<Attr>>(item: T) -> Attr {
    Attr::List(vec![item.into()])
}

/// Adds the function `f` of two arguments.
fn define(
    g: &Graph,
    types: [DType; 2],
    body: impl for<'b> FnOnce(Output<'b>, Output<'b>) -> Result<Output<'b>>,
) -> Result<()> {
    let inside = graph();
    let [state, element] = [("state", types[0]), ("element", types[1])]
        .map(|(name, dtype)| inside.placeholder_of(name, dtype, PartialShape::scalar()));
    let result = body(state, element)?;
    let (inputs, outputs) = (vec![state.port(), element.port()], vec![result.port()]);
    g.add_function(Function { name: "f".into(), body: inside, inputs, outputs })
}

/// The state after `f` was called for each integer below `n`.
fn reduce<'g>(n: Output<'g>, function: &str) -> Output<'g> {
    let g = n.graph();
    let scalar = || list(PartialShape::scalar());
    let range = g.op("RangeDataset").input(0i64).input(n).input(1i64);
    let range = range.attr("output_types", list(DType::I64)).attr("output_shapes", scalar()).output();
    let f = FuncRef { name: function.into(), attrs: Attrs::new() };
    g.op("ReduceDataset")
        .name("total")
        .input(range)
        .inputs([g.constant(0i64)])
        .attr("f", Attr::Func(f))
        .attr("Tstate", list(DType::I64))
        .attr("Targuments", Attr::List(Vec::new()))
        .attr("output_types", list(DType::I64))
        .attr("output_shapes", scalar())
        .output()
}

fn n(g: &Graph) -> Output<'_> {
    g.placeholder_of("n", DType::I64, PartialShape::scalar())
}

#[track_caller]
fn fails(result: Result<i64>, code: Code, parts: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    parts.iter().for_each(|part| assert!(error.to_string().contains(part), "no `{part}` in\n{error}"));
}

#[test]
fn a_function_is_called_for_each_element() -> Result<()> {
    let g = graph();
    // A loop in the body: the state grows by the element, in steps of one.
    define(&g, [DType::I64; 2], |state, element| {
        let g = element.graph();
        let [_, sum] = g.while_loop([element, state + 0i64]).run(
            |[left, _]| g.op("Less").input(0i64).input(left).output(),
            |[left, sum]| [left - 1i64, sum + 1i64],
        )?;
        Ok(sum)
    })?;
    let n = n(&g);
    let total = reduce(n, "f");
    let session = Session::new(&g)?;
    for _ in 0..2 {
        assert_eq!(session.run::<i64>(total, feed![n => 5i64])?, 10);
    }
    assert_eq!(session.run::<i64>(total, feed![n => 0i64])?, 0);
    Ok(())
}

#[test]
fn arguments_of_another_type_are_refused() -> Result<()> {
    let g = graph();
    define(&g, [DType::I64, DType::F32], |state, _| Ok(state + 1i64))?;
    let n = n(&g);
    let total = Session::new(&g)?.run::<i64>(reduce(n, "f"), feed![n => 1i64]);
    fails(
        total,
        Code::InvalidArgument,
        &["argument 1 of the function `f` is i64[], but f32[] is wanted", "total"],
    );
    Ok(())
}

#[test]
fn arguments_are_counted() -> Result<()> {
    let g = graph();
    let inside = graph();
    let state = inside.placeholder_of("state", DType::I64, PartialShape::scalar());
    let (inputs, outputs) = (vec![state.port()], vec![state.port()]);
    g.add_function(Function { name: "f".into(), body: inside, inputs, outputs })?;
    let n = n(&g);
    let total = Session::new(&g)?.run::<i64>(reduce(n, "f"), feed![n => 1i64]);
    fails(total, Code::InvalidArgument, &["the function `f` takes 1 arguments but is given 2"]);
    Ok(())
}

#[test]
fn an_error_in_a_function_names_both_nodes() -> Result<()> {
    let g = graph();
    define(&g, [DType::I64; 2], |state, element| {
        let quotient = state.graph().op("FloorDiv").name("quotient").input(state).input(element);
        Ok(quotient.output())
    })?;
    let n = n(&g);
    let session = Session::new(&g)?;
    let total = reduce(n, "f");
    for _ in 0..2 {
        let result = session.run::<i64>(total, feed![n => 1i64]);
        fails(result, Code::InvalidArgument, &["`quotient` (FloorDiv) in the function `f`", "total"]);
    }
    Ok(())
}

#[test]
fn a_function_that_is_missing_is_named() -> Result<()> {
    let g = graph();
    let n = n(&g);
    let total = Session::new(&g)?.run::<i64>(reduce(n, "gone"), feed![n => 1i64]);
    fails(total, Code::NotFound, &["the graph has no function `gone`"]);
    Ok(())
}

/// A step that the caller ends ends the functions that it calls, too.
#[test]
fn a_deadline_ends_an_endless_function() -> Result<()> {
    let g = graph();
    define(&g, [DType::I64; 2], |state, element| {
        let g = state.graph();
        let more = |i| g.op("LessEqual").input(0i64).input(i).output();
        g.while_loop(state + element).run(more, |i| i * 1i64)
    })?;
    let n = n(&g);
    let options = RunOptions { timeout: Some(std::time::Duration::from_millis(50)), ..RunOptions::default() };
    let result = Session::new(&g)?.run_with::<Tensor>(reduce(n, "f"), feed![n => 1i64], &options);
    assert_eq!(result.unwrap_err().code(), Code::DeadlineExceeded);
    Ok(())
}
