//! The program with certificates and tokens: who gets in, and how both are exchanged while it runs.
#![cfg(unix)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{Outcome, SolveManyRequest};
use support::{PUZZLE, Server, Signal, command, refused, solve, until};
use test_support::authority::Authority;
use test_support::operators::metrics;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_types::StatusExt;

/// What clients trust who know an authority.
fn root(authority: &Authority) -> Certificate {
    Certificate::from_pem(authority.pem())
}

/// The command with a certificate of an authority.
fn secured(authority: &Authority) -> Command {
    let mut command = command();
    command
        .args(["--listen", "127.0.0.1:0"])
        .args(authority.server_arguments());
    command
}

/// Connects to a server that has a certificate of an authority.
async fn connect_to(server: &Server, authority: &Authority) -> Result<Channel, tonic::transport::Error> {
    connect(server, ClientTlsConfig::new().ca_certificate(root(authority))).await
}

async fn connect(server: &Server, tls: ClientTlsConfig) -> Result<Channel, tonic::transport::Error> {
    Endpoint::from_shared(format!("https://{}", server.address))
        .unwrap()
        .tls_config(tls.domain_name("localhost"))
        .unwrap()
        .connect()
        .await
}

async fn solves(channel: Channel) -> Result<(), Status> {
    let response = SudokuServiceClient::new(channel).solve(solve(PUZZLE)).await?;
    assert_eq!(response.into_inner().result.unwrap().outcome(), Outcome::Unique);
    Ok(())
}

#[tokio::test]
async fn calls_are_encrypted() {
    let authority = Authority::new();
    let server = Server::spawn(&mut secured(&authority));
    solves(connect_to(&server, &authority).await.unwrap())
        .await
        .unwrap();

    let stranger = Authority::new();
    connect_to(&server, &stranger).await.unwrap_err();
    let plain = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    if let Ok(channel) = plain.connect().await {
        solves(channel).await.unwrap_err();
    }
    // With a certificate the server may be reached from everywhere.
    let server = Server::spawn(secured(&authority).args(["--listen", "0.0.0.0:0"]));
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
}

#[tokio::test]
async fn a_unix_socket_beside_it_stays_plain() {
    let authority = Authority::new();
    let path = authority.path("grpc.sock");
    let listen = format!("--listen=unix:{}", path.display());
    let _server = Server::spawn(secured(&authority).arg(listen));
    let uri = format!("unix:{}", path.display());
    solves(Endpoint::from_shared(uri).unwrap().connect().await.unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn clients_need_a_certificate_where_the_server_asks_for_one() {
    let authority = Authority::new();
    let clients = Authority::new();
    let ca = clients.path("ca.pem");
    fs::write(&ca, clients.pem()).unwrap();
    let server = Server::spawn(secured(&authority).arg("--tls-client-ca").arg(&ca));
    let with = |issuer: &Authority| {
        let (certificate, key) = issuer.issue("client");
        ClientTlsConfig::new()
            .ca_certificate(root(&authority))
            .identity(Identity::from_pem(certificate, key))
    };
    solves(connect(&server, with(&clients)).await.unwrap())
        .await
        .unwrap();
    // With TLS 1.3 a client learns of it only after its handshake.
    if let Ok(channel) = connect(&server, with(&authority)).await {
        solves(channel).await.unwrap_err();
    }
    if let Ok(channel) = connect_to(&server, &authority).await {
        solves(channel).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_new_certificate_is_taken_up_without_losing_a_connection() {
    let old = Authority::new();
    let new = Authority::new();
    for reload in ["--reload-interval=20ms", "--reload-interval=1h"] {
        let server = Server::spawn(secured(&old).arg(reload));
        let look = || {
            if reload.ends_with("1h") {
                server.signal(Signal::HUP);
            }
        };
        let channel = connect_to(&server, &old).await.unwrap();
        let (send, messages) = mpsc::channel(1);
        let mut stream = SudokuServiceClient::new(channel.clone())
            .solve_many(ReceiverStream::new(messages))
            .await
            .unwrap()
            .into_inner();
        let message = || SolveManyRequest {
            puzzles: vec![PUZZLE.into()],
            options: None,
        };

        // One that is no good changes nothing.
        fs::write(old.path("server.pem"), "no certificate").unwrap();
        look();
        for _ in 0..20 {
            solves(connect_to(&server, &old).await.unwrap()).await.unwrap();
        }
        old.install(&new.issue("localhost"));
        look();
        until("new connections get it", || async {
            connect_to(&server, &new).await.is_ok()
        })
        .await;
        connect_to(&server, &old).await.unwrap_err();

        // The connection from before, and the stream on it, go on.
        send.send(message()).await.unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap().results.len(), 1);
        solves(channel).await.unwrap();
        server.signal(Signal::TERM);
        assert_eq!(server.ended().await.0, Some(0));
    }
}

#[tokio::test]
async fn a_handshake_that_stands_still_is_hung_up_on() {
    let authority = Authority::new();
    let mut command = secured(&authority);
    command.args(["--handshake-timeout=200ms", "--admin-listen=127.0.0.1:0"]);
    let mut server = Server::spawn(&mut command);
    let admin = server.process.admin_address();
    // Nothing at all, and the beginning of a record of the handshake that is to have 512 bytes.
    for (count, begun) in (1..).zip([&b""[..], &[0x16, 3, 1, 2, 0, 1][..]]) {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(begun).await.unwrap();
        let mut answer = Vec::new();
        let closed = stream.read_to_end(&mut answer);
        // By an end or a reset.
        let _ = tokio::time::timeout(support::PATIENCE, closed).await.unwrap();
        until("it is counted", || async {
            metrics(&admin)["sudoku_rejected_total{reason=\"handshake_timeout\"}"] == f64::from(count)
        })
        .await;
    }
    solves(connect_to(&server, &authority).await.unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn an_expired_certificate_is_not_taken_up_and_a_lost_file_is_told_once() {
    let authority = Authority::new();
    let log = authority.path("log");
    let mut command = secured(&authority);
    command.arg("--reload-interval=10ms");
    let server = Server::spawn_with_log(&mut command, fs::File::create(&log).unwrap());
    let told = |text: &str| fs::read_to_string(&log).unwrap().matches(text).count();
    authority.install(&authority.issue_until("localhost", 2020));
    until("it is told", || async { told("expired on") == 1 }).await;
    solves(connect_to(&server, &authority).await.unwrap())
        .await
        .unwrap();

    fs::remove_file(authority.path("server.pem")).unwrap();
    until("it is told", || async { told("No such file") == 1 }).await;
    authority.install(&authority.issue("localhost"));
    until("a good one is taken up", || async {
        told("new connections get the new") == 1
    })
    .await;
    // It was looked at many times meanwhile.
    assert_eq!((told("expired on"), told("No such file")), (1, 1));
    solves(connect_to(&server, &authority).await.unwrap())
        .await
        .unwrap();
}

#[test]
fn files_that_are_no_good_stop_the_start() {
    let authority = Authority::new();
    let broken = |name: &str| {
        let mut command = secured(&authority);
        fs::write(authority.path(name), "broken").unwrap();
        let text = refused(&mut command);
        assert!(text.contains(name), "{text}");
        assert!(!text.contains("listening"), "{text}");
    };
    broken("server.pem");
    broken("server.key");
    let (_, other) = authority.issue("localhost");
    let mut command = secured(&authority);
    fs::write(authority.path("server.key"), other).unwrap();
    assert!(refused(&mut command).contains("server.pem"));

    let lone = |flag: &str, file: &Path| {
        let text = refused(support::command().arg(flag).arg(file));
        assert!(text.contains("is not"), "{text}");
    };
    authority.install(&authority.issue("localhost"));
    lone("--tls-cert", &authority.path("server.pem"));
    lone("--tls-key", &authority.path("server.key"));
    lone("--tls-client-ca", &authority.path("server.pem"));
    let text = refused(support::command().args(["--token-file", "/nowhere/tokens"]));
    assert!(text.contains("/nowhere/tokens"), "{text}");
}

#[test]
fn a_file_that_is_no_good_is_told_with_where_it_is_named() {
    let authority = Authority::new();
    authority.install(&authority.issue("localhost"));
    let path = |name: &str| authority.path(name).to_str().unwrap().to_owned();
    let good = [("tls-cert", path("server.pem")), ("tls-key", path("server.key"))];
    let config = authority.path("sudoku.toml");
    for key in ["tls-cert", "tls-key", "tls-client-ca", "token-file"] {
        let command = || {
            let mut command = support::command();
            for (other, file) in good.iter().filter(|(other, _)| *other != key) {
                command.arg(format!("--{other}={file}"));
            }
            command
        };
        let (mut by_flag, mut by_variable, mut by_file) = (command(), command(), command());
        let variable = format!("SUDOKU_{}", key.to_uppercase().replace('-', "_"));
        by_flag.arg(format!("--{key}=/nowhere/a"));
        by_variable.env(&variable, "/nowhere/a");
        fs::write(&config, format!("{key} = '/nowhere/a'")).unwrap();
        by_file.arg("--config").arg(&config);
        for (command, place) in [
            (&mut by_flag, format!("--{key}")),
            (&mut by_variable, variable),
            (&mut by_file, format!("{}: {key}", config.display())),
        ] {
            let told = format!("sudoku-server: {place}: /nowhere/a: cannot read the file: No such file");
            let text = refused(command);
            assert!(text.contains(&told), "{text}");
        }
    }
    let text = refused(support::command().env("SUDOKU_TLS_KEY", "/nowhere/a"));
    assert!(
        text.contains("SUDOKU_TLS_KEY is set, and tls-cert is not"),
        "{text}"
    );
}

/// The digest of the token, by another program than ours.
fn line(name: &str, token: &str) -> String {
    let path = tempfile::NamedTempFile::new().unwrap();
    fs::write(path.path(), token).unwrap();
    let output = Command::new("sha256sum").arg(path.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    format!("{name} {}\n", text.split_whitespace().next().unwrap())
}

fn with_token<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    let value = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", value);
    request
}

fn assert_unauthenticated(status: &Status) {
    assert_eq!(status.code(), Code::Unauthenticated);
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        ("UNAUTHENTICATED", "sudoku.v1")
    );
}

#[tokio::test]
async fn only_calls_with_a_token_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, line("one", "first-token") + &line("two", "second-token")).unwrap();
    let log = folder.path().join("log");
    let mut command = command();
    command
        .args(["--listen", "127.0.0.1:0", "--reload-interval=1h", "--token-file"])
        .arg(&tokens)
        .env("RUST_LOG", "trace");
    let server = Server::spawn_with_log(&mut command, fs::File::create(&log).unwrap());
    let channel = server.channel().await;
    let mut client = SudokuServiceClient::new(channel.clone());
    for token in ["first-token", "second-token"] {
        client.solve(with_token(solve(PUZZLE), token)).await.unwrap();
    }
    assert_unauthenticated(&client.solve(solve(PUZZLE)).await.unwrap_err());
    for token in ["third-token", "first-toke", ""] {
        let status = client.solve(with_token(solve(PUZZLE), token)).await.unwrap_err();
        assert_unauthenticated(&status);
        let stream = with_token(tokio_stream::pending::<SolveManyRequest>(), token);
        assert_unauthenticated(&client.solve_many(stream).await.unwrap_err());
    }

    // Health is open to all, reflection is not.
    HealthClient::new(channel.clone())
        .check(HealthCheckRequest::default())
        .await
        .unwrap();
    let mut reflection = ServerReflectionClient::new(channel.clone());
    let request = tokio_stream::iter([ServerReflectionRequest::default()]);
    assert_unauthenticated(&reflection.server_reflection_info(request).await.unwrap_err());

    fs::write(&tokens, line("three", "third-token")).unwrap();
    server.signal(Signal::HUP);
    until("the new token is taken", || async {
        client
            .clone()
            .solve(with_token(solve(PUZZLE), "third-token"))
            .await
            .is_ok()
    })
    .await;
    let status = client
        .solve(with_token(solve(PUZZLE), "first-token"))
        .await
        .unwrap_err();
    assert_unauthenticated(&status);

    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("tokens"), "{log}");
    for token in ["first-token", "second-token", "third-token", "first-toke"] {
        assert!(!log.contains(token), "{token} is in the log");
    }
}

#[test]
fn the_page_names_tests_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut count = 0;
    // The table has `file`: `test`, or several of them.
    let words: Vec<_> = page.split('`').collect();
    for triple in words.windows(3) {
        let [file, ": ", test] = triple else {
            continue;
        };
        let text = fs::read_to_string(root.join(file)).unwrap();
        let test_of_it = text.split(&format!("fn {test}(")).next().unwrap();
        assert!(test_of_it.len() < text.len(), "{file} has no {test}");
        let attributes = test_of_it.trim_end().trim_end_matches("async");
        assert!(attributes.trim_end().ends_with("test]"), "{test} is no test");
        count += 1;
    }
    assert!(count > 20, "the table was not found");
}
