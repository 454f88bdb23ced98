//! How servers are reached: which ones, whom to trust, and with what credentials.
//!
//! Each setting comes from its flag, else its variable, else the configuration file.

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::builder::{OsStringValueParser, TypedValueParser};
use sudoku_client::{ClientBuilder, SudokuClient, Tls};

use super::config::Config;
use super::note;

/// The variable that has the token. There is no flag for it: arguments are for all to see.
const TOKEN: &str = "SUDOKU_TOKEN";

/// The most bytes of a file with a token, a key or certificates.
const LONGEST: u64 = 1 << 20;

/// What can be said about servers on the command line, or in variables.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Send the work to this service, such as https://sudoku.example:50051; may be given several times
    ///
    /// http://HOST:PORT, https://HOST:PORT or unix:PATH; HOST:PORT alone is http://HOST:PORT. Several share the work, and what one of them fails goes to
    /// another. In the variable they are separated by commas.
    #[arg(
        long,
        value_name = "URL",
        env = "SUDOKU_ENDPOINT",
        hide_env_values = true,
        value_delimiter = ','
    )]
    #[arg(help_heading = HEADING)]
    pub endpoint: Vec<String>,

    /// Trust servers with certificates of the authorities in this PEM file, instead of those that the system trusts
    #[arg(long, value_name = "FILE", env = "SUDOKU_CA", hide_env_values = true, value_parser = path())]
    #[arg(help_heading = HEADING)]
    ca: Option<PathBuf>,

    /// Show servers the certificate in this PEM file
    #[arg(long, value_name = "FILE", env = "SUDOKU_CERT", hide_env_values = true, value_parser = path())]
    #[arg(help_heading = HEADING, hide_short_help = true)]
    cert: Option<PathBuf>,

    /// The key of the certificate, in a PEM file
    #[arg(long, value_name = "FILE", env = "SUDOKU_KEY", hide_env_values = true, value_parser = path())]
    #[arg(help_heading = HEADING, hide_short_help = true)]
    key: Option<PathBuf>,

    /// Expect certificates for this name instead of the endpoint's host
    #[arg(long, value_name = "NAME", env = "SUDOKU_SERVER_NAME", hide_env_values = true)]
    #[arg(help_heading = HEADING, hide_short_help = true)]
    server_name: Option<String>,

    /// Carry the token in this file; SUDOKU_TOKEN may have the token itself
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    token_file: Option<PathBuf>,

    /// Send the token also where nothing is encrypted, as in a network that encrypts by itself
    #[arg(long, help_heading = HEADING, hide_short_help = true)]
    token_in_the_open: bool,

    /// Read endpoint and credentials from this file [default: sudoku/client.toml in $XDG_CONFIG_HOME or ~/.config]
    ///
    /// It is TOML with the long names of these options as keys, and `token`. Options and variables come before it.
    #[arg(long, value_name = "FILE", env = "SUDOKU_CLIENT_CONFIG", hide_env_values = true, value_parser = path())]
    #[arg(help_heading = HEADING, hide_short_help = true)]
    config: Option<PathBuf>,
}

/// Under which the options stand in help.
pub const HEADING: &str = "Service";

/// A path that may be empty, as that of a variable which is set to nothing.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Servers, and how they are reached.
#[derive(Debug, Clone)]
pub struct Connection {
    endpoints: Vec<String>,
    /// Without endpoints and TLS.
    settings: ClientBuilder,
    tls: Option<Tls>,
}

impl Connection {
    /// Finds out what is asked for. `None` where no endpoint is named.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is wrong, or settings do not go together.
    pub fn load(args: Args) -> anyhow::Result<Option<Self>> {
        let args = args.without_empty_ones();
        let config = Config::load(args.config.as_deref())?;
        let endpoints = match args.endpoint.is_empty() {
            true => config.endpoint.clone(),
            false => args.endpoint.clone(),
        };
        if endpoints.is_empty() {
            return Ok(None);
        }
        let mut settings =
            SudokuClient::builder().token_in_the_open(args.token_in_the_open || config.token_in_the_open);
        if let Some(token) = token(&args, &config)? {
            settings = settings.token(token);
        }
        let encrypted = endpoints.iter().any(|endpoint| is_encrypted(endpoint));
        let asked = Identity::of(args.cert, args.key, args.ca, args.server_name);
        ensure!(
            encrypted || asked.is_empty(),
            "--ca, --cert, --key and --server-name, and SUDOKU_CA and so on, need an https endpoint"
        );
        let known = Identity::of(config.cert, config.key, config.ca, config.server_name);
        Ok(Some(Self {
            endpoints,
            settings,
            tls: encrypted.then(|| asked.or(known).tls()).transpose()?,
        }))
    }

    /// The endpoints, as they were named.
    pub fn endpoints(&self) -> &[String] {
        &self.endpoints
    }

    /// How errors name them.
    pub fn name(&self) -> String {
        self.endpoints.join(", ")
    }

    /// Builds a client of these servers.
    pub fn builder(&self) -> ClientBuilder {
        self.builder_for(&self.endpoints)
    }

    /// Builds a client of some of these servers.
    pub fn builder_for(&self, endpoints: &[String]) -> ClientBuilder {
        let builder = self.settings.clone().endpoints(endpoints);
        match &self.tls {
            Some(tls) if endpoints.iter().any(|endpoint| is_encrypted(endpoint)) => builder.tls(tls.clone()),
            _ => builder,
        }
    }
}

impl Args {
    /// A variable that is set to nothing says nothing.
    fn without_empty_ones(mut self) -> Self {
        self.endpoint.retain(|endpoint| !endpoint.is_empty());
        for path in [&mut self.ca, &mut self.cert, &mut self.key, &mut self.config] {
            path.take_if(|path| path.as_os_str().is_empty());
        }
        self.server_name.take_if(|name| name.is_empty());
        self
    }
}

fn is_encrypted(endpoint: &str) -> bool {
    endpoint
        .get(..6)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
}

/// Files for TLS, and the name that servers are expected to have.
#[derive(Debug, Default)]
struct Identity {
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    ca: Option<PathBuf>,
    server_name: Option<String>,
}

impl Identity {
    fn of(
        cert: Option<PathBuf>,
        key: Option<PathBuf>,
        ca: Option<PathBuf>,
        server_name: Option<String>,
    ) -> Self {
        Self {
            cert,
            key,
            ca,
            server_name,
        }
    }

    fn is_empty(&self) -> bool {
        self.cert.is_none() && self.key.is_none() && self.ca.is_none() && self.server_name.is_none()
    }

    /// What is missing here is taken from `other`; a certificate only together with its key.
    fn or(self, other: Self) -> Self {
        let (cert, key) = match (&self.cert, &self.key) {
            (None, None) => (other.cert, other.key),
            _ => (self.cert, self.key),
        };
        Self {
            cert,
            key,
            ca: self.ca.or(other.ca),
            server_name: self.server_name.or(other.server_name),
        }
    }

    fn tls(self) -> anyhow::Result<Tls> {
        let mut tls = Tls::new();
        if let Some(ca) = &self.ca {
            let authorities = read(ca)?;
            // Else nobody would be trusted, and each server be said to be wrong.
            ensure!(
                memchr::memmem::find(&authorities, b"-----BEGIN CERTIFICATE-----").is_some(),
                "{} holds no certificate in PEM",
                ca.display()
            );
            tls = tls.trust(authorities);
        }
        tls = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => {
                warn_of_readers(key, "key");
                tls.identity(read(cert)?, read(key)?)
            }
            (None, None) => tls,
            (Some(_), None) => bail!("a certificate needs its key: --key"),
            (None, Some(_)) => bail!("a key needs its certificate: --cert"),
        };
        Ok(match self.server_name {
            Some(name) => tls.server_name(name),
            None => tls,
        })
    }
}

/// The token, from the first place that has one.
fn token(args: &Args, config: &Config) -> anyhow::Result<Option<String>> {
    if let Some(path) = &args.token_file {
        return token_in(path).map(Some);
    }
    if let Some(token) = env::var_os(TOKEN).filter(|token| !token.is_empty()) {
        return match token.into_string() {
            Ok(token) => Ok(Some(token)),
            Err(_) => bail!("{TOKEN} is not UTF-8"),
        };
    }
    match (&config.token, &config.token_file) {
        (Some(token), _) => Ok(Some(token.clone())),
        (None, Some(path)) => token_in(path).map(Some),
        (None, None) => Ok(None),
    }
}

fn token_in(path: &Path) -> anyhow::Result<String> {
    warn_of_readers(path, "token");
    let unreadable = || format!("cannot read {}", path.display());
    let token = String::from_utf8(read(path)?).with_context(unreadable)?;
    let token = token.trim();
    ensure!(!token.is_empty(), "{} holds no token", path.display());
    Ok(token.to_owned())
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_at_most(path, LONGEST).with_context(|| format!("cannot read {}", path.display()))
}

/// What a file holds, if that is at most `most` bytes.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {} KiB", most >> 10)));
    }
    Ok(bytes)
}

/// Says so where a file with a secret can be read by others than its owner.
#[cfg(unix)]
pub fn warn_of_readers(path: &Path, secret: &str) {
    use std::os::unix::fs::PermissionsExt;

    let others = |mode: u32| mode & 0o044 != 0;
    if path
        .metadata()
        .is_ok_and(|found| found.is_file() && others(found.permissions().mode()))
    {
        note(format_args!(
            "warning: {} holds a {secret} and can be read by others; chmod 600 keeps it secret",
            path.display()
        ));
    }
}

/// Permissions of other systems are not told by a number.
#[cfg(not(unix))]
pub fn warn_of_readers(_: &Path, _: &str) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_counts_more_and_a_key_is_never_anothers() {
        let typed = Identity {
            cert: Some("typed.pem".into()),
            server_name: Some("typed".into()),
            ..Identity::default()
        };
        let file = Identity {
            cert: Some("file.pem".into()),
            key: Some("file.key".into()),
            ca: Some("file-ca.pem".into()),
            server_name: Some("file".into()),
        };
        let both = typed.or(file);
        assert_eq!((both.cert, both.key), (Some("typed.pem".into()), None));
        assert_eq!(both.ca, Some("file-ca.pem".into()));
        assert_eq!(both.server_name.as_deref(), Some("typed"));
    }
}
