//! Every example of the op library, through a graph and a session, in every tier, with its values as
//! constants and as feeds.

use millstream_testkit::examples::{Given, all, check};
use millstream_testkit::report::Report;
use millstream_testkit::tiers::TIERS;

/// Examples that cannot pass this way, with the reason.
const KNOWN: &[(&str, &str)] = &[];

#[test]
fn examples() {
    let mut report = Report::new();
    let cases: Vec<_> = all().collect();
    let told = |(op, name, _): &(&str, &str, &str)| {
        let case = format!("{op} {name}");
        let reason = KNOWN.iter().find(|(known, _)| case == *known).map(|(_, reason)| *reason);
        (case, reason)
    };
    report.run_all(&cases, told, |(_, _, text)| {
        TIERS.iter().try_for_each(|setting| {
            check(text, Given::Constant, setting)?;
            // With fed values, inferred types and messages may be less specific.
            let values = text.contains(" = ") || text.contains(" ~ ");
            if values { check(text, Given::Fed, setting) } else { Ok(()) }
        })
    });
    report.finish("examples of ops");
}
