//! Writes bucketing pipelines to folders, each as a `MetaGraphDef` with its queue runners, and the batches
//! that this engine makes. TensorFlow must make the same batches:
//!
//! ```text
//! cargo run -p millstream-testkit --example buckets -- OUT FIRST_SEED COUNT
//! python tests/golden/check_buckets.py OUT
//! ```
//!
//! Options that TensorFlow lacks are in attributes that it ignores: `_counts` in all graphs, and in some
//! custom padding and batches limited by tokens. Such a graph is stored with the batches of the same pipeline
//! without these options, which TensorFlow must reproduce.

use millstream::contrib::training::{BatchSize, BucketBuilder, bucket, bucket_by_sequence_length};
use millstream::engine::graph::{IntoNest, Nest};
use millstream::prelude::*;
use millstream::{Code, RunQueues, interop, train};
use millstream_testkit::generate::Rng;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

type Done = std::result::Result<(), Box<dyn std::error::Error>>;

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Done {
    let mut args = std::env::args().skip(1);
    let out = PathBuf::from(args.next().ok_or("where to?")?);
    let first: u64 = args.next().ok_or("from which seed?")?.parse()?;
    let count: u64 = args.next().ok_or("how many?")?.parse()?;
    for seed in first..first + count {
        write(&out.join(format!("bucket_{seed}")), &Pipeline::new(seed))?;
    }
    println!("{count} pipelines written");
    Ok(())
}

/// A pipeline: numbers, each with a sequence of floats and one of words, by remainder or by length.
struct Pipeline {
    n: i64,
    buckets: usize,
    by_length: bool,
    sizes: Vec<i64>,
    one_size: bool,
    pads: bool,
    smaller: bool,
    keeps: bool,
    /// What happens to numbers that belong to no bucket: they are dropped, or end the run.
    out_of_range: Option<OutOfRange>,
    capacity: usize,
    capacities: Option<Vec<usize>>,
    shared: bool,
    /// Padding and batches that TensorFlow does not support.
    padding: bool,
    pad_to: bool,
    tokens: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum OutOfRange {
    Drops,
    Fails,
}

impl Pipeline {
    fn new(seed: u64) -> Pipeline {
        let mut rng = Rng::new(seed);
        let mut one_of = |n: usize| rng.below(n);
        let (by_length, pads, buckets) = (one_of(3) == 0, one_of(4) > 0, 1 + one_of(4));
        // Bucketing by length has one bucket more than boundaries, and at least one boundary.
        let buckets = if by_length { buckets + 1 } else { buckets };
        let out_of_range = match one_of(6) {
            0 if !by_length => Some(OutOfRange::Drops),
            1 if !by_length => Some(OutOfRange::Fails),
            _ => None,
        };
        Pipeline {
            n: 1 + one_of(60) as i64,
            buckets,
            by_length,
            sizes: (0..buckets).map(|_| 1 + one_of(6) as i64).collect(),
            one_size: one_of(2) == 0,
            pads,
            smaller: one_of(2) == 0,
            keeps: one_of(3) == 0,
            out_of_range,
            capacity: 1 + one_of(5),
            capacities: (one_of(2) == 0).then(|| (0..buckets).map(|_| 1 + one_of(8)).collect()),
            shared: one_of(2) == 0,
            padding: pads && one_of(3) == 0,
            pad_to: pads && one_of(3) == 0,
            tokens: (pads && one_of(4) == 0).then(|| 8 + one_of(10)),
        }
    }

    /// Builds the pipeline, with or without the options that TensorFlow lacks. Returns the fetches: the
    /// bucket and its batch.
    fn build<'g>(&self, g: &'g Graph, ours: bool) -> Result<Vec<Output<'g>>> {
        let numbers = train::range_input_producer(g, self.n).num_epochs(1).shuffle(false).build()?;
        let [x] = numbers.dequeue()?.all()?;
        let length = if self.pads { x * 7 % 5 + 1 } else { g.constant(3) };
        let known = if self.pads { shape![_] } else { shape![3] };
        let dims = g.stack([length], 0);
        let floats = g.fill(dims, x.cast::<f32>() * 0.5).set_shape(known.clone());
        let words = g.fill(dims, g.strings().as_string(x)).set_shape(known);
        let element = vec![x, floats, words];
        let size = match (self.tokens, self.one_size) {
            (Some(tokens), _) if ours => BatchSize::MaxTokens(tokens),
            (Some(tokens), _) => BatchSize::from(tokens as i64),
            (None, true) => BatchSize::from(self.sizes[0]),
            (None, false) => BatchSize::from(self.sizes.clone()),
        };
        if self.by_length {
            let boundaries = (1..self.buckets as i64).map(|i| i + 1);
            let made = bucket_by_sequence_length(g, length, element, size, boundaries);
            let made = self.set(made, x, ours).run()?;
            let (lengths, mut batch) = made.outputs;
            batch.splice(..0, [made.bucket, lengths]);
            return Ok(batch);
        }
        let modulus = if self.out_of_range.is_some() { self.buckets + 1 } else { self.buckets };
        let made = bucket(g, element, x % modulus as i32, size, self.buckets);
        let mut made = self.set(made, x, ours).run()?;
        made.outputs.insert(0, made.bucket);
        Ok(made.outputs)
    }

    fn set<'g, T: IntoNest<'g>>(
        &self,
        made: BucketBuilder<'g, T>,
        x: Output<'g>,
        ours: bool,
    ) -> BucketBuilder<'g, T>
    where
        T::Nest: Nest<'g>,
    {
        let mut made = made
            .dynamic_pad(self.pads)
            .capacity(self.capacity)
            .allow_smaller_final_batch(self.smaller)
            .drop_out_of_range(self.out_of_range == Some(OutOfRange::Drops));
        if let Some(capacities) = &self.capacities {
            made = made.bucket_capacities(capacities.clone());
        }
        if self.keeps {
            made = made.keep_input((x % 3).not_equal(0));
        }
        if self.shared {
            made = made.shared_name("shared");
        }
        if self.padding && ours {
            made = made.padding_value("1", -1f32).padding_value("2", Tensor::str("none"));
        }
        if self.pad_to && ours {
            made = made.pad_to("1", (0..self.buckets).map(|i| 4 + i));
        }
        made
    }

    /// The batches, and the code that ended the run.
    fn run(&self) -> Result<(Vec<Value>, Code)> {
        let g = Graph::new();
        let fetches = self.build(&g, false)?;
        let init = g.local_variables_initializer();
        let session = Session::new(&g)?;
        session.run::<()>(init, feed![])?;
        let mut batches = Vec::new();
        let ended = session.with_queue_runners::<()>(|_| {
            loop {
                let batch: Vec<Tensor> = session.run(fetches.clone(), feed![])?;
                batches.push(batch.iter().map(plain).collect());
            }
        });
        match ended {
            Ok(_) => Ok((batches, Code::OutOfRange)),
            Err(error) if self.out_of_range == Some(OutOfRange::Fails) => Ok((batches, error.code())),
            Err(error) => Err(error),
        }
    }
}

fn write(folder: &Path, pipeline: &Pipeline) -> Done {
    let (batches, end) = pipeline.run()?;
    let g = Graph::new();
    let fetches = pipeline.build(&g, true)?;
    let init = g.local_variables_initializer();
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("meta.pb"), interop::proto::encode(&interop::export_meta_graph(&g)?))?;
    let fetches: Vec<String> = fetches.iter().map(Output::name).collect();
    let case = json!({"init": init.name(), "fetches": fetches, "batches": batches, "end": end as i32});
    std::fs::write(folder.join("case.json"), serde_json::to_string(&case)?)?;
    Ok(())
}

/// A tensor as JSON: what TensorFlow's tensor must equal.
fn plain(t: &Tensor) -> Value {
    let values: Value = match t.dtype() {
        DType::I32 => t.as_slice::<i32>().unwrap_or_default().into(),
        DType::F32 => t.as_slice::<f32>().unwrap_or_default().into(),
        _ => {
            t.as_strs().unwrap_or_default().iter().map(|s| String::from_utf8_lossy(s).into_owned()).collect()
        }
    };
    json!({"dtype": t.dtype().tf_name(), "shape": t.shape().dims(), "values": values})
}
