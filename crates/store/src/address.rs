//! [`Address`]: where a store is, and how it is used.

use millstream_tensor::{Error, Result, invalid};
use redis::{ConnectionAddr, ConnectionInfo, RedisConnectionInfo};
use std::fmt;
use std::time::Duration;
use url::Url;

/// The address of a store: `valkey://[user][:password]@host[:port]/namespace[?option=number&..]`.
#[derive(Clone)]
pub struct Address {
    host: String,
    port: u16,
    user: Option<String>,
    password: Option<String>,
    /// The queues of a namespace are apart from those of others.
    pub namespace: String,
    /// How long a process may be silent before it counts as gone, and what it was lent returns.
    pub lease: Duration,
    /// How long an operation waits for a server that does not answer.
    pub patience: Duration,
    /// The most bytes of an element, as it is sent.
    pub most_bytes: usize,
}

/// The schemes that an address may begin with.
const SCHEMES: [&str; 2] = ["valkey", "redis"];

const HELP: &str = "write valkey://[user][:password]@host[:port]/namespace, with options as in \
                    ?lease_ms=10000&reconnect_ms=30000&max_element_bytes=67108864";

impl Address {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Address> {
        let wrong = |why: String| invalid!("the address of a store {why}").with_help(HELP);
        // The text may hold a password, so no message repeats it.
        let url = Url::parse(text).map_err(|e| wrong(format!("cannot be read: {e}")))?;
        if matches!(url.scheme(), "rediss" | "valkeys") {
            let text = format!("{}:// asks for TLS, which this build does not have", url.scheme());
            return Err(Error::unimplemented(text)
                .with_help("let a tunnel (stunnel, ssh -L) encrypt the connection, and name its local end"));
        }
        if !SCHEMES.contains(&url.scheme()) {
            return Err(wrong(format!("begins with valkey:// or redis://, not with {}://", url.scheme())));
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
            namespace,
            lease: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            most_bytes: 64 << 20,
        };
        for (name, value) in url.query_pairs() {
            let number: u64 = value.parse().ok().filter(|&n| 0 < n && n < 1 << 40).ok_or_else(|| {
                wrong(format!(
                    "has the option `{name}`, whose value must be a positive number, not `{value}`"
                ))
            })?;
            match name.as_ref() {
                "lease_ms" => address.lease = Duration::from_millis(number.max(100)),
                "reconnect_ms" => address.patience = Duration::from_millis(number),
                // A server takes no more in one piece.
                "max_element_bytes" => address.most_bytes = number.min(500 << 20) as usize,
                _ => {
                    return Err(wrong(format!(
                        "has no option `{name}`, but `lease_ms`, `reconnect_ms` and `max_element_bytes`"
                    )));
                }
            }
        }
        Ok(address)
    }

    /// How to connect.
    pub(crate) fn connection(&self) -> ConnectionInfo {
        let redis = RedisConnectionInfo {
            username: self.user.clone(),
            password: self.password.clone(),
            ..RedisConnectionInfo::default()
        };
        ConnectionInfo { addr: ConnectionAddr::Tcp(self.host.clone(), self.port), redis }
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
        match host.contains(':') {
            true => write!(f, "valkey://[{host}]:{port}/{namespace}"),
            false => write!(f, "valkey://{host}:{port}/{namespace}"),
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

    #[test]
    fn wrong_addresses_say_what_is_wrong() {
        for (text, why) in [
            ("nonsense", "cannot be read"),
            ("http://x/y", "not with http://"),
            ("valkey:///n", "names no host"),
            ("valkey://host", "namespace"),
            ("valkey://host/n?lease=4", "no option `lease`"),
            ("valkey://host/n?lease_ms=soon", "positive number"),
            ("rediss://host/n", "TLS"),
        ] {
            let error = Address::parse(text).unwrap_err();
            assert!(error.message().contains(why), "{text}: {error}");
        }
        assert!(!Address::parse("valkey://:secret@h/n?x=1").unwrap_err().to_string().contains("secret"));
    }
}
