//! `GeneratorDataset`: the elements that a function returns until it is out of them.

use super::datasets::{
    Called, Dataset, Element, Source, Spec, calls, give, is_interrupt, makes, source, typed,
};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{Code, Result};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("GeneratorDataset").doc(
        "Returns a dataset of what `next_func` returns, until it ends with an `OUT_OF_RANGE` error. A pass \
         begins with a call of `init_func`, whose results are given to `next_func`, and at the end to \
         `finalize_func`.",
    );
    let def = calls(def, "init_func", "init_func_other_args", "Tinit_func_args");
    let def = calls(def, "next_func", "next_func_other_args", "Tnext_func_args");
    makes(typed(calls(def, "finalize_func", "finalize_func_other_args", "Tfinalize_func_args")), run)
}

struct Generator {
    init: Called,
    next: Called,
    finalize: Called,
    spec: Spec,
}

impl Dataset for Generator {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn begin(&self, _env: &StepEnv) -> Result<Source> {
        let (init, next, finalize) = (self.init.clone(), self.next.clone(), self.finalize.clone());
        let spec = self.spec.clone();
        let (mut state, mut ended): (Option<Element>, bool) = (None, false);
        Ok(source(move |env| {
            if ended {
                return Ok(None);
            }
            let state = match &mut state {
                Some(state) => state,
                None => state.insert(init.call(&[], env)?),
            };
            match next.call_for(state, &spec, env) {
                Err(error) if error.code() == Code::OutOfRange => {}
                Err(error) => {
                    // A function that has failed once has no further elements.
                    ended = !is_interrupt(&error);
                    return Err(error);
                }
                Ok(element) => return Ok(Some(element)),
            }
            ended = true;
            finalize.call(state, env)?;
            Ok(None)
        }))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let spec = Spec::of(cx.attrs())?;
    let init = Called::of(cx, "init_func", "init_func_other_args")?;
    let next = Called::of(cx, "next_func", "next_func_other_args")?;
    let finalize = Called::of(cx, "finalize_func", "finalize_func_other_args")?;
    give(cx, Generator { init, next, finalize, spec })
}

cases! {
    is_a_variant: "GeneratorDataset(f32[]; init_func=func(f), next_func=func(g), finalize_func=func(h), Tinit_func_args={f32}, Tnext_func_args={}, Tfinalize_func_args={}, output_types={f32}, output_shapes={shape[?]}) : variant[]",
    calls_functions: "GeneratorDataset(; init_func=func(f), next_func=func(g), finalize_func=func(h), Tinit_func_args={}, Tnext_func_args={}, Tfinalize_func_args={}, output_types={i32}, output_shapes={shape[]}) ! no function `f`",
}
