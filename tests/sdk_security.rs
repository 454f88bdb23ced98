//! The SDK with TLS, mutual TLS, tokens and Unix sockets, against the real server.
#![cfg(unix)]

mod common;

use common::process::Process;
use common::{EASY, assert_solves, chain, collect, grid, puzzle};
use sudoku_client::{Error, Reason, SudokuClient, Tls};
use test_support::authority::Authority;

const TOKEN: &str = "open-sesame-of-the-tests";

/// The line of [`TOKEN`] in a file of tokens: a name, and its SHA-256 digest.
const TOKEN_LINE: &str = "tests 0f711217ce596270913065b2e827e5916edcccc2401d227ed802ce02f186183c";

/// A server with a certificate of an authority, and more arguments.
fn server(authority: &Authority, arguments: &[&str]) -> Process {
    let files = authority.server_arguments();
    let files = files.each_ref().map(String::as_str);
    Process::start_with("127.0.0.1:0", &[&files, arguments].concat())
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
    for tls in [
        trusted(&authority),
        trusted(&authority).identity(&certificate, &key),
    ] {
        // The connection may seem to stand before the server has looked at the certificate.
        let refused = match connect(&server, tls).await {
            Ok(client) => client.with_retries(1).solve(&grid(EASY)).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(refused, Error::Transport(_)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_token_opens_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, TOKEN_LINE).unwrap();
    let server = Process::start_with("127.0.0.1:0", &["--token-file", tokens.to_str().unwrap()]);
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
    let server = Process::start_with(&endpoint, &[]);
    assert_eq!(server.address, endpoint);
    solves(&SudokuClient::connect(&endpoint).await.unwrap()).await;
}

#[tokio::test]
async fn secrets_do_not_leave_by_mistake() {
    let with_token = |endpoint| SudokuClient::builder().endpoint(endpoint).token(TOKEN);
    for endpoint in ["http://10.0.0.1:1", "sudoku.example:1"] {
        let error = with_token(endpoint).connect_lazy().unwrap_err();
        assert!(chain(&error).contains("unencrypted"), "{}", chain(&error));
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
