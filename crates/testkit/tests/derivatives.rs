//! Thousands of random smooth programs, differentiated once and twice. The gradients must equal those of the
//! same program over dual numbers, and of the same program without loops.
//!
//! `MILLSTREAM_PROGRAMS=N` runs N programs, `MILLSTREAM_SEED=S` runs one.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_autodiff::Gradients;
use millstream_graph::{Graph, Output};
use millstream_runtime::{Session, feed};
use millstream_tensor::{Result, Tensor};
use millstream_testkit::generate::Rng;
use millstream_testkit::smooth::{Dual, Smooth, WIDTH};
use millstream_testkit::workers::on_all_cores;

/// A point and a direction.
struct Probe {
    x: f64,
    v: [f64; WIDTH],
    dx: f64,
    dv: [f64; WIDTH],
}

impl Probe {
    fn from_seed(seed: u64) -> Probe {
        let mut rng = Rng::new(seed ^ 0x5eed);
        let mut number = || rng.below(2001) as f64 / 1000.0 - 1.0;
        Probe {
            x: number(),
            v: std::array::from_fn(|_| number()),
            dx: number(),
            dv: std::array::from_fn(|_| number()),
        }
    }
}

/// The derivative of `y` along the direction, as a node.
fn along<'g>(g: &'g Graph, y: Output<'g>, xs: [Output<'g>; 2], probe: &Probe) -> Result<Output<'g>> {
    let grads = g.gradients([y], xs).dense()?;
    let dv = g.op("Sum").input(grads[1] * probe.dv).input([0]).output();
    Ok(grads[0] * probe.dx + dv)
}

/// The value and the first and second derivative along the direction.
fn computed(build: impl for<'g> Fn(&'g Graph) -> Result<[Output<'g>; 3]>, probe: &Probe) -> Result<[f64; 3]> {
    let g = Graph::with_ops(millstream_ops::registry());
    let [x, v, y] = build(&g)?;
    let first = along(&g, y, [x, v], probe)?;
    let second = along(&g, first, [x, v], probe)?;
    let feeds = feed![x => probe.x, v => Tensor::vector(&probe.v)?];
    let (y, first, second): (f64, f64, f64) = Session::new(&g)?.run((y, first, second), feeds)?;
    Ok([y, first, second])
}

/// The same derivatives, computed with dual numbers.
fn expected(program: &Smooth, probe: &Probe) -> [f64; 3] {
    let dual = |x: f64, d: f64| Dual(Dual(x, d), Dual(d, 0.0));
    let y = program.eval(dual(probe.x, probe.dx), std::array::from_fn(|i| dual(probe.v[i], probe.dv[i])));
    [y.0.0, y.0.1, y.1.1]
}

fn agree(what: &str, got: Result<[f64; 3]>, want: [f64; 3]) -> Result<(), String> {
    let got = got.map_err(|e| format!("{what}: {e}"))?;
    for (order, (got, want)) in got.iter().zip(want).enumerate() {
        // Products of many numbers near 1 grow, so all three share a scale.
        let near = (got - want).abs() <= 1e-7 * want.abs().max(1.0);
        if !near && want.is_finite() && want.abs() < 1e12 {
            return Err(format!("{what}: derivative {order} is {got}, not {want}"));
        }
    }
    Ok(())
}

fn check(program: &Smooth, probe: &Probe) -> Result<(), String> {
    let want = expected(program, probe);
    agree("the graph", computed(|g| program.graph(g), probe), want)?;
    agree("without loops", computed(|g| program.unrolled(g, probe.x, probe.v), probe), want)
}

#[test]
fn gradients_are_those_of_dual_numbers_and_of_the_unrolled_program() {
    let env = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let seeds = match env("MILLSTREAM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..env("MILLSTREAM_PROGRAMS").unwrap_or(2000),
    };
    let seeds: Vec<u64> = seeds.collect();
    let results = on_all_cores(&seeds, |&seed| {
        let (program, probe) = (Smooth::from_seed(seed), Probe::from_seed(seed));
        (program.size(), check(&program, &probe))
    });
    let mut tally = [0; 4];
    let alone = seeds.len() == 1;
    for (&seed, ([depth, counts @ ..], result)) in seeds.iter().zip(results) {
        tally[0] = tally[0].max(depth);
        tally[1..].iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        let Err(mut error) = result else { continue };
        let (mut program, probe) = (Smooth::from_seed(seed), Probe::from_seed(seed));
        // Shrinks the program as long as it fails.
        while let Some((less, why)) =
            program.smaller().into_iter().find_map(|p| check(&p, &probe).err().map(|e| (p, e)))
        {
            (program, error) = (less, why);
        }
        panic!("seed {seed}: {error}\n{program:#?}");
    }
    println!(
        "loops {} deep; {} loops, {} branches, {} loops with checkpoints",
        tally[0], tally[1], tally[2], tally[3]
    );
    assert!(
        alone || (3 <= tally[0] && 300 < tally[1] && 300 < tally[2] && 30 < tally[3]),
        "the programs did too little"
    );
}
