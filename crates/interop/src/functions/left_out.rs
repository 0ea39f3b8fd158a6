//! [`LeftOut`]: the nodes of a graph that cannot be imported, because they need an op type that is unknown.

use super::library::{Library, is_unknown, name_of, uses};
use crate::allowance::Allowance;
use crate::flat::{Input, parse_input, short};
use crate::import::mapped;
use millstream_graph::op::{Registry, Role};
use millstream_graph::{Absent, Port};
use millstream_proto::{GraphDef, NodeDef};
use millstream_tensor::Result;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// The bytes that the search takes for a node, and for an input.
const SEARCHED: usize = 128;

/// The nodes that are left out, each with the position of its cause.
pub(crate) struct LeftOut<'a> {
    nodes: BTreeMap<&'a str, usize>,
    causes: Vec<Absent>,
}

/// The nodes of a graph, then the functions of its library, by position: what needs what, and what is left
/// out.
struct Search {
    /// Those that need it: the users of a node's values, those that wait for it, the callers of a function.
    users: Vec<Vec<usize>>,
    /// The position of the cause for which it is left out.
    cause_of: Vec<Option<usize>>,
    /// Those that were left out, with users to visit.
    work: VecDeque<usize>,
}

impl Search {
    fn leave_out(&mut self, item: usize, cause: usize) {
        if self.cause_of[item].is_none() {
            self.cause_of[item] = Some(cause);
            self.work.push_back(item);
        }
    }
}

impl<'a> LeftOut<'a> {
    /// Finds the nodes of unknown op types, and all that need one, by values, control inputs or functions.
    /// Inputs that `map` replaces need nothing. Back edges count, so that of a loop variable either all nodes
    /// stay or none. Its Enter and its NextIteration, which need none of them, go with the last that needs
    /// them.
    pub(crate) fn of(
        def: &'a GraphDef,
        registry: &Registry,
        map: &BTreeMap<String, Port>,
        allowance: &mut Allowance,
    ) -> Result<LeftOut<'a>> {
        let library = Library::of(def)?;
        let n = def.node.len();
        for node in def.node.iter().chain(library.functions().flat_map(|f| &f.node_def)) {
            allowance.take(1 + node.input.len(), SEARCHED)?;
        }
        let by_name: HashMap<&str, usize> =
            def.node.iter().enumerate().map(|(i, node)| (node.name.as_str(), i)).collect();
        let functions: HashMap<&str, usize> =
            library.functions().enumerate().map(|(i, f)| (name_of(f), n + i)).collect();
        let sources = |node: &'a NodeDef| {
            node.input.iter().filter_map(|text| {
                let input = parse_input(text).ok().filter(|input| mapped(map, text, *input).is_none())?;
                let (Input::Data(name, _) | Input::Control(name)) = input;
                by_name.get(name).copied()
            })
        };
        let mut search = Search {
            users: vec![Vec::new(); n + functions.len()],
            cause_of: vec![None; n + functions.len()],
            work: VecDeque::new(),
        };
        let mut causes = Vec::new();
        let own = def.node.iter().enumerate().map(|(i, node)| (i, node, None));
        let inner = library.functions().enumerate();
        let inner =
            inner.flat_map(|(i, f)| f.node_def.iter().map(move |node| (n + i, node, Some(name_of(f)))));
        for (item, node, function) in own.chain(inner) {
            if is_unknown(&node.op, registry, &library) && search.cause_of[item].is_none() {
                search.leave_out(item, causes.len());
                causes.push(Absent {
                    op: short(&node.op).into_owned(),
                    node: node.name.clone(),
                    function: function.map(|f| short(f).into_owned()),
                });
            }
            for used in uses(node, registry).filter_map(|name| functions.get(name)) {
                search.users[*used].push(item);
            }
            if function.is_none() {
                sources(node).for_each(|source| search.users[source].push(item));
            }
        }
        let mut n_users: Vec<usize> = search.users.iter().map(Vec::len).collect();
        let goes_with_users = |node: &NodeDef| {
            let role = registry.get(&node.op).map(|op| op.role);
            matches!(role, Some(Role::Enter | Role::NextIteration))
        };
        while let Some(item) = search.work.pop_front() {
            let Some(cause) = search.cause_of[item] else { continue };
            for user in std::mem::take(&mut search.users[item]) {
                search.leave_out(user, cause);
            }
            for source in def.node.get(item).into_iter().flat_map(sources) {
                n_users[source] -= 1;
                if n_users[source] == 0 && goes_with_users(&def.node[source]) {
                    search.leave_out(source, cause);
                }
            }
        }
        let nodes = def.node.iter().zip(&search.cause_of);
        let nodes = nodes.filter_map(|(node, cause)| Some((node.name.as_str(), (*cause)?))).collect();
        Ok(LeftOut { nodes, causes })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.nodes.contains_key(name)
    }

    /// Checks that an element of the message, `name` or `name:k`, is not left out.
    pub(crate) fn check(&self, element: &str) -> Result<()> {
        let name = element.split(':').next().unwrap_or(element);
        match self.nodes.get(name) {
            Some(cause) => Err(self.causes[*cause].error(name)),
            None => Ok(()),
        }
    }

    /// Returns the names that the nodes would have had in the graph, with the reasons.
    pub(crate) fn under(self, prefix: &str) -> impl Iterator<Item = (String, Arc<Absent>)> {
        let named = |cause: Absent| match cause.function {
            None => Absent { node: format!("{prefix}{}", cause.node), ..cause },
            Some(_) => cause,
        };
        let causes: Vec<_> = self.causes.into_iter().map(|cause| Arc::new(named(cause))).collect();
        self.nodes.into_iter().map(move |(name, cause)| (format!("{prefix}{name}"), causes[cause].clone()))
    }
}
