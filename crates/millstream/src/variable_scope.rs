//! Variable scopes: variables shared by name, and defaults for new ones.

use crate::initializer::{Initializer, default_of};
use crate::value::Value;
use crate::variable::{
    GLOBAL_STEP, GLOBAL_VARIABLES, LOCAL_VARIABLES, Listing, Parts, REGULARIZATION_LOSSES, Variable,
    Variables, by_handle, by_ref,
};
use millstream_graph::{CollectionItem, Graph, Output};
use millstream_tensor::{DType, Error, PartialShape, Result, Shape, Tensor, invalid};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

/// Whether [`VariableScopes::get_variable`] adds variables or returns existing ones.
///
/// ```
/// use millstream::{Reuse, VariableScopes};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let layer = || g.variable_scope("layer").reuse(Reuse::Auto).run(|_| g.get_variable("w", [2]).build());
/// assert_eq!(layer()?.name(), layer()?.name()); // one variable
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// As in the enclosing scope. In the outermost scope, variables must be new.
    #[default]
    Inherit,
    /// Variables must exist.
    Yes,
    /// Existing variables are returned, others are added.
    Auto,
}

type Regularize = dyn for<'g> Fn(Output<'g>) -> Option<Output<'g>> + Send + Sync;

/// A variable scope: a prefix for the names of variables, and their defaults. A scope can be opened again.
///
/// ```
/// use millstream::VariableScopes;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let scope = g.variable_scope("layer").run(|scope| scope.clone());
/// let later = g.variable_scope(&scope).run(|_| g.get_variable("w", [2]).build())?; // opens it again
/// assert_eq!(later.name(), "layer/w");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone)]
pub struct VariableScope {
    name: String,
    name_scope: String,
    reuse: Reuse,
    initializer: Option<Initializer>,
    regularizer: Option<Arc<Regularize>>,
    dtype: DType,
    use_resource: bool,
}

impl Default for VariableScope {
    fn default() -> VariableScope {
        VariableScope {
            name: String::new(),
            name_scope: String::new(),
            reuse: Reuse::Inherit,
            initializer: None,
            regularizer: None,
            dtype: DType::F32,
            use_resource: true,
        }
    }
}

impl VariableScope {
    /// Returns the prefix of its variables' names, without the last `/`.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let name = g.variable_scope("a").run(|_| g.variable_scope("b").run(|scope| scope.name().to_owned()));
    /// assert_eq!(name, "a/b");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name scope of the first opening, with its `/`. [`Graph::in_scope`] adds more nodes to it.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let scope = g.variable_scope("layer").run(|scope| scope.original_name_scope().to_owned());
    /// assert_eq!(scope, "layer/");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn original_name_scope(&self) -> &str {
        &self.name_scope
    }

    /// Returns whether its variables are added or shared.
    ///
    /// ```
    /// use millstream::{Reuse, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let reuse = g.variable_scope("layer").reuse(Reuse::Auto).run(|scope| scope.reuse());
    /// assert_eq!(reuse, Reuse::Auto);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn reuse(&self) -> Reuse {
        self.reuse
    }
}

impl std::fmt::Debug for VariableScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VariableScope({:?}, {:?})", self.name, self.reuse)
    }
}

/// The variable scopes of a graph.
#[derive(Default)]
struct Store(Mutex<StoreData>);

#[derive(Default)]
struct StoreData {
    current: VariableScope,
    /// The number of times each scope was opened, for unique names.
    opened: BTreeMap<String, usize>,
    variables: BTreeMap<String, Parts>,
}

/// Variable scopes of a graph.
///
/// ```
/// use millstream::VariableScopes;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let dense = |x: Output<'_>, scope: &str| -> Result<()> {
///     g.variable_scope(scope).run(|_| {
///         let w = g.get_variable("w", [3, 2]).build()?;
///         assert_eq!(x.matmul(w.value()).shape().to_string(), "[?,2]");
///         Ok(())
///     })
/// };
/// dense(g.placeholder::<f32>("x", shape![_, 3]), "first")?;
/// assert_eq!(g.trainable_variables()[0].name(), "first/w");
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait VariableScopes {
    /// Describes a scope to build in: it prefixes the names of variables from
    /// [`VariableScopes::get_variable`]. Nodes are added to a name scope of the same name, a new one each
    /// time.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Reuse, VariableScopes};
    /// let g = Graph::new();
    /// let layer = |x: Output<'_>| -> Result<()> {
    ///     let w = x.graph().get_variable("w", [3, 2]).build()?;
    ///     println!("{}", x.matmul(w.value()).name());
    ///     Ok(())
    /// };
    /// let x = g.placeholder::<f32>("x", [4, 3]);
    /// g.variable_scope("layer").reuse(Reuse::Auto).run(|_| layer(x))?;
    /// g.variable_scope("layer").reuse(Reuse::Auto).run(|_| layer(x))?;
    /// let names: Vec<String> = g.global_variables().iter().map(|v| v.name()).collect();
    /// assert_eq!(names, ["layer/w"]);
    /// assert!(g.operation("layer_1/MatMul").is_ok());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn variable_scope(&self, scope: impl Into<ScopeName>) -> ScopeBuilder<'_>;

    /// Describes a scope with this name, which gets a number as suffix if the current scope has had one of
    /// that name.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let names = [(); 2].map(|()| g.unique_variable_scope("layer").run(|scope| scope.name().to_owned()));
    /// assert_eq!(names, ["layer", "layer_1"]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn unique_variable_scope(&self, name: &str) -> ScopeBuilder<'_>;

    /// Returns the current scope.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.variable_scope("layer").run(|_| assert_eq!(g.current_variable_scope().name(), "layer"));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn current_variable_scope(&self) -> VariableScope;

    /// Adds or shares the variable of this name in the current scope, as the scope's [`Reuse`] says.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [2, 3]).initializer(Initializer::ones()).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// assert_eq!(session.run::<Tensor>(w.value(), feed![])?.to_string(), "f32[2,3] [[1 1 1] [1 1 1]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn get_variable(&self, name: &str, shape: impl Into<Shape>) -> GetVariable<'_>;

    /// As [`VariableScopes::get_variable`], with an initial value, which determines shape and dtype.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let steps = g.get_variable_from("steps", 0i64).trainable(false).build()?;
    /// assert_eq!(steps.dtype()?, DType::I64);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn get_variable_from<'g>(&'g self, name: &str, value: impl Into<Value<'g>>) -> GetVariable<'g>;

    /// Returns the variable that counts training steps (`global_step`, an i64), adding it if there is none.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert_eq!(g.global_step()?.name(), "global_step");
    /// assert_eq!(g.global_variables().len(), 1);
    /// g.global_step()?; // the same variable
    /// assert_eq!(g.global_variables().len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn global_step(&self) -> Result<Variable<'_>>;
}

/// The scope to open.
///
/// ```
/// use millstream::VariableScopes;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let scope = g.variable_scope("a").run(|scope| scope.clone());
/// // Opened again, a scope keeps its name wherever that happens.
/// let name = g.variable_scope("b").run(|_| g.variable_scope(&scope).run(|again| again.name().to_owned()));
/// assert_eq!(name, "a");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub enum ScopeName {
    /// A new scope inside the current one.
    Name(String),
    /// A scope that was open before, independent of the current one.
    Again(Box<VariableScope>),
    /// A new scope with a unique name.
    Unique(String),
}

impl From<&str> for ScopeName {
    fn from(name: &str) -> Self {
        ScopeName::Name(name.to_owned())
    }
}

impl From<&VariableScope> for ScopeName {
    fn from(scope: &VariableScope) -> Self {
        ScopeName::Again(Box::new(scope.clone()))
    }
}

impl VariableScopes for Graph {
    fn variable_scope(&self, scope: impl Into<ScopeName>) -> ScopeBuilder<'_> {
        ScopeBuilder {
            graph: self,
            scope: scope.into(),
            reuse: Reuse::Inherit,
            initializer: None,
            regularizer: None,
            dtype: None,
            use_resource: None,
            own_name_scope: true,
        }
    }

    fn unique_variable_scope(&self, name: &str) -> ScopeBuilder<'_> {
        self.variable_scope(ScopeName::Unique(name.to_owned()))
    }

    fn current_variable_scope(&self) -> VariableScope {
        self.extension::<Store>().0.lock().current.clone()
    }

    #[track_caller]
    fn get_variable(&self, name: &str, shape: impl Into<Shape>) -> GetVariable<'_> {
        GetVariable::new(self, name, First::Shape(shape.into()))
    }

    #[track_caller]
    fn get_variable_from<'g>(&'g self, name: &str, value: impl Into<Value<'g>>) -> GetVariable<'g> {
        GetVariable::new(self, name, First::Value(value.into()))
    }

    #[track_caller]
    fn global_step(&self) -> Result<Variable<'_>> {
        if let Some(step) = self.variables_in(GLOBAL_STEP).into_iter().next() {
            return Ok(step);
        }
        // The collection of an imported graph lists only the node, so the variables are searched.
        let root = VariableScope::default();
        let builder = self.variable_scope(&root);
        let at = Location::caller();
        builder.run(|_| {
            let new = GetVariable::new(self, "global_step", First::Shape(Shape::scalar())).dtype(DType::I64);
            let mut new = new.initializer(Initializer::zeros()).trainable(false);
            new.collections = vec![GLOBAL_VARIABLES.into(), GLOBAL_STEP.into()];
            new.at = at;
            new.build()
        })
    }
}

/// A builder of an open scope.
///
/// ```
/// use millstream::{Initializer, VariableScopes};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let w = g
///     .variable_scope("layer")
///     .initializer(Initializer::zeros())
///     .dtype(DType::F64)
///     .run(|_| g.get_variable("w", [2]).build())?;
/// assert_eq!((w.name(), w.dtype()?), ("layer/w".to_owned(), DType::F64));
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` opens the scope"]
pub struct ScopeBuilder<'g> {
    graph: &'g Graph,
    scope: ScopeName,
    reuse: Reuse,
    initializer: Option<Initializer>,
    regularizer: Option<Arc<Regularize>>,
    dtype: Option<DType>,
    use_resource: Option<bool>,
    own_name_scope: bool,
}

impl std::fmt::Debug for ScopeBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScopeBuilder")
            .field("scope", &self.scope)
            .field("dtype", &self.dtype)
            .finish_non_exhaustive()
    }
}

impl<'g> ScopeBuilder<'g> {
    /// Sets whether variables are added or shared.
    ///
    /// ```
    /// use millstream::{Reuse, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.variable_scope("layer").run(|_| g.get_variable("w", [2]).build())?;
    /// let again = g.variable_scope("layer").reuse(Reuse::Yes).run(|_| g.get_variable("w", [2]).build())?;
    /// assert_eq!(again.name(), "layer/w");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn reuse(mut self, reuse: Reuse) -> Self {
        self.reuse = reuse;
        self
    }

    /// Sets the default initializer.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let ones = Initializer::ones();
    /// let w = g.variable_scope("layer").initializer(ones).run(|_| g.get_variable("w", [2]).build())?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<f32>>(w.value(), feed![])?, [1.0, 1.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// Sets the default regularizer, which returns a loss term for a new variable's value. The terms go to
    /// the collection [`REGULARIZATION_LOSSES`].
    ///
    /// ```
    /// use millstream::{REGULARIZATION_LOSSES, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.variable_scope("layer")
    ///     .regularizer(|w| Some(w.square().reduce_sum(())))
    ///     .run(|_| g.get_variable("w", [2]).build())?;
    /// assert_eq!(g.collection(REGULARIZATION_LOSSES).len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn regularizer(
        mut self,
        regularizer: impl for<'v> Fn(Output<'v>) -> Option<Output<'v>> + Send + Sync + 'static,
    ) -> Self {
        self.regularizer = Some(Arc::new(regularizer));
        self
    }

    /// Sets the default dtype; without one in any scope it is f32.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable_scope("layer").dtype(DType::F64).run(|_| g.get_variable("w", [2]).build())?;
    /// assert_eq!(w.dtype()?, DType::F64);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// Sets whether variables are held by handles (the default) or by reference.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable_scope("old").use_resource(false).run(|_| g.get_variable("w", [2]).build())?;
    /// assert!(w.is_ref());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn use_resource(mut self, use_resource: bool) -> Self {
        self.use_resource = Some(use_resource);
        self
    }

    /// Adds nodes to the current name scope instead of a new one.
    pub fn without_name_scope(mut self) -> Self {
        self.own_name_scope = false;
        self
    }

    /// Opens the scope, calls `build`, and closes the scope.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable_scope("layer").run(|_| g.get_variable("w", [2]).build())?;
    /// assert_eq!(w.name(), "layer/w");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn run<R>(self, build: impl FnOnce(&VariableScope) -> R) -> R {
        let graph = self.graph;
        let name_scope = match &self.scope {
            ScopeName::Name(name) | ScopeName::Unique(name) => name.clone(),
            ScopeName::Again(scope) => scope.name.rsplit('/').next().unwrap_or_default().to_owned(),
        };
        match self.own_name_scope && !name_scope.is_empty() {
            true => graph.name_scope(&name_scope, || self.open(build)),
            false => self.open(build),
        }
    }

    fn open<R>(self, build: impl FnOnce(&VariableScope) -> R) -> R {
        let store = self.graph.extension::<Store>();
        let here = self.graph.scope();
        let (old, opened) = {
            let mut data = store.0.lock();
            let old = data.current.clone();
            let again = matches!(self.scope, ScopeName::Again(_));
            let mut scope = match self.scope {
                ScopeName::Again(scope) => *scope,
                ScopeName::Name(name) => {
                    VariableScope { name: below(&old.name, &name), name_scope: here, ..old.clone() }
                }
                ScopeName::Unique(name) => {
                    let name = data.unused(&below(&old.name, &name));
                    VariableScope { name, name_scope: here, ..old.clone() }
                }
            };
            if self.reuse != Reuse::Inherit {
                scope.reuse = self.reuse;
            }
            scope.initializer = self.initializer.or(scope.initializer);
            scope.regularizer = self.regularizer.or(scope.regularizer);
            scope.dtype = self.dtype.unwrap_or(scope.dtype);
            scope.use_resource = self.use_resource.unwrap_or(scope.use_resource);
            *data.opened.entry(scope.name.clone()).or_default() += 1;
            let opened = again.then(|| data.opened.clone());
            data.current = scope;
            (old, opened)
        };
        let closing = Closing { store: store.clone(), old: Some(old), opened };
        let scope = store.0.lock().current.clone();
        let result = build(&scope);
        drop(closing);
        result
    }
}

/// Closes a scope when dropped, also after a panic.
struct Closing {
    store: Arc<Store>,
    old: Option<VariableScope>,
    /// The counts to restore, for a scope that was opened again.
    opened: Option<BTreeMap<String, usize>>,
}

impl Drop for Closing {
    fn drop(&mut self) {
        let mut data = self.store.0.lock();
        let closed = std::mem::replace(&mut data.current, self.old.take().unwrap_or_default());
        match self.opened.take() {
            Some(opened) => data.opened = opened,
            // Numbers inside the scope start again the next time.
            None => {
                let inside = below(&closed.name, "");
                data.opened.retain(|name, _| !name.starts_with(&inside));
            }
        }
    }
}

impl StoreData {
    /// Returns the name, with a number as suffix if it was opened before.
    fn unused(&self, name: &str) -> String {
        let numbered = (1..).map(|i| format!("{name}_{i}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|n| self.opened.get(n).is_none_or(|n| *n == 0)).unwrap_or_default()
    }
}

fn below(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}/{name}") }
}

/// The initial value of a variable, or the shape for its initializer.
enum First<'g> {
    Shape(Shape),
    Value(Value<'g>),
}

/// A builder of a variable.
///
/// ```
/// use millstream::{Initializer, VariableScopes};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let w = g
///     .get_variable("w", [2])
///     .dtype(DType::F64)
///     .initializer(Initializer::zeros())
///     .trainable(false)
///     .build()?;
/// assert!(!w.is_trainable());
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`build` adds or shares the variable"]
pub struct GetVariable<'g> {
    graph: &'g Graph,
    name: String,
    first: First<'g>,
    dtype: Option<DType>,
    initializer: Option<Initializer>,
    regularizer: Option<Arc<Regularize>>,
    trainable: bool,
    collections: Vec<String>,
    use_resource: Option<bool>,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for GetVariable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GetVariable")
            .field("name", &self.name)
            .field("dtype", &self.dtype)
            .finish_non_exhaustive()
    }
}

impl<'g> GetVariable<'g> {
    #[track_caller]
    fn new(graph: &'g Graph, name: &str, first: First<'g>) -> GetVariable<'g> {
        GetVariable {
            graph,
            name: name.to_owned(),
            first,
            dtype: None,
            initializer: None,
            regularizer: None,
            trainable: true,
            collections: vec![GLOBAL_VARIABLES.into()],
            use_resource: None,
            at: Location::caller(),
        }
    }

    /// Describes a variable with the name of the current scope, for the slots of optimizers: `scope/`
    /// re-enters the name scope of that name.
    #[track_caller]
    pub(crate) fn whole_scope(graph: &'g Graph, shape: Shape) -> GetVariable<'g> {
        Self::new(graph, "", First::Shape(shape))
    }

    /// Sets the dtype; by default the scope's.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert_eq!(g.get_variable("w", [2]).dtype(DType::F64).build()?.dtype()?, DType::F64);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// Sets the initializer; by default the scope's, and without one [`Initializer::glorot_uniform`] for
    /// floats and zeros for other dtypes.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [2]).initializer(Initializer::zeros()).build()?;
    /// let start = w.initial_value().expect("a new variable");
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(start, feed![])?, [0.0, 0.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// Sets the regularizer, which returns a loss term for the value. The term goes to the collection
    /// [`REGULARIZATION_LOSSES`].
    ///
    /// ```
    /// use millstream::{REGULARIZATION_LOSSES, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.get_variable("w", [2]).regularizer(|w| Some(w.square().reduce_sum(()))).build()?;
    /// assert_eq!(g.collection(REGULARIZATION_LOSSES).len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn regularizer(
        mut self,
        regularizer: impl for<'v> Fn(Output<'v>) -> Option<Output<'v>> + Send + Sync + 'static,
    ) -> Self {
        self.regularizer = Some(Arc::new(regularizer));
        self
    }

    /// Sets whether training updates it.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.get_variable("mean", [2]).trainable(false).build()?;
    /// assert!(g.trainable_variables().is_empty());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn trainable(mut self, trainable: bool) -> Self {
        self.trainable = trainable;
        self
    }

    /// Sets the collections that list it, instead of [`GLOBAL_VARIABLES`].
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.get_variable("w", [2]).collections(["shadows"]).build()?;
    /// assert_eq!(g.variables_in("shadows").len(), 1);
    /// assert!(g.global_variables().is_empty());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn collections<S: Into<String>>(mut self, collections: impl IntoIterator<Item = S>) -> Self {
        self.collections = collections.into_iter().map(Into::into).collect();
        self
    }

    /// Makes it a local variable: in [`LOCAL_VARIABLES`], not saved and not trained.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.get_variable_from("seen", 0i64).local().build()?;
    /// assert_eq!(g.local_variables().len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn local(self) -> Self {
        self.collections([LOCAL_VARIABLES]).trainable(false)
    }

    /// Sets whether it is held by a handle or by reference; by default as in the scope.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(g.get_variable("w", [2]).use_resource(false).build()?.is_ref());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn use_resource(mut self, use_resource: bool) -> Self {
        self.use_resource = Some(use_resource);
        self
    }

    /// Adds the variable, or returns the existing one.
    ///
    /// ```
    /// use millstream::VariableScopes;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.get_variable("w", [2]).build()?;
    /// let again = g.get_variable("w", [2]).build();
    /// assert!(again.is_err()); // it exists, and the scope does not reuse variables
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn build(self) -> Result<Variable<'g>> {
        let at = self.at;
        self.get().map_err(|e| e.at_line(at))
    }

    fn get(self) -> Result<Variable<'g>> {
        let graph = self.graph;
        graph.check()?;
        let store = graph.extension::<Store>();
        let (scope, found) = {
            let data = store.0.lock();
            let name = below(&data.current.name, &self.name);
            (data.current.clone(), data.variables.get(&name).copied())
        };
        let name = below(&scope.name, &self.name);
        let own = match &self.first {
            First::Value(Value::Output(value)) => Some(value.dtype()?),
            First::Value(Value::Literal(value)) => Some(value.clone()?.dtype()),
            First::Shape(_) => None,
        };
        if let (Some(own), Some(dtype)) = (own, self.dtype)
            && own != dtype
        {
            return Err(invalid!(
                "Initializer type '{}' and explicit dtype '{}' don't match.",
                own.tf_name(),
                dtype.tf_name()
            ));
        }
        let dtype = self.dtype.or(own).unwrap_or(scope.dtype);
        match (found, scope.reuse) {
            (Some(found), Reuse::Yes | Reuse::Auto) => self.shared(Variable::of_parts(graph, found), &name, dtype),
            (Some(found), Reuse::Inherit) => Err(exists(&name, &Variable::of_parts(graph, found))),
            (None, Reuse::Yes) => Err(invalid!(
                "Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set \
                 reuse=tf.AUTO_REUSE in VarScope?"
            )
            .with_help("`.reuse(Reuse::Auto)` creates variables that do not exist")),
            (None, _) => {
                // The names of variables do not depend on the name scope.
                let made = graph.in_scope(String::new(), || self.make(&scope, &name, dtype))?;
                store.0.lock().variables.insert(name, made.parts());
                Ok(made)
            }
        }
    }

    /// Returns the existing variable, if its shape and dtype fit.
    fn shared(self, found: Variable<'g>, name: &str, dtype: DType) -> Result<Variable<'g>> {
        let shape: PartialShape = match &self.first {
            First::Shape(shape) => shape.into(),
            First::Value(Value::Output(value)) => value.shape(),
            First::Value(Value::Literal(value)) => value.clone()?.shape().into(),
        };
        if !shape.is_compatible(&found.shape()) {
            return Err(invalid!(
                "Trying to share variable {name}, but specified shape {shape} and found shape {}.",
                found.shape()
            ));
        }
        let own = found.dtype()?;
        if own != dtype {
            return Err(invalid!(
                "Trying to share variable {name}, but specified dtype {} and found dtype {}.",
                dtype.tf_name(),
                own.tf_name()
            ));
        }
        Ok(found)
    }

    fn make(self, scope: &VariableScope, name: &str, dtype: DType) -> Result<Variable<'g>> {
        let graph = self.graph;
        let use_resource = self.use_resource.unwrap_or(scope.use_resource);
        let listing = Listing { trainable: self.trainable, collections: self.collections };
        let mut failed = None;
        let at = self.at;
        // The value that replaces a failed initializer is never used: the error is returned.
        let nothing = |error: Error| {
            failed = Some(error);
            graph.constant_tensor("initial_value", Tensor::scalar(false))
        };
        let variable = match self.first {
            First::Value(value) => {
                let initial = |g: &'g Graph| value.place(g, "initial_value", at);
                match use_resource {
                    true => by_handle(graph, name, listing, at, initial),
                    false => by_ref(graph, name, listing, at, initial),
                }
            }
            First::Shape(shape) => {
                let given = self.initializer.or_else(|| scope.initializer.clone());
                let initializer = given.map_or_else(|| default_of(dtype, name), Ok)?;
                let initial = |g: &'g Graph| initializer.make(g, &shape, dtype).unwrap_or_else(nothing);
                match use_resource {
                    true => by_handle(graph, name, listing, at, initial),
                    // Here only the nodes of an initializer get a scope of their own.
                    false => by_ref(graph, name, listing, at, |g| g.name_scope("Initializer", || initial(g))),
                }
            }
        };
        if let Some(error) = failed {
            return Err(error.note(format!("in the initializer of variable {name}")));
        }
        graph.check()?;
        if let Some(regularizer) = self.regularizer.as_ref().or(scope.regularizer.as_ref()) {
            let loss = graph.without_control(|| {
                graph.name_scope(&format!("{name}/Regularizer/"), || regularizer(variable.value()))
            });
            if let Some(loss) = loss {
                graph.add_to_collection(REGULARIZATION_LOSSES, CollectionItem::Node(loss.name()));
            }
        }
        Ok(variable)
    }
}

fn exists(name: &str, found: &Variable<'_>) -> Error {
    let graph = found.graph();
    let made = graph.read(|g| g.node(found.handle().port().node).map(|n| n.at).ok());
    let error = invalid!(
        "Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
    )
    .with_help("`.reuse(Reuse::Yes)` returns it; `.reuse(Reuse::Auto)` returns it or creates it");
    match made {
        Some(at) => error.note(format!("made at      {at}")),
        None => error,
    }
}
