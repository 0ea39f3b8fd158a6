//! Invalid graphs: each import fails with an error that names the fault, and leaves the graph as it was.

use millstream_graph::op::Registry;
use millstream_graph::{Graph, MAX_DEPTH};
use millstream_interop::{
    Element, ImportOptions, export_graph_def, import_graph_def, read_graph, read_graph_within,
};
use millstream_proto::{GraphDef, from_text};
use millstream_tensor::{Code, Error, PartialShape};
use std::fmt::Write;

fn empty() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn parse(text: &str) -> GraphDef {
    from_text(text).unwrap()
}

fn error_with(text: &str, options: &ImportOptions) -> Error {
    let graph = empty();
    let error = match import_graph_def(&graph, &parse(text), options) {
        Ok(_) => panic!("the graph was imported"),
        Err(error) => error,
    };
    assert_eq!(graph.len(), 0, "nodes were left: {error}");
    graph.check().unwrap();
    error
}

/// A library that was built without the feature `input` has no declaration of its ops, but knows them.
#[test]
fn a_feature_that_is_off_is_named() {
    let defs = millstream_ops::defs().into_iter().filter(|def| def.name != "DecodePng");
    let library = Registry::new(defs).with_features(millstream_ops::feature_of);
    let graph = Graph::with_ops(Box::leak(Box::new(library)));
    let def = parse("node { name: 'a' op: 'DecodePng' } node { name: 'b' op: 'Frobnicate' }");
    let error = import_graph_def(&graph, &def, &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("lacks 2 op types") && error.contains("turn on `input` of"), "{error}");
    graph.op("DecodePng").input("png").output();
    let error = graph.check().unwrap_err().to_string();
    assert!(error.contains("turn on the feature `input`"), "{error}");
}

#[track_caller]
fn refused(text: &str, says: &str) {
    let error = error_with(text, &ImportOptions::default()).to_string();
    assert!(error.contains(says), "{error}");
}

/// A graph with `version 100`, so that its shapes are taken as they are.
const NEW: &str = "versions { producer: 100 }";

fn constant(name: &str, dtype: &str, value: &str) -> String {
    format!(
        "node {{ name: '{name}' op: 'Const' attr {{ key: 'dtype' value {{ type: {dtype} }} }}
           attr {{ key: 'value' value {{ tensor {{ dtype: {dtype} {value} }} }} }} }}"
    )
}

fn enter(name: &str, input: &str, frame: &str, parallel: i64) -> String {
    format!(
        "node {{ name: '{name}' op: 'Enter' input: '{input}' attr {{ key: 'T' value {{ type: DT_INT32 }} }}
           attr {{ key: 'frame_name' value {{ s: '{frame}' }} }}
           attr {{ key: 'parallel_iterations' value {{ i: {parallel} }} }} }}"
    )
}

fn unary(name: &str, op: &str, input: &str) -> String {
    format!(
        "node {{ name: '{name}' op: '{op}' input: '{input}' attr {{ key: 'T' value {{ type: DT_INT32 }} }} }}"
    )
}

fn merge(name: &str, a: &str, b: &str) -> String {
    merge_of(name, &[a, b])
}

fn merge_of(name: &str, inputs: &[&str]) -> String {
    let (all, n) = (inputs.iter().map(|i| format!("input: '{i}' ")).collect::<String>(), inputs.len());
    format!(
        "node {{ name: '{name}' op: 'Merge' {all}
           attr {{ key: 'T' value {{ type: DT_INT32 }} }} attr {{ key: 'N' value {{ i: {n} }} }} }}"
    )
}

fn one() -> String {
    constant("one", "DT_INT32", "tensor_shape {} int_val: 1")
}

#[test]
fn exit_without_enter() {
    refused(&(one() + &unary("e", "Exit", "one")), "the Exit `e` has no Enter above it");
}

#[test]
fn next_iteration_outside_of_loops_and_into_other_ops() {
    refused(&(one() + &unary("n", "NextIteration", "one")), "is outside every loop");
    let text =
        one() + &enter("in", "one", "f", 1) + &unary("n", "NextIteration", "in") + &unary("x", "Neg", "n");
    refused(&text, "the NextIteration `n` feeds `x` (Neg)");
}

#[test]
fn back_edge_from_another_frame() {
    let text = one()
        + &enter("a", "one", "f", 1)
        + &enter("b", "one", "g", 1)
        + &unary("n", "NextIteration", "b")
        + &merge("m", "a", "n");
    refused(&text, "the back edge of `m` comes from `n` in another frame");
}

#[test]
fn merge_of_nothing_but_back_edges() {
    let text = unary("n", "NextIteration", "m") + &merge("m", "n", "n");
    refused(&text, "all inputs of the Merge are back edges");
}

#[test]
fn merge_of_two_enters_and_a_back_edge() {
    let text = one()
        + &enter("a", "one", "f", 1)
        + &enter("b", "one", "f", 1)
        + &unary("n", "NextIteration", "m")
        + &merge_of("m", &["a", "b", "n"]);
    refused(&text, "this one has 3 with 1 from NextIterations");
}

#[test]
fn merge_without_inputs() {
    refused(
        "node { name: 'm' op: 'Merge' attr { key: 'T' value { type: DT_INT32 } } attr { key: 'N' value { i: 0 } } }",
        "attribute `N` is 0",
    );
}

#[test]
fn cycle_without_next_iteration() {
    let text = unary("a", "Neg", "c") + &unary("b", "Neg", "a") + &unary("c", "Neg", "b");
    refused(&text, "the graph has a cycle without a NextIteration");
    refused(&text, " nodes in a cycle");
}

#[test]
fn frames_that_disagree() {
    refused(&(one() + &enter("a", "one", "", 1)), "has an empty `frame_name`");
    refused(&(one() + &enter("a", "one", "f", 0)), "must be a positive integer");
    // As in TensorFlow, the first of two values of `parallel_iterations` counts.
    let two = one() + &enter("a", "one", "f", 1) + &enter("b", "one", "f", 2);
    import_graph_def(&empty(), &parse(&two), &ImportOptions::default()).unwrap();
    let parents = one() + &enter("a", "one", "f", 1) + &enter("b", "one", "g", 1) + &enter("c", "b", "f", 1);
    refused(&parents, "is entered from two frames");
    let itself = one() + &enter("a", "one", "f", 1) + &enter("b", "a", "f", 1);
    refused(&itself, "is entered from two frames");
    let mixed = one()
        + &enter("a", "one", "f", 1)
        + "node { name: 's' op: 'AddV2' input: 'a' input: 'one' attr { key: 'T' value { type: DT_INT32 } } }";
    refused(&mixed, "are from different frames");
}

#[test]
fn two_loop_conds_in_a_frame() {
    let yes = constant("yes", "DT_BOOL", "tensor_shape {} bool_val: true");
    let enter = "node { name: 'in' op: 'Enter' input: 'yes' attr { key: 'T' value { type: DT_BOOL } }
                   attr { key: 'frame_name' value { s: 'f' } } }";
    let conds = "node { name: 'p' op: 'LoopCond' input: 'in' } node { name: 'q' op: 'LoopCond' input: 'in' }";
    refused(&(yes + enter + conds), "has two LoopConds");
}

#[test]
fn frames_nested_too_deep() {
    let nested = |n: u32| {
        let mut text = one();
        let mut last = "one".to_owned();
        for i in 0..n {
            text += &enter(&format!("e{i}"), &last, &format!("f{i}"), 1);
            last = format!("e{i}");
        }
        text
    };
    import_graph_def(&empty(), &parse(&nested(MAX_DEPTH)), &ImportOptions::default()).unwrap();
    refused(&nested(MAX_DEPTH + 1), "frames are nested more than");
}

#[test]
fn tensors_that_lie() {
    let bad = |value: &str, says: &str| refused(&constant("c", "DT_FLOAT", value), says);
    bad("tensor_shape { dim { size: 4611686018427387904 } dim { size: 4611686018427387904 } }", "");
    bad("tensor_shape { dim { size: 1000000000000 } } float_val: 1", "over the limit");
    bad("tensor_shape { dim { size: -1 } }", "must be known");
    bad("tensor_shape { dim { size: -5 } }", "neither -1 nor a size");
    bad("tensor_shape { unknown_rank: true }", "must be known");
    bad(
        "tensor_shape { dim { size: 2 } } tensor_content: 'abc'",
        "needs 8 bytes of `tensor_content`, which has 3",
    );
    bad(
        "tensor_shape { dim { size: 1 } } float_val: 1 float_val: 2",
        "has 1 elements, but the message holds 2",
    );
    refused(&constant("c", "DT_INVALID", "tensor_shape {}"), "is not a known dtype number");
    refused(
        &constant("c", "DT_RESOURCE", "tensor_shape {} resource_handle_val { name: 'x' }"),
        "cannot be read",
    );
    refused(&constant("c", "DT_VARIANT", "tensor_shape {}"), "cannot be read");
    refused(
        "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
           attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} } } } }",
        "`value` is i32 but `dtype` is f32",
    );
    let packed = "tensor_shape { dim { size: 2 } } tensor_content: '\\377\\377\\377\\377\\017'";
    refused(&constant("c", "DT_STRING", packed), "does not hold 2 packed strings");
}

#[test]
fn empty_tensors_may_have_huge_dimensions() {
    let text =
        constant("c", "DT_FLOAT", "tensor_shape { dim { size: 0 } dim { size: 1152921504606846976 } }");
    let graph = empty();
    import_graph_def(&graph, &parse(&text), &ImportOptions::default()).unwrap();
}

#[test]
fn short_lists_repeat_their_last_value() {
    let text = constant("c", "DT_HALF", "tensor_shape { dim { size: 3 } } half_val: 15360 half_val: 16384")
        + &constant("s", "DT_STRING", "tensor_shape { dim { size: 2 } } string_val: 'ab'")
        + &constant("z", "DT_COMPLEX64", "tensor_shape { dim { size: 2 } } scomplex_val: 1 scomplex_val: 2")
        + &constant("n", "DT_BOOL", "tensor_shape { dim { size: 2 } }");
    let graph = empty();
    import_graph_def(&graph, &parse(&text), &ImportOptions::default()).unwrap();
    let value = |name: &str| {
        let id = graph.operation(name).unwrap().id();
        graph.read(|g| g.node(id).unwrap().info.attrs.tensor("value").unwrap().to_string())
    };
    assert_eq!(value("c"), "f16[3] [1 2 2]");
    assert_eq!(value("s"), "str[2] [\"ab\" \"ab\"]");
    assert_eq!(value("n"), "bool[2] [false false]");
    assert!(value("z").starts_with("c64[2]"));
}

#[test]
fn attributes_that_are_wrong() {
    refused("node { name: 'p' op: 'Placeholder' }", "needs the attribute `dtype`");
    // Attributes that inputs imply are needed, too.
    let identity = one() + "node { name: 'x' op: 'Identity' input: 'one' }";
    refused(
        &identity,
        "NodeDef missing attr 'T' from Op<name=Identity; signature=input:T -> output:T; attr=T:type>",
    );
    refused("node { name: 'x' op: 'AddN' }", "NodeDef missing attrs '");
    let none = "node { name: 'x' op: 'IdentityN' attr { key: 'T' value { list { } } } }";
    refused(none, "Length for attr 'T' of 0 must be at least minimum 1");
    refused(
        "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { s: 'x' } } }",
        "attribute `dtype` is not",
    );
    refused(
        "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value {} } }",
        "attribute `dtype` is not",
    );
    refused(
        "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
           attr { key: 'new' value { i: 3 } } }",
        "Placeholder has no attribute `new`",
    );
    refused(
        "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { placeholder: 'T' } } }",
        "attribute `dtype` is not",
    );
    let huge = "node { name: 's' op: 'Split' input: 'a' input: 'x' attr { key: 'num_split' value { i: 99999999999 } }
                  attr { key: 'T' value { type: DT_INT32 } } }";
    let text = constant("a", "DT_INT32", "tensor_shape {}")
        + &constant("x", "DT_INT32", "tensor_shape { dim { size: 2 } }");
    refused(&(text + huge), "num_split");
}

#[test]
fn unknown_attributes_that_say_nothing_are_left_out() {
    let text = "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
                  attr { key: 'new' value { b: false } } attr { key: '_hint' value { i: 7 } } }";
    let graph = empty();
    import_graph_def(&graph, &parse(text), &ImportOptions::default()).unwrap();
    let written = export_graph_def(&graph).unwrap();
    let names: Vec<_> = written.node[0].attr.keys().map(String::as_str).collect();
    assert_eq!(names, ["_hint", "dtype", "shape"]);
}

#[test]
fn names_that_are_wrong() {
    refused(&(one() + &one()), "two nodes are named `one`");
    refused(&constant("a:0", "DT_INT32", "tensor_shape {}"), "is not a node name");
    refused(&constant("", "DT_INT32", "tensor_shape {}"), "is not a node name");
    refused(&unary("x", "Neg", "gone"), "its input `gone` is not in the graph");
    refused(&unary("x", "Neg", "^gone"), "Node 'x': Unknown input node '^gone'");
    refused(&unary("x", "Neg", "^gone"), "its input `gone` is not in the graph");
    refused(&(one() + &unary("x", "Neg", "one:1")), "1 outputs, not 2");
    refused(&(one() + &unary("x", "Neg", "one:99999999999999")), "is not the name of an output");
    refused(&(one() + &unary("x", "Neg", "one:-1")), "is not the name of an output");
    let late =
        "node { name: 'x' op: 'Neg' input: '^one' input: 'one' attr { key: 'T' value { type: DT_INT32 } } }";
    refused(&(one() + late), "comes after a control input");
}

#[test]
fn missing_ops_are_all_listed() {
    let text = "node { name: 'a' op: 'Frobnicate' } node { name: 'b' op: 'Frobnicate' }
                node { name: 'd' op: 'SymbolicGradient' } node { name: 'e' op: 'PartitionedCall'
                  attr { key: 'f' value { func { name: 'fn' } } } }
                library { function { signature { name: 'fn' } node_def { name: 'q' op: 'Inner' } } }";
    let error = error_with(text, &ImportOptions::default());
    assert_eq!(error.code(), Code::Unimplemented);
    let text = error.to_string();
    for part in [
        "lacks 3 op types that the graph uses: Frobnicate, Inner, SymbolicGradient",
        "Frobnicate: `a`, `b`",
        "Inner: `q` of function `fn`",
        "SymbolicGradient is a gradient",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

fn known_of(text: &str, options: ImportOptions) -> Graph {
    let graph = empty();
    let options = ImportOptions { leave_out_unknown: true, ..options };
    import_graph_def(&graph, &parse(text), &options).unwrap();
    graph.check().unwrap();
    graph
}

fn names(graph: &Graph) -> Vec<String> {
    graph.operations().iter().map(|op| op.name()).collect()
}

#[track_caller]
fn absent(graph: &Graph, name: &str, says: &str) {
    for error in [graph.operation(name).err(), graph.output(name).err()] {
        let error = error.expect("the node is not there");
        assert_eq!((error.code(), error.message()), (Code::Unimplemented, says));
    }
}

const FROBNICATE: &str = "node { name: 'x' op: 'Frobnicate' input: 'one' }";

#[test]
fn nodes_that_need_missing_ops_are_left_out() {
    let text = unary("far", "Neg", "near")
        + &one()
        + &unary("near", "Neg", "x:1")
        + "node { name: 'after' op: 'NoOp' input: '^far' }"
        + FROBNICATE
        + &unary("kept", "Neg", "one");
    let graph = known_of(&text, ImportOptions { prefix: "p".into(), ..ImportOptions::default() });
    assert_eq!(names(&graph), ["p/one", "p/kept"]);
    absent(&graph, "p/x", "the op type `Frobnicate` of node `p/x` is not in the op library");
    for name in ["near", "far", "after"] {
        let says = "needs `p/x`, whose op type `Frobnicate` is not in the op library";
        absent(&graph, &format!("p/{name}"), &format!("node `p/{name}` {says}"));
    }
    assert_eq!(graph.operation("x").unwrap_err().code(), Code::NotFound);
    refused(&text, "lacks an op type that the graph uses: Frobnicate");
}

#[test]
fn elements_and_replaced_inputs_of_missing_ops() {
    let text = one() + FROBNICATE + &unary("y", "Neg", "x") + &unary("z", "Neg", "y");
    let options = |map: &[(&str, _)], element: &str| ImportOptions {
        input_map: map.iter().map(|(name, port)| ((*name).to_owned(), *port)).collect(),
        return_elements: vec![element.to_owned()],
        leave_out_unknown: true,
        ..ImportOptions::default()
    };
    let error = error_with(&text, &options(&[], "z:0"));
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().starts_with("node `z` needs `x`, whose op type `Frobnicate`"), "{error}");
    let graph = empty();
    let mine = graph.constant_tensor("mine", millstream_tensor::Tensor::scalar(7i32)).port();
    import_graph_def(&graph, &parse(&text), &options(&[("x:0", mine)], "z:0")).unwrap();
    assert_eq!(names(&graph), ["mine", "one", "y", "z"]);
}

/// A loop of two variables: `a` counts, `b` is given.
fn loop_of_two(initial: &str, body: &str) -> String {
    let switch = |name: &str, of: &str| {
        format!(
            "node {{ name: '{name}' op: 'Switch' input: '{of}' input: 'go' attr {{ key: 'T' value {{ type: DT_INT32 }} }} }}"
        )
    };
    let mut text = one() + initial + body;
    for (v, from) in [("a", "one"), ("b", "initial")] {
        text += &enter(&format!("{v}/enter"), from, "f", 10);
        text += &merge(&format!("{v}/merge"), &format!("{v}/enter"), &format!("{v}/next"));
        text += &switch(&format!("{v}/switch"), &format!("{v}/merge"));
        text += &unary(&format!("{v}/exit"), "Exit", &format!("{v}/switch"));
        text += &unary(&format!("{v}/next"), "NextIteration", &format!("{v}/body"));
    }
    text += &unary("a/body", "Neg", "a/switch:1");
    text += &enter("limit", "one", "f", 10);
    text += "node { name: 'less' op: 'Less' input: 'a/merge' input: 'limit' attr { key: 'T' value { type: DT_INT32 } } }";
    text + "node { name: 'go' op: 'LoopCond' input: 'less' }"
}

#[test]
fn loop_variables_go_whole() {
    let unknown = |name: &str, of: &str| format!("node {{ name: '{name}' op: 'Frobnicate' input: '{of}' }}");
    let initial = constant("initial", "DT_INT32", "tensor_shape {} int_val: 2");
    let of_a = ["a/enter", "a/merge", "a/switch", "a/exit", "a/next", "a/body", "limit", "less", "go", "one"];
    let kept = |text: &str| names(&known_of(text, ImportOptions::default())).into_iter().collect();
    let with = |more: &[&str]| of_a.iter().chain(more).map(|n| (*n).to_owned()).collect();
    let kept: [std::collections::BTreeSet<String>; 3] = [
        kept(&loop_of_two(&initial, &unknown("b/body", "b/switch:1"))),
        // Here the body of `b` needs `a` alone, and its NextIteration nothing of `b`.
        kept(&loop_of_two(&unknown("initial", "one"), &unary("b/body", "Neg", "a/switch:1"))),
        kept(&loop_of_two(&initial, &unary("b/body", "Neg", "b/switch:1"))),
    ];
    let of_b = ["initial", "b/enter", "b/merge", "b/switch", "b/exit", "b/next", "b/body"];
    assert_eq!(kept, [with(&["initial"]), with(&["b/body"]), with(&of_b)]);
    // Without its condition, nothing of the loop stays.
    let text = loop_of_two(&initial, &unary("b/body", "Neg", "b/switch:1"));
    let graph = known_of(&text.replace("op: 'Less'", "op: 'Frobnicate'"), ImportOptions::default());
    assert_eq!(names(&graph), ["one", "initial"]);
    absent(
        &graph,
        "b/exit",
        "node `b/exit` needs `less`, whose op type `Frobnicate` is not in the op library",
    );
}

#[test]
fn callers_of_missing_ops_are_left_out() {
    let call = |name: &str, f: &str| {
        format!(
            "node {{ name: '{name}' op: 'PartitionedCall' attr {{ key: 'f' value {{ func {{ name: '{f}' }} }} }}
             attr {{ key: 'Tin' value {{ list {{}} }} }} attr {{ key: 'Tout' value {{ list {{}} }} }} }}"
        )
    };
    let function = |name: &str, op: &str| {
        format!("function {{ signature {{ name: '{name}' }} node_def {{ name: 'q' op: '{op}' }} }}")
    };
    let text = call("c", "outer")
        + &call("d", "sound")
        + &format!(
            "library {{ {} {} {} }}",
            function("outer", "inner"),
            function("inner", "Frobnicate"),
            function("sound", "NoOp")
        );
    let graph = known_of(&text, ImportOptions::default());
    assert!(graph.find("d").is_some());
    absent(
        &graph,
        "c",
        "node `c` needs `q` of function `inner`, whose op type `Frobnicate` is not in the op library",
    );
}

#[test]
fn a_long_chain_behind_a_missing_op() {
    let mut text = one() + FROBNICATE;
    for i in 0..100_000 {
        text += &unary(&format!("n{i}"), "Neg", &if i == 0 { "x".to_owned() } else { format!("n{}", i - 1) });
    }
    let graph = known_of(&text, ImportOptions::default());
    assert_eq!((graph.len(), graph.read(|g| g.absent().len())), (1, 100_001));
}

#[test]
fn functions_that_call_themselves() {
    let call = |name: &str, f: &str| {
        format!(
            "name: '{name}' op: 'PartitionedCall' attr {{ key: 'f' value {{ func {{ name: '{f}' }} }} }}
             attr {{ key: 'Tin' value {{ list {{}} }} }} attr {{ key: 'Tout' value {{ list {{}} }} }}"
        )
    };
    let function = |name: &str, calls: &str| {
        format!("function {{ signature {{ name: '{name}' }} node_def {{ {} }} }}", call("x", calls))
    };
    let itself = format!("node {{ {} }} library {{ {} }}", call("c", "f"), function("f", "f"));
    refused(&itself, "the function `f` calls itself: `f` -> `f`");
    let mutual =
        format!("node {{ {} }} library {{ {} {} }}", call("c", "f"), function("f", "g"), function("g", "f"));
    refused(&mutual, "the function `f` calls itself: `f` -> `g` -> `f`");
    let by_name = "node { name: 'c' op: 'f' } library { function { signature { name: 'f' } node_def { name: 'x' op: 'f' } } }";
    refused(by_name, "the function `f` calls itself");
    refused(&format!("node {{ {} }}", call("c", "gone")), "the graph's library has no function `gone`");
}

#[test]
fn a_loop_whose_condition_is_its_body() {
    let text = "node { name: 'w' op: 'While' attr { key: 'T' value { list {} } }
          attr { key: 'cond' value { func { name: 'f' } } } attr { key: 'body' value { func { name: 'f' } } } }
        library { function { signature { name: 'f' } node_def { name: 'x' op: 'While' attr { key: 'T' value { list {} } }
          attr { key: 'cond' value { func { name: 'f' } } } attr { key: 'body' value { func { name: 'f' } } } } } }";
    refused(text, "");
}

#[test]
fn functions_that_double_are_bounded() {
    let mut text = "node { name: 'c' op: 'f0' } library {".to_owned();
    for i in 0..60 {
        let next = i + 1;
        write!(
            text,
            "function {{ signature {{ name: 'f{i}' }} node_def {{ name: 'x' op: 'f{next}' }} node_def {{ name: 'y' op: 'f{next}' }} }}"
        )
        .unwrap();
    }
    text += "function { signature { name: 'f60' } node_def { name: 'x' op: 'NoOp' } } }";
    let options = ImportOptions { max_nodes: 10_000, memory_limit: 10 << 20, ..ImportOptions::default() };
    let error = error_with(&text, &options);
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
}

#[test]
fn functions_that_do_not_fit() {
    let with = |call: &str, function: &str| {
        format!("{} node {{ name: 'c' op: 'f' {call} }} library {{ function {{ {function} }} }}", one())
    };
    let arg = "signature { name: 'f' input_arg { name: 'a' type: DT_INT32 } output_arg { name: 'r' type: DT_INT32 } }";
    refused(
        &with("", &format!("{arg} ret {{ key: 'r' value: 'a' }}")),
        "takes 1 arguments, but the call gives 0",
    );
    refused(&with("input: 'one'", arg), "does not say what its result `r` is");
    refused(&with("input: 'one'", &format!("{arg} ret {{ key: 'r' value: 'b' }}")), "nothing named `b`");
    refused(&with("input: 'one'", &format!("{arg} ret {{ key: 'r' value: 'a:9' }}")), "nothing named `a:9`");
    let twice = "node_def { name: 'x' op: 'NoOp' } node_def { name: 'x' op: 'NoOp' }";
    refused(&with("input: 'one'", &format!("{arg} {twice} ret {{ key: 'r' value: 'a' }}")), "are named `x`");
    let open =
        "signature { name: 'f' output_arg { name: 'r' type_attr: 'T' } } ret { key: 'r' value: 'x:output:0' }
                node_def { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { placeholder: 'T' } } }";
    refused(&with("", open), "takes an attribute `T`, which the call does not give");
}

#[test]
fn a_library_of_namesakes() {
    refused(
        "library { function { signature { name: 'f' } } function { signature { name: 'f' is_stateful: true } } }",
        "two functions are named `f`",
    );
    refused("library { function { } }", "has no name");
}

#[test]
fn deep_attributes() {
    let mut text = "node { name: 'p' op: 'NoOp' attr { key: '_f' value { ".to_owned();
    for _ in 0..2000 {
        text += "func { name: 'f' attr { key: 'a' value { ";
    }
    text += &"} } } ".repeat(2000);
    text += "} } }";
    let error = read_graph(text.as_bytes()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("deep"), "{error}");
}

#[test]
fn old_placeholders_know_no_shape() {
    let node = "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
                  attr { key: 'shape' value { shape {} } } }";
    for (text, shape) in
        [(node.to_owned(), PartialShape::unknown()), (format!("{node} {NEW}"), PartialShape::scalar())]
    {
        let graph = empty();
        import_graph_def(&graph, &parse(&text), &ImportOptions::default()).unwrap();
        assert_eq!(graph.output("p").unwrap().shape(), shape);
    }
}

#[test]
fn graphs_for_newer_readers() {
    refused("versions { producer: 100000 min_consumer: 100000 }", "asks for a reader of version 100000");
    let words = "GraphDef min consumer version 135 above current version 134 for TensorFlow 1.15.5.";
    refused("versions { producer: 135 min_consumer: 135 }", words);
    refused("versions { producer: 1 bad_consumers: [3, 134] }", "GraphDef disallows consumer version 134.");
    refused("versions { producer: -1 }", "GraphDef producer version -1 below min producer 0 supported by");
    import_graph_def(&empty(), &parse("versions { producer: 5000 }"), &ImportOptions::default()).unwrap();
}

#[test]
fn prefixes_maps_and_elements() {
    let graph = empty();
    let text = one() + &unary("x", "Neg", "one") + &enter("e", "x", "f", 1) + &unary("out", "Exit", "e");
    let x = graph.constant_tensor("mine", millstream_tensor::Tensor::scalar(7i32));
    let options = ImportOptions {
        prefix: "sub".into(),
        input_map: [("one:0".to_owned(), x.port())].into(),
        return_elements: vec!["x".into(), "out:0".into()],
        control_dependencies: vec![x.op().id()],
        ..ImportOptions::default()
    };
    let imported = import_graph_def(&graph, &parse(&text), &options).unwrap();
    let id = graph.operation("sub/x").unwrap().id();
    let out = graph.output("sub/out").unwrap().port();
    assert_eq!(imported.elements, [Element::Op(id), Element::Output(out)]);
    assert_eq!(graph.operation("sub/x").unwrap().inputs()[0].name(), "mine:0");
    // `x` depends on nothing imported, `e` does.
    assert_eq!(graph.operation("sub/x").unwrap().control_inputs().len(), 1);
    assert_eq!(graph.operation("sub/e").unwrap().control_inputs().len(), 0);
    // The second import has another prefix, and so another frame.
    let again = import_graph_def(&graph, &parse(&text), &options).unwrap();
    assert_eq!(again.prefix, "sub_1/");
    let frame = |name: &str| {
        let id = graph.operation(name).unwrap().id();
        graph.read(|g| g.node(id).unwrap().info.attrs.str("frame_name").unwrap().text().into_owned())
    };
    assert_eq!((frame("sub/e"), frame("sub_1/e")), ("sub/f".into(), "sub_1/f".into()));
    let options =
        ImportOptions { input_map: [("gone".to_owned(), x.port())].into(), ..ImportOptions::default() };
    let before = graph.len();
    let error = import_graph_def(&graph, &parse(&text), &options).unwrap_err();
    assert!(error.to_string().contains("were not found in graph_def: [gone:0]"), "{error}");
    let options = ImportOptions { return_elements: vec!["x:1".into()], ..ImportOptions::default() };
    import_graph_def(&graph, &parse(&text), &options).unwrap_err();
    assert_eq!(graph.len(), before, "a failed import leaves nothing");
    import_graph_def(&graph, &parse(&text), &ImportOptions::default()).unwrap();
}

/// Sizes are computed while the graph is built; the tensors of these sizes are not.
#[test]
fn huge_values_are_not_computed_at_import() {
    let text = constant("dims", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 2000000000")
        + &one()
        + "node { name: 'f' op: 'Fill' input: 'dims' input: 'one' attr { key: 'T' value { type: DT_INT32 } } }"
        + &constant("end", "DT_INT32", "tensor_shape {} int_val: 2000000000")
        + "node { name: 'r' op: 'Range' input: 'one' input: 'end' input: 'one' attr { key: 'Tidx' value { type: DT_INT32 } } }";
    let graph = empty();
    let start = std::time::Instant::now();
    import_graph_def(&graph, &parse(&text), &ImportOptions::default()).unwrap();
    assert!(start.elapsed().as_millis() < 500, "{:?}", start.elapsed());
}

#[test]
fn files_that_are_no_graph() {
    for bytes in [&b"hello world"[..], b"\x00\x01\x02\x03", b"\xff\xff\xff\xff\xff\xff", b"node {"] {
        assert!(read_graph(bytes).is_err(), "{bytes:?}");
    }
}

/// Empty messages take two bytes of a file each, and hundreds in memory.
#[test]
fn files_of_many_small_messages_are_refused_before_they_are_decoded() {
    let refused = |bytes: &[u8]| {
        let error = read_graph_within(bytes, 64 << 20).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
        assert_eq!(error.help(), Some("raise the memory limit if you trust the graph"));
    };
    let n = 1 << 20;
    let within = |tag: u8, inner: &[u8]| {
        let length = inner.len() as u32;
        let varint =
            [length | 0x80, length >> 7 | 0x80, length >> 14 | 0x80, length >> 21 & 0x7f].map(|b| b as u8);
        [&[tag][..], &varint, inner].concat()
    };
    // Nodes; functions; tensors in an attribute, with names and values around them.
    refused(&b"\x0a\x00".repeat(n));
    refused(&within(0x12, &b"\x0a\x00".repeat(n)));
    refused(&within(0x0a, &within(0x2a, &within(0x12, &within(0x0a, &b"\x42\x00".repeat(n))))));
    refused(
        &[
            &b"node { name: 'x' op: 'NoOp' attr { key: 'k' value { shape { "[..],
            &b"dim{size:1}".repeat(n),
            b"} } } }",
        ]
        .concat(),
    );
    // Elements cost what they are.
    let constant = constant(
        "x",
        "DT_UINT8",
        &format!("tensor_shape {{ dim {{ size: {n} }} }} tensor_content: '{}'", "a".repeat(n)),
    );
    let graph = empty();
    let file = read_graph_within(&millstream_proto::encode(&parse(&constant)), 3 * n).unwrap();
    file.import(&graph, &ImportOptions::default()).unwrap();
    read_graph_within(constant.as_bytes(), 3 * n).unwrap();
}

/// The file is in memory beside its messages.
#[test]
fn files_are_charged_with_their_messages() {
    let text = (0..1000).map(|i| format!("node {{ name: 'x{i}' op: 'NoOp' }}\n")).collect::<String>();
    let binary = millstream_proto::encode(&parse(&text));
    let weights = [millstream_proto::text_weight(&text), millstream_proto::weight::<GraphDef>(&binary)];
    for (bytes, weight) in [text.as_bytes(), &binary].into_iter().zip(weights) {
        let all = bytes.len() + weight;
        assert_eq!(read_graph_within(bytes, all).unwrap().graph_def().unwrap().node.len(), 1000);
        let error = read_graph_within(bytes, all - 1).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
    }
}
