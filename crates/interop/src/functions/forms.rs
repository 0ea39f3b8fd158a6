//! `While`, `If` and `Case` as control-flow primitives.
//!
//! ```text
//! init ─► Enter ─► Merge ─┬────────────────► Switch ─false─► Exit ─► result
//!                   ▲     │                   ▲  │
//!                   │     └─► cond ─► LoopCond┘  └─true─► Identity ─► body ─┐
//!                   └─────────────── NextIteration ◄────────────────────────┘
//! ```
//!
//! The graph does not exist yet when calls are expanded, so the primitives are messages; [`Primitive`]
//! defines them. A variable that the body passes through becomes an invariant: a constant `Enter`, and its
//! result is the initial value. So the facts about a handle are kept, and a bound does not wait for the body.
//! Nodes with an effect in the body run before the next iteration.

use super::body::{only_type, passes_through};
use super::calls::Target;
use super::{AttrMap, Body, Expansion, Pending, Value, attr};
use crate::attrs;
use millstream_graph::flow::Primitive;
use millstream_proto::{AttrValue, DataType, TensorProto, TensorShapeProto};
use millstream_tensor::{Result, ensure, invalid};

const BOOL: i32 = DataType::DtBool as i32;
const INT32: i32 = DataType::DtInt32 as i32;

/// A loop variable or invariant.
struct Variable {
    init: Value,
    ty: i32,
    shape: Option<TensorShapeProto>,
    /// The position among the variables. `None` for an invariant.
    number: Option<usize>,
}

/// Returns `Enter`, `Enter_1`, ..
fn numbered(prefix: &str, op: &str, number: usize) -> String {
    match number {
        0 => format!("{prefix}/{op}"),
        n => format!("{prefix}/{op}_{n}"),
    }
}

fn scalar(dtype: i32) -> TensorProto {
    TensorProto { dtype, tensor_shape: Some(TensorShapeProto::default()), ..TensorProto::default() }
}

impl<'a> Expansion<'a, '_> {
    /// Returns the control inputs of a node with this input.
    fn held(&self, pending: &Pending<'a>, input: &Value) -> Vec<String> {
        match (pending.controls.as_slice(), &pending.pivot) {
            ([], Some(pivot)) if input.free => vec![pivot.clone()],
            (controls, _) => controls.to_vec(),
        }
    }

    /// Returns the value, held back by the pivot if nothing else holds it back.
    fn bind(&mut self, value: Value, ty: i32, pivot: &str, name: String, device: &'a str) -> Result<Value> {
        if !value.free {
            return Ok(value);
        }
        let pivot = [pivot.to_owned()];
        self.add(name.clone(), "Identity", [value.text], &pivot, [("T", attr::ty(ty))], device)?;
        Ok(Value::bound(name))
    }

    /// Returns a predicate of any type as a bool.
    fn as_bool(&mut self, value: Value, ty: i32, name: String, device: &'a str) -> Result<Value> {
        if ty == BOOL {
            return Ok(value);
        }
        self.add(name.clone(), "ToBool", [value.text], &[], [("T", attr::ty(ty))], device)?;
        Ok(Value { text: name, free: value.free })
    }

    /// Adds a primitive of a loop whose values are of type `ty`.
    fn primitive(
        &mut self,
        name: String,
        made: Primitive<String>,
        ty: Option<i32>,
        controls: &[String],
        more: Vec<(&'static str, AttrValue)>,
        device: &'a str,
    ) -> Result<()> {
        let mut all = AttrMap::new();
        for (name, value) in made.attrs.iter() {
            all.insert(name.to_owned(), attrs::encode(value)?);
        }
        let more = ty.map(|ty| ("T", attr::ty(ty))).into_iter().chain(more);
        all.extend(more.map(|(name, value)| (name.to_owned(), value)));
        self.add_with(name, made.op, made.inputs, controls, all, device)
    }

    pub(super) fn expand_while(&mut self, pending: &Pending<'a>) -> Result<()> {
        let [cond, body] = pending.call.targets.as_slice() else {
            return Err(invalid!("a While has two functions"));
        };
        let types = attr::get_types(&pending.attrs, "T")?;
        ensure!(
            types.len() == pending.inputs.len(),
            "the While has {} variables by its attribute `T`, but {} inputs",
            types.len(),
            pending.inputs.len()
        );
        let mut variables = self.variables(pending, body, &types)?;
        if variables.iter().all(|v| v.number.is_none()) {
            variables.push(self.dummy(pending)?);
        }
        let entered = self.enter_loop(pending, &variables)?;
        let loop_cond = self.condition(pending, cond, &variables, &entered, types.len())?;
        self.iterate(pending, body, &variables, &entered, &loop_cond, types.len())?;
        let p = &pending.prefix;
        let exit = |v: &Variable| match v.number {
            Some(k) => Value::bound(numbered(p, "Exit", k)),
            None => v.init.clone(),
        };
        let outputs: Vec<Value> = variables.iter().take(types.len()).map(exit).collect();
        // If all results are initial values, the call still waits for the end of the loop.
        let ends = match variables.iter().take(types.len()).any(|v| v.number.is_some()) {
            true => Vec::new(),
            false => vec![numbered(p, "Exit", 0)],
        };
        self.finish(pending, outputs, &types, ends)
    }

    fn variables(&self, pending: &Pending<'a>, body: &Target<'a>, types: &[i32]) -> Result<Vec<Variable>> {
        let shapes = attr::get_shapes(&pending.attrs, "output_shapes");
        ensure!(
            shapes.is_empty() || shapes.len() == types.len(),
            "the While has {} variables, but {} in `output_shapes`",
            types.len(),
            shapes.len()
        );
        let mut number = 0;
        let variable = |(i, (init, ty)): (usize, (&Value, &i32))| {
            let own = (!passes_through(body, i)).then(|| {
                number += 1;
                number - 1
            });
            Variable { init: init.clone(), ty: *ty, shape: shapes.get(i).cloned(), number: own }
        };
        Ok(pending.inputs.iter().zip(types).enumerate().map(variable).collect())
    }

    /// Makes a variable for a loop that has none and runs only for its effects.
    fn dummy(&mut self, pending: &Pending<'a>) -> Result<Variable> {
        let name = format!("{}/token", pending.prefix);
        let held = self.held(pending, &Value { text: String::new(), free: true });
        let attrs = [("dtype", attr::ty(BOOL)), ("value", attr::tensor(scalar(BOOL)))];
        self.add(name.clone(), "Const", [], &held, attrs, pending.device)?;
        Ok(Variable { init: Value::bound(name), ty: BOOL, shape: None, number: Some(0) })
    }

    /// Makes the Enters and Merges. Returns each variable as the condition sees it.
    fn enter_loop(&mut self, pending: &Pending<'a>, variables: &[Variable]) -> Result<Vec<Value>> {
        let (p, device) = (&pending.prefix, pending.device);
        let frame = format!("{p}/while_context");
        let parallel = pending.attrs.get("parallel_iterations").cloned();
        let given: Vec<_> = parallel.into_iter().map(|n| ("parallel_iterations", n)).collect();
        let mut entered = Vec::with_capacity(variables.len());
        let mut n_invariants = 0;
        for v in variables {
            let enter = match v.number {
                Some(k) => numbered(p, "Enter", k),
                None => {
                    n_invariants += 1;
                    numbered(p, "invariant", n_invariants - 1)
                }
            };
            let held = self.held(pending, &v.init);
            let made = Primitive::enter(v.init.text.clone(), &frame, v.number.is_none(), 10);
            self.primitive(enter.clone(), made, Some(v.ty), &held, given.clone(), device)?;
            entered.push(match v.number {
                None => Value { text: enter, free: true },
                Some(k) => {
                    let merge = numbered(p, "Merge", k);
                    let made = Primitive::merge(enter, numbered(p, "NextIteration", k));
                    let mut more = vec![("N", attr::int(2))];
                    if let Some(shape) = &v.shape {
                        let shapes = vec![shape.clone(), TensorShapeProto::default()];
                        more.push(("_output_shapes", attr::shapes(shapes)));
                    }
                    self.primitive(merge.clone(), made, Some(v.ty), &[], more, device)?;
                    Value::bound(merge)
                }
            });
        }
        Ok(entered)
    }

    fn condition(
        &mut self,
        pending: &Pending<'a>,
        cond: &Target<'a>,
        variables: &[Variable],
        entered: &[Value],
        n_args: usize,
    ) -> Result<String> {
        let (p, device) = (&pending.prefix, pending.device);
        let pivot = numbered(p, "Merge", 0);
        let args = entered.iter().take(n_args).cloned().collect();
        let result =
            self.instantiate(cond, args, &format!("{p}/cond"), Some(&pivot), device, pending.within)?;
        debug_assert!(!variables.is_empty());
        let ty = only_type(cond)?;
        let value =
            result.outputs.into_iter().next().ok_or_else(|| invalid!("the condition gives no value"))?;
        let value = self.bind(value, ty, &pivot, format!("{p}/cond_result"), device)?;
        let value = self.as_bool(value, ty, format!("{p}/ToBool"), device)?;
        let name = format!("{p}/LoopCond");
        let made = Primitive::loop_cond(value.text);
        self.primitive(name.clone(), made, None, &result.effects, Vec::new(), device)?;
        Ok(name)
    }

    fn iterate(
        &mut self,
        pending: &Pending<'a>,
        body: &Target<'a>,
        variables: &[Variable],
        entered: &[Value],
        loop_cond: &str,
        n_args: usize,
    ) -> Result<()> {
        let (p, device) = (&pending.prefix, pending.device);
        let mut args = Vec::with_capacity(variables.len());
        for (v, value) in variables.iter().zip(entered) {
            let Some(k) = v.number else {
                args.push(value.clone());
                continue;
            };
            let (switch, identity) = (numbered(p, "Switch", k), numbered(p, "Identity", k));
            let nodes = [
                (switch.clone(), Primitive::switch(value.text.clone(), loop_cond.to_owned())),
                (identity.clone(), Primitive::identity(Value::of(&switch, 1).text)),
                (numbered(p, "Exit", k), Primitive::exit(Value::of(&switch, 0).text)),
            ];
            for (name, made) in nodes {
                self.primitive(name, made, Some(v.ty), &[], Vec::new(), device)?;
            }
            args.push(Value::bound(identity));
        }
        let pivot = numbered(p, "Identity", 0);
        // The dummy variable is no argument of the body.
        let token = args.split_off(n_args);
        let result =
            self.instantiate(body, args, &format!("{p}/body"), Some(&pivot), device, pending.within)?;
        ensure!(
            result.outputs.len() == n_args,
            "the While has {n_args} variables, but its body gives {} values",
            result.outputs.len()
        );
        for (v, value) in variables.iter().zip(result.outputs.into_iter().chain(token)) {
            let Some(k) = v.number else { continue };
            let value = self.bind(value, v.ty, &pivot, numbered(p, "body_result", k), device)?;
            let (next, made) = (numbered(p, "NextIteration", k), Primitive::next_iteration(value.text));
            self.primitive(next, made, Some(v.ty), &result.effects, Vec::new(), device)?;
        }
        Ok(())
    }

    pub(super) fn expand_if(&mut self, pending: &Pending<'a>) -> Result<()> {
        let [then, otherwise] = pending.call.targets.as_slice() else {
            return Err(invalid!("an If has two functions"));
        };
        let (pred, args) = self.split_selector(pending)?;
        let (p, device) = (pending.prefix.clone(), pending.device);
        let ty = attr::get_type(&pending.attrs, "Tcond")?;
        let held = self.held(pending, &pred);
        let pred = self.as_bool(pred, ty, format!("{p}/ToBool"), device)?;
        let pred_id = format!("{p}/pred_id");
        self.add(pred_id.clone(), "Identity", [pred.text], &held, [("T", attr::ty(BOOL))], device)?;
        let fork = Fork { label: p.clone(), pred: pred_id, target: then, name: "then".into() };
        self.select(pending, vec![fork], (otherwise, "else"), args, None)
    }

    /// Expands a Case to nested conds, so that contexts and gradients are those of conds: branch `k` runs if
    /// the index is `k`, the last one also if the index is out of range.
    pub(super) fn expand_case(&mut self, pending: &Pending<'a>) -> Result<()> {
        let (last, before) =
            pending.call.targets.split_last().ok_or_else(|| invalid!("a Case needs at least one branch"))?;
        let (index, args) = self.split_selector(pending)?;
        let p = &pending.prefix;
        let held = self.held(pending, &index);
        let index_id = format!("{p}/branch_index");
        self.add(
            index_id.clone(),
            "Identity",
            [index.text],
            &held,
            [("T", attr::ty(INT32))],
            pending.device,
        )?;
        let fork = |(k, target)| Fork {
            label: if k == 0 { p.clone() } else { format!("{p}/else_{k}") },
            pred: numbered(p, "Equal", k),
            target,
            name: format!("branch_{k}"),
        };
        let forks = before.iter().enumerate().map(fork).collect();
        self.select(pending, forks, (last, &format!("branch_{}", before.len())), args, Some(index_id))
    }

    /// Makes `Equal_k`: whether the index is `k`. The constant `k` waits for `pivot`.
    fn index_is(&mut self, index: &str, k: usize, pivot: &str, p: &str, device: &'a str) -> Result<()> {
        let constant = numbered(p, "index", k);
        let number = i32::try_from(k).map_err(|_| invalid!("a Case has too many branches"))?;
        let value = TensorProto { int_val: vec![number], ..scalar(INT32) };
        let attrs = [("dtype", attr::ty(INT32)), ("value", attr::tensor(value))];
        self.add(constant.clone(), "Const", [], &[pivot.to_owned()], attrs, device)?;
        let inputs = [index.to_owned(), constant];
        self.add(numbered(p, "Equal", k), "Equal", inputs, &[], [("T", attr::ty(INT32))], device)
    }

    /// Returns the first input, which selects the branch, and the arguments of the branches.
    fn split_selector(&self, pending: &Pending<'a>) -> Result<(Value, Vec<Value>)> {
        let (selector, args) =
            pending.inputs.split_first().ok_or_else(|| invalid!("the call needs a value to choose by"))?;
        let types = attr::get_types(&pending.attrs, "Tin")?;
        ensure!(
            types.len() == args.len(),
            "the call has {} arguments by its attribute `Tin`, but {} inputs after the first",
            types.len(),
            args.len()
        );
        Ok((selector.clone(), args.to_vec()))
    }

    /// Expands to the target of the first fork whose predicate holds, or else the last one. With an index,
    /// the predicate of fork `k` is whether the index is `k`.
    fn select(
        &mut self,
        pending: &Pending<'a>,
        forks: Vec<Fork<'_, 'a>>,
        last: (&Target<'a>, &str),
        mut args: Vec<Value>,
        index: Option<String>,
    ) -> Result<()> {
        let (p, device) = (&pending.prefix, pending.device);
        let types_in = attr::get_types(&pending.attrs, "Tin")?;
        let types = pending.call.output_types(&pending.attrs)?;
        let boolean = || [("T", attr::ty(BOOL))];
        // The pivot of the current branch, and the index as it is known there.
        let mut pivot = index.clone().unwrap_or_default();
        let mut index = index;
        let mut taken = Vec::with_capacity(forks.len());
        for (k, fork) in forks.iter().enumerate() {
            let Fork { label, pred, target, name } = fork;
            if let Some(index) = &index {
                self.index_is(index, k, &pivot, p, device)?;
            }
            let switch = format!("{label}/pred_switch");
            self.add(switch.clone(), "Switch", [pred.clone(), pred.clone()], &[], boolean(), device)?;
            let (around, inside) = self.switched(label, pred, &args, &types_in, device)?;
            let next = if k + 1 < forks.len() {
                format!("{label}/else_pivot")
            } else {
                format!("{p}/{}_pivot", last.1)
            };
            pivot = format!("{p}/{name}_pivot");
            self.add(next.clone(), "Identity", [switch.clone()], &[], boolean(), device)?;
            self.add(pivot.clone(), "Identity", [format!("{switch}:1")], &[], boolean(), device)?;
            taken.push(self.branch(pending, target, name, inside, &pivot, &types)?);
            if let Some(before) = index.take_if(|_| k + 1 < forks.len()) {
                let switch = format!("{label}/index_switch");
                let inputs = [before, pred.clone()];
                self.add(switch.clone(), "Switch", inputs, &[], [("T", attr::ty(INT32))], device)?;
                index = Some(switch);
            } else {
                index = None;
            }
            (args, pivot) = (around, next);
        }
        if forks.is_empty() {
            // There is no predicate: nodes that take an argument wait for the index too.
            args.iter_mut().for_each(|arg| arg.free = true);
        }
        let mut result = self.branch(pending, last.0, last.1, args, &pivot, &types)?;
        // From the innermost cond outwards.
        let waits =
            types.is_empty() || !result.effects.is_empty() || taken.iter().any(|b| !b.effects.is_empty());
        let mut done = waits.then(|| self.end(pending, last.1, &pivot, &result.effects)).transpose()?;
        for (fork, branch) in forks.iter().zip(taken).rev() {
            self.merge(&fork.label, &mut result.outputs, &branch.outputs, &types, device)?;
            if let Some(before) = done.take() {
                let end =
                    self.end(pending, &fork.name, &format!("{p}/{}_pivot", fork.name), &branch.effects)?;
                let merge = format!("{}/done", fork.label);
                let attrs = [("T", attr::ty(BOOL)), ("N", attr::int(2))];
                self.add(merge.clone(), "Merge", [before, end], &[], attrs, device)?;
                done = Some(merge);
            }
        }
        self.finish(pending, result.outputs, &types, done.into_iter().collect())
    }

    /// Makes a `Switch` of each argument. Returns the values outside and inside of the branch that `pred`
    /// takes.
    fn switched(
        &mut self,
        label: &str,
        pred: &str,
        args: &[Value],
        types: &[i32],
        device: &'a str,
    ) -> Result<(Vec<Value>, Vec<Value>)> {
        let mut sides = (Vec::with_capacity(args.len()), Vec::with_capacity(args.len()));
        for (i, (arg, ty)) in args.iter().zip(types).enumerate() {
            let switch = numbered(label, "Switch", i);
            let inputs = [arg.text.clone(), pred.to_owned()];
            self.add(switch.clone(), "Switch", inputs, &[], [("T", attr::ty(*ty))], device)?;
            sides.0.push(Value::of(&switch, 0));
            sides.1.push(Value::of(&switch, 1));
        }
        Ok(sides)
    }

    /// Makes a `Merge` of each output of two branches and puts it into `outputs`.
    fn merge(
        &mut self,
        label: &str,
        outputs: &mut [Value],
        taken: &[Value],
        types: &[i32],
        device: &'a str,
    ) -> Result<()> {
        for (i, ((value, other), ty)) in outputs.iter_mut().zip(taken).zip(types).enumerate() {
            let merge = numbered(label, "Merge", i);
            let from = [value.text.clone(), other.text.clone()];
            let attrs = [("T", attr::ty(*ty)), ("N", attr::int(2))];
            self.add(merge.clone(), "Merge", from, &[], attrs, device)?;
            *value = Value::bound(merge);
        }
        Ok(())
    }

    /// Expands the body of a branch.
    fn branch(
        &mut self,
        pending: &Pending<'a>,
        target: &Target<'a>,
        name: &str,
        args: Vec<Value>,
        pivot: &str,
        types: &[i32],
    ) -> Result<Body> {
        let prefix = format!("{}/{name}", pending.prefix);
        let body = self.instantiate(target, args, &prefix, Some(pivot), pending.device, pending.within)?;
        ensure!(
            body.outputs.len() == types.len(),
            "the call has {} results, but the branch `{name}` gives {}",
            types.len(),
            body.outputs.len()
        );
        Ok(body)
    }

    /// Makes a node that runs after the effects of a branch, if that branch is taken.
    fn end(&mut self, pending: &Pending<'a>, name: &str, pivot: &str, effects: &[String]) -> Result<String> {
        let (end, op) = (format!("{}/{name}_done", pending.prefix), "Identity");
        let ty = if pivot.ends_with("/branch_index") { INT32 } else { BOOL };
        self.add(end.clone(), op, [pivot.to_owned()], effects, [("T", attr::ty(ty))], pending.device)?;
        Ok(end)
    }
}

/// A cond: the branch that is taken if `pred` holds, and the prefix of the cond's own nodes.
struct Fork<'t, 'a> {
    label: String,
    pred: String,
    target: &'t Target<'a>,
    name: String,
}
