//! Processor time, cores and memory, as Linux tells them.

use std::io;
use std::time::Duration;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// The processor time that this thread has used.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The processor time that a process has used, user and system: what `getrusage` tells the process itself, but of all
/// threads that it has now, and in nanoseconds.
pub fn process_time(pid: u32) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        // One that ends in between is none of those that work.
        let Ok(text) = std::fs::read_to_string(thread?.path().join("schedstat")) else {
            continue;
        };
        let running = text
            .split_whitespace()
            .next()
            .and_then(|field| field.parse::<u64>().ok());
        nanoseconds += running.ok_or(io::ErrorKind::InvalidData)?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// The memory of a process that is in use, in bytes.
pub fn resident_bytes(pid: u32) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Ok(kibibytes.ok_or(io::ErrorKind::InvalidData)? * 1024)
}

/// The cores that this process may use.
pub fn cores() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

/// Keeps this thread, and what it starts from now on, on these cores.
pub fn pin(cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    sched_setaffinity(None::<Pid>, &set)?;
    Ok(())
}
