//! Whom the client trusts, and who it is itself.

use std::fmt;

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

/// How `https` endpoints are reached: by default servers whose certificates the system trusts, with none of one's own.
///
/// ```no_run
/// use sudoku_client::{SudokuClient, Tls};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = Tls::new()
///     .trust(std::fs::read("ca.pem")?)
///     .identity(std::fs::read("client.pem")?, std::fs::read("client.key")?);
/// let client = SudokuClient::builder()
///     .endpoint("https://sudoku.example:50051")
///     .tls(tls)
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Tls {
    trusted: Vec<Certificate>,
    identity: Option<Identity>,
    server_name: Option<String>,
}

impl Tls {
    /// Trusts whom the system trusts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts servers with certificates of these authorities, in PEM, and no longer whom the system trusts.
    pub fn trust(mut self, authorities: impl AsRef<[u8]>) -> Self {
        self.trusted.push(Certificate::from_pem(authorities));
        self
    }

    /// Shows servers this certificate, with its chain, and proves with the key that it is its owner's (mutual TLS). Both
    /// in PEM.
    pub fn identity(mut self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Self {
        self.identity = Some(Identity::from_pem(certificate, key));
        self
    }

    /// Expects certificates for this name instead of the endpoint's host.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// For a server that is called by `host`, where that is not in its URI.
    pub(crate) fn config(&self, host: Option<&str>) -> ClientTlsConfig {
        let mut config = match self.trusted.as_slice() {
            [] => ClientTlsConfig::new().with_native_roots(),
            trusted => ClientTlsConfig::new().ca_certificates(trusted.iter().cloned()),
        };
        if let Some(identity) = &self.identity {
            config = config.identity(identity.clone());
        }
        match self.server_name.as_deref().or(host) {
            Some(name) => config.domain_name(name),
            None => config,
        }
    }
}

/// Without the key.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("trusted", &self.trusted.len())
            .field("has_identity", &self.identity.is_some())
            .field("server_name", &self.server_name)
            .finish()
    }
}
