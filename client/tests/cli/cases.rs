//! Text as people hand it over: the cases of `parse.tsv`, ours and those beside the checkout, through the program.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{solve, text};

/// What one case gives: the puzzles, and what is said of all else.
struct Found {
    puzzles: Vec<String>,
    errors: Vec<String>,
}

/// Solves a file with this content.
fn read(content: &[u8]) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("puzzles");
    fs::write(&file, content).unwrap();
    let output = solve()
        .args(["--quiet", "--format", "jsonl"])
        .arg(&file)
        .output()
        .unwrap();
    let mut found = Found {
        puzzles: Vec::new(),
        errors: text(output.stderr).lines().map(str::to_owned).collect(),
    };
    for line in text(output.stdout).lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        match answer["error"].as_str() {
            Some(error) => found.errors.push(error.to_owned()),
            None => found.puzzles.push(answer["input"].as_str().unwrap().to_owned()),
        }
    }
    found
}

/// The part of an error's text that a case asks for: its place, or what is wrong where there is no place.
fn wanted(expected: &str) -> String {
    let (code, place) = expected.split_once(' ').unwrap_or((expected, ""));
    match (code, place) {
        ("empty" | "no_puzzle", "") => "no puzzle".to_owned(),
        ("bad_char", place) => {
            let (line, rest) = place.split_once(':').unwrap();
            let column = rest.split_whitespace().next().unwrap();
            format!("line {line}, column {column}: ")
        }
        ("bad_value", place) => format!(
            "{} is {},",
            place.split_once(' ').unwrap().0,
            place.split_once(' ').unwrap().1
        ),
        ("not_utf8", place) => place.replace("byte", "byte offset"),
        (_, place) => place.to_owned(),
    }
}

/// What is wrong with what was found, if anything is.
fn fault(expected: &str, found: &Found) -> Option<String> {
    let (puzzles, errors) = match expected.split_once(" | error ") {
        Some((puzzles, error)) => (puzzles.strip_prefix("mixed ok").unwrap(), Some(error)),
        None => match expected.strip_prefix("error ") {
            Some(error) => ("", Some(error)),
            None => (expected.strip_prefix("ok").unwrap(), None),
        },
    };
    let puzzles: Vec<&str> = puzzles.split_whitespace().collect();
    if puzzles != found.puzzles {
        return Some(format!("puzzles {:?}", found.puzzles));
    }
    let errors: Vec<&str> = errors
        .into_iter()
        .flat_map(|errors| errors.split(" ; "))
        .collect();
    let named = errors.iter().zip(&found.errors);
    let all = named.clone().all(|(error, found)| found.contains(&wanted(error)));
    (errors.len() != found.errors.len() || !all).then(|| format!("errors {:?}", found.errors))
}

#[test]
fn every_case_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = fs::read_to_string(root.join("../tests/fixtures/parse.tsv")).unwrap();
    match fs::read_to_string(root.join("../../shared/cases/parse.tsv")) {
        Ok(others) => cases.push_str(&others),
        Err(error) => eprintln!("the cases beside the checkout are not tested: {error}"),
    }
    let mut faults = Vec::new();
    for case in cases.lines().filter(|line| !line.starts_with("id\t")) {
        let fields: Vec<&str> = case.split('\t').collect();
        let expected = String::from_utf8(unescape(fields[3])).unwrap();
        if let Some(fault) = fault(&expected, &read(&unescape(fields[1]))) {
            faults.push(format!("{}: {fault}\n  expected {expected}", fields[0]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend(before.as_bytes());
        let code = |end| u32::from_str_radix(&escape[1..end], 16).unwrap();
        let length = match escape.as_bytes()[0] {
            b'n' => push(&mut bytes, "\n"),
            b'r' => push(&mut bytes, "\r"),
            b't' => push(&mut bytes, "\t"),
            b'\\' => push(&mut bytes, "\\"),
            b'x' => {
                bytes.push(code(3) as u8);
                3
            }
            b'u' => {
                push(
                    &mut bytes,
                    char::from_u32(code(5)).unwrap().encode_utf8(&mut [0; 4]),
                );
                5
            }
            other => panic!("unknown escape {other} in {text}"),
        };
        rest = &escape[length..];
    }
    bytes.extend(rest.as_bytes());
    bytes
}

/// Adds a text, and returns the length of the escape that stands for it.
fn push(bytes: &mut Vec<u8>, text: &str) -> usize {
    bytes.extend(text.as_bytes());
    1
}
