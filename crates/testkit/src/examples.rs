//! The examples of the op library, run through a graph and a session.

use crate::compare::same;
use crate::graphs::{round_trip, same_target};
use crate::json::Text;
use crate::tiers::Setting;
use millstream_graph::op::OpDef;
use millstream_graph::{Graph, Output, Port};
use millstream_ops::cases::{Arg as CaseArg, Case, Expect, VariableArg, near};
use millstream_runtime::{FeedList, Session, Target};
use millstream_tensor::{DType, Error, PartialShape, Tensor};
use std::time::Duration;

/// How the values of an example enter the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// As constants: shapes are inferred from them, and constants are folded.
    Constant,
    /// As feeds.
    Fed,
    /// As feeds of placeholders of unknown shape: only the kernels see the values.
    Unshaped,
}

/// The time limit of an example. It is far above what any example needs, since the machine may be loaded.
const LONGEST: Duration = Duration::from_secs(60);

/// All examples of the library: the op, the name of the example, its text.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let ops = millstream_ops::registry().iter();
    ops.flat_map(|op: &OpDef| op.cases.iter().map(move |(name, text)| (op.name, *name, *text)))
}

/// The graph of an example.
pub struct Built {
    /// The graph.
    pub graph: Graph,
    targets: Vec<Target>,
    feeds: Vec<(Target, Tensor)>,
    /// The operations that initialise the variables.
    init: Vec<Target>,
    /// The outputs that read each variable after the run.
    reads: Vec<Target>,
    types: Vec<(DType, PartialShape)>,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built").field("targets", &self.targets).finish_non_exhaustive()
    }
}

/// Builds the graph of an example.
pub fn build(case: &Case, given: Given) -> Result<Built, Error> {
    let graph = Graph::with_ops(millstream_ops::registry());
    let (mut feeds, mut init, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    let mut made: Vec<Vec<Port>> = Vec::new();
    for call in case.calls() {
        let last = made.len() == case.before.len();
        let mut args = Vec::new();
        for (i, arg) in call.args.iter().enumerate() {
            args.push(match arg {
                CaseArg::Value(value) if given == Given::Constant => {
                    graph.constant_tensor("value", value.clone()).port()
                }
                CaseArg::Value(value) => {
                    let shape = match given {
                        Given::Unshaped => PartialShape::unknown(),
                        Given::Constant | Given::Fed => value.shape().into(),
                    };
                    let port = graph.placeholder_of("fed", value.dtype(), shape).port();
                    feeds.push((Target::Value(port), value.clone()));
                    port
                }
                CaseArg::Type(dtype, shape) => graph.placeholder_of("typed", *dtype, shape.clone()).port(),
                CaseArg::Variable(variable) => {
                    let (port, read) = add_variable(&graph, &format!("variable_{i}"), variable, &mut init)?;
                    reads.push(read);
                    port
                }
                CaseArg::Output(call, output) => *made
                    .get(*call)
                    .and_then(|outputs| outputs.get(*output))
                    .ok_or_else(|| Error::internal("an example uses an output that there is not"))?,
            });
        }
        let inputs: Vec<Output<'_>> = args.into_iter().map(|port| Output::new(&graph, port)).collect();
        let name = if last { "case" } else { "before" };
        let node =
            graph.op(call.op.clone()).name(name).inputs(inputs).attrs(call.attrs.clone()).try_finish()?;
        made.push(node.outputs().iter().map(Output::port).collect());
    }
    let node = graph.operation("case")?;
    let types: Vec<(DType, PartialShape)> =
        node.outputs().iter().map(|o| Ok((o.dtype()?, o.shape()))).collect::<Result<_, Error>>()?;
    let mut targets: Vec<Target> = node.outputs().iter().map(|o| Target::Value(o.port())).collect();
    if targets.is_empty() {
        targets.push(Target::Operation(node.id()));
    }
    graph.check()?;
    Ok(Built { graph, targets, feeds, init, reads, types })
}

fn add_variable(
    graph: &Graph,
    name: &str,
    variable: &VariableArg,
    init: &mut Vec<Target>,
) -> Result<(Port, Target), Error> {
    let op = if variable.by_ref { "VariableV2" } else { "VarHandleOp" };
    let node = graph
        .op(op)
        .name(name)
        .attr("dtype", variable.dtype)
        .attr("shape", variable.shape.clone())
        .try_finish()?;
    let value = node.output(0);
    if let Some(start) = &variable.value {
        let start = graph.constant_tensor("start", start.clone());
        let assign = match variable.by_ref {
            true => {
                graph.op("Assign").input(value).input(start).attr("validate_shape", false).try_finish()?
            }
            false => graph.op("AssignVariableOp").input(value).input(start).try_finish()?,
        };
        init.push(Target::Operation(assign.id()));
    }
    let read = match variable.by_ref {
        true => graph.op("Identity").input(value).output(),
        false => graph.op("ReadVariableOp").input(value).attr("dtype", variable.dtype).output(),
    };
    Ok((value.port(), Target::Value(read.port())))
}

impl Built {
    /// The same example after a GraphDef round trip.
    fn round_trip(&self) -> Text<Built> {
        let graph = round_trip(&self.graph)?;
        let target = |t: &Target| same_target(&self.graph, &graph, *t).map_err(|e| e.to_string());
        let all = |list: &[Target]| list.iter().map(target).collect::<Text<Vec<Target>>>();
        let feeds = self.feeds.iter().map(|(t, v)| Ok((target(t)?, v.clone()))).collect::<Text<_>>()?;
        let types = all(&self.targets)?
            .iter()
            .filter_map(|t| match t {
                Target::Value(port) => Some(Output::new(&graph, *port)),
                Target::Operation(_) | Target::Every(_) => None,
            })
            .map(|o| Ok((o.dtype().map_err(|e| e.to_string())?, o.shape())))
            .collect::<Text<Vec<_>>>()?;
        if types != self.types {
            return Err(format!("GraphDef round trip: {:?} became {types:?}", self.types));
        }
        Ok(Built {
            targets: all(&self.targets)?,
            feeds,
            init: all(&self.init)?,
            reads: all(&self.reads)?,
            types,
            graph,
        })
    }
}

/// Checks an example.
pub fn check(text: &str, given: Given, setting: &Setting) -> Text<()> {
    let case = Case::parse(text).map_err(|e| e.to_string())?;
    let result = build(&case, given);
    let values = |built: &Result<Built, Error>| -> Text<Vec<Tensor>> {
        let built = built.as_ref().map_err(|e| format!("building: {e}"))?;
        run(built, setting).map_err(|e| e.to_string())
    };
    // An Exit or NextIteration on its own is outside every loop; such a graph is refused.
    let stray = ["Exit", "RefExit", "NextIteration", "RefNextIteration"].contains(&case.call.op.as_str());
    if let Ok(built) = &result
        && !stray
    {
        let back = built.round_trip().map_err(|e| format!("{text}\n{e}"))?;
        if matches!(case.expect, Expect::Values(_) | Expect::Near(_)) {
            let before = run(built, setting).map_err(|e| format!("{setting}, {given:?}: {text}\n{e}"))?;
            let after =
                run(&back, setting).map_err(|e| format!("{setting}, after a round trip: {text}\n{e}"))?;
            if before.len() != after.len() || !before.iter().zip(&after).all(|(a, b)| same(a, b)) {
                return Err(format!("{setting}: {text}\n{before:?} became {after:?} after a round trip"));
            }
        }
    }
    let agree = |want: &[Tensor], eq: fn(&Tensor, &Tensor) -> bool| {
        let got = values(&result).map_err(|e| format!("{setting}, {given:?}: {text}\n{e}"))?;
        match got.len() == want.len() && got.iter().zip(want).all(|(g, w)| eq(g, w)) {
            true => Ok(()),
            false => Err(format!("{setting}, {given:?}: {text}\ngot {got:?}")),
        }
    };
    match &case.expect {
        // The sign of a NaN depends on the processor.
        Expect::Values(want) => agree(want, |got, want| same(got, want) || same(&no_nan(got), &no_nan(want))),
        Expect::Near(want) => agree(want, near),
        Expect::Types(want) => match &result {
            Ok(built) if &built.types == want => Ok(()),
            Ok(built) => Err(format!("{text}\ninferred {:?}", built.types)),
            Err(e) => Err(format!("{text}\n{e}")),
        },
        Expect::Error(want) => {
            let error = match (&result, case.only_types()) {
                (Err(e), _) => e.to_string(),
                (Ok(_), true) => return Err(format!("{text}\nno error")),
                (Ok(_), false) => match values(&result) {
                    Err(e) => e,
                    Ok(got) => return Err(format!("{setting}, {given:?}: {text}\nno error but {got:?}")),
                },
            };
            match error.contains(want.as_str()) {
                true => Ok(()),
                false => Err(format!("{setting}, {given:?}: {text}\nanother error: {error}")),
            }
        }
    }
}

/// The value with all NaNs replaced by the same one.
fn no_nan(value: &Tensor) -> Tensor {
    macro_rules! each {
        ($t:ty) => {{
            let elements = value.as_slice::<$t>().unwrap_or_default().iter();
            let elements: Vec<$t> = elements.map(|v| if v.is_nan() { <$t>::NAN } else { *v }).collect();
            Tensor::from_slice(value.shape().clone(), &elements).unwrap_or_else(|_| value.clone())
        }};
    }
    match value.dtype() {
        DType::F32 => each!(f32),
        DType::F64 => each!(f64),
        _ => value.clone(),
    }
}

fn run(built: &Built, setting: &Setting) -> Result<Vec<Tensor>, Error> {
    attempt(built, &setting.session(&built.graph, Some(LONGEST))?)
}

/// Runs an example in this session. Returns its outputs; an error if one does not have the inferred type.
pub fn attempt(built: &Built, session: &Session) -> Result<Vec<Tensor>, Error> {
    for &init in &built.init {
        session.run::<()>(init, ())?;
    }
    let feeds = built.feeds.iter().fold(FeedList::new(), |list, (target, value)| match target {
        Target::Value(port) => list.and(Output::new(&built.graph, *port), value),
        Target::Operation(_) | Target::Every(_) => list,
    });
    let mut values: Vec<Tensor> = session.run(built.targets.clone(), feeds)?;
    for (i, value) in values.iter().enumerate() {
        let (dtype, shape) = &built.types[i];
        if value.dtype() != *dtype || !shape.contains(&PartialShape::from(value.shape())) {
            return Err(Error::internal(format!(
                "inferred {dtype}{shape} but computed {}{}",
                value.dtype(),
                value.shape()
            )));
        }
    }
    if matches!(built.targets.as_slice(), [Target::Operation(_)]) {
        for &read in &built.reads {
            // As in the examples themselves, variables without a value are skipped.
            values.extend(session.run::<Tensor>(read, ()).ok());
        }
    }
    Ok(values)
}
