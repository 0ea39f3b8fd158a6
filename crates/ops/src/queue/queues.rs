//! Helpers of the queue ops: both generations of handles, opening a queue by name, splitting batches into
//! items and assembling batches.

pub(super) use crate::shared::handles::{By, generations, one_handle};
use crate::shared::handles::{Named, handle_shape, share};
use crate::shared::philox::Words;
use millstream_graph::op::spec::{Int, ShapeList, Spec, Text, TypesFrom1};
use millstream_graph::op::{BuildCx, Completion, Gradient, Kernel, KernelCx, NodeInfo, OpDef, Outputs, Run};
use millstream_graph::{Attr, Attrs};
use millstream_state::{Batches, Dequeued, Item, Queue, QueueKind, QueueSpec, Waiter, dtype_names};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Assembler, DType, Error, PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;
use std::sync::Arc;

/// Declares an op that opens a queue, without its doc, its cases and its own attributes.
pub(super) fn opener(name: &'static str, by: By, make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> OpDef {
    by.output(OpDef::new(name), "handle")
        .attr("capacity", Int.or(-1))
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .infer(handle_shape)
        .kernel(Kernel::opens(make))
        .gradient(Gradient::none("of queues there is none, as in TensorFlow"))
}

/// Declares the component attributes of a queue.
pub(super) fn typed(def: OpDef) -> OpDef {
    def.attr("component_types", TypesFrom1).attr("shapes", ShapeList.or(Attr::List(Vec::new())))
}

/// Returns the queue that the attributes specify.
pub(super) fn spec(kind: QueueKind, attrs: &Attrs) -> Result<QueueSpec> {
    let shapes: Vec<PartialShape> = attrs.shapes("shapes")?.into_iter().cloned().collect();
    Ok(QueueSpec {
        kind,
        capacity: QueueSpec::capacity_of(attrs.int("capacity")?),
        dtypes: attrs.dtypes("component_types")?,
        shapes: (!shapes.is_empty()).then_some(shapes),
        min_after_dequeue: 0,
        seeds: (0, 0),
        batches: batches(attrs),
    })
}

/// Returns the options for assembling batches. TensorFlow ignores these attributes.
fn batches(attrs: &Attrs) -> Batches {
    let list = |name| match attrs.get(name) {
        Some(Attr::List(list)) => list.as_slice(),
        _ => &[],
    };
    let tensor = |attr: &Attr| if let Attr::Tensor(value) = attr { Some(value.clone()) } else { None };
    let int = |attr: &Attr| if let Attr::Int(n) = attr { usize::try_from(*n).ok() } else { None };
    Batches {
        padding: list("_padding_values").iter().filter_map(tensor).collect(),
        pad_to: list("_pad_to").iter().filter_map(int).collect(),
        max_tokens: attrs.get("_max_tokens").and_then(int),
    }
}

/// Returns a kernel that opens the queue of this name, whose specification must be equal, or creates it.
pub(super) fn opening(cx: &BuildCx, spec: QueueSpec) -> Result<Box<dyn Run>> {
    let named = Named::or_private(cx.node)?;
    let words = Words::seeded(spec.seeds.0, spec.seeds.1)?;
    let asker = cx.node.op.name;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            let make = || {
                let mut words = words.clone();
                let random = move || words.word();
                match resources.store() {
                    Some(store) => Queue::kept_by(store.as_ref(), container, name, spec.clone(), random),
                    None => Queue::new(name, spec.clone(), random),
                }
            };
            let queue = resources.get_or_create(container, name, make)?;
            queue.spec().check_same(&spec, name, asker)?;
            Ok(queue)
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

/// Returns the queue that input 0 refers to.
pub(super) fn queue(cx: &KernelCx) -> Result<Arc<Queue>> {
    share(cx, 0)
}

/// Runs `work` with the queue that input 0 refers to, without incrementing its reference count: threads that
/// use the same queue would contend for the count.
pub(super) fn with_queue<T>(
    cx: &mut KernelCx,
    work: impl FnOnce(&mut KernelCx, &Queue) -> Result<T>,
) -> Result<T> {
    let handle = cx.take(0);
    let queue = match handle.as_handles() {
        Some([handle]) => handle.get::<Queue>(),
        _ => None,
    };
    let result = queue.map(|queue| work(cx, queue));
    cx.put_back(0, handle);
    match result {
        Some(result) => result,
        None => match cx.resource::<Queue>(0) {
            Err(error) => Err(error),
            Ok(_) => Err(Error::internal("a handle changed while it was looked at")),
        },
    }
}

/// Declares an op that uses a queue.
pub(super) fn user(name: &'static str, by: By) -> OpDef {
    by.input(OpDef::new(name), "handle")
        .infer(|_| Ok(()))
        .gradient(Gradient::none("of queues there is none, as in TensorFlow"))
}

/// Declares the components that an op enqueues.
pub(super) fn hands_in(def: OpDef) -> OpDef {
    def.input_list("components", "Tcomponents").attr("Tcomponents", TypesFrom1).attr("timeout_ms", Int.or(-1))
}

/// Declares the components that an op dequeues.
pub(super) fn takes_out(def: OpDef) -> OpDef {
    def.output_list("components", "component_types")
        .attr("component_types", TypesFrom1)
        .attr("timeout_ms", Int.or(-1))
        .infer(|cx| {
            one_handle(cx)?;
            for i in 0..cx.n_outputs() {
                cx.set(i, PartialShape::unknown());
            }
            Ok(())
        })
}

/// Returns an error if the op sets `timeout_ms`, which no queue supports.
pub(super) fn no_timeout(attrs: &Attrs) -> Result<()> {
    let timeout = attrs.int("timeout_ms")?;
    ensure!(
        timeout == -1,
        "Timeout not supported yet.";
        "`timeout_ms` = {timeout}: a queue op has no time limit of its own; give the run one"
    );
    Ok(())
}

/// Takes the components that the node enqueues.
pub(super) fn components(cx: &mut KernelCx) -> SmallVec<[Tensor; 2]> {
    (1..cx.n_inputs()).map(|i| cx.take(i)).collect()
}

/// Returns components to the inputs that [`components`] took them from.
pub(super) fn put_back(cx: &mut KernelCx, item: Item) {
    for (i, value) in item.components().into_iter().enumerate() {
        cx.put_back(i + 1, value);
    }
}

/// Splits components of several items into rows, one for each item.
pub(super) fn rows(components: &[Tensor], queue: &Queue) -> Result<Vec<Item>> {
    let spec = queue.spec();
    ensure!(
        components.len() == spec.dtypes.len(),
        "{}", spec.signature_mismatch(components);
        "an item of {queue:?} has {} components, not {}",
        spec.dtypes.len(),
        components.len()
    );
    let mut n_rows = None;
    for (i, component) in components.iter().enumerate() {
        if let (Some(shapes), Some((&rows, row))) = (&spec.shapes, component.shape().split_first()) {
            ensure!(
                shapes[i].admits(&Shape::from(row)),
                "Shape mismatch in tuple component {i}. Expected {}, got {}",
                ahead(&spec.shapes, rows, i),
                component.shape();
                "component {i} of items of {queue:?} must have shape {}", shapes[i]
            );
        }
        let Some(&rows) = component.shape().first() else {
            return Err(invalid!(
                "Shape mismatch in tuple component {i}. Expected {}, got []",
                ahead(&spec.shapes, n_rows.unwrap_or(1), i);
                "component {i} holds many items of {queue:?}, one in each row, so it cannot be a scalar"
            )
            .with_help("enqueue a single item with `enqueue`"));
        };
        let first = *n_rows.get_or_insert(rows);
        // TensorFlow checks the whole shape at once, with the number of rows of the first component.
        let known = spec.shapes.as_ref().map(|shapes| shapes[i].clone());
        let whole = known.and_then(|row| {
            Some(PartialShape::new([Some(first)].into_iter().chain(row.dims()?.iter().copied())))
        });
        if let Some(whole) = whole.filter(|whole| !whole.admits(component.shape())) {
            return Err(spec.shape_mismatch(i, &whole, component.shape(), queue.name()));
        }
        ensure!(
            rows == first,
            "Shape mismatch in tuple component {i}. Expected {}, got {}",
            ahead(&spec.shapes, first, i),
            component.shape();
            "all components of many items must have as many rows: component 0 has {first} rows, component {i} has {rows}"
        );
    }
    let mut pace = Pace::new();
    let row = |i| {
        pace.spend(components.len())?;
        components.iter().map(|c| own_row(c, i)).collect::<Result<_>>().and_then(Item::new)
    };
    (0..n_rows.unwrap_or(0)).map(row).collect()
}

/// Returns the shape of component `i` of `rows` items.
fn ahead(shapes: &Option<Vec<PartialShape>>, rows: usize, i: usize) -> PartialShape {
    let item = shapes.as_ref().and_then(|shapes| shapes.get(i)).and_then(PartialShape::dims);
    PartialShape::new(std::iter::once(Some(rows)).chain(item.unwrap_or_default().iter().copied()))
}

/// Returns row `i` in a buffer of its own. A shared row would keep the whole component alive while it is
/// queued.
pub(super) fn own_row(component: &Tensor, i: usize) -> Result<Tensor> {
    let row = component.row(i)?;
    if row.as_scalar().is_some() {
        return Ok(row);
    }
    let mut own = Assembler::new(row.dtype(), row.shape().clone())?;
    own.push(&row, 0, row.elements())?;
    own.finish()
}

/// Returns an error unless the queue's items can be dequeued as batches of the node's types.
pub(super) fn takes_batches(queue: &Queue, node: &NodeInfo) -> Result<()> {
    let spec = queue.spec();
    check_types(queue, node)?;
    let stackable = spec.shapes.as_ref().is_some_and(|shapes| {
        spec.kind == QueueKind::PaddingFifo || shapes.iter().all(PartialShape::is_full)
    });
    ensure!(
        stackable,
        "{}'s DequeueMany and DequeueUpTo require the components to have specified shapes.",
        spec.kind;
        "{queue:?} was made without"
    );
    Ok(())
}

/// Returns an error unless the node's types are those of the queue's components.
pub(super) fn check_types(queue: &Queue, node: &NodeInfo) -> Result<()> {
    let (held, wanted) = (&queue.spec().dtypes, &node.output_types);
    if wanted.len() == held.len() && wanted.iter().zip(held).all(|(w, h)| w.dtype == *h) {
        return Ok(());
    }
    let wanted: Vec<DType> = wanted.iter().map(|t| t.dtype).collect();
    let [have, expected] = [&wanted, held].map(|dtypes| dtype_names(dtypes.iter().copied()));
    let own = format!(
        "{queue:?} holds components of {}, but `component_types` is {}",
        listed(held),
        listed(&wanted)
    );
    Err(invalid!("{own}")
        .led_by(format!("Signature mismatch, have: resource->{have} expected: resource->{expected}")))
}

fn listed(dtypes: &[DType]) -> String {
    let names: Vec<String> = dtypes.iter().map(ToString::to_string).collect();
    format!("{{{}}}", names.join(", "))
}

/// Stacks the items into a batch, component by component, padded at the end where their dimensions differ. If
/// that fails, the items return to the queue.
pub(super) fn batch(queue: &Queue, items: Dequeued) -> Outputs {
    let batch = stacked(queue, &items)?;
    drop(items.used());
    Ok(batch)
}

fn stacked(queue: &Queue, items: &[Item]) -> Outputs {
    let spec = queue.spec();
    let shapes = spec.shapes.as_deref().unwrap_or_default();
    let (mut cells, mut filled) = (0, 0);
    let component = |(c, dtype): (usize, &DType)| {
        let known = shapes.get(c).cloned().unwrap_or_default();
        let mut largest = match items.first() {
            Some(item) => item[c].shape().clone(),
            None => Shape::new(known.dims().unwrap_or_default().iter().map(|d| d.unwrap_or(0))),
        };
        for item in items {
            filled += item[c].elements();
            for (most, &dim) in largest.dims_mut().iter_mut().zip(item[c].shape().dims()) {
                *most = dim.max(*most);
            }
        }
        if let (Some(&least), Some(dims)) = (spec.batches.pad_to.get(c), known.dims()) {
            let varying = largest.dims_mut().iter_mut().zip(dims).filter(|(_, known)| known.is_none());
            varying.for_each(|(most, _)| *most = least.max(*most));
        }
        let whole = Shape::new(std::iter::once(items.len()).chain(largest.dims().iter().copied()));
        let nothing = match spec.batches.padding.get(c) {
            Some(value) => value.clone(),
            None => Tensor::zeros(*dtype, Shape::default())?,
        };
        let mut out = Assembler::new(*dtype, whole.clone())?;
        cells += whole.elements();
        let mut pace = Pace::new();
        for item in items {
            pace.spend(1)?;
            pad(&mut out, &item[c], 0, item[c].shape().dims(), largest.dims(), &nothing)?;
        }
        out.finish()
    };
    let batch: SmallVec<[Tensor; 2]> =
        spec.dtypes.iter().enumerate().map(component).collect::<Result<_>>()?;
    queue.count(|tally| {
        tally.batches += 1;
        tally.rows += items.len() as u64;
        tally.cells += cells as u64;
        tally.padding += (cells - filled) as u64;
    });
    Ok(batch)
}

/// Appends the elements of shape `from` that begin at `start` in `value`, padded to shape `to`.
fn pad(
    out: &mut Assembler,
    value: &Tensor,
    start: usize,
    from: &[usize],
    to: &[usize],
    nothing: &Tensor,
) -> Result<()> {
    if from == to {
        return out.push(value, start, from.iter().product());
    }
    let (Some((&n, from)), Some((&m, to))) = (from.split_first(), to.split_first()) else {
        return Err(invalid!("an item of rank {} was put in a batch of rank {}", from.len(), to.len()));
    };
    let row: usize = from.iter().product();
    match from == to {
        // Only the number of rows differs, so all rows are copied at once.
        true => out.push(value, start, n * row)?,
        false => (0..n).try_for_each(|i| pad(out, value, start + i * row, from, to, nothing))?,
    }
    out.push_fill(nothing, (m - n) * to.iter().product::<usize>())
}

/// What a node counts for its queue besides its own work, given by its attribute `_counts`. TensorFlow
/// ignores this attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// An item that a filter dropped.
    Filtered,
    /// An item that fits no bucket.
    OutOfRange,
    /// The rows of the dequeued batch.
    Rows,
}

impl Counts {
    pub(super) fn of(attrs: &Attrs) -> Option<Counts> {
        let Attr::Str(what) = attrs.get("_counts")? else { return None };
        match what.text().as_ref() {
            "filtered" => Some(Counts::Filtered),
            "out_of_range" => Some(Counts::OutOfRange),
            "rows" => Some(Counts::Rows),
            _ => None,
        }
    }
}

/// Counts an item that is a batch: its first component is a number, and the others have its rows.
pub(super) fn count_rows(queue: &Queue, item: &Item) {
    let (Some(number), Some(first)) = (item.first(), item.get(1)) else { return };
    let Ok(number) = number.to_scalar::<i32>() else { return };
    let rows = first.shape().first().map_or(1, |&rows| rows as u64);
    queue.count(|tally| {
        let taken = tally.taken.entry(number).or_default();
        taken.batches += 1;
        taken.rows += rows;
    });
}

/// Returns the waiter for this node's request. `rest` makes the node's outputs of the items.
pub(super) fn waiter(
    cx: &KernelCx,
    completion: Completion,
    rest: impl FnOnce(Dequeued) -> Outputs + Send + 'static,
) -> Waiter {
    Waiter {
        who: cx.node.name.as_str().into(),
        cancel: cx.env.cancel.clone(),
        ended: Box::new(move |result| match result {
            Ok(items) => completion.complete_with(move || rest(items)),
            Err(error) => completion.complete(Err(error)),
        }),
    }
}
