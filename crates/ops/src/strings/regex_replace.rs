//! `RegexReplace` and `StaticRegexReplace`: replaces matches of a regular expression.

use super::pattern::{Latest, Pattern, lone, replace_each};
use millstream_graph::op::spec::{Bool, Spec, Text};
use millstream_graph::op::{BuildCx, Effect, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::Str;
use millstream_tensor::Result;

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("RegexReplace")
            .doc(
                "Replaces all matches of `pattern` in each string (or only the first, if `replace_global` \
                 is false) by `rewrite`, in which `\\1` is the text of group 1.",
            )
            .input("input", Str)
            .input("pattern", Str)
            .on_host()
            .input("rewrite", Str)
            .on_host()
            .output("output", Str)
            .attr("replace_global", Bool.or(true))
            .infer(infer)
            .kernel(Kernel::build(Effect::Pure, build)),
        OpDef::new("StaticRegexReplace")
            .doc(
                "Replaces matches as RegexReplace does, with pattern and rewrite fixed when the graph is \
                 built.",
            )
            .input("input", Str)
            .output("output", Str)
            .attr("pattern", Text)
            .attr("rewrite", Text)
            .attr("replace_global", Bool.or(true))
            .infer(|cx| cx.same_as_input())
            .kernel(Kernel::build(Effect::Pure, build_static)),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.scalar(2)?;
    cx.same_as_input()
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let all = cx.node.attrs.bool("replace_global")?;
    let latest = Latest::default();
    Ok(Box::new(move |cx: &mut KernelCx| {
        let pattern = latest.get(lone(cx, 1, "Pattern")?, Pattern::new)?;
        let rewrite = lone(cx, 2, "Rewrite")?.clone();
        replace_each(cx, &pattern, &rewrite, all)
    }))
}

fn build_static(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let attrs = &cx.node.attrs;
    let (pattern, rewrite) = (Pattern::new(attrs.str("pattern")?)?, attrs.str("rewrite")?.clone());
    let all = attrs.bool("replace_global")?;
    Ok(Box::new(move |cx: &mut KernelCx| replace_each(cx, &pattern, &rewrite, all)))
}

cases! {
    groups: r#"RegexReplace(["abcab" "é"], "a(b)", "[\\1\\0]") = ["[bab]c[bab]" "é"]"#,
    the_first_alone: r#"RegexReplace("abcab", "a(b)", "[\\1]"; replace_global=false) = "[b]cab""#,
    empty_matches: r#"RegexReplace(["abcab" "éa" ""], "x*", "-") = ["-a-b-c-a-b-" "-é-a-" "-"]"#,
    empty_after_others: r#"RegexReplace(["abcab" ""], "b|$", "<\\0>") = ["a<b>ca<b>" "<>"]"#,
    digits_are_ascii: r#"RegexReplace("1٣", "\\d", "d") = "d٣""#,
    any_byte: r#"RegexReplace("éa", "\\C", "c") = "ccc""#,
    a_missing_group_is_empty: r#"RegexReplace("abcab", "(a)", "[\\1]\\3") = "[a]bc[a]b""#,
    in_the_first_match_too: r#"RegexReplace("abcab", "a", "\\2"; replace_global=false) = "bcab""#,
    another_escape_ends_the_rewrite: r#"RegexReplace("abcab", "a", "<\\x>") = "<bc<b""#,
    and_leaves_the_first_match: r#"RegexReplace("abcab", "a", "<\\x>"; replace_global=false) = "abcab""#,
    backslashes: r#"RegexReplace("abcab", "a", "\\\\") = "\\bc\\b""#,
    fixed: r#"StaticRegexReplace(["aXb"]; pattern="[A-Z]", rewrite="-") = ["a-b"]"#,
    keeps_the_shape: "RegexReplace(str[?,3], str[], str[]) : str[?,3]",
    patterns_are_checked: r#"RegexReplace("a", "(", "x") ! Invalid pattern: (, error:"#,
    fixed_patterns_are_checked: r#"StaticRegexReplace("a"; pattern="a)(", rewrite="") ! Invalid pattern: a)(, error:"#,
    one_pattern: r#"RegexReplace("a", ["a"], "x") ! `pattern` must be a scalar"#,
}
