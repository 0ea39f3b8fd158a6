//! Writes generated programs to folders in the format of the golden graphs, with the values that this engine
//! computes, for a real TensorFlow to check:
//!
//! ```text
//! cargo run -p millstream-testkit --example programs -- OUT FIRST_SEED COUNT
//! python tests/golden/check_ours.py OUT
//! ```
//!
//! Accesses to variables are left out: TensorFlow does not order them.

use millstream_runtime::{FeedList, Target};
use millstream_tensor::Tensor;
use millstream_testkit::generate::{Program, build};
use millstream_testkit::graphs::{Written, store};
use millstream_testkit::tiers::DATAFLOW;
use std::error::Error;
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
    let result = session.run::<Vec<Tensor>>(targets, feeds);
    let feeds: Vec<(String, Tensor)> =
        built.feeds.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect();
    let result = result.as_deref();
    store(
        folder,
        &Written { graph: &built.graph, feeds: &feeds, targets: &[], fetches: &names, result, apart: 1e-5 },
    )
}
