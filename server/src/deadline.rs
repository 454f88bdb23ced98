//! The deadline of a call, from its `grpc-timeout` header.

use std::time::{Duration, Instant};

use http::HeaderMap;

/// When a call ends, in the extensions of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline(pub Instant);

impl Deadline {
    /// The deadline of a call that begins now. `Ok(None)` if it has none.
    ///
    /// # Errors
    ///
    /// What is wrong with the header, which is no secret.
    pub fn read(headers: &HeaderMap) -> Result<Option<Self>, String> {
        let Some(value) = headers.get("grpc-timeout") else {
            return Ok(None);
        };
        let timeout = value
            .to_str()
            .ok()
            .and_then(timeout)
            .ok_or_else(|| format!("grpc-timeout is {value:?}, which is no timeout"))?;
        // A time too far away for the clock is none.
        Ok(Instant::now().checked_add(timeout).map(Self))
    }
}

/// Reads one to eight digits and a unit, as the gRPC protocol has it.
fn timeout(value: &str) -> Option<Duration> {
    let (digits, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    if !(1..=8).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 60 * 60)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit() {
        assert_eq!(timeout("2H"), Some(Duration::from_secs(7_200)));
        assert_eq!(timeout("2M"), Some(Duration::from_secs(120)));
        assert_eq!(timeout("2S"), Some(Duration::from_secs(2)));
        assert_eq!(timeout("2m"), Some(Duration::from_millis(2)));
        assert_eq!(timeout("2u"), Some(Duration::from_micros(2)));
        assert_eq!(timeout("2n"), Some(Duration::from_nanos(2)));
        assert_eq!(
            timeout("99999999H"),
            Some(Duration::from_secs(99_999_999 * 3_600))
        );
    }

    #[test]
    fn what_is_no_timeout() {
        for value in [
            "",
            "S",
            "1",
            "1s",
            "-1S",
            "+1S",
            "1.5S",
            " 1S",
            "123456789S",
            "1\u{b5}",
        ] {
            assert_eq!(timeout(value), None, "{value:?}");
        }
    }

    #[test]
    fn a_header_that_is_no_timeout_is_an_error() {
        let mut headers = HeaderMap::new();
        assert_eq!(Deadline::read(&headers), Ok(None));
        headers.insert("grpc-timeout", "soon".parse().unwrap());
        assert!(Deadline::read(&headers).unwrap_err().contains("soon"));
        headers.insert("grpc-timeout", "1S".parse().unwrap());
        let Deadline(at) = Deadline::read(&headers).unwrap().unwrap();
        assert!(at > Instant::now() - Duration::from_secs(1));
    }
}
