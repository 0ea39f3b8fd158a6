//! A training program that is killed at random moments, as by `kill -9`: it always resumes from a whole
//! checkpoint, and nothing that was saved before is lost.
//!
//! The program is this test's own executable, which finds the folder of its checkpoints in the environment.
//! `KILLS=200` kills it 200 times in each checkpoint format.

use millstream::checkpoint::{Checkpoint, State};
use millstream::prelude::*;
use millstream::train::{Saver, latest_checkpoint};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

/// Where the program finds its folder and the name of its checkpoints.
const FOLDER: &str = "MILLSTREAM_KILLED_FOLDER";
const NAME: &str = "MILLSTREAM_KILLED_NAME";

/// How many times the program is killed in each format.
const KILLS: usize = 6;

/// The checkpoints that are kept.
const KEPT: usize = 3;

/// The elements of each variable: writing them takes about as long as everything else.
const SIZE: usize = 1 << 15;

/// Trains from the latest checkpoint on, and saves after each step. In step `n` every element of every
/// variable is `n`. Prints what it resumed from, and each step that was saved. Ends only with an error.
fn train(folder: &Path, name: &str) -> Result<()> {
    let g = Graph::new();
    let step = g.variable("step", 0i64);
    let zeros = || Tensor::zeros(DType::F32, [SIZE]);
    let (weights, slot) = (g.variable("weights", zeros()?), g.variable("slot", zeros()?));
    let one = Tensor::fill([SIZE], &Tensor::scalar(1f32))?;
    let more = (step.assign_add(1i64), weights.assign_add(one.clone()), slot.assign_add(one));
    let init = g.global_variables_initializer();
    let saver = Saver::of(&g, &g.global_variables()).max_to_keep(KEPT).build()?;
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    let latest = latest_checkpoint(folder)?;
    if let Some(latest) = &latest {
        saver.restore(&session, latest)?;
    }
    let (n, w, s): (i64, Vec<f32>, Vec<f32>) =
        session.run((step.read(), weights.read(), slot.read()), feed![])?;
    assert!(w.iter().chain(&s).all(|v| *v == n as f32), "step {n} is mixed: {} and {}", w[0], s[0]);
    let mut out = std::io::stdout();
    let mut say = |text: String| out.write_all(text.as_bytes()).and_then(|()| out.flush()).expect("a pipe");
    say(format!("\nresumed {n}\n"));
    for n in n + 1.. {
        session.run::<()>(more, feed![])?;
        saver.save(&session, folder.join(name), Some(n))?;
        say(format!("saved {n}\n"));
    }
    Ok(())
}

/// A program that trains, which is killed with its owner.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// Lets the program run for `time` from its first saved step on, and kills it. Returns the step that it
/// resumed from and the last one that it reported as saved.
fn run_and_kill(folder: &Path, name: &str, time: Duration) -> (i64, i64) {
    let test = "killed_training_resumes_from_a_whole_checkpoint";
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut program = Program(child);
    let lines = BufReader::new(program.0.stdout.take().expect("a pipe")).lines();
    let (tell, told) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (mut resumed, mut saved) = (None, None);
        for line in lines.map_while(std::io::Result::ok) {
            match line.split_once(' ') {
                Some(("resumed", n)) => resumed = n.parse().ok(),
                Some(("saved", n)) => {
                    saved = n.parse().ok();
                    tell.send(()).ok();
                }
                _ => {}
            }
        }
        (resumed, saved)
    });
    // Nothing is received if the program failed, which the reader's result shows.
    if told.recv_timeout(Duration::from_secs(60)).is_ok() {
        std::thread::sleep(time);
    }
    drop(program);
    match reader.join().expect("reads") {
        (Some(resumed), Some(saved)) => (resumed, saved),
        other => panic!("the program failed: {other:?}; its error is above"),
    }
}

/// What is in the folder after a kill: the latest checkpoint is whole and not older than what was reported as
/// saved, and so are the others that the state file names. Returns the latest step.
fn check(folder: &Path, saved: i64) -> i64 {
    let latest = latest_checkpoint(folder).expect("reads the state").expect("there is a checkpoint");
    let state = State::read(folder, "checkpoint").expect("reads the state").expect("there is one");
    assert!(!state.all.is_empty() && state.all.len() <= KEPT, "{:?}", state.all);
    let steps: Vec<i64> = state.all.iter().map(|(path, _)| whole(&folder.join(path))).collect();
    assert!(steps.is_sorted(), "{steps:?}");
    let latest = whole(&latest);
    // A step may be saved whose report was cut off.
    assert!((saved..=saved + 1).contains(&latest), "{saved} was saved, and {latest} is there");
    assert_eq!(steps.last(), Some(&latest));
    latest
}

/// The step of a checkpoint, all of whose elements must be of that step.
fn whole(path: &Path) -> i64 {
    let checkpoint = Checkpoint::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let read = |name: &str| checkpoint.read(name).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let step = read("step").to_scalar::<i64>().expect("i64");
    for name in ["weights", "slot"] {
        let values = read(name);
        let values = values.as_slice::<f32>().expect("f32");
        assert!(
            values.len() == SIZE && values.iter().all(|v| *v == step as f32),
            "{}: {name}",
            path.display()
        );
    }
    step
}

#[test]
fn killed_training_resumes_from_a_whole_checkpoint() {
    if let (Some(folder), Ok(name)) = (std::env::var_os(FOLDER), std::env::var(NAME)) {
        let Err(error) = train(Path::new(&folder), &name) else { return };
        panic!("{error}");
    }
    let kills = std::env::var("KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |t| t.as_nanos() as u64);
    let mut state = seed | 1;
    for name in ["model", "model.safetensors"] {
        let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kills-{name}"));
        let _fresh = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("makes the folder");
        let mut last = 0;
        for kill in 0..kills {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // From before the second save to after a few.
            let time = Duration::from_micros((state >> 33) % 40_000);
            let (resumed, saved) = run_and_kill(&folder, name, time);
            assert_eq!(resumed, last, "kill {kill} of {name}, seed {seed}: nothing that was saved is lost");
            assert!(saved > resumed, "kill {kill} of {name}, seed {seed}");
            last = check(&folder, saved);
        }
        // Dead writers leave temporary files, which the next one sweeps, and a checkpoint that the state
        // file does not name, each.
        let files = std::fs::read_dir(&folder).expect("lists").count();
        assert!(files <= 1 + 2 * (KEPT + 1) * (kills + 1), "{files} files after {kills} kills");
        let _gone = std::fs::remove_dir_all(&folder);
    }
}
