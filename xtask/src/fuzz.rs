//! `cargo xtask fuzz`: runs each fuzz target for some time, guided by coverage. The inputs start from
//! `fuzz/corpus` and from seeds made of the ops' examples and the golden graphs.
//!
//! It needs neither cargo-fuzz nor a nightly compiler: `fuzz/instrument` adds stable flags to the
//! workspace's crates alone. With `--sanitize`, a nightly compiler also adds AddressSanitizer to all crates.
//! Findings go to `fuzz` in the target folder. Nothing goes into the repository without `--minimise`.

use crate::nightly;
use crate::sanitize::Sanitizer;
use clap::Args;
use millstream::Result;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

const TARGETS: [&str; 14] = [
    "graph_def",
    "graph_text",
    "meta_graph_def",
    "graph_def_text",
    "npy",
    "feed",
    "checkpoint",
    "records",
    "example",
    "saved_model",
    "event_file",
    "checkpoint_merge",
    "csv_json",
    "store_element",
];

/// The length of the longest input, in bytes. Longer ones are slower and find no more.
const MAX_LEN: usize = 8192;

/// The time limit of an input, in seconds. Runs in the targets end after a fraction of a second, but a loaded
/// machine is slow.
const TIMEOUT: usize = 20;

/// The memory limit, in MiB. The targets allow 512 MiB of tensors, and the fuzzer keeps its corpus in memory.
const RSS_LIMIT: usize = 1536;

/// The memory limit under AddressSanitizer, in MiB. It keeps freed memory for some time, to find uses of it.
const RSS_LIMIT_SANITIZED: usize = 4096;

/// The limit of the address space, in KiB. An allocation of an unchecked size fails here, even if its memory
/// is never touched. AddressSanitizer needs all addresses, and has a limit of its own for allocations.
const ADDRESS_SPACE: usize = 8 << 20;

/// The seeds that a run starts from for each second of its time. All seeds of `graph_text`, thousands, took
/// minutes before the first mutation; tests run those examples anyway.
const SEEDS_A_SECOND: usize = 20;

/// What a log says where a finding begins.
const FINDINGS: [&str; 4] =
    ["panicked at", "ERROR: libFuzzer", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer"];

/// The most bytes of one target's inputs that the repository keeps.
const MAX_KEPT: usize = 32_000;

/// What to fuzz.
#[derive(Args)]
pub struct Options {
    /// Only these targets: graph_def, graph_text, meta_graph_def, graph_def_text, npy, feed, checkpoint,
    /// records, example, saved_model, event_file, checkpoint_merge, csv_json,
    /// store_element.
    targets: Vec<String>,
    /// The time that each target runs, in seconds.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// The seed of the choice of inputs and of the mutations, so that a run can be repeated; the default is
    /// another one each time.
    #[arg(long)]
    seed: Option<u32>,
    /// The number of targets that run at a time. The default is the number of cores.
    #[arg(long)]
    jobs: Option<usize>,
    /// Run the targets under AddressSanitizer, at a third of the speed. Needs a nightly compiler.
    #[arg(long)]
    sanitize: bool,
    /// Afterwards, keep the fewest inputs that reach code beyond the seeds in fuzz/corpus.
    #[arg(long)]
    minimise: bool,
}

/// Builds the targets, and runs them.
pub fn run(options: &Options) -> Result<()> {
    if let Some(unknown) = options.targets.iter().find(|t| !TARGETS.contains(&t.as_str())) {
        return Err(crate::failed(format!(
            "there is no target `{unknown}`; there are {}",
            TARGETS.join(", ")
        )));
    }
    let chosen = |t: &&&str| options.targets.is_empty() || options.targets.iter().any(|o| o == **t);
    let targets: Vec<&str> = TARGETS.iter().filter(chosen).copied().collect();
    check_compiler()?;
    if options.sanitize {
        nightly::missing("fuzz --sanitize", Sanitizer::Address.components(), false)?;
    }
    build(options.sanitize)?;
    let places = Places::new(options.sanitize)?;
    places.write_seeds()?;

    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let left = Mutex::new(targets.iter());
    let failures = Mutex::new(Vec::new());
    let next = || left.lock().ok().and_then(|mut left| left.next());
    thread::scope(|scope| {
        for _ in 0..options.jobs.unwrap_or_else(cores).max(1) {
            scope.spawn(|| {
                while let Some(target) = next() {
                    let result = places.fuzz(target, options);
                    if let (Err(error), Ok(mut failures)) = (result, failures.lock()) {
                        failures.push(error.to_string());
                    }
                }
            });
        }
    });
    match failures.into_inner().unwrap_or_default().as_slice() {
        [] => Ok(()),
        failures => Err(crate::failed(failures.join("\n"))),
    }
}

/// Checks that there is a C++ compiler, which compiles libFuzzer.
fn check_compiler() -> Result<()> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    match Command::new(&compiler).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(crate::failed(format!(
            "libFuzzer needs a C++ compiler, and `{}` does not run; on Debian `apt-get install g++` has it",
            compiler.display()
        ))),
    }
}

fn build(sanitize: bool) -> Result<()> {
    let mut build = match sanitize {
        true => Sanitizer::Address.cargo()?,
        false => Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
    };
    build.current_dir(crate::root()).env("RUSTC_WORKSPACE_WRAPPER", crate::root().join("fuzz/instrument"));
    // With the features of the whole workspace, so that crates from elsewhere are those of its tests.
    build.args(["build", "--workspace", "--features", "millstream-fuzz/libfuzzer"]);
    build.args(TARGETS.iter().flat_map(|target| ["--bin", target]));
    if sanitize {
        build.args(Sanitizer::Address.target_args()?);
    }
    match build.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(crate::failed("the fuzz targets cannot be built")),
        Err(error) => Err(crate::failed(format!("cargo: {error}"))),
    }
}

/// The folders that fuzzing uses.
struct Places {
    /// The built targets.
    bin: PathBuf,
    /// The findings and corpora of runs.
    home: PathBuf,
    /// The corpus in the repository.
    kept: PathBuf,
    /// Whether the targets run under AddressSanitizer.
    sanitize: bool,
}

impl Places {
    /// The folders in the target folder in which this program was built.
    fn new(sanitize: bool) -> Result<Places> {
        let target = crate::target()?;
        Ok(Places {
            bin: match sanitize {
                true => Sanitizer::Address.folder()?.join(nightly::host()?).join("debug"),
                false => target.join("debug"),
            },
            home: target.join("fuzz"),
            kept: crate::root().join("fuzz/corpus"),
            sanitize,
        })
    }

    fn seeds(&self, target: &str) -> PathBuf {
        self.home.join("seeds").join(target)
    }

    fn found(&self, target: &str) -> PathBuf {
        self.home.join("corpus").join(target)
    }

    /// The command that runs a target within the memory limits.
    fn target(&self, name: &str) -> Command {
        let mut command = Command::new("sh");
        let address_space = if self.sanitize { "unlimited".into() } else { ADDRESS_SPACE.to_string() };
        command.args(["-c", "ulimit -v $0 && exec \"$@\""]).arg(address_space);
        if self.sanitize {
            command.env("ASAN_OPTIONS", Sanitizer::Address.run_options());
        }
        command.arg(self.bin.join(name)).stdin(Stdio::null()).current_dir(&self.home);
        command
    }

    fn write_seeds(&self) -> Result<()> {
        make(&self.home)?;
        let mut command = self.target("graph_def");
        finish("seeds", command.env("FUZZ_SEEDS", self.home.join("seeds")).arg("-runs=0"))?;
        Ok(())
    }

    fn fuzz(&self, name: &str, options: &Options) -> Result<()> {
        let found = self.found(name);
        make(&found)?;
        let mut command = self.target(name);
        command.args([
            format!("-max_total_time={}", options.seconds),
            format!("-max_len={MAX_LEN}"),
            format!("-timeout={TIMEOUT}"),
            format!("-rss_limit_mb={}", if self.sanitize { RSS_LIMIT_SANITIZED } else { RSS_LIMIT }),
            format!("-artifact_prefix={}/{name}-", self.home.display()),
        ]);
        if let Some(seed) = options.seed {
            command.arg(format!("-seed={seed}"));
        }
        // The fuzzer writes to the first folder.
        command.args([found, self.kept.join(name), self.chosen_seeds(name, options)?]);
        let log = finish(name, &mut command)?;
        eprintln!(
            "fuzz: {name}: {}",
            log.lines().rfind(|l| l.contains(" cov: ")).unwrap_or("nothing ran").trim()
        );
        if options.minimise { self.minimise(name) } else { Ok(()) }
    }

    /// The folder of the seeds that this run starts from: all of them, or in a short run some of each length.
    fn chosen_seeds(&self, name: &str, options: &Options) -> Result<PathBuf> {
        let (all, chosen) = (self.seeds(name), self.home.join("chosen").join(name));
        let seeds = list(&all)?;
        let step = seeds.len().div_ceil(SEEDS_A_SECOND.saturating_mul(options.seconds as usize).max(1));
        if step <= 1 {
            return Ok(all);
        }
        let first = options.seed.unwrap_or_else(std::process::id) as usize % step;
        let _ = fs::remove_dir_all(&chosen);
        make(&chosen)?;
        for (bytes, path) in seeds.into_iter().skip(first).step_by(step) {
            let to = chosen.join(path.file_name().unwrap_or_default());
            fs::write(&to, bytes).map_err(|e| crate::failed(format!("{}: {e}", to.display())))?;
        }
        Ok(chosen)
    }

    /// Keeps the fewest and shortest inputs, of those kept and found, that reach code beyond the seeds.
    /// Inputs with names always stay.
    fn minimise(&self, name: &str) -> Result<()> {
        let (merged, kept) = (self.home.join("merged").join(name), self.kept.join(name));
        let _ = fs::remove_dir_all(&merged);
        make(&merged)?;
        let seeds: HashSet<_> = list(&self.seeds(name))?.into_iter().map(|(bytes, _)| bytes).collect();
        let mut merge = self.target(name);
        merge.args(["-set_cover_merge=1", &format!("-timeout={TIMEOUT}"), &format!("-max_len={MAX_LEN}")]);
        finish(name, merge.args([&merged, &self.seeds(name), &kept, &self.found(name)]))?;
        for (_, path) in list(&kept)? {
            if !has_name(&path) {
                fs::remove_file(&path).map_err(|e| crate::failed(format!("{}: {e}", path.display())))?;
            }
        }
        let mut room = MAX_KEPT;
        for (bytes, path) in list(&merged)? {
            if !seeds.contains(&bytes) && bytes.len() <= room {
                room -= bytes.len();
                let to = kept.join(path.file_name().unwrap_or_default());
                fs::write(&to, bytes).map_err(|e| crate::failed(format!("{}: {e}", to.display())))?;
            }
        }
        Ok(())
    }
}

/// Whether a person named the input. The fuzzer names inputs by their hashes.
fn has_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    name.len() != 40 || name.contains(|c: char| !c.is_ascii_hexdigit())
}

/// The files of a folder, shortest first.
fn list(folder: &Path) -> Result<Vec<(Vec<u8>, PathBuf)>> {
    let failed = |e: std::io::Error| crate::failed(format!("{}: {e}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        files.push((fs::read(&path).map_err(failed)?, path));
    }
    files.sort_by_key(|(bytes, path)| (bytes.len(), path.clone()));
    Ok(files)
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| crate::failed(format!("{}: {e}", folder.display())))
}

/// Runs a target and returns its output. If it fails, prints the output and the command that repeats it.
fn finish(name: &str, command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|e| crate::failed(format!("{name}: {e}")))?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok(log);
    }
    let start = log.lines().position(|l| FINDINGS.iter().any(|f| l.contains(f))).unwrap_or(0);
    let shown: Vec<&str> = log.lines().skip(start).take(40).collect();
    let bin = command.get_args().nth(3).unwrap_or_default();
    Err(crate::failed(format!(
        "fuzz target `{name}` failed:\n{}\nto repeat it: {} FILE, with the file named above; then keep it in fuzz/corpus/{name} under a telling name",
        shown.join("\n"),
        bin.display()
    )))
}
