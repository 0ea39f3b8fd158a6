//! Thousands of random programs: every tier and setting gives the same bits, and so does the graph after a
//! GraphDef round trip.
//!
//! `MILLSTREAM_PROGRAMS=N` runs N programs, `MILLSTREAM_SEED=S` runs one.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_graph::Graph;
use millstream_interop::{ImportOptions, export_graph_def, import_graph_def};
use millstream_proto::attr_value::Value;
use millstream_proto::{AttrValue, GraphDef, TensorShapeProto};
use millstream_runtime::{FeedList, RunOptions, Target, Tier};
use millstream_tensor::{Error, Tensor};
use millstream_testkit::compare::same;
use millstream_testkit::generate::{Built, Program, build, shrink};
use millstream_testkit::tiers::{COMPILED, INTERPRETED, REFERENCE, Setting};
use millstream_testkit::workers::on_all_cores;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// The result of a run: values, or the code of an error.
type Given = Result<Vec<Tensor>, String>;

/// What the programs of a test did, to check that they did enough.
#[derive(Default, Debug)]
struct Tally {
    values: usize,
    errors: usize,
    live: usize,
    dead: usize,
    next_iterations: usize,
    deepest: usize,
    variables: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.values += other.values;
        self.errors += other.errors;
        self.live += other.live;
        self.dead += other.dead;
        self.next_iterations += other.next_iterations;
        self.deepest = self.deepest.max(other.deepest);
        self.variables += other.variables;
    }
}

thread_local! {
    /// What the program did that this thread is running.
    static TALLY: std::cell::RefCell<Tally> = std::cell::RefCell::default();
}

fn run(built: &Built, graph: &Graph, setting: &Setting, trace: bool) -> Given {
    let go = || -> Result<Vec<Tensor>, Error> {
        let session = setting.session(graph, Some(Duration::from_secs(20)))?;
        let target = |name: &String| Ok::<_, Error>(Target::Value(graph.output(name)?.port()));
        for init in &built.init {
            session.run::<()>(Target::Operation(graph.operation(init)?.id()), ())?;
        }
        let fetches: Vec<Target> = built.fetches.iter().map(target).collect::<Result<_, _>>()?;
        let reads: Vec<Target> = built.reads.iter().map(target).collect::<Result<_, _>>()?;
        let options = RunOptions { trace, ..RunOptions::default() };
        let mut all = Vec::new();
        // Runs twice: the second run starts from the state that the first one left.
        for _ in 0..2 {
            let mut feeds = FeedList::new();
            for (name, value) in &built.feeds {
                feeds = feeds.and(graph.output(name)?, value);
            }
            let (values, meta) = session.run_with::<Vec<Tensor>>(fetches.clone(), feeds, &options)?;
            all.extend(values);
            TALLY.with_borrow_mut(|tally| {
                for event in meta.trace.iter().flat_map(|t| &t.events) {
                    tally.dead += usize::from(event.dead);
                    tally.live += usize::from(!event.dead);
                    tally.next_iterations += usize::from(event.op == "NextIteration" && !event.dead);
                    tally.deepest = tally.deepest.max(event.place.matches("loop").count());
                }
            });
        }
        all.extend(session.run::<Vec<Tensor>>(reads, ())?);
        Ok(all)
    };
    let result = catch_unwind(AssertUnwindSafe(go)).map_err(|_| "PANIC".to_owned())?;
    // Only the kind of error counts: if several nodes fail, which one is first is random.
    result.map_err(|e| match e.code() {
        millstream_tensor::Code::InvalidArgument if e.message().contains("division by zero") => {
            "division by zero".into()
        }
        _ => format!("{e}"),
    })
}

fn agree(what: &str, want: &Given, got: &Given) -> Result<(), String> {
    let equal = match (want, got) {
        (Ok(want), Ok(got)) => want.len() == got.len() && want.iter().zip(got).all(|(a, b)| same(a, b)),
        (Err(want), Err(got)) => want == got && want == "division by zero",
        _ => false,
    };
    match equal {
        true => Ok(()),
        false => Err(format!("{what}\nreference {want:?}\ngot       {got:?}")),
    }
}

fn settings(seed: u64) -> Vec<Setting> {
    let parallel = [1, 2, 10, 32];
    let dataflow = |n: u32, threads: usize, hand_out_all: bool| Setting {
        tier: Tier::Dataflow,
        threads,
        parallel_iterations: Some(n),
        hand_out_all,
        compile_after: None,
    };
    let mut all: Vec<Setting> = parallel.iter().map(|&n| dataflow(n, 1, false)).collect();
    // Threads take long to start, so each program runs under some of the combinations; together the programs
    // cover all of them.
    all.push(dataflow(parallel[seed as usize % 4], 2 + (seed as usize / 4) % 3, true));
    all.push(Setting { parallel_iterations: Some(1), ..REFERENCE });
    // Loops as code: interpreted, compiled, and compiled in the middle of a run.
    all.extend([COMPILED, INTERPRETED, Setting { compile_after: Some(50), ..COMPILED }]);
    all
}

fn check(program: &Program, seed: u64) -> Result<(), String> {
    let built = catch_unwind(|| build(program)).map_err(|_| "building: PANIC".to_owned())?;
    let built = built.map_err(|e| format!("building: {e}"))?;
    let want = run(&built, &built.graph, &REFERENCE, false);
    TALLY.with_borrow_mut(|tally| {
        tally.values += usize::from(want.is_ok());
        tally.errors += usize::from(want.is_err());
        tally.variables += built.reads.len();
    });
    for setting in settings(seed) {
        agree(&setting.to_string(), &want, &run(&built, &built.graph, &setting, false))?;
    }
    let one = settings(seed)[seed as usize % 4];
    agree("traced", &want, &run(&built, &built.graph, &one, true))?;

    let say = |e: Error| format!("GraphDef: {e}");
    let def = export_graph_def(&built.graph).map_err(say)?;
    let text = built.graph.to_text();
    let read =
        Graph::parse(&text, millstream_ops::registry()).map_err(|e| format!("text form: {e}\n{text}"))?;
    if read.to_text() != text || export_graph_def(&read).map_err(say)? != def {
        return Err(format!("another graph after printing and parsing\n{text}"));
    }
    agree("after printing and parsing", &want, &run(&built, &read, &one, false))?;
    let graph = Graph::with_ops(millstream_ops::registry());
    import_graph_def(&graph, &def, &ImportOptions::default()).map_err(say)?;
    agree("after a GraphDef round trip", &want, &run(&built, &graph, &one, false))?;
    if export_graph_def(&graph).map_err(say)? != def {
        return Err("another GraphDef after a round trip".into());
    }
    // Without the shapes of what is fed, loops become code in their runs.
    let graph = Graph::with_ops(millstream_ops::registry());
    import_graph_def(&graph, &without_shapes(def), &ImportOptions::default()).map_err(say)?;
    for setting in [COMPILED, INTERPRETED] {
        agree(&format!("{setting}, without shapes"), &want, &run(&built, &graph, &setting, false))?;
    }
    Ok(())
}

/// The graph with placeholders of any shape.
fn without_shapes(mut def: GraphDef) -> GraphDef {
    let any = TensorShapeProto { unknown_rank: true, ..TensorShapeProto::default() };
    let any = AttrValue { value: Some(Value::Shape(any)) };
    for node in def.node.iter_mut() {
        node.attr.remove("_output_shapes");
        if node.op == "Placeholder" {
            node.attr.insert("shape".into(), any.clone());
        }
    }
    def
}

/// Seeds of programs that failed once, in addition to those that always run.
const ONCE_FAILED: &[u64] = &[3220, 8177];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn generated_programs_agree() {
    let seeds: Vec<u64> = match number("MILLSTREAM_SEED") {
        Some(seed) => vec![seed],
        None => {
            (0..number("MILLSTREAM_PROGRAMS").unwrap_or(2000)).chain(ONCE_FAILED.iter().copied()).collect()
        }
    };
    let results = on_all_cores(&seeds, |&seed| {
        let program = Program::new(seed);
        let result = check(&program, seed);
        (program.size(), TALLY.take(), result)
    });
    let mut failures = Vec::new();
    let (mut n_statements, mut n_failing, mut tally) = (0, 0, Tally::default());
    for (&seed, (size, did, result)) in seeds.iter().zip(results) {
        n_statements += size;
        tally += did;
        let Err(error) = result else { continue };
        n_failing += 1;
        if failures.len() < 3 {
            let small = shrink(&Program::new(seed), |p| check(p, seed).is_err());
            let small_error = check(&small, seed).err().unwrap_or(error);
            failures.push(format!("seed {seed}: {small:#?}\n{small_error}"));
        }
    }
    println!("{} programs from seed {:?}, {n_statements} statements", seeds.len(), seeds.first());
    println!("{tally:?}");
    assert!(failures.is_empty(), "{n_failing} programs failed:\n{}", failures.join("\n\n"));
}
