//! Text files as batches of lines of similar length. Everything happens in the graph: queue runners read
//! files, shuffle lines, convert them to numbers and bucket them while the model trains.

use millstream::contrib::training::{BatchSize, bucket_by_sequence_length};
use millstream::prelude::*;
use millstream::reader::TextLineReader;
use millstream::train::string_input_producer;
use millstream::{Queue, Queues};
use std::path::{Path, PathBuf};

/// A character is a byte: there are 256, and no vocabulary is needed.
pub const CHARACTERS: usize = 256;

/// The first and last character of a line.
pub const NEWLINE: u8 = b'\n';

/// Longer lines are truncated.
const LONGEST: i32 = 200;

/// The boundaries of the buckets; the last bucket takes all longer lines.
const BOUNDARIES: [i64; 8] = [12, 24, 36, 48, 64, 80, 100, 130];

/// The text files, and the share of lines for validation.
pub struct Text {
    pub files: Vec<String>,
    /// The number of validation lines per thousand.
    pub kept: i64,
    pub bytes: u64,
}

/// Lines with their first and last characters, padded with zeros: characters `[lines, time]`, and their
/// lengths.
#[derive(Clone, Copy)]
pub struct Batch<'g> {
    pub chars: Output<'g>,
    pub lengths: Output<'g>,
}

/// A part of the lines.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// Training lines: repeated endlessly in random order.
    Training,
    /// Validation lines: once, in order.
    Validation,
}

impl Text {
    /// Finds a file, or all text files of a folder; by default the sources and documents of this project.
    pub fn find(path: Option<&Path>) -> Result<Text> {
        let mut files = Vec::new();
        match path {
            Some(path) if path.is_dir() => collect(path, &is_text, &mut files)?,
            Some(path) => files.push(path.to_owned()),
            None => {
                // In a package, the crate is all that is there.
                let own = Path::new(env!("CARGO_MANIFEST_DIR"));
                let all = own.join("../..");
                let project = if all.join("ARCHITECTURE.md").exists() { all } else { own.to_owned() };
                let ours = |file: &Path| matches!(file.extension(), Some(e) if e == "rs" || e == "md");
                collect(&project, &ours, &mut files)?;
            }
        }
        files.sort();
        let mut text = Text { files: Vec::new(), kept: 0, bytes: 0 };
        for file in files {
            text.bytes += std::fs::metadata(&file).map_err(|e| unreadable(&file, &e))?.len();
            text.files
                .push(file.to_str().ok_or_else(|| invalid(format!("{file:?} is not valid UTF-8")))?.into());
        }
        if text.bytes == 0 {
            return Err(invalid(format!("there is no text in {path:?}")));
        }
        // About 100 kB are enough to compare models, and quick to evaluate.
        text.kept = (100_000_000 / text.bytes).clamp(1, 100) as i64;
        Ok(text)
    }

    /// Returns batches of lines. Each has up to `characters` characters, padding included, so that all
    /// batches take about the same time.
    pub fn batches<'g>(&self, g: &'g Graph, part: Part, characters: usize) -> Result<Batch<'g>> {
        let training = part == Part::Training;
        let names =
            Tensor::strings([self.files.len()], self.files.iter().map(|f| f.as_str().into()).collect())?;
        let epochs = if training { None } else { Some(1) };
        let names = string_input_producer(g, names).shuffle(training).num_epochs(epochs).build()?;
        let (_, line) = TextLineReader::new(g).build()?.read(&names)?;
        // Training must not see validation lines, nor equal lines elsewhere, nor after the text has changed,
        // so the hash of a line decides. With more text fewer lines are kept, a subset of those kept before.
        let kept = g.strings().string_to_hash_bucket_fast(line, 1000).less(self.kept);
        let mine = if training { kept.logical_not() } else { kept };
        let (line, mine) = if training { mixed(g, line, mine)? } else { (line, mine) };

        let bytes = g.strings().decode_raw(line, DType::U8).cast::<i32>();
        let some = bytes.size().greater(0);
        let bytes = bytes.slice_axis(0, 0..LONGEST);
        let newline = g.constant([i32::from(NEWLINE)]);
        let chars = g.concat(0, [newline, bytes, newline]);

        let batches =
            bucket_by_sequence_length(g, chars.size(), chars, BatchSize::MaxTokens(characters), BOUNDARIES)
                .dynamic_pad(true)
                .keep_input(mine & some)
                .allow_smaller_final_batch(true)
                .run()?;
        let (lengths, chars) = batches.outputs;
        Ok(Batch { chars, lengths })
    }
}

/// Consecutive lines are similar, so the next line is a random one of a few thousand.
fn mixed<'g>(g: &'g Graph, line: Output<'g>, mine: Output<'g>) -> Result<(Output<'g>, Output<'g>)> {
    let pool = Queue::shuffle(g.named("mixed"), 8000, 5000, [DType::Str, DType::Bool])
        .shapes([shape![], shape![]])
        .build()?;
    g.add_queue_runner(&pool.runner([pool.enqueue((line, mine))?]));
    let [line, mine] = pool.dequeue()?.all()?;
    Ok((line, mine))
}

/// Returns the files of a folder and its subfolders, without hidden files and build outputs.
fn collect(folder: &Path, wanted: &dyn Fn(&Path) -> bool, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|e| unreadable(folder, &e))? {
        let path = entry.map_err(|e| unreadable(folder, &e))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match () {
            () if name.starts_with('.') || name == "target" => {}
            () if path.is_dir() => collect(&path, wanted, files)?,
            () if path.is_file() && wanted(&path) => files.push(path),
            () => {}
        }
    }
    Ok(())
}

/// Files with zero bytes are not text.
fn is_text(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.is_ok() && !start.is_empty() && !start.contains(&0)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    invalid(format!("cannot read {path:?}: {error}"))
}

pub fn invalid(message: impl Into<String>) -> Error {
    Error::invalid(message.into())
}
