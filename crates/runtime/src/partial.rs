//! [`PartialRun`]: one run in several calls.

use crate::feed::FeedList;
use crate::fetch::{FetchList, Fetched, FromFetched, Target, Targets, take_all};
use crate::session::{FeedSpec, Shared};
use millstream_exec::{Partial, Plan, Runner};
use millstream_graph::{Dense, Index, Port, Program};
use millstream_tensor::{Error, Result, Tensor, budget, invalid};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A run made by [`Session::partial_run_setup`](crate::Session::partial_run_setup), which goes on with each
/// call of [`Session::partial_run`](crate::Session::partial_run).
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let y = g.placeholder_of("y", DType::F32, shape![]);
/// let (double, sum) = (x * 2.0, x + y);
/// let session = Session::new(&g)?;
/// let run = session.partial_run_setup((double, sum), [x, y])?;
/// assert_eq!(session.partial_run::<f32>(&run, double, feed![x => 1.0f32])?, 2.0);
/// assert_eq!(session.partial_run::<f32>(&run, sum, feed![y => 5.0f32])?, 6.0);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub struct PartialRun {
    /// The session that it belongs to.
    session: Arc<Shared>,
    runner: Runner,
    feeds: Vec<FeedSpec>,
    feed_places: HashMap<Port, usize>,
    targets: HashMap<Target, Wanted>,
    /// Guards the run, which one call at a time drives.
    state: Mutex<State>,
}

/// A fetch that the setup named.
struct Wanted {
    name: String,
    /// The place among the plan's fetches; operations have none.
    fetch: Option<usize>,
    /// The feeds that it needs.
    needs: BTreeSet<usize>,
}

struct State {
    run: Partial,
    fed: Vec<bool>,
    taken: BTreeSet<String>,
}

impl std::fmt::Debug for PartialRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let feeds: Vec<&str> = self.feeds.iter().map(|feed| feed.name.as_str()).collect();
        f.debug_struct("PartialRun").field("feeds", &feeds).finish_non_exhaustive()
    }
}

impl PartialRun {
    pub(crate) fn new(session: &Arc<Shared>, ports: Vec<Port>, list: Vec<Target>) -> Result<PartialRun> {
        session.graph.check()?;
        let mut unique: Vec<Target> = Vec::new();
        for target in list {
            if !unique.contains(&target) {
                unique.push(target);
            }
        }
        if let Some(port) = unique.iter().find_map(|t| if let Target::Every(p) = t { Some(*p) } else { None })
        {
            return Err(no_iterations(session, port));
        }
        let sorted = Targets::of(&unique);
        let asked = sorted.asked(&ports, &[]);
        let (program, feeds, names) = session.graph.read(|g| -> Result<_> {
            let feeds = ports.iter().map(|&p| FeedSpec::new(g, p)).collect::<Result<Vec<_>>>()?;
            let name = |t: &Target| match t {
                Target::Value(p) | Target::Every(p) => Ok(format!("{}:{}", g.node(p.node)?.name(), p.index)),
                Target::Operation(n) => Ok(g.node(*n)?.name().to_owned()),
            };
            let names = unique.iter().map(name).collect::<Result<Vec<_>>>()?;
            Ok((Program::new(g, &asked)?, feeds, names))
        })?;
        let mut targets = HashMap::new();
        let (mut values, mut effects) = (0, 0);
        for (target, name) in unique.into_iter().zip(names) {
            let (fetch, root) = match target {
                Target::Value(_) => (Some(values), program.fetches().get(values).map(|s| s.node)),
                Target::Operation(_) | Target::Every(_) => (None, program.targets().get(effects).copied()),
            };
            match fetch {
                Some(_) => values += 1,
                None => effects += 1,
            }
            let needs = root.map(|n| needs(&program, n)).unwrap_or_default();
            targets.insert(target, Wanted { name, fetch, needs });
        }
        let deadline = session.deadline(&crate::RunOptions::default());
        let _budget = budget::enter_until(session.budget.as_ref(), deadline);
        let options = session.plan_options(deadline);
        let runner = Runner::new(Arc::new(Plan::new(&program, &session.kernel_state, &options)?));
        let run = runner.begin(session.env());
        let state = State { run, fed: vec![false; feeds.len()], taken: BTreeSet::new() };
        let feed_places = ports.into_iter().enumerate().map(|(i, p)| (p, i)).collect();
        let session = session.clone();
        Ok(PartialRun { session, runner, feeds, feed_places, targets, state: Mutex::new(state) })
    }

    pub(crate) fn is_of(&self, session: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.session, session)
    }

    /// Checks everything first, so that a call refused leaves the run as it was.
    pub(crate) fn call<V: FromFetched>(&self, list: &FetchList, feeds: FeedList) -> Result<V> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let given = self.given(state, feeds)?;
        let wanted = list.0.iter().map(|t| self.wanted(state, *t, &given)).collect::<Result<Vec<_>>>()?;
        for (place, _) in &given {
            state.fed[*place] = true;
        }
        let options = crate::RunOptions::default();
        let options = self.session.exec_options(&options, self.session.deadline(&options));
        self.runner.advance(&mut state.run, given, &options)?;
        let values = wanted
            .iter()
            .map(|w| match w.fetch {
                Some(k) => self.runner.fetched(&state.run, k).map(Fetched::Value),
                None => Ok(Fetched::Ran),
            })
            .collect::<Result<Vec<_>>>()?;
        for w in wanted {
            state.taken.insert(w.name.clone());
            if let Some(k) = w.fetch {
                self.runner.forget(&mut state.run, k);
            }
        }
        take_all(values.into_iter(), |i| self.session.name_of(&list.0, i))
    }

    /// The feeds of a call with their places.
    fn given(&self, state: &State, feeds: FeedList) -> Result<Vec<(usize, Tensor)>> {
        let mut given: Vec<(usize, Tensor)> = Vec::new();
        for (port, value) in feeds.resolve(&self.session.graph)? {
            let Some(&place) = self.feed_places.get(&port) else {
                let name = self.name_of(port);
                return Err(invalid!("The feed {name} was not specified in partial_run_setup."; "the feed `{name}` was not named in the setup of the partial run")
                .with_help("list the feeds of all calls in `partial_run_setup`"));
            };
            let spec = &self.feeds[place];
            if state.fed[place] || given.iter().any(|(p, _)| *p == place) {
                let name = &spec.name;
                return Err(invalid!("The feed {name} has already been fed."; "the feed `{name}` has been fed already in this partial run")
                    .with_help("feed each tensor once per partial run; set up another partial run to feed another value"));
            }
            spec.check(&value)?;
            given.push((place, value));
        }
        Ok(given)
    }

    /// A fetch of a call that gives these feeds.
    fn wanted(&self, state: &State, target: Target, given: &[(usize, Tensor)]) -> Result<&Wanted> {
        let Some(w) = self.targets.get(&target) else {
            let name = match target {
                Target::Value(port) | Target::Every(port) => self.name_of(port),
                Target::Operation(node) => self
                    .session
                    .graph
                    .read(|g| g.node(node).map_or_else(|_| node.to_string(), |n| n.name().to_owned())),
            };
            return Err(invalid!("The fetch {name} was not specified in partial_run_setup."; "the fetch `{name}` was not named in the setup of the partial run")
                .with_help("list the fetches of all calls in `partial_run_setup`"));
        };
        if state.taken.contains(&w.name) {
            let name = &w.name;
            let over = state.fed.iter().all(|&fed| fed) && state.taken.len() == self.targets.len();
            let words = match over {
                true => "Must run 'setup' before performing partial runs!".to_owned(),
                false => format!("The fetch {name} has already been fetched."),
            };
            return Err(
                invalid!("{words}"; "the fetch `{name}` has been fetched already in this partial run")
                    .with_help("each tensor can be fetched once per partial run; keep its value"),
            );
        }
        let missing: Vec<String> = w
            .needs
            .iter()
            .filter(|&&i| !state.fed[i] && given.iter().all(|(p, _)| *p != i))
            .map(|&i| format!("`{}`", self.feeds[i].name))
            .collect();
        if !missing.is_empty() {
            let first = missing[0].trim_matches('`');
            return Err(invalid!(
                "Fetch {first} can't be computed from the feeds that have been fed so far.";
                "`{}` cannot be computed from what has been fed so far: it needs {}",
                w.name,
                missing.join(", ")
            )
            .with_help("feed the missing tensors in this call or an earlier one"));
        }
        Ok(w)
    }

    fn name_of(&self, port: Port) -> String {
        name_of(&self.session, port)
    }
}

fn name_of(session: &Shared, port: Port) -> String {
    let node = session.graph.read(|g| g.node(port.node).map(|n| n.name().to_owned()));
    node.map_or_else(|_| port.to_string(), |n| format!("{n}:{}", port.index))
}

fn no_iterations(session: &Shared, port: Port) -> Error {
    Error::unimplemented(format!(
        "a partial run cannot fetch the values of `{}` in every iteration",
        name_of(session, port)
    ))
    .with_help("fetch them with `Session::run`")
}

/// The feeds that a node depends on.
fn needs(program: &Program, root: Index) -> BTreeSet<usize> {
    let mut seen = Dense::filled(false, program.nodes().len());
    let mut todo = vec![root];
    let mut found = BTreeSet::new();
    while let Some(n) = todo.pop() {
        if std::mem::replace(&mut seen[n], true) {
            continue;
        }
        let node = program.node(n);
        if let millstream_graph::ProgramKind::Feed(i, ..) = &node.kind {
            found.insert(*i);
        }
        todo.extend(node.inputs.iter().map(|s| s.node).chain(node.controls.iter().copied()));
    }
    found
}
