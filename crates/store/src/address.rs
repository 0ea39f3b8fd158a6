//! [`Address`]: where a store is, and how it is used.

use millstream_tensor::{Error, Result, invalid};
use redis::{ConnectionAddr, ConnectionInfo, RedisConnectionInfo};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The address of a store: `valkey://[user][:password]@host[:port]/namespace[?option=value&..]`, or
/// `valkeys://..` for TLS.
#[derive(Clone)]
pub struct Address {
    host: String,
    port: u16,
    user: Option<String>,
    password: Option<String>,
    pub(crate) tls: Option<Tls>,
    /// The queues of a namespace are apart from those of others.
    pub namespace: String,
    /// How long a process may be silent before it counts as gone, and what it was lent returns.
    pub lease: Duration,
    /// How long an operation waits for a server that does not answer.
    pub patience: Duration,
    /// The most bytes of an element, as it is sent.
    pub most_bytes: usize,
}

/// The files that TLS takes. They are read for each connection, so that certificates can be renewed while a
/// process runs. Only a program or a command line names them, as it names the address; no graph can.
#[derive(Clone, Default)]
#[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only TLS reads them"))]
pub(crate) struct Tls {
    /// The certificates of the authorities that are trusted. `None`: those of the system.
    pub(crate) ca: Option<PathBuf>,
    /// The certificate of this client, and its key.
    pub(crate) own: Option<(PathBuf, PathBuf)>,
}

/// The schemes that an address may begin with: without TLS, and with it.
const PLAIN: [&str; 2] = ["valkey", "redis"];
const SECURE: [&str; 2] = ["valkeys", "rediss"];

const HELP: &str = "write valkey://[user][:password]@host[:port]/namespace, with options as in \
                    ?lease_ms=10000&reconnect_ms=30000&max_element_bytes=67108864, or \
                    valkeys://..?ca=FILE&cert=FILE&key=FILE for TLS";

impl Address {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Address> {
        let wrong = |why: String| invalid!("the address of a store {why}").with_help(HELP);
        // The text may hold a password, so no message repeats it.
        let url = Url::parse(text).map_err(|e| wrong(format!("cannot be read: {e}")))?;
        let (scheme, secure) = (url.scheme(), SECURE.contains(&url.scheme()));
        if secure && !cfg!(feature = "tls") {
            let text = format!("{scheme}:// asks for TLS, which this build does not have");
            return Err(Error::unimplemented(text).with_help(
                "build with the feature `store-tls`, or let a tunnel (stunnel, ssh -L) encrypt the \
                 connection, and name its local end",
            ));
        }
        if !secure && !PLAIN.contains(&scheme) {
            return Err(wrong(format!(
                "begins with valkey://, redis://, valkeys:// or rediss://, not with {scheme}://"
            )));
        }
        let decoded = |text: &str| {
            let form = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
            url::form_urlencoded::parse(form.as_bytes())
                .next()
                .map(|(_, v)| v.into_owned())
                .unwrap_or_default()
        };
        let host = url.host_str().filter(|h| !h.is_empty());
        let host = host.ok_or_else(|| wrong("names no host".to_owned()))?;
        let namespace = decoded(url.path().trim_matches('/'));
        if namespace.is_empty() || namespace.contains(['{', '}']) {
            return Err(wrong("ends with the namespace of its queues, a name without braces".to_owned()));
        }
        let mut address = Address {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(6379),
            user: Some(decoded(url.username())).filter(|user| !user.is_empty()),
            password: url.password().map(decoded),
            tls: None,
            namespace,
            lease: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            most_bytes: 64 << 20,
        };
        let (mut ca, mut cert, mut key) = (None, None, None);
        for option in url.query().unwrap_or_default().split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            // A `+` is one: names of files have them.
            let (name, value) = (decoded(name), decoded(value));
            let number = || {
                value.parse::<u64>().ok().filter(|&n| 0 < n && n < 1 << 40).ok_or_else(|| {
                    wrong(format!(
                        "has the option `{name}`, whose value must be a positive number, not `{value}`"
                    ))
                })
            };
            let file = || match value.as_str() {
                "" => Err(wrong(format!("has the option `{name}`, which must name a file"))),
                _ if !secure => Err(wrong(format!(
                    "has the option `{name}`, which is for TLS, and begins with {scheme}://, which has none: \
                     write valkeys://"
                ))),
                path => Ok(Some(PathBuf::from(path))),
            };
            match name.as_str() {
                "lease_ms" => address.lease = Duration::from_millis(number()?.max(100)),
                "reconnect_ms" => address.patience = Duration::from_millis(number()?),
                // A server takes no more in one piece.
                "max_element_bytes" => address.most_bytes = number()?.min(500 << 20) as usize,
                "ca" => ca = file()?,
                "cert" => cert = file()?,
                "key" => key = file()?,
                _ => {
                    return Err(wrong(format!(
                        "has no option `{name}`, but `lease_ms`, `reconnect_ms`, `max_element_bytes`, and, \
                         with TLS, `ca`, `cert` and `key`"
                    )));
                }
            }
        }
        let own = match (cert, key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            (Some(_), None) => return Err(wrong("has the option `cert` but not `key`".to_owned())),
            (None, Some(_)) => return Err(wrong("has the option `key` but not `cert`".to_owned())),
        };
        address.tls = secure.then_some(Tls { ca, own });
        Ok(address)
    }

    /// How to connect.
    pub(crate) fn connection(&self) -> ConnectionInfo {
        let redis = RedisConnectionInfo {
            username: self.user.clone(),
            password: self.password.clone(),
            ..RedisConnectionInfo::default()
        };
        let (host, port) = (self.host.clone(), self.port);
        let addr = match self.tls {
            None => ConnectionAddr::Tcp(host, port),
            Some(_) => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
        };
        ConnectionInfo { addr, redis }
    }

    /// The longest wait for an answer before the connection counts as broken. A busy machine is no reason.
    pub(crate) fn answer_time(&self) -> Duration {
        (self.lease / 3).clamp(Duration::from_secs(1), Duration::from_secs(5))
    }
}

impl fmt::Display for Address {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { host, port, namespace, .. } = self;
        let scheme = if self.tls.is_some() { "valkeys" } else { "valkey" };
        match host.contains(':') {
            true => write!(f, "{scheme}://[{host}]:{port}/{namespace}"),
            false => write!(f, "{scheme}://{host}:{port}/{namespace}"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let a = Address::parse("valkey://me:p%40ss@box:7000/jobs/one?lease_ms=500&max_element_bytes=1024")
            .unwrap();
        assert_eq!(a.to_string(), "valkey://box:7000/jobs/one");
        assert_eq!((a.user.as_deref(), a.password.as_deref()), (Some("me"), Some("p@ss")));
        assert_eq!((a.lease, a.most_bytes), (Duration::from_millis(500), 1024));
        assert_eq!(Address::parse("redis://[::1]/n").unwrap().to_string(), "valkey://[::1]:6379/n");
        assert!(!format!("{a:?}").contains("p@ss"));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn addresses_with_tls_name_files() {
        let a = Address::parse("rediss://h/n?ca=/a+b%20c.pem&cert=c.pem&key=k.pem&lease_ms=500").unwrap();
        assert_eq!(a.to_string(), "valkeys://h:6379/n");
        let tls = a.tls.unwrap();
        assert_eq!(tls.ca, Some("/a+b c.pem".into()));
        assert_eq!(tls.own, Some(("c.pem".into(), "k.pem".into())));
        assert!(Address::parse("valkeys://h/n").unwrap().tls.unwrap().ca.is_none());
    }

    #[test]
    fn wrong_addresses_say_what_is_wrong() {
        for (text, why) in [
            ("nonsense", "cannot be read"),
            ("http://x/y", "not with http://"),
            ("valkey:///n", "names no host"),
            ("valkey://host", "namespace"),
            ("valkey://host/n?lease=4", "no option `lease`"),
            ("valkey://host/n?lease_ms=soon", "positive number"),
            ("valkey://host/n?ca=a.pem", "write valkeys://"),
            #[cfg(not(feature = "tls"))]
            ("rediss://host/n", "TLS, which this build does not have"),
            #[cfg(feature = "tls")]
            ("rediss://host/n?ca=", "must name a file"),
            #[cfg(feature = "tls")]
            ("rediss://host/n?cert=a.pem", "`cert` but not `key`"),
            #[cfg(feature = "tls")]
            ("rediss://host/n?key=a.pem", "`key` but not `cert`"),
        ] {
            let error = Address::parse(text).unwrap_err();
            assert!(error.message().contains(why), "{text}: {error}");
        }
        assert!(!Address::parse("valkey://:secret@h/n?x=1").unwrap_err().to_string().contains("secret"));
    }
}
