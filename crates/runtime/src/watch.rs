//! [`Watch`]: stops a run at a value that meets a condition, without a change to the graph.

use millstream_exec::{Condition, Test, Watches};
use millstream_graph::{GraphData, Output, Port};
use millstream_tensor::{Result, Tensor, invalid};
use std::fmt;
use std::sync::Arc;

/// Stops a run at the first value that meets all its conditions. A run takes watches in
/// [`RunOptions::watch`](crate::RunOptions::watch).
///
/// The run ends with INVALID_ARGUMENT. The error names the node, the iteration of each loop, the value, and
/// the node's inputs; [`Sighting::of`](millstream_exec::Sighting::of) returns the same as data. The first
/// value is the first in the order of the program (each iteration whole before the next, an inner loop whole
/// before what follows it), however much of the run happens at the same time. It is the same in every tier,
/// for any number of threads and `parallel_iterations`. Later nodes may have run in part by then; what they
/// wrote to variables stays written.
///
/// The run has to compute the watched value anyway: a watch computes nothing.
///
/// ```
/// # use millstream_graph::{Graph, Output};
/// # use millstream_runtime::{RunOptions, Session, Sighting, Watch, feed};
/// # let g = Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let x = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 3e38), |x| x * 1e10)?;
/// let options = RunOptions { watch: vec![Watch::all().infinite()], ..RunOptions::default() };
/// let error = Session::new(&g)?.run_with::<f32>(x, feed![], &options).unwrap_err();
/// assert!(error.to_string().starts_with("a watch stopped the run: `while/mul:0` has an infinity: f32 inf"));
/// let found = Sighting::of(&error).unwrap();
/// assert_eq!((&*found.node, found.loops[0].1), ("while/mul", 3));
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a watch does nothing until a run is given it"]
pub struct Watch {
    pub(crate) on: Watched,
    what: Vec<String>,
    conditions: Vec<Test>,
    /// The condition, in words, that only floats can meet.
    of_floats: Option<&'static str>,
}

/// The values that a watch looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Watched {
    Output(Port),
    All,
}

impl Watch {
    /// Watches this output, in all iterations of all loops around it. Without a condition the run stops at
    /// its first value.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let root = g.op("Sqrt").input(x).output();
    /// let options = RunOptions { watch: vec![Watch::on(root).nan()], ..RunOptions::default() };
    /// let session = Session::new(&g)?;
    /// assert!(session.run_with::<f32>(root, feed![x => 4.0f32], &options).is_ok());
    /// assert!(session.run_with::<f32>(root, feed![x => -4.0f32], &options).is_err());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn on(output: Output<'_>) -> Watch {
        Watch::new(Watched::Output(output.port()))
    }

    /// Watches every float and complex number that a node computes or that is fed, inside of loops and
    /// outside. Constants are not watched, nor are nodes that only pass values on (`Identity`, `Switch`,
    /// `Merge`, ..).
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
    /// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 3e38), |x| x * 1e10)?;
    /// let options = RunOptions { watch: vec![Watch::all().not_finite()], ..RunOptions::default() };
    /// let error = Session::new(&g)?.run_with::<f32>(y, feed![], &options).unwrap_err();
    /// assert_eq!(Sighting::of(&error).expect("what stopped the run").node, "while/mul");
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn all() -> Watch {
        Watch::new(Watched::All)
    }

    fn new(on: Watched) -> Watch {
        Watch { on, what: Vec::new(), conditions: Vec::new(), of_floats: None }
    }

    /// Adds the condition that the value has NaN in it.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let options = RunOptions { watch: vec![Watch::all().nan()], ..RunOptions::default() };
    /// assert!(Session::new(&g)?.run_with::<f32>(x - x, feed![x => f32::INFINITY], &options).is_err());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn nan(self) -> Watch {
        self.floats("has NaN", |value, _| value.has_nan())
    }

    /// Adds the condition that the value has an infinity in it.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let options = RunOptions { watch: vec![Watch::all().infinite()], ..RunOptions::default() };
    /// assert!(Session::new(&g)?.run_with::<f32>(x * 1e30, feed![x => 1e30f32], &options).is_err());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn infinite(self) -> Watch {
        self.floats("has an infinity", |value, _| value.has_infinite())
    }

    /// Adds the condition that the value has NaN or an infinity in it.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let options = RunOptions { watch: vec![Watch::all().not_finite()], ..RunOptions::default() };
    /// assert!(Session::new(&g)?.run_with::<f32>(x * 1e30, feed![x => 1e30f32], &options).is_err());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn not_finite(self) -> Watch {
        self.floats("is not finite", |value, _| value.has_nan() || value.has_infinite())
    }

    /// Adds a condition on the value and its iteration (of each loop around, outermost first), such as
    /// `|_, at| 100 <= at[0]`. It is called in any order, from any thread, and should be quick, since the run
    /// waits for it.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
    /// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 1e30), |x| x * 2.0)?;
    /// let product = g.output("while/mul:0")?;
    /// let watch = Watch::on(product).when(|_, at| 3 <= at[0]); // the fourth iteration
    /// let options = RunOptions { watch: vec![watch], ..RunOptions::default() };
    /// let error = Session::new(&g)?.run_with::<f32>(y, feed![], &options).unwrap_err();
    /// assert_eq!(Sighting::of(&error).expect("what stopped the run").loops[0].1, 3);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn when(self, condition: impl Fn(&Tensor, &[u64]) -> bool + Send + Sync + 'static) -> Watch {
        self.and("is what was watched for", condition)
    }

    fn floats(self, what: &'static str, condition: fn(&Tensor, &[u64]) -> bool) -> Watch {
        Watch { of_floats: Some(what), ..self.and(what, condition) }
    }

    fn and(
        mut self,
        what: &str,
        condition: impl Fn(&Tensor, &[u64]) -> bool + Send + Sync + 'static,
    ) -> Watch {
        self.what.push(what.to_owned());
        self.conditions.push(Arc::new(condition));
        self
    }

    /// An error if no value can meet the conditions.
    pub(crate) fn check(&self, graph: &GraphData) -> Result<()> {
        let (Watched::Output(port), Some(what)) = (self.on, self.of_floats) else { return Ok(()) };
        let (node, dtype) = (graph.node(port.node)?, graph.type_of(port)?.dtype);
        if dtype.is_float() || dtype.is_complex() {
            return Ok(());
        }
        Err(invalid!(
            "`{}:{}` is watched for a value that {what}, but its dtype {dtype} has no such value",
            node.name(),
            port.index
        )
        .at_line(node.at)
        .with_help("watch a float tensor, or give a condition with `when`"))
    }

    fn condition(&self) -> Condition {
        let conditions = self.conditions.clone();
        let what = match self.what.is_empty() {
            true => "has a value".to_owned(),
            false => self.what.join(" and "),
        };
        Condition { what, holds: Arc::new(move |value, at| conditions.iter().all(|c| c(value, at))) }
    }
}

/// The watches of a run, as its plan takes them.
pub(crate) fn watches(all: &[Watch]) -> Option<Arc<Watches>> {
    let of = |wanted: fn(&Watched) -> bool| {
        all.iter().filter(|w| wanted(&w.on)).map(Watch::condition).collect::<Vec<_>>()
    };
    (!all.is_empty()).then(|| {
        let on = of(|w| matches!(w, Watched::Output(_)));
        Arc::new(Watches { on, all: of(|w| matches!(w, Watched::All)) })
    })
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("on", &self.on).field("what", &self.what).finish()
    }
}
