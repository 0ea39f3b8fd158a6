//! `While`, `If` and `Case` as control-flow primitives.
//!
//! ```text
//! init ─► Enter ─► Merge ─┬────────────────► Switch ─false─► Exit ─► result
//!                   ▲     │                   ▲  │
//!                   │     └─► cond ─► LoopCond┘  └─true─► Identity ─► body ─┐
//!                   └─────────────── NextIteration ◄────────────────────────┘
//! ```
//!
//! A variable that the body passes through is an invariant instead: a constant `Enter`, and its result is the value that came in. So a
//! handle keeps what is known of it, and a bound does not wait for the body. What has an effect in the body runs before the
//! next iteration does.

use super::body::{only_type, passes_through};
use super::calls::Target;
use super::{Body, Expansion, Pending, Value, attr};
use millstream_proto::{DataType, TensorProto, TensorShapeProto};
use millstream_tensor::{Result, ensure, invalid};

const BOOL: i32 = DataType::DtBool as i32;
const INT32: i32 = DataType::DtInt32 as i32;

/// A loop variable or invariant.
struct Variable {
    init: Value,
    ty: i32,
    shape: Option<TensorShapeProto>,
    /// Position among the variables; none for an invariant.
    number: Option<usize>,
}

/// `Enter`, `Enter_1`, ..
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
    /// What a node made of one input waits for.
    fn held(&self, pending: &Pending<'a>, input: &Value) -> Vec<String> {
        match (pending.controls.as_slice(), &pending.pivot) {
            ([], Some(pivot)) if input.free => vec![pivot.clone()],
            (controls, _) => controls.to_vec(),
        }
    }

    /// The value, held back by the pivot if nothing else does.
    fn bind(&mut self, value: Value, ty: i32, pivot: &str, name: String, device: &'a str) -> Result<Value> {
        if !value.free {
            return Ok(value);
        }
        let pivot = [pivot.to_owned()];
        self.add(name.clone(), "Identity", [value.text], &pivot, [("T", attr::ty(ty))], device)?;
        Ok(Value::bound(name))
    }

    /// A predicate of any type as a bool.
    fn as_bool(&mut self, value: Value, ty: i32, name: String, device: &'a str) -> Result<Value> {
        if ty == BOOL {
            return Ok(value);
        }
        self.add(name.clone(), "ToBool", [value.text], &[], [("T", attr::ty(ty))], device)?;
        Ok(Value { text: name, free: value.free })
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
        // Where all results are what came in, the call still ends with the loop.
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

    /// Something to go round, for a loop that changes nothing but what its effects change.
    fn dummy(&mut self, pending: &Pending<'a>) -> Result<Variable> {
        let name = format!("{}/token", pending.prefix);
        let held = self.held(pending, &Value { text: String::new(), free: true });
        let attrs = [("dtype", attr::ty(BOOL)), ("value", attr::tensor(scalar(BOOL)))];
        self.add(name.clone(), "Const", [], &held, attrs, pending.device)?;
        Ok(Variable { init: Value::bound(name), ty: BOOL, shape: None, number: Some(0) })
    }

    /// The Enters and Merges; gives what each variable is in an iteration, before the condition.
    fn enter_loop(&mut self, pending: &Pending<'a>, variables: &[Variable]) -> Result<Vec<Value>> {
        let p = &pending.prefix;
        let frame = format!("{p}/while_context");
        let parallel = pending.attrs.get("parallel_iterations").cloned().unwrap_or_else(|| attr::int(10));
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
            let attrs = [
                ("T", attr::ty(v.ty)),
                ("frame_name", attr::text(&frame)),
                ("is_constant", attr::bool(v.number.is_none())),
                ("parallel_iterations", parallel.clone()),
            ];
            let held = self.held(pending, &v.init);
            self.add(enter.clone(), "Enter", [v.init.text.clone()], &held, attrs, pending.device)?;
            entered.push(match v.number {
                None => Value { text: enter, free: true },
                Some(k) => {
                    let merge = numbered(p, "Merge", k);
                    let mut attrs = vec![("T", attr::ty(v.ty)), ("N", attr::int(2))];
                    if let Some(shape) = &v.shape {
                        attrs.push((
                            "_output_shapes",
                            attr::shapes(vec![shape.clone(), TensorShapeProto::default()]),
                        ));
                    }
                    let back = numbered(p, "NextIteration", k);
                    self.add(merge.clone(), "Merge", [enter, back], &[], attrs, pending.device)?;
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
        self.add(name.clone(), "LoopCond", [value.text], &result.effects, [], device)?;
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
            let ty = || [("T", attr::ty(v.ty))];
            self.add(
                switch.clone(),
                "Switch",
                [value.text.clone(), loop_cond.to_owned()],
                &[],
                ty(),
                device,
            )?;
            self.add(identity.clone(), "Identity", [format!("{switch}:1")], &[], ty(), device)?;
            self.add(numbered(p, "Exit", k), "Exit", [switch], &[], ty(), device)?;
            args.push(Value::bound(identity));
        }
        let pivot = numbered(p, "Identity", 0);
        // The stand-in for a variable is no argument of the body.
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
            let next = numbered(p, "NextIteration", k);
            self.add(next, "NextIteration", [value.text], &result.effects, [("T", attr::ty(v.ty))], device)?;
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

    /// Nested conds, so that contexts and gradients are those of conds: branch `k` runs where the index is `k`, the last one also where
    /// there is no such branch.
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

    /// Makes `Equal_k`: whether the index is `k`. The number waits for `pivot`.
    fn index_is(&mut self, index: &str, k: usize, pivot: &str, p: &str, device: &'a str) -> Result<()> {
        let constant = numbered(p, "index", k);
        let number = i32::try_from(k).map_err(|_| invalid!("a Case has too many branches"))?;
        let value = TensorProto { int_val: vec![number], ..scalar(INT32) };
        let attrs = [("dtype", attr::ty(INT32)), ("value", attr::tensor(value))];
        self.add(constant.clone(), "Const", [], &[pivot.to_owned()], attrs, device)?;
        let inputs = [index.to_owned(), constant];
        self.add(numbered(p, "Equal", k), "Equal", inputs, &[], [("T", attr::ty(INT32))], device)
    }

    /// The first input, which selects the branch, and the arguments of the branches.
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

    /// Runs the target of the first fork whose predicate holds, or the last one. With an index, fork `k` asks whether it is `k`.
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
        // What the nodes of a branch hang on, and the index as it gets there.
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
            for (i, (arg, ty)) in args.iter().zip(&types_in).enumerate() {
                let inputs = [arg.text.clone(), pred.clone()];
                self.add(
                    numbered(label, "Switch", i),
                    "Switch",
                    inputs,
                    &[],
                    [("T", attr::ty(*ty))],
                    device,
                )?;
            }
            let side =
                |side| (0..args.len()).map(|i| Value::of(&numbered(label, "Switch", i), side)).collect();
            let (inside, around): (Vec<Value>, Vec<Value>) = (side(1), side(0));
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
            // Nothing chooses: whatever takes an argument waits for the index too.
            args.iter_mut().for_each(|arg| arg.free = true);
        }
        let mut result = self.branch(pending, last.0, last.1, args, &pivot, &types)?;
        // From the innermost cond outwards.
        let waits =
            types.is_empty() || !result.effects.is_empty() || taken.iter().any(|b| !b.effects.is_empty());
        let mut done = waits.then(|| self.end(pending, last.1, &pivot, &result.effects)).transpose()?;
        for (fork, branch) in forks.iter().zip(taken).rev() {
            for (i, (value, ty)) in result.outputs.iter_mut().zip(&types).enumerate() {
                let merge = numbered(&fork.label, "Merge", i);
                let from = [value.text.clone(), branch.outputs[i].text.clone()];
                self.add(
                    merge.clone(),
                    "Merge",
                    from,
                    &[],
                    [("T", attr::ty(*ty)), ("N", attr::int(2))],
                    device,
                )?;
                *value = Value::bound(merge);
            }
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

    /// The body of a branch.
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

    /// A node that runs when the effects of a branch have, where that branch is alive.
    fn end(&mut self, pending: &Pending<'a>, name: &str, pivot: &str, effects: &[String]) -> Result<String> {
        let (end, op) = (format!("{}/{name}_done", pending.prefix), "Identity");
        let ty = if pivot.ends_with("/branch_index") { INT32 } else { BOOL };
        self.add(end.clone(), op, [pivot.to_owned()], effects, [("T", attr::ty(ty))], pending.device)?;
        Ok(end)
    }
}

/// A cond: the branch that is taken where `pred` holds, and what the names of its own nodes start with.
struct Fork<'t, 'a> {
    label: String,
    pred: String,
    target: &'t Target<'a>,
    name: String,
}
