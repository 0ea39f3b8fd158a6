//! `RegexFullMatch` and `StaticRegexFullMatch`: whether a regular expression matches whole strings.

use super::pattern::{Latest, Pattern, lone};
use crate::shared::strings::each;
use millstream_graph::op::spec::Text;
use millstream_graph::op::{BuildCx, Effect, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::{Bool, Str};
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("RegexFullMatch")
            .doc("Returns whether `pattern` matches each whole string.")
            .input("input", Str)
            .input("pattern", Str)
            .on_host()
            .output("output", Bool)
            .infer(infer)
            .kernel(Kernel::build(Effect::Pure, build)),
        OpDef::new("StaticRegexFullMatch")
            .doc(
                "Returns whether `pattern`, which is fixed when the graph is built, matches each whole \
                 string.",
            )
            .input("input", Str)
            .output("output", Bool)
            .attr("pattern", Text)
            .infer(|cx| cx.same_as_input())
            .kernel(Kernel::build(Effect::Pure, build_static)),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.same_as_input()
}

fn build(_: &BuildCx) -> Result<Box<dyn Run>> {
    let latest = Latest::default();
    Ok(Box::new(move |cx: &mut KernelCx| {
        let pattern = latest.get(lone(cx, 1, "Pattern")?, Pattern::whole)?;
        run(cx, &pattern)
    }))
}

fn build_static(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let pattern = Pattern::whole(cx.node.attrs.str("pattern")?)?;
    Ok(Box::new(move |cx: &mut KernelCx| run(cx, &pattern)))
}

fn run(cx: &mut KernelCx, pattern: &Pattern) -> Result<()> {
    let pattern = pattern.clone();
    let matches = each(cx, move |s| pattern.is_match(s))?;
    let result = Tensor::from_slice(cx.input(0).shape().clone(), &matches)?;
    cx.set(0, result);
    Ok(())
}

cases! {
    matches: r#"RegexFullMatch(["ab" "b" "abc"], "a.*") = [true false true]"#,
    the_longer_way: r#"RegexFullMatch("ab", "a|ab") = true"#,
    lines_end_a_dot: r#"RegexFullMatch("ab\n", "a.*") = false"#,
    fixed: r#"StaticRegexFullMatch(["12" "1a"]; pattern="\d+") = [true false]"#,
    keeps_the_shape: "RegexFullMatch(str[?,3], str[]) : bool[?,3]",
    short_patterns: "RegexFullMatch(\"a\", ReduceJoin(Fill([300000], \"a\"), 0)) ! `pattern` has 300000 bytes, but a pattern has at most 262144",
    patterns_are_checked: r#"RegexFullMatch("a", ")|(") ! Invalid pattern: )|(, error:"#,
}
