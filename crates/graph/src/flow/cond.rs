//! [`Graph::cond`]: one of two branches, chosen by a predicate.
//!
//! ```text
//! pred ─► Switch ─┬─false─► switch_f      nodes of a branch wait for its pivot (switch_f, switch_t);
//!                 └─true──► switch_t      outer values come in through a Switch on pred_id;
//! pred ─► pred_id                         each result is a Merge of the two branches' values.
//! ```

use super::primitive::Primitive;
use crate::context::{CondContext, Context, ContextId, ContextKind};
use crate::graph::{CollectionItem, Graph, Naming, NodeSpec};
use crate::ids::Port;
use crate::nest::{Converter, IntoNest, Leaf, Nest, Structure, Values};
use crate::output::Output;
use millstream_tensor::{DType, PartialShape, Result, invalid};
use std::panic::Location;

impl Graph {
    /// Returns the result of `on_true` if `pred` holds, otherwise that of `on_false`:
    ///
    /// ```text
    /// if pred { on_true() } else { on_false() }
    /// ```
    ///
    /// Unlike this, both closures are called once, while the graph is built. The nodes that they make run
    /// only if their branch is taken; nodes made outside of them run in any case. Both return the same
    /// structure with the same dtypes. A branch that is there for its effect returns the operation, which
    /// runs when the result is needed.
    #[track_caller]
    pub fn cond<'g, T, F>(
        &'g self,
        pred: Output<'g>,
        on_true: impl FnOnce() -> T,
        on_false: impl FnOnce() -> F,
    ) -> Result<T::Nest>
    where
        T: IntoNest<'g>,
        F: IntoNest<'g, Nest = T::Nest>,
    {
        self.cond_named("cond", pred, on_true, on_false)
    }

    /// Like [`Graph::cond`], in the name scope `name`.
    #[track_caller]
    pub fn cond_named<'g, T, F>(
        &'g self,
        name: &str,
        pred: Output<'g>,
        on_true: impl FnOnce() -> T,
        on_false: impl FnOnce() -> F,
    ) -> Result<T::Nest>
    where
        T: IntoNest<'g>,
        F: IntoNest<'g, Nest = T::Nest>,
    {
        let at = self.line(Location::caller());
        self.check()?;
        let result = self.name_scope(name, || Cond::new(self, pred, at)?.build(on_true, on_false))?;
        self.check()?;
        Ok(result)
    }
}

struct Cond<'g> {
    graph: &'g Graph,
    /// The name for messages.
    name: String,
    /// `pred_id`.
    pred: Port,
    pivot_true: Port,
    pivot_false: Port,
    outer: Option<ContextId>,
    at: &'static Location<'static>,
}

/// A branch that was built.
struct Branch<N> {
    context: ContextId,
    nest: N,
    values: Vec<Port>,
}

impl<'g> Cond<'g> {
    fn new(graph: &'g Graph, pred: Output<'g>, at: &'static Location<'static>) -> Result<Cond<'g>> {
        let name = graph.scope().trim_end_matches('/').to_owned();
        if !pred.graph().same(graph) {
            return Err(invalid!("the predicate of `{name}` belongs to another graph").at_line(at));
        }
        let (dtype, shape) = (pred.dtype()?, pred.shape());
        if dtype != DType::Bool || !shape.is_compatible(&PartialShape::scalar()) {
            return Err(invalid!(
                "the predicate of `{name}`, `{}`, must be a scalar bool, found {dtype}{shape}",
                pred.op().name()
            )
            .at_line(at)
            .with_help("compare with `less`, `equal`, ..; reduce several elements with `all` or `any`"));
        }
        let switch = graph.op("Switch").inputs([pred, pred]).at(at).finish();
        let pivot = |name, side| graph.op("Identity").name(name).input(switch.output(side)).at(at).output();
        let (pivot_true, pivot_false) = (pivot("switch_t", 1), pivot("switch_f", 0));
        let pred = graph.op("Identity").name("pred_id").input(pred).at(at).output();
        graph.check()?;
        let outer = graph.lock().current;
        Ok(Cond {
            graph,
            name,
            pred: pred.port(),
            pivot_true: pivot_true.port(),
            pivot_false: pivot_false.port(),
            outer,
            at,
        })
    }

    fn build<T, F>(self, on_true: impl FnOnce() -> T, on_false: impl FnOnce() -> F) -> Result<T::Nest>
    where
        T: IntoNest<'g>,
        F: IntoNest<'g, Nest = T::Nest>,
    {
        let on_true = self.branch(1, self.pivot_true, &[], on_true)?;
        let dtypes = self.graph.read(|g| {
            on_true.values.iter().map(|&p| g.type_of(p).map(|t| t.dtype)).collect::<Result<Vec<_>>>()
        })?;
        let on_false = self.branch(0, self.pivot_false, &dtypes, on_false)?;
        let structure = on_true.nest.structure();
        self.same_structure(&structure, &on_false.nest.structure())?;
        if on_true.values.is_empty() {
            return Err(invalid!(
                "the branches of `{}` return nothing, so neither would ever run",
                self.name
            )
            .at_line(self.at)
            .with_help("return the operation that should run, or a value"));
        }
        let names = structure.paths();
        let mut merged = Vec::new();
        let mut g = self.graph.lock();
        for (i, (&t, &f)) in on_true.values.iter().zip(&on_false.values).enumerate() {
            let (type_t, type_f) = (g.type_of(t)?, g.type_of(f)?);
            if type_t.dtype != type_f.dtype {
                return Err(invalid!(
                    "the branches of `{}` return different dtypes for `{}`: {type_t}{} when true, {type_f}{} when false",
                    self.name,
                    names[i],
                    g.shape_of(t),
                    g.shape_of(f)
                )
                .at_line(self.at)
                .with_help("make both the same: `Cast` converts"));
            }
            // A RefMerge takes references only.
            let op = if type_t.is_ref && type_f.is_ref { "RefMerge" } else { "Merge" };
            let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([f, t]).at(self.at);
            merged.push(Output::new(self.graph, Port::new(g.add_scoped(spec)?, 0)));
        }
        if self.outer.is_none() {
            g.collect("cond_context", CollectionItem::Context(on_true.context));
            g.collect("cond_context", CollectionItem::Context(on_false.context));
        }
        drop(g);
        on_true.nest.rebuild(&mut Values::new(merged))
    }

    fn branch<T: IntoNest<'g>>(
        &self,
        branch: u32,
        pivot: Port,
        wanted: &[DType],
        build: impl FnOnce() -> T,
    ) -> Result<Branch<T::Nest>> {
        let graph = self.graph;
        let context = {
            let mut g = graph.lock();
            let name = g.unique_name("cond_text");
            let context = g.add_context(Context {
                name,
                parent: self.outer,
                kind: ContextKind::Cond(CondContext {
                    pred: self.pred,
                    pivot: Some(pivot),
                    branch,
                    captures: Vec::new(),
                }),
                // Inside, the predicate is used as it is.
                external: [(self.pred, self.pred)].into_iter().collect(),
            });
            g.set_context(pivot.node, context);
            context
        };
        graph.in_context(context, || {
            let nest = build().into_nest(&Converter::new(graph, self.at, wanted))?;
            graph.check()?;
            let mut leaves = Vec::new();
            nest.flatten(&mut leaves);
            let values = leaves.into_iter().map(|leaf| self.result(context, branch, pivot, leaf));
            let values = values.collect::<Result<_>>()?;
            Ok(Branch { context, nest, values })
        })
    }

    /// The value that a branch gives for a result: an outer value through a Switch; for an operation a copy
    /// of the pivot that waits for it.
    fn result(&self, id: ContextId, branch: u32, pivot: Port, leaf: Leaf<'g>) -> Result<Port> {
        let mut g = self.graph.lock();
        let value = match leaf {
            Leaf::Output(output) => output.port(),
            Leaf::Op(op) => {
                g.node(op.id())?;
                let name = "control_dependency";
                let mut spec =
                    NodeSpec::new("Identity", Naming::Scoped(name.into())).inputs([pivot]).at(self.at);
                spec.controls.push(op.id());
                return Ok(Port::new(g.add_scoped(spec)?, 0));
            }
        };
        let known = g.contexts[id.0 as usize].external.get(&value).copied();
        if let Some(inside) = known {
            return Ok(inside);
        }
        let home = g.node(value.node)?.context;
        if g.is_within(home, Some(id)) {
            return g.capture(Some(id), value);
        }
        let real = g.capture(self.outer, value)?;
        // As in TensorFlow's `CondContextDef`, the Switch's own input is listed as known inside.
        g.contexts[id.0 as usize].external.insert(real, real);
        let spec = g.primitive(Primitive::switch(real, self.pred), self.at)?;
        let spec = g.beside(real, spec)?;
        let inside = Port::new(g.add_scoped(spec)?, branch);
        g.contexts[id.0 as usize].external.insert(value, inside);
        Ok(inside)
    }

    fn same_structure(&self, on_true: &Structure, on_false: &Structure) -> Result<()> {
        if on_true == on_false {
            return Ok(());
        }
        Err(invalid!("the branches of `{}` return different structures", self.name)
            .at_line(self.at)
            .note(format!("if true      {on_true}"))
            .note(format!("if false     {on_false}"))
            .with_help("make both return the same values in the same structure"))
    }
}
