//! Sends the spans of calls to a collector, by OTLP over gRPC.

use std::mem;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use opentelemetry_otlp::WithExportConfig;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter};

/// How long the last spans may take to be sent when the server ends.
const FAREWELL: Duration = Duration::from_secs(5);

/// How often the log says that spans do not arrive.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// Makes spans that are sent to the collector at `endpoint`: all of callers who sample theirs, and this share of the others.
/// At most a bounded number waits to be sent; further ones are dropped.
pub fn tracer_provider(endpoint: &str, ratio: f64) -> anyhow::Result<SdkTracerProvider> {
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_tonic()
        .with_endpoint(endpoint)
        .build()
        .context("otlp-endpoint")?;
    let exporter = Watched {
        exporter,
        endpoint: endpoint.to_owned(),
        outage: Mutex::default(),
    };
    let resource = Resource::builder()
        .with_service_name("sudoku-server")
        .with_attribute(opentelemetry::KeyValue::new(
            "service.version",
            env!("CARGO_PKG_VERSION"),
        ))
        .build();
    let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio)));
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(sampler)
        .with_resource(resource)
        .build())
}

/// Sends what is left.
pub async fn end(provider: SdkTracerProvider) {
    // It waits for a thread of its own.
    let end = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(FAREWELL)).await;
    match end {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the last spans may be lost"),
        Err(error) => tracing::warn!(%error, "the last spans may be lost"),
    }
}

/// An exporter that says in the log when spans do not arrive. The library drops them without a word.
#[derive(Debug)]
struct Watched<E> {
    exporter: E,
    endpoint: String,
    outage: Mutex<Outage>,
}

impl<E: SpanExporter> SpanExporter for Watched<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let sent = self.exporter.export(batch).await;
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        let endpoint = self.endpoint.as_str();
        match &sent {
            Ok(()) if outage.is_over() => tracing::info!(endpoint, "the collector gets spans again"),
            Ok(()) => {}
            Err(error) => {
                if let Some(spans) = outage.goes_on(spans, Instant::now()) {
                    tracing::warn!(endpoint, spans, %error, "the collector got no spans; they are lost");
                }
            }
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// A time in which spans do not arrive.
#[derive(Debug, Default)]
struct Outage {
    /// When it was told last.
    told: Option<Instant>,
    /// How many spans were lost since.
    lost: usize,
}

impl Outage {
    /// Notes that so many spans more were lost. Gives how many to tell of, if it is time.
    fn goes_on(&mut self, spans: usize, now: Instant) -> Option<usize> {
        self.lost += spans;
        if self
            .told
            .is_some_and(|told| now.duration_since(told) < TOLD_EVERY)
        {
            return None;
        }
        self.told = Some(now);
        Some(mem::take(&mut self.lost))
    }

    /// Notes that spans arrive. Whether that is new.
    fn is_over(&mut self) -> bool {
        mem::take(self).told.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_at_once_and_then_once_a_minute() {
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        let mut outage = Outage::default();
        assert!(!outage.is_over());
        assert_eq!(outage.goes_on(5, begin), Some(5));
        assert_eq!(outage.goes_on(7, after(1)), None);
        assert_eq!(outage.goes_on(1, after(59)), None);
        assert_eq!(outage.goes_on(2, after(60)), Some(10));
        assert_eq!(outage.goes_on(3, after(61)), None);
        assert!(outage.is_over());
        assert!(!outage.is_over());
        assert_eq!(outage.goes_on(4, after(62)), Some(4));
    }
}
