//! TLS: a server with certificates that openssl makes. They are made for each test, so none expires.
#![cfg(feature = "tls")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

mod common;

use common::*;
use millstream_state::QueueKind;
use millstream_state::Take::Exactly;
use millstream_store::Store;
use millstream_tensor::Code;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A folder with an authority (`ca.pem`), a server's certificate for 127.0.0.1 (`server.pem`), a client's
/// (`client.pem`), their keys (`.key`), and another authority (`other.pem`).
struct Certificates(PathBuf);

impl Certificates {
    /// `None` if this machine has no openssl, which it prints.
    fn new(name: &str) -> Option<Certificates> {
        let folder = std::env::temp_dir().join(format!("ms-store-tls-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let made = Certificates(folder);
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"];
        for authority in ["ca", "other"] {
            let subject = format!("/CN={authority}");
            let mut args = vec!["req", "-x509", "-days", "2", "-subj", &subject];
            let (file, out) = (format!("{authority}.key"), format!("{authority}.pem"));
            args.extend(key.iter().chain(&[file.as_str(), "-out", &out]));
            if !made.openssl(&args) {
                eprintln!("skipped: there is no openssl (apt-get install openssl)");
                return None;
            }
        }
        fs::write(made.0.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
        for who in ["server", "client"] {
            let subject = format!("/CN={who}");
            let [file, asked, out] = ["key", "csr", "pem"].map(|end| format!("{who}.{end}"));
            let mut args = vec!["req", "-new", "-subj", &subject];
            args.extend(key.iter().chain(&[file.as_str(), "-out", &asked]));
            assert!(made.openssl(&args));
            let signs =
                ["x509", "-req", "-days", "2", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
            let files = ["-extfile", "names", "-in", &asked, "-out", &out];
            assert!(made.openssl(&[&signs[..], &files[..]].concat()));
        }
        Some(made)
    }

    fn openssl(&self, args: &[&str]) -> bool {
        let mut command = Command::new("openssl");
        command.args(args).current_dir(&self.0).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn path(&self, file: &str) -> String {
        self.0.join(file).to_str().unwrap().to_owned()
    }

    /// A server with a port for TLS besides the plain one.
    fn server(&self, clients: &str, more: &[&str]) -> Option<(Server, u16)> {
        let port = free_port();
        let [number, ca, cert, key] =
            [port.to_string(), self.path("ca.pem"), self.path("server.pem"), self.path("server.key")];
        let options = ["--tls-port", &number, "--tls-ca-cert-file", &ca, "--tls-cert-file", &cert];
        let rest = ["--tls-key-file", &key, "--tls-auth-clients", clients];
        Some((Server::start(&[&options[..], &rest[..], more].concat())?, port))
    }

    fn url(&self, port: u16, ca: &str, rest: &str) -> String {
        format!("valkeys://127.0.0.1:{port}/n?ca={}{rest}", self.path(ca))
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn refused(url: &str, code: Code, words: &[&str]) {
    let error = Store::at(url).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    let text = error.to_string();
    words.iter().for_each(|&word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

#[test]
fn a_queue_is_reached_by_tls() {
    let Some(made) = Certificates::new("reached") else { return };
    let Some((server, port)) = made.server("no", &[]) else { return };
    let url = made.url(port, "ca.pem", "");
    let (one, two) = (Store::at(&url).unwrap(), Store::at(&url).unwrap());
    assert_eq!(one.address().to_string(), format!("valkeys://127.0.0.1:{port}/n"));
    let (q, r) = (stored(&one, "q", spec(QueueKind::Fifo, 9)), stored(&two, "q", spec(QueueKind::Fifo, 9)));
    // The one that waits is told by the connection that listens, much sooner than it would ask by itself.
    let get = dequeue(&r, Exactly(3));
    look(&r);
    enqueue(&q, 0..3).values();
    assert_eq!(get.values(), [0, 1, 2]);
    // The same queue without TLS, which this server offers, too.
    let plain = Store::at(&server.url("n")).unwrap();
    enqueue(&stored(&plain, "q", spec(QueueKind::Fifo, 9)), [7]).values();
    assert_eq!(dequeue(&q, Exactly(1)).values(), [7]);
}

#[test]
fn a_server_that_cannot_be_trusted_is_an_error_with_its_cure() {
    let Some(made) = Certificates::new("trusted") else { return };
    let Some((server, port)) = made.server("no", &[]) else { return };
    refused(&made.url(port, "other.pem", ""), Code::Unavailable, &["UnknownIssuer", "?ca=FILE"]);
    // The system's authorities did not sign it.
    refused(&format!("valkeys://127.0.0.1:{port}/n"), Code::Unavailable, &["UnknownIssuer", "?ca=FILE"]);
    let named = made.url(port, "ca.pem", "").replace("127.0.0.1", "localhost");
    refused(&named, Code::Unavailable, &["not valid for name", "a name of the server that its certificate"]);
    // Each way of speaking at the other's port.
    let plain = format!("valkey://127.0.0.1:{port}/n");
    refused(&plain, Code::Unavailable, &["write valkeys://"]);
    refused(
        &made.url(server.port, "ca.pem", ""),
        Code::Unavailable,
        &["does not answer", "write valkey:// if"],
    );
}

#[test]
fn a_client_shows_its_certificate_and_password() {
    let Some(made) = Certificates::new("client") else { return };
    let Some((_server, port)) = made.server("yes", &["--requirepass", "sesame"]) else { return };
    let own = format!("&cert={}&key={}", made.path("client.pem"), made.path("client.key"));
    refused(&made.url(port, "ca.pem", ""), Code::PermissionDenied, &["cert=FILE&key=FILE"]);
    refused(&made.url(port, "ca.pem", &own), Code::PermissionDenied, &["give the password"]);
    let url = made.url(port, "ca.pem", &own).replace("valkeys://", "rediss://:sesame@");
    let store = Store::at(&url).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 9));
    enqueue(&q, [4]).values();
    assert_eq!(dequeue(&q, Exactly(1)).values(), [4]);
}

#[test]
fn files_that_are_wrong_are_named() {
    let Some(made) = Certificates::new("files") else { return };
    let url = |rest: &str| format!("valkeys://127.0.0.1:1/n?{rest}");
    refused(&url("ca=/nowhere.pem"), Code::InvalidArgument, &["`/nowhere.pem` of `ca` cannot be read"]);
    let (ca, key) = (made.path("ca.pem"), made.path("ca.key"));
    let none = ["of `ca` holds no certificate", "BEGIN CERTIFICATE"];
    refused(&url(&format!("ca={key}")), Code::InvalidArgument, &none);
    let none = ["of `key` holds no private key", "BEGIN PRIVATE KEY"];
    refused(&url(&format!("cert={ca}&key={ca}")), Code::InvalidArgument, &none);
    let apart = format!("cert={ca}&key={}", made.path("other.key"));
    refused(&url(&apart), Code::InvalidArgument, &["the key that belongs to the certificate"]);
    assert!(Path::new(&ca).exists());
}

/// Reconnecting takes another handshake, with files that are read again.
#[test]
fn broken_connections_lose_and_double_nothing() {
    let Some(made) = Certificates::new("broken") else { return };
    let Some((_server, port)) = made.server("no", &[]) else { return };
    let ways: Vec<Way> = (0..4).map(|_| Way::to(port)).collect();
    let at = |way: &Way| Store::at(&made.url(way.port(), "ca.pem", "")).unwrap();
    let stores: Vec<Store> = ways.iter().map(at).collect();
    let cuts = pass(&stores, 10_000, |progress| {
        let (mut dice, mut cuts) = (Dice(7), 0);
        while !progress.is_over() {
            std::thread::sleep(Duration::from_millis(20 + dice.below(60)));
            ways[dice.below(4) as usize].cut();
            cuts += 1;
        }
        cuts
    });
    eprintln!("10000 elements over {cuts} cuts");
}
