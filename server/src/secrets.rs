//! The files with certificates, keys and tokens, which may change while the server runs.

use std::time::Duration;

use anyhow::anyhow;
use sudoku_server::{FileError, Front, Tls, Tokens};

use crate::config::Config;
use crate::signals::Hangups;

/// What the files hold. Clones share it.
#[derive(Debug, Clone)]
pub struct Secrets {
    tls: Option<Tls>,
    tokens: Option<Tokens>,
}

impl Secrets {
    /// Reads the files that the settings name.
    pub fn load(config: &Config) -> anyhow::Result<Self> {
        let args = &config.args;
        let tls = match (&args.tls_cert, &args.tls_key) {
            (Some(certificate), Some(key)) => {
                let tls = Tls::load(certificate.clone(), key.clone(), args.tls_client_ca.clone());
                Some(tls.map_err(|error| blame(config, &error))?)
            }
            _ => None,
        };
        let tokens = args.token_file.clone().map(Tokens::load).transpose();
        Ok(Self {
            tls,
            tokens: tokens.map_err(|error| blame(config, &error))?,
        })
    }

    /// Puts them in front of the service.
    pub fn guard(self, front: Front) -> Front {
        let front = match self.tls {
            Some(tls) => front.tls(tls),
            None => front,
        };
        match self.tokens {
            Some(tokens) => front.tokens(tokens),
            None => front,
        }
    }

    /// Looks at the files now and then, and at each signal, for as long as it is polled.
    pub async fn keep_fresh(self, mut hangups: Hangups, interval: Duration) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                () = hangups.next() => tracing::info!("looking whether certificates or tokens have changed"),
            }
            let secrets = self.clone();
            // It reads files.
            let looked = tokio::task::spawn_blocking(move || secrets.refresh()).await;
            if let Err(error) = looked {
                tracing::error!(%error, "cannot look at certificates and tokens");
            }
        }
    }

    fn refresh(&self) {
        if let Some(tls) = &self.tls {
            tls.refresh();
        }
        if let Some(tokens) = &self.tokens {
            tokens.refresh();
        }
    }
}

/// Says where the file that is no good is named.
fn blame(config: &Config, error: &FileError) -> anyhow::Error {
    let args = &config.args;
    let settings = [
        ("tls-cert", &args.tls_cert),
        ("tls-key", &args.tls_key),
        ("tls-client-ca", &args.tls_client_ca),
        ("token-file", &args.token_file),
    ];
    let named = settings
        .iter()
        .find(|(_, file)| file.as_deref() == Some(error.path()));
    match named {
        Some((setting, _)) => anyhow!("{}: {error}", config.origin(setting)),
        None => anyhow!("{error}"),
    }
}
