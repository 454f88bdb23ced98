//! `sudoku-server`: the service as a program.

#![forbid(unsafe_code)]

mod args;
mod config;
mod exporter;
mod files;
mod secrets;
mod signals;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::pin::pin;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use opentelemetry::trace::TracerProvider;
use sudoku_server::{Drained, Front, Listener, Service, serve, serve_admin};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use args::{Args, LogFormat};
use config::Config;
use secrets::Secrets;
use signals::{Hangups, Signals};

// Messages are allocated on one thread and freed on another, which costs this one little.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CUT_OFF: u8 = 1;
const CANNOT_START: u8 = 2;

fn main() -> ExitCode {
    match start() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("sudoku-server: {error:#}");
            ExitCode::from(CANNOT_START)
        }
    }
}

fn start() -> anyhow::Result<ExitCode> {
    let config = match Config::load(env::args_os()) {
        Ok(config) => config,
        Err(error) => match error.downcast::<clap::Error>() {
            Ok(usage) => usage.exit(),
            Err(error) => return Err(error),
        },
    };
    if let Err(error) = config.args.settings().check() {
        bail!(config.blame(&error));
    }
    check_together(&config)?;
    if config.args.print_config {
        print!("{}", config.to_toml());
        return Ok(ExitCode::SUCCESS);
    }
    Ok(match run(&config)? {
        Drained::Finished => ExitCode::SUCCESS,
        Drained::CutOff => ExitCode::from(CUT_OFF),
    })
}

/// Refuses settings that only together make no sense, and calls that would go over a network in the open by accident.
fn check_together(config: &Config) -> anyhow::Result<()> {
    let args = &config.args;
    let lone = |set, missing| Err(anyhow!("{} is set, and {missing} is not", config.origin(set)));
    match (&args.tls_cert, &args.tls_key) {
        (Some(_), None) => return lone("tls-cert", "tls-key"),
        (None, Some(_)) => return lone("tls-key", "tls-cert"),
        (None, None) if args.tls_client_ca.is_some() => return lone("tls-client-ca", "tls-cert"),
        (Some(_), Some(_)) => return Ok(()),
        (None, None) => {}
    }
    match args.listen.iter().find(|address| address.is_remote()) {
        Some(address) if !args.insecure => bail!(
            "{address} can be reached from other machines, and calls are not encrypted; set tls-cert and tls-key, or say \
             --insecure if that is meant"
        ),
        _ => Ok(()),
    }
}

#[tokio::main]
async fn run(config: &Config) -> anyhow::Result<Drained> {
    let args = &config.args;
    log_to_standard_error(args.log_format)?;
    for (name, meant) in config::unknown_variables(env::vars_os().map(|(name, _)| name)) {
        tracing::warn!(name, meant, "there is no setting of this variable");
    }
    let settings = args.settings();
    files::make_room(
        settings
            .max_connections
            .saturating_add(settings.admin_max_connections),
    );
    let mut signals = Signals::new().context("cannot listen for signals")?;
    let secrets = Secrets::load(config)?;
    let fresh = secrets.clone().keep_fresh(Hangups::new()?, args.reload_interval);
    let service = Service::new(settings)?;
    let listeners = listen(args).await?;
    let admin = listen_for_operators(args).await?;
    announce(&listeners, admin.as_ref())?;
    tokio::spawn(fresh);
    if let Some(admin) = admin {
        tokio::spawn(serve_admin(admin, service.clone()));
    }
    let mut front = secrets.guard(Front::new(listeners));
    if !args.web_origin.is_empty() {
        front = front.web(args.web_origin.clone());
    }

    let traces = match &args.otlp_endpoint {
        Some(endpoint) => Some(exporter::tracer_provider(endpoint, args.trace_share)?),
        None => None,
    };
    if let Some(provider) = &traces {
        front = front.traces(provider.tracer("sudoku-server"));
    }
    let drained = serve_until_signals(front, service, &mut signals).await;
    if let Some(provider) = traces {
        exporter::end(provider).await;
    }
    Ok(drained)
}

async fn serve_until_signals(front: Front, service: Service, signals: &mut Signals) -> Drained {
    let shutdown = CancellationToken::new();
    let mut serving = pin!(serve(front, service.clone(), shutdown.cancelled()));
    tokio::select! {
        drained = serving.as_mut() => return drained,
        () = signals.next() => shutdown.cancel(),
    }
    tokio::select! {
        drained = serving => drained,
        () = signals.next() => match service.calls() {
            0 => {
                tracing::info!("a second signal; no call runs");
                Drained::Finished
            }
            calls => {
                tracing::warn!(calls, "a second signal; calls are cut off");
                Drained::CutOff
            }
        },
    }
}

/// What is asked of the log. The HTTP/2 library warns of each connection that floods it: clients could fill the disk. The
/// server has lines of its own for these, and few. Who wants to see more than usual is shown the library's too.
fn asked_of_log() -> String {
    let asked = env::var("RUST_LOG").unwrap_or_default();
    match asked.as_str() {
        "" => "info,h2=error".to_owned(),
        level @ ("warn" | "info") => format!("{level},h2=error"),
        _ => asked,
    }
}

fn log_to_standard_error(format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .parse(asked_of_log())
        .context("RUST_LOG is no log filter")?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Listens on all addresses, or on none.
async fn listen(args: &Args) -> anyhow::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    for address in &args.listen {
        let listener = Listener::bind(address, args.socket_mode.0).await;
        listeners.push(listener.with_context(|| format!("cannot listen on {address}"))?);
    }
    Ok(listeners)
}

async fn listen_for_operators(args: &Args) -> anyhow::Result<Option<TcpListener>> {
    let Some(address) = args.admin_listen else {
        return Ok(None);
    };
    let listener = TcpListener::bind(address).await;
    listener
        .map(Some)
        .with_context(|| format!("cannot listen on {address} for operators"))
}

/// Prints the addresses, for whoever started the server and waits for it. Nobody has to: a closed output is no error.
fn announce(listeners: &[Listener], admin: Option<&TcpListener>) -> io::Result<()> {
    let mut lines = Vec::new();
    for listener in listeners {
        lines.push(listener.address()?.to_string());
    }
    if let Some(admin) = admin {
        lines.push(format!("http://{}", admin.local_addr()?));
    }
    let mut output = io::stdout().lock();
    for address in lines {
        let _ = writeln!(output, "{address}");
        tracing::info!(address, "listening");
    }
    let _ = output.flush();
    Ok(())
}
