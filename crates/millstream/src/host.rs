//! [`HostFunctions::host_function`]: a function of the program as a node of the graph.

use crate::options::Start;
use millstream_graph::{Arg, Attr, Output};
use millstream_state::HostToken;
use millstream_tensor::{DType, Result, Tensor};
use parking_lot::Mutex;

pub use millstream_state::{
    Cancellation, HostFunction, HostFunctions as Functions, HostToken as Token, Registration,
    in_host_function,
};

/// Functions of the program as nodes.
///
/// ```
/// use millstream::HostFunctions;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.placeholder::<f32>("x", shape![]);
/// let doubled = g.host_function([x], [DType::F32], |inputs| {
///     Ok(vec![Tensor::scalar(inputs[0].to_scalar::<f32>()? * 2.0)])
/// })?;
/// assert_eq!(Session::new(&g)?.run::<f32>(doubled[0], feed![x => 3.0f32])?, 6.0);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait HostFunctions<'g>: Start<'g> {
    /// Adds a node that calls `function` with the values of `inputs`, and returns its outputs, which have
    /// these dtypes. Their shapes are unknown until the node has run; [`Output::set_shape`] declares them.
    /// The function is called each time the node runs (in a loop: in every iteration), from several threads
    /// at once if runs overlap. This is TensorFlow's `py_func`: the op is `PyFunc`, and no gradient flows
    /// through it.
    ///
    /// The graph owns the function, so the function must not capture the graph. Nodes of other graphs cannot
    /// call it: a graph that was written to a file and read back, or imported, has the node without the
    /// function, and running the node is an error.
    ///
    /// A function may run sessions, including the one that called it; such a run uses only the calling
    /// thread.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::HostFunctions;
    /// let g = Graph::new();
    /// let x = g.placeholder::<f32>("x", shape![_]);
    /// let median = g.host_function([x], [DType::F32], |inputs| {
    ///     let mut values = inputs[0].as_slice::<f32>()?.to_vec();
    ///     values.sort_by(f32::total_cmp);
    ///     Ok(vec![Tensor::scalar(values[values.len() / 2])])
    /// })?;
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<f32>(median[0], feed![x => [3.0f32, 1.0, 2.0]])?, 2.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn host_function<A: Into<Arg<'g>>>(
        self,
        inputs: impl IntoIterator<Item = A>,
        dtypes: impl IntoIterator<Item = DType>,
        function: impl Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync + 'static,
    ) -> Result<Vec<Output<'g>>> {
        let options = self.options();
        let graph = options.graph();
        let token = HostToken::new(function);
        token.join(&graph.extension::<Functions>());
        let dtypes = dtypes.into_iter().map(|dtype| Attr::Type(dtype.into())).collect();
        let node = options.start("PyFunc").inputs(inputs).attr("token", token.as_str());
        let node = node.attr("Tout", Attr::List(dtypes)).try_finish()?;
        graph.extension::<Kept>().0.lock().push(token);
        Ok(node.outputs())
    }
}

impl<'g, S: Start<'g>> HostFunctions<'g> for S {}

/// The functions that a graph owns.
#[derive(Default)]
struct Kept(Mutex<Vec<HostToken>>);
