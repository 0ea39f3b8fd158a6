//! Golden values of single ops, each in a graph of its own with fed inputs. `tests/golden/README.md` defines
//! the format.

use crate::compare::Compare;
use crate::graphs::npz;
use crate::json::{self, Text};
use crate::tiers::Setting;
use millstream_graph::{Attr, Attrs, Graph, Output};
use millstream_runtime::{FeedList, Target};
use millstream_tensor::{DType, PartialShape, Tensor};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// A family of golden values.
#[derive(Debug)]
pub struct Family {
    entries: Vec<Value>,
    arrays: HashMap<String, Tensor>,
}

impl Family {
    /// Reads `FAMILY.json` and the arrays beside it.
    pub fn load(path: &Path) -> Text<Family> {
        let entries = json::read(path)?.as_array().cloned().ok_or("no list")?;
        let arrays = npz(&path.with_extension("npz"))?.into_iter().collect();
        Ok(Family { entries, arrays })
    }

    /// The entries, each with a name.
    pub fn entries(&self) -> impl Iterator<Item = (String, Entry<'_>)> {
        self.entries.iter().enumerate().map(move |(i, entry)| {
            let op = entry.get("op").and_then(Value::as_str).unwrap_or("?");
            (format!("{op} #{i}"), Entry { family: self, entry })
        })
    }
}

/// An op with inputs and expected results.
#[derive(Debug)]
pub struct Entry<'a> {
    family: &'a Family,
    entry: &'a Value,
}

impl Entry<'_> {
    fn arrays(&self, keys: &[&str]) -> Text<Vec<Tensor>> {
        let find = |k: &&str| self.family.arrays.get(*k).cloned().ok_or_else(|| format!("no array `{k}`"));
        keys.iter().map(find).collect()
    }

    /// Runs the op through a graph and a session, and compares the results.
    pub fn check(&self, setting: &Setting) -> Text<()> {
        let got = self.run(setting);
        let first = self.agrees(self.entry, &got);
        match (first, self.entry.get("also")) {
            (Ok(()), _) => Ok(()),
            (Err(e), None) => Err(format!("{setting}: {e}\n{}", self.entry)),
            (Err(e), Some(also)) => match (self.each_agrees(also, &got), self.agrees(also, &got)) {
                (Ok(()), _) | (_, Ok(())) => Ok(()),
                (Err(or), Err(_)) => Err(format!("{setting}: {e}\nand {or}\n{}", self.entry)),
            },
        }
    }

    fn agrees(&self, answer: &Value, got: &Text<Vec<Tensor>>) -> Text<()> {
        if let Some(code) = answer.get("error").and_then(Value::as_str) {
            return match got {
                Err(e) if e.starts_with(code) => Ok(()),
                Err(e) => Err(format!("{code} is wanted but got {e}")),
                Ok(values) => Err(format!("{code} is wanted but got {values:?}")),
            };
        }
        let want = self.arrays(&json::texts(answer, "outputs")?)?;
        let got = got.as_ref().map_err(Clone::clone)?;
        let how = match self.entry.get("compare") {
            Some(_) => Compare::parse(self.entry)?,
            // One version of TensorFlow returns an error, the other values.
            None => Compare::Exact,
        };
        if got.len() != want.len() {
            return Err(format!("{} values instead of {}", got.len(), want.len()));
        }
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            how.check(got, want).map_err(|e| format!("output {i}: {e}"))?;
        }
        Ok(())
    }

    /// Checks that each element agrees with one of the two expected results.
    fn each_agrees(&self, also: &Value, got: &Text<Vec<Tensor>>) -> Text<()> {
        if also.get("error").is_some() || self.entry.get("error").is_some() {
            return Err("no".into());
        }
        let how = Compare::parse(self.entry)?;
        let one = self.arrays(&json::texts(self.entry, "outputs")?)?;
        let two = self.arrays(&json::texts(also, "outputs")?)?;
        let got = got.as_ref().map_err(Clone::clone)?;
        for ((got, one), two) in got.iter().zip(&one).zip(&two) {
            if how.check(got, one).is_ok() || how.check(got, two).is_ok() {
                continue;
            }
            if one.shape() != got.shape() || two.shape() != got.shape() {
                return Err("another shape".into());
            }
            let flat = |t: &Tensor| t.reshape([t.elements()]).map_err(|e| e.to_string());
            let (g, a, b) = (flat(got)?, flat(one)?, flat(two)?);
            for i in 0..g.elements() {
                let row = |t: &Tensor| t.rows(i, 1).map_err(|e| e.to_string());
                let (g, a, b) = (row(&g)?, row(&a)?, row(&b)?);
                how.check(&g, &a).or_else(|_| how.check(&g, &b)).map_err(|e| format!("element {i}: {e}"))?;
            }
        }
        Ok(())
    }

    fn run(&self, setting: &Setting) -> Text<Vec<Tensor>> {
        let op = json::text(self.entry, "op")?;
        let inputs = self.arrays(&json::texts(self.entry, "inputs")?)?;
        let runs = self.entry.get("runs").and_then(Value::as_u64).unwrap_or(1);
        let graph = Graph::with_ops(millstream_ops::registry());
        let say = |e: millstream_tensor::Error| format!("{}: {e}", e.code().name());
        let fed: Vec<Output<'_>> =
            inputs.iter().map(|t| graph.placeholder_of("x", t.dtype(), PartialShape::unknown())).collect();
        let node = graph.op(op.to_owned()).inputs(&fed).attrs(self.attrs()?).try_finish().map_err(say)?;
        let mut targets: Vec<Target> = node.outputs().iter().map(|o| Target::Value(o.port())).collect();
        if targets.is_empty() {
            targets.push(Target::Operation(node.id()));
        }
        let session = setting.session(&graph, None).map_err(say)?;
        let mut values = Vec::new();
        for _ in 0..runs {
            let feeds = fed.iter().zip(&inputs).fold(FeedList::new(), |list, (x, v)| list.and(*x, v));
            values.extend(session.run::<Vec<Tensor>>(targets.clone(), feeds).map_err(say)?);
        }
        Ok(values)
    }

    fn attrs(&self) -> Text<Attrs> {
        let mut attrs = Attrs::new();
        let given = json::field(self.entry, "attrs")?.as_object().ok_or("`attrs` is not an object")?;
        for (name, tagged) in given {
            let tagged = tagged.as_object().and_then(|o| o.iter().next());
            let (tag, value) = tagged.ok_or_else(|| format!("attribute `{name}` has no tag"))?;
            attrs.set(name.clone(), attr(tag, value).ok_or_else(|| format!("`{value}` is no {tag}"))?);
        }
        Ok(attrs)
    }
}

fn attr(tag: &str, value: &Value) -> Option<Attr> {
    if let Some(tag) = tag.strip_prefix("list(").and_then(|t| t.strip_suffix(')')) {
        let items = value.as_array()?.iter();
        return Some(Attr::List(items.map(|v| attr(tag, v)).collect::<Option<_>>()?));
    }
    Some(match tag {
        "type" => DType::parse(value.as_str()?)?.into(),
        "int" => value.as_i64()?.into(),
        "float" => Attr::Float(value.as_f64()? as f32),
        "bool" => value.as_bool()?.into(),
        "string" => value.as_str()?.into(),
        "shape" if value.is_null() => PartialShape::unknown().into(),
        "shape" => {
            let dims = value.as_array()?.iter().map(|d| d.as_i64().unwrap_or(-1));
            PartialShape::from_signed(&dims.collect::<Vec<_>>()).ok()?.into()
        }
        _ => return None,
    })
}
