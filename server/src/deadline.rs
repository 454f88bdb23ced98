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
