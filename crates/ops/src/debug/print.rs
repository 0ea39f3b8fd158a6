//! `Print`: prints tensors and returns another one.

use super::excerpt::{Written, flat};
use millstream_graph::op::spec::{AnyType, Int, Spec, Text, TypeList};
use millstream_graph::op::{BuildCx, Effect, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::{Opaque, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

pub(crate) fn def() -> OpDef {
    OpDef::new("Print")
        .doc(
            "Returns `input` unchanged, and prints `message` with the first `summarize` elements of each \
             tensor in `data`. If `first_n` is not negative, only the first `first_n` runs in a session \
             print.",
        )
        .input("input", "T")
        .input_list("data", "U")
        .output("output", "T")
        .attr("T", AnyType)
        .attr("U", TypeList)
        .attr("message", Text.or(""))
        .attr("first_n", Int.or(-1))
        .attr("summarize", Int.or(3))
        .infer(|cx| {
            cx.pass(0, 0);
            Ok(())
        })
        .kernel(Kernel::build(Effect::Stateful, build))
        .gradient(Gradient::pass())
}

/// How often the node has printed in this session.
#[derive(Debug, Default)]
struct Shown(AtomicI64);

impl Opaque for Shown {
    fn kind(&self) -> &'static str {
        "print counter"
    }
}

struct Print {
    message: String,
    first_n: i64,
    summarize: i64,
    shown: Arc<Shown>,
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let attrs = &cx.node.attrs;
    Ok(Box::new(Print {
        message: attrs.str("message")?.text().into_owned(),
        first_n: attrs.int("first_n")?,
        summarize: attrs.int("summarize")?,
        shown: cx.state(|| Ok(Shown::default()))?,
    }))
}

impl Run for Print {
    fn run(&self, cx: &mut KernelCx) -> Result<()> {
        let due = self.first_n < 0 || self.shown.0.fetch_add(1, Ordering::Relaxed) < self.first_n;
        if due {
            let mut line = Written::default();
            line.push_str(&self.message);
            for tensor in cx.inputs().iter().skip(1) {
                line.push_str("[");
                flat(tensor, self.summarize, &mut line);
                line.push_str("]");
            }
            line.push_str("\n");
            cx.env.host.print(&line.text()?);
        }
        let input = cx.take(0);
        cx.set(0, input);
        Ok(())
    }
}

cases! {
    passes_on: "Print([1 2], \"a\", f32 2; message=\"m\", summarize=1) = [1 2]",
    keeps_the_shape: "Print(f32[?,2], i32[..]) : f32[?,2]",
    needs_an_input: "Print() ! Print takes 1 inputs and 1 lists of equal length, got 0",
}

#[cfg(test)]
mod tests {
    use millstream_graph::Attrs;
    use millstream_graph::op::lone;
    use millstream_graph::op::{NodeInfo, StepHost};
    use millstream_tensor::{DType, Tensor};
    use parking_lot::Mutex;
    use std::sync::Arc;

    #[derive(Default)]
    struct Recorder(Mutex<Vec<String>>);

    impl StepHost for Recorder {
        fn print(&self, text: &str) {
            self.0.lock().push(text.to_owned());
        }
        fn threads(&self) -> usize {
            1
        }
        fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
            work();
        }
    }

    #[test]
    fn shows_the_first_times_only() {
        let host = Arc::new(Recorder::default());
        let env = millstream_graph::op::StepEnv { host: host.clone(), ..lone::env() };
        let mut attrs = Attrs::new();
        attrs.set("first_n", 2);
        attrs.set("message", "m: ");
        let op = crate::registry().get("Print").expect("declared");
        let types = [DType::I32, DType::F32, DType::Str].map(Into::into);
        let node = NodeInfo::resolve(op, "print", &types, attrs).expect("resolves");
        let data = Tensor::vector(&[1.0f32, 0.1, 1e20, 1.0 / 3.0]).expect("small");
        for _ in 0..3 {
            lone::run(&node, &env, &[Tensor::scalar(1i32), data.clone(), Tensor::str("it's")]).expect("runs");
        }
        assert_eq!(*host.0.lock(), ["m: [1 0.1 1e+20...][it\\'s]\n", "m: [1 0.1 1e+20...][it\\'s]\n"]);
    }
}
