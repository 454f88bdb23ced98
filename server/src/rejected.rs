//! Counts of what was turned away, by reason.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why a connection or a call was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A connection whose TLS handshake failed.
    Tls,
    /// A connection that did not begin with HTTP/2.
    NotHttp2,
    /// A connection that did not begin in time.
    Handshake,
    /// A call with no credential, or a wrong one.
    Unauthenticated,
}

impl Rejection {
    /// All of them, in the order of their counts.
    pub const ALL: [Self; 4] = [Self::Tls, Self::NotHttp2, Self::Handshake, Self::Unauthenticated];

    /// A short name, as metrics have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::NotHttp2 => "not_http2",
            Self::Handshake => "handshake_timeout",
            Self::Unauthenticated => "unauthenticated",
        }
    }
}

/// How often each has happened.
#[derive(Debug, Default)]
pub(crate) struct Rejected([AtomicU64; Rejection::ALL.len()]);

impl Rejected {
    pub fn add(&self, rejection: Rejection) {
        self.0[rejection as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub fn count(&self, rejection: Rejection) -> u64 {
        self.0[rejection as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_count() {
        let rejected = Rejected::default();
        for (times, rejection) in Rejection::ALL.into_iter().enumerate() {
            (0..times).for_each(|_| rejected.add(rejection));
        }
        for (times, rejection) in Rejection::ALL.into_iter().enumerate() {
            assert_eq!(rejected.count(rejection), times as u64, "{}", rejection.name());
        }
    }
}
