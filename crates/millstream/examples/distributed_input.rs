//! Two producers turn text into numbers and bucket it by length; two trainers, other processes, take the
//! batches. The queue of batches lives in a Valkey or Redis server:
//!
//! ```sh
//! valkey-server &
//! cargo run --release --features store --example distributed_input -- valkey://localhost:6379/words
//! ```

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::contrib::training::bucket_by_sequence_length;
use millstream::prelude::*;
use millstream::{Code, Queue, ResourceManager, RunQueues, SessionOptions, train};
use std::process::{Child, Command, Stdio};

const LINES: [&str; 6] = [
    "the mill stands by the stream",
    "water",
    "a stream of small and large numbers runs through the mill by day and by night",
    "who grinds first",
    "no mill grinds with water that is past",
    "flour",
];
const REPEATS: i64 = 50;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [address, "produce", rank] => produce(address, rank == "1"),
        [address, "train"] => train(address),
        [address] => all(address),
        _ => {
            println!("give the address of a store: valkey://localhost:6379/words");
            Ok(())
        }
    }
}

/// Starts two processes of each kind, and counts what the trainers have seen.
fn all(address: &str) -> Result<()> {
    let lost = |error: std::io::Error| Error::invalid(error.to_string());
    let start = |arguments: &[&str]| -> Result<Child> {
        let mut command = Command::new(std::env::current_exe().map_err(lost)?);
        command.arg(address).args(arguments).stdout(Stdio::piped()).spawn().map_err(lost)
    };
    let producers = [start(&["produce", "0"])?, start(&["produce", "1"])?];
    let trainers = [start(&["train"])?, start(&["train"])?];
    for mut producer in producers {
        producer.wait().map_err(lost)?;
    }
    let g = Graph::new();
    session(&g, address)?.run::<()>(batches(&g)?.close(), feed![])?;
    let mut seen = 0;
    for trainer in trainers {
        let output = trainer.wait_with_output().map_err(lost)?.stdout;
        seen += String::from_utf8_lossy(&output).trim().parse::<usize>().unwrap_or(0);
    }
    println!("{seen} of {} lines", LINES.len() * REPEATS as usize);
    Ok(())
}

/// The queue in the server: batches of lines as the codes of their letters, and the lengths of the lines.
fn batches(g: &Graph) -> Result<Queue<'_>> {
    Queue::padding(g, 32, [DType::I32, DType::I32])
        .shapes([shape![_, _], shape![_]])
        .shared_name("batches")
        .build()
}

fn session(g: &Graph, address: &str) -> Result<Session> {
    let resources = Some(ResourceManager::at(address)?);
    Session::with_options(g, SessionOptions { resources, ..SessionOptions::default() })
}

/// Batches every second line with others of similar length.
fn produce(address: &str, is_odd: bool) -> Result<()> {
    let g = Graph::new();
    let mine = LINES.into_iter().skip(usize::from(is_odd)).step_by(2);
    let mine: Vec<String> = mine.map(str::to_owned).collect();
    let lines = train::string_input_producer(&g, mine).num_epochs(REPEATS).shuffle(false).build()?;
    let [line] = lines.dequeue()?.all()?;
    let codes = g.strings().decode_raw(line, DType::U8).cast::<i32>().set_shape(shape![_]);
    let length = g.strings().string_length(line);
    let bucketed = bucket_by_sequence_length(&g, length, codes, 4, [10, 30])
        .dynamic_pad(true)
        .allow_smaller_final_batch(true)
        .run()?;
    let (lengths, codes) = bucketed.outputs;
    let put = batches(&g)?.enqueue((codes, lengths))?;
    let init = g.local_variables_initializer();
    let session = session(&g, address)?;
    session.run::<()>(init, feed![])?;
    session.with_queue_runners(|_| -> Result<()> {
        loop {
            session.run::<()>(put, feed![])?;
        }
    })?;
    Ok(())
}

/// Takes batches until no more come. A trainer would learn from them.
fn train(address: &str) -> Result<()> {
    let g = Graph::new();
    let [codes, lengths] = batches(&g)?.dequeue()?.all()?;
    let session = session(&g, address)?;
    let mut seen = 0;
    loop {
        match session.run::<(Tensor, Vec<i32>)>((codes, lengths), feed![]) {
            Ok((_, lengths)) => seen += lengths.len(),
            Err(error) if error.code() == Code::OutOfRange => break,
            Err(error) => return Err(error),
        }
    }
    println!("{seen}");
    Ok(())
}
