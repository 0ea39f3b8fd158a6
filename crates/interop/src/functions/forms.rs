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
use super::{Expansion, Pending, Value, attr};
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
        let branches = [
            Branch { target: otherwise, name: "else", pred: pred_id.clone(), side: 0 },
            Branch { target: then, name: "then", pred: pred_id, side: 1 },
        ];
        self.select(pending, &branches, &args)
    }

    pub(super) fn expand_case(&mut self, pending: &Pending<'a>) -> Result<()> {
        let targets = &pending.call.targets;
        let (index, args) = self.split_selector(pending)?;
        let (p, device) = (pending.prefix.clone(), pending.device);
        let held = self.held(pending, &index);
        let index_id = format!("{p}/branch_index");
        self.add(index_id.clone(), "Identity", [index.text], &held, [("T", attr::ty(INT32))], device)?;
        // Branch k runs where the index is k; the last one also where there is no such branch.
        let mut branches = Vec::with_capacity(targets.len());
        let mut any: Option<String> = None;
        let names: Vec<String> = (0..targets.len()).map(|k| format!("branch_{k}")).collect();
        for (k, (target, name)) in targets.iter().zip(&names).enumerate() {
            let pred = match k + 1 == targets.len() {
                false => {
                    let pred = self.index_is(&index_id, k, &p, device)?;
                    any = Some(match any {
                        None => pred.clone(),
                        Some(before) => {
                            let or = numbered(&p, "LogicalOr", k - 1);
                            self.add(or.clone(), "LogicalOr", [before, pred.clone()], &[], [], device)?;
                            or
                        }
                    });
                    pred
                }
                true => match any.take() {
                    Some(any) => {
                        let not = format!("{p}/LogicalNot");
                        self.add(not.clone(), "LogicalNot", [any], &[], [], device)?;
                        not
                    }
                    None => {
                        let only = format!("{p}/only");
                        let value = TensorProto { bool_val: vec![true], ..scalar(BOOL) };
                        let attrs = [("dtype", attr::ty(BOOL)), ("value", attr::tensor(value))];
                        self.add(only.clone(), "Const", [], std::slice::from_ref(&index_id), attrs, device)?;
                        only
                    }
                },
            };
            branches.push(Branch { target, name, pred, side: 1 });
        }
        self.select(pending, &branches, &args)
    }

    fn index_is(&mut self, index: &str, k: usize, p: &str, device: &'a str) -> Result<String> {
        let (constant, equal) = (numbered(p, "index", k), numbered(p, "Equal", k));
        let k = i32::try_from(k).map_err(|_| invalid!("a Case has too many branches"))?;
        let value = TensorProto { int_val: vec![k], ..scalar(INT32) };
        let attrs = [("dtype", attr::ty(INT32)), ("value", attr::tensor(value))];
        self.add(constant.clone(), "Const", [], &[index.to_owned()], attrs, device)?;
        let inputs = [index.to_owned(), constant];
        self.add(equal.clone(), "Equal", inputs, &[], [("T", attr::ty(INT32))], device)?;
        Ok(equal)
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

    /// Runs the one branch whose predicate holds; the results are those of the branch that ran.
    fn select(&mut self, pending: &Pending<'a>, branches: &[Branch<'_, 'a>], args: &[Value]) -> Result<()> {
        let (p, device) = (&pending.prefix, pending.device);
        let types_in = attr::get_types(&pending.attrs, "Tin")?;
        let types = pending.call.output_types(&pending.attrs)?;
        let mut results: Vec<Vec<Value>> = Vec::with_capacity(branches.len());
        let mut effects = Vec::with_capacity(branches.len());
        let mut last_pred = None;
        for branch in branches {
            // The two sides of an If share their Switches.
            let shared = last_pred.as_ref() == Some(&branch.pred);
            let label =
                if branch.pred.ends_with("/pred_id") { p.clone() } else { format!("{p}/{}", branch.name) };
            if !shared {
                let inputs = [branch.pred.clone(), branch.pred.clone()];
                self.add(
                    format!("{label}/pred_switch"),
                    "Switch",
                    inputs,
                    &[],
                    [("T", attr::ty(BOOL))],
                    device,
                )?;
                for (i, (arg, ty)) in args.iter().zip(&types_in).enumerate() {
                    let inputs = [arg.text.clone(), branch.pred.clone()];
                    self.add(
                        numbered(&label, "Switch", i),
                        "Switch",
                        inputs,
                        &[],
                        [("T", attr::ty(*ty))],
                        device,
                    )?;
                }
            }
            last_pred = Some(branch.pred.clone());
            let pivot = format!("{p}/{}_pivot", branch.name);
            let side = Value::of(&format!("{label}/pred_switch"), branch.side);
            self.add(pivot.clone(), "Identity", [side.text], &[], [("T", attr::ty(BOOL))], device)?;
            let inside =
                (0..args.len()).map(|i| Value::of(&numbered(&label, "Switch", i), branch.side)).collect();
            let prefix = format!("{p}/{}", branch.name);
            let body =
                self.instantiate(branch.target, inside, &prefix, Some(&pivot), device, pending.within)?;
            ensure!(
                body.outputs.len() == types.len(),
                "the call has {} results, but the branch `{}` gives {}",
                types.len(),
                branch.name,
                body.outputs.len()
            );
            results.push(body.outputs);
            effects.push((pivot, body.effects));
        }
        let mut outputs = Vec::with_capacity(types.len());
        for (i, ty) in types.iter().enumerate() {
            let merge = numbered(p, "Merge", i);
            let from = results.iter().filter_map(|r| Some(r.get(i)?.text.clone()));
            let attrs = [("T", attr::ty(*ty)), ("N", attr::int(branches.len() as i64))];
            self.add(merge.clone(), "Merge", from, &[], attrs, device)?;
            outputs.push(Value::bound(merge));
        }
        let done = self.join_effects(pending, branches, effects, types.is_empty())?;
        self.finish(pending, outputs, &types, done)
    }

    /// A node that runs when the effects of the branch that runs have: each branch's are gathered where only that branch is alive.
    fn join_effects(
        &mut self,
        pending: &Pending<'a>,
        branches: &[Branch<'_, 'a>],
        effects: Vec<(String, Vec<String>)>,
        always: bool,
    ) -> Result<Vec<String>> {
        if !always && effects.iter().all(|(_, e)| e.is_empty()) {
            return Ok(Vec::new());
        }
        let (p, device) = (&pending.prefix, pending.device);
        let mut ends = Vec::with_capacity(branches.len());
        for (branch, (pivot, effects)) in branches.iter().zip(effects) {
            let end = format!("{p}/{}_done", branch.name);
            self.add(end.clone(), "Identity", [pivot], &effects, [("T", attr::ty(BOOL))], device)?;
            ends.push(end);
        }
        let done = format!("{p}/done");
        let attrs = [("T", attr::ty(BOOL)), ("N", attr::int(branches.len() as i64))];
        self.add(done.clone(), "Merge", ends, &[], attrs, device)?;
        Ok(vec![done])
    }
}

/// A branch, and the side of Switches on `pred` that it runs on.
struct Branch<'t, 'a> {
    target: &'t Target<'a>,
    name: &'t str,
    pred: String,
    side: usize,
}
