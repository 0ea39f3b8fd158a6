//! Writes generated programs as folders in the form of the golden graphs, with the values that we compute, for a real TensorFlow to check:
//!
//! ```text
//! cargo run -p millstream-testkit --example programs -- OUT FIRST_SEED COUNT
//! python tests/golden/check_ours.py OUT
//! ```
//!
//! Their accesses to variables are left out: TensorFlow gives those no order of their own.

use millstream_interop::export_graph_def;
use millstream_runtime::{FeedList, Target};
use millstream_tensor::npy::{self, Compression};
use millstream_testkit::generate::{Program, build};
use millstream_testkit::tiers::DATAFLOW;
use serde_json::json;
use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let out = PathBuf::from(args.next().ok_or("where to?")?);
    let first: u64 = args.next().ok_or("from which seed?")?.parse()?;
    let count: u64 = args.next().ok_or("how many?")?.parse()?;
    for seed in first..first + count {
        write(&out.join(format!("program_{seed}")), &Program::new(seed).without_variables())?;
    }
    println!("{count} programs written");
    Ok(())
}

fn write(folder: &Path, program: &Program) -> Result<(), Box<dyn Error>> {
    let built = build(program)?;
    let session = DATAFLOW.session(&built.graph, None)?;
    let feeds = built.feeds.iter().try_fold(FeedList::new(), |list, (name, value)| {
        Ok::<_, millstream_tensor::Error>(list.and(built.graph.output(name)?, value))
    })?;
    let mut names = built.fetches.clone();
    names.sort();
    names.dedup();
    let targets = names.iter().map(|n| Ok(Target::Value(built.graph.output(n)?.port())));
    let targets = targets.collect::<Result<Vec<_>, millstream_tensor::Error>>()?;
    let result = session.run::<Vec<_>>(targets, feeds);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("graph.pb"), millstream_proto::encode(&export_graph_def(&built.graph)?))?;
    let fed = built.feeds.iter().map(|(name, value)| (*name, value));
    npy::write_npz(File::create(folder.join("feeds.npz"))?, fed, Compression::Deflated)?;
    let (fetches, error) = match &result {
        Ok(values) => {
            let arrays = names.iter().map(String::as_str).zip(values);
            npy::write_npz(File::create(folder.join("fetches.npz"))?, arrays, Compression::Deflated)?;
            let entries = names.iter().zip(values).map(|(name, value)| {
                let compare = if value.dtype().is_float() { "close" } else { "exact" };
                json!({"name": name, "dtype": value.dtype().tf_name(), "shape": value.shape().dims(), "compare": compare, "rtol": 1e-4, "atol": 1e-5})
            });
            (entries.collect::<Vec<_>>(), json!(null))
        }
        Err(e) => {
            let entries = names.iter().map(|name| json!({"name": name}));
            (entries.collect(), json!({"code": e.code().name(), "message": e.message()}))
        }
    };
    let case = json!({"fetches": fetches, "targets": [], "error": error});
    fs::write(folder.join("case.json"), serde_json::to_string_pretty(&case)?)?;
    Ok(())
}
