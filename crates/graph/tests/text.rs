//! The text form: a printed graph reads back and prints the same, errors name their place, and no text
//! panics.

use millstream_graph::{Attr, Attrs, CollectionItem, ContextId, FuncRef, Graph, Output, ValueType};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::{PartialShape, Str, Tensor, shape};

type O<'g> = Output<'g>;

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn parse(text: &str) -> millstream_tensor::Result<Graph> {
    Graph::parse(text, millstream_ops::registry())
}

fn less<'g>(a: O<'g>, b: i32) -> O<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

#[track_caller]
fn round_trip(g: &Graph) -> Graph {
    let text = g.to_text();
    let back = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(back.to_text(), text);
    back
}

/// A graph of nested loops with a branch inside, and of most other things that a graph can hold.
fn rich() -> Graph {
    let g = graph();
    g.set_seed(-7);
    let x = g.device("/job:w/device:GPU:*", || g.placeholder_of("x", F32, shape![_, 3]));
    let odd = Str::from(&b"a \"b\" \\ \n\t\0\xff\xc3\xa9 [ ] { } , )"[..]);
    g.constant_tensor("strings", Tensor::strings([2], vec![odd.clone(), Str::from("'")]).unwrap());
    g.constant_tensor("nan", Tensor::from_slice([], &[f32::from_bits(0xffc0_0001)]).unwrap());
    let mut inner = Attrs::new();
    inner.set("T", ValueType::reference(F32));
    inner.set("f", -0.0f32);
    let func = FuncRef { name: "do it".into(), attrs: inner };
    let lists = Attr::List(vec![
        Attr::Int(-1),
        Attr::Float(1e30),
        Attr::Float(f32::NEG_INFINITY),
        Attr::List(vec![]),
    ]);
    let id = g.op("Identity").input(x).name("id");
    let id = id.attr("_func", func).attr("_odd name", odd).attr("_list", lists);
    let shapes = vec![PartialShape::unknown(), shape![], shape![_, 2]];
    let id = id.attr("_shapes", shapes).attr("_type", I32).attr("_nan", f32::NAN).attr("_yes", true).output();
    let before = g.control_dependencies([id.op()], || g.constant(5));
    let loops = g.while_loop([before, g.constant(0)]).run(
        |[i, _]| less(i, 10),
        |[i, n]| {
            let inner = i.graph().while_loop(n).run(|j| less(j, 3), |j| j + i)?;
            let got = i.graph().cond(less(i, 4), || inner + 1, || i)?;
            Ok([i + 1, got])
        },
    );
    let [i, _]: [O; 2] = loops.unwrap();
    g.add_to_collection("all", CollectionItem::Node(i.name()));
    g.add_to_collection("all", CollectionItem::Bytes(vec![0, 255, b'"']));
    g.add_to_collection("all", CollectionItem::Int(-3));
    g.add_to_collection("odd name", CollectionItem::Float(f32::NAN));
    g.add_to_collection("odd name", CollectionItem::Context(ContextId(1)));
    g.check().unwrap();
    g
}

#[test]
fn what_prints_reads_back() {
    round_trip(&graph());
    let g = rich();
    let back = round_trip(&g);
    assert_eq!((back.seed(), back.len()), (Some(-7), g.len()));
    back.check().unwrap();
    g.finalize();
    let back = round_trip(&g);
    assert!(back.op("NoOp").try_finish().is_err());
}

#[test]
fn new_names_are_new_after_reading() {
    let back = round_trip(&rich());
    let i: O = back.while_loop(0).run(|i| less(i, 2), |i| i + 1).unwrap();
    assert!(!i.name().starts_with("while/"), "{}", i.name());
    let frames =
        back.read(|g| g.contexts().iter().map(|c| c.name.clone()).collect::<std::collections::HashSet<_>>());
    assert_eq!(frames.len(), back.read(|g| g.contexts().len()));
    round_trip(&back);
}

#[test]
fn lines_may_be_short() {
    let g = parse("graph\n// A comment.\n\n%a = Const() {value=[2]}\n").map(|_| ());
    assert!(g.is_err());
    let g =
        parse("graph\n%\"a b\" = Const(){dtype=i32,value=i32 5}\r\n%c=AddV2(%\"a b\", %\"a b\":0)").unwrap();
    assert_eq!(g.output("c").unwrap().dtype().unwrap(), I32);
    round_trip(&g);
}

#[test]
fn errors_name_the_place() {
    let c = "graph\n%a = Const() {dtype=i32, value=i32 5} : i32[]\n";
    let cases = [
        ("", "line 1, column 1: expected `graph`"),
        ("graph\n  what", "line 2, column 3: expected a node, a context or a collection, got `what`"),
        ("graph\n%a = Nope()", "line 2, column 1: there is no op `Nope`"),
        ("graph\n%a = Const() {x=}", "line 2, column 17: expected a value, got `}`"),
        ("graph\n%a = Const() {x=\"b\\q\"}", "line 2, column 19: unknown escape sequence"),
        ("graph\n%a = Const() {x=\"b", "line 2, column 17: unterminated text"),
        ("graph\n%a = Const() {x=i32[2] 0}", "line 2, column 24: expected the tensor's value in `[ ]`"),
        (&format!("{c}%b = Neg(%c)"), "line 3, column 10: an input of `b` is not defined above"),
        (&format!("{c}%b = Neg(%a) ^z"), "line 3, column 14: the graph has no node `z`"),
        (
            &format!("{c}%b = Neg(%a) : f32"),
            "line 3, column 16: output 0 of `b` is i32, but the text has f32",
        ),
        (
            &format!("{c}%b = Neg(%a) : i32[2]"),
            "line 3, column 16: output 0 of `b` has shape [], but the text has [2]",
        ),
        (&format!("{c}%b = Neg(%a) in w"), "line 3, column 14: there is no context `w`"),
        (
            &format!("{c}%m = Merge(%a, %a2)\n%a2 = Neg(%a)"),
            "line 3, column 16: a back edge into `m` comes from",
        ),
        (&format!("{c}%m = Merge(%b)"), "line 3, column 1: all inputs of `m` are back edges"),
        (&format!("{c}%a = NoOp()"), "line 3, column 1: the graph already has a node `a`"),
        ("graph\nwhile a in b\nwhile b in a", "line 2, column 9: the context `a` is inside itself"),
        ("graph\ncond a branch=7", "line 2, column"),
        ("graph\nwhile a colour=7", "line 2, column 9: this kind of context has no field `colour`"),
    ];
    for (text, wanted) in cases {
        let Err(error) = parse(text) else { panic!("read: {text}") };
        assert!(error.to_string().contains(wanted), "wanted {wanted}\ngot {error}");
    }
}

#[test]
fn hostile_texts_end_in_errors() {
    let deep = |open: &str| format!("graph\n%a = NoOp() {{_x={}", open.repeat(200_000));
    for open in ["(", "@f{a=", "[", "f32[", "f32[1] [", "\"\\"] {
        assert!(parse(&deep(open)).is_err());
    }
    for text in ["graph\n%m = Merge(%?)", "graph\n%a = Const() {dtype=f32, value=f32[99999999999] 0}"] {
        assert!(parse(text).is_err());
    }
}

#[test]
fn edits_of_a_text_do_not_panic() {
    let text = rich().to_text().into_bytes();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let alphabet = b"%^:@#=(){}[]\",.? -\\\n019aix\xc3";
    let mut n_read = 0;
    for _ in 0..1500 {
        let mut edited = text.clone();
        for _ in 0..1 + next(3) {
            let (at, byte) = (next(edited.len()), alphabet[next(alphabet.len())]);
            match next(4) {
                0 => edited[at] = byte,
                1 => edited.insert(at, byte),
                2 => drop(edited.remove(at)),
                _ => {
                    let end = (at + next(60)).min(edited.len());
                    let part: Vec<u8> = edited[at..end].to_vec();
                    let to = next(edited.len());
                    edited.splice(to..to, part);
                }
            }
        }
        if let Ok(g) = parse(&String::from_utf8_lossy(&edited)) {
            n_read += 1;
            round_trip(&g);
        }
    }
    assert!(n_read > 0, "no edit leaves the text readable");
}
