//! Tests of several ops together, on files.

use millstream_graph::op::NodeInfo;
use millstream_graph::op::lone;
use millstream_graph::{Attr, Attrs};
use millstream_tensor::{DType, Result, Tensor};
use std::path::PathBuf;

fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("millstream-ops-{}-{test}", std::process::id()));
    let _fresh = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("makes the folder");
    folder
}

fn strings(texts: &[&str]) -> Tensor {
    Tensor::strings([texts.len()], texts.iter().map(|&t| t.into()).collect()).expect("strings")
}

fn call(op: &str, inputs: &[Tensor], attrs: &[(&'static str, Attr)]) -> Result<Vec<Tensor>> {
    let mut all = Attrs::new();
    for (name, value) in attrs {
        all.set(*name, value.clone());
    }
    let types: Vec<_> = inputs.iter().map(|t| t.dtype().into()).collect();
    let op = crate::registry().get(op).expect("declared");
    lone::run(&NodeInfo::resolve(op, "case", &types, all)?, &lone::env(), inputs)
}

fn restore(prefix: &str, name: &str, part: &str, dtype: DType) -> Result<Tensor> {
    let inputs = [Tensor::str(prefix), strings(&[name]), strings(&[part])];
    let mut out = call("RestoreV2", &inputs, &[("dtypes", Attr::List(vec![dtype.into()]))])?;
    Ok(out.remove(0))
}

#[test]
fn saved_restored_merged() -> Result<()> {
    let folder = folder("io");
    let at = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let rows = Tensor::from_slice([4, 2], &[0f32, 1., 2., 3., 4., 5., 6., 7.])?;
    let (a, b, whole) = (at("a"), at("parts/b"), at("whole"));
    let save = |prefix: &str, name: &str, own: &str, part: &str, rows: Tensor| {
        let inputs =
            [Tensor::str(prefix), strings(&[name, own]), strings(&[part, ""]), rows, Tensor::str("text")];
        call("SaveV2", &inputs, &[])
    };
    save(&a, "rows", "own_a", "4 2 0,3:-", rows.rows(0, 3)?)?;
    save(&b, "rows", "own_b", "4 2 3,1:-", rows.rows(3, 1)?)?;
    call("MergeV2Checkpoints", &[strings(&[&a, &b]), Tensor::str(whole.as_str())], &[])?;
    assert!(!folder.join("parts").exists(), "the emptied folder is gone");
    assert!(restore(&whole, "rows", "", DType::F32)?.bits_eq(&rows));
    assert!(restore(&whole, "rows", "4 2 2,2:-", DType::F32)?.bits_eq(&rows.rows(2, 2)?));
    assert_eq!(restore(&whole, "own_b", "", DType::Str)?.as_strs().map(|s| s[0].text()), Some("text".into()));

    let safe = at("model.safetensors");
    let inputs = [Tensor::str(safe.as_str()), strings(&["w"]), strings(&[""]), rows.clone()];
    call("SaveV2", &inputs, &[])?;
    assert!(restore(&safe, "w", "", DType::F32)?.bits_eq(&rows));

    #[track_caller]
    fn refused(result: Result<Tensor>, why: &str) {
        let error = result.expect_err(why);
        assert!(error.to_string().contains(why), "{error}");
    }
    refused(restore(&whole, "rows", "", DType::F64), "`rows` is f32[4,2] in checkpoint");
    refused(restore(&whole, "row", "", DType::F32), "there is no tensor `row` in checkpoint");
    refused(restore(&whole, "rows", "5 2 0,1:-", DType::F32), "wanted as a part of a tensor of shape [5,2]");
    std::fs::remove_dir_all(&folder).expect("removes the folder");
    Ok(())
}
