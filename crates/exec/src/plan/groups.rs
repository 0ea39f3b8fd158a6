//! Which elementwise nodes run as one [`Group`].
//!
//! Members of a group
//! - run in the same frame, dead or alive together;
//! - have one shape, as far as the plan knows, which is not small;
//! - are connected, and have the same *level*: none of them waits for a node outside of the group that waits
//!   for another member. A level counts the nodes on the longest way to a node, products and their like
//!   before all others, so that no member is held up by a product that it does not need.

use super::builder::{Builder, Value};
use super::group::{Group, GroupInput, Member, Wire};
use super::passes::Pass;
use super::prepare;
use crate::errors::of_node;
use crate::tiles::{At, TileProgram, TileWriter};
use millstream_graph::loops::View;
use millstream_graph::op::expression::Operand;
use millstream_graph::op::{Cost, Effect, Expression, Lowering, NodeInfo, Role, Tile};
use millstream_graph::{Dense, FrameId, Index, Source};
use millstream_state::Resources;
use millstream_tensor::{DType, Error, PartialShape, Result};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};

/// Outputs of fewer elements are not worth the way into tiles.
const FEWEST: usize = 256;
/// The most members of a group.
const MOST: usize = 64;

/// A group that was found.
pub(super) struct Found {
    /// The members, in the order of the program. The plan's node is the last one's.
    pub members: Vec<Index>,
    pub inputs: Vec<Value>,
    /// The members that others read.
    pub outputs: Vec<Index>,
    wiring: Vec<SmallVec<[Wire; 3]>>,
    of_inputs: Vec<GroupInput>,
    program: TileProgram,
}

/// A node that may be a member.
struct Candidate {
    expression: Expression,
    broadcasts: bool,
    key: Key,
}

/// What the members of a group have in common: frame, deadness and shape.
type Key = (FrameId, u32, u32);

/// What is known of a node.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The set of conditions that it is alive under.
    alive: u32,
    level: u64,
}

/// The step from a node whose work may be long, and from any other.
const LONG: u64 = 1 << 32;

/// Sets of conditions, each with a number; the empty set has 0. A condition is the side of a predicate, or a
/// node of which nothing better is known.
struct Sets {
    sets: Vec<Vec<(Source, u32)>>,
    numbers: HashMap<Vec<(Source, u32)>, u32>,
}

/// The side of a condition that is a node itself.
const ITSELF: u32 = u32::MAX;

impl Sets {
    fn new() -> Sets {
        Sets { sets: vec![Vec::new()], numbers: HashMap::from([(Vec::new(), 0)]) }
    }

    fn number(&mut self, mut set: Vec<(Source, u32)>) -> u32 {
        set.sort_unstable();
        set.dedup();
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        match (a, b) {
            (a, b) if a == b || b == 0 => a,
            (0, b) => b,
            (a, b) => self.number([&self.sets[a as usize][..], &self.sets[b as usize]].concat()),
        }
    }

    fn with(&mut self, a: u32, condition: (Source, u32)) -> u32 {
        let mut set = self.sets[a as usize].clone();
        set.push(condition);
        self.number(set)
    }

    /// What a value is alive under that comes from either side of a cond: what both have in common, if they
    /// differ in one predicate.
    fn either(&mut self, a: u32, b: u32) -> Option<u32> {
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        let common: Vec<_> = a.iter().filter(|it| b.contains(it)).copied().collect();
        let only = |of: &[(Source, u32)]| of.iter().find(|it| !common.contains(it)).copied();
        let differs = a.len() == common.len() + 1 && b.len() == a.len();
        let ((p, yes), (q, no)) = only(a).zip(only(b)).filter(|_| differs)?;
        (p == q && yes != no && yes != ITSELF && no != ITSELF).then(|| self.number(common))
    }
}

impl Builder<'_> {
    /// Fills `groups`. What is left out, absorbed or fused is known.
    pub(super) fn find_groups(&mut self) {
        let watched = self.options.watch_all || !self.program.watched().is_empty();
        let every = !self.program.every().is_empty();
        if self.options.keep_all || watched || every || !self.options.passes.has(Pass::Fuse) {
            return;
        }
        let mut shapes: HashMap<PartialShape, u32> = HashMap::new();
        let mut lowered: BTreeMap<Index, (Expression, bool, u32)> = BTreeMap::new();
        for (n, _) in self.program.nodes().entries() {
            if let Some((expression, broadcasts)) = self.elementwise(n) {
                let next = shapes.len() as u32;
                let shape = *shapes.entry(self.node(n).shapes[0].clone()).or_insert(next);
                lowered.insert(n, (expression, broadcasts, shape));
            }
        }
        if lowered.len() < 2 {
            return;
        }
        self.count_readers();
        let (candidates, levels) = self.levels(lowered);
        for members in self.components(&candidates, &levels) {
            if let Some(found) = self.group(members, &candidates) {
                let Some(&root) = found.members.last() else { continue };
                for member in &found.members {
                    self.root_of.insert(*member, root);
                }
                for (k, output) in found.outputs.iter().enumerate() {
                    self.output_of.insert(*output, k as u32);
                }
                self.groups.insert(root, found);
            }
        }
    }

    /// The expression of a node that may be a member, and whether it broadcasts.
    fn elementwise(&self, n: Index) -> Option<(Expression, bool)> {
        let node = self.node(n);
        let info = node.info()?;
        let kernel = &info.op.kernel;
        let suits = info.op.role == Role::Compute
            && kernel.effect == Effect::Pure
            && info.output_types.len() == 1
            && self.left[n].is_none()
            && !self.absorbed.contains_key(&n)
            && !self.fused.contains_key(&n);
        let lowering = kernel.lowering.filter(|_| suits)?;
        let shape = node.shapes.first()?;
        // Tests of concurrency want groups of small values too.
        let is_large = match shape.elements() {
            Some(n) => FEWEST <= n || self.options.hand_out_all && 1 < n,
            None => shape.rank().is_some_and(|rank| 2 <= rank),
        };
        let tiled = |dtype: DType| Tile::new(dtype, 0).is_some();
        let suits = is_large
            && info.output_types.iter().chain(&info.input_types).all(|ty| !ty.is_ref && tiled(ty.dtype))
            && (0..node.inputs.len()).all(|i| !self.reads_ref(n, i));
        if !suits {
            return None;
        }
        let (expression, broadcasts) = match lowering(info)? {
            Lowering::Elements(expression) => (expression, false),
            Lowering::Broadcast(expression) => (expression, true),
            Lowering::SameElements | Lowering::PushBack | Lowering::PopBack => return None,
        };
        let has_whole = node.inputs.iter().any(|s| self.shape(*s) == Some(shape));
        let by_steps = matches!(expression.value, Operand::Step(_))
            && expression.fails.is_none()
            && expression.steps.iter().all(|step| step.operation.tile.is_some());
        (has_whole && by_steps).then_some((expression, broadcasts))
    }

    fn shape(&self, source: Source) -> Option<&PartialShape> {
        self.node(source.node).shapes.get(source.index as usize)
    }

    /// The candidates with what they have in common, and the level of each node.
    fn levels(
        &self,
        mut lowered: BTreeMap<Index, (Expression, bool, u32)>,
    ) -> (BTreeMap<Index, Candidate>, Dense<Index, Known>) {
        let program = self.program;
        let mut sets = Sets::new();
        let mut known: Dense<Index, Known> = Dense::filled(Known::default(), program.nodes().len());
        let mut candidates: BTreeMap<Index, Candidate> = BTreeMap::new();
        // Nodes that use a variable wait for those that use it before them.
        let mut before: BTreeMap<Index, SmallVec<[(usize, FrameId); 1]>> = BTreeMap::new();
        for (list, accesses) in program.accesses().values().enumerate() {
            for access in accesses {
                before.entry(access.node).or_default().push((list, self.run_frame(access.node)));
            }
        }
        let mut last: BTreeMap<(usize, FrameId), u64> = BTreeMap::new();
        for &n in program.order() {
            let node = self.node(n);
            let back = program.back_edge(n);
            let inputs = || node.inputs.iter().enumerate().filter(|(i, _)| Some(*i) != back).map(|(_, s)| *s);
            let mut alive = 0;
            for from in inputs().map(|s| self.alive_of(&known, &mut sets, s)).collect::<SmallVec<[u32; 4]>>()
            {
                alive = sets.union(alive, from);
            }
            match node.role() {
                Role::Merge if back.is_none() => {
                    let sides: SmallVec<[u32; 2]> =
                        inputs().map(|s| self.alive_of(&known, &mut sets, s)).collect();
                    let either = match sides[..] {
                        [a, b] => sets.either(a, b),
                        _ => None,
                    };
                    alive = either.unwrap_or_else(|| sets.with(0, (Source { node: n, index: 0 }, ITSELF)));
                }
                // The loop ends where it began.
                Role::Exit => {
                    let switch = node.inputs.first().map(|s| self.node(s.node));
                    let variable = switch.and_then(|switch| switch.inputs.first()).map(|s| s.node);
                    alive = match variable.filter(|n| program.back_edge(*n).is_some()) {
                        Some(merge) => known[merge].alive,
                        None => sets.with(0, (Source { node: n, index: 0 }, ITSELF)),
                    };
                }
                _ => {}
            }
            for control in &node.controls {
                alive = sets.union(alive, known[*control].alive);
            }
            let key = lowered.get(&n).map(|(_, _, shape)| (node.frame, alive, *shape));
            let mut level = 0;
            for source in inputs() {
                let from = match self.resolve(source) {
                    Value::Constant(_) => continue,
                    Value::Source(source) => source.node,
                };
                let same = key.is_some() && candidates.get(&from).map(|it| it.key) == key;
                level = level.max(known[from].level + if same { 0 } else { self.step(from) });
            }
            // What a value that is passed over waits for counts too.
            for from in inputs().map(|s| s.node).filter(|from| self.left[*from].is_some()) {
                let controls = self.left[from].iter().flat_map(|left| &left.controls);
                level = controls.fold(level, |all, it| all.max(known[it.node].level + self.step(it.node)));
            }
            for control in &node.controls {
                level = level.max(known[*control].level + self.step(*control));
            }
            for list in before.get(&n).into_iter().flatten() {
                level = level.max(last.get(list).map_or(0, |last| last + LONG));
                last.insert(*list, level);
            }
            known[n] = Known { alive, level };
            if let (Some(key), Some((expression, broadcasts, _))) = (key, lowered.remove(&n)) {
                candidates.insert(n, Candidate { expression, broadcasts, key });
            }
        }
        if self.is_irregular(&known, &mut sets) {
            candidates.clear();
        }
        (candidates, known)
    }

    /// What a value is alive under.
    fn alive_of(&self, known: &Dense<Index, Known>, sets: &mut Sets, source: Source) -> u32 {
        let node = self.node(source.node);
        let alive = known[source.node].alive;
        match node.role() {
            Role::Switch => match node.inputs.get(1) {
                Some(predicate) => sets.with(alive, (*predicate, source.index)),
                None => alive,
            },
            _ => alive,
        }
    }

    /// Whether there is a frame whose variables are not all alive in the same iterations, as far as can be
    /// told.
    fn is_irregular(&self, known: &Dense<Index, Known>, sets: &mut Sets) -> bool {
        let program = self.program;
        let mut of_frame: BTreeMap<FrameId, [u32; 2]> = BTreeMap::new();
        for (n, node) in program.nodes().entries() {
            let Some(back) = program.back_edge(n) else { continue };
            let next = node.inputs.get(back).map_or(ITSELF, |s| known[s.node].alive);
            let own = [known[n].alive, next];
            let before = *of_frame.entry(node.frame).or_insert(own);
            if before != own || node.inputs.len() != 2 || !node.controls.is_empty() {
                return true;
            }
        }
        // What comes in as it is must be alive where the variables are.
        program.nodes().entries().filter(|(_, node)| node.is_constant_enter()).any(|(n, node)| {
            let of_variables = of_frame.get(&node.frame).map(|[enters, _]| *enters);
            of_variables.is_none_or(|of| sets.union(of, known[n].alive) != of)
        })
    }

    /// What a node that waits for this one is above it.
    fn step(&self, n: Index) -> u64 {
        let info = self.node(n).info();
        let is_long = |info: &NodeInfo| matches!(info.op.kernel.cost, Cost::Estimate(_));
        if info.is_some_and(|info| is_long(info)) { LONG } else { 1 }
    }

    /// The candidates that are connected and have the same level, in pieces that are not too large.
    fn components(
        &self,
        candidates: &BTreeMap<Index, Candidate>,
        known: &Dense<Index, Known>,
    ) -> Vec<Vec<Index>> {
        let mut leader: BTreeMap<Index, Index> = candidates.keys().map(|n| (*n, *n)).collect();
        let find = |leader: &BTreeMap<Index, Index>, mut n: Index| {
            while leader[&n] != n {
                n = leader[&n];
            }
            n
        };
        for (&n, it) in candidates {
            for source in &self.node(n).inputs {
                let Value::Source(from) = self.resolve(*source) else { continue };
                let joins = candidates.get(&from.node).is_some_and(|other| other.key == it.key)
                    && known[from.node].level == known[n].level;
                if joins {
                    let (a, b) = (find(&leader, from.node), find(&leader, n));
                    leader.insert(a.max(b), a.min(b));
                }
            }
        }
        let mut found: BTreeMap<Index, Vec<Index>> = BTreeMap::new();
        for &n in self.program.order().iter().filter(|n| candidates.contains_key(*n)) {
            found.entry(find(&leader, n)).or_default().push(n);
        }
        // Those that come first do not read those behind them.
        let pieces = found
            .into_values()
            .flat_map(|members| members.chunks(MOST).map(<[Index]>::to_vec).collect::<Vec<_>>());
        pieces.filter(|members| 2 <= members.len()).collect()
    }

    fn group(&self, members: Vec<Index>, candidates: &BTreeMap<Index, Candidate>) -> Option<Found> {
        let place: BTreeMap<Index, usize> = members.iter().enumerate().map(|(i, n)| (*n, i)).collect();
        let shape = self.node(members[0]).shapes.first()?;
        let outputs: Vec<Index> = members.iter().copied().filter(|n| self.is_read(*n, &place)).collect();
        let mut writer = TileWriter::default();
        let mut inputs: Vec<Value> = Vec::new();
        let mut of_inputs: Vec<GroupInput> = Vec::new();
        let (mut wiring, mut values) = (Vec::new(), Vec::new());
        for &n in &members {
            let (it, node) = (&candidates[&n], self.node(n));
            let info = node.info()?;
            let mut from: SmallVec<[Wire; 3]> = SmallVec::new();
            let mut given: SmallVec<[At; 3]> = SmallVec::new();
            for (source, ty) in node.inputs.iter().zip(&info.input_types) {
                let value = self.resolve(*source);
                if let Value::Source(source) = value
                    && let Some(&member) = place.get(&source.node)
                {
                    from.push(Wire::Member(member));
                    given.push(*values.get(member)?);
                    continue;
                }
                let i = inputs.iter().position(|input| *input == value).unwrap_or_else(|| {
                    inputs.push(value);
                    let own = match value {
                        Value::Constant(constant) => PartialShape::from(self.constants[constant].shape()),
                        Value::Source(source) => self.shape(source).cloned().unwrap_or_default(),
                    };
                    let (is_whole, is_scalar) = (own == *shape, own.rank() == Some(0));
                    of_inputs.push(GroupInput { dtype: ty.dtype, is_whole, broadcasts: true, is_scalar });
                    inputs.len() - 1
                });
                of_inputs[i].broadcasts &= it.broadcasts;
                from.push(Wire::Input(i));
                given.push(At::Input(u16::try_from(i).ok()?));
            }
            let dtype = info.output_types.first()?.dtype;
            values.push(writer.expression(&it.expression.steps, it.expression.value, &given, dtype)?);
            // Each member has the shape of all, whatever the others read.
            let has_whole = from.iter().any(|from| match from {
                Wire::Input(i) => of_inputs[*i].is_whole,
                Wire::Member(_) => true,
            });
            if !has_whole {
                return None;
            }
            wiring.push(from);
        }
        let written: Option<Vec<(At, DType)>> = outputs
            .iter()
            .map(|n| Some((values[place[n]], self.node(*n).info()?.output_types.first()?.dtype)))
            .collect();
        // A constant of the plan and what an iteration shares with others is never taken.
        let takeable: Vec<Option<DType>> = inputs
            .iter()
            .zip(&of_inputs)
            .map(|(value, input)| match value {
                Value::Source(source) if input.is_whole && !self.node(source.node).is_constant_enter() => {
                    Some(input.dtype)
                }
                _ => None,
            })
            .collect();
        let program = writer.finish_in_place(&written?, &takeable);
        let worth = !outputs.is_empty() && of_inputs.iter().any(|input| input.is_whole);
        worth.then_some(Found { members, inputs, outputs, wiring, of_inputs, program })
    }

    /// Whether a node that is no member reads this one.
    fn is_read(&self, n: Index, members: &BTreeMap<Index, usize>) -> bool {
        self.readers_of(n).iter().any(|reader| match reader {
            Some(reader) => !members.contains_key(reader),
            None => true,
        })
    }

    /// The nodes that read a node in the plan; `None` for a fetch or a target.
    fn readers_of(&self, n: Index) -> &[Option<Index>] {
        self.readers.get(&n).map_or(&[], |readers| readers)
    }

    /// Fills `readers`, of nodes that a plan reads.
    fn count_readers(&mut self) {
        let mut readers: BTreeMap<Index, Vec<Option<Index>>> = BTreeMap::new();
        let mut add = |value: Value, reader: Option<Index>| {
            if let Value::Source(source) = value {
                readers.entry(source.node).or_default().push(reader);
            }
        };
        for (n, node) in self.program.nodes().entries() {
            // The readers of a node that is passed over read what it reads.
            if self.left[n].as_ref().is_some_and(|left| left.value.is_some()) {
                continue;
            }
            node.inputs.iter().for_each(|source| add(self.resolve(*source), Some(n)));
        }
        self.program.fetches().iter().for_each(|source| add(self.resolve(*source), None));
        self.readers = readers;
    }

    /// The group that a node is the last member of, prepared to run.
    pub(super) fn group_kernel(&mut self, n: Index, kernel_state: &Resources) -> Result<Option<Group>> {
        let program = self.program;
        let Some(found) = self.groups.get_mut(&n) else { return Ok(None) };
        let mut members = Vec::with_capacity(found.members.len());
        for (&member, from) in found.members.iter().zip(&found.wiring) {
            let node = program.node(member);
            let info = node.info().ok_or_else(|| Error::internal("a feed is no member of a group"))?;
            let kernel = prepare(info, kernel_state).map_err(|e| of_node(e, node))?;
            members.push(Member { kernel, from: from.clone(), at: node.at });
        }
        let place = |n: &Index| found.members.iter().position(|member| member == n);
        Ok(Some(Group {
            outputs: found.outputs.iter().filter_map(place).collect(),
            program: std::mem::take(&mut found.program),
            inputs: std::mem::take(&mut found.of_inputs),
            members,
        }))
    }
}
