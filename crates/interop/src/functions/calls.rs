//! [`Call`]: the nodes that call functions, and the functions that they call.

use super::library::Library;
use super::{AttrMap, Expansion, Pending, Value, attr};
use millstream_graph::op::Registry;
use millstream_proto::{FunctionDef, NameAttrList, NodeDef, OpDef};
use millstream_tensor::{Result, ensure, invalid};

/// The kinds of calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    While,
    If,
    Case,
    /// The attribute `f` names the function.
    Partitioned,
    /// The name of the op is that of the function.
    Direct,
}

/// A function with the attributes of its call.
#[derive(Clone)]
pub(super) struct Target<'a> {
    pub def: &'a FunctionDef,
    pub signature: &'a OpDef,
    pub attrs: AttrMap,
}

/// The call of a node: its kind and its functions (`cond`, `body`; `then`, `else`; the branches).
pub(super) struct Call<'a> {
    pub kind: Kind,
    pub op: &'a str,
    pub targets: Vec<Target<'a>>,
}

impl<'a> Call<'a> {
    /// Returns the kind of call that nodes of this op are. An op of the registry is no call, even if the
    /// library has a function of that name.
    pub(super) fn kind(op: &str, registry: &Registry, library: &Library) -> Option<Kind> {
        if registry.get(op).is_some() {
            return None;
        }
        match op {
            "While" | "StatelessWhile" => Some(Kind::While),
            "If" | "StatelessIf" => Some(Kind::If),
            "Case" | "StatelessCase" => Some(Kind::Case),
            "PartitionedCall" | "StatefulPartitionedCall" => Some(Kind::Partitioned),
            _ => library.has(op).then_some(Kind::Direct),
        }
    }

    pub(super) fn of(
        kind: Kind,
        node: &'a NodeDef,
        attrs: &AttrMap,
        library: &Library<'a>,
    ) -> Result<Call<'a>> {
        let target = |f: &NameAttrList| -> Result<Target<'a>> {
            let (def, signature) = library.get(&f.name)?;
            Ok(Target { def, signature, attrs: f.attr.clone() })
        };
        let named = |name: &str| target(attr::get_func(attrs, name)?);
        let targets = match kind {
            Kind::While => vec![named("cond")?, named("body")?],
            Kind::If => vec![named("then_branch")?, named("else_branch")?],
            Kind::Case => attr::get_funcs(attrs, "branches")?.iter().map(target).collect::<Result<_>>()?,
            Kind::Partitioned => vec![named("f")?],
            Kind::Direct => {
                let (def, signature) = library.get(&node.op)?;
                vec![Target { def, signature, attrs: attrs.clone() }]
            }
        };
        ensure!(!targets.is_empty(), "a Case needs at least one branch");
        Ok(Call { kind, op: &node.op, targets })
    }

    pub(super) fn op(&self) -> &'a str {
        self.op
    }

    /// Returns the types of the call's results.
    pub(super) fn output_types(&self, attrs: &AttrMap) -> Result<Vec<i32>> {
        match self.kind {
            Kind::While => attr::get_types(attrs, "T"),
            Kind::If | Kind::Case | Kind::Partitioned => attr::get_types(attrs, "Tout"),
            Kind::Direct => match self.targets.first() {
                Some(target) => {
                    super::body::arg_types(&target.signature.output_arg, &target.attrs, target.signature)
                }
                None => Ok(Vec::new()),
            },
        }
    }
}

impl<'a> Expansion<'a, '_> {
    /// Expands a call.
    pub(super) fn expand(&mut self, pending: Pending<'a>) -> Result<()> {
        match pending.call.kind {
            Kind::While => self.expand_while(&pending),
            Kind::If => self.expand_if(&pending),
            Kind::Case => self.expand_case(&pending),
            Kind::Partitioned | Kind::Direct => self.expand_call(&pending),
        }
    }

    fn expand_call(&mut self, pending: &Pending<'a>) -> Result<()> {
        let target = pending.call.targets.first().ok_or_else(|| invalid!("the call names no function"))?;
        let (pivot, args) = match pending.controls.as_slice() {
            [] => (pending.pivot.clone(), pending.inputs.clone()),
            // Nodes that take an argument wait for the control inputs too.
            controls => {
                let held =
                    pending.inputs.iter().map(|v| Value { text: v.text.clone(), free: true }).collect();
                (Some(self.join_controls(pending, controls)?), held)
            }
        };
        let body = self.instantiate(
            target,
            args,
            &pending.prefix,
            pivot.as_deref(),
            pending.device,
            pending.within,
        )?;
        let types = pending.call.output_types(&pending.attrs)?;
        self.finish(pending, body.outputs, &types, body.effects)
    }

    /// Returns one node that runs after all of these control inputs.
    fn join_controls(&mut self, pending: &Pending<'a>, controls: &[String]) -> Result<String> {
        if let [one] = controls {
            return Ok(one.clone());
        }
        let target = pending.call.targets.first();
        let mut name = "input_control".to_owned();
        while target.is_some_and(|t| t.def.node_def.iter().any(|n| n.name == name)) {
            name.push('_');
        }
        let name = format!("{}/{name}", pending.prefix);
        self.add(name.clone(), "NoOp", [], controls, [], pending.device)?;
        Ok(name)
    }
}
