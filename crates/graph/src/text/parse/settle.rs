//! Resolves forward references once all nodes exist: back edges, control inputs, contexts and their fields,
//! collections.

use super::words::{ContextName, PortName};
use super::{Field, Fields, Parser, reserve};
use crate::context::{CondContext, Context, ContextId, ContextKind, WhileContext};
use crate::graph::{CollectionItem, GraphData};
use crate::ids::{NodeId, Port};
use crate::op::Role;
use millstream_tensor::{Error, Result, ensure, invalid};
use std::collections::{HashMap, HashSet};

impl Parser<'_> {
    /// Looks up a port, now that all nodes exist.
    fn find(&mut self, g: &mut GraphData, at: usize, name: &PortName) -> Result<Port> {
        self.start = at;
        let port = Port::new(g.find(&name.node)?, name.index);
        g.type_of(port)?;
        Ok(port)
    }

    /// Resolves all open references.
    pub(super) fn settle(&mut self, g: &mut GraphData) -> Result<()> {
        let later = std::mem::take(&mut self.later);
        for (at, merge, i, source) in later.back_edges {
            let port = self.find(g, at, &source)?;
            let given = g.type_of(port)?;
            let (node, from) = (g.node(merge)?, g.node(port.node)?);
            let wanted = node.info.input_types.get(i).map(|t| t.dtype);
            ensure!(
                from.role() == Role::NextIteration && wanted == Some(given.dtype),
                "a back edge into `{}` comes from a NextIteration of the same type, not from `{}` ({}, {given})",
                node.name(),
                from.name(),
                from.op()
            );
            if let Some(slot) = g.nodes.get_mut(merge.index()).and_then(|n| n.inputs.get_mut(i)) {
                *slot = port;
            }
        }
        for (at, id, name) in later.controls {
            self.start = at;
            let before = g.find(&name)?;
            g.add_control(id, before);
        }
        let mut known = Known { n: later.contexts.len(), by_name: HashMap::new(), twice: HashSet::new() };
        for (i, (name, ..)) in later.contexts.iter().enumerate() {
            if known.by_name.insert(name.clone(), ContextId(i as u32)).is_some() {
                known.twice.insert(name.clone());
            }
        }
        let mut places = Vec::new();
        for (name, is_while, parent, fields) in later.contexts {
            let at = parent.as_ref().map_or(self.start, |(at, _)| *at);
            self.start = at;
            let parent = parent.map(|(_, parent)| known.find(&parent)).transpose()?;
            places.push(at);
            reserve(g, &name);
            let context = self.fields(g, name, is_while, parent, fields)?;
            g.contexts.push(context);
        }
        self.no_circle(g, &places)?;
        for (at, id, name) in later.homes {
            self.start = at;
            let context = known.find(&name)?;
            g.set_context(id, context);
        }
        let mut collections = later.collections;
        for (at, n, name, i) in later.collected {
            self.start = at;
            let id = known.find(&name)?;
            if let Some(item) = collections.get_mut(n).and_then(|(_, items)| items.get_mut(i)) {
                *item = CollectionItem::Context(id);
            }
        }
        for (name, items) in collections {
            items.into_iter().for_each(|item| g.collect(&name, item));
        }
        Ok(())
    }

    fn fields(
        &mut self,
        g: &mut GraphData,
        name: String,
        is_while: bool,
        parent: Option<ContextId>,
        mut fields: Fields,
    ) -> Result<Context> {
        let line = self.start;
        let mut external = HashMap::new();
        if let Some((at, field)) = fields.remove("external") {
            self.start = at;
            let Field::Pairs(pairs) = field else { return Err(wrong("external", "a list of pairs")) };
            for (at, (outer, inner)) in pairs {
                external.insert(self.find(g, at, &outer)?, self.find(g, at, &inner)?);
            }
        }
        let kind = match is_while {
            true => ContextKind::While(WhileContext {
                parallel_iterations: self.int_field(&mut fields, "parallel")?.unwrap_or(10),
                back_prop: self.bool_field(&mut fields, "back_prop")?,
                swap_memory: self.bool_field(&mut fields, "swap_memory")?,
                maximum_iterations: self.port_field(g, &mut fields, "maximum")?,
                pivot: self.port_field(g, &mut fields, "pivot")?,
                pivot_for_pred: self.port_field(g, &mut fields, "pivot_for_pred")?,
                pivot_for_body: self.port_field(g, &mut fields, "pivot_for_body")?,
                enters: self.ports_field(g, &mut fields, "enters")?,
                exits: self.ports_field(g, &mut fields, "exits")?,
            }),
            false => {
                let pred = self.port_field(g, &mut fields, "pred")?;
                let pivot = self.port_field(g, &mut fields, "pivot")?;
                let branch = self.int_field(&mut fields, "branch")?;
                let captures = self.captures(g, &mut fields)?;
                if pred.is_none() || branch.is_none() {
                    self.start = line;
                }
                let missing = |key| move || invalid!("the branch needs the field `{key}`");
                let branch = branch.ok_or_else(missing("branch"))?;
                ensure!((0..=1).contains(&branch), "the field `branch` is {branch}, not 0 or 1");
                ContextKind::Cond(CondContext {
                    pred: pred.ok_or_else(missing("pred"))?,
                    pivot,
                    branch: branch as u32,
                    captures,
                })
            }
        };
        if let Some((key, (at, _))) = fields.into_iter().next() {
            self.start = at;
            return Err(invalid!("this kind of context has no field `{key}`"));
        }
        Ok(Context { name, parent, kind, external })
    }

    fn int_field(&mut self, fields: &mut Fields, key: &str) -> Result<Option<i64>> {
        match self.take(fields, key) {
            None => Ok(None),
            Some(Field::Int(v)) => Ok(Some(v)),
            Some(_) => Err(wrong(key, "a number")),
        }
    }

    fn bool_field(&mut self, fields: &mut Fields, key: &str) -> Result<Option<bool>> {
        match self.take(fields, key) {
            None => Ok(None),
            Some(Field::Bool(v)) => Ok(Some(v)),
            Some(_) => Err(wrong(key, "`true` or `false`")),
        }
    }

    fn port_field(&mut self, g: &mut GraphData, fields: &mut Fields, key: &str) -> Result<Option<Port>> {
        match self.take(fields, key) {
            None => Ok(None),
            Some(Field::Port(name)) => self.find(g, self.start, &name).map(Some),
            Some(_) => Err(wrong(key, "a node's output")),
        }
    }

    fn ports_field(&mut self, g: &mut GraphData, fields: &mut Fields, key: &str) -> Result<Vec<Port>> {
        match self.take(fields, key) {
            None => Ok(Vec::new()),
            Some(Field::Ports(names)) => names.iter().map(|(at, name)| self.find(g, *at, name)).collect(),
            Some(_) => Err(wrong(key, "a list of nodes' outputs")),
        }
    }

    fn captures(&mut self, g: &mut GraphData, fields: &mut Fields) -> Result<Vec<NodeId>> {
        Ok(self.ports_field(g, fields, "captures")?.into_iter().map(|p| p.node).collect())
    }

    fn take(&mut self, fields: &mut Fields, key: &str) -> Option<Field> {
        let (at, field) = fields.remove(key)?;
        self.start = at;
        Some(field)
    }

    /// Checks that no context contains itself. Each step outwards is taken once, since contexts seen before
    /// are known to lead out.
    fn no_circle(&mut self, g: &GraphData, places: &[usize]) -> Result<()> {
        let contexts = g.contexts();
        // The context whose walk reached each context first.
        let mut seen: Vec<Option<usize>> = vec![None; contexts.len()];
        for (walk, &place) in places.iter().enumerate() {
            let mut at = Some(walk);
            while let Some(i) = at
                && let (Some(slot), Some(context)) = (seen.get_mut(i), contexts.get(i))
            {
                match *slot {
                    None => *slot = Some(walk),
                    Some(first) if first == walk => {
                        self.start = place;
                        return Err(invalid!("the context `{}` is inside itself", context.name));
                    }
                    Some(_) => break,
                }
                at = context.parent.map(|p| p.0 as usize);
            }
        }
        Ok(())
    }
}

fn wrong(key: &str, wanted: &str) -> Error {
    invalid!("the field `{key}` must be {wanted}")
}

/// The contexts in the text.
struct Known {
    n: usize,
    by_name: HashMap<String, ContextId>,
    twice: HashSet<String>,
}

impl Known {
    fn find(&self, name: &ContextName) -> Result<ContextId> {
        if let Some(position) = name.position {
            ensure!((position as usize) < self.n, "there is no context #{position}, only {}", self.n);
            return Ok(ContextId(position));
        }
        ensure!(
            !self.twice.contains(&name.name),
            "several contexts are named `{0}`; say which: `{0}#0`",
            name.name
        );
        let id = self.by_name.get(&name.name).copied();
        id.ok_or_else(|| invalid!("there is no context `{}`", name.name))
    }
}
