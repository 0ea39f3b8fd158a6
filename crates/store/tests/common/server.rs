//! A Valkey or Redis server of the tests' own.
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A server on a free port of this machine, with its files in a temporary folder.
pub struct Server {
    process: Option<Child>,
    pub port: u16,
    folder: PathBuf,
    program: &'static str,
    options: Vec<String>,
}

fn is_there(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// A port that nothing uses. Not one that the system gives out: a connection of another test could get it
/// before the server does, and a connection to it, while the server is not there, even reach itself.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let n = std::process::id().wrapping_mul(131).wrapping_add(NEXT.fetch_add(1, Relaxed));
        let port = 10_000 + (n % 20_000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Server {
    /// Starts a server. `None` if this machine has no program for it, which it prints.
    pub fn start(options: &[&str]) -> Option<Server> {
        let Some(program) = ["valkey-server", "redis-server"].into_iter().find(|p| is_there(p)) else {
            eprintln!(
                "skipped: there is neither valkey-server nor redis-server (apt-get install valkey-server)"
            );
            return None;
        };
        let port = free_port();
        let folder = std::env::temp_dir().join(format!("ms-store-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let options = options.iter().map(|&o| o.to_owned()).collect();
        let mut server = Server { process: None, port, folder, program, options };
        server.run();
        Some(server)
    }

    /// Starts the program (again).
    pub fn run(&mut self) {
        let child = Command::new(self.program)
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(&self.folder)
            .args(&self.options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.process = Some(child);
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < end, "the server does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills the program.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn url(&self, rest: &str) -> String {
        format!("valkey://127.0.0.1:{}/{rest}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
