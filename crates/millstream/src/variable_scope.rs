//! Variable scopes: variables found again by name, with defaults for those that are made.

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

/// Whether [`VariableScopes::get_variable`] makes variables or finds those that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// As the scope around: outermost, variables are made and must be new.
    #[default]
    Inherit,
    /// Variables must be there.
    Yes,
    /// Variables that are there are found, others are made.
    Auto,
}

type Regularize = dyn for<'g> Fn(Output<'g>) -> Option<Output<'g>> + Send + Sync;

/// A variable scope: the prefix of variables' names, and defaults. One that was open before can be opened again.
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
    /// The prefix of its variables' names, without the last `/`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name scope that was open when it was first opened, with its `/`: nodes go on there with [`Graph::in_scope`].
    pub fn original_name_scope(&self) -> &str {
        &self.name_scope
    }

    /// Whether its variables are made or found.
    pub fn reuse(&self) -> Reuse {
        self.reuse
    }
}

impl std::fmt::Debug for VariableScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VariableScope({:?}, {:?})", self.name, self.reuse)
    }
}

/// What the graph keeps of its variable scopes.
#[derive(Default)]
struct Store(Mutex<StoreData>);

#[derive(Default)]
struct StoreData {
    current: VariableScope,
    /// How often each scope was opened, for names that nobody else has.
    opened: BTreeMap<String, usize>,
    variables: BTreeMap<String, Parts>,
}

/// Variable scopes of a graph.
pub trait VariableScopes {
    /// A scope to run something in: variables made inside by [`VariableScopes::get_variable`] have its name before theirs. Nodes go to a
    /// name scope of the same name, but new each time.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let layer = |x: Output<'_>| -> Result<()> {
    ///     let w = x.graph().get_variable("w", [3, 2]).run()?;
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

    /// A scope with this name, or with a number behind it where there was one in the current scope before.
    fn unique_variable_scope(&self, name: &str) -> ScopeBuilder<'_>;

    /// The scope that is open.
    fn current_variable_scope(&self) -> VariableScope;

    /// The variable of this name in the current scope, made or found as the scope says.
    #[track_caller]
    fn get_variable(&self, name: &str, shape: impl Into<Shape>) -> GetVariable<'_>;

    /// As [`VariableScopes::get_variable`], with a value that it holds first, which says shape and dtype.
    #[track_caller]
    fn get_variable_from<'g>(&'g self, name: &str, value: impl Into<Value<'g>>) -> GetVariable<'g>;

    /// The variable that counts steps of training (`global_step`, an i64), made if there is none.
    #[track_caller]
    fn global_step(&self) -> Result<Variable<'_>>;
}

/// Which scope to open.
pub enum ScopeName {
    /// A new one inside of the current one.
    Name(String),
    /// One that was open before, wherever we are.
    Again(Box<VariableScope>),
    /// A new one with a name that no other has.
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
        // The collection of an imported graph lists its node, and the variables say more of it.
        let root = VariableScope::default();
        let builder = self.variable_scope(&root);
        let at = Location::caller();
        builder.run(|_| {
            let new = GetVariable::new(self, "global_step", First::Shape(Shape::scalar())).dtype(DType::I64);
            let mut new = new.initializer(Initializer::zeros()).trainable(false);
            new.collections = vec![GLOBAL_VARIABLES.into(), GLOBAL_STEP.into()];
            new.at = at;
            new.run()
        })
    }
}

/// A scope about to be opened.
#[must_use = "the scope is opened by `run`"]
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

impl<'g> ScopeBuilder<'g> {
    /// Whether variables are made or found.
    pub fn reuse(mut self, reuse: Reuse) -> Self {
        self.reuse = reuse;
        self
    }

    /// What variables hold first that say nothing of it.
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// What makes a term for the loss of each new variable's value, for the collection [`REGULARIZATION_LOSSES`].
    pub fn regularizer(
        mut self,
        regularizer: impl for<'v> Fn(Output<'v>) -> Option<Output<'v>> + Send + Sync + 'static,
    ) -> Self {
        self.regularizer = Some(Arc::new(regularizer));
        self
    }

    /// The dtype of variables that say nothing of theirs; f32 where no scope does.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// Whether variables are behind handles (as where nothing is said) or held by reference.
    pub fn use_resource(mut self, use_resource: bool) -> Self {
        self.use_resource = Some(use_resource);
        self
    }

    /// Leaves the name scope of nodes as it is.
    pub fn without_name_scope(mut self) -> Self {
        self.own_name_scope = false;
        self
    }

    /// Opens the scope, runs `build` in it, closes it.
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

/// Closes a scope, also when what ran in it panics.
struct Closing {
    store: Arc<Store>,
    old: Option<VariableScope>,
    /// The counts to go back to, of a scope that was opened again.
    opened: Option<BTreeMap<String, usize>>,
}

impl Drop for Closing {
    fn drop(&mut self) {
        let mut data = self.store.0.lock();
        let closed = std::mem::replace(&mut data.current, self.old.take().unwrap_or_default());
        match self.opened.take() {
            Some(opened) => data.opened = opened,
            // What was numbered inside is numbered anew the next time.
            None => {
                let inside = below(&closed.name, "");
                data.opened.retain(|name, _| !name.starts_with(&inside));
            }
        }
    }
}

impl StoreData {
    /// The name, or with a number behind it where it was opened before.
    fn unused(&self, name: &str) -> String {
        let numbered = (1..).map(|i| format!("{name}_{i}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|n| self.opened.get(n).is_none_or(|n| *n == 0)).unwrap_or_default()
    }
}

fn below(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}/{name}") }
}

/// What a variable holds first.
enum First<'g> {
    Shape(Shape),
    Value(Value<'g>),
}

/// A variable about to be made or found.
#[must_use = "the variable is made or found by `run`"]
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

    /// A variable that is called as the current scope is, for the slots of optimizers: `scope/` re-enters the name scope of that name.
    #[track_caller]
    pub(crate) fn whole_scope(graph: &'g Graph, shape: Shape) -> GetVariable<'g> {
        Self::new(graph, "", First::Shape(shape))
    }

    /// Its dtype; else the scope's.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// What it holds first; else what the scope says; else [`Initializer::glorot_uniform`] for floats and zeros for others.
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// What makes a term for the loss of its value, for the collection [`REGULARIZATION_LOSSES`].
    pub fn regularizer(
        mut self,
        regularizer: impl for<'v> Fn(Output<'v>) -> Option<Output<'v>> + Send + Sync + 'static,
    ) -> Self {
        self.regularizer = Some(Arc::new(regularizer));
        self
    }

    /// Whether training changes it.
    pub fn trainable(mut self, trainable: bool) -> Self {
        self.trainable = trainable;
        self
    }

    /// The collections that list it, instead of [`GLOBAL_VARIABLES`].
    pub fn collections<S: Into<String>>(mut self, collections: impl IntoIterator<Item = S>) -> Self {
        self.collections = collections.into_iter().map(Into::into).collect();
        self
    }

    /// A variable that no checkpoint holds and no training changes: in [`LOCAL_VARIABLES`].
    pub fn local(self) -> Self {
        self.collections([LOCAL_VARIABLES]).trainable(false)
    }

    /// Whether it is behind a handle or held by reference; else as the scope says.
    pub fn use_resource(mut self, use_resource: bool) -> Self {
        self.use_resource = Some(use_resource);
        self
    }

    /// Makes the variable or finds it.
    pub fn run(self) -> Result<Variable<'g>> {
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
            .with_help("`.reuse(Reuse::Auto)` makes those that are not there")),
            (None, _) => {
                // Variables' names owe nothing to the name scope.
                let made = graph.in_scope(String::new(), || self.make(&scope, &name, dtype))?;
                store.0.lock().variables.insert(name, made.parts());
                Ok(made)
            }
        }
    }

    /// The variable that there is, if it is as wanted.
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
        // What a failed initializer leaves is not used: its error is returned.
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
                    // Only what a function makes gets a scope of its own here.
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
    .with_help("`.reuse(Reuse::Yes)` finds it, `.reuse(Reuse::Auto)` finds it or makes it");
    match made {
        Some(at) => error.note(format!("made at      {at}")),
        None => error,
    }
}
