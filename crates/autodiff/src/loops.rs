//! The backward loop: it counts the forward loop's iterations down, carries the gradients of the variables,
//! sums those of the captured values, and pops the saved values.

use crate::arrays::{ArrayMaker, filled_up};
use crate::between::{LoopNodes, Var};
use crate::pass::{Differ, Level};
use crate::saved::{At, static_shape};
use crate::sum::{Flow, added, joined};
use millstream_graph::flow::{LoopVar, OpenLoop};
use millstream_graph::op::{Forward, zeros_of};
use millstream_graph::{ContextId, Grad, IndexedSlices, NodeId, Output, Port, WhileContext};
use millstream_tensor::{DType, PartialShape, Result, invalid};
use std::collections::HashMap;

/// The gradient of a captured value, summed over all iterations.
enum Gathered<'g> {
    Sum(LoopVar<'g>, Output<'g>),
    /// Lists of the rows and of their indices.
    Slices {
        lists: [(LoopVar<'g>, Output<'g>); 2],
        dtypes: [DType; 2],
        dense_shape: Option<Output<'g>>,
    },
}

impl<'g> Differ<'g> {
    /// Differentiates a loop. Everything that uses its results has been differentiated already.
    pub(crate) fn through_loop(&mut self, level: usize, home: ContextId) -> Result<()> {
        let graph = self.graph;
        let nodes = self.between.loops.get(&home).cloned().unwrap_or_default();
        let mut arrived = HashMap::new();
        for exit in nodes.vars.iter().filter_map(|v| v.exit) {
            let grad = self.arrived(level, Port::new(exit, 0))?;
            arrived.extend(grad.filter(|_| !self.between.stops(exit)).map(|grad| (exit, grad)));
        }
        if arrived.is_empty() {
            return Ok(());
        }
        let vars: Vec<Var> = nodes.vars.iter().filter(|v| self.between.contains(v.merge)).copied().collect();
        let options: WhileContext = graph.read(|g| {
            g.contexts()[home.0 as usize]
                .as_while()
                .cloned()
                .ok_or_else(|| invalid!("a branch is not a loop"))
        })?;
        let outer = graph.read(|g| g.contexts()[home.0 as usize].parent);
        let at = self.mirror(level, outer)?;
        let trips = self.trips(home, &nodes)?;
        let mut initial = Vec::new();
        for var in &vars {
            let exit = self.exit_of(home, var)?;
            let grad = var.exit.and_then(|e| arrived.get(&e)).copied();
            initial.push(self.whole(level, exit, grad)?);
        }
        let trips = self.value(level, trips)?;
        let name = self.scope_of(home);
        let scope = format!("{}{}_grad/", self.scope, name.trim_end_matches('/'));
        graph.inside(at, || {
            graph.in_scope(scope, || {
                let exits = match self.checkpoint_of(home) {
                    Some(checkpoint) => {
                        self.through_checkpoints(level, home, checkpoint, &nodes, &vars, &initial, trips)?
                    }
                    None => {
                        self.backward(level, home, &options, trips, &vars, &initial, &nodes.invariants)?
                    }
                };
                for (port, grad) in exits {
                    self.flow(level, port, grad.into());
                }
                Ok(())
            })
        })
    }

    /// Builds the backward loop. Returns the gradients of the values that enter the forward loop.
    #[expect(clippy::too_many_arguments, reason = "the parts of a loop, each used once")]
    fn backward(
        &mut self,
        level: usize,
        home: ContextId,
        options: &WhileContext,
        trips: Output<'g>,
        vars: &[Var],
        initial: &[Output<'g>],
        invariants: &[NodeId],
    ) -> Result<Vec<(Port, Grad<'g>)>> {
        let graph = self.graph;
        let open = graph.new_loop("while_context", options);
        let context = Some(open.context());
        let mut count = open.enter(trips, PartialShape::scalar())?;
        let more = graph.inside(context, || graph.op("Greater").input(count.merged()).input(0).output());
        open.decide(more)?;
        let counted = open.body_value(&mut count)?;
        let index = graph.inside(context, || graph.op("Sub").name("index").input(counted).input(1).output());
        let mut inner = Level::new(Some(home), context);
        inner.open = Some(open);
        inner.index = Some(index);
        inner.carried.push((count, index));
        self.levels.push(inner);
        let level_in = level + 1;
        self.levels[level_in].cut = self.cut(level_in, home)?;

        let mut carried = Vec::new();
        let mut seeds = Vec::new();
        for (var, &init) in vars.iter().zip(initial) {
            let shape = graph.read(|g| g.shape_of(Port::new(var.merge, 0)));
            let mut grad = self.levels[level_in].enter(init, shape)?;
            let inside = self.levels[level_in].body_value(&mut grad)?;
            if self.next_is_wanted(var)? {
                seeds.push((var.next, Grad::Dense(inside)));
            }
            carried.push(grad);
        }
        self.sweep(level_in, seeds)?;

        let mut closing = Vec::new();
        for (var, grad) in vars.iter().zip(carried) {
            let next = self.summed_whole(level_in, Port::new(var.switch, 1))?;
            // The gradient has the shape of the variable, even where inference finds out less.
            let (dtype, shape) =
                graph.read(|g| (g.type_of(Port::new(var.merge, 0)), g.shape_of(Port::new(var.merge, 0))));
            let next = if dtype?.dtype.is_number() { next.set_shape(shape) } else { next };
            closing.push((grad, next));
        }
        let mut gathered = Vec::new();
        for &enter in invariants {
            if let Some(sum) = self.gathered(level, enter)? {
                gathered.push((enter, sum));
            }
        }

        let inner = self.levels.pop().ok_or_else(|| invalid!("a level was lost"))?;
        let open = inner.open.ok_or_else(|| invalid!("a loop was lost"))?;
        let mut results = Vec::new();
        let source = |enter: NodeId| graph.read(|g| g.node(enter).map(|n| n.inputs[0]));
        for (var, (grad, next)) in vars.iter().zip(closing) {
            let exit = open.close(grad, next)?;
            if graph.read(|g| g.node(var.enter).is_ok_and(|n| self.between.wants(n, 0))) {
                results.push((source(var.enter)?, Grad::Dense(exit)));
            }
        }
        for (enter, sum) in gathered {
            let grad = self.close_gathered(&open, sum)?;
            results.push((source(enter)?, grad));
        }
        for (var, next) in inner.carried {
            open.close(var, next)?;
        }
        graph.check()?;
        Ok(results)
    }

    /// Closes the loop variables of a sum over the iterations. Returns the sum as it is after the loop.
    fn close_gathered(&mut self, open: &OpenLoop<'g>, sum: Gathered<'g>) -> Result<Grad<'g>> {
        Ok(match sum {
            Gathered::Sum(var, next) => Grad::Dense(open.close(var, next)?),
            Gathered::Slices { lists, dtypes, dense_shape } => {
                let mut parts = Vec::new();
                for ((var, next), dtype) in lists.into_iter().zip(dtypes) {
                    let list = open.close(var, next)?;
                    parts.push(self.concatenated(list, dtype, &next)?);
                }
                Grad::Slices(IndexedSlices { values: parts[0], indices: parts[1], dense_shape })
            }
        })
    }

    /// Returns whether a gradient may flow to the next value of a variable.
    fn next_is_wanted(&self, var: &Var) -> Result<bool> {
        Ok(self.between.contains(var.next.node))
    }

    /// Sums the gradients of a captured value over the iterations.
    fn gathered(&mut self, level: usize, enter: NodeId) -> Result<Option<Gathered<'g>>> {
        let (graph, level_in, port) = (self.graph, level + 1, Port::new(enter, 0));
        let (node_input, dtype) =
            graph.read(|g| -> Result<_> { Ok((g.node(enter)?.inputs[0], g.type_of(port)?.dtype)) })?;
        if !self.levels[level_in].flows.contains_key(&port) {
            return Ok(None);
        }
        let context = self.levels[level_in].context;
        // Items are added to their list directly, without making a list of zeros in each iteration.
        let mut items = Vec::new();
        if let Some(flows) = self.levels[level_in].flows.get_mut(&port) {
            flows.retain(|f: &Flow<'g>| match (f.grad, f.branch) {
                (Grad::Item(item), None) => {
                    items.push(item);
                    false
                }
                _ => true,
            });
            if flows.is_empty() {
                self.levels[level_in].flows.remove(&port);
            }
        }
        let whole = match self.summed(level_in, port)? {
            Some(Grad::Slices(slices)) => {
                return graph.inside(context, || self.gathered_slices(level, node_input, slices)).map(Some);
            }
            Some(Grad::Dense(grad)) => Some(grad),
            Some(Grad::Item(item)) => {
                items.push(item);
                None
            }
            None => None,
        };
        let start = self.start_of_sum(level, node_input)?;
        let shape = match dtype {
            DType::Variant | DType::Resource => start.shape(),
            _ => graph.read(|g| g.shape_of(port)),
        };
        let mut var = self.levels[level_in].enter(start, shape)?;
        let mut total = self.levels[level_in].body_value(&mut var)?;
        let grows = graph.read(|g| ArrayMaker::of(g, port)).is_some_and(|array| array.grows);
        graph.inside(context, || {
            if let Some(grad) = whole {
                total = match grad.dtype()? {
                    DType::Variant if grows => graph.op("AddN").inputs(filled_up(&[total, grad])).output(),
                    DType::Variant => graph.op("AddN").inputs([total, grad]).output(),
                    _ => graph.op("AddV2").inputs([total, grad]).output(),
                };
            }
            for item in items {
                total = added(graph, total, item)?;
            }
            // The gradient has the shape of the value, even where inference finds out less.
            if dtype.is_number() {
                total = total.set_shape(graph.read(|g| g.shape_of(port)));
            }
            Ok(Some(Gathered::Sum(var, total)))
        })
    }

    /// Returns the start of the sum over the iterations: an earlier sum, if the caller gave one for this x,
    /// otherwise zeros.
    pub(crate) fn start_of_sum(&mut self, level: usize, source: Port) -> Result<Output<'g>> {
        let graph = self.graph;
        if level == 0 {
            // The value may be captured by loops around the caller.
            let mut origin = source;
            loop {
                if let Some(sum) = self.sums.iter_mut().find(|s| s.x == origin && !s.used) {
                    sum.used = true;
                    return Ok(sum.so_far);
                }
                let outer = graph.read(|g| {
                    g.node(origin.node).ok().filter(|n| n.is_constant_enter()).map(|n| n.inputs[0])
                });
                match outer {
                    Some(outer) => origin = outer,
                    None => break,
                }
            }
        }
        zeros_of(graph, source, &mut At { differ: self, level })
    }

    fn gathered_slices(
        &mut self,
        level: usize,
        source: Port,
        slices: IndexedSlices<'g>,
    ) -> Result<Gathered<'g>> {
        let (graph, level_in) = (self.graph, level + 1);
        let slices = joined(graph, &[slices])?;
        let outside = self.levels[level].context;
        let mut lists = Vec::new();
        for part in [slices.values, slices.indices] {
            let shape = rows(&part.shape());
            let empty = graph.inside(outside, || {
                let shape = graph.element_shape(&shape);
                Ok::<_, millstream_tensor::Error>(
                    graph
                        .op("EmptyTensorList")
                        .input(shape)
                        .input(-1)
                        .attr("element_dtype", part.dtype()?)
                        .output(),
                )
            })?;
            let mut var = self.levels[level_in].enter(empty, PartialShape::scalar())?;
            let list = self.levels[level_in].body_value(&mut var)?;
            let list = graph.op("TensorListPushBack").inputs([list, part]).output();
            lists.push((var, list));
        }
        let dtypes = [slices.values.dtype()?, slices.indices.dtype()?];
        let lists: [_; 2] = lists.try_into().map_err(|_| invalid!("two lists make slices"))?;
        let dense_shape = Some(graph.inside(outside, || self.whole_shape(level, source))?);
        Ok(Gathered::Slices { lists, dtypes, dense_shape })
    }

    /// Returns the shape of the tensor that slices belong to: for a handle, that of its variable.
    fn whole_shape(&mut self, level: usize, source: Port) -> Result<Output<'g>> {
        let graph = self.graph;
        if graph.read(|g| g.type_of(source))?.dtype != DType::Resource {
            return self.shape(level, source);
        }
        let known = graph.read(|g| g.known_handle(source).map(|handle| handle.shape));
        match known.and_then(|shape| static_shape(graph, &shape)) {
            Some(shape) => Ok(shape),
            None => Ok(graph.op("VariableShape").input(At { differ: self, level }.value(source)?).output()),
        }
    }

    /// Returns all rows of a list, concatenated.
    fn concatenated(&self, list: Output<'g>, dtype: DType, pushed: &Output<'g>) -> Result<Output<'g>> {
        let graph = self.graph;
        let part = graph.read(|g| g.node(pushed.port().node).map(|n| g.shape_of(n.inputs[1])))?;
        let shape = graph.element_shape(&rows(&part));
        let leading: Vec<i64> = Vec::new();
        let node = graph.op("TensorListConcatV2").input(list).input(shape).input(graph.constant(leading));
        Ok(node.attr("element_dtype", dtype).output())
    }

    /// Returns the trip count: the Exit of a variable that counts, which is added if there is none.
    fn trips(&mut self, home: ContextId, nodes: &LoopNodes) -> Result<Port> {
        if let Some(i) = nodes.counts.iter().position(|counts| *counts) {
            return self.exit_of(home, &nodes.vars[i]);
        }
        let graph = self.graph;
        let outer = graph.read(|g| g.contexts()[home.0 as usize].parent);
        graph.in_scope(self.scope_of(home), || {
            let zero = graph
                .inside(outer, || graph.constant_tensor("trips", millstream_tensor::Tensor::scalar(0i32)));
            let open = graph.reopen_loop(home)?;
            let mut var = open.enter(zero, PartialShape::scalar())?;
            let now = open.body_value(&mut var)?;
            let next =
                graph.inside(Some(home), || graph.op("AddV2").name("add").input(now).input(1).output());
            Ok(open.close(var, next)?.port())
        })
    }

    /// Returns the Exit of a variable, made if there is none.
    fn exit_of(&self, home: ContextId, var: &Var) -> Result<Port> {
        if let Some(exit) = var.exit {
            return Ok(Port::new(exit, 0));
        }
        let graph = self.graph;
        let outer = graph.read(|g| g.contexts()[home.0 as usize].parent);
        let done = Output::new(graph, Port::new(var.switch, 0));
        let exit = graph.in_scope(self.scope_of(home), || graph.op("Exit").input(done).raw(outer).output());
        graph.check()?;
        Ok(exit.port())
    }
}

/// The shape of any number of rows.
fn rows(shape: &PartialShape) -> PartialShape {
    match shape.dims() {
        Some([_, rest @ ..]) => PartialShape::new(std::iter::once(None).chain(rest.iter().copied())),
        _ => PartialShape::unknown(),
    }
}
