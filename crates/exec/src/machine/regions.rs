//! Loops that run as regions: their values are gathered at the Enters, their code runs slice by slice, and
//! their results leave by the Exits. Where code cannot run, or cannot go on, the machine takes over with the
//! values at hand.

use super::Machine;
use super::instances::Arrival;
use crate::ids::{InstanceId, IterationId, MergeId, PlanNode};
use crate::plan::{Kind, Plan};
use crate::region::{Binding, Code, Exit, Held, List, ListWords, LoopPlan, Registers, Running};
use millstream_graph::op::StepEnv;
use millstream_graph::{Entity, FrameId};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Error, Result, Shape, Tensor, TensorList};

/// A loop that runs as a region, or is about to.
pub(super) struct RegionRun {
    frame: FrameId,
    instance: InstanceId,
    /// The values of the Enters, by their place in the region. Once the region runs, those of the variables
    /// are what to make the results of: lists without items, nothing for the rest.
    values: Vec<Option<Arrival>>,
    n_missing: usize,
    running: Option<(Running, Registers)>,
}

impl RegionRun {
    /// The number of iterations that are over.
    pub(super) fn iterations(&self) -> u64 {
        self.running.as_ref().map_or(0, |(_, registers)| registers.iterations.saturating_sub(1))
    }
}

impl Machine {
    /// A value reaches an Enter of a loop. Returns it if the loop does not run as a region.
    #[inline]
    pub(super) fn gather(
        &mut self,
        plan: &Plan,
        n: PlanNode,
        at: IterationId,
        of: FrameId,
        value: Arrival,
    ) -> Option<Arrival> {
        match &plan.regions[of] {
            None => Some(value),
            Some(region) => self.gather_for(plan, region, n, at, of, value),
        }
    }

    fn gather_for(
        &mut self,
        plan: &Plan,
        region: &LoopPlan,
        n: PlanNode,
        at: IterationId,
        of: FrameId,
        value: Arrival,
    ) -> Option<Arrival> {
        let children = &self.iterations[at].children;
        let instance = match children.iter().find(|(frame, _)| *frame == of) {
            Some((_, instance)) => *instance,
            // Only the machine shows its steps.
            None if self.trace.is_some() || !plan.origins.is_empty() => return Some(value),
            None => self.new_region(plan, region, at, of),
        };
        let Some(run) = self.regions.iter_mut().find(|run| run.instance == instance) else {
            return Some(value);
        };
        let Some(place) = region.enters.iter().position(|enter| *enter == n) else { return Some(value) };
        let dead = matches!(value, Arrival::Dead);
        run.values[place] = Some(value);
        run.n_missing -= 1;
        self.instances[instance].pending_enters -= 1;
        if dead || run.n_missing == 0 && !run.start(region) {
            self.run_by_tokens(plan, instance, 0);
        }
        None
    }

    fn new_region(&mut self, plan: &Plan, region: &LoopPlan, at: IterationId, of: FrameId) -> InstanceId {
        let instance = self.new_instance(plan, of, at);
        self.iterations[at].children.push((of, instance));
        let values = region.enters.iter().map(|_| None).collect();
        let n_missing = region.enters.len();
        self.regions.push(RegionRun { frame: of, instance, values, n_missing, running: None });
        instance
    }

    /// Runs a slice of each region. Returns whether anything is left to run.
    pub(super) fn run_regions(&mut self, plan: &Plan, env: &StepEnv) -> bool {
        let mut i = 0;
        while let Some(run) = self.regions.get_mut(i) {
            let (of, instance) = (&plan.regions[run.frame], run.instance);
            if let (Some(of), Some((running, registers))) = (of, &mut run.running) {
                match running.region.run_slice(registers, env) {
                    Exit::Paused => {}
                    Exit::Done => {
                        running.ended(true);
                        self.leave_region(plan, of, i);
                        continue;
                    }
                    Exit::Failed => {
                        running.ended(false);
                        self.hand_over(plan, of, i, instance);
                        continue;
                    }
                }
            }
            i += 1;
        }
        !self.ready.is_empty() || self.has_regions()
    }

    /// Whether a region has more to do.
    pub(crate) fn has_regions(&self) -> bool {
        self.regions.iter().any(|run| run.running.is_some())
    }

    /// The region that runs an instance, if one does.
    pub(super) fn region_of(&self, instance: InstanceId) -> Option<&RegionRun> {
        self.regions.iter().find(|run| run.instance == instance)
    }

    /// A region is over: its results arrive behind the Exits.
    fn leave_region(&mut self, plan: &Plan, of: &LoopPlan, i: usize) {
        let RegionRun { instance, values, running, .. } = self.regions.swap_remove(i);
        let parent = self.instances[instance].parent;
        let Some((Running { region, .. }, mut registers)) = running else { return };
        for (&exit, binding) in of.exits.iter().zip(&region.code.outputs) {
            let node = &plan.nodes[exit];
            let value = match binding.held {
                Held::Words(_) => words_to_tensor(binding, &registers),
                Held::Block(block) => Ok(registers.blocks.get(block).clone()),
                Held::List(list) => {
                    let inputs = region.code.inputs.iter().zip(&values);
                    let of_list = inputs.filter(|(input, _)| input.held == binding.held);
                    let empty = of_list.filter_map(|(_, value)| live(value.as_ref()?)).next();
                    list_to_tensor(&region.code, binding, list, empty, &mut registers)
                }
            };
            match value {
                Ok(value) => {
                    self.put(parent, node.slot, value);
                    self.arrive_all(plan, parent, node.edges, false);
                }
                Err(error) => self.fail(plan, exit, parent, error),
            }
        }
        self.instances[instance].exited = of.exits.iter().copied().collect();
        self.end_instance(plan, instance);
        self.end(plan);
    }

    /// Code has failed: the machine goes on at the start of the outermost iteration.
    fn hand_over(&mut self, plan: &Plan, of: &LoopPlan, i: usize, instance: InstanceId) {
        let run = &mut self.regions[i];
        let Some((Running { region, .. }, mut registers)) = run.running.take() else { return };
        let iteration = registers.iterations.saturating_sub(1);
        let inputs = region.code.inputs.iter().zip(&mut run.values).take(region.code.n_variables);
        let mut result = Ok(());
        for (binding, value) in inputs {
            let current = match binding.held {
                Held::Words(_) => words_to_tensor(binding, &registers),
                Held::Block(block) => Ok(registers.blocks.get(block).clone()),
                Held::List(list) => {
                    list_to_tensor(&region.code, binding, list, value.as_ref().and_then(live), &mut registers)
                }
            };
            match current {
                Ok(current) => *value = Some(Arrival::Live(current)),
                Err(error) => result = Err(error),
            }
        }
        if let Err(error) = result {
            let enter = of.enters.first().copied().unwrap_or(PlanNode::NONE);
            let parent = self.instances[instance].parent;
            self.regions.swap_remove(i);
            return self.fail(plan, enter, parent, error);
        }
        self.run_by_tokens(plan, instance, iteration);
    }

    /// The machine runs the loop, from this iteration on, with the values that were gathered.
    fn run_by_tokens(&mut self, plan: &Plan, instance: InstanceId, iteration: u64) {
        let Some(i) = self.regions.iter().position(|run| run.instance == instance) else { return };
        let RegionRun { frame, values, .. } = self.regions.swap_remove(i);
        let Some(region) = &plan.regions[frame] else { return };
        self.instances[instance].next = iteration;
        self.instances[instance].pending_enters = plan.frames[frame].n_enters;
        let first = self.new_iteration(plan, instance);
        for (&enter, value) in region.enters.iter().zip(values) {
            let Some(value) = value else { continue };
            let node = &plan.nodes[enter];
            match (node.kind, value) {
                (Kind::EnterConstant(_, invariant), value) => {
                    self.enter_constant(plan, instance, invariant, value, node);
                }
                (Kind::Enter(_, merge), Arrival::Live(value)) => {
                    self.enter_variable(plan, instance, merge, value, node);
                }
                (Kind::Enter(_, merge), _) => self.enter_dead(plan, instance, first, merge, enter),
                _ => {}
            }
        }
        self.end(plan);
    }

    /// A dead token enters a loop as the first value of a variable.
    pub(super) fn enter_dead(
        &mut self,
        plan: &Plan,
        inside: InstanceId,
        first: IterationId,
        merge: MergeId,
        enter: PlanNode,
    ) {
        self.iterations[first].settle(merge);
        self.arrive_all(plan, first, plan.nodes[enter].edges, true);
        self.entered(inside, first);
    }
}

impl RegionRun {
    /// Moves the values into registers. Returns false if there is no code that takes them.
    fn start(&mut self, of: &LoopPlan) -> bool {
        let Some(running) = of.code_for(self.values.iter().map(|value| value.as_ref().and_then(live))) else {
            return false;
        };
        match self.registers(&running.region.code) {
            Some(registers) => {
                self.running = Some((running, registers));
                true
            }
            None => false,
        }
    }

    fn registers(&mut self, code: &Code) -> Option<Registers> {
        let mut registers = Registers::new(code);
        let mut empty = Vec::new();
        for (binding, value) in code.inputs.iter().zip(&self.values) {
            let value = value.as_ref().and_then(live)?;
            match binding.held {
                Held::Words(_) => {
                    let suits = value.dtype() == binding.dtype && *value.shape() == binding.shape;
                    if !suits || !value.write_words(&mut registers.words[binding.words()]) {
                        return None;
                    }
                    empty.push(None);
                }
                Held::Block(block) => {
                    if value.dtype() != binding.dtype || *value.shape() != binding.shape {
                        return None;
                    }
                    registers.blocks.set(block, value.clone());
                    empty.push(None);
                }
                Held::List(list) if code.lists[list.index()] == 0 => {
                    let (without, items) = list_to_items(binding, value)?;
                    if !registers.blocks.set_items(list, items) {
                        return None;
                    }
                    empty.push(Some(Arrival::Live(without)));
                }
                Held::List(list) => {
                    let (without, words) = list_to_words(binding, value)?;
                    registers.lists[list.index()] = words;
                    empty.push(Some(Arrival::Live(without)));
                }
            }
        }
        for (value, empty) in self.values.iter_mut().zip(empty).take(code.n_variables) {
            *value = empty;
        }
        Some(registers)
    }
}

fn live(value: &Arrival) -> Option<&Tensor> {
    match value {
        Arrival::Live(value) => Some(value),
        Arrival::Pending | Arrival::Dead => None,
    }
}

fn words_to_tensor(binding: &Binding, registers: &Registers) -> Result<Tensor> {
    Tensor::of_words(binding.dtype, binding.shape.clone(), &registers.words[binding.words()])
}

/// A list with the items of a region, otherwise like `like`.
fn list_to_tensor(
    code: &Code,
    binding: &Binding,
    list: List,
    like: Option<&Tensor>,
    registers: &mut Registers,
) -> Result<Tensor> {
    let like = like.and_then(as_list).ok_or_else(|| Error::internal("a region lost its list"))?;
    if code.lists[list.index()] == 0 {
        let items = registers.blocks.take_items(list);
        return like.with_items(items.into_iter().map(Some))?.into_tensor();
    }
    let words = std::mem::take(&mut registers.lists[list.index()]);
    let n = words.items().len() / binding.width();
    let shape = Shape::new(std::iter::once(n).chain(binding.shape.iter().copied()));
    let rows = Tensor::of_words(binding.dtype, shape, words.items())?;
    drop(words);
    like.with_rows(rows)?.into_tensor()
}

/// The list, if it is one that the region expects.
fn suited<'a>(binding: &Binding, list: &'a Tensor) -> Option<&'a TensorList> {
    let list = as_list(list)?;
    let fits = list.dtype() == binding.dtype
        && list.max_len().is_none()
        && list.element_shape().admits(&binding.shape);
    fits.then_some(list)
}

/// The items of a list, and the list without them. `None` if the list holds something else than the region
/// expects.
fn list_to_items(binding: &Binding, list: &Tensor) -> Option<(Tensor, Vec<Tensor>)> {
    let list = suited(binding, list)?;
    let items = (0..list.len()).map(|i| list.get(i).ok()?.filter(|item| *item.shape() == binding.shape));
    let items = items.collect::<Option<Vec<Tensor>>>()?;
    Some((list.with_items([]).and_then(TensorList::into_tensor).ok()?, items))
}

/// The items of a list as words, and the list without them. `None` if the list holds something else than the
/// region expects, or there is no room.
fn list_to_words(binding: &Binding, list: &Tensor) -> Option<(Tensor, ListWords)> {
    let list = suited(binding, list)?;
    let width = binding.width();
    let mut words = Charged::new();
    words.resize_with(list.len().checked_mul(width)?, || 0).ok()?;
    match list.stacked() {
        Some(rows) if rows.shape()[1..] == binding.shape[..] => rows.write_words(&mut words).then_some(())?,
        _ => {
            for (i, to) in words.chunks_exact_mut(width.max(1)).enumerate() {
                let item = list.get(i).ok()??;
                (*item.shape() == binding.shape && item.write_words(to)).then_some(())?;
            }
        }
    }
    let without = list.with_items([]).and_then(TensorList::into_tensor).ok()?;
    Some((without, ListWords::holding(words)))
}

fn as_list(tensor: &Tensor) -> Option<&TensorList> {
    match tensor.as_variants()? {
        [list] if tensor.shape().rank() == 0 => list.get::<TensorList>(),
        _ => None,
    }
}
