//! Round trips in both forms, the layout of the text, and invalid input.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::mem::size_of;

use prost::{Message, Name};

use crate::attr_value::Value;
use crate::control_flow_context_def::Ctxt;
use crate::*;

fn attrs(items: impl IntoIterator<Item = (&'static str, Value)>) -> BTreeMap<String, AttrValue> {
    items.into_iter().map(|(name, value)| (name.into(), AttrValue { value: Some(value) })).collect()
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.into()).collect()
}

// A loop that counts: nodes with every kind of attribute that loops use.
fn loop_graph() -> GraphDef {
    let node = |name: &str, op: &str, input: &[&str], attr| NodeDef {
        name: name.into(),
        op: op.into(),
        input: strings(input),
        attr,
        ..Default::default()
    };
    let int32 = || ("T", Value::Type(DataType::DtInt32.into()));
    let zero = TensorProto {
        dtype: DataType::DtInt32.into(),
        tensor_shape: Some(TensorShapeProto::default()),
        int_val: vec![0],
        ..Default::default()
    };
    let enter = attrs([
        int32(),
        ("frame_name", Value::S(b"while/while_context".to_vec())),
        ("is_constant", Value::B(false)),
        ("parallel_iterations", Value::I(10)),
    ]);
    GraphDef {
        node: vec![
            node("Const", "Const", &[], attrs([("value", Value::Tensor(Box::new(zero)))])),
            node("while/Enter", "Enter", &["Const"], enter),
            node("while/Merge", "Merge", &["while/Enter", "while/NextIteration"], attrs([int32()])),
            node("while/Identity", "Identity", &["while/Switch:1", "^Const"], attrs([int32()])),
        ],
        versions: Some(VersionDef { producer: 134, min_consumer: 0, bad_consumers: vec![3, 5] }),
        ..Default::default()
    }
}

// Every kind of attribute value, with the numbers and strings that are hardest to print.
fn attr_values() -> NodeDef {
    let list = attr_value::ListValue {
        s: vec![b"".to_vec(), b"\x00\xff7\"'\\\n\t\r{}<>#".to_vec()],
        i: vec![i64::MIN, -1, 0, i64::MAX],
        f: vec![0.0, -0.0, 1.0, 0.1, 1e30, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NEG_INFINITY],
        b: vec![true, false],
        r#type: vec![DataType::DtFloatRef.into(), 99],
        shape: vec![TensorShapeProto { unknown_rank: true, ..Default::default() }],
        tensor: vec![TensorProto::default()],
        func: vec![NameAttrList { name: "f".into(), attr: attrs([("T", Value::Placeholder("T".into()))]) }],
    };
    let shape = TensorShapeProto {
        dim: vec![tensor_shape_proto::Dim { size: -1, name: "batch".into() }],
        unknown_rank: false,
    };
    NodeDef {
        name: "é".into(),
        attr: attrs([
            ("list", Value::List(Box::new(list))),
            ("shape", Value::Shape(shape)),
            // Present although zero: a oneof records which of its fields was set.
            ("zero", Value::I(0)),
            ("empty", Value::S(vec![])),
        ]),
        experimental_debug_info: Some(Box::new(node_def::ExperimentalDebugInfo {
            original_node_names: strings(&["a"]),
            original_func_names: vec![],
        })),
        experimental_type: Some(Box::new(FullTypeDef {
            type_id: FullTypeId::TftProduct.into(),
            args: vec![FullTypeDef { attr: Some(full_type_def::Attr::S("x".into())), ..Default::default() }],
            attr: None,
        })),
        ..Default::default()
    }
}

fn tensor() -> TensorProto {
    TensorProto {
        dtype: DataType::DtVariant.into(),
        version_number: -1,
        tensor_content: vec![0, 1, 254, 255],
        double_val: vec![f64::MAX, 5e-324, 0.1],
        string_val: vec![vec![], b"x".to_vec()],
        scomplex_val: vec![1.0, -1.0],
        int64_val: vec![i64::MIN],
        bool_val: vec![true],
        dcomplex_val: vec![0.5, 2.5],
        half_val: vec![0x3c00],
        uint32_val: vec![u32::MAX],
        uint64_val: vec![u64::MAX],
        float8_val: vec![0x38],
        resource_handle_val: vec![ResourceHandleProto {
            name: "v".into(),
            hash_code: u64::MAX,
            dtypes_and_shapes: vec![resource_handle_proto::DtypeAndShape::default()],
            ..Default::default()
        }],
        variant_val: vec![VariantTensorDataProto {
            type_name: "tensorflow::TensorList".into(),
            metadata: vec![128],
            tensors: vec![TensorProto::default()],
        }],
        ..Default::default()
    }
}

fn function() -> FunctionDef {
    FunctionDef {
        signature: Some(OpDef {
            name: "body".into(),
            input_arg: vec![op_def::ArgDef { name: "x".into(), type_attr: "T".into(), ..Default::default() }],
            attr: vec![op_def::AttrDef { name: "T".into(), r#type: "type".into(), ..Default::default() }],
            control_output: strings(&["done"]),
            ..Default::default()
        }),
        node_def: vec![NodeDef { name: "y".into(), ..Default::default() }],
        ret: BTreeMap::from([("y".into(), "y:z:0".into())]),
        control_ret: BTreeMap::from([("done".into(), "y".into())]),
        arg_attr: BTreeMap::from([(0, function_def::ArgAttrs { attr: attrs([("_user", Value::B(true))]) })]),
        resource_arg_unique_id: BTreeMap::from([(0, 0), (2, 1)]),
        ..Default::default()
    }
}

fn while_context() -> ControlFlowContextDef {
    let inner = CondContextDef { context_name: "cond".into(), branch: 1, ..Default::default() };
    let values = ValuesDef {
        values: strings(&["while/Merge:0"]),
        external_values: BTreeMap::from([("Const:0".into(), "while/Enter:0".into())]),
    };
    ControlFlowContextDef {
        ctxt: Some(Ctxt::WhileCtxt(WhileContextDef {
            context_name: "while/while_context".into(),
            parallel_iterations: 10,
            back_prop: true,
            pivot_name: "while/LoopCond:0".into(),
            loop_exit_names: strings(&["while/Exit:0"]),
            values_def: Some(values),
            nested_contexts: vec![ControlFlowContextDef { ctxt: Some(Ctxt::CondCtxt(inner)) }],
            ..Default::default()
        })),
    }
}

fn saved_model() -> SavedModel {
    use collection_def::{AnyList, BytesList, FloatList, Int64List, Kind, NodeList};

    let queue_runner = QueueRunnerDef {
        queue_name: "queue".into(),
        queue_closed_exception_types: vec![error::Code::OutOfRange.into(), error::Code::Cancelled.into()],
        ..Default::default()
    };
    let variable = VariableDef {
        variable_name: "v:0".into(),
        trainable: true,
        save_slice_info_def: Some(SaveSliceInfoDef { full_shape: vec![4, 2], ..Default::default() }),
        ..Default::default()
    };
    let any = Any { type_url: format!("type.googleapis.com/{}", GraphDef::full_name()), value: vec![10, 0] };
    let collection = |kind| CollectionDef { kind: Some(kind) };
    let graph = MetaGraphDef {
        meta_info_def: Some(meta_graph_def::MetaInfoDef { tags: strings(&["serve"]), ..Default::default() }),
        graph_def: Some(loop_graph()),
        saver_def: Some(SaverDef {
            version: saver_def::CheckpointFormatVersion::V2.into(),
            keep_checkpoint_every_n_hours: 10_000.0,
            ..Default::default()
        }),
        collection_def: BTreeMap::from([
            ("any".into(), collection(Kind::AnyList(AnyList { value: vec![any] }))),
            ("floats".into(), collection(Kind::FloatList(FloatList { value: vec![0.5] }))),
            ("ints".into(), collection(Kind::Int64List(Int64List { value: vec![-1] }))),
            ("nodes".into(), collection(Kind::NodeList(NodeList { value: strings(&["train_op"]) }))),
            (
                "queue_runners".into(),
                collection(Kind::BytesList(BytesList { value: vec![encode(&queue_runner)] })),
            ),
            ("variables".into(), collection(Kind::BytesList(BytesList { value: vec![encode(&variable)] }))),
        ]),
        signature_def: BTreeMap::from([(
            "serving_default".into(),
            SignatureDef {
                inputs: BTreeMap::from([(
                    "x".into(),
                    TensorInfo {
                        encoding: Some(tensor_info::Encoding::Name("x:0".into())),
                        ..Default::default()
                    },
                )]),
                ..Default::default()
            },
        )]),
        asset_file_def: vec![AssetFileDef { filename: "vocab".into(), ..Default::default() }],
        object_graph_def: Some(SavedObjectGraph {
            nodes: vec![SavedObject {
                kind: Some(saved_object::Kind::Constant(SavedConstant { operation: "Const".into() })),
                ..Default::default()
            }],
            ..Default::default()
        }),
    };
    SavedModel { saved_model_schema_version: 1, meta_graphs: vec![graph] }
}

#[track_caller]
fn check_round_trips<T: Message + Name + Default + PartialEq + Debug>(message: &T) {
    let bytes = encode(message);
    assert_eq!(&decode::<T>(&bytes).unwrap(), message);
    let text = to_text(message).unwrap();
    let read: T = from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&read, message);
    assert_eq!(encode(&read), bytes);
    assert_eq!(to_text(&read).unwrap(), text);
}

#[test]
fn messages_survive_both_forms() {
    check_round_trips(&loop_graph());
    check_round_trips(&attr_values());
    check_round_trips(&tensor());
    check_round_trips(&function());
    check_round_trips(&while_context());
    check_round_trips(&saved_model());
    check_round_trips(&GraphDef::default());
}

#[test]
fn wire_format_is_tensorflow_s() {
    let node = NodeDef { name: "x".into(), attr: attrs([("a", Value::I(7))]), ..Default::default() };
    assert_eq!(encode(&node), b"\x0a\x01x\x2a\x07\x0a\x01a\x12\x02\x18\x07");
    assert_eq!(decode::<VersionDef>(b"\x08\x18\x1a\x02\x03\x05").unwrap().bad_consumers, [3, 5]);
    // Numbers of a packed field may also come unpacked.
    assert_eq!(decode::<TensorProto>(b"\x38\x01\x38\x02").unwrap().int_val, [1, 2]);
}

#[test]
fn text_is_laid_out_as_tensorflow_does() {
    let mut graph = loop_graph();
    graph.node.drain(2..);
    let text = r#"node {
  name: "Const"
  op: "Const"
  attr {
    key: "value"
    value {
      tensor {
        dtype: DT_INT32
        tensor_shape {
        }
        int_val: 0
      }
    }
  }
}
node {
  name: "while/Enter"
  op: "Enter"
  input: "Const"
  attr {
    key: "T"
    value {
      type: DT_INT32
    }
  }
  attr {
    key: "frame_name"
    value {
      s: "while/while_context"
    }
  }
  attr {
    key: "is_constant"
    value {
      b: false
    }
  }
  attr {
    key: "parallel_iterations"
    value {
      i: 10
    }
  }
}
versions {
  producer: 134
  bad_consumers: 3
  bad_consumers: 5
}
"#;
    assert_eq!(to_text(&graph).unwrap(), text);
}

#[test]
fn text_that_others_write_is_read() {
    let text = r#"
        # A comment with an open { in it.
        dtype: DT_FLOAT  tensor_shape < dim { size: 2 } >;
        float_val: [1, -2.5e-3f], float_val: -inf  int_val: 0x10 int_val: 010
        string_val: "a{" 'b\x41\102\u00e9'
    "#;
    let tensor: TensorProto = from_text(text).unwrap();
    assert_eq!(tensor.float_val, [1.0, -2.5e-3, f32::NEG_INFINITY]);
    assert_eq!(tensor.int_val, [16, 8]);
    assert_eq!(tensor.string_val, ["a{bABé".as_bytes()]);

    let expanded = r#"any_list { value { [type.googleapis.com/tensorflow.VersionDef] { producer: 1 } } }"#;
    let collection: CollectionDef = from_text(expanded).unwrap();
    let Some(collection_def::Kind::AnyList(list)) = collection.kind else { panic!("{collection:?}") };
    assert_eq!(list.value[0].value, [8, 1]);
}

#[track_caller]
fn check_text_error<T: Message + Name + Default + Debug>(
    text: &str,
    line: usize,
    column: usize,
    reason: &str,
) {
    let error = from_text::<T>(text).unwrap_err();
    assert_eq!(error.position(), Some((line, column)), "{error}");
    assert!(error.to_string().contains(reason), "{error}");
}

#[test]
fn wrong_text_is_refused_with_its_place() {
    check_text_error::<NodeDef>("name: \"a\"\n  nme: \"b\"", 2, 3, "'nme' not found");
    check_text_error::<NodeDef>("name: \"é\" nme: \"b\"", 1, 11, "`tensorflow.NodeDef`");
    check_text_error::<NodeDef>("name: \"a\" name: \"b\"", 1, 17, "already set");
    check_text_error::<NodeDef>("attr {\n", 2, 1, "end of input");
    check_text_error::<NodeDef>("name: \"a", 1, 9, "string terminator");
    check_text_error::<NodeDef>("name: \"\\xff\"", 1, 7, "utf-8");
    check_text_error::<TensorProto>("dtype: DT_FLOAT\ndtype: DT_FLOOT", 2, 8, "DT_FLOOT");
    check_text_error::<TensorProto>("int_val: 3000000000", 1, 10, "out of range");
    check_text_error::<AttrValue>("s: 'a'\ni: 3", 2, 4, "already set");
    check_text_error::<GraphDef>("}", 1, 1, "expected");
    let long = format!("node: '{}'", "x".repeat(10_000));
    assert!(from_text::<GraphDef>(&long).unwrap_err().to_string().len() < 500);
}

#[test]
fn wrong_bytes_are_refused() {
    let message = encode(&saved_model());
    for end in 0..message.len() {
        // Some prefixes are valid messages; none may panic.
        _ = decode::<SavedModel>(&message[..end]);
    }
    // A length far beyond the end must not reserve memory.
    assert!(decode::<GraphDef>(b"\x0a\xff\xff\xff\xff\x0f").is_err());
    assert!(decode::<TensorProto>(b"\x22\xff\xff\xff\xff\xff\xff\xff\xff\x7f").is_err());
    assert!(decode::<NodeDef>(b"\x0a\x01\xff").unwrap_err().to_string().contains("NodeDef.name"));
    let error = decode::<GraphDef>(b"node {\n  name: \"x\"\n}\n").unwrap_err().to_string();
    assert!(error.contains("read them as text"), "{error}");
}

// `n` nested full types in wire format.
fn nested_bytes(n: usize) -> Vec<u8> {
    let args = |inner: Vec<u8>, _| {
        let mut outer = vec![0x12];
        prost::encode_length_delimiter(inner.len(), &mut outer).unwrap();
        outer.extend(inner);
        outer
    };
    (0..n).fold(vec![], args)
}

#[test]
fn deep_nesting_is_refused() {
    check_round_trips(&decode::<FullTypeDef>(&nested_bytes(MAX_DEPTH)).unwrap());
    assert!(decode::<FullTypeDef>(&nested_bytes(MAX_DEPTH + 1)).is_err());
    assert!(decode::<FullTypeDef>(&nested_bytes(5_000)).is_err());

    let text = |n: usize| format!("{}{}", "args {".repeat(n), "}".repeat(n));
    let message: FullTypeDef = from_text(&text(MAX_DEPTH)).unwrap();
    check_round_trips(&message);
    check_text_error::<FullTypeDef>(&text(MAX_DEPTH + 1), 1, 6 * (MAX_DEPTH + 1), "limit of 100");
    assert!(from_text::<FullTypeDef>(&text(1_000_000)).is_err());
    assert!(from_text::<FullTypeDef>(&text(1_000_000).replace('{', "<")).is_err());

    let outer = FullTypeDef { args: vec![message], ..Default::default() };
    assert!(decode::<FullTypeDef>(&encode(&outer)).unwrap_err().to_string().contains("recursion"));
    assert!(to_text(&outer).is_err());
}

// An `Any` is opaque bytes here; expanding it would restart the count of the depth at every level.
#[test]
fn nested_any_is_not_expanded() {
    let mut any = Any::default();
    for _ in 0..2_000 {
        any = Any { type_url: "type.googleapis.com/google.protobuf.Any".into(), value: encode(&any) };
    }
    let kind = collection_def::Kind::AnyList(collection_def::AnyList { value: vec![any] });
    check_round_trips(&CollectionDef { kind: Some(kind) });
}

// Two bytes can be a whole message, so these sizes bound the ratio of memory to input.
#[test]
fn structs_stay_small() {
    let sizes = [
        ("AttrValue", size_of::<AttrValue>(), 64),
        ("NodeDef", size_of::<NodeDef>(), 144),
        ("TensorProto", size_of::<TensorProto>(), 512),
        ("MetaGraphDef", size_of::<MetaGraphDef>(), 1024),
        ("StructuredValue", size_of::<StructuredValue>(), 96),
    ];
    for (name, size, limit) in sizes {
        assert!(size <= limit, "{name} takes {size} bytes, over its limit of {limit}");
    }
}

#[test]
fn the_table_of_fields_is_that_of_the_descriptors() {
    use crate::fields::MESSAGES;
    use crate::weight::Part;
    use prost_reflect::{DescriptorPool, Kind};
    let pool = DescriptorPool::decode(DESCRIPTORS).unwrap();
    assert_eq!(pool.all_messages().count(), MESSAGES.len());
    assert!(MESSAGES.is_sorted_by_key(|(name, _)| *name), "they are looked up by name");
    for (name, fields) in MESSAGES {
        let message = pool.get_message_by_name(name).unwrap();
        assert_eq!(message.fields().count(), fields.len(), "{name}");
        for &(number, part) in *fields {
            let field = message.get_field(number).unwrap();
            let agrees = match (field.kind(), part) {
                (Kind::Message(inner), Part::Message(at)) => inner.full_name() == MESSAGES[at].0,
                (Kind::String | Kind::Bytes, Part::Text) => true,
                (Kind::Float | Kind::Double | Kind::Fixed32 | Kind::Fixed64, Part::Fixed) => true,
                (kind, Part::Numbers) => !matches!(kind, Kind::Message(_) | Kind::String | Kind::Bytes),
                _ => false,
            };
            assert!(agrees, "{}: {part:?}", field.full_name());
        }
    }
}

#[test]
fn messages_weigh_by_their_parts() {
    // A node of 3 bytes of name, and of 600 numbers of one byte in an attribute's list.
    let list = attr_value::ListValue { i: vec![1; 600], ..Default::default() };
    let node = NodeDef {
        name: "abc".into(),
        attr: attrs([("a", Value::List(Box::new(list)))]),
        ..Default::default()
    };
    let graph = GraphDef { node: vec![node], ..Default::default() };
    // The graph, the node, the attribute's entry, its value and the list; two strings and their text.
    let expected = 5 * 320 + 2 * 48 + 3 + 1 + 600 * 8;
    assert_eq!(weight::<GraphDef>(&encode(&graph)), expected);
    assert_eq!(weight_of("tensorflow.NoMessage", &[1, 2, 3]), 3);
}
