//! `--allow-files` and `--no-files`: a graph file opens nothing but what its user names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder for one test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files").join(test);
    let _old = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("sub")).unwrap();
    folder
}

fn constant(name: &str, text: &str) -> String {
    format!(
        "node {{ name: '{name}' op: 'Const' attr {{ key: 'dtype' value {{ type: DT_STRING }} }} attr {{ key: 'value' value {{ tensor {{ dtype: DT_STRING tensor_shape {{ }} string_val: '{text}' }} }} }} }}\n"
    )
}

/// A graph that writes to a file that it chooses (`w`), reads another (`r`), and reads one that is fed (`f`).
fn graph(folder: &Path, to: &Path, from: &Path) -> PathBuf {
    let text = [
        constant("to", to.to_str().unwrap()),
        constant("from", from.to_str().unwrap()),
        constant("what", "owned"),
        "node { name: 'w' op: 'WriteFile' input: 'to' input: 'what' }\n\
         node { name: 'r' op: 'ReadFile' input: 'from' }\n\
         node { name: 'name' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } } attr { key: 'shape' value { shape { } } } }\n\
         node { name: 'f' op: 'ReadFile' input: 'name' }\n\
         node { name: 'u' op: 'WriteFile' input: 'name' input: 'what' }\n"
            .to_owned(),
    ];
    let path = folder.join("graph.pbtxt");
    fs::write(&path, text.concat()).unwrap();
    path
}

fn run(graph: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_millstream");
    Command::new(program).arg("run").arg(graph).args(args).output().unwrap()
}

#[track_caller]
fn refused(output: Output) {
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
    assert!(said.contains("PERMISSION_DENIED") && said.contains("--allow-files DIR"), "{said}");
}

#[track_caller]
fn works(output: Output) -> String {
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_graph_opens_no_files_of_its_choice() {
    let base = folder("own_choice");
    let secret = base.join("secret");
    fs::write(&secret, "secret").unwrap();
    let (new, below) = (base.join("new"), base.join("sub/new"));
    let g = graph(&base, &new, &secret);
    refused(run(&g, &["--target", "w"]));
    refused(run(&g, &["--fetch", "r"]));
    refused(run(&g, &["--fetch", "r", "--no-files"]));
    let sub = base.join("sub");
    let sub = sub.to_str().unwrap();
    refused(run(&g, &["--target", "w", "--allow-files", sub]));
    refused(run(&g, &["--fetch", "r", "--allow-files", sub]));
    assert!(!new.exists());
    let base_text = base.to_str().unwrap();
    works(run(&g, &["--target", "w", "--allow-files", base_text]));
    assert_eq!(fs::read(&new).unwrap(), b"owned");
    assert!(works(run(&g, &["--fetch", "r", "--allow-files", base_text])).contains("secret"));
    works(run(&graph(&base, &below, &secret), &["--target", "w", "--allow-files", sub]));
    assert!(below.exists());
    let both = run(&g, &["--fetch", "r", "--allow-files", sub, "--no-files"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_path_that_is_fed_is_the_users() {
    let base = folder("fed");
    let (mine, other) = (base.join("mine"), base.join("other"));
    fs::write(&mine, "mine").unwrap();
    fs::write(&other, "other").unwrap();
    let g = graph(&base, &base.join("new"), &other);
    let feed = format!("name={}", mine.display());
    assert!(works(run(&g, &["--feed", &feed, "--fetch", "f"])).contains("mine"));
    refused(run(&g, &["--feed", &feed, "--fetch", "r"]));
    refused(run(&g, &["--feed", &feed, "--fetch", "f", "--no-files"]));
    works(run(&g, &["--feed", &feed, "--target", "u"]));
    assert_eq!(fs::read(&mine).unwrap(), b"owned");
    #[cfg(unix)]
    {
        let link = base.join("link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let feed = format!("name={}", link.display());
        assert!(works(run(&g, &["--feed", &feed, "--fetch", "f"])).contains("other"));
    }
}
