//! `StringNGrams`: n-grams of the words in rows.

use crate::shared::strings::strs;
use millstream_graph::op::spec::{Bool, IndexType, Int, IntList, Spec, Text};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I64, Str as Strings};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Str, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("StringNGrams")
        .doc(
            "Returns, for each row of words and each width in `ngram_widths`, the sequences of that many adjacent \
             words, joined by `separator`. `data_splits` holds where rows of `data` begin and the last one ends; \
             `ngrams_splits` the same of the result. Rows are padded with `pad_width` times `left_pad` and \
             `right_pad`, but never with more than the width less one, which is what a negative `pad_width` \
             means. If `preserve_short_sequences` is true, a row that is too short for an n-gram has one of all \
             its words.",
        )
        .input("data", Strings)
        .input("data_splits", "Tsplits")
        .output("ngrams", Strings)
        .output("ngrams_splits", "Tsplits")
        .attr("separator", Text)
        .attr("ngram_widths", IntList)
        .attr("left_pad", Text)
        .attr("right_pad", Text)
        .attr("pad_width", Int)
        .attr("preserve_short_sequences", Bool)
        .attr("Tsplits", IndexType.or(I64))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(200.0)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.with_rank(0, 1)?;
    let n = cx.vector(1)?;
    cx.set(0, [None]);
    cx.set(1, [n]);
    Ok(())
}

/// The attributes.
struct Maker<'a> {
    separator: &'a [u8],
    pads: [&'a [u8]; 2],
    widths: Vec<usize>,
    pad_width: Option<usize>,
    preserves: bool,
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let attrs = cx.attrs();
    let widths = attrs.ints("ngram_widths")?;
    let width = |w: &i64| {
        let found = usize::try_from(*w).ok().filter(|w| (1..1 << 31).contains(w));
        found.ok_or_else(|| {
            invalid!("`ngram_widths` is {widths:?}: a width must be positive, and less than 2^31")
        })
    };
    let pad_width = attrs.int("pad_width")?;
    let maker = Maker {
        separator: attrs.str("separator")?,
        pads: [attrs.str("left_pad")?, attrs.str("right_pad")?],
        widths: widths.iter().map(width).collect::<Result<_>>()?,
        pad_width: usize::try_from(pad_width).ok().map(|p| p.min(1 << 31)),
        preserves: attrs.bool("preserve_short_sequences")?,
    };
    ensure!(cx.input(0).rank() == 1, "`data` must be a vector but has shape {}", cx.input(0).shape());
    ensure!(cx.input(1).rank() == 1, "`data_splits` must be a vector but has shape {}", cx.input(1).shape());
    let (words, splits) = (strs(cx, 0)?, cx.ints(1)?);
    let mut places = Charged::with_room(splits.len())?;
    for (i, split) in splits.iter().enumerate() {
        let place = usize::try_from(*split).ok().filter(|place| *place <= words.len()).ok_or_else(|| {
            invalid!(
                "Invalid split value {split}, must be in [0,{}]", words.len();
                "`data_splits` has {split} at {i}"
            )
        })?;
        let before = places.last().copied().unwrap_or(0);
        ensure!(
            before <= place,
            "Invalid split value {split}, must be in [{before},{}]", words.len();
            "`data_splits` has {split} after {before}"
        );
        places.push(place)?;
    }
    let (mut grams, mut ends, mut pace) = (Charged::new(), Charged::with_room(splits.len())?, Pace::new());
    if !places.is_empty() {
        ends.push(0i64)?;
    }
    for row in places.windows(2) {
        maker.add(&words[row[0]..row[1]], &mut grams, &mut pace)?;
        ends.push(grams.len() as i64)?;
    }
    let dtype = cx.input(1).dtype();
    let grams = Tensor::strings([grams.len()], grams.take())?;
    cx.set(0, grams);
    let ends = crate::shared::casting::cast(&Tensor::vector(&ends)?, dtype)?;
    cx.set(1, ends);
    Ok(())
}

impl Maker<'_> {
    /// Adds the n-grams of a row.
    fn add(&self, words: &[Str], grams: &mut Charged<Str>, pace: &mut Pace) -> Result<()> {
        let before = grams.len();
        for &width in &self.widths {
            let pad = self.pad_width.unwrap_or(usize::MAX).min(width - 1);
            for first in 0..(words.len() + 2 * pad + 1).saturating_sub(width) {
                grams.push(self.gram(words, pad, first, width, pace)?)?;
            }
        }
        if self.preserves && grams.len() == before && !words.is_empty() {
            let pad = self.pad_width.unwrap_or(0);
            grams.push(self.gram(words, pad, 0, words.len() + 2 * pad, pace)?)?;
        }
        Ok(())
    }

    /// Returns the n-gram that begins at place `first` of the padded row.
    fn gram(&self, words: &[Str], pad: usize, first: usize, width: usize, pace: &mut Pace) -> Result<Str> {
        let left = pad.saturating_sub(first).min(width);
        let from = first.saturating_sub(pad).min(words.len());
        let to = (first + width).saturating_sub(pad).clamp(from, words.len());
        let right = width - left - (to - from);
        let mut text = Charged::new();
        pace.spend(1)?;
        let mut add = |part: &[u8], times: usize| {
            let size = part.len() + self.separator.len();
            for _ in 0..if size == 0 { 0 } else { times } {
                pace.spend(1 + size / 8)?;
                text.extend_from_slice(part)?;
                text.extend_from_slice(self.separator)?;
            }
            Ok::<(), millstream_tensor::Error>(())
        };
        add(self.pads[0], left)?;
        words[from..to].iter().try_for_each(|word| add(word, 1))?;
        add(self.pads[1], right)?;
        text.truncate(text.len() - self.separator.len());
        Str::new(text.take())
    }
}

cases! {
    pairs: r#"StringNGrams(["a" "b" "c" "d" "e"], i64 [0 4 5]; separator=" ", ngram_widths={2}, left_pad="<", right_pad=">", pad_width=-1, preserve_short_sequences=false) = ["< a" "a b" "b c" "c d" "d >" "< e" "e >"], i64 [0 5 7]"#,
    two_widths: r#"StringNGrams(["a" "b" "c"], [0 3]; separator="-", ngram_widths={2, 1}, left_pad="", right_pad="", pad_width=0, preserve_short_sequences=false) = ["a-b" "b-c" "a" "b" "c"], [0 5]"#,
    one_pad: r#"StringNGrams(["a" "b" "c" "d" "e"], i64 [0 4 5]; separator=" ", ngram_widths={3}, left_pad="<", right_pad=">", pad_width=1, preserve_short_sequences=false) = ["< a b" "a b c" "b c d" "c d >" "< e >"], i64 [0 4 5]"#,
    keeps_short_rows: r#"StringNGrams(["a" "b" "c" "d" "e"], i64 [0 4 4 5]; separator=" ", ngram_widths={2, 6}, left_pad="<", right_pad=">", pad_width=0, preserve_short_sequences=true) = ["a b" "b c" "c d" "e"], i64 [0 3 3 4]"#,
    keeps_padded_rows: r#"StringNGrams(["a" "b"], i64 [0 2]; separator=" ", ngram_widths={9}, left_pad="<", right_pad=">", pad_width=1, preserve_short_sequences=true) = ["< a b >"], i64 [0 1]"#,
    of_nothing: r#"StringNGrams(str[0] [], i64[1] [0]; separator=" ", ngram_widths={2}, left_pad="<", right_pad=">", pad_width=0, preserve_short_sequences=false) = str[0] [], i64[1] [0]"#,
    infers: r#"StringNGrams(str[?], i32[4]; separator=" ", ngram_widths={2}, left_pad="<", right_pad=">", pad_width=0, preserve_short_sequences=false) : str[?], i32[4]"#,
    inside: r#"StringNGrams(["a"], i64 [0 9]; separator=" ", ngram_widths={2}, left_pad="<", right_pad=">", pad_width=0, preserve_short_sequences=false) ! Invalid split value 9, must be in [0,1]"#,
    ascending: r#"StringNGrams(["a" "b"], i64 [0 2 1]; separator=" ", ngram_widths={2}, left_pad="<", right_pad=">", pad_width=0, preserve_short_sequences=false) ! `data_splits` has 1 after 2"#,
    positive_widths: r#"StringNGrams(["a"], i64 [0 1]; separator=" ", ngram_widths={0}, left_pad="<", right_pad=">", pad_width=0, preserve_short_sequences=false) ! a width must be positive"#,
}
