//! Reads graphs and writes them as Millstream has them: functions written out, defaults filled in.
//!
//! ```text
//! cargo run -p millstream-interop --example rewrite -- tests/golden/graphs OUT
//! python tests/golden/check_ours.py OUT
//! ```
//!
//! Each folder of the first directory that holds a `graph.pb` becomes a folder of the second, with its other
//! files copied: the form that `check_ours.py` runs in TensorFlow. Graphs that cannot be imported are left
//! out, and why is said.

use millstream_graph::Graph;
use millstream_interop::{ImportOptions, export_graph_def, import_graph_def, read_graph};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [from, to] = args.as_slice() else { return Err("usage: rewrite FROM TO".into()) };
    let mut n_written = 0;
    for entry in fs::read_dir(from)? {
        let folder = entry?.path();
        let Some(name) = folder.file_name().filter(|_| folder.join("graph.pb").exists()) else { continue };
        match rewrite(&folder, &Path::new(to).join(name)) {
            Ok(()) => n_written += 1,
            Err(error) => writeln!(io::stderr(), "{}: {error}", name.display())?,
        }
    }
    writeln!(io::stderr(), "{n_written} graphs written")?;
    Ok(())
}

fn rewrite(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let file = read_graph(&fs::read(from.join("graph.pb"))?)?;
    let graph = Graph::with_ops(millstream_ops::registry());
    import_graph_def(&graph, file.graph_def()?, &ImportOptions::default())?;
    let written = millstream_proto::encode(&export_graph_def(&graph)?);
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if let Some(name) = path.file_name() {
            fs::copy(&path, to.join(name))?;
        }
    }
    fs::write(to.join("graph.pb"), written)?;
    Ok(())
}
