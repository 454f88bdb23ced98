//! Sends the spans of calls to a collector, by OTLP over gRPC.

use std::time::Duration;

use anyhow::Context;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};

/// How long the last spans may take to be sent when the server ends.
const FAREWELL: Duration = Duration::from_secs(5);

/// Makes spans that are sent to the collector at `endpoint`: all of callers who sample theirs, and this share of the others.
/// At most a bounded number waits to be sent; further ones are dropped.
pub fn tracer_provider(endpoint: &str, ratio: f64) -> anyhow::Result<SdkTracerProvider> {
    let exporter = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(endpoint)
        .build()
        .context("otlp-endpoint")?;
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
