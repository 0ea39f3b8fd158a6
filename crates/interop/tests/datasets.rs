//! Functions of a library that nodes keep by name: import, calls, export, and what is refused.

use millstream_graph::Graph;
use millstream_interop::{ImportOptions, export_graph_def, import_graph_def};
use millstream_ops::registry;
use millstream_proto::{GraphDef, from_text};

/// A dataset of the numbers below 4, mapped by `double`, whose body calls `twice`.
const MAPPED: &str = r#"
node { name: "start" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
  attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape {} int64_val: 0 } } } }
node { name: "stop" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
  attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape {} int64_val: 4 } } } }
node { name: "step" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
  attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape {} int64_val: 1 } } } }
node { name: "range" op: "RangeDataset" input: "start" input: "stop" input: "step"
  attr { key: "output_types" value { list { type: DT_INT64 } } }
  attr { key: "output_shapes" value { list { shape {} } } } }
node { name: "map" op: "MapDataset" input: "range"
  attr { key: "f" value { func { name: "double" } } }
  attr { key: "Targuments" value { list {} } }
  attr { key: "output_types" value { list { type: DT_INT64 } } }
  attr { key: "output_shapes" value { list { shape {} } } } }
library {
  function {
    signature { name: "double" input_arg { name: "x" type: DT_INT64 } output_arg { name: "y" type: DT_INT64 } }
    node_def { name: "call" op: "PartitionedCall" input: "x"
      attr { key: "f" value { func { name: "twice" } } }
      attr { key: "Tin" value { list { type: DT_INT64 } } }
      attr { key: "Tout" value { list { type: DT_INT64 } } } }
    ret { key: "y" value: "call:output:0" }
  }
  function {
    signature { name: "twice" input_arg { name: "x" type: DT_INT64 } output_arg { name: "y" type: DT_INT64 } }
    node_def { name: "sum" op: "AddV2" input: "x" input: "x" attr { key: "T" value { type: DT_INT64 } } }
    ret { key: "y" value: "sum:z:0" }
  }
}
"#;

fn parse(text: &str) -> GraphDef {
    from_text(text).expect("a message")
}

fn import(def: &GraphDef) -> Result<Graph, millstream_tensor::Error> {
    let graph = Graph::with_ops(registry());
    import_graph_def(&graph, def, &ImportOptions::default())?;
    Ok(graph)
}

#[test]
fn functions_that_nodes_keep_are_imported_and_calls_in_them_expanded() {
    let mut def = parse(MAPPED);
    for _ in 0..3 {
        let graph = import(&def).expect("imports");
        let names: Vec<String> = graph.functions().iter().map(|f| f.name.clone()).collect();
        assert_eq!(names, ["double"], "`twice` is only called");
        let function = graph.function("double").expect("is there");
        assert_eq!((function.inputs.len(), function.outputs.len()), (1, 1));
        assert!(function.body.operations().iter().any(|op| op.op_type() == "AddV2"));
        def = export_graph_def(&graph).expect("exports");
    }
}

#[test]
fn a_name_that_is_taken_is_made_unique() {
    let def = parse(MAPPED);
    let graph = import(&def).expect("imports");
    let options = ImportOptions { prefix: "again".into(), ..ImportOptions::default() };
    import_graph_def(&graph, &def, &options).expect("imports");
    let names: Vec<String> = graph.functions().iter().map(|f| f.name.clone()).collect();
    assert_eq!(names, ["double", "double_1"]);
}

#[test]
fn what_a_body_lacks_is_an_error() {
    let unknown = MAPPED.replace(r#"op: "AddV2""#, r#"op: "NoSuchOp""#);
    let error = import(&parse(&unknown)).expect_err("an op is missing");
    assert!(error.to_string().contains("NoSuchOp"), "{error}");
    let recursive = MAPPED.replace(r#"func { name: "twice" }"#, r#"func { name: "double" }"#);
    let error = import(&parse(&recursive)).expect_err("it calls itself");
    assert!(error.to_string().contains("calls itself"), "{error}");
    let few = ImportOptions { max_nodes: 6, ..ImportOptions::default() };
    let graph = Graph::with_ops(registry());
    let error = import_graph_def(&graph, &parse(MAPPED), &few).expect_err("too many nodes");
    assert!(error.to_string().contains("more than"), "{error}");
    assert!(graph.is_empty() && graph.functions().is_empty());
}
