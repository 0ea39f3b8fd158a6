//! `PyFunc`, `PyFuncStateless`: calls of a function of the host program ([`millstream_state::HostFunction`]).

use millstream_graph::op::spec::{Text, TypeList};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Error, PartialShape, Result, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    // Stateless calls are not declared as pure either: pure nodes are computed while graphs are built, with
    // locks held, and foreign code must not run there.
    let of = |name, doc| {
        OpDef::new(name)
            .doc(doc)
            .input_list("input", "Tin")
            .output_list("output", "Tout")
            .attr("token", Text)
            .attr("Tin", TypeList)
            .attr("Tout", TypeList)
            .infer(|cx| {
                for i in 0..cx.n_outputs() {
                    cx.set(i, PartialShape::unknown());
                }
                Ok(())
            })
            .kernel(Kernel::stateful(run).cost(Cost::Estimate(|_, _| AS_LONG_AS_IT_LIKES)))
            .gradient(Gradient::none("a function of the program around, of which only its values are known"))
    };
    [
        of(
            "PyFunc",
            "Calls the function that the host program registered under `token` with the inputs, once for \
             each run of the op. The returned values must have the dtypes `Tout`; their shapes are known \
             only in the run.",
        ),
        of(
            "PyFuncStateless",
            "Calls a function as PyFunc does. The function must have no side effects, and return equal \
             outputs for equal inputs.",
        ),
    ]
}

/// The estimated cost in nanoseconds. The function may wait for anything; with enough threads, other nodes
/// run in the meantime.
const AS_LONG_AS_IT_LIKES: f64 = 1e9;

fn run(cx: &mut KernelCx) -> Result<()> {
    let token = cx.attrs().str("token")?.text();
    let inputs = (0..cx.n_inputs()).map(|i| cx.take(i)).collect();
    let Some(outputs) = cx.env.functions.call(&token, inputs, &cx.env.cancel) else {
        return Err(not_found(&token));
    };
    let (outputs, wanted) = (outputs?, cx.n_outputs());
    ensure!(
        outputs.len() == wanted,
        "{token} returns {} values, but expects to see {wanted} values.",
        outputs.len()
    );
    for (i, output) in outputs.into_iter().enumerate() {
        let wanted = cx.node.output_types[i].dtype;
        if output.dtype() != wanted {
            let (is, expects) = (short_name(output.dtype()), short_name(wanted));
            return Err(invalid!("{i}-th value returned by {token} is {is}, but expects {expects}")
                .with_help(format!(
                    "return a value of dtype {}, or put {} in `Tout`",
                    wanted,
                    output.dtype()
                )));
        }
        cx.set(i, output);
    }
    Ok(())
}

fn not_found(token: &str) -> Error {
    invalid!("ValueError: callback {token} is not found").with_help(
        "a node can only call a function of its own graph, and a graph read from a file or imported has none; create the node again in this graph",
    )
}

/// Returns TensorFlow's name of a dtype in these messages.
fn short_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "half",
        DType::F32 => "float",
        DType::F64 => "double",
        other => other.tf_name(),
    }
}

cases! {
    shapes_are_known_later: "PyFunc(f32[2,?], str[]; token=\"pyfunc_x\", Tout={f32, i32}) : f32[..], i32[..]",
    without_a_state: "PyFuncStateless(; token=\"pyfunc_x\", Tout={bool}) : bool[..]",
    its_function_is_not_there: "PyFunc(1; token=\"pyfunc_x\", Tout={i32}) ! callback pyfunc_x is not found",
}
