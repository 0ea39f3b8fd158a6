//! Runs the tests of each change: first all of them without a change, to learn which programs reach which
//! changes and how long they take, then for each change the programs that reach it, the quickest first, until
//! one fails or takes far too long.

use super::switch::Program;
use super::{Change, at};
use millstream::Result;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The changes that a test notices.
pub(super) fn run(
    home: &Path,
    programs: &[Program],
    sample: &[Change],
    tried: &BTreeSet<usize>,
) -> Result<BTreeSet<usize>> {
    let log = home.join("reached.txt");
    let mut plain = Vec::new();
    for program in programs {
        let _ = fs::remove_file(&log);
        let start = Instant::now();
        if !passes(program, ("MUTANTS_REACHED", log.as_os_str()), Duration::from_secs(600))? {
            return Err(crate::failed(format!(
                "{} fails without a change; `{}` runs it again",
                program.name,
                program.path.display()
            )));
        }
        let reached = fs::read_to_string(&log).unwrap_or_default();
        let reached: BTreeSet<usize> = reached.lines().filter_map(|line| line.parse().ok()).collect();
        eprintln!("mutants: {} reaches {} in {:.1?}", program.name, reached.len(), start.elapsed());
        plain.push((start.elapsed(), program, reached));
    }
    plain.sort_by_key(|(time, ..)| *time);
    let mut noticed = BTreeSet::new();
    for &i in tried {
        let mut by = None;
        for (time, program, _) in plain.iter().filter(|(_, _, reached)| reached.contains(&i)) {
            let most = *time * 5 + Duration::from_secs(20);
            let fails = || passes(program, ("MUTANT", i.to_string().as_ref()), most).map(|passes| !passes);
            // Twice: a test of times may fail by itself on a busy machine.
            if fails()? && fails()? {
                by = Some(&*program.name);
                noticed.insert(i);
                break;
            }
        }
        let reached = plain.iter().any(|(_, _, reached)| reached.contains(&i));
        let missed = if reached { "no test" } else { "no test, and reached by none" };
        eprintln!("mutants: {}: noticed by {}", sample[i].name, by.unwrap_or(missed));
    }
    Ok(noticed)
}

/// Whether the tests pass in time, with a variable. They may take 16 GB of addresses, as a change may make a
/// loop endless.
fn passes(program: &Program, (name, value): (&str, &std::ffi::OsStr), most: Duration) -> Result<bool> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 16777216; exec \"$0\" --quiet \"$@\""]).arg(&program.path);
    shell.args(&program.module);
    shell.current_dir(&program.folder).env(name, value).env("CARGO_MANIFEST_DIR", &program.folder);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let fail = at(&program.path);
    let (mut child, start) = (shell.spawn().map_err(&fail)?, Instant::now());
    loop {
        match child.try_wait().map_err(&fail)? {
            Some(status) => return Ok(status.success()),
            None if most < start.elapsed() => {
                child.kill().map_err(&fail)?;
                child.wait().map_err(&fail)?;
                return Ok(false);
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
