//! `--store`: queues in a server, for several runs of the program.

#![cfg(feature = "store")]

#[path = "../../store/tests/common/server.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "it also serves other tests")]
mod server;

use millstream::Queue;
use millstream::engine::interop::{export_meta_graph, proto};
use millstream::prelude::*;
use server::Server;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn millstream(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_millstream")).args(args).output().unwrap()
}

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

#[test]
fn runs_of_the_program_share_queues() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url("runs");
    let g = Graph::new();
    let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).shared_name("numbers").build().unwrap();
    q.enqueue([g.constant(7)]).unwrap();
    let [one] = q.dequeue().unwrap().all().unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared_queue.pb");
    fs::write(&path, proto::encode(&export_meta_graph(&g).unwrap())).unwrap();
    let path = path.to_str().unwrap();
    let put = millstream(&["run", path, "--store", &url, "--target", "fifo_queue_enqueue"]);
    assert!(put.status.success(), "{}", text(&put.stderr));
    let got = millstream(&["run", path, "--store", &url, "--fetch", &one.name()]);
    assert!(text(&got.stdout).contains('7'), "{}{}", text(&got.stdout), text(&got.stderr));
    let asked = millstream(&["doctor", "--store", &url]);
    assert!(text(&asked.stdout).contains("answers"), "{}", text(&asked.stdout));
    let nobody = "valkey://127.0.0.1:1/runs";
    let lost = millstream(&["run", path, "--store", nobody, "--fetch", &one.name()]);
    assert!(!lost.status.success());
    assert!(
        text(&lost.stderr).contains("UNAVAILABLE: the store valkey://127.0.0.1:1/runs"),
        "{}",
        text(&lost.stderr)
    );
    let asked = millstream(&["doctor", "--store", nobody]);
    assert!(
        asked.status.success() && text(&asked.stdout).contains("cannot be used"),
        "{}",
        text(&asked.stdout)
    );
}
