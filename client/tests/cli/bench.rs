//! `bench`: against a real server, and in this process.

use serde_json::Value;

use crate::server::Server;
use crate::support::{EMPTY, SHORT, TWO, UNIQUE, answer, client, failure, lines, text};

/// Runs a bench and returns what it says in JSON, and its exit status.
fn bench(arguments: &[&str]) -> (Value, i32) {
    let mut command = client();
    let (shown, status) = answer(command.args(["bench", "--format", "json"]).args(arguments));
    assert_eq!(shown.lines().count(), 1, "{shown}");
    (serde_json::from_str(&shown).unwrap(), status)
}

/// Checks that all that can be added up is.
#[track_caller]
fn adds_up(report: &Value) {
    let number = |value: &Value| value.as_u64().unwrap();
    let sum = |values: &Value| values.as_object().unwrap().values().map(number).sum::<u64>();
    assert_eq!(sum(&report["outcomes"]), number(&report["answered"]), "{report}");
    assert_eq!(sum(&report["errors"]), number(&report["failed"]), "{report}");
    let rows = report["histogram"].as_array().unwrap();
    let counted: u64 = rows.iter().map(|row| number(&row["count"])).sum();
    assert_eq!(counted, number(&report["answered"]), "{report}");
    for times in ["latency_ms", "service_time_ms"] {
        let time = |name: &str| report[times][name].as_f64().unwrap();
        let ascending = ["min", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max"].map(time);
        assert!(ascending.is_sorted() && ascending[0] > 0.0, "{report}");
    }
}

#[test]
fn so_many_puzzles_are_sent_and_counted_in_both_ways_to_both_services() {
    let server = Server::start();
    for service in [&["--endpoint", &server.endpoint][..], &["--local"]] {
        for mode in ["unary", "stream"] {
            let arguments = ["--mode", mode, "--concurrency", "3", "--count", "50", UNIQUE, TWO];
            let (report, status) = bench(&[service, &arguments].concat());
            assert_eq!(status, 0, "{report}");
            assert_eq!(report["answered"], 50, "{report}");
            assert_eq!(report["outcomes"]["unique"], 25, "{report}");
            assert_eq!(report["outcomes"]["multiple"], 25, "{report}");
            assert_eq!(report["mode"], mode);
            assert_eq!(report["interrupted"], false);
            adds_up(&report);
        }
    }
}

#[test]
fn a_rate_and_a_time_say_how_many_are_due() {
    for mode in ["unary", "stream"] {
        let arguments = [
            "--mode",
            mode,
            "--rate",
            "200",
            "--duration",
            "250ms",
            "--local",
            UNIQUE,
        ];
        let (report, status) = bench(&arguments);
        assert_eq!(status, 0, "{report}");
        let sum = report["answered"].as_u64().unwrap() + report["unsent"].as_u64().unwrap();
        assert_eq!(sum, 50, "{report}");
        adds_up(&report);
    }
}

#[test]
fn people_get_percentiles_and_a_histogram() {
    let (shown, status) = answer(client().args(["bench", "--local", "--count", "100", "--rate", "1000"]));
    assert_eq!(status, 0, "{shown}");
    for part in [
        "service   in this process\n",
        "load      16 calls at once, 1000 puzzles a second\n",
        "answered  100 puzzles, ",
        "outcomes  60 unique, 20 multiple, 20 unsolvable\n",
        "failed    0\n",
        "   in ms       latency  service time\n",
        "    50 %  ",
        " 99.99 %  ",
        "          latency in ms       puzzles\n",
        "  #",
    ] {
        assert!(shown.contains(part), "{part:?} in {shown}");
    }
}

#[test]
fn failed_calls_are_counted_by_their_code() {
    let server = Server::start_with("http", &["--max-solves", "1"]);
    let endpoint = ["--endpoint", &server.endpoint];
    let long = ["--limit", "10000", "--count", "64", EMPTY];
    let (report, status) = bench(&[&endpoint[..], &long].concat());
    assert_eq!(status, 3, "{report}");
    let errors = report["errors"].as_object().unwrap();
    assert!(
        errors["RESOURCE_EXHAUSTED (OVERLOADED)"].as_u64().unwrap() > 0,
        "{report}"
    );
    assert_eq!(errors.len(), 1, "{report}");
    adds_up(&report);
}

#[test]
fn without_an_answer_there_is_no_latency() {
    let late = [
        "--local",
        "--timeout",
        "1us",
        "--limit",
        "10000",
        "--count",
        "20",
        EMPTY,
    ];
    let (report, status) = bench(&late);
    assert_eq!(status, 3, "{report}");
    assert_eq!(report["answered"], 0, "{report}");
    assert_eq!(
        report["errors"],
        serde_json::json!({ "DEADLINE_EXCEEDED": 20 }),
        "{report}"
    );
    assert_eq!(report["latency_ms"], Value::Null);
}

#[test]
fn a_service_that_is_not_there_is_3() {
    let (error, status) = failure(client().args(["bench", "--endpoint", "http://127.0.0.1:1"]));
    assert_eq!(status, 3, "{error}");
    assert!(error.contains("http://127.0.0.1:1: no connection"), "{error}");
}

#[test]
fn what_cannot_be_sent_is_2() {
    for (arguments, reason) in [
        (&["missing.txt"][..], "cannot read missing.txt: "),
        (&["--rate", "0", UNIQUE], "it must be a number from 0.001"),
        (&["--concurrency", "0", UNIQUE], "0 is not in 1..=10000"),
        (&["--duration", "0s", UNIQUE], "it must be more than 0"),
        (&["--count", "0", UNIQUE], "invalid value '0'"),
    ] {
        let (error, status) = failure(client().arg("bench").args(arguments));
        assert_eq!(status, 2, "{error}");
        assert!(error.contains(reason), "{error}");
    }
    let (error, status) = failure(client().args(["bench", "-"]).write_stdin(lines(&[SHORT, SHORT])));
    assert_eq!(
        (error.as_str(), status),
        ("sudoku-client: standard input: line 1: 80 cells, need 81\n", 2)
    );
    // A file without any puzzle is not the one that was meant.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty"), "\n").unwrap();
    let files = ["bench", "empty", UNIQUE];
    let (error, status) = failure(client().current_dir(&folder).args(files));
    assert_eq!(
        (error.as_str(), status),
        ("sudoku-client: empty: no puzzle: the text is empty\n", 2)
    );
}

#[test]
fn lines_that_hold_no_puzzle_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = lines(&[UNIQUE, SHORT, "what", TWO]);
    std::fs::write(folder.path().join("puzzles"), file).unwrap();
    let files = ["bench", "--count", "20", "--format", "json", "puzzles"];
    let output = client().current_dir(&folder).args(files).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(output.stderr),
        "sudoku-client: left out as no puzzles: 2, the first at puzzles: line 2: 80 cells, need 81\n"
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["outcomes"]["unique"], 10, "{report}");
}

/// With a server that holds everything up, the latency is that of all that was due meanwhile: the correction for
/// coordinated omission.
#[cfg(unix)]
#[test]
fn a_service_that_stalls_is_charged_with_all_that_it_holds_up() {
    use std::process::Stdio;
    use std::time::Duration;

    use test_support::server::Signal;

    use crate::support::{raw_client, until};

    let (server, metrics) = Server::with_metrics();
    let child = raw_client()
        .args(["bench", "--format", "json", "--concurrency", "1", "--rate", "100"])
        .args(["--count", "200", "--endpoint", &server.endpoint, UNIQUE])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    until("calls are answered", || metrics.sum("sudoku_puzzles_total") > 0.0);
    server.process.signal(Signal::STOP);
    // So long that half of the puzzles are due meanwhile.
    std::thread::sleep(Duration::from_secs(1));
    server.process.signal(Signal::CONT);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["answered"], 200, "{report}");
    adds_up(&report);
    let time = |times: &str, name: &str| report[times][name].as_f64().unwrap();
    // One call was on its way, and a hundred were due, each a hundredth of a second after the other.
    assert!(time("latency_ms", "p75") >= 250.0, "{report}");
    assert!(
        time("service_time_ms", "p50") < time("latency_ms", "p75"),
        "{report}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_tells_what_was_measured() {
    use std::process::Stdio;

    use rustix::process::{Pid, Signal, kill_process};

    use crate::support::{raw_client, until};

    let (server, metrics) = Server::with_metrics();
    let child = raw_client()
        .args([
            "bench",
            "--format",
            "json",
            "--duration",
            "1h",
            "--endpoint",
            &server.endpoint,
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    until("calls are answered", || metrics.sum("sudoku_puzzles_total") > 0.0);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["interrupted"], true, "{report}");
    assert!(report["answered"].as_u64().unwrap() > 0, "{report}");
    adds_up(&report);
}
