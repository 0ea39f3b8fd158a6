//! Random programs with probes: the values in every iteration, and the first match of a watch, are the same
//! in every tier and setting, and agree with the trace.
//!
//! `MILLSTREAM_PROGRAMS=N` runs N programs, `MILLSTREAM_SEED=S` runs one.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_graph::outline::Outline;
use millstream_graph::{NodeId, Port};
use millstream_runtime::{FeedList, Fetched, Iterations, RunOptions, Session, Sighting, Target, Tier, Watch};
use millstream_tensor::{DType, Error, Result, Tensor};
use millstream_testkit::generate::{Built, Program, build, shrink};
use millstream_testkit::tiers::{REFERENCE, Setting};
use millstream_testkit::workers::on_all_cores;
use std::collections::BTreeMap;
use std::time::Duration;

fn settings(seed: u64) -> Vec<Setting> {
    let dataflow = |n: u32, threads: usize, hand_out_all: bool| Setting {
        tier: Tier::Dataflow,
        threads,
        parallel_iterations: Some(n),
        hand_out_all,
        compile_after: None,
    };
    let parallel = [1, 2, 10, 32];
    vec![
        dataflow(1, 1, false),
        dataflow(32, 1, false),
        dataflow(parallel[seed as usize % 4], 2 + (seed as usize / 4) % 3, true),
        Setting { parallel_iterations: Some(2), ..REFERENCE },
    ]
}

fn session(built: &Built, setting: &Setting) -> Result<Session> {
    let session = setting.session(&built.graph, Some(Duration::from_secs(20)))?;
    for init in &built.init {
        session.run::<()>(Target::Operation(built.graph.operation(init)?.id()), ())?;
    }
    Ok(session)
}

fn feeds(built: &Built) -> Result<FeedList> {
    built.feeds.iter().try_fold(FeedList::new(), |list, (name, v)| Ok(list.and(built.graph.output(name)?, v)))
}

fn fetches(built: &Built) -> Result<Vec<Target>> {
    built.fetches.iter().map(|name| Ok(Target::Value(built.graph.output(name)?.port()))).collect()
}

/// All outputs of nodes inside loops.
fn inside(built: &Built) -> Result<Vec<Port>> {
    built.graph.read(|g| {
        let outline = Outline::of(g)?;
        let nodes = g.nodes().iter().enumerate().filter(|(n, _)| outline.in_loop(NodeId(*n as u32)));
        Ok(nodes
            .flat_map(|(n, node)| {
                let plain = |ty: DType| ty != DType::Resource;
                let types = node.info.output_types.iter().enumerate();
                types
                    .filter(move |(_, t)| plain(t.dtype))
                    .map(move |(i, _)| Port::new(NodeId(n as u32), i as u32))
            })
            .collect())
    })
}

/// The values of those outputs in every iteration, by name; or the error.
fn seen(built: &Built, setting: &Setting, trace: bool) -> Result<BTreeMap<String, String>, String> {
    let go = || -> Result<_> {
        let session = session(built, setting)?;
        let ports = inside(built)?;
        let (values, every): (Vec<Target>, Vec<Target>) =
            (fetches(built)?, ports.iter().map(|p| Target::Every(*p)).collect());
        let options = RunOptions { trace, ..RunOptions::default() };
        let (all, meta) = session.run_with::<Vec<Fetched>>((every, values), feeds(built)?, &options)?;
        let all: Vec<Iterations> =
            all.into_iter().filter_map(|v| if let Fetched::Every(v) = v { Some(v) } else { None }).collect();
        assert_eq!(all.len(), ports.len());
        if let Some(trace) = meta.trace {
            let mut live: BTreeMap<&str, usize> = BTreeMap::new();
            for event in trace.events.iter().filter(|e| !e.dead) {
                *live.entry(&event.node).or_default() += 1;
            }
            for values in &all {
                let (node, port) = values.name().rsplit_once(':').unwrap_or_default();
                let op = built.graph.operation(node)?;
                let constant = op.op_type() == "Enter" || op.op_type() == "RefEnter";
                let ran = live.get(node).copied().unwrap_or(0);
                // A Switch has a value on one side; that of an Enter may be visible in many iterations.
                let fits = match op.op_type() {
                    "Switch" | "RefSwitch" => values.len() <= ran,
                    _ if constant => (values.is_empty()) == (ran == 0) || values.len() >= ran,
                    _ => values.len() == ran,
                };
                assert!(fits, "{node}:{port} has {} values, and ran {ran} times", values.len());
            }
        }
        Ok(all.iter().map(|v| (v.name().to_owned(), format!("{v:?}"))).collect())
    };
    go().map_err(|e: Error| e.code().to_string())
}

/// The first match of a watch on everything in loops, with a pseudo-random condition.
fn found(built: &Built, setting: &Setting, modulus: u64) -> Result<String> {
    let session = session(built, setting)?;
    let condition = move |value: &Tensor, at: &[u64]| {
        let text = format!("{value} {at:?}");
        text.bytes().fold(modulus, |h, b| h.wrapping_mul(31).wrapping_add(b.into())) % modulus == 1
    };
    let ports = inside(built)?;
    let on = ports.iter().map(|p| Watch::on(millstream_graph::Output::new(&built.graph, *p)).when(condition));
    let watch = on.chain([Watch::all().when(condition)]).collect();
    let asked = (ports.iter().map(|p| Target::Every(*p)).collect::<Vec<_>>(), fetches(built)?);
    let options = RunOptions { watch, ..RunOptions::default() };
    Ok(match session.run_with::<Vec<Fetched>>(asked, feeds(built)?, &options) {
        Ok(_) => "nothing".to_owned(),
        Err(error) => match Sighting::of(&error) {
            Some(s) => format!("{}:{} {:?} {}", s.node, s.output, s.loops, s.value),
            None => {
                format!("{:?} {} {}", error.node(), error.code(), error.notes().first().map_or("", |n| n))
            }
        },
    })
}

#[derive(Default, Debug)]
struct Tally {
    values: usize,
    errors: usize,
    sightings: usize,
    nothing: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.values += other.values;
        self.errors += other.errors;
        self.sightings += other.sightings;
        self.nothing += other.nothing;
    }
}

fn check(program: &Program, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let built = build(program).map_err(|e| format!("building: {e}"))?;
    let want = seen(&built, &REFERENCE, false);
    match &want {
        Ok(values) => tally.values += values.len(),
        Err(_) => tally.errors += 1,
    }
    let modulus = 2 + seed % 200;
    let first = found(&built, &REFERENCE, modulus).map_err(|e| e.to_string())?;
    match &*first {
        "nothing" => tally.nothing += 1,
        _ => tally.sightings += 1,
    }
    for setting in settings(seed) {
        let trace = setting.threads == 1 && setting.tier == Tier::Dataflow;
        let got = seen(&built, &setting, trace);
        if got != want {
            return Err(format!("{setting}\nreference {want:#?}\ngot {got:#?}"));
        }
        let got = found(&built, &setting, modulus).map_err(|e| e.to_string())?;
        // Where a kernel failed, the reference tier names only the innermost loop.
        if got != first && !(first.starts_with("Some") && got.starts_with(first.as_str())) {
            return Err(format!("{setting} found {got}\nreference found {first}"));
        }
    }
    Ok(())
}

#[test]
fn what_is_seen_in_loops_agrees() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let seeds = match number("MILLSTREAM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("MILLSTREAM_PROGRAMS").unwrap_or(300),
    };
    let seeds: Vec<u64> = seeds.collect();
    let single = seeds.len() == 1;
    let results = on_all_cores(&seeds, |&seed| {
        let mut tally = Tally::default();
        let result = check(&Program::new(seed), seed, &mut tally);
        (tally, result)
    });
    let mut tally = Tally::default();
    for (&seed, (did, result)) in seeds.iter().zip(results) {
        tally += did;
        if let Err(why) = result {
            let small = shrink(&Program::new(seed), |p| check(p, seed, &mut Tally::default()).is_err());
            let text = build(&small).map(|b| b.graph.to_text()).unwrap_or_default();
            let again = check(&small, seed, &mut Tally::default()).err().unwrap_or_default();
            panic!("seed {seed}: {why}\nshrunk to\n{text}\n{again}");
        }
    }
    println!("{tally:?}");
    assert!(single || tally.values > 10_000 && tally.sightings > 50 && tally.nothing > 5, "{tally:?}");
}
