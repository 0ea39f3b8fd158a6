//! [`Weight`]: a variable of a cell, and the function that adds it.

use crate::initializer::Initializer;
use crate::ops::Ops;
use crate::sugar::Functions;
use crate::variable::Variable;
use crate::variable_scope::VariableScopes;
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result, Shape, invalid};

/// A variable of a cell, and its value, read once for all steps.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::rnn::{BasicRnnCell, Cell};
/// let g = Graph::new();
/// let mut cell = BasicRnnCell::new(4);
/// cell.build(&g, "net/", 3, DType::F32)?;
/// let kernel = cell.weights()[0];
/// assert_eq!(kernel.variable.shape(), kernel.value.shape()); // of the variable, and of its value
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Weight<'g> {
    /// The variable.
    pub variable: Variable<'g>,
    /// Its value, with respect to which gradients are taken.
    pub value: Output<'g>,
}

/// Adds a weight named `name` in the current variable scope, with its defaults and reuse. All weights are
/// added here.
pub(super) fn weight<'g>(
    g: &'g Graph,
    name: &str,
    shape: &[usize],
    dtype: DType,
    initializer: Option<&Initializer>,
) -> Result<Weight<'g>> {
    // Outside the loop that the cell may run in.
    g.without_control(|| {
        let variable = g.get_variable(name, Shape::from(shape)).dtype(dtype);
        let variable = match initializer {
            Some(initializer) => variable.initializer(initializer.clone()),
            None => variable,
        };
        let variable = variable.build()?;
        let value = variable.value();
        g.check()?;
        Ok(Weight { variable, value })
    })
}

/// Returns `[x, h] · kernel + bias`.
pub(super) fn affine<'g>(x: Output<'g>, h: Output<'g>, kernel: &Weight<'g>, bias: &Weight<'g>) -> Output<'g> {
    let g = x.graph();
    let both = g.concat(1, [x, h]);
    let product = g.linalg().mat_mul(both, kernel.value);
    g.nn().bias_add(product, bias.value)
}

/// Splits rows into `N` equal parts.
pub(super) fn parts<'g, const N: usize>(x: Output<'g>) -> [Output<'g>; N] {
    let parts = x.graph().split(x, N as i64, 1);
    std::array::from_fn(|i| parts[i])
}

/// Returns the error for a cell that was run before it was built.
pub(super) fn unbuilt(cell: &str) -> millstream_tensor::Error {
    invalid!("the weights of the {cell} have not been created")
        .with_help("call `Cell::build` first, as `dynamic_rnn` does")
}
