//! Servers as processes of their own, on cores of their own.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::cpu;

/// The argument with which a benchmark starts itself as the echo.
pub const AS_ECHO: &str = "--as-echo";

/// What to start.
#[derive(Debug, Clone)]
pub enum Program {
    Echo,
    /// `sudoku-server`, with further arguments.
    Ours(PathBuf, Vec<String>),
}

/// A server that runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    pub address: SocketAddr,
}

impl Process {
    /// Starts a server on these cores. The load then runs on its own.
    pub fn start(program: &Program, cores: &[usize], load_cores: &[usize]) -> io::Result<Self> {
        // What a process may use it inherits, and its runtime goes by it.
        cpu::pin(cores)?;
        let child = match program {
            Program::Echo => Command::new(std::env::current_exe()?)
                .arg(AS_ECHO)
                .stdout(Stdio::piped())
                .spawn(),
            Program::Ours(path, arguments) => Command::new(path)
                .args(["--listen", "127.0.0.1:0"])
                .args(arguments)
                .env("RUST_LOG", "warn")
                .stdout(Stdio::piped())
                .spawn(),
        };
        cpu::pin(load_cores)?;
        let mut child = child?;
        let address = child.stdout.take().map(announced_address);
        let address = address.unwrap_or(Err(io::ErrorKind::BrokenPipe.into()));
        match address {
            Ok(address) => Ok(Self { child, address }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }

    pub fn cpu_time(&self) -> io::Result<Duration> {
        cpu::process_time(self.child.id())
    }

    pub fn resident_bytes(&self) -> io::Result<u64> {
        cpu::resident_bytes(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It fails if the process is gone, which a measurement has noticed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address that a server prints on its first line.
fn announced_address(output: impl io::Read) -> io::Result<SocketAddr> {
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    line.trim()
        .parse()
        .map_err(|_| io::Error::other(format!("the server printed {line:?} instead of its address")))
}

/// The server to measure: the one that is named, or else this checkout's, built for release.
pub fn server_binary(named: Option<&Path>) -> io::Result<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let built = escargot::CargoBuild::new()
        .package("sudoku-server")
        .bin("sudoku-server")
        .release()
        .run()
        .map_err(io::Error::other)?;
    Ok(built.path().to_owned())
}
