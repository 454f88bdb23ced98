//! Servers as processes of their own, to be ended as processes are.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::LazyLock;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::until;

/// A server on a port of this machine. It ends with the test.
pub struct Process {
    child: Child,
    pub address: String,
}

impl Process {
    /// Starts a server on a free port.
    pub fn start() -> Self {
        Self::start_with("127.0.0.1:0", &[])
    }

    /// Starts a server at an address or a socket, with more arguments.
    pub fn start_with(address: &str, arguments: &[&str]) -> Self {
        Self::try_start(address, arguments).expect("the server starts")
    }

    /// Starts a server where another one was.
    pub async fn start_at(address: &str) -> Self {
        let mut started = None;
        until("the port is free", || {
            started = Self::try_start(address, &[]);
            started.is_some()
        })
        .await;
        started.unwrap()
    }

    fn try_start(address: &str, arguments: &[&str]) -> Option<Self> {
        static BUILT: LazyLock<escargot::CargoRun> = LazyLock::new(|| {
            let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/server/Cargo.toml");
            let build = escargot::CargoBuild::new()
                .manifest_path(manifest)
                .bin("sudoku-server");
            build.current_target().run().expect("the server builds")
        });
        let mut child = BUILT
            .command()
            .args(["--listen", address])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server runs");
        let mut line = String::new();
        let _ = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line);
        let Some(address) = line.strip_suffix('\n') else {
            let _ = child.wait();
            return None;
        };
        Some(Self {
            child,
            address: address.to_owned(),
        })
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Stops it without closing anything, and returns when it has stopped.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped());
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap()).unwrap()
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It fails where the process has ended. One that is frozen ends all the same.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
