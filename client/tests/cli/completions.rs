//! Completions and the manual.

use std::process::{Command, Stdio};

use crate::support::{answer, client};

const COMMANDS: [&str; 5] = ["solve", "check", "ping", "completions", "man"];

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
            manual.contains(&format!(".SH \"{}\"", command.to_uppercase())),
            "{command}"
        );
    }
    for text in ["\\-\\-resume", "Exit status", "SUDOKU_ENDPOINT"] {
        assert!(manual.contains(text), "{text}");
    }
}
