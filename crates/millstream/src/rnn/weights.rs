//! [`Weight`]: a variable of a cell, and the one function that makes them.

use crate::initializer::Initializer;
use crate::variable::Variable;
use crate::variable_scope::VariableScopes;
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result, Shape, invalid};

/// A variable of a cell and its value, read once for all steps.
#[derive(Clone, Copy, Debug)]
pub struct Weight<'g> {
    /// The variable.
    pub variable: Variable<'g>,
    /// Its value: what to differentiate by.
    pub value: Output<'g>,
}

/// Makes a weight: all of them are made here. Its name is `name` in the current variable scope, whose defaults and reuse hold.
pub(super) fn weight<'g>(
    g: &'g Graph,
    name: &str,
    shape: &[usize],
    dtype: DType,
    initializer: Option<&Initializer>,
) -> Result<Weight<'g>> {
    // Outside of the loop that the cell may be run in.
    g.without_control(|| {
        let variable = g.get_variable(name, Shape::from(shape)).dtype(dtype);
        let variable = match initializer {
            Some(initializer) => variable.initializer(initializer.clone()),
            None => variable,
        };
        let variable = variable.run()?;
        let value = variable.value();
        g.check()?;
        Ok(Weight { variable, value })
    })
}

/// `x`, then `h`, times the kernel, plus the bias.
pub(super) fn affine<'g>(x: Output<'g>, h: Output<'g>, kernel: &Weight<'g>, bias: &Weight<'g>) -> Output<'g> {
    let g = x.graph();
    let both = g.op("ConcatV2").name("concat").inputs([x, h]).input(1).output();
    let product = g.op("MatMul").inputs([both, kernel.value]).output();
    g.op("BiasAdd").inputs([product, bias.value]).output()
}

/// The `n` equal parts of a row.
pub(super) fn parts<'g, const N: usize>(x: Output<'g>) -> [Output<'g>; N] {
    let node = x.graph().op("Split").name("split").input(1).input(x).attr("num_split", N as i64).finish();
    std::array::from_fn(|i| node.output(i as u32))
}

/// An error for a cell that was run before it was built.
pub(super) fn unbuilt(cell: &str) -> millstream_tensor::Error {
    invalid!("the weights of the {cell} are not made yet")
        .with_help("call `Cell::build` first; `dynamic_rnn` and the like do")
}
