//! [`Value`]: an output of the graph, or a literal that becomes a constant.

use crate::options::Start;
use millstream_graph::{Graph, Output};
use millstream_tensor::{IntoTensor, Result, Tensor};
use std::panic::Location;

/// An initial value or a shape: an output of the graph, or a literal.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// // The initial value of a variable is a literal, a tensor or an output.
/// let a = g.variable("a", [1.0f32, 2.0]);
/// let b = g.variable("b", Tensor::vector(&[3.0f32])?);
/// let c = g.variable("c", g.constant(4.0f32) + 1.0);
/// let session = Session::new(&g)?;
/// session.run::<()>(g.global_variables_initializer(), feed![])?;
/// let (a, b, c): (Vec<f32>, Vec<f32>, f32) = session.run((a.value(), b.value(), c.value()), feed![])?;
/// assert_eq!((a, b, c), (vec![1.0, 2.0], vec![3.0], 5.0));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub enum Value<'g> {
    /// A value of the graph.
    Output(Output<'g>),
    /// A literal that becomes a constant; an error if it does not fit in memory.
    Literal(Result<Tensor>),
}

impl<'g> From<Output<'g>> for Value<'g> {
    fn from(output: Output<'g>) -> Self {
        Value::Output(output)
    }
}

impl From<Tensor> for Value<'_> {
    fn from(value: Tensor) -> Self {
        Value::Literal(Ok(value))
    }
}

impl From<&str> for Value<'_> {
    fn from(value: &str) -> Self {
        Value::Literal(Ok(Tensor::str(value)))
    }
}

impl<const N: usize> From<[&str; N]> for Value<'_> {
    fn from(values: [&str; N]) -> Self {
        Value::Literal(Tensor::strings([N], values.map(Into::into).into()))
    }
}

impl From<Vec<String>> for Value<'_> {
    fn from(values: Vec<String>) -> Self {
        Value::Literal(Tensor::strings([values.len()], values.into_iter().map(Into::into).collect()))
    }
}

macro_rules! literals {
    ($($t:ty)*) => { $(
        impl From<$t> for Value<'_> {
            fn from(value: $t) -> Self {
                Value::Literal(value.into_tensor())
            }
        }
        impl From<Vec<$t>> for Value<'_> {
            fn from(value: Vec<$t>) -> Self {
                Value::Literal(value.into_tensor())
            }
        }
        impl<const N: usize> From<[$t; N]> for Value<'_> {
            fn from(value: [$t; N]) -> Self {
                Value::Literal(value.into_tensor())
            }
        }
        impl<const N: usize, const M: usize> From<[[$t; M]; N]> for Value<'_> {
            fn from(value: [[$t; M]; N]) -> Self {
                Value::Literal(value.into_tensor())
            }
        }
    )* };
}
literals!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool);

impl<'g> Value<'g> {
    /// Returns an output; a literal becomes a constant of this name.
    pub(crate) fn place(self, g: &'g Graph, name: &str, at: &'static Location<'static>) -> Output<'g> {
        let node = |value: Option<Tensor>| {
            let node = g.named(name).at(at).start("Const");
            match value {
                Some(value) => node.attr("dtype", value.dtype()).attr("value", value).output(),
                // The graph remembers the missing value as its error.
                None => node.output(),
            }
        };
        match self {
            Value::Output(output) => output,
            Value::Literal(value) => node(value.ok()),
        }
    }
    /// As [`Value::place`], with the error of a literal that could not be made.
    pub(crate) fn try_place(
        self,
        g: &'g Graph,
        name: &str,
        at: &'static Location<'static>,
    ) -> Result<Output<'g>> {
        match self {
            Value::Output(output) => Ok(output),
            Value::Literal(value) => Ok(Value::Literal(Ok(value?)).place(g, name, at)),
        }
    }
}
