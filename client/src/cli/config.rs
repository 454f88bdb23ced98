//! The configuration file: endpoint and credentials.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::connection::{read_at_most, warn_of_readers};

/// The most bytes that the file may have.
const LONGEST: u64 = 64 << 10;

/// What the file says. Its keys are the names of the options.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    #[serde(deserialize_with = "one_or_several")]
    pub endpoint: Vec<String>,
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub server_name: Option<String>,
    pub token: Option<String>,
    pub token_file: Option<PathBuf>,
    pub token_in_the_open: bool,
}

impl Config {
    /// Reads the file at `path`, or else the user's own, if there is one.
    ///
    /// # Errors
    ///
    /// It cannot be read, or has what is no setting.
    pub fn load(path: Option<&Path>) -> anyhow::Result<Self> {
        match path {
            Some(path) => Self::read(path),
            None => match default_path(|name| env::var_os(name).map(PathBuf::from)) {
                Some(path) if path.exists() => Self::read(&path),
                _ => Ok(Self::default()),
            },
        }
    }

    fn read(path: &Path) -> anyhow::Result<Self> {
        let unreadable = || format!("cannot read {}", path.display());
        let text = read_at_most(path, LONGEST).with_context(unreadable)?;
        let text = String::from_utf8(text).with_context(unreadable)?;
        let config: Self = match toml::from_str(&text) {
            Ok(config) => config,
            // Its own text shows the line, which may hold the token.
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(&text, span.start));
                anyhow::bail!("{}: line {line}: {}", path.display(), error.message());
            }
        };
        ensure!(
            config.token.is_none() || config.token_file.is_none(),
            "{}: token and token-file exclude each other",
            path.display()
        );
        if config.token.is_some() {
            warn_of_readers(path, "token");
        }
        Ok(config.relative_to(path.parent().unwrap_or(Path::new(""))))
    }

    /// Paths are taken from the file's folder: it is read wherever the command is run.
    fn relative_to(mut self, folder: &Path) -> Self {
        for path in [&mut self.ca, &mut self.cert, &mut self.key, &mut self.token_file] {
            *path = path.take().map(|path| folder.join(path));
        }
        self
    }
}

/// The line of the byte at `offset`, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    let before = text.bytes().take(offset);
    1 + before.filter(|&byte| byte == b'\n').count()
}

/// Where the file is looked for: the folder for configuration that the system's users have, after the XDG base directory
/// specification but on Windows.
fn default_path(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path: &PathBuf| path.is_absolute());
    let folder = match cfg!(windows) {
        true => absolute("APPDATA"),
        false => absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config"))),
    };
    folder.map(|folder| folder.join("sudoku/client.toml"))
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "an endpoint or an array of them")]
    enum Endpoints {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Endpoints::deserialize(deserializer)? {
        Endpoints::One(endpoint) => vec![endpoint],
        Endpoints::Several(endpoints) => endpoints,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("client.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path).map_err(|error| {
            let error = format!("{error:#}");
            error.replace(&format!("{}: ", path.display()), "")
        })
    }

    #[test]
    fn endpoints_are_one_or_several() {
        assert_eq!(read("endpoint = 'a:1'").unwrap().endpoint, ["a:1"]);
        assert_eq!(
            read("endpoint = ['a:1', 'b:2']").unwrap().endpoint,
            ["a:1", "b:2"]
        );
        assert!(read("").unwrap().endpoint.is_empty());
    }

    #[test]
    fn what_is_wrong_has_its_line_and_shows_no_secret() {
        let error = |text| read(text).err().unwrap();
        assert!(
            error("\ntokem = 'secret'").starts_with("line 2: unknown field `tokem`"),
            "{}",
            error("\ntokem = 'secret'")
        );
        for text in ["token = 'secret' 'more'", "token = 'secret", "token = ['secret']"] {
            let error = error(text);
            assert!(
                error.starts_with("line 1: ") && !error.contains("secret"),
                "{error}"
            );
        }
        assert_eq!(
            error("token = 'a'\ntoken-file = 'b'"),
            "token and token-file exclude each other"
        );
        assert!(error(&"#".repeat(65 << 10)).contains("more than 64 KiB"));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_where_the_user_keeps_such_files() {
        let path = |set: &[(&str, &str)]| {
            default_path(|name| {
                set.iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| value.into())
            })
        };
        let expected = |text: &str| Some(PathBuf::from(text));
        assert_eq!(
            path(&[("HOME", "/home/u")]),
            expected("/home/u/.config/sudoku/client.toml")
        );
        assert_eq!(
            path(&[("HOME", "/home/u"), ("XDG_CONFIG_HOME", "/etc/x")]),
            expected("/etc/x/sudoku/client.toml")
        );
        // The specification has relative ones ignored.
        assert_eq!(
            path(&[("HOME", "/home/u"), ("XDG_CONFIG_HOME", "x")]),
            expected("/home/u/.config/sudoku/client.toml")
        );
        assert_eq!(path(&[]), None);
    }
}
