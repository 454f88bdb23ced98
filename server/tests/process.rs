//! The program: what it prints, how it ends on signals, and its exit status.
#![cfg(unix)]

mod support;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::time::Instant;

use sudoku_proto::v1::sudoku_service_client::SudokuServiceClient;
use sudoku_proto::v1::{Outcome, SolveManyRequest, SolveOptions, SolveRequest};
use support::{PATIENCE, PUZZLE, Server, Signal, command, refused, solve};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;

/// Counts the solutions of the empty grid, which takes longer than any test.
fn endless() -> SolveRequest {
    SolveRequest {
        puzzle: ".".repeat(81),
        options: Some(SolveOptions {
            solution_limit: u32::MAX,
            omit_solutions: true,
            time_limit: None,
        }),
    }
}

const ENDLESS: [&str; 2] = ["--max-solution-limit=4294967295", "--default-time-limit=60s"];

/// Starts a call that does not end by itself, and waits until the server refuses one more: the first one runs. It may
/// be the first one that is refused, if it meets the other in the server's only place; then it is made again.
async fn start_endless_call(server: &Server) -> tokio::task::JoinHandle<Result<(), tonic::Status>> {
    let client = server.client().await;
    let mut second = client.clone();
    let start = || {
        let mut client = client.clone();
        tokio::spawn(async move { client.solve(endless()).await.map(drop) })
    };
    let mut call = start();
    let begin = Instant::now();
    while second.solve(solve(PUZZLE)).await.is_ok() || call.is_finished() {
        if call.is_finished() {
            call = start();
        }
        assert!(begin.elapsed() < PATIENCE, "the call does not start");
    }
    call
}

/// Waits until the server says that it takes no more calls.
async fn until_draining(server: &Server) {
    let begin = Instant::now();
    loop {
        let mut health = HealthClient::new(server.channel().await);
        let response = health.check(HealthCheckRequest::default()).await.unwrap();
        if response.into_inner().status() == ServingStatus::NotServing {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "the server does not drain");
    }
}

#[tokio::test]
async fn prints_its_address_serves_and_ends_on_either_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::start(&[]);
        assert!(server.address.ip().is_loopback());
        let mut client = server.client().await;
        let result = client.solve(solve(PUZZLE)).await.unwrap().into_inner().result;
        assert_eq!(result.unwrap().outcome(), Outcome::Unique);
        server.signal(signal);
        assert_eq!(server.ended().await, (Some(0), String::new()));
    }
}

#[tokio::test]
async fn a_signal_ends_an_open_stream_after_its_answers() {
    let server = Server::start(&[]);
    let mut client = server.client().await;
    let (send, messages) = mpsc::channel(8);
    let message = SolveManyRequest {
        puzzles: vec![PUZZLE.into(); 100],
        options: None,
    };
    let answers = client.solve_many(ReceiverStream::new(messages)).await.unwrap();
    let mut answers = answers.into_inner();
    send.send(message).await.unwrap();
    assert_eq!(answers.message().await.unwrap().unwrap().results.len(), 100);

    server.signal(Signal::TERM);
    let status = answers.message().await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unavailable);
    assert_eq!(status.get_details_error_info().unwrap().reason, "DRAINING");
    assert_eq!(server.ended().await.0, Some(0));
}

#[tokio::test]
async fn the_drain_deadline_cuts_calls_off() {
    let server = Server::start(&[ENDLESS[0], ENDLESS[1], "--max-solves=1", "--drain-deadline=100ms"]);
    let call = start_endless_call(&server).await;
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(1));
    call.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let server = Server::start(&[ENDLESS[0], ENDLESS[1], "--max-solves=1", "--drain-deadline=1h"]);
    let call = start_endless_call(&server).await;
    server.signal(Signal::TERM);
    until_draining(&server).await;
    assert!(!call.is_finished());
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(1));
    call.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn settings_come_from_the_environment_too() {
    let mut command = command();
    command
        .env("SUDOKU_LISTEN", "127.0.0.1:0")
        .env("SUDOKU_MAX_PUZZLES_PER_MESSAGE", "7");
    let server = Server::spawn(&mut command);
    let mut client = server.client().await;
    let info = client.get_server_info(sudoku_proto::v1::GetServerInfoRequest {});
    assert_eq!(info.await.unwrap().into_inner().max_puzzles_per_message, 7);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn there_may_be_as_many_files_as_connections_need() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // So many with which it starts, and so many that it may ask for.
    let start = |soft: u32, hard: u32| {
        let script = format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$@\"");
        let server = command();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script, "sh"]).arg(server.get_program());
        shell.args(["--listen=127.0.0.1:0", "--max-connections=300"]);
        Server::spawn_with_log(&mut shell, fs::File::create(&log).unwrap())
    };
    let open_files = |server: &Server| {
        let limits = fs::read_to_string(format!("/proc/{}/limits", server.process.id())).unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max open files"))
            .unwrap();
        line.split_whitespace().nth(3).unwrap().parse::<u32>().unwrap()
    };
    let told = || fs::read_to_string(&log).unwrap().contains("fewer open files");
    let server = start(100, 1_000);
    assert_eq!((open_files(&server), told()), (428, false));
    let server = start(100, 200);
    assert_eq!((open_files(&server), told()), (200, true));
    server.client().await.solve(solve(PUZZLE)).await.unwrap();
}

#[test]
fn a_port_that_is_taken() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let text = refused(command().args(["--listen", &address]));
    assert!(text.contains(&address), "{text}");
    assert!(text.to_lowercase().contains("in use"), "{text}");
}

#[tokio::test]
async fn other_machines_are_let_in_only_on_request() {
    let text = refused(command().args(["--listen", "0.0.0.0:0"]));
    assert!(text.contains("--insecure"), "{text}");
    let server = Server::spawn(command().args(["--listen", "0.0.0.0:0", "--insecure"]));
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
}

#[test]
fn wrong_usage() {
    let cases: [(&[&str], &str); 6] = [
        (&["--listen", "nowhere"], "--listen"),
        (&["--threads", "0"], "--threads"),
        (&["--max-solution-limit", "1"], "--max-solution-limit"),
        (&["--drain-deadline", "soon"], "--drain-deadline"),
        (&["--default-time-limit", "2m"], "--default-time-limit"),
        (&["--guess"], "--guess"),
    ];
    for (arguments, named) in cases {
        let text = refused(command().args(arguments));
        assert!(text.contains(named), "{text}");
    }
    let text = refused(command().env("RUST_LOG", "a=b=c"));
    assert!(text.contains("RUST_LOG"), "{text}");
}

#[test]
fn a_wrong_value_is_told_once_with_where_it_was_set_and_what_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sudoku.toml");
    let range = "it must be 1 to 1000000";
    for (value, told) in [
        ("many", r#"it is "many""#),
        ("-1", r#"it is "-1""#),
        ("0", "it is 0"),
    ] {
        let expected = |place: &str| format!("sudoku-server: {place}: {told}; {range}\n");
        let flag = format!("--max-solves={value}");
        assert_eq!(refused(command().arg(flag)), expected("--max-solves"));
        let variable = ("SUDOKU_MAX_SOLVES", value);
        assert_eq!(
            refused(command().env(variable.0, variable.1)),
            expected("SUDOKU_MAX_SOLVES")
        );
        // In a file a word is of the wrong type, which is told otherwise.
        if value == "many" {
            continue;
        }
        fs::write(&path, format!("max-solves = {value}")).unwrap();
        assert_eq!(
            refused(command().arg("--config").arg(&path)),
            expected(&format!("{}: max-solves", path.display()))
        );
    }
    for (argument, told) in [
        ("--threads=0", r#"it is "0"; it must be auto, or 1 to 1024"#),
        (
            "--drain-deadline=soon",
            r#"it is "soon"; it must be a time of 0s to 24h with its unit, as in 30s or 500ms"#,
        ),
        (
            "--drain-delay=30",
            r#"it is "30"; it must be a time of 0s to 24h with its unit, as in 30s or 500ms"#,
        ),
        (
            "--max-time-limit=25h",
            "it is 25h; it must be a time of 1ns to 24h with its unit, as in 30s or 500ms",
        ),
        (
            "--simd=mmx",
            r#"--simd: it is "mmx"; it must be auto, portable, avx2, avx2-no-pext or avx512"#,
        ),
        (
            "--insecure=perhaps",
            r#"it is "perhaps"; it must be true or false"#,
        ),
        ("--max-solves=", "it is empty; it must be 1 to 1000000"),
        ("--log-format=xml", r#"it is "xml"; it must be text or json"#),
        (
            "--reload-interval=1ns",
            r#"it is "1ns"; it must be a time of 10ms to 24h with its unit, as in 30s or 500ms"#,
        ),
        (
            "--tls-cert=/nowhere/a",
            "tls-cert: /nowhere/a: cannot read the file: No such file or directory (os error 2)",
        ),
    ] {
        let text = refused(command().args([argument, "--tls-key=/nowhere/b"]));
        assert!(text.ends_with(&format!("{told}\n")), "{text}");
    }
}

#[test]
fn a_variable_that_is_set_to_nothing_is_as_one_that_is_not_set() {
    let print = |command: &mut std::process::Command| {
        let output = command.arg("--print-config").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let mut with_empty = command();
    for name in [
        "CONFIG",
        "MAX_SOLVES",
        "TLS_CERT",
        "LISTEN",
        "INSECURE",
        "SIMD",
        "ADMIN_LISTEN",
        "WEB_ORIGIN",
    ] {
        with_empty.env(format!("SUDOKU_{name}"), "");
    }
    assert_eq!(print(&mut with_empty), print(&mut command()));
}

#[test]
fn a_file_of_settings_is_at_most_a_mebibyte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sudoku.toml");
    let print = |bytes: usize| {
        fs::write(&path, "#".repeat(bytes - 1) + "\n").unwrap();
        let mut command = command();
        command.arg("--print-config").arg("--config").arg(&path);
        command
    };
    assert!(print(1 << 20).output().unwrap().status.success());
    let text = refused(&mut print((1 << 20) + 1));
    assert!(
        text.contains("1 MiB") && text.contains(path.to_str().unwrap()),
        "{text}"
    );
    // One without an end is not read to it.
    let text = refused(command().args(["--config", "/dev/zero"]));
    assert!(text.contains("1 MiB"), "{text}");
}

#[tokio::test]
async fn a_second_signal_while_no_call_runs_cuts_nothing_off() {
    let server = Server::start(&["--drain-delay=1h"]);
    let mut client = server.client().await;
    client.solve(solve(PUZZLE)).await.unwrap();
    server.signal(Signal::TERM);
    until_draining(&server).await;
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
}

#[tokio::test]
async fn the_instructions_to_solve_with() {
    for name in ["portable", "avx2", "avx2-no-pext", "avx512", "mmx"] {
        let arguments = ["--listen", "127.0.0.1:0"];
        if let Err(problem) = sudoku_engine::Isa::named(name) {
            for command in [
                command().args(arguments).env("SUDOKU_SIMD", name),
                command().args(arguments).args(["--simd", name]),
            ] {
                let text = refused(command);
                let named = match problem {
                    sudoku_engine::IsaError::Unknown { .. } => format!("it is {name:?}"),
                    _ => problem.to_string(),
                };
                assert!(text.contains(&named), "{text}");
            }
            continue;
        }
        let server = Server::spawn(command().args(arguments).env("SUDOKU_SIMD", name));
        let result = server
            .client()
            .await
            .solve(solve(PUZZLE))
            .await
            .unwrap()
            .into_inner()
            .result;
        assert_eq!(result.unwrap().outcome(), Outcome::Unique);
    }
}

#[test]
fn help_and_version() {
    let help = command().arg("--help").output().unwrap();
    assert!(help.status.success());
    let text = String::from_utf8(help.stdout).unwrap();
    for part in [
        "SUDOKU_LISTEN",
        "SUDOKU_SIMD",
        "RUST_LOG",
        "Examples:",
        "Exit status:",
        "127.0.0.1:50051",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let version = command().arg("--version").output().unwrap();
    let text = String::from_utf8(version.stdout).unwrap();
    assert_eq!(text.trim(), concat!("sudoku-server ", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn settings_come_from_a_file_below_environment_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sudoku.toml");
    fs::write(
        &path,
        "listen = '127.0.0.1:0'\nmax-puzzles-per-message = 5\nmax-message-bytes = 1000\nmax-solution-limit = 9\n",
    )
    .unwrap();
    let mut command = command();
    command
        .env("SUDOKU_CONFIG", &path)
        .env("SUDOKU_MAX_MESSAGE_BYTES", "2000")
        .env("SUDOKU_MAX_SOLUTION_LIMIT", "8")
        .args(["--max-solution-limit", "7"]);
    let server = Server::spawn(&mut command);
    let info = server
        .client()
        .await
        .get_server_info(sudoku_proto::v1::GetServerInfoRequest {})
        .await
        .unwrap()
        .into_inner();
    assert_eq!(info.max_puzzles_per_message, 5);
    assert_eq!(info.max_message_bytes, 2_000);
    assert_eq!(info.max_solution_limit, 7);
}

#[test]
fn a_wrong_file_is_refused_before_a_port_is_bound() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sudoku.toml");
    for (line, named) in [
        ("max-solves = 'many'", "max-solves"),
        ("guess = 1", "guess"),
        ("max-solution-limit = 1", "max-solution-limit"),
        ("listen = '0.0.0.0:1'", "--insecure"),
    ] {
        fs::write(&path, line).unwrap();
        // The port is taken, and nobody is told: the settings were looked at before.
        let address = format!("--listen={}", taken.local_addr().unwrap());
        let mut command = command();
        command.arg("--config").arg(&path);
        if !line.starts_with("listen") {
            command.arg(address);
        }
        let text = refused(&mut command);
        assert!(text.contains(named), "{text}");
        assert!(!text.contains("in use"), "{text}");
        if named != "--insecure" {
            assert!(text.contains(path.to_str().unwrap()), "{text}");
        }
    }
    let text = refused(command().args(["--config", "/nowhere/sudoku.toml"]));
    assert!(text.contains("/nowhere/sudoku.toml"), "{text}");
}

#[test]
fn the_printed_settings_are_a_file_with_the_same_settings() {
    let print = |arguments: &[&str]| {
        let output = command().args(arguments).arg("--print-config").output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let text = print(&["--max-solves=3", "--listen=127.0.0.1:1,unix:/run/s"]);
    assert!(text.contains("max-solves = 3\n"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sudoku.toml");
    fs::write(&path, &text).unwrap();
    assert_eq!(print(&["--config", path.to_str().unwrap()]), text);
}

#[tokio::test]
async fn listens_in_several_places_and_takes_its_socket_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grpc.sock");
    // One that a server left behind: bound, and closed without being removed.
    drop(UnixListener::bind(&path).unwrap());
    let listen = format!("127.0.0.1:0,[::1]:0,unix:{}", path.display());
    let mut server = Server::spawn(command().args(["--listen", &listen, "--socket-mode=640"]));
    let mut announced = || server.process.line().unwrap();
    let second = announced();
    assert!(second.starts_with("[::1]:"), "{second}");
    assert_eq!(announced(), format!("unix:{}", path.display()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    for uri in [
        format!("http://{}", server.address),
        format!("http://{second}"),
        format!("unix:{}", path.display()),
    ] {
        let channel = Endpoint::from_shared(uri).unwrap().connect().await.unwrap();
        let mut client = SudokuServiceClient::new(channel);
        let result = client.solve(solve(PUZZLE)).await.unwrap().into_inner().result;
        assert_eq!(result.unwrap().outcome(), Outcome::Unique);
    }

    let text = refused(command().args(["--listen", &format!("unix:{}", path.display())]));
    assert!(text.contains("in use"), "another server listens there: {text}");
    server.signal(Signal::TERM);
    assert_eq!(server.ended().await.0, Some(0));
    assert!(!path.exists());

    fs::write(&path, "precious").unwrap();
    let text = refused(command().args(["--listen", &format!("unix:{}", path.display())]));
    assert!(text.contains("no socket"), "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}
