//! Servers to send puzzles to, as processes of their own.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::LazyLock;

/// A server of its own, ended when dropped.
pub struct Server {
    child: Child,
    /// What it says after the first line.
    #[cfg_attr(not(unix), expect(dead_code))]
    output: BufReader<ChildStdout>,
    /// As in `http://127.0.0.1:50051`.
    pub endpoint: String,
}

impl Server {
    pub fn start() -> Self {
        Self::start_with("http", &[])
    }

    /// Starts a server with more arguments, to be called by this scheme.
    pub fn start_with(scheme: &str, arguments: &[&str]) -> Self {
        static BUILT: LazyLock<escargot::CargoRun> = LazyLock::new(|| {
            let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/Cargo.toml");
            let build = escargot::CargoBuild::new()
                .manifest_path(manifest)
                .bin("sudoku-server");
            build.current_target().run().expect("the server builds")
        });
        let mut child = BUILT
            .command()
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        let endpoint = format!("{scheme}://{}", address.trim_end());
        Self {
            child,
            output,
            endpoint,
        }
    }

    /// A server whose metrics can be read.
    #[cfg(unix)]
    pub fn with_metrics() -> (Self, Metrics) {
        let mut server = Self::start_with("http", &["--admin-listen", "127.0.0.1:0"]);
        let mut line = String::new();
        server.output.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("http://").unwrap().to_owned();
        (server, Metrics(address))
    }

    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where a server tells what it counts.
#[cfg(unix)]
pub struct Metrics(String);

#[cfg(unix)]
impl Metrics {
    /// The sum of all samples whose names and labels begin like this.
    pub fn sum(&self, begin: &str) -> f64 {
        use std::io::{Read, Write};

        let mut stream = std::net::TcpStream::connect(&self.0).unwrap();
        let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let samples = text.lines().filter(|line| line.starts_with(begin));
        samples
            .map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap())
            .sum()
    }
}
