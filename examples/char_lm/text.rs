//! Text files as batches of lines of about the same length. All of it happens in the graph: files are read, lines are mixed, turned into
//! numbers and put into buckets by the queues' runners while the model trains.

use millstream::contrib::training::{BatchSize, bucket_by_sequence_length};
use millstream::prelude::*;
use millstream::reader::TextLineReader;
use millstream::train::string_input_producer;
use std::path::{Path, PathBuf};

/// A character is a byte: 256 of them are all there are, and no vocabulary has to be agreed on.
pub const CHARACTERS: usize = 256;

/// What a line begins and ends with.
pub const NEWLINE: u8 = b'\n';

/// Longer lines are cut.
const LONGEST: i32 = 200;

/// The lengths at which buckets end; the last one takes the rest.
const BOUNDARIES: [i64; 8] = [12, 24, 36, 48, 64, 80, 100, 130];

/// Where the text is, and which of its lines are kept for validation.
pub struct Text {
    pub files: Vec<String>,
    /// So many lines in a thousand are for validation.
    pub kept: i64,
    pub bytes: u64,
}

/// Lines with what comes before and after them, padded with zeros: characters `[lines, time]`, and how many of them count.
#[derive(Clone, Copy)]
pub struct Batch<'g> {
    pub chars: Output<'g>,
    pub lengths: Output<'g>,
}

/// Which lines.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// For training: again and again, in random order.
    Training,
    /// For validation: once, in order.
    Validation,
}

impl Text {
    /// A file, or all text files of a folder; by default the sources and documents of this project.
    pub fn find(path: Option<&Path>) -> Result<Text> {
        let mut files = Vec::new();
        match path {
            Some(path) if path.is_dir() => collect(path, &is_text, &mut files)?,
            Some(path) => files.push(path.to_owned()),
            None => {
                let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
                let ours = |file: &Path| matches!(file.extension(), Some(e) if e == "rs" || e == "md");
                collect(&project, &ours, &mut files)?;
            }
        }
        files.sort();
        let mut text = Text { files: Vec::new(), kept: 0, bytes: 0 };
        for file in files {
            text.bytes += std::fs::metadata(&file).map_err(|e| unreadable(&file, &e))?.len();
            text.files.push(file.to_str().ok_or_else(|| invalid(format!("{file:?} is no UTF-8")))?.into());
        }
        if text.bytes == 0 {
            return Err(invalid(format!("there is no text in {path:?}")));
        }
        // About 100 kB are enough to tell models apart, and read quickly.
        text.kept = (100_000_000 / text.bytes).clamp(1, 100) as i64;
        Ok(text)
    }

    /// Batches of lines. Each has up to so many characters, padding included, so that each takes about as long, whatever the lengths.
    pub fn batches<'g>(&self, g: &'g Graph, part: Part, characters: usize) -> Result<Batch<'g>> {
        let training = part == Part::Training;
        let names =
            Tensor::strings([self.files.len()], self.files.iter().map(|f| f.as_str().into()).collect())?;
        let epochs = if training { None } else { Some(1) };
        let names = string_input_producer(g, names).shuffle(training).num_epochs(epochs).make()?;
        let (_, line) = TextLineReader::new(g).make()?.read(&names)?;
        // Of validation's lines training must see none, nor their like elsewhere, nor after the text has changed: what they say decides. Where
        // there is more text fewer are kept, all of which were kept before.
        let kept = line.string_to_hash_bucket_fast(1000).less(self.kept);
        let mine = if training { kept.logical_not() } else { kept };
        let (line, mine) = if training { mixed(g, line, mine)? } else { (line, mine) };

        let bytes = line.decode_raw(DType::U8).cast::<i32>();
        let some = bytes.size().greater(0);
        let bytes = bytes.slice_axis(0, 0..LONGEST);
        let newline = g.constant([i32::from(NEWLINE)]);
        let chars = g.concat(0, [newline, bytes, newline]);

        let batches =
            bucket_by_sequence_length(g, chars.size(), chars, BatchSize::MaxTokens(characters), BOUNDARIES)
                .dynamic_pad(true)
                .keep_input(mine & some)
                .allow_smaller_final_batch(true)
                .make()?;
        let (lengths, chars) = batches.outputs;
        Ok(Batch { chars, lengths })
    }
}

/// Lines that follow each other are alike: of a few thousand that wait, a random one is next.
fn mixed<'g>(g: &'g Graph, line: Output<'g>, mine: Output<'g>) -> Result<(Output<'g>, Output<'g>)> {
    let pool = Queue::shuffle(g.named("mixed"), 8000, 5000, [DType::Str, DType::Bool])
        .shapes([shape![], shape![]])
        .make()?;
    g.add_queue_runner(&pool.runner([pool.enqueue((line, mine))?]));
    let [line, mine] = pool.dequeue()?.all()?;
    Ok((line, mine))
}

/// The files of a folder and those in it, but for hidden ones and what a build left.
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

/// Text has no zeros in it.
fn is_text(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.is_ok() && !start.is_empty() && !start.contains(&0)
}

fn unreadable(path: &Path, error: &std::io::Error) -> millstream::Error {
    invalid(format!("cannot read {path:?}: {error}"))
}

pub fn invalid(message: impl Into<String>) -> millstream::Error {
    millstream::Error::invalid(message.into())
}
