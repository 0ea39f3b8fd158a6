//! Summaries against TensorFlow 1.15: messages byte for byte, names, tags and collections.

use millstream::prelude::*;
use millstream::{CollectionItem, Str, summary};
use serde_json::{Value, json};

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/summaries.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|d| d[0] * 16 + d[1]).collect()
}

fn tensor(value: &Value) -> Tensor {
    let shape: Vec<usize> =
        value["shape"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap() as usize).collect();
    let values = texts(&value["values"]);
    let dtype = value["dtype"].as_str().unwrap();
    if dtype == "string" {
        return Tensor::strings(shape, values.iter().map(|v| Str::from(bytes(v).as_slice())).collect())
            .unwrap();
    }
    let name = DType::parse(dtype).unwrap();
    let literal: Vec<String> =
        values.iter().map(|v| v.trim_matches(['(', ')']).to_lowercase().replace("1+2j", "1+2i")).collect();
    Tensor::parse(&format!("{name}[{}] [{}]", literal.len(), literal.join(" ")))
        .unwrap()
        .reshape(shape)
        .unwrap()
}

/// Returns the height, width, channels and pixels of each image tag.
fn pictures(summary: &Tensor) -> Vec<Value> {
    let picture = |v: &millstream::interop::proto::summary::Value| {
        let Some(millstream::interop::proto::summary::value::Value::Image(image)) = &v.value else {
            panic!("no image")
        };
        let mut reader =
            png::Decoder::new(std::io::Cursor::new(&image.encoded_image_string)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.width as i32, frame.height as i32), (image.width, image.height));
        assert_eq!(frame.color_type.samples() as i32, image.colorspace);
        let hex: String = pixels.iter().map(|b| format!("{b:02x}")).collect();
        json!([v.tag, image.height, image.width, image.colorspace, hex])
    };
    summary::decode(summary).unwrap().value.iter().map(picture).collect()
}

#[test]
fn messages_are_those_of_tensorflow() {
    let golden = golden();
    let (mut values, mut images, mut errors) = (0, 0, 0);
    for entry in golden["ops"].as_array().unwrap() {
        let g = Graph::new();
        let op = entry["op"].as_str().unwrap().to_owned();
        let inputs = entry["inputs"].as_array().unwrap().iter().map(|v| g.constant(tensor(v)));
        let inputs: Vec<Output<'_>> = inputs.collect();
        let mut node = g.op(op).inputs(inputs);
        for (name, value) in entry["attrs"].as_object().into_iter().flatten() {
            node = match value.as_array() {
                None => node.attr(name.clone(), value.as_i64().unwrap()),
                Some(color) => {
                    let color: Vec<u8> = color.iter().map(|c| c.as_u64().unwrap() as u8).collect();
                    node.attr(name.clone(), Tensor::vector(&color).unwrap())
                }
            };
        }
        let made = node.output();
        let got = Session::new(&g).and_then(|s| s.run::<Tensor>(made, feed![]));
        if let (Some(want), Ok(summary)) = (entry["images"].as_array(), &got) {
            assert_eq!(&pictures(summary), want, "{entry}");
            images += 1;
            continue;
        }
        match (entry["summary"].as_str(), got) {
            (Some(hex), Ok(summary)) => {
                assert_eq!(summary.as_strs().unwrap(), [Str::from(bytes(hex).as_slice())], "{entry}");
                values += 1;
            }
            (None, Err(error)) => {
                assert_eq!(error.code() as u64, entry["error"].as_u64().unwrap(), "{entry}");
                errors += 1;
            }
            (_, got) => panic!("{entry} but got {got:?}"),
        }
    }
    assert!(values > 60 && images > 25 && errors > 20, "{values} {images} {errors}");
}

fn check(name: &str, g: &Graph) {
    let golden = golden();
    let golden = &golden["programs"][name];
    let nodes: Vec<String> = g
        .operations()
        .iter()
        .map(|op| {
            let inputs: Vec<String> = op.inputs().iter().map(|o| o.name()).collect();
            let inputs = if inputs.is_empty() { "-".to_owned() } else { inputs.join(",") };
            format!("{} {} {inputs}", op.name(), op.op_type())
        })
        .collect();
    assert_eq!(nodes, texts(&golden["nodes"]));
    let session = Session::new(g).unwrap();
    for (node, tag) in golden["tags"].as_object().unwrap() {
        let made: Tensor = session.run(g.output(node).unwrap(), feed![]).unwrap();
        assert_eq!(summary::decode(&made).unwrap().value[0].tag, tag.as_str().unwrap());
    }
    for (collection, names) in golden["collections"].as_object().unwrap() {
        let items: Vec<String> = g
            .collection(collection)
            .into_iter()
            .map(|item| match item {
                CollectionItem::Node(name) => name,
                _ => panic!("no node"),
            })
            .collect();
        assert_eq!(items, texts(names), "{collection}");
    }
}

fn x(g: &Graph) -> Output<'_> {
    g.constant_tensor("x", Tensor::scalar(2.5f32))
}

#[test]
fn names_and_tags_are_those_of_tensorflow() {
    let g = Graph::new();
    let x = x(&g);
    summary::scalar(&g, "loss", x);
    summary::scalar(&g, "loss", x);
    g.name_scope("a", || {
        summary::scalar(&g, "b c/(d)", x);
        summary::family("fam").histogram(&g, "h", x);
        summary::scalar(&g, "_under", x);
    });
    summary::collections(["mine"]).family("/other family").scalar(&g, "/slash", x);
    summary::collections(["mine", summary::SUMMARIES]).histogram(&g, "twice", x);
    check("names", &g);
}

#[test]
fn pictures_sounds_and_texts_are_named_as_tensorflows() {
    let g = Graph::new();
    let x = x(&g);
    let image = g.placeholder::<f32>("image", shape![_, 2, 2, 3]);
    let sound = g.placeholder::<f32>("sound", shape![_, 5]);
    let said = g.placeholder_of("said", DType::Str, shape![]);
    summary::image(&g, "picture", image, 3);
    summary::family("fam").image(&g, "picture", image, 1);
    g.name_scope("a", || {
        summary::collections(["mine"]).audio(&g, "b c", sound, 8000f32, 3);
        summary::audio(&g, "d", sound, x, 5);
        summary::text(&g, "e", said);
    });
    let metadata = summary::SummaryMetadata {
        summary_description: "what it is".into(),
        display_name: "T".into(),
        ..Default::default()
    };
    summary::tensor_summary(&g, "t", x, &metadata);
    check("shown", &g);
}

#[test]
fn merged_summaries_are_named_as_tensorflows() {
    let g = Graph::new();
    let x = x(&g);
    let first = summary::scalar(&g, "first", x);
    let second = summary::histogram(&g, "in/second", x);
    summary::merge(&g, [first, second]);
    summary::merge(g.named("all of"), [first]);
    summary::merge_all(&g).unwrap().unwrap();
    summary::merge_all(g.named("named")).unwrap().unwrap();
    summary::merge_all_of(&g, summary::SUMMARIES, "in/").unwrap().unwrap();
    assert!(summary::merge_all_of(&g, "none", "").unwrap().is_none());
    check("merged", &g);
}

#[test]
fn mistakes_name_what_is_wrong() {
    let error = |make: &dyn for<'g> Fn(&'g Graph) -> Output<'g>| {
        let g = Graph::new();
        let made = make(&g);
        let error = Session::new(&g).and_then(|s| s.run::<Tensor>(made, feed![])).unwrap_err();
        assert_eq!(error.code(), millstream::Code::InvalidArgument);
        error.to_string()
    };
    let text = error(&|g| summary::scalar(g, "_x", 1f32));
    assert!(text.contains("'_x' is not a valid scope name") && text.contains("summaries.rs"), "{text}");
    assert!(error(&|g| summary::scalar(g, "ä", 1f32)).contains("'ä' is not a valid scope name"));
    assert!(error(&|g| summary::scalar(g, "", 1f32)).contains("'' is not a valid scope name"));
    assert!(error(&|g| summary::scalar(g, "x", true)).contains("`T`"));
    let text = error(&|g| summary::scalar(g, "x", [1f32, 2.0]));
    assert!(text.contains("tags and values not the same shape: [] != [2] (tag 'x')"), "{text}");
    let text = error(&|g| summary::histogram(g, "h", f32::NAN));
    assert!(text.contains("Nan in summary histogram for: h"), "{text}");
    let text = error(&|g| summary::merge(g, [g.constant("xyz")]));
    assert!(text.contains("Could not parse one of the summary inputs"), "{text}");
    assert!(
        summary::decode(&Tensor::scalar(1f32)).unwrap_err().to_string().contains("a summary is one string")
    );
    let g = Graph::new();
    g.add_to_collection(summary::SUMMARIES, CollectionItem::Int(1));
    assert!(summary::merge_all(&g).unwrap_err().to_string().contains("holds values that are not summaries"));
}
