//! [`Link`]: a connection to the server, with the scripts that it runs.

use crate::address::Address;
use millstream_tensor::{Code, Error, Result};
use redis::{Client, Cmd, Connection, Value};
use std::io;
use std::time::Duration;

const TURN: &str = include_str!("turn.lua");
const REPORT: &str = include_str!("report.lua");

/// The time that connecting may take.
const CONNECTS: Duration = Duration::from_secs(1);

/// A connection.
pub(crate) struct Link {
    connection: Connection,
    /// The names of the scripts on the server: those of turns and of reports.
    scripts: [String; 2],
}

/// The scripts by their places.
#[derive(Clone, Copy)]
pub(crate) enum Script {
    Turn = 0,
    Report = 1,
}

impl Link {
    /// Connects, and gives the server the scripts.
    pub(crate) fn new(address: &Address) -> Result<Link> {
        let client = client(address)?;
        uninterrupted(|| Link::open(&client, address)).map_err(|error| failed(address, &error))
    }

    fn open(client: &Client, address: &Address) -> redis::RedisResult<Link> {
        let mut connection = client.get_connection_with_timeout(CONNECTS)?;
        connection.set_read_timeout(Some(address.answer_time()))?;
        connection.set_write_timeout(Some(address.answer_time()))?;
        let mut load = |text: &str| {
            let mut command = redis::cmd("SCRIPT");
            command.arg("LOAD").arg(text).query::<String>(&mut connection)
        };
        let scripts = [load(TURN)?, load(REPORT)?];
        Ok(Link { connection, scripts })
    }

    /// A call of a script, to add arguments to.
    pub(crate) fn call(&self, script: Script, key: &str) -> Cmd {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&self.scripts[script as usize]).arg(1).arg(key);
        command
    }

    /// Sends commands that were packed.
    pub(crate) fn send(&mut self, packed: &[u8]) -> redis::RedisResult<()> {
        self.connection.send_packed_command(packed)
    }

    /// Receives the answer to a command, which may be an error of the server's.
    pub(crate) fn receive(&mut self) -> redis::RedisResult<Value> {
        self.connection.recv_response()
    }
}

/// Connects to the server.
pub(crate) fn connect(address: &Address) -> Result<Connection> {
    let client = client(address)?;
    uninterrupted(|| client.get_connection_with_timeout(CONNECTS)).map_err(|error| failed(address, &error))
}

/// Tries again where a signal ended a wait for the server early, as one does that stops the process for a
/// while.
fn uninterrupted<T>(mut attempt: impl FnMut() -> redis::RedisResult<T>) -> redis::RedisResult<T> {
    const MOST: usize = 100;
    let interrupted = |error: &redis::RedisError| {
        let cause = std::error::Error::source(error).and_then(|it| it.downcast_ref::<io::Error>());
        cause.is_some_and(|it| it.kind() == io::ErrorKind::Interrupted)
    };
    for _ in 1..MOST {
        match attempt() {
            Err(error) if interrupted(&error) => {}
            result => return result,
        }
    }
    attempt()
}

fn client(address: &Address) -> Result<Client> {
    #[cfg(feature = "tls")]
    if let Some(tls) = &address.tls {
        return crate::tls::client(address, tls);
    }
    Client::open(address.connection()).map_err(|error| failed(address, &error))
}

/// The error of a server that cannot be reached, or that refuses to serve.
pub(crate) fn failed(address: &Address, error: &redis::RedisError) -> Error {
    let text = format!("the store {address} cannot be used: {error}");
    let refused = matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"));
    if refused || error.kind() == redis::ErrorKind::AuthenticationFailed {
        return Error::new(Code::PermissionDenied, text)
            .with_help("give the password in the address: valkey://:password@host:port/namespace");
    }
    if error.is_timeout() {
        let text = format!("the store {address} cannot be used: it does not answer");
        return Error::new(Code::Unavailable, text).with_help(match address.tls {
            Some(_) => {
                "write valkey:// if the server has no TLS at this port; else see what keeps it from answering"
            }
            None => "see what keeps the server from answering: the network, a firewall, or its load",
        });
    }
    #[cfg(feature = "tls")]
    if address.tls.is_some()
        && let Some((code, help)) = crate::tls::cure(&error.to_string())
    {
        return Error::new(code, text).with_help(help);
    }
    // What a server does that expects a handshake.
    if address.tls.is_none() && error.is_connection_dropped() {
        return Error::new(Code::Unavailable, text).with_help(
            "if the server expects TLS at this port, write valkeys://..; else see why it hangs up",
        );
    }
    Error::new(Code::Unavailable, text).with_help(
        "start the server (on Debian, install valkey-server or redis-server with apt-get), or correct the address",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_no_failure() {
        let fails = |kind: io::ErrorKind, times: usize| {
            let mut attempts = 0;
            let result = uninterrupted(|| {
                attempts += 1;
                if attempts <= times { Err(io::Error::from(kind).into()) } else { Ok(attempts) }
            });
            result.map_err(|error| error.to_string())
        };
        assert_eq!(fails(io::ErrorKind::Interrupted, 3), Ok(4));
        assert!(fails(io::ErrorKind::Interrupted, 1000).is_err());
        assert!(fails(io::ErrorKind::ConnectionRefused, 1).is_err());
    }
}
