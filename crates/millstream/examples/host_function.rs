//! A function of the program as a node of the graph: a loop that asks the program for its next value until
//! there are no more.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::HostFunctions;
use millstream::prelude::*;
use std::sync::Mutex;

/// Returns the sum of the values of `source`, and their number.
fn sum(source: impl Iterator<Item = f32> + Send + 'static) -> Result<(f32, i32)> {
    let g = Graph::new();
    let source = Mutex::new(source);
    let next = move |_: &[Tensor]| {
        let value = source.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
        Ok(vec![Tensor::scalar(value.unwrap_or(0.0)), Tensor::scalar(value.is_some())])
    };
    let next = std::sync::Arc::new(next);
    let (_, total, n) = g.while_loop((g.constant(true), g.constant(0.0f32), g.constant(0))).run(
        |(more, _, _)| more,
        |(_, total, n)| -> Result<_> {
            let next = next.clone();
            // The function ignores its input, which makes each call wait for the one before.
            let given = g.host_function([n], [DType::F32, DType::Bool], move |inputs| next(inputs))?;
            let (value, more) = (given[0].set_shape(shape![]), given[1].set_shape(shape![]));
            Ok((more, total + value, n + more.cast::<i32>()))
        },
    )?;
    Session::new(&g)?.run((total, n), feed![])
}

fn main() -> Result<()> {
    let (total, n) = sum((1..=10).map(|i| i as f32))?;
    println!("{n} values, {total} in all");
    Ok(())
}

#[test]
fn every_value_is_asked_for_once() -> Result<()> {
    assert_eq!(sum((1..=100).map(|i| i as f32))?, (5050.0, 100));
    assert_eq!(sum(std::iter::empty())?, (0.0, 0));
    Ok(())
}
