//! Completions and the manual.

use std::process::{Command, Stdio};

use crate::support::{answer, client};

const COMMANDS: [&str; 6] = ["solve", "check", "ping", "bench", "completions", "man"];

#[test]
fn every_shell_has_completions_for_all_commands() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let (script, status) = answer(client().args(["completions", shell]));
        assert_eq!(status, 0);
        for word in COMMANDS.into_iter().chain(["time-limit", "resume"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(script.contains("sudoku-client"), "{shell}");
    }
}

#[test]
fn bash_completes_with_them() {
    let (script, _) = answer(client().args(["completions", "bash"]));
    let function = script
        .lines()
        .find_map(|line| line.trim().strip_suffix("() {"))
        .unwrap();
    let ask = format!(
        "COMP_WORDS=(sudoku-client solve --res); COMP_CWORD=2; \
         {function} sudoku-client --res solve; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let Ok(output) = Command::new("bash")
        .args(["-c", &format!("{script}\n{ask}")])
        .stdin(Stdio::null())
        .output()
    else {
        eprintln!("bash is not there and not tested");
        return;
    };
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "--resume\n",
        "{output:?}"
    );
}

#[test]
fn the_manual_has_all_commands_with_exit_statuses_and_environment() {
    let (manual, status) = answer(client().arg("man"));
    assert_eq!(status, 0);
    assert!(manual.contains(".TH sudoku-client 1"), "{manual}");
    for command in COMMANDS {
        assert!(
            manual.contains(&format!(".SH {}", command.to_uppercase())),
            "{command}"
        );
    }
    for text in [
        "\\-\\-resume",
        "Exit status",
        "SUDOKU_ENDPOINT",
        "show servers",
        "143",
    ] {
        assert!(manual.to_lowercase().contains(&text.to_lowercase()), "{text}");
    }
    // There are no other pages, and each heading says what is below it.
    assert!(!manual.contains("(1)") && !manual.contains("EXTRA"), "{manual}");
}

#[test]
fn the_manual_is_shown_without_complaint_and_its_tables_as_they_are() {
    let (manual, _) = answer(client().arg("man"));
    let page = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(page.path(), manual).unwrap();
    let mut groff = Command::new("groff");
    groff.args(["-man", "-Tascii", "-P-cbou", "-ww", "-rLL=100n"]);
    let Ok(output) = groff.arg(page.path()).output() else {
        eprintln!("groff is not there and the manual's look not tested");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let shown = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = shown.lines().map(str::trim).collect();
    for line in [
        "sudoku-client solve puzzles.txt",
        "0      every puzzle has exactly one solution (with --limit 1: a solution)",
        "130    ended by Ctrl-C",
        "143    ended by SIGTERM",
        "SUDOKU_ENDPOINT",
        "the service, where --endpoint names none",
        "-o, --output FILE",
    ] {
        assert!(words.contains(&line), "{line:?} in {shown}");
    }
}
