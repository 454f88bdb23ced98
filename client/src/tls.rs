//! Whom the client trusts, and who it is itself.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::Error;
use crate::endpoints::unbracketed;

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
    /// Certificates of authorities, in PEM.
    trusted: Vec<Vec<u8>>,
    /// Its certificate and key, in PEM.
    identity: Option<(Vec<u8>, Vec<u8>)>,
    server_name: Option<String>,
}

impl Tls {
    /// Trusts whom the system trusts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts servers with certificates of these authorities, in PEM, and no longer whom the system trusts.
    pub fn trust(mut self, authorities: impl AsRef<[u8]>) -> Self {
        self.trusted.push(authorities.as_ref().to_vec());
        self
    }

    /// Shows servers this certificate, with its chain, and proves with the key that it is its owner's (mutual TLS). Both
    /// in PEM.
    pub fn identity(mut self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Self {
        self.identity = Some((certificate.as_ref().to_vec(), key.as_ref().to_vec()));
        self
    }

    /// Expects certificates for this name instead of the endpoint's host.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// What encrypts connections to a server that is called by `host`, and the name that its certificate has to be for.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for what is no certificate, key or name.
    pub(crate) fn connector(&self, host: &str) -> Result<(TlsConnector, ServerName<'static>), Error> {
        let unusable = |cause| Error::config(format!("TLS cannot be used as it is set: {cause}"));
        let config = self.config().map_err(unusable)?;
        let name = self.server_name.as_deref().unwrap_or(unbracketed(host));
        let name = ServerName::try_from(name.to_owned())
            .map_err(|_| unusable(format!("{name:?} is no name that a certificate may be for")))?;
        Ok((TlsConnector::from(Arc::new(config)), name))
    }

    fn config(&self) -> Result<ClientConfig, String> {
        let provider = CryptoProvider::get_default().cloned();
        let builder = ClientConfig::builder_with_provider(
            provider.unwrap_or_else(|| Arc::new(ring::default_provider())),
        )
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(self.roots()?);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| no("key", &error))?;
                builder
                    .with_client_auth_cert(certificates(certificate)?, key)
                    .map_err(|error| error.to_string())?
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        if self.trusted.is_empty() {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        for authorities in &self.trusted {
            roots.add_parsable_certificates(certificates(authorities)?);
        }
        match roots.is_empty() {
            true => Err("there is no authority to trust".to_owned()),
            false => Ok(roots),
        }
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err(no("certificate", &pem::Error::NoItemsFound)),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(no("certificate", &error)),
    }
}

fn no(what: &str, error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => format!("there is no {what} in PEM form"),
        error => format!("the {what} cannot be read: {error}"),
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
