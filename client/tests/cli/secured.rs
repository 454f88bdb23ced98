//! A server with TLS and tokens, called with what options, variables and the configuration file say.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use test_support::authority::Authority;

use crate::server::Server;
use crate::support::{
    OTHER, OTHER_SOLVED, UNIQUE, UNIQUE_SOLVED, answer, client, failure, lines, solve, text,
};

const TOKEN: &str = "open-sesame-of-the-tests";

/// The line of [`TOKEN`] in a server's file of tokens: a name, and its SHA-256 digest.
const TOKEN_LINE: &str = "tests 0f711217ce596270913065b2e827e5916edcccc2401d227ed802ce02f186183c";

/// A server that wants a token, and a certificate of its clients, in a folder with all that clients need.
struct Secured {
    /// What issued the certificates, with the folder.
    authority: Authority,
    server: Server,
}

impl Secured {
    fn start() -> Self {
        let authority = Authority::new();
        let write = |name: &str, text: &str| {
            let path = authority.write(name, text);
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let issue = |name: &str| {
            let (certificate, key) = authority.issue(name);
            let path = write(&format!("{name}.pem"), &certificate);
            (path, write(&format!("{name}.key"), &key))
        };
        issue("client");
        let (certificate, key) = issue("127.0.0.1");
        let ca = write("ca.pem", &authority.pem());
        write("token", &format!("{TOKEN}\n"));
        let tokens = write("tokens", TOKEN_LINE);
        let arguments = [
            ["--tls-cert", &certificate],
            ["--tls-key", &key],
            ["--tls-client-ca", &ca],
            ["--token-file", &tokens],
        ];
        let server = Server::start_with("https", arguments.as_flattened());
        Self { authority, server }
    }

    /// The path of a file in the folder.
    fn path(&self, name: &str) -> PathBuf {
        self.authority.path(name)
    }

    /// A command that is run in the folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = client();
        command.current_dir(self.path("")).args(arguments);
        command
    }

    /// The options that open the server.
    fn options(&self) -> Vec<&str> {
        let files = ["--ca", "ca.pem", "--cert", "client.pem", "--key", "client.key"];
        let token = ["--token-file", "token"];
        [&["--endpoint", self.server.endpoint.as_str()], &files[..], &token].concat()
    }

    /// A configuration file that opens the server.
    fn configure(&self, path: &str, more: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let files = "ca = 'ca.pem'\ncert = 'client.pem'\nkey = 'client.key'";
        let text = format!("endpoint = '{}'\n{files}\n{more}\n", self.server.endpoint);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    }
}

/// Each command that asks a server, without what says which.
const COMMANDS: [&[&str]; 3] = [&["solve", UNIQUE], &["check", UNIQUE], &["ping", "--count", "1"]];

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert_eq!(text(output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn options_open_a_secured_server() {
    let secured = Secured::start();
    for command in COMMANDS {
        succeeds(secured.command(command).args(secured.options()));
    }
    let input = lines(&[UNIQUE, OTHER]);
    let solved = answer(
        secured
            .command(&["solve"])
            .args(secured.options())
            .write_stdin(input),
    );
    assert_eq!(solved, (lines(&[UNIQUE_SOLVED, OTHER_SOLVED]), 0));
}

#[test]
fn variables_open_a_secured_server() {
    let secured = Secured::start();
    for command in COMMANDS {
        let variables = [
            ("SUDOKU_ENDPOINT", secured.server.endpoint.as_str()),
            ("SUDOKU_CA", "ca.pem"),
            ("SUDOKU_CERT", "client.pem"),
            ("SUDOKU_KEY", "client.key"),
            ("SUDOKU_TOKEN", TOKEN),
        ];
        succeeds(secured.command(command).envs(variables));
    }
}

#[test]
fn a_file_opens_a_secured_server_wherever_the_command_is_run() {
    let secured = Secured::start();
    secured.configure("sudoku/client.toml", "token-file = '../token'");
    for file in ["ca.pem", "client.pem", "client.key"] {
        fs::rename(secured.path(file), secured.path("sudoku").join(file)).unwrap();
    }
    let file = secured.path("sudoku/client.toml");
    for command in COMMANDS {
        let mut here = client();
        succeeds(here.args(command).env("XDG_CONFIG_HOME", secured.path("")));
        succeeds(client().args(command).env("SUDOKU_CLIENT_CONFIG", &file));
        succeeds(client().args(command).arg("--config").arg(&file));
    }
}

#[test]
fn an_option_comes_before_a_variable_and_that_before_the_file() {
    let secured = Secured::start();
    secured.configure("client.toml", "token = 'wrong'");
    let with_file = || secured.command(&["solve", "--config", "client.toml", UNIQUE]);
    let refused = |command: &mut Command| {
        let (error, status) = failure(command);
        assert_eq!(status, 3, "{error}");
        assert!(error.contains("UNAUTHENTICATED"), "{error}");
    };
    refused(&mut with_file());
    succeeds(with_file().env("SUDOKU_TOKEN", TOKEN));
    succeeds(
        with_file()
            .args(["--token-file", "token"])
            .env("SUDOKU_TOKEN", "wrong"),
    );
    fs::write(secured.path("other"), "wrong").unwrap();
    let other = secured.path("other");
    fs::set_permissions(&other, Permissions::from_mode(0o600)).unwrap();
    refused(
        with_file()
            .arg("--token-file")
            .arg(&other)
            .env("SUDOKU_TOKEN", TOKEN),
    );
    // A variable that is set to nothing says nothing.
    succeeds(with_file().env("SUDOKU_CA", "").env("SUDOKU_TOKEN", TOKEN));

    let nowhere = "https://127.0.0.1:1";
    let unreachable = |command: &mut Command| {
        let (error, status) = failure(command.env("SUDOKU_TOKEN", TOKEN));
        assert_eq!(status, 3, "{error}");
        assert!(error.contains("https://127.0.0.1:1: no connection"), "{error}");
    };
    unreachable(with_file().env("SUDOKU_ENDPOINT", nowhere));
    unreachable(
        with_file()
            .args(["--endpoint", nowhere])
            .env("SUDOKU_ENDPOINT", &secured.server.endpoint),
    );
    succeeds(
        with_file()
            .args(["--endpoint", &secured.server.endpoint])
            .env("SUDOKU_ENDPOINT", nowhere)
            .env("SUDOKU_TOKEN", TOKEN),
    );
}

#[test]
fn what_opens_nothing_is_3_and_says_why() {
    let secured = Secured::start();
    let endpoint = secured.server.endpoint.as_str();
    let files = ["--ca", "ca.pem", "--cert", "client.pem", "--key", "client.key"];
    for (options, reason) in [
        (&files[..], "UNAUTHENTICATED"),
        (&["--ca", "client.pem"], "certificate"),
        (&[][..], "certificate"),
        (
            &[&files[..], &["--server-name", "other.example"]].concat(),
            "other.example",
        ),
    ] {
        let (error, status) = failure(secured.command(&["ping", endpoint]).args(options));
        assert_eq!(status, 3, "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_connection_that_is_refused_says_why_in_every_command() {
    let secured = Secured::start();
    let https = secured.server.endpoint.as_str();
    let http = https.replacen("https", "http", 1);
    let bench: &[&str] = &["bench", "--count", "1"];
    for command in COMMANDS.into_iter().chain([bench]) {
        for (options, reason) in [
            (
                &["--endpoint", https, "--ca", "ca.pem"][..],
                "it wants a certificate of the client",
            ),
            (
                &["--endpoint", &http],
                "it speaks TLS, and is an https:// endpoint",
            ),
        ] {
            let (error, status) = failure(secured.command(command).args(options));
            assert_eq!(status, 3, "{error}");
            assert!(error.contains(reason), "{error}");
        }
    }
}

#[test]
fn settings_that_cannot_be_are_2_and_say_which() {
    let secured = Secured::start();
    let endpoint = secured.server.endpoint.as_str();
    secured.configure("wrong.toml", "tokens = 'a'");
    fs::write(secured.path("empty"), "\n").unwrap();
    let http = "http://127.0.0.1:1";
    for (options, reason) in [
        (
            &["--endpoint", endpoint, "--ca", "missing.pem"][..],
            "cannot read missing.pem: ",
        ),
        (
            &["--endpoint", endpoint, "--cert", "client.pem"],
            "needs its key: --key",
        ),
        (
            &["--endpoint", endpoint, "--key", "client.key"],
            "needs its certificate: --cert",
        ),
        (
            &["--endpoint", endpoint, "--ca", "token"],
            "token holds no certificate in PEM",
        ),
        (
            &["--endpoint", endpoint, "--cert", "client.pem", "--key", "token"],
            "TLS cannot be used",
        ),
        (
            &["--endpoint", endpoint, "--token-file", "empty"],
            "empty holds no token",
        ),
        (&["--endpoint", http, "--ca", "ca.pem"], "need an https endpoint"),
        (
            &["--endpoint", "http://10.0.0.1:1", "--token-file", "token"],
            "unencrypted to http://10.0.0.1:1; --token-in-the-open allows that",
        ),
        (&["--config", "missing.toml"], "cannot read missing.toml: "),
        (
            &["--config", "wrong.toml"],
            "wrong.toml: line 5: unknown field `tokens`",
        ),
    ] {
        for command in COMMANDS {
            let (error, status) = failure(secured.command(command).args(options));
            assert_eq!(status, 2, "{error}");
            assert!(error.contains(reason), "{error}");
        }
    }
    // Never by argument.
    let (error, status) = failure(&mut secured.command(&["solve", "--token", TOKEN, UNIQUE]));
    assert_eq!(status, 2, "{error}");
}

#[test]
fn a_secret_that_others_can_read_is_warned_of() {
    let secured = Secured::start();
    secured.configure("client.toml", &format!("token = '{TOKEN}'"));
    let warning = |file: &str, command: &mut Command| {
        let path: &Path = &secured.path(file);
        fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
        let output = command.output().unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(output.status.code(), Some(0));
        let warning = text(output.stderr);
        assert_eq!(warning.lines().count(), 1, "{warning}");
        assert!(
            warning.contains(&format!("{file} holds a ")) && warning.contains("can be read by others"),
            "{warning}"
        );
        assert!(!warning.contains(TOKEN), "{warning}");
    };
    let by_file = ["solve", "--config", "client.toml", UNIQUE];
    warning("client.toml", &mut secured.command(&by_file));
    warning("client.key", &mut secured.command(&by_file));
    warning(
        "token",
        secured.command(&["solve", UNIQUE]).args(secured.options()),
    );
    // Without a secret in it the file is nobody's business.
    secured.configure("client.toml", "token-file = 'token'");
    fs::set_permissions(secured.path("client.toml"), Permissions::from_mode(0o644)).unwrap();
    succeeds(&mut secured.command(&by_file));
}

#[test]
fn several_endpoints_share_the_work() {
    let (one, mut other) = (Server::start(), Server::start());
    let both = ["--endpoint", &one.endpoint, "--endpoint", &other.endpoint];
    let joined = format!("{},{}", one.endpoint, other.endpoint);
    let input = lines(&[UNIQUE, OTHER]).repeat(3_000);
    let expected = (lines(&[UNIQUE_SOLVED, OTHER_SOLVED]).repeat(3_000), 0);
    assert_eq!(answer(solve().args(both).write_stdin(input.as_str())), expected);
    let (shown, status) = answer(client().args(["ping", "--count", "1"]).args(both));
    assert_eq!(status, 0, "{shown}");
    let asked: Vec<_> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("endpoint    "))
        .collect();
    assert_eq!(asked, [&one.endpoint, &other.endpoint]);

    // With one gone the other does it all, and a ping tells.
    other.process.kill();
    assert_eq!(
        answer(solve().env("SUDOKU_ENDPOINT", &joined).write_stdin(input)),
        expected
    );
    let output = client()
        .args(["ping", "--count", "1", &one.endpoint, &other.endpoint])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(text(output.stdout).contains("health      serving"));
    let error = text(output.stderr);
    assert!(
        error.starts_with(&format!("sudoku-client: {}: no connection", other.endpoint)),
        "{error}"
    );
}

#[test]
fn local_overrules_all_that_names_a_service() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("client.toml"), "endpoint = '127.0.0.1:1'\n").unwrap();
    let config = folder.path().join("client.toml");
    for command in [["solve", UNIQUE], ["check", UNIQUE]] {
        let with = |local: &[&str]| {
            let mut whole = client();
            whole
                .args(command)
                .args(local)
                .env("SUDOKU_CLIENT_CONFIG", &config);
            whole
        };
        assert_eq!(failure(&mut with(&[])).1, 3);
        assert_eq!(
            answer(with(&["--local"]).env("SUDOKU_ENDPOINT", "127.0.0.1:1")).1,
            0
        );
    }
}
