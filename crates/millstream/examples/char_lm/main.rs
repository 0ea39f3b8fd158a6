//! Learns to write, character by character, from lines of very different lengths, and prints samples.
//!
//! ```sh
//! cargo run --release --example char_lm -- [--text FILE|DIR] [--steps N] [--logdir D] [--resume]
//! ```
//!
//! Queues read files, shuffle lines and batch lines of similar length ([`text`]). An LSTM runs along each
//! batch in a loop and is differentiated through it ([`model`]). Ctrl-C stops cleanly and saves. Without
//! `--text` it learns from the sources and documents of this project.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

mod model;
mod text;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use millstream::interop::proto::session_log::SessionStatus;
use millstream::prelude::*;
use millstream::summary::{self, FileWriter, SessionLog};
use millstream::train::{Clipping, Optimizer, Saver, Schedules, latest_checkpoint};
use millstream::{Callable, RunQueues, VariableScopes};
use model::{Loss, Model};
use signal_hook::{consts::SIGINT, flag};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use text::{Batch, CHARACTERS, NEWLINE, Part, Text, invalid};

/// Learns to write, character by character. See examples/char_lm.
#[derive(Parser, Clone)]
#[command(name = "char_lm")]
struct Options {
    /// A text file, or a folder of them [default: the sources and documents of this project]
    #[arg(long, value_name = "FILE|DIR")]
    text: Option<PathBuf>,
    /// How many steps to train, those of earlier runs included
    #[arg(long, value_name = "N", default_value_t = 1000)]
    steps: i64,
    /// Where checkpoints and event files go, each run in a folder of its own
    #[arg(long, value_name = "D", default_value = "target/char_lm")]
    logdir: PathBuf,
    /// Go on where the latest run was, with the text in an order of its own
    #[arg(long)]
    resume: bool,
    /// How many units the LSTM has
    #[arg(long, value_name = "N", default_value_t = 192)]
    units: usize,
    /// How many characters a batch has at most, padding included
    #[arg(long, value_name = "N", default_value_t = 6000)]
    batch: usize,
}

/// The result of a run.
struct Outcome {
    /// The number of training steps, including those of earlier runs.
    steps: i64,
    /// The loss on the validation lines in nats per character: at the start, at the end, and for a model that
    /// knows only the frequencies of the characters.
    before: f64,
    after: f64,
    unigram: f64,
    /// The share of the time in which the model waited for its input.
    waited: f64,
    samples: Vec<String>,
    folder: PathBuf,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (before, after, unigram) = (shown(self.before), shown(self.after), shown(self.unigram));
        writeln!(f, "{} steps done and saved in {}", self.steps, self.folder.display())?;
        writeln!(f, "validation {after}, at the start {before}, unigram entropy {unigram}")?;
        writeln!(f, "the model waited {:.2} % of the time for its input; it writes:", 100.0 * self.waited)?;
        self.samples.iter().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    let stop = Arc::new(AtomicBool::new(false));
    let ctrl_c = || -> std::io::Result<()> {
        // A second Ctrl-C stops at once.
        flag::register_conditional_shutdown(SIGINT, 130, stop.clone())?;
        flag::register(SIGINT, stop.clone()).map(drop)
    };
    ctrl_c().map_err(|e| invalid(format!("Ctrl-C cannot be heard of: {e}")))?;
    println!("{}", run(&options, &stop)?);
    Ok(())
}

fn run(options: &Options, stop: &AtomicBool) -> Result<Outcome> {
    let text = Text::find(options.text.as_deref())?;
    let validation = validation(&text, options.batch)?;
    let unigram = unigram(&validation)?;
    let (folder, checkpoint) = folder(options)?;
    println!(
        "{} files, {:.1} MB; {:.1} % of the lines are for validation: {} characters, unigram entropy {}",
        text.files.len(),
        text.bytes as f64 / 1e6,
        text.kept as f64 / 10.0,
        unigram.1,
        shown(unigram.0)
    );

    let g = Graph::new();
    // A resumed run gets another seed, so that it does not repeat the input of its beginning.
    g.set_seed(1 + checkpoint.as_deref().map_or(0, steps_of));
    let nodes = Nodes::new(&g, &text, options)?;
    let saver = Saver::new(&g)?;
    let init = (g.global_variables_initializer(), g.local_variables_initializer());
    g.finalize();

    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    if let Some(checkpoint) = &checkpoint {
        saver.restore(&session, checkpoint)?;
    }
    let done: i64 = session.run(nodes.step.value(), feed![])?;
    println!("run in {}: {done} steps done of {}", folder.display(), options.steps);
    let writer = FileWriter::new(&folder)?;
    writer.add_graph(&g, done)?;

    let test =
        session.make_callable((nodes.loss.total, nodes.loss.characters), [nodes.chars, nodes.lengths])?;
    let training = Training { session: &session, nodes: &nodes, saver, writer, test, validation, folder };
    let before = training.validate(done)?;
    let (steps, all) = training.train(done, options.steps, stop)?;
    let after = training.validate(steps)?;
    training.save(steps)?;
    training.writer.close()?;

    if all.seconds > 0.0 {
        println!("over all: {all}");
    }
    let samples = lines(&session.run(nodes.samples, feed![])?)?;
    let folder = training.folder;
    Ok(Outcome { steps, before, after, unigram: unigram.0, waited: all.waited(), samples, folder })
}

/// The nodes that a run fetches or feeds.
struct Nodes<'g> {
    chars: Output<'g>,
    lengths: Output<'g>,
    loss: Loss<'g>,
    step: Variable<'g>,
    train: Op<'g>,
    /// The times at which a step began, and had its input.
    times: (Output<'g>, Output<'g>),
    samples: Output<'g>,
    summaries: Output<'g>,
}

impl<'g> Nodes<'g> {
    fn new(g: &'g Graph, text: &Text, options: &Options) -> Result<Nodes<'g>> {
        let batch = text.batches(g, Part::Training, options.batch)?;
        // Training uses the queues' batches; validation feeds its own.
        let batch = Batch {
            chars: g.placeholder_with_default(batch.chars, shape![_, _]),
            lengths: g.placeholder_with_default(batch.lengths, shape![_]),
        };
        let begun = g.debug().timestamp();
        let had = g.control_dependencies([batch.chars], || g.debug().timestamp());
        let mut model = Model::new(g, options.units)?;
        let loss = model.loss(g, batch)?;
        let mean = loss.total / loss.characters;
        let step = g.global_step()?;
        let rate = g.polynomial_decay(4e-3, step.value(), options.steps as f32, 2e-4, 1.0, false)?;
        let optimizer = Optimizer::adam(rate);
        let (grads, variables): (Vec<_>, Vec<_>) = optimizer.compute_gradients(mean)?.into_iter().unzip();
        let (grads, norm) = g.clip_by_global_norm(&grads, 1.0)?;
        let train = optimizer.apply_gradients(grads.into_iter().zip(variables), Some(step))?;
        let samples = model.sample(g, 8, 120, 0.7)?;

        summary::scalar(g, "loss", mean);
        summary::scalar(g, "padding", 1.0 - loss.characters / loss.places);
        summary::scalar(g, "learning_rate", rate);
        summary::scalar(g, "gradient_norm", norm);
        for variable in g.trainable_variables() {
            summary::histogram(g, &variable.name(), variable.value());
        }
        let summaries = summary::merge_all(g)?.ok_or_else(|| invalid("there are summaries"))?;
        let (chars, lengths, times) = (batch.chars, batch.lengths, (begun, had));
        Ok(Nodes { chars, lengths, loss, step, train, times, samples, summaries })
    }
}

/// A session that trains the model.
struct Training<'s, 'g> {
    session: &'s Session,
    nodes: &'s Nodes<'g>,
    saver: Saver<'g>,
    writer: FileWriter,
    test: Callable,
    validation: Vec<[Tensor; 2]>,
    folder: PathBuf,
}

impl Training<'_, '_> {
    /// Returns the loss on the validation lines, in nats per character, and records it.
    fn validate(&self, step: i64) -> Result<f64> {
        let (mut total, mut characters) = (0.0, 0.0);
        for batch in &self.validation {
            let (nats, n): (f32, f32) = self.test.call_as(batch)?;
            total += f64::from(nats);
            characters += f64::from(n);
        }
        let loss = total / characters;
        self.writer.add_summary(summary::numbers([("validation/loss", loss as f32)]), step)?;
        Ok(loss)
    }

    /// Saves a checkpoint.
    fn save(&self, step: i64) -> Result<()> {
        let path = self.saver.save(self.session, self.folder.join("model"), Some(step))?;
        let checkpoint_path = path.display().to_string();
        let status = SessionStatus::Checkpoint.into();
        self.writer.add_session_log(SessionLog { status, checkpoint_path, ..SessionLog::default() }, step)
    }

    /// Trains from step `done` up to `steps`, or until `stop`. Returns the last step and the sums over all
    /// steps.
    fn train(&self, mut done: i64, steps: i64, stop: &AtomicBool) -> Result<(i64, Tally)> {
        let Nodes { loss, train, times, summaries, .. } = self.nodes;
        let told = (loss.total, loss.characters, loss.places, *times);
        let plain = self.session.make_callable((*train, told), [])?;
        let noted = self.session.make_callable((*train, told, *summaries), [])?;
        let bar = progress(steps);
        let mut all = Tally::default();
        self.session.with_queue_runners(|_| {
            let mut recent = Tally::default();
            while done < steps && !stop.load(Relaxed) {
                let at = Instant::now();
                done += 1;
                let step = if done % 20 == 0 {
                    let ((), told, summary): ((), Told, Tensor) = noted.call_as(&[])?;
                    self.writer.add_summary(&summary, done)?;
                    told
                } else {
                    plain.call_as::<((), Told)>(&[])?.1
                };
                recent.add(&step, at);
                all.add(&step, at);
                bar.set_position(done as u64);
                if done % 10 == 0 {
                    bar.set_message(recent.to_string());
                    recent = Tally::default();
                }
                if done % 200 == 0 && done < steps {
                    let loss = self.validate(done)?;
                    self.save(done)?;
                    bar.suspend(|| println!("step {done}: validation {}", shown(loss)));
                }
            }
            Ok(())
        })?;
        bar.abandon();
        Ok((done, all))
    }
}

/// The values of a step: nats, characters, places for characters, and the times at which it began and had its
/// input.
type Told = (f32, f32, f32, (f64, f64));

/// Sums over several steps.
#[derive(Default)]
struct Tally {
    nats: f64,
    characters: f64,
    places: f64,
    waited: f64,
    seconds: f64,
}

impl Tally {
    fn add(&mut self, (nats, characters, places, (begun, had)): &Told, at: Instant) {
        self.nats += f64::from(*nats);
        self.characters += f64::from(*characters);
        self.places += f64::from(*places);
        self.waited += (had - begun).max(0.0);
        self.seconds += at.elapsed().as_secs_f64();
    }

    /// The share of the waiting time; 0 without any time.
    fn waited(&self) -> f64 {
        if self.seconds > 0.0 { self.waited / self.seconds } else { 0.0 }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "loss {:.3} nats, {:.0} k characters/s, {:.1} % padding, {:.2} % waiting for input",
            self.nats / self.characters,
            self.characters / self.seconds / 1e3,
            100.0 * (1.0 - self.characters / self.places),
            100.0 * self.waited()
        )
    }
}

fn progress(steps: i64) -> ProgressBar {
    let bar = ProgressBar::new(steps.max(0) as u64);
    // The template is a valid constant.
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// Returns the validation lines in batches: characters and lengths. A separate pipeline reads the files once.
fn validation(text: &Text, characters: usize) -> Result<Vec<[Tensor; 2]>> {
    let g = Graph::new();
    let batch = text.batches(&g, Part::Validation, characters)?;
    let init = g.local_variables_initializer();
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    let mut batches = Vec::new();
    // Runs until the end of the input, which is not an error.
    session.with_queue_runners::<()>(|_| {
        loop {
            let (chars, lengths) = session.run((batch.chars, batch.lengths), feed![])?;
            batches.push([chars, lengths]);
        }
    })?;
    match batches.is_empty() {
        true => Err(invalid("the text has too few lines to keep some for validation")),
        false => Ok(batches),
    }
}

/// Returns the entropy of single characters in nats, which is the loss of a model that knows only their
/// frequencies, and the number of characters.
fn unigram(batches: &[[Tensor; 2]]) -> Result<(f64, usize)> {
    let mut counts = [0usize; CHARACTERS];
    for [chars, lengths] in batches {
        let time = chars.shape()[1];
        for (row, length) in chars.as_slice::<i32>()?.chunks(time).zip(lengths.as_slice::<i32>()?) {
            // The first character is not predicted.
            row[1..*length as usize].iter().for_each(|c| counts[*c as usize] += 1);
        }
    }
    let n: usize = counts.iter().sum();
    let share = |c: &usize| *c as f64 / n as f64;
    Ok((counts.iter().filter(|c| **c > 0).map(|c| -share(c) * share(c).ln()).sum(), n))
}

/// Returns rows of characters as text, each up to its end.
fn lines(chars: &Tensor) -> Result<Vec<String>> {
    let rows = chars.as_slice::<i32>()?.chunks(chars.shape()[1].max(1));
    let text = |row: &[i32]| {
        let bytes: Vec<u8> = row.iter().map(|c| *c as u8).take_while(|c| *c != NEWLINE && *c != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(rows.map(text).collect())
}

/// Formats a loss in nats and bits.
fn shown(nats: f64) -> String {
    format!("{nats:.3} nats ({:.3} bits) a character", nats / std::f64::consts::LN_2)
}

/// Returns the folder of this run, and the checkpoint that it continues from.
fn folder(options: &Options) -> Result<(PathBuf, Option<PathBuf>)> {
    let number = |i: usize| options.logdir.join(format!("run-{i}"));
    let n_runs = (1..).take_while(|i| number(*i).exists()).count();
    if options.resume {
        for i in (1..=n_runs).rev() {
            if let Some(checkpoint) = latest_checkpoint(number(i))? {
                return Ok((number(i), Some(checkpoint)));
            }
        }
        return Err(invalid(format!("there is no run in {} to go on with", options.logdir.display())));
    }
    let folder = number(n_runs + 1);
    std::fs::create_dir_all(&folder).map_err(|e| invalid(format!("cannot make {folder:?}: {e}")))?;
    Ok((folder, None))
}

/// Returns the step of a checkpoint, which its name ends in.
fn steps_of(checkpoint: &Path) -> i64 {
    let name = checkpoint.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit('-').next().and_then(|steps| steps.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(folder: &Path, steps: i64) -> Options {
        let text = Some(folder.join("text"));
        Options { text, steps, logdir: folder.join("logs"), resume: false, units: 32, batch: 300 }
    }

    #[test]
    fn it_learns_stops_and_goes_on() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("millstream-char-lm-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("text/more")).expect("makes folders");
        let words = ["one", "two", "three", "four"];
        let line = |i: usize| words[i % 4].repeat(i % 7 + 1) + "\n";
        std::fs::write(folder.join("text/a.txt"), (0..300).map(line).collect::<String>()).expect("writes");
        std::fs::write(folder.join("text/more/b.txt"), (300..700).map(line).collect::<String>())
            .expect("writes");
        std::fs::write(folder.join("text/c.bin"), [0; 100]).expect("writes");

        let first = run(&options(&folder, 600), &AtomicBool::new(false))?;
        assert!(first.steps == 600 && first.after < first.before, "{} {}", first.before, first.after);
        assert!(first.after < first.unigram, "{} {}", first.after, first.unigram);
        assert!(first.samples.len() == 8 && (0.0..1.0).contains(&first.waited));

        let stopped = run(&Options { resume: true, ..options(&folder, 610) }, &AtomicBool::new(true))?;
        assert!(stopped.steps == 600 && stopped.folder == first.folder && stopped.waited == 0.0);
        assert!((stopped.before - first.after).abs() < 1e-4, "what was saved is what goes on");
        let more = run(&Options { resume: true, ..options(&folder, 610) }, &AtomicBool::new(false))?;
        assert!(
            more.steps == 610 && latest_checkpoint(&first.folder)?.is_some_and(|p| p.ends_with("model-610"))
        );

        let other = run(&options(&folder, 1), &AtomicBool::new(false))?;
        assert_ne!(other.folder, first.folder);
        let nowhere = Options { logdir: folder.join("none"), resume: true, ..options(&folder, 1) };
        assert!(run(&nowhere, &AtomicBool::new(false)).is_err());
        std::fs::remove_dir_all(&folder).expect("removes the folder");
        Ok(())
    }
}
