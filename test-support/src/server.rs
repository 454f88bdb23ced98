//! The server as a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use crate::command::command;

#[cfg(unix)]
pub use rustix::process::Signal;

/// A server that runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// What it says after its address.
    pub output: BufReader<ChildStdout>,
    /// Where it listens, as it says itself.
    pub address: String,
}

impl Process {
    /// Builds this checkout's server, unless that is done, and starts it on a free port of the loopback interface, with
    /// more arguments.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", arguments).expect("the server listens")
    }

    /// The same at an address or a socket. `None` if it cannot listen there.
    pub fn start_at(address: &str, arguments: &[&str]) -> Option<Self> {
        static BUILT: LazyLock<escargot::CargoRun> = LazyLock::new(|| {
            let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/Cargo.toml");
            let build = escargot::CargoBuild::new()
                .manifest_path(manifest)
                .bin("sudoku-server");
            build.current_target().run().expect("the server builds")
        });
        let mut command = command(BUILT.path());
        command.args(["--listen", address]).args(arguments);
        Self::spawn(command.stderr(Stdio::null()))
    }

    /// Starts the server of a command. `None` if it ends without having said where it listens.
    pub fn spawn(command: &mut Command) -> Option<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let output = child.stdout.take().expect("its output is piped");
        let mut process = Self {
            child,
            output: BufReader::new(output),
            address: String::new(),
        };
        process.address = process.line()?;
        Some(process)
    }

    /// The next line that it says, without its end. `None` if it says no more.
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("its output is text");
        line.strip_suffix('\n').map(str::to_owned)
    }

    /// Where it answers operators, which it says after its address if it does.
    pub fn admin_address(&mut self) -> String {
        let line = self.line().expect("it says where it answers operators");
        let address = line
            .strip_prefix("http://")
            .expect("it answers operators in HTTP");
        address.to_owned()
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    #[cfg(unix)]
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it without closing anything, and returns when it has stopped.
    #[cfg(unix)]
    pub fn freeze(&self) {
        use rustix::process::{Pid, WaitOptions, waitpid};

        self.signal(Signal::STOP);
        let pid = Pid::from_child(&self.child);
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped());
    }

    /// Its exit status if it has ended: nothing if a signal ended it.
    pub fn ended(&mut self) -> Option<Option<i32>> {
        let status = self.child.try_wait().unwrap()?;
        Some(status.code())
    }

    /// Ends it at once, frozen or not, and waits for its end.
    pub fn kill(&mut self) {
        // It fails where the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
