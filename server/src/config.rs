//! Where the value of a setting comes from: flag over environment over file over default.
//!
//! [`Args`] defines the settings as flags. A file's values take the place of the flags' defaults, so clap does the rest: it
//! reads them with the same parsers, and says what is wrong with one in the same words.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};
use sudoku_engine::IsaError;
use sudoku_server::{Settings, SettingsError};
use toml::{Table, Value};

use crate::args::{Args, MustBe};

const PREFIX: &str = "SUDOKU_";

/// What is no setting, although it is a flag.
const NO_SETTINGS: [&str; 2] = ["config", "print-config"];

/// The settings in force, and where each came from.
#[derive(Debug)]
pub struct Config {
    pub args: Args,
    command: Command,
    matches: ArgMatches,
    file: File,
}

/// The settings of a file, by key; each as it would be typed. Nothing if there is no file.
#[derive(Debug, Default)]
struct File {
    path: PathBuf,
    values: BTreeMap<String, Vec<String>>,
}

impl Config {
    /// Reads the command line, the environment, and the file that one of them names.
    ///
    /// # Errors
    ///
    /// A [`clap::Error`] about the command line or the environment, also to give help; or what is wrong with the file.
    pub fn load(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<Self> {
        let arguments: Vec<_> = arguments.into_iter().collect();
        let command = command().mut_args(|arg| match is_set(&arg) {
            true => arg,
            false => arg.env(None),
        });
        let explained = |error| explain(error, &arguments, &command);
        let matches = command
            .clone()
            .try_get_matches_from(&arguments)
            .map_err(explained)?;
        let file = match matches.get_one::<PathBuf>("config") {
            Some(path) => File::read(path, &command).with_context(|| path.display().to_string())?,
            None => File::default(),
        };
        let layered = file
            .values
            .iter()
            .fold(command.clone(), |command, (key, values)| {
                command.mut_arg(id(key), |arg| arg.default_values(values.clone()))
            });
        let matches = layered.try_get_matches_from(&arguments).map_err(explained)?;
        Ok(Self {
            args: Args::from_arg_matches(&matches)?,
            command,
            matches,
            file,
        })
    }

    /// The settings in force, as a file that [`Config::load`] reads to the same effect.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for arg in settings(&self.command) {
            let key = key(arg);
            let values = self.toml_values(arg);
            let line = match values.as_slice() {
                [] => writeln!(text, "# {key} is not set"),
                [value] => writeln!(text, "{key} = {value}"),
                several => writeln!(text, "{key} = {}", Value::from(several.to_vec())),
            };
            line.expect("a string takes all");
        }
        text
    }

    /// The values of a setting as [`texts`] reads them.
    fn toml_values(&self, arg: &Arg) -> Vec<Value> {
        let id = arg.get_id().as_str();
        if Type::of(arg) == Type::Truth {
            return self
                .matches
                .get_one::<bool>(id)
                .map(|&truth| truth.into())
                .into_iter()
                .collect();
        }
        let texts = self.matches.get_raw(id).into_iter().flatten();
        texts
            .map(|text| toml_value(Type::of(arg), &text.to_string_lossy()))
            .collect()
    }

    /// Says of a setting outside its range where it was set.
    pub fn blame(&self, error: &SettingsError) -> String {
        let SettingsError {
            setting,
            value,
            range,
        } = error;
        let key = setting.replace('_', "-");
        let allowed = match settings(&self.command).find(|arg| self::key(arg) == key) {
            Some(arg) => range_of(arg, range),
            None => range.clone(),
        };
        format!("{}: {}", self.origin(&key), wrong(value, &allowed))
    }

    /// Where the setting of this key was set.
    pub fn origin(&self, key: &str) -> String {
        match self.matches.value_source(&id(key)) {
            Some(ValueSource::EnvVariable) => variable(key),
            Some(ValueSource::DefaultValue) if self.file.values.contains_key(key) => {
                format!("{}: {key}", self.file.path.display())
            }
            _ => format!("--{key}"),
        }
    }
}

/// The most bytes of a file with settings.
const LONGEST_FILE: u64 = 1 << 20;

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?
        .take(LONGEST_FILE + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(io::Error::other("it has more than 1 MiB"));
    }
    Ok(text)
}

impl File {
    fn read(path: &Path, command: &Command) -> anyhow::Result<Self> {
        let text = read(path).context("cannot read the file")?;
        let table: Table = text.parse().context("not TOML")?;
        let mut values = BTreeMap::new();
        for (key, value) in table {
            let Some(arg) = settings(command).find(|arg| self::key(arg) == key) else {
                bail!("{key}: there is no such setting");
            };
            let texts = texts(arg, &value).with_context(|| key.clone())?;
            check(&key, &texts, command).with_context(|| key.clone())?;
            values.insert(key, texts);
        }
        Ok(Self {
            path: path.to_owned(),
            values,
        })
    }
}

/// The flags, each with its variable.
fn command() -> Command {
    Args::command().mut_args(|arg| match arg.get_long() {
        Some(long) if long != "print-config" => {
            let variable = variable(long);
            arg.env(variable)
        }
        _ => arg,
    })
}

/// The flags that are settings.
fn settings(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| {
        arg.get_long()
            .is_some_and(|long| !NO_SETTINGS.contains(&long) && long != "help" && long != "version")
    })
}

fn key(setting: &Arg) -> &str {
    setting.get_long().expect("every setting is a flag")
}

/// What clap calls the setting of a key.
fn id(key: &str) -> String {
    key.replace('-', "_")
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('-', "_").to_uppercase())
}

/// Whether a variable is to be looked at. One that is set to nothing says nothing, as with `sudoku-client`.
fn is_set(arg: &Arg) -> bool {
    let value = arg.get_env().and_then(env::var_os);
    value.is_none_or(|value| !value.is_empty())
}

/// What a setting is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Truth,
    Number,
    /// A number, or a word in its place.
    Threads,
    Time,
    Text,
    /// A text, or a list of them.
    Texts,
}

impl Type {
    fn of(arg: &Arg) -> Self {
        let id = arg.get_value_parser().type_id();
        let is_one_of = |types: &[TypeId]| types.iter().any(|known| id == *known);
        match () {
            () if is_one_of(&[TypeId::of::<bool>()]) => Self::Truth,
            () if is_one_of(&[TypeId::of::<u32>(), TypeId::of::<usize>(), TypeId::of::<f64>()]) => {
                Self::Number
            }
            () if is_one_of(&[TypeId::of::<NonZeroUsize>()]) => Self::Threads,
            () if is_one_of(&[TypeId::of::<Duration>()]) => Self::Time,
            () if arg.get_value_delimiter().is_some() => Self::Texts,
            () => Self::Text,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Truth => "true or false, without quotes",
            Self::Number => "a number, without quotes",
            Self::Threads => r#"a number, or "auto""#,
            Self::Time => r#"a string with a time and its unit, as in "30s" or "500ms""#,
            Self::Text => "a string",
            Self::Texts => "a string, or a list of strings",
        }
    }

    /// What a value would be on the command line, if it is one of this type and no list.
    fn text(self, value: &Value) -> Option<String> {
        match (self, value) {
            (Self::Truth, Value::Boolean(truth)) => Some(truth.to_string()),
            (Self::Number | Self::Threads, Value::Integer(number)) => Some(number.to_string()),
            (Self::Number, Value::Float(number)) => Some(number.to_string()),
            (Self::Threads | Self::Time | Self::Text | Self::Texts, Value::String(text)) => {
                Some(text.clone())
            }
            _ => None,
        }
    }
}

/// What a value of a file would be on the command line.
fn texts(arg: &Arg, value: &Value) -> anyhow::Result<Vec<String>> {
    let kind = Type::of(arg);
    let texts = match value {
        Value::Array(values) if kind == Type::Texts && !values.is_empty() => {
            values.iter().map(|value| kind.text(value)).collect()
        }
        one => kind.text(one).map(|text| vec![text]),
    };
    texts.ok_or_else(|| anyhow!("{}; it must be {}", what_is(value, kind), kind.expected()))
}

/// What a value of another type is, or a list that is none of this type.
fn what_is(value: &Value, kind: Type) -> String {
    match value {
        Value::Array(values) if kind == Type::Texts => {
            match values.iter().find(|value| kind.text(value).is_none()) {
                Some(other) => format!("it is a list with a value of type {}", other.type_str()),
                None => "it is an empty list".to_owned(),
            }
        }
        other => format!("it is of type {}", other.type_str()),
    }
}

/// Reads a value of a file by itself, so that what is wrong with it is not said of the command line.
fn check(key: &str, texts: &[String], command: &Command) -> anyhow::Result<()> {
    let typed = texts.iter().map(|text| format!("--{key}={text}"));
    let arguments = ["sudoku-server".to_owned()].into_iter().chain(typed);
    let Err(error) = command.clone().try_get_matches_from(arguments) else {
        return Ok(());
    };
    match wrong_value(&error, command) {
        Some((_, problem)) => bail!(problem),
        None => bail!("{}", error.to_string().lines().next().unwrap_or_default()),
    }
}

/// Says of a wrong value where it came from, and what it may be. All else is said as clap does.
fn explain(error: clap::Error, arguments: &[OsString], command: &Command) -> anyhow::Error {
    let Some((arg, problem)) = wrong_value(&error, command) else {
        return error.into();
    };
    let flag = format!("--{}", key(arg));
    let is_flag = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text == flag || text.starts_with(&format!("{flag}="))
    };
    match arguments.iter().any(is_flag) {
        true => anyhow!("{flag}: {problem}"),
        false => anyhow!("{}: {problem}", variable(key(arg))),
    }
}

/// The setting whose value could not be read, and what is wrong with it.
fn wrong_value<'a>(error: &clap::Error, command: &'a Command) -> Option<(&'a Arg, String)> {
    if !matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
        return None;
    }
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let value = context(ContextKind::InvalidValue)?;
    // As `--max-solves <N>` or `--insecure[=<BOOL>]`.
    let name = context(ContextKind::InvalidArg)?.strip_prefix("--")?;
    let name = name.split([' ', '[', '=']).next()?;
    let arg = settings(command).find(|arg| key(arg) == name)?;
    let value = format!("{value:?}");
    let source = error.source();
    let problem = match (allowed(arg), source) {
        (Some(allowed), _) => wrong(&value, &allowed),
        (None, Some(source)) => match source.downcast_ref() {
            Some(MustBe(allowed)) => wrong(&value, allowed),
            // It says the name.
            None if source.is::<IsaError>() => source.to_string(),
            None => format!("it is {value}: {source}"),
        },
        (None, None) if value == NOTHING => "it is empty".to_owned(),
        (None, None) => format!("it is {value}"),
    };
    Some((arg, problem))
}

/// What a setting may be, where that is easily said.
fn allowed(arg: &Arg) -> Option<String> {
    if let Some(range) = Settings::range(&arg.get_id().as_str().replace('-', "_")) {
        return Some(range_of(arg, &range));
    }
    if Type::of(arg) == Type::Truth {
        return Some("true or false".to_owned());
    }
    let values = arg.get_possible_values();
    let names: Vec<_> = values.iter().map(|value| value.get_name()).collect();
    (!names.is_empty()).then(|| names.join(" or "))
}

/// A range with what else there is to say of the values of this setting.
fn range_of(arg: &Arg, range: &str) -> String {
    match Type::of(arg) {
        Type::Threads => format!("auto, or {range}"),
        Type::Time => format!("a time of {range} with its unit, as in 30s or 500ms"),
        _ => range.to_owned(),
    }
}

/// A value that is empty, in quotes.
const NOTHING: &str = r#""""#;

fn wrong(value: &str, allowed: &str) -> String {
    match value {
        NOTHING => format!("it is empty; it must be {allowed}"),
        _ => format!("it is {value}; it must be {allowed}"),
    }
}

/// Variables that look like settings and are none, each with the setting that may be meant.
pub fn unknown_variables(names: impl IntoIterator<Item = OsString>) -> Vec<(String, Option<String>)> {
    let command = command();
    let known: Vec<_> = settings(&command)
        .map(|arg| variable(key(arg)))
        .chain(OTHER_VARIABLES.map(str::to_owned))
        .collect();
    let mut unknown = Vec::new();
    for name in names {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
            continue;
        };
        if known.iter().any(|known| known == name) || is_of_kubernetes(name) {
            continue;
        }
        let likeness = |known: &&String| strsim::normalized_levenshtein(name, known);
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let nearest = nearest.filter(|known| likeness(known) > LIKE);
        unknown.push((name.to_owned(), nearest.cloned()));
    }
    unknown
}

/// How like a name must be to one that is known, 0 to 1, to be taken for it.
const LIKE: f64 = 0.75;

/// The variable that names the file, and those of `sudoku-client`.
const OTHER_VARIABLES: [&str; 8] = [
    "SUDOKU_CONFIG",
    "SUDOKU_CA",
    "SUDOKU_CERT",
    "SUDOKU_CLIENT_CONFIG",
    "SUDOKU_ENDPOINT",
    "SUDOKU_KEY",
    "SUDOKU_SERVER_NAME",
    "SUDOKU_TOKEN",
];

/// Whether it is one of those that Kubernetes sets in every container for a service whose name begins with `sudoku`.
fn is_of_kubernetes(name: &str) -> bool {
    name.ends_with("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.ends_with("_PORT")
        || name.contains("_PORT_")
}

/// A value that was typed, as TOML.
fn toml_value(kind: Type, text: &str) -> Value {
    if !matches!(kind, Type::Number | Type::Threads) {
        return text.into();
    }
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(number)) => number.into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use tempfile::NamedTempFile;

    use super::*;
    use crate::args::Mode;

    fn file(text: &str) -> NamedTempFile {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn load(file: &NamedTempFile, flags: &[&str]) -> anyhow::Result<Config> {
        let config = format!("--config={}", file.path().display());
        let arguments = ["sudoku-server", &config];
        Config::load(arguments.iter().chain(flags).map(OsString::from))
    }

    #[test]
    fn a_flag_counts_more_than_the_file_and_that_more_than_the_default() {
        let file = file("max-solves = 3\nmax-streams = 4\ndrain-deadline = '2s'\ninsecure = true");
        let config = load(&file, &["--max-solves=5", "--insecure=false"]).unwrap();
        let settings = config.args.settings();
        assert_eq!((settings.max_solves, settings.max_streams), (5, 4));
        assert_eq!(settings.drain_deadline.as_secs(), 2);
        assert!(!config.args.insecure);
        assert_eq!(settings.max_connections, 1_024);
    }

    #[test]
    fn a_list() {
        let file = file("listen = ['127.0.0.1:1', 'unix:/run/s']");
        let config = load(&file, &[]).unwrap();
        assert_eq!(config.args.listen.len(), 2);
        assert!(
            config
                .to_toml()
                .contains(r#"listen = ["127.0.0.1:1", "unix:/run/s"]"#)
        );
        let config = load(&file, &["--listen=127.0.0.1:2"]).unwrap();
        assert_eq!(config.args.listen.len(), 1);
    }

    #[test]
    fn what_is_printed_reads_as_it_was() {
        let written = file("max-solves = 7\nlisten = ['127.0.0.1:1', '[::1]:2']\nthreads = 3");
        let first = load(&written, &["--socket-mode=060"]).unwrap();
        let again = load(&file(&first.to_toml()), &[]).unwrap();
        assert_eq!(again.args.settings(), first.args.settings());
        assert_eq!(again.args.listen, first.args.listen);
        assert_eq!(again.args.socket_mode, Mode(0o060));
        assert_eq!(again.to_toml(), first.to_toml());
    }

    #[test]
    fn a_wrong_file_is_named_with_the_key_and_the_reason() {
        for (text, parts) in [
            ("max-solves = -1", ["max-solves", "1 to 1000000"]),
            ("drain-deadline = 'soon'", ["drain-deadline", "0s to 24h"]),
            ("log-format = 'xml'", ["log-format", "text or json"]),
            ("max_solves = 1", ["max_solves", "no such setting"]),
            ("config = 'other.toml'", ["config", "no such setting"]),
            ("help = true", ["help", "no such setting"]),
            ("max-solves = ", ["not TOML", "line 1"]),
        ] {
            let file = file(text);
            let error = format!("{:#}", load(&file, &[]).unwrap_err());
            for part in parts.into_iter().chain([file.path().to_str().unwrap()]) {
                assert!(error.contains(part), "{text}: {error}");
            }
        }
    }

    #[test]
    fn a_value_of_another_type_is_told_with_the_one_that_is_expected() {
        let truth = "true or false, without quotes";
        let number = "a number, without quotes";
        let time = r#"a string with a time and its unit, as in "30s" or "500ms""#;
        for (text, key, is, expected) in [
            ("insecure = 1", "insecure", "integer", truth),
            ("insecure = 'true'", "insecure", "string", truth),
            ("max-solves = 'many'", "max-solves", "string", number),
            ("max-solves = [1, 2]", "max-solves", "array", number),
            ("[max-solves]\na = 1", "max-solves", "table", number),
            ("trace-share = true", "trace-share", "boolean", number),
            ("threads = 1.5", "threads", "float", r#"a number, or "auto""#),
            ("drain-deadline = 30", "drain-deadline", "integer", time),
            ("socket-mode = 0o640", "socket-mode", "integer", "a string"),
            ("tls-cert = ['a', 'b']", "tls-cert", "array", "a string"),
        ] {
            let file = file(text);
            let error = format!("{:#}", load(&file, &[]).unwrap_err());
            let expected = format!("{key}: it is of type {is}; it must be {expected}");
            assert_eq!(error, format!("{}: {expected}", file.path().display()));
        }
    }

    #[test]
    fn a_list_that_is_none_is_told_with_what_is_wrong_in_it() {
        for (text, is) in [
            ("listen = []", "an empty list"),
            ("listen = ['unix:a', 1]", "a list with a value of type integer"),
        ] {
            let file = file(text);
            let error = format!("{:#}", load(&file, &[]).unwrap_err());
            let expected = format!("listen: it is {is}; it must be a string, or a list of strings");
            assert_eq!(error, format!("{}: {expected}", file.path().display()));
        }
    }

    #[test]
    fn what_is_printed_has_the_types_that_a_file_has() {
        let written = file("threads = 'auto'\nsocket-mode = '600'\ntrace-share = 0.5");
        let printed = load(&written, &["--insecure=1", "--max-solves=+5"])
            .unwrap()
            .to_toml();
        for line in [
            "threads = \"auto\"\n",
            "socket-mode = \"600\"\n",
            "trace-share = 0.5\n",
            "insecure = true\n",
            "max-solves = 5\n",
        ] {
            assert!(printed.contains(line), "{line}: {printed}");
        }
        load(&file(&printed), &[]).unwrap();
    }

    #[test]
    fn a_value_out_of_range_is_traced_to_where_it_was_set() {
        let file = file("max-solution-limit = 1");
        let config = load(&file, &["--max-streams=0"]).unwrap();
        let error = config.args.settings().check().unwrap_err();
        let text = config.blame(&error);
        assert!(text.starts_with(file.path().to_str().unwrap()), "{text}");
        assert!(
            text.ends_with(": max-solution-limit: it is 1; it must be 2 to 4294967295"),
            "{text}"
        );
        assert_eq!(config.origin("max-streams"), "--max-streams");
    }

    #[test]
    fn every_setting_has_a_group_and_a_value_that_a_variable_can_give() {
        for arg in settings(&command()) {
            assert!(arg.get_help_heading().is_some(), "{arg}");
            assert!(arg.get_action().takes_values(), "{arg}");
            assert_eq!(arg.get_env().unwrap(), variable(key(arg)).as_str());
        }
    }

    #[test]
    fn every_limit_is_set_by_the_flag_of_its_name() {
        let mut limits = 0;
        for arg in settings(&command()) {
            let id = arg.get_id().as_str();
            if Settings::range(id).is_none() {
                continue;
            }
            let value = if Type::of(arg) == Type::Time {
                "7777s"
            } else {
                "7777"
            };
            let flag = format!("--{}={value}", key(arg));
            let config = Config::load(["sudoku-server", &flag].map(OsString::from)).unwrap();
            let shown = format!("{:?}", config.args.settings());
            assert!(shown.contains(&format!(" {id}: {value}")), "{flag}: {shown}");
            assert_eq!(shown.matches(value).count(), 1, "{flag}: {shown}");
            limits += 1;
        }
        assert!(limits > 20, "{limits}");
    }

    #[test]
    fn variables_that_are_none() {
        let unknown = |name: &str| unknown_variables([OsString::from(name)]);
        for known in [
            "SUDOKU_MAX_SOLVES",
            "SUDOKU_SIMD",
            "SUDOKU_TOKEN",
            "PATH",
            "SUDOKU_PORT_50051_TCP",
            "SUDOKU_SERVICE_HOST",
        ] {
            assert_eq!(unknown(known), [], "{known}");
        }
        let meant = Some("SUDOKU_MAX_SOLVES".to_owned());
        assert_eq!(
            unknown("SUDOKU_MAX_SOLVE"),
            [("SUDOKU_MAX_SOLVE".to_owned(), meant)]
        );
        assert_eq!(unknown("SUDOKU_XYZ"), [("SUDOKU_XYZ".to_owned(), None)]);
    }

    /// The tables of `docs/operating.md`: a group of settings each.
    fn tables() -> String {
        let command = command();
        let mut text = String::new();
        let mut group = None;
        for arg in settings(&command) {
            if group != arg.get_help_heading() {
                group = arg.get_help_heading();
                let heading = group.unwrap();
                write!(
                    text,
                    "\n### {heading}\n\n| key | default | what it is |\n|---|---:|---|\n"
                )
                .unwrap();
            }
            let default = arg.get_default_values().join(",".as_ref());
            let default = match default.to_str().unwrap() {
                "" => "not set".to_owned(),
                default => format!("`{default}`"),
            };
            writeln!(
                text,
                "| `{}` | {default} | {} |",
                key(arg),
                arg.get_help().unwrap()
            )
            .unwrap();
        }
        text
    }

    #[test]
    fn the_page_for_operators_has_every_setting() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operating.md");
        let page = fs::read_to_string(page).unwrap();
        let tables = tables();
        assert!(
            page.contains(&tables),
            "docs/operating.md needs these tables:\n{tables}"
        );
    }
}
