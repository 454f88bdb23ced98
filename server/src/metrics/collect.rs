//! What is read only when somebody asks: what the service is doing, what was turned away, and what the process uses.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use tokio::runtime::Handle;

use crate::panics;
use crate::rejected::Rejection;
use crate::service::Service;

/// Adds what is read from the service and the process.
pub fn register(service: &Service, registry: &mut Registry) {
    registry.register_collector(Box::new(Doing(service.clone())));
    #[cfg(target_os = "linux")]
    registry.register_collector(Box::new(process::Process));
}

#[derive(Debug)]
struct Doing(Service);

impl Collector for Doing {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let load = self.0.load();
        for (name, help, value) in [
            ("sudoku_solves", "Solve calls being solved", load.solves),
            ("sudoku_open_streams", "SolveMany streams open", load.streams),
            (
                "sudoku_messages",
                "Messages of streams taken and not answered",
                load.messages,
            ),
            (
                "sudoku_connections",
                "Connections of clients open",
                self.0.connections(),
            ),
            (
                "sudoku_tasks",
                "Tasks of the runtime, a few for each connection and call",
                Handle::try_current().map_or(0, |runtime| runtime.metrics().num_alive_tasks()),
            ),
            (
                "sudoku_busy_threads",
                "Workers that have messages of streams to solve",
                load.busy_threads,
            ),
            (
                "sudoku_queue_depth",
                "Parts of messages that wait for a worker",
                load.waiting,
            ),
        ] {
            gauge(&mut encoder, name, help, value as f64)?;
        }
        let ready = f64::from(u8::from(self.0.is_ready()));
        gauge(
            &mut encoder,
            "sudoku_ready",
            "1 while the server takes calls",
            ready,
        )?;

        let panics = ConstCounter::new(panics::caught());
        let help = "Panics caught, each the end of a call";
        panics.encode(encoder.encode_descriptor("sudoku_panics", help, None, panics.metric_type())?)?;

        let help = "Connections and calls turned away or ended by the server, by reason";
        let counter = ConstCounter::new(0_u64);
        let mut rejected = encoder.encode_descriptor("sudoku_rejected", help, None, counter.metric_type())?;
        for reason in Rejection::ALL {
            let count = ConstCounter::new(self.0.rejected(reason));
            count.encode(rejected.encode_family(&[("reason", reason.name())])?)?;
        }
        Ok(())
    }
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: f64) -> Result<(), fmt::Error> {
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}

#[cfg(target_os = "linux")]
mod process {
    use procfs::{ProcError, WithCurrentSystemInfo};

    use super::*;

    /// The process, under the names that Prometheus has for it.
    #[derive(Debug)]
    pub struct Process;

    struct Usage {
        cpu_seconds: f64,
        start: f64,
        gauges: [(&'static str, &'static str, f64); 5],
    }

    impl Collector for Process {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
            // Where /proc is not to be had, there are no such metrics.
            let Ok(usage) = usage() else {
                return Ok(());
            };
            let cpu = ConstCounter::new(usage.cpu_seconds);
            let help = "Processor time used";
            cpu.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?)?;
            for (name, help, value) in usage.gauges {
                gauge(&mut encoder, name, help, value)?;
            }
            let help = "When the process started, in Unix time";
            gauge(&mut encoder, "process_start_time_seconds", help, usage.start)
        }
    }

    fn usage() -> Result<Usage, ProcError> {
        let process = procfs::process::Process::myself()?;
        let stat = process.stat()?;
        let ticks = procfs::ticks_per_second() as f64;
        let files = process.limits()?.max_open_files.soft_limit;
        let most_files = match files {
            procfs::process::LimitValue::Unlimited => f64::INFINITY,
            procfs::process::LimitValue::Value(files) => files as f64,
        };
        Ok(Usage {
            cpu_seconds: (stat.utime + stat.stime) as f64 / ticks,
            start: procfs::boot_time_secs()? as f64 + stat.starttime as f64 / ticks,
            gauges: [
                (
                    "process_resident_memory_bytes",
                    "Memory in use",
                    stat.rss_bytes().get() as f64,
                ),
                (
                    "process_virtual_memory_bytes",
                    "Address space in use",
                    stat.vsize as f64,
                ),
                ("process_open_fds", "Open files", process.fd_count()? as f64),
                ("process_max_fds", "Files that may be open", most_files),
                ("process_threads", "Threads", stat.num_threads as f64),
            ],
        })
    }
}
