//! The SDK with TLS, mutual TLS, tokens and Unix sockets, against the real server.
#![cfg(unix)]

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::{EASY, assert_solves, chain, collect, grid, interrupted, puzzle};
use sudoku_client::{Error, Reason, SudokuClient, Tls};
use test_support::authority::Authority;
use test_support::server::Process;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const TOKEN: &str = "open-sesame-of-the-tests";

/// The line of [`TOKEN`] in a file of tokens: a name, and its SHA-256 digest.
const TOKEN_LINE: &str = "tests 0f711217ce596270913065b2e827e5916edcccc2401d227ed802ce02f186183c";

/// A server with a certificate of an authority, and more arguments.
fn server(authority: &Authority, arguments: &[&str]) -> Process {
    let files = authority.server_arguments();
    let files = files.each_ref().map(String::as_str);
    Process::start(&[&files, arguments].concat())
}

/// What trusts its servers.
fn trusted(authority: &Authority) -> Tls {
    Tls::new().trust(authority.pem()).server_name("localhost")
}

async fn connect(server: &Process, tls: Tls) -> Result<SudokuClient, Error> {
    let builder = SudokuClient::builder().endpoint(format!("https://{}", server.address));
    builder.tls(tls).connect().await
}

async fn solves(client: &SudokuClient) {
    assert!(client.solve(&grid(EASY)).await.unwrap().is_unique());
    let (outcomes, error) = collect(client.solve_iter((0..3_000).map(|number| puzzle(number).0))).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(outcomes.len(), 3_000);
    for (number, outcome) in outcomes.iter().enumerate() {
        assert_solves(number, outcome);
    }
}

#[tokio::test]
async fn servers_are_called_through_tls_if_they_are_trusted() {
    let authority = Authority::new();
    let server = server(&authority, &[]);
    solves(&connect(&server, trusted(&authority)).await.unwrap()).await;

    for (tls, reason) in [
        (trusted(&Authority::new()), "invalid peer certificate"),
        // Nor does the system know it.
        (Tls::new().server_name("localhost"), "certificate"),
        (
            trusted(&authority).server_name("elsewhere.example"),
            "elsewhere.example",
        ),
    ] {
        let error = connect(&server, tls).await.unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
        assert!(chain(&error).contains(reason), "{}", chain(&error));
    }
}

/// What would be tried again and again is over at once.
async fn at_once<T>(tried: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), tried)
        .await
        .expect("it is not tried again")
}

#[tokio::test]
async fn a_certificate_that_is_refused_is_tried_no_more_but_elsewhere() {
    let authority = Authority::new();
    let (trusted_server, other) = (server(&authority, &[]), server(&Authority::new(), &[]));
    let https = |server: &Process| format!("https://{}", server.address);
    let builder = SudokuClient::builder().tls(trusted(&authority)).retries(1_000);
    let client = builder.clone().endpoint(https(&other)).connect_lazy().unwrap();
    let alone = at_once(client.solve(&grid(EASY))).await.unwrap_err();
    let (_, in_stream) = at_once(collect(client.solve_iter([grid(EASY)]))).await;
    for error in [alone, interrupted(in_stream, 0)] {
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
        assert!(
            chain(&error).contains("invalid peer certificate"),
            "{}",
            chain(&error)
        );
    }
    for endpoints in [[&other, &trusted_server], [&trusted_server, &other]] {
        let client = builder
            .clone()
            .endpoints(endpoints.map(https))
            .connect_lazy()
            .unwrap();
        solves(&client).await;
    }
}

/// Answers those who connect with these bytes, and hangs up if it has none.
async fn answering(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut open = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; 16]).await.unwrap();
            stream.write_all(bytes).await.unwrap();
            if !bytes.is_empty() {
                open.push(stream);
            }
        }
    });
    address
}

#[tokio::test]
async fn an_endpoint_that_is_https_and_should_be_http_or_the_reverse_is_hinted_at() {
    // Two alerts, as a server sends them that gets something else than TLS.
    let tls = answering(b"\x15\x03\x03\0\x02\x02\x0a\x15\x03\x03\0\x02\x01\0").await;
    let plain = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let refusing = answering(b"\x15\x03\x03\0\x02\x02\x28").await;
    for (endpoint, hint) in [
        (format!("http://{plain}"), "perhaps it is an https:// endpoint"),
        (
            format!("https://{refusing}"),
            "perhaps it wants a certificate of the client",
        ),
        (
            format!("http://{tls}"),
            "it speaks TLS, and is an https:// endpoint",
        ),
        (
            format!("https://{plain}"),
            "perhaps it does not speak TLS, and is an http:// endpoint",
        ),
    ] {
        let client = SudokuClient::builder()
            .endpoint(&endpoint)
            .retries(1_000)
            .connect_lazy()
            .unwrap();
        let (_, error) = at_once(collect(client.solve_iter([grid(EASY)]))).await;
        let error = chain(&interrupted(error, 0));
        assert!(error.contains(hint), "{endpoint}: {error}");
    }
    // It may be there again a little later.
    let gone = answering(b"").await;
    for (scheme, hint) in [
        ("https", "perhaps it does not speak TLS"),
        ("http", "perhaps it is an https:// endpoint"),
    ] {
        let builder = SudokuClient::builder().endpoint(format!("{scheme}://{gone}"));
        let client = builder.retries(0).connect_lazy().unwrap();
        let error = chain(&client.solve(&grid(EASY)).await.unwrap_err());
        assert!(error.contains(hint), "{error}");
    }
}

/// Of a name, the certificate has to be for the name, and not for the address that it stands for.
#[tokio::test]
async fn names_are_called_through_tls_too() {
    let authority = Authority::new();
    let server = server(&authority, &[]);
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let client = SudokuClient::builder()
        .endpoint(format!("https://localhost:{port}"))
        .tls(Tls::new().trust(authority.pem()))
        .connect()
        .await
        .unwrap();
    solves(&client).await;
}

#[tokio::test]
async fn a_client_shows_its_certificate() {
    let authority = Authority::new();
    let ca = authority.write("ca.pem", &authority.pem());
    let server = server(&authority, &["--tls-client-ca", ca.to_str().unwrap()]);
    let (certificate, key) = authority.issue("shop");
    let known = trusted(&authority).identity(&certificate, &key);
    solves(&connect(&server, known).await.unwrap()).await;

    let (certificate, key) = Authority::new().issue("shop");
    for (tls, reason) in [
        (
            trusted(&authority),
            "it wants a certificate of the client, which shows none",
        ),
        (
            trusted(&authority).identity(&certificate, &key),
            "it refuses the client's certificate",
        ),
    ] {
        // The connection stands before the server has looked at the certificate, so that what it says comes at any time.
        for _ in 0..20 {
            assert_is_told(&server, tls.clone(), reason).await;
        }
    }
}

/// However a server that refuses connections is called, it is not called again, and its reason is told.
async fn assert_is_told(server: &Process, tls: Tls, reason: &str) {
    let builder = SudokuClient::builder().endpoint(format!("https://{}", server.address));
    let builder = builder.tls(tls).retries(1_000);
    let lazy = || builder.clone().connect_lazy().unwrap();
    let at_start = builder.clone().connect().await.unwrap_err();
    let in_a_call = at_once(lazy().solve(&grid(EASY))).await.unwrap_err();
    let many = lazy().solve_iter([grid(EASY)]);
    let in_a_stream = interrupted(at_once(collect(many)).await.1, 0);
    for error in [at_start, in_a_call, in_a_stream] {
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
        assert!(chain(&error).contains(reason), "{}", chain(&error));
    }
}

/// The server's refusal comes while the call is being written here too.
#[tokio::test]
async fn a_server_with_tls_that_is_called_without_says_so() {
    let authority = Authority::new();
    let server = server(&authority, &[]);
    let builder = SudokuClient::builder().endpoint(&server.address).retries(1_000);
    for _ in 0..20 {
        let client = builder.clone().connect_lazy().unwrap();
        let error = at_once(client.solve(&grid(EASY))).await.unwrap_err();
        let error = chain(&error);
        assert!(
            error.contains("it speaks TLS, and is an https:// endpoint"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_token_opens_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, TOKEN_LINE).unwrap();
    let server = Process::start(&["--token-file", tokens.to_str().unwrap()]);
    let builder = || SudokuClient::builder().endpoint(&server.address);
    solves(&builder().token(TOKEN).connect().await.unwrap()).await;

    for client in [builder(), builder().token("wrong")] {
        let client = client.connect().await.unwrap();
        let error = client.solve(&grid(EASY)).await.unwrap_err();
        assert_eq!(error.reason(), Some(&Reason::Unauthenticated), "{error:?}");
        let (_, error) = collect(client.solve_iter([grid(EASY)])).await;
        assert_eq!(error.unwrap().reason(), Some(&Reason::Unauthenticated));
    }
}

#[tokio::test]
async fn a_unix_socket_is_an_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = format!("unix:{}/sudoku.sock", folder.path().display());
    let server = Process::start_at(&endpoint, &[]).unwrap();
    assert_eq!(server.address, endpoint);
    solves(&SudokuClient::connect(&endpoint).await.unwrap()).await;
}

#[tokio::test]
async fn secrets_do_not_leave_by_mistake() {
    let with_token = |endpoint| SudokuClient::builder().endpoint(endpoint).token(TOKEN);
    for endpoint in ["http://10.0.0.1:1", "sudoku.example:1"] {
        let error = with_token(endpoint).connect_lazy().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the token would travel unencrypted to {endpoint}; `token_in_the_open` allows that")
        );
        with_token(endpoint)
            .token_in_the_open(true)
            .connect_lazy()
            .unwrap();
    }
    for endpoint in ["127.0.0.1:1", "https://10.0.0.1:1", "unix:/run/sudoku.sock"] {
        let builder = with_token(endpoint);
        assert!(!format!("{builder:?}").contains(TOKEN), "{builder:?}");
        let client = builder.connect_lazy().unwrap();
        assert!(!format!("{client:?}").contains(TOKEN), "{client:?}");
    }
    let error = with_token("127.0.0.1:1")
        .token(
            "new
line",
        )
        .connect_lazy()
        .unwrap_err();
    assert!(matches!(error, Error::Config(_)), "{error:?}");
    let error = SudokuClient::builder()
        .endpoint("127.0.0.1:1")
        .tls(Tls::new())
        .connect_lazy()
        .unwrap_err();
    assert!(error.to_string().contains("no endpoint is https"), "{error}");
    let bad = Tls::new().identity("no certificate", "no key");
    let error = SudokuClient::builder()
        .endpoint("https://127.0.0.1:1")
        .tls(bad)
        .connect_lazy()
        .unwrap_err();
    assert!(error.to_string().contains("TLS cannot be used"), "{error}");
}
