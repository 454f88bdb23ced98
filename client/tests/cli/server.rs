//! Servers to send puzzles to, as processes of their own.

#[cfg(unix)]
use test_support::operators;
use test_support::server::Process;

/// A server of its own, ended when dropped.
pub struct Server {
    pub process: Process,
    /// As in `http://127.0.0.1:50051`.
    pub endpoint: String,
}

impl Server {
    pub fn start() -> Self {
        Self::start_with("http", &[])
    }

    /// Starts a server with more arguments, to be called by this scheme.
    pub fn start_with(scheme: &str, arguments: &[&str]) -> Self {
        let process = Process::start(arguments);
        let endpoint = format!("{scheme}://{}", process.address);
        Self { process, endpoint }
    }

    /// A server whose metrics can be read.
    #[cfg(unix)]
    pub fn with_metrics() -> (Self, Metrics) {
        let mut server = Self::start_with("http", &["--admin-listen", "127.0.0.1:0"]);
        let address = server.process.admin_address();
        (server, Metrics(address))
    }
}

/// Where a server tells what it counts.
#[cfg(unix)]
pub struct Metrics(String);

#[cfg(unix)]
impl Metrics {
    /// The sum of all samples whose names and labels begin like this.
    pub fn sum(&self, begin: &str) -> f64 {
        let samples = operators::metrics(&self.0).into_iter();
        samples
            .filter(|(name, _)| name.starts_with(begin))
            .map(|(_, value)| value)
            .sum()
    }
}
