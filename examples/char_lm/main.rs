//! Learns to write, character by character, from lines of very different lengths, and shows what it wrote.
//!
//! ```sh
//! cargo run --release --example char_lm -- [--text FILE|DIR] [--steps N] [--logdir D] [--resume]
//! ```
//!
//! Files are read, mixed and put into batches of about equal lengths by queues ([`text`]); an LSTM is run along each by a loop, and
//! differentiated through it ([`model`]). Ctrl-C stops cleanly and saves. Without `--text` it learns from the sources and documents of this project.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

mod model;
mod text;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use millstream::interop::proto::session_log::SessionStatus;
use millstream::prelude::*;
use millstream::summary::{self, FileWriter, SessionLog};
use millstream::train::{Clipping, Optimizer, Saver, Schedules, latest_checkpoint};
use model::Model;
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

/// What came of a run.
struct Outcome {
    /// How many steps were trained, those of earlier runs included.
    steps: i64,
    /// In nats a character of the lines kept for validation: at the start, at the end, and what knowing nothing but how often each
    /// character occurs would give.
    before: f64,
    after: f64,
    unigram: f64,
    /// The share of the time that the model waited for its input.
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
        // Asked twice: at once.
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
    // What goes on is not to see once more what it began with.
    g.set_seed(1 + checkpoint.as_deref().map_or(0, steps_of));
    let batch = text.batches(&g, Part::Training, options.batch)?;
    // Training takes what the queues give; validation feeds its own.
    let batch = Batch {
        chars: g.placeholder_with_default(batch.chars, shape![_, _]),
        lengths: g.placeholder_with_default(batch.lengths, shape![_]),
    };
    // When the run began, and when it had its input.
    let begun = g.timestamp();
    let had = g.control_dependencies([batch.chars], || g.timestamp());
    let mut model = Model::new(&g, options.units)?;
    let loss = model.loss(&g, batch)?;
    let mean = loss.total / loss.characters;
    let step = g.global_step()?;
    let rate = g.polynomial_decay(4e-3, step.value(), options.steps as f32, 2e-4, 1.0, false)?;
    let optimizer = Optimizer::adam(rate);
    let (grads, variables): (Vec<_>, Vec<_>) = optimizer.compute_gradients(mean)?.into_iter().unzip();
    let (grads, norm) = g.clip_by_global_norm(&grads, 1.0)?;
    let train = optimizer.apply_gradients(grads.into_iter().zip(variables), Some(step))?;
    let samples = model.sample(&g, 8, 120, 0.7)?;

    summary::scalar(&g, "loss", mean);
    summary::scalar(&g, "padding", 1.0 - loss.characters / loss.places);
    summary::scalar(&g, "learning_rate", rate);
    summary::scalar(&g, "gradient_norm", norm);
    for variable in g.trainable_variables() {
        summary::histogram(&g, &variable.name(), variable.value());
    }
    let summaries = summary::merge_all(&g)?.ok_or_else(|| invalid("there are summaries"))?;
    let saver = Saver::new(&g)?;
    let init = g.global_variables_initializer();
    let init_local = g.local_variables_initializer();
    g.finalize();

    let session = Session::new(&g)?;
    session.run::<()>((init, init_local), feed![])?;
    if let Some(checkpoint) = &checkpoint {
        saver.restore(&session, checkpoint)?;
    }
    let mut done: i64 = session.run(step.value(), feed![])?;
    println!("run in {}: {done} steps done of {}", folder.display(), options.steps);
    let writer = FileWriter::new(&folder)?;
    writer.add_graph(&g, done)?;

    // How wrong it is about the lines for validation, in nats a character.
    let test = session.make_callable((loss.total, loss.characters), [batch.chars, batch.lengths])?;
    let validate = || -> Result<f64> {
        let (mut total, mut characters) = (0.0, 0.0);
        for batch in &validation {
            let (nats, n): (f32, f32) = test.call_as(batch)?;
            total += f64::from(nats);
            characters += f64::from(n);
        }
        Ok(total / characters)
    };
    let note =
        |loss: f64, step: i64| writer.add_summary(summary::numbers([("validation/loss", loss as f32)]), step);
    let save = |step: i64| -> Result<()> {
        let path = saver.save(&session, folder.join("model"), Some(step))?;
        let checkpoint_path = path.display().to_string();
        let status = SessionStatus::Checkpoint.into();
        writer.add_session_log(SessionLog { status, checkpoint_path, ..SessionLog::default() }, step)
    };

    let before = validate()?;
    note(before, done)?;
    let told = (loss.total, loss.characters, loss.places, (begun, had));
    let plain = session.make_callable((train, told), [])?;
    let noted = session.make_callable((train, told, summaries), [])?;
    let bar = progress(options.steps);
    let mut all = Tally::default();
    session.with_queue_runners(|_| {
        let mut recent = Tally::default();
        while done < options.steps && !stop.load(Relaxed) {
            let at = Instant::now();
            done += 1;
            let step = if done % 20 == 0 {
                let ((), told, summary): ((), Told, Tensor) = noted.call_as(&[])?;
                writer.add_summary(&summary, done)?;
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
            if done % 200 == 0 && done < options.steps {
                let loss = validate()?;
                note(loss, done)?;
                save(done)?;
                bar.suspend(|| println!("step {done}: validation {}", shown(loss)));
            }
        }
        Ok(())
    })?;
    bar.abandon();
    let after = validate()?;
    note(after, done)?;
    save(done)?;
    writer.close()?;

    if all.seconds > 0.0 {
        println!("over all: {all}");
    }
    let samples = lines(&session.run(samples, feed![])?)?;
    Ok(Outcome { steps: done, before, after, unigram: unigram.0, waited: all.waited(), samples, folder })
}

/// What a step tells: nats, characters, places for characters, and when it began and had its input.
type Told = (f32, f32, f32, (f64, f64));

/// What several steps told.
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

    /// The share of the time; none of no time.
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
    // The form is a constant that is right.
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// The lines for validation, in batches: characters and lengths. A pipeline of their own reads the files once.
fn validation(text: &Text, characters: usize) -> Result<Vec<[Tensor; 2]>> {
    let g = Graph::new();
    let batch = text.batches(&g, Part::Validation, characters)?;
    let init = g.local_variables_initializer();
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    let mut batches = Vec::new();
    // Goes on until the end of the input, which is no error.
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

/// The entropy of single characters, in nats: what a model would lose that knew how often each of these characters occurs, and nothing
/// else. And how many there are.
fn unigram(batches: &[[Tensor; 2]]) -> Result<(f64, usize)> {
    let mut counts = [0usize; CHARACTERS];
    for [chars, lengths] in batches {
        let time = chars.shape()[1];
        for (row, length) in chars.as_slice::<i32>()?.chunks(time).zip(lengths.as_slice::<i32>()?) {
            // The first character is given.
            row[1..*length as usize].iter().for_each(|c| counts[*c as usize] += 1);
        }
    }
    let n: usize = counts.iter().sum();
    let share = |c: &usize| *c as f64 / n as f64;
    Ok((counts.iter().filter(|c| **c > 0).map(|c| -share(c) * share(c).ln()).sum(), n))
}

/// Rows of characters as text, each up to its end.
fn lines(chars: &Tensor) -> Result<Vec<String>> {
    let rows = chars.as_slice::<i32>()?.chunks(chars.shape()[1].max(1));
    let text = |row: &[i32]| {
        let bytes: Vec<u8> = row.iter().map(|c| *c as u8).take_while(|c| *c != NEWLINE && *c != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(rows.map(text).collect())
}

/// In nats and bits.
fn shown(nats: f64) -> String {
    format!("{nats:.3} nats ({:.3} bits) a character", nats / std::f64::consts::LN_2)
}

/// The folder of this run, and the checkpoint it goes on from.
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

/// After how many steps a checkpoint was saved: its name ends in it.
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

        let first = run(&options(&folder, 400), &AtomicBool::new(false))?;
        assert!(first.steps == 400 && first.after < first.before, "{} {}", first.before, first.after);
        assert!(first.after < first.unigram, "{} {}", first.after, first.unigram);
        assert!(first.samples.len() == 8 && (0.0..1.0).contains(&first.waited));

        let stopped = run(&Options { resume: true, ..options(&folder, 410) }, &AtomicBool::new(true))?;
        assert!(stopped.steps == 400 && stopped.folder == first.folder && stopped.waited == 0.0);
        assert!((stopped.before - first.after).abs() < 1e-4, "what was saved is what goes on");
        let more = run(&Options { resume: true, ..options(&folder, 410) }, &AtomicBool::new(false))?;
        assert!(
            more.steps == 410 && latest_checkpoint(&first.folder)?.is_some_and(|p| p.ends_with("model-410"))
        );

        let other = run(&options(&folder, 1), &AtomicBool::new(false))?;
        assert_ne!(other.folder, first.folder);
        let nowhere = Options { logdir: folder.join("none"), resume: true, ..options(&folder, 1) };
        assert!(run(&nowhere, &AtomicBool::new(false)).is_err());
        std::fs::remove_dir_all(&folder).expect("removes the folder");
        Ok(())
    }
}
