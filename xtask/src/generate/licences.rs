//! THIRD-PARTY.md: the crates that a built Millstream contains, with the texts of their licences, read from
//! the sources that cargo has at hand. Wheels hold the file.
//!
//! A crate whose licence is not among [`PERMITTED`] is an error, also if it is only there for building or
//! tests.

use crate::{failed, root};
use millstream::Result;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The licences that a dependency may have, by their SPDX names.
const PERMITTED: [&str; 11] = [
    "0BSD",
    "Apache-2.0 WITH LLVM-exception",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The machines that wheels are built for. Other machines have dependencies of their own.
const MACHINES: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// What is built: the dependencies of these are in the list.
const BUILT: [&str; 2] = ["millstream-python", "millstream-cli"];

/// Features that are off by default, and that others may build with: what these link is in the list, too.
const FEATURES: &str = "--features=millstream-cli/store-tls,millstream-python/store-tls";

/// How the name of a file with a licence begins, in lower case.
const BEGINNINGS: [&str; 6] = ["license", "licence", "copying", "notice", "copyright", "unlicense"];

/// A text of the MIT licence, and no other, has these words, broken into lines in any way.
const MIT_WORDS: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy";

const INTRODUCTION: &str = "\
# Third-party licences

Millstream itself is licensed under MIT or Apache-2.0. Its wheels and programs contain code of the crates below (of ring, rustls and
what these use only if they are built with the feature `store-tls`), and of the Rust standard library (MIT or Apache-2.0, copyright
the Rust Project contributors). Of several licences to choose from, the MIT licence is the choice where it is offered.
`cargo xtask gen` writes this file.

";

/// A dependency.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Dependency {
    name: String,
    version: String,
    licence: String,
    authors: String,
    texts: Vec<String>,
}

/// Returns the text of the file.
pub fn third_party() -> Result<String> {
    let mut found = Vec::new();
    for machine in MACHINES {
        let metadata = metadata(machine)?;
        let packages: BTreeMap<&str, &Value> =
            list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
        permitted_only(&packages)?;
        for id in linked(&metadata, &packages) {
            found.push(dependency(packages[id])?);
        }
    }
    found.sort();
    found.dedup();
    complete(&mut found)?;
    Ok(written(&found))
}

fn metadata(machine: &str) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version=1", "--locked", FEATURES, "--filter-platform", machine];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output()?;
    if !output.status.success() {
        return Err(failed(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim())));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| failed(format!("cargo metadata: {e}")))
}

/// An error that lists the dependencies whose licence is not permitted.
fn permitted_only(packages: &BTreeMap<&str, &Value>) -> Result<()> {
    let others = packages.values().filter(|package| !permits(text(&package["license"])));
    let others: Vec<String> =
        others.map(|package| format!("{} ({})", text(&package["name"]), text(&package["license"]))).collect();
    match others.is_empty() {
        true => Ok(()),
        false => {
            Err(failed(format!("dependencies under licences that are not permitted: {}", others.join(", "))))
        }
    }
}

/// Whether an SPDX expression permits use under the permitted licences alone. `AND` binds closer than `OR`;
/// older crates write `/` for `OR`.
fn permits(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut flat = String::new();
    // What is in parentheses becomes the name of a licence that is permitted, or of one that is not.
    if let Some((before, rest)) = expression.rsplit_once('(') {
        let Some((inner, after)) = rest.split_once(')') else { return false };
        flat.extend([before, if permits(inner) { "MIT" } else { "no" }, after]);
        return permits(&flat);
    }
    let known = |licence: &str| PERMITTED.contains(&licence.trim());
    expression.split(" OR ").any(|choice| choice.split(" AND ").all(known))
}

/// The packages from elsewhere that are linked into what is built.
fn linked<'a>(metadata: &'a Value, packages: &BTreeMap<&'a str, &'a Value>) -> BTreeSet<&'a str> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let is_built = |id: &&str| BUILT.contains(&text(&packages[id]["name"]));
    let mut left: Vec<&str> = nodes.keys().copied().filter(is_built).collect();
    let mut seen: BTreeSet<&str> = left.iter().copied().collect();
    while let Some(id) = left.pop() {
        for next in list(&nodes[id]["deps"]) {
            let id = text(&next["pkg"]);
            if list(&next["dep_kinds"]).any(|kind| kind["kind"].is_null()) && seen.insert(id) {
                left.push(id);
            }
        }
    }
    seen.retain(|id| !packages[id]["source"].is_null());
    seen
}

fn dependency(package: &Value) -> Result<Dependency> {
    let folder = Path::new(text(&package["manifest_path"])).parent().unwrap_or(Path::new("."));
    let licence = text(&package["license"]).replace('/', " OR ");
    let licence = licence.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut texts = texts(folder)?;
    let is_mit = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ").contains(MIT_WORDS);
    if licence.split(" OR ").any(|choice| choice == "MIT") && texts.iter().any(is_mit) {
        texts.retain(is_mit);
    }
    let (name, version) = (text(&package["name"]).to_owned(), text(&package["version"]).to_owned());
    let authors: Vec<&str> = list(&package["authors"]).map(text).collect();
    let authors = match authors.is_empty() {
        true => format!("the developers of {name}"),
        false => authors.join(", "),
    };
    Ok(Dependency { name, version, licence, authors, texts })
}

/// The texts of the licence files in the folder of a package's sources.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let is_code = name.ends_with(".rs") || name.ends_with(".toml");
        if BEGINNINGS.iter().any(|start| name.starts_with(start)) && !is_code && entry.path().is_file() {
            let text = std::fs::read(entry.path())?;
            texts.push(tidy(&String::from_utf8_lossy(&text)));
        }
    }
    texts.sort();
    Ok(texts)
}

/// Gives the packages that come without a text of their licence the usual one: for MIT, with their authors;
/// otherwise that of another package under the same licence.
fn complete(dependencies: &mut [Dependency]) -> Result<()> {
    let mit = std::fs::read_to_string(root().join("LICENSE-MIT"))?;
    for i in 0..dependencies.len() {
        let this = &dependencies[i];
        if !this.texts.is_empty() {
            continue;
        }
        let usual = match this.licence.split(" OR ").any(|choice| choice == "MIT") {
            true => vec![tidy(&mit.replace("The Millstream developers", &this.authors))],
            false => {
                let same = |other: &&Dependency| other.licence == this.licence && !other.texts.is_empty();
                let other = dependencies.iter().find(same);
                let other =
                    other.ok_or_else(|| failed(format!("{} has no text of its licence", this.name)))?;
                other.texts.clone()
            }
        };
        dependencies[i].texts = usual;
    }
    Ok(())
}

/// The text without spaces at the ends of lines, and without empty lines at its ends.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// The file: a table of the crates, and each text once, with the crates that it belongs to.
fn written(dependencies: &[Dependency]) -> String {
    let mut file = INTRODUCTION.to_owned();
    let mut owners: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    file += "| crate | version | licence |\n|---|---|---|\n";
    for Dependency { name, version, licence, texts, .. } in dependencies {
        file += &format!("| {name} | {version} | {licence} |\n");
        for text in texts {
            owners.entry(text).or_default().push(format!("{name} {version}"));
        }
    }
    let mut by_owner: Vec<(Vec<String>, &str)> =
        owners.into_iter().map(|(text, owners)| (owners, text)).collect();
    by_owner.sort();
    for (owners, text) in by_owner {
        file += &format!("\n## {}\n\n````text\n{text}\n````\n", owners.join(", "));
    }
    file
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn check(expression: &str, expect: bool) {
        assert_eq!(super::permits(expression), expect, "{expression}");
    }

    #[test]
    fn expressions_are_choices_of_lists() {
        check("MIT", true);
        check("MIT/Apache-2.0", true);
        check("GPL-3.0", false);
        check("GPL-3.0 OR MIT", true);
        check("GPL-3.0 AND MIT", false);
        check("MIT AND GPL-3.0 OR Zlib", true);
        check("(MIT OR GPL-3.0) AND Unicode-3.0", true);
        check("(MIT OR (ISC AND GPL-3.0)) AND (Unicode-3.0)", true);
        check("(MIT OR Apache-2.0", false);
        check("Apache-2.0 WITH LLVM-exception OR MIT", true);
        check("Apache-2.0 WITH Other-exception", false);
        check("", false);
    }
}
