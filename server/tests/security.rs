//! The program with certificates and tokens: who gets in, and how both are exchanged while it runs.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{Outcome, SolveManyRequest};
use support::{PUZZLE, Server, command, refused, solve, until};
use tempfile::TempDir;
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

/// A certificate authority, and a folder for what it issues.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self {
            issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A new certificate for this name with its key, both in PEM form.
    fn issue(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// Writes a new certificate of the server.
    fn renew(&self) {
        let (certificate, key) = self.issue("localhost");
        fs::write(self.path("server.pem"), certificate).unwrap();
        fs::write(self.path("server.key"), key).unwrap();
    }

    fn certificate(&self) -> Certificate {
        Certificate::from_pem(self.issuer.pem())
    }

    /// The command with a certificate of this authority.
    fn command(&self) -> Command {
        self.renew();
        let mut command = command();
        command
            .args(["--listen", "127.0.0.1:0"])
            .arg("--tls-cert")
            .arg(self.path("server.pem"))
            .arg("--tls-key")
            .arg(self.path("server.key"));
        command
    }

    async fn connect(&self, server: &Server) -> Result<Channel, tonic::transport::Error> {
        connect(server, ClientTlsConfig::new().ca_certificate(self.certificate())).await
    }
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
    let server = Server::spawn(&mut authority.command());
    solves(authority.connect(&server).await.unwrap()).await.unwrap();

    let stranger = Authority::new();
    stranger.connect(&server).await.unwrap_err();
    let plain = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    if let Ok(channel) = plain.connect().await {
        solves(channel).await.unwrap_err();
    }
    // With a certificate the server may be reached from everywhere.
    let server = Server::spawn(authority.command().args(["--listen", "0.0.0.0:0"]));
    server.signal("TERM");
    assert_eq!(server.ended().await.0, Some(0));
}

#[tokio::test]
async fn a_unix_socket_beside_it_stays_plain() {
    let authority = Authority::new();
    let path = authority.path("grpc.sock");
    let listen = format!("--listen=unix:{}", path.display());
    let _server = Server::spawn(authority.command().arg(listen));
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
    fs::write(&ca, clients.issuer.pem()).unwrap();
    let server = Server::spawn(authority.command().arg("--tls-client-ca").arg(&ca));
    let with = |issuer: &Authority| {
        let (certificate, key) = issuer.issue("client");
        ClientTlsConfig::new()
            .ca_certificate(authority.certificate())
            .identity(Identity::from_pem(certificate, key))
    };
    solves(connect(&server, with(&clients)).await.unwrap())
        .await
        .unwrap();
    // With TLS 1.3 a client learns of it only after its handshake.
    if let Ok(channel) = connect(&server, with(&authority)).await {
        solves(channel).await.unwrap_err();
    }
    if let Ok(channel) = authority.connect(&server).await {
        solves(channel).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_new_certificate_is_taken_up_without_losing_a_connection() {
    let old = Authority::new();
    let new = Authority::new();
    for reload in ["--reload-interval=20ms", "--reload-interval=1h"] {
        let server = Server::spawn(old.command().arg(reload));
        let look = || {
            if reload.ends_with("1h") {
                server.signal("HUP");
            }
        };
        let channel = old.connect(&server).await.unwrap();
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
            solves(old.connect(&server).await.unwrap()).await.unwrap();
        }
        let (certificate, key) = new.issue("localhost");
        fs::write(old.path("server.pem"), certificate).unwrap();
        fs::write(old.path("server.key"), key).unwrap();
        look();
        until("new connections get it", || async {
            new.connect(&server).await.is_ok()
        })
        .await;
        old.connect(&server).await.unwrap_err();

        // The connection from before, and the stream on it, go on.
        send.send(message()).await.unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap().results.len(), 1);
        solves(channel).await.unwrap();
        server.signal("TERM");
        assert_eq!(server.ended().await.0, Some(0));
    }
}

#[tokio::test]
async fn a_handshake_that_stands_still_is_hung_up_on() {
    let authority = Authority::new();
    let mut command = authority.command();
    command.args(["--handshake-timeout=200ms", "--admin-listen=127.0.0.1:0"]);
    let mut server = Server::spawn(&mut command);
    let mut line = String::new();
    server.output.read_line(&mut line).unwrap();
    let admin = line.trim_end().strip_prefix("http://").unwrap();
    // Nothing at all, and the beginning of a record of the handshake that is to have 512 bytes.
    for (count, begun) in (1..).zip([&b""[..], &[0x16, 3, 1, 2, 0, 1][..]]) {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(begun).await.unwrap();
        let mut answer = Vec::new();
        let closed = stream.read_to_end(&mut answer);
        // By an end or a reset.
        let _ = tokio::time::timeout(support::PATIENCE, closed).await.unwrap();
        until("it is counted", || async {
            metrics(admin)["sudoku_rejected_total{reason=\"handshake_timeout\"}"] == f64::from(count)
        })
        .await;
    }
    solves(authority.connect(&server).await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn an_expired_certificate_is_not_taken_up_and_a_lost_file_is_told_once() {
    let authority = Authority::new();
    let log = authority.path("log");
    let mut command = authority.command();
    command.arg("--reload-interval=10ms");
    let server = Server::spawn_with_log(&mut command, fs::File::create(&log).unwrap());
    let told = |text: &str| fs::read_to_string(&log).unwrap().matches(text).count();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let certificate = params.signed_by(&key, &authority.issuer).unwrap();
    fs::write(authority.path("server.key"), key.serialize_pem()).unwrap();
    fs::write(authority.path("server.pem"), certificate.pem()).unwrap();
    until("it is told", || async { told("expired on") == 1 }).await;
    solves(authority.connect(&server).await.unwrap()).await.unwrap();

    fs::remove_file(authority.path("server.pem")).unwrap();
    until("it is told", || async { told("No such file") == 1 }).await;
    authority.renew();
    until("a good one is taken up", || async {
        told("new connections get the new") == 1
    })
    .await;
    // It was looked at many times meanwhile.
    assert_eq!((told("expired on"), told("No such file")), (1, 1));
    solves(authority.connect(&server).await.unwrap()).await.unwrap();
}

#[test]
fn files_that_are_no_good_stop_the_start() {
    let authority = Authority::new();
    let broken = |name: &str| {
        let mut command = authority.command();
        fs::write(authority.path(name), "broken").unwrap();
        let text = refused(&mut command);
        assert!(text.contains(name), "{text}");
        assert!(!text.contains("listening"), "{text}");
    };
    broken("server.pem");
    broken("server.key");
    let (_, other) = authority.issue("localhost");
    let mut command = authority.command();
    fs::write(authority.path("server.key"), other).unwrap();
    assert!(refused(&mut command).contains("server.pem"));

    let lone = |flag: &str, file: &Path| {
        let text = refused(support::command().arg(flag).arg(file));
        assert!(text.contains("is not"), "{text}");
    };
    authority.renew();
    lone("--tls-cert", &authority.path("server.pem"));
    lone("--tls-key", &authority.path("server.key"));
    lone("--tls-client-ca", &authority.path("server.pem"));
    let text = refused(support::command().args(["--token-file", "/nowhere/tokens"]));
    assert!(text.contains("/nowhere/tokens"), "{text}");
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
    server.signal("HUP");
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

    server.signal("TERM");
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
