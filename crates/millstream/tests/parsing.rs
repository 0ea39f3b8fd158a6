//! Parsing and tables against TensorFlow 1.15 (`tests/golden/make_parsing.py`).

use millstream::lookup::{
    HashTable, Lookup, MutableHashTable, TableInitializer, index_table_from_file, index_table_from_tensor,
    index_to_string_table_from_file, index_to_string_table_from_tensor,
};
use millstream::parsing::{
    Column, Feature, FixedLenFeature, FixedLenSequenceFeature, Parsed, SparseFeature, VarLenFeature,
    decode_csv, deserialize_many_sparse, deserialize_sparse, parse_example, parse_named_example,
    parse_named_sequence_example, parse_sequence_example, parse_single_example,
    parse_single_sequence_example, serialize_many_sparse, serialize_sparse,
};
use millstream::prelude::*;
use millstream::{Code, FeedList, SparseTensor, Str};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}

fn strings(hex: &Value) -> Tensor {
    let texts: Vec<Str> = list(hex).iter().map(|s| bytes(text(s)).into()).collect();
    Tensor::strings([texts.len()], texts).unwrap()
}

fn dtype(name: &str) -> DType {
    DType::parse(name).expect("a dtype")
}

/// Returns nested lists of numbers and texts as a tensor.
fn tensor(dtype: DType, value: &Value) -> Tensor {
    fn flatten<'v>(value: &'v Value, depth: usize, dims: &mut Vec<usize>, flat: &mut Vec<&'v Value>) {
        let Value::Array(items) = value else { return flat.push(value) };
        if dims.len() == depth {
            dims.push(items.len());
        }
        items.iter().for_each(|item| flatten(item, depth + 1, dims, flat));
    }
    let (mut dims, mut flat) = (Vec::new(), Vec::new());
    flatten(value, 0, &mut dims, &mut flat);
    let shape = Shape::new(dims);
    let float = |v: &&Value| v.as_f64().expect("a number");
    match dtype {
        DType::Str => Tensor::strings(shape, flat.iter().map(|v| text(v).into()).collect()),
        DType::F32 => Tensor::from_iter(shape, flat.iter().map(|v| float(v) as f32)),
        DType::F64 => Tensor::from_iter(shape, flat.iter().map(float)),
        DType::I32 => Tensor::from_iter(shape, flat.iter().map(|v| v.as_i64().expect("an int") as i32)),
        _ => Tensor::from_iter(shape, flat.iter().map(|v| v.as_i64().expect("an int"))),
    }
    .unwrap()
}

/// Returns a tensor as in the golden file: dtype, shape, flat values.
fn listed(t: &Tensor) -> Value {
    let floats = |v: f64| if v.is_finite() { json!(v) } else { json!(v.to_string()) };
    let values: Vec<Value> = match t.dtype() {
        DType::F32 => t.as_slice::<f32>().unwrap().iter().map(|&v| floats(v.into())).collect(),
        DType::F64 => t.as_slice::<f64>().unwrap().iter().map(|&v| floats(v)).collect(),
        DType::I32 => t.as_slice::<i32>().unwrap().iter().map(|&v| json!(v)).collect(),
        DType::I64 => t.as_slice::<i64>().unwrap().iter().map(|&v| json!(v)).collect(),
        _ => {
            let hex = |s: &Str| json!(s.iter().map(|b| format!("{b:02x}")).collect::<String>());
            t.as_strs().unwrap().iter().map(hex).collect()
        }
    };
    json!([t.dtype().to_string(), t.shape().dims(), values])
}

/// Returns the tensor of a listing by [`listed`].
fn unlisted(value: &Value) -> Tensor {
    let dtype = dtype(text(&value[0]));
    let flat = match dtype {
        DType::Str => strings(&value[2]),
        _ if list(&value[2]).is_empty() => Tensor::zeros(dtype, [0]).unwrap(),
        _ => tensor(dtype, &value[2]),
    };
    flat.into_shape(Shape::new(list(&value[1]).iter().map(|d| d.as_u64().expect("a size") as usize))).unwrap()
}

/// Infinities and NaN are not JSON: Python writes them as words, which this turns into strings.
fn golden(part: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/parsing.json");
    let text = std::fs::read_to_string(path).expect("the golden file");
    let text = text.replace("[Infinity]", "[\"inf\"]").replace("[NaN]", "[\"NaN\"]");
    rounded(serde_json::from_str::<Value>(&text).expect("JSON")[part].take())
}

/// Compares floats as f32: as f64 they may differ in the last digit.
fn rounded(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(rounded).collect(),
        Value::Object(all) => all.into_iter().map(|(k, v)| (k, rounded(v))).collect(),
        Value::Number(n) if n.is_f64() => json!(f64::from(n.as_f64().unwrap_or(0.0) as f32)),
        other => other,
    }
}

fn feature(spec: &Value) -> Feature {
    let dims = |v: &Value| Shape::new(list(v).iter().map(|d| d.as_u64().expect("a size") as usize));
    match text(&spec[0]) {
        "fixed" => {
            let (dtype, shape) = (dtype(text(&spec[1])), dims(&spec[2]));
            let feature = FixedLenFeature::new(shape, dtype);
            if spec[3].is_null() { feature } else { feature.default_value(tensor(dtype, &spec[3])) }.into()
        }
        "var" => VarLenFeature::new(dtype(text(&spec[1]))).into(),
        "seq" => {
            let dtype = dtype(text(&spec[1]));
            let feature = FixedLenSequenceFeature::new(dims(&spec[2]), dtype);
            let feature = if spec[3] == true { feature.allow_missing() } else { feature };
            if spec[4].is_null() { feature } else { feature.default_value(tensor(dtype, &spec[4])) }.into()
        }
        _ => SparseFeature::new([text(&spec[1])], text(&spec[2]), dtype(text(&spec[3])), spec[4].as_i64())
            .into(),
    }
}

fn features(specs: &Value) -> Vec<(String, Feature)> {
    let Some(specs) = specs.as_object() else { return Vec::new() };
    specs.iter().map(|(key, spec)| (key.clone(), feature(spec))).collect()
}

fn compare(got: Result<BTreeMap<String, Vec<Value>>>, case: &Value) {
    match (got, case["error"].as_str()) {
        // A length past the end of the message, which TensorFlow accepts.
        (Err(error), None) if case["serialized"].to_string().contains("\"0affffffff0f\"") => {
            assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        }
        (Ok(got), None) => {
            let want: BTreeMap<String, Vec<Value>> = serde_json::from_value(case["outputs"].clone()).unwrap();
            assert_eq!(got, want, "{case}");
        }
        (Err(error), Some(code)) => assert_eq!(error.code().name(), code, "{case}: {error}"),
        (got, _) => panic!("{case}: {got:?}"),
    }
}

#[test]
fn parse_as_tensorflow_does() {
    let examples = golden("examples");
    for case in list(&examples) {
        let run = || -> Result<BTreeMap<String, Vec<Value>>> {
            let g = Graph::new();
            let all = strings(&case["serialized"]);
            let one = || Tensor::str(all.as_strs().unwrap()[0].clone());
            let features = features(&case["features"]);
            let mut fetched: Vec<(String, Vec<Output<'_>>)> = Vec::new();
            let mut add = |parsed: &Parsed<'_>, specs: &Value| -> Result<()> {
                for (key, spec) in specs.as_object().into_iter().flatten() {
                    let outputs = match text(&spec[0]) {
                        "fixed" | "seq" => vec![g.output(&parsed.dense(key)?.name())?],
                        _ => {
                            let sparse = parsed.sparse(key)?;
                            [sparse.indices, sparse.values, sparse.dense_shape]
                                .into_iter()
                                .map(|o| g.output(&o.name()))
                                .collect::<Result<_>>()?
                        }
                    };
                    fetched.push((key.clone(), outputs));
                }
                Ok(())
            };
            let names = || {
                let names: Vec<Str> = list(&case["names"]).iter().map(|n| text(n).into()).collect();
                Tensor::strings([names.len()], names)
            };
            match text(&case["function"]) {
                "parse_sequence_example" => {
                    let lists = self::features(&case["lists"]);
                    let (context, steps, lengths) = match case["names"].is_array() {
                        true => parse_named_sequence_example(&g, all.clone(), names()?, features, lists)?,
                        false => parse_sequence_example(&g, all.clone(), features, lists)?,
                    };
                    add(&context, &case["features"])?;
                    add(&steps, &case["lists"])?;
                    for (key, length) in lengths {
                        fetched.push((format!("length of {key}"), vec![g.output(&length.name())?]));
                    }
                }
                "parse_example" if case["names"].is_array() => {
                    let names = names()?;
                    add(&parse_named_example(&g, all.clone(), names, features)?, &case["features"])?;
                }
                "parse_example" => add(&parse_example(&g, all.clone(), features)?, &case["features"])?,
                "parse_single_example" => {
                    add(&parse_single_example(&g, one(), features)?, &case["features"])?
                }
                _ => {
                    let lists = self::features(&case["lists"]);
                    let (context, steps) = parse_single_sequence_example(&g, one(), features, lists)?;
                    add(&context, &case["features"])?;
                    add(&steps, &case["lists"])?;
                }
            }
            let session = Session::new(&g)?;
            let mut got = BTreeMap::new();
            for (key, outputs) in fetched {
                let values: Vec<Tensor> = session.run(outputs.clone(), feed![])?;
                for (output, value) in outputs.iter().zip(&values) {
                    assert!(
                        output.shape().admits(value.shape()),
                        "{key}: {} is {}",
                        output.shape(),
                        value.shape()
                    );
                }
                got.insert(key, values.iter().map(listed).collect());
            }
            Ok(got)
        };
        compare(run(), case);
    }
}

/// Errors that TensorFlow lacks: it does not check the indices of a sparse tensor.
#[test]
fn single_ops_do_as_tensorflows() {
    let ops = golden("ops");
    for case in list(&ops) {
        let run = || -> Result<Vec<Value>> {
            let g = Graph::new();
            let given: Vec<Tensor> = list(&case["inputs"]).iter().map(unlisted).collect();
            let fed: Vec<Output<'_>> =
                given.iter().map(|t| g.placeholder_of("x", t.dtype(), PartialShape::unknown())).collect();
            let mut node = g.op(text(&case["op"]).to_owned()).inputs(&fed);
            for (name, value) in case["attrs"].as_object().unwrap() {
                node = node.attr(name.clone(), dtype(text(value)));
            }
            let outputs = node.try_finish()?.outputs();
            let feeds = fed.iter().zip(given).fold(FeedList::new(), |list, (x, v)| list.and(*x, v));
            let values: Vec<Tensor> = Session::new(&g)?.run(outputs, feeds)?;
            Ok(values.iter().map(listed).collect())
        };
        match (run(), case["error"].as_str()) {
            (Ok(got), None) => assert_eq!(&got, list(&case["outputs"]), "{case}"),
            (Err(error), Some(code)) => assert_eq!(error.code().name(), code, "{case}: {error}"),
            (got, _) => panic!("{case}: {got:?}"),
        }
    }
}

#[test]
fn decode_csv_as_tensorflow_does() {
    let csv = golden("csv");
    for case in list(&csv) {
        let run = || -> Result<Vec<Value>> {
            let g = Graph::new();
            let column = |default: &Value| -> Result<Column<'_>> {
                let dtype = dtype(text(&default[0]));
                let values = tensor(dtype, &default[1]);
                Ok(if values.elements() == 0 { Column::required(dtype) } else { Column::or(values) })
            };
            let columns = list(&case["defaults"]).iter().map(column).collect::<Result<Vec<_>>>()?;
            let mut csv = decode_csv(&g, strings(&case["records"]), columns);
            for (name, value) in case["attrs"].as_object().unwrap() {
                csv = match &**name {
                    "field_delim" => csv.field_delim(text(value)),
                    "use_quote_delim" => csv.use_quote_delim(value == true),
                    "na_value" => csv.na_value(text(value)),
                    _ => csv.select_cols(list(value).iter().map(|c| c.as_i64().unwrap())),
                };
            }
            let values: Vec<Tensor> = Session::new(&g)?.run(csv.run()?, feed![])?;
            Ok(values.iter().map(listed).collect())
        };
        match (run(), case["error"].as_str()) {
            (Ok(got), None) => assert_eq!(&got, list(&case["outputs"]), "{case}"),
            (Err(error), Some(code)) => assert_eq!(error.code().name(), code, "{case}: {error}"),
            (got, _) => panic!("{case}: {got:?}"),
        }
    }
}

#[test]
fn tables_do_as_tensorflows() {
    let tables = golden("tables");
    for table in list(&tables) {
        let g = Graph::new();
        let op = text(&table["op"]).to_owned();
        let reserved = list(&table["keys"]).iter().map(text);
        let node = g.op(op).inputs(reserved.map(Tensor::str));
        let handle = node.attr("key_dtype", DType::Str).attr("value_dtype", DType::I64).output();
        let session = Session::new(&g).unwrap();
        let given = |v: &Value| tensor(dtype(text(&v[0])), &v[1]);
        for step in list(&table["steps"]) {
            let (word, args) = (text(&step[0]), &step[1]);
            let two = |op: &'static str| g.op(op).input(handle).input(given(&args[0])).input(given(&args[1]));
            let nothing = |op: millstream::OpBuilder<'_>| {
                session.run::<()>(op.try_finish()?, feed![]).map(|()| Value::Null)
            };
            let run = || -> Result<Value> {
                match word {
                    "find" => {
                        let values = two("LookupTableFindV2").try_finish()?.output(0);
                        session.run::<Tensor>(values, feed![]).map(|t| listed(&t))
                    }
                    "size" => {
                        let size = g.op("LookupTableSizeV2").input(handle).output();
                        session.run::<i64>(size, feed![]).map(|n| json!(n))
                    }
                    "export" => {
                        let op = g.op("LookupTableExportV2").input(handle);
                        let op = op.attr("Tkeys", DType::Str).attr("Tvalues", DType::I64).finish();
                        let both: (Tensor, Tensor) = session.run((op.output(0), op.output(1)), feed![])?;
                        Ok(json!([listed(&both.0), listed(&both.1)]))
                    }
                    "remove" => nothing(g.op("LookupTableRemoveV2").input(handle).input(given(&args[0]))),
                    "insert" => nothing(two("LookupTableInsertV2")),
                    "import" => nothing(two("LookupTableImportV2")),
                    _ => nothing(two("InitializeTableV2")),
                }
            };
            match (run(), step[2]["error"].as_str()) {
                (Ok(got), None) => assert_eq!(got, step[2], "{word} of {table}"),
                // TensorFlow has two codes for an uninitialized table; here there is one.
                (Err(error), Some("ABORTED")) => {
                    assert_eq!(error.code(), Code::FailedPrecondition, "{error}")
                }
                (Err(error), Some(code)) => assert_eq!(error.code().name(), code, "{step}: {error}"),
                (got, _) => panic!("{step}: {got:?}"),
            }
        }
    }
}

#[test]
fn tables_are_filled_from_files() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("vocabularies");
    std::fs::create_dir_all(&folder).unwrap();
    let files = golden("files");
    for (i, case) in list(&files).iter().enumerate() {
        let path = folder.join(i.to_string());
        std::fs::write(&path, bytes(text(&case["content"]))).unwrap();
        let g = Graph::new();
        let (key, value) = (dtype(text(&case["key"][0])), dtype(text(&case["value"][0])));
        let table = g.op("HashTableV2").attr("key_dtype", key).attr("value_dtype", value).output();
        let mut fill = g.op("InitializeTableFromTextFileV2").input(table).input(path.to_str().unwrap());
        fill = fill.attr("key_index", case["key"][1].as_i64().unwrap());
        fill = fill.attr("value_index", case["value"][1].as_i64().unwrap());
        for (name, value) in case["attrs"].as_object().unwrap() {
            fill = match value {
                Value::String(s) => fill.attr(name.clone(), s.as_str()),
                n => fill.attr(name.clone(), n.as_i64().unwrap()),
            };
        }
        let fill = fill.finish();
        let export = g.op("LookupTableExportV2").input(table);
        let export = export.attr("Tkeys", key).attr("Tvalues", value).finish();
        let session = Session::new(&g).unwrap();
        let run = || -> Result<Value> {
            session.run::<()>(fill, feed![])?;
            let both: (Tensor, Tensor) = session.run((export.output(0), export.output(1)), feed![])?;
            Ok(json!([listed(&both.0), listed(&both.1)]))
        };
        match (run(), case["error"].as_str()) {
            (Ok(got), None) => assert_eq!(got, case["outputs"], "{case}"),
            // An empty file is an empty vocabulary, not the end of the input.
            (Ok(got), Some("OUT_OF_RANGE")) => assert_eq!(got[0][1], json!([0]), "{case}"),
            (Err(error), Some(code)) => assert_eq!(error.code().name(), code, "{case}: {error}"),
            (got, _) => panic!("{case}: {got:?}"),
        }
    }
}

/// Returns the name, type and inputs of all nodes.
fn nodes(g: &Graph) -> Value {
    g.check().expect("no mistakes");
    let line = |op: Op<'_>| {
        let inputs: Vec<String> = op.inputs().iter().map(|i| i.name()).collect();
        json!([op.name(), op.op_type(), inputs])
    };
    g.operations().into_iter().map(line).collect()
}

/// Compares the nodes that `build` adds with those of the golden file.
#[track_caller]
fn made(name: &str, build: impl Fn(&Graph)) {
    let golden = golden("nodes");
    let g = Graph::new();
    build(&g);
    let (ours, theirs) = (nodes(&g), &golden[name]);
    for (ours, theirs) in list(&ours).iter().zip(list(theirs)) {
        assert_eq!(ours, theirs, "{name}");
    }
    assert_eq!(list(&ours).len(), list(theirs).len(), "{name}");
}

#[test]
fn nodes_are_tensorflows() {
    let context = || -> Vec<(&str, Feature)> {
        vec![
            ("a", FixedLenFeature::new(shape![], DType::F32).into()),
            ("b", VarLenFeature::new(DType::I64).into()),
            ("c", FixedLenFeature::new(shape![], DType::Str).default_value(Tensor::str("x")).into()),
        ]
    };
    let specs = || {
        let mut specs = context();
        specs[0].1 = FixedLenFeature::new([2], DType::F32).into();
        let filled = FixedLenSequenceFeature::new(shape![], DType::Str).allow_missing();
        specs.push(("d", FixedLenSequenceFeature::new([3], DType::F32).allow_missing().into()));
        specs.push(("e2", filled.default_value(Tensor::str("q")).into()));
        specs
    };
    made("parse_example", |g| {
        drop(parse_example(g, g.placeholder_of("s", DType::Str, shape![_]), specs()).unwrap())
    });
    made("parse_single_example", |g| {
        drop(parse_single_example(g, g.placeholder_of("s", DType::Str, shape![]), specs()).unwrap());
    });
    made("parse_single_sequence_example", |g| {
        let steps: [(&str, Feature); 3] = [
            ("l", FixedLenSequenceFeature::new(shape![], DType::I64).into()),
            ("m", VarLenFeature::new(DType::Str).into()),
            ("n", FixedLenSequenceFeature::new([2], DType::F32).allow_missing().into()),
        ];
        let context = specs().into_iter().take(3);
        let s = g.placeholder_of("s", DType::Str, shape![]);
        drop(parse_single_sequence_example(g, s, context, steps).unwrap());
    });
    made("parse_sequence_example", |g| {
        let steps: [(&str, Feature); 3] = [
            ("l", FixedLenSequenceFeature::new(shape![], DType::I64).into()),
            ("m", VarLenFeature::new(DType::Str).into()),
            ("n", FixedLenSequenceFeature::new([2], DType::F32).allow_missing().into()),
        ];
        let context = specs().into_iter().take(3);
        let s = g.placeholder_of("s", DType::Str, shape![_]);
        drop(parse_sequence_example(g, s, context, steps).unwrap());
    });
    made("decode_csv", |g| {
        let s = g.placeholder_of("s", DType::Str, shape![_]);
        let columns = [Column::or("x"), Column::or(0.5f32), Column::or(7)];
        drop(decode_csv(g, s, columns).field_delim(";").select_cols([0, 2, 3]).run().unwrap());
    });
    made("sparse", |g| {
        let sparse = || SparseTensor {
            indices: g.placeholder::<i64>("i", shape![_, 2]),
            values: g.placeholder::<f32>("v", shape![_]),
            dense_shape: g.placeholder::<i64>("d", shape![2]),
        };
        let rows = serialize_many_sparse(g, &sparse()).unwrap();
        let back = deserialize_many_sparse(g, rows, DType::F32, Some(2)).unwrap();
        assert_eq!((back.indices.shape(), back.dense_shape.shape()), (shape![_, 2], shape![2]));
        let one = serialize_sparse(g, &sparse()).unwrap();
        deserialize_sparse(g, one, DType::F32, None).unwrap();
    });
}

#[test]
fn nodes_of_tables_are_tensorflows() {
    let a = |g: &Graph| g.constant_tensor("Const", Tensor::strings([1], vec!["a".into()]).unwrap()).name();
    let one = |g: &Graph| g.constant([1i64]).name();
    made("index_file", |g| {
        let table = index_table_from_file(g, "V").num_oov_buckets(2).vocab_size(3).build().unwrap();
        table.lookup(g.output(&a(g)).unwrap()).unwrap();
        g.tables_initializer();
    });
    made("index_file_alone", |g| {
        let table = index_table_from_file(g, "V").build().unwrap();
        table.lookup(g.output(&a(g)).unwrap()).unwrap();
    });
    made("index_tensor", |g| {
        let table = index_table_from_tensor(g, ["a", "b"]).num_oov_buckets(1).build().unwrap();
        table.lookup(g.output(&a(g)).unwrap()).unwrap();
    });
    made("string_file", |g| {
        let table = index_to_string_table_from_file(g, "V", "U").unwrap();
        table.lookup(g.output(&one(g)).unwrap()).unwrap();
    });
    made("string_tensor", |g| {
        let table = index_to_string_table_from_tensor(g, ["a", "b"], "U").unwrap();
        table.lookup(g.output(&one(g)).unwrap()).unwrap();
    });
    made("dense_table", |g| {
        let key = g.output(&a(g)).unwrap();
        let table = MutableHashTable::dense(g, -1i64, "", "-").unwrap();
        table.lookup(key).unwrap();
        table.insert(key, g.output(&one(g)).unwrap()).unwrap();
        table.remove(key).unwrap();
        table.size();
        table.export().unwrap();
    });
    made("hash_table", |g| {
        let init = TableInitializer::key_values(g, ["a"], [1f32]).unwrap();
        let table = HashTable::new(g, init, -1f32).unwrap();
        table.lookup(g.output(&a(g)).unwrap()).unwrap();
        table.size();
        table.export().unwrap();
    });
}

#[test]
fn vocabularies_give_indices_and_buckets() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("words");
    std::fs::write(&path, "the\ncat\nsat\n").unwrap();
    let g = Graph::new();
    let table = index_table_from_file(&g, path.to_str().unwrap()).num_oov_buckets(3).build().unwrap();
    let back = index_to_string_table_from_file(&g, path.to_str().unwrap(), "?").unwrap();
    let words = g.placeholder_of("words", DType::Str, shape![_]);
    let ids = table.lookup(words).unwrap();
    let again = back.lookup(ids).unwrap();
    let size = table.size();
    let session = Session::new(&g).unwrap();
    let given = Tensor::strings([4], ["sat", "dog", "the", "mat"].map(Str::from).to_vec()).unwrap();
    let error = session.run::<Tensor>(ids, feed![words => given.clone()]).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.to_string().contains("tables_initializer"), "{error}");
    session.run::<()>(g.tables_initializer(), feed![]).unwrap();
    let (ids, again, size): (Vec<i64>, Tensor, i64) =
        session.run((ids, again, size), feed![words => given]).unwrap();
    assert_eq!((ids[0], ids[2], size), (2, 0, 6));
    assert!((3..6).contains(&ids[1]) && (3..6).contains(&ids[3]), "{ids:?}");
    assert_eq!(again.to_string(), "str[4] [\"sat\" \"?\" \"the\" \"?\"]");
}

#[test]
fn tables_of_tensors_change_and_keep_their_values() {
    let g = Graph::new();
    let table = MutableHashTable::new(&g, DType::I64, [0f32, 0.5]).unwrap();
    let keys = g.placeholder::<i64>("keys", shape![_]);
    let values = g.placeholder::<f32>("values", shape![_, 2]);
    let (insert, remove, find) =
        (table.insert(keys, values).unwrap(), table.remove(keys).unwrap(), table.lookup(keys).unwrap());
    let session = Session::new(&g).unwrap();
    session.run::<()>(insert, feed![keys => [3i64, 4], values => [[1f32, 2.0], [3.0, 4.0]]]).unwrap();
    session.run::<()>(remove, feed![keys => [4i64]]).unwrap();
    let found: Tensor = session.run(find, feed![keys => [4i64, 3]]).unwrap();
    assert_eq!(found.to_string(), "f32[2,2] [[0 0.5] [1 2]]");
}
