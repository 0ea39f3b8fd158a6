//! Values of options: byte counts and durations.

use std::time::Duration;

/// Parses a number of bytes: `65536`, `64K`, `1.5G`, `16MiB`. The units are powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return Err(format!("unknown unit `{unit}`; the units are K, M, G and T")),
    };
    let whole = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(scale)).map(|n| n as usize);
    let broken = || digits.parse::<f64>().ok().map(|n| n * scale as f64);
    let bytes = whole.or_else(|| broken().filter(|n| (0.0..9e18).contains(n)).map(|n| n as usize));
    bytes.ok_or_else(|| "bytes are written like 65536, 64K or 1.5G".to_owned())
}

/// Parses a duration in seconds: `10`, `0.5`.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|_| "seconds are written like 10 or 0.5".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

/// Parses a duration in seconds, or `never`, which is the longest duration.
pub(crate) fn seconds_or_never(text: &str) -> Result<Duration, String> {
    match text {
        "never" => Ok(Duration::MAX),
        _ => seconds(text).map_err(|e| format!("{e}, or `never`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, want) in [
            ("65536", Some(65536)),
            ("64K", Some(65536)),
            ("64kib", Some(65536)),
            ("1.5G", Some(1_610_612_736)),
            ("0", Some(0)),
            ("-1", None),
            ("K", None),
            ("3x", None),
            ("18446744073709551615K", None),
        ] {
            assert_eq!(bytes(text).ok(), want, "{text}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["-1", "nan", "1e300", "soon", ""] {
            assert!(seconds(text).is_err() && seconds_or_never(text).is_err(), "{text}");
        }
        assert_eq!(seconds_or_never("2"), Ok(Duration::from_secs(2)));
        assert_eq!(seconds_or_never("never"), Ok(Duration::MAX));
    }
}
