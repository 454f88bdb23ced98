//! Counts of what was turned away, by reason.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why a connection or a call was turned away, or a connection ended by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A connection beyond the number of those that may be open.
    ConnectionLimit,
    /// A connection whose TLS handshake failed.
    Tls,
    /// A connection that did not begin with HTTP/2.
    NotHttp2,
    /// A connection that did not begin in time, or did not take part in the protocol.
    Handshake,
    /// A connection whose client did not answer pings.
    Unresponsive,
    /// A connection without calls for too long.
    Idle,
    /// A connection with too many resets, tiny frames or the like.
    Flood,
    /// A call with too large headers.
    Headers,
    /// A call with no credential, or a wrong one.
    Unauthenticated,
    /// A call that was refused as overloaded.
    Overloaded,
}

impl Rejection {
    /// All of them, in the order of their counts.
    pub const ALL: [Self; 10] = [
        Self::ConnectionLimit,
        Self::Tls,
        Self::NotHttp2,
        Self::Handshake,
        Self::Unresponsive,
        Self::Idle,
        Self::Flood,
        Self::Headers,
        Self::Unauthenticated,
        Self::Overloaded,
    ];

    /// A short name, as metrics have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConnectionLimit => "connection_limit",
            Self::Tls => "tls",
            Self::NotHttp2 => "not_http2",
            Self::Handshake => "handshake_timeout",
            Self::Unresponsive => "unresponsive",
            Self::Idle => "idle",
            Self::Flood => "flood",
            Self::Headers => "headers",
            Self::Unauthenticated => "unauthenticated",
            Self::Overloaded => "overloaded",
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
