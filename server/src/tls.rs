//! Encryption: TLS, and certificates asked of clients.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{InvalidMessage, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use x509_parser::time::ASN1Time;

use crate::listener::Transport;
use crate::watched::{FileError, Problem, Watched};

/// The server's certificate and key, and whose certificates clients must have. Clones share them.
#[derive(Debug, Clone)]
pub struct Tls(Arc<Watched<ServerConfig>>);

/// The places of the files in the list that is watched.
const CERTIFICATE: usize = 0;
const KEY: usize = 1;
const CLIENT_CA: usize = 2;

impl Tls {
    /// Reads PEM files: the certificate, followed by those of the authorities between it and the root; its key; and, to take
    /// only clients with a certificate, those of the authorities that may have issued it.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or holds something else, a certificate that has expired, or a key that is not its own.
    pub fn load(certificate: PathBuf, key: PathBuf, client_ca: Option<PathBuf>) -> Result<Self, FileError> {
        let mut files = vec![certificate, key];
        files.extend(client_ca);
        Ok(Self(Arc::new(Watched::load(files, config)?)))
    }

    /// Reads the files again if they have changed, and says in the log what came of it. Connections go on with what they
    /// began with; new ones get the new certificate, or the old one if the new one is no good.
    pub fn refresh(&self) {
        match self.0.refresh() {
            Ok(true) => tracing::info!("new connections get the new certificate"),
            Ok(false) => {}
            Err(error) => tracing::error!(%error, "the new certificate is no good; the old one is kept"),
        }
    }

    /// Does the handshake, for HTTP/2 or, where that is asked for, also for HTTP/1.1.
    pub(crate) async fn accept<T: Transport>(&self, stream: T, http1: bool) -> io::Result<TlsStream<T>> {
        let mut config = self.0.current();
        if http1 {
            Arc::make_mut(&mut config)
                .alpn_protocols
                .push(b"http/1.1".to_vec());
        }
        let accepted = TlsAcceptor::from(config).accept(stream).await;
        accepted.map_err(|error| match is_plain(&error) {
            true => io::Error::other("no TLS came; perhaps the client has http:// where https:// is needed"),
            false => error,
        })
    }
}

/// Whether the client did not even try to speak TLS.
fn is_plain(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref());
    matches!(
        error,
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType))
    )
}

fn config(files: &[Vec<u8>]) -> Result<ServerConfig, (usize, Problem)> {
    let certificates = certificates(&files[CERTIFICATE])
        .and_then(unexpired)
        .map_err(|problem| (CERTIFICATE, problem))?;
    let key = PrivateKeyDer::from_pem_slice(&files[KEY])
        .map_err(|error| (KEY, content("no private key in PEM form")(error)))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of TLS 1.2 and 1.3");
    let builder = match files.get(CLIENT_CA) {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let roots = roots(file).map_err(|problem| (CLIENT_CA, problem))?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|error| (CLIENT_CA, Problem::content(error)))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder
        .with_single_cert(certificates, key)
        .map_err(|error| (CERTIFICATE, Problem::content(error)))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

fn certificates(file: &[u8]) -> Result<Vec<CertificateDer<'static>>, Problem> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(file).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(Problem::content("no certificate in PEM form")),
        Err(error) => Err(content("no certificate in PEM form")(error)),
    }
}

/// Refuses what no client would take. A certificate that is not valid yet soon will be, or the clock is wrong.
fn unexpired(certificates: Vec<CertificateDer<'static>>) -> Result<Vec<CertificateDer<'static>>, Problem> {
    for certificate in &certificates {
        let (_, parsed) = x509_parser::parse_x509_certificate(certificate)
            .map_err(content("a certificate that cannot be read"))?;
        let end = parsed.validity().not_after;
        if end < ASN1Time::now() {
            return Err(Problem::content(format!("the certificate expired on {end}")));
        }
    }
    Ok(certificates)
}

fn roots(file: &[u8]) -> Result<RootCertStore, Problem> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(Problem::content)?;
    }
    Ok(roots)
}

fn content<E: Display>(what: &'static str) -> impl Fn(E) -> Problem {
    move |error| Problem::content(format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(certificate: &str, key: &str, client_ca: &str) -> Result<(), usize> {
        let files = [certificate, key, client_ca].map(|file| file.as_bytes().to_vec());
        config(&files).map(drop).map_err(|(file, _)| file)
    }

    #[test]
    fn what_is_wrong_is_said_of_its_file() {
        let made = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (one, other) = (made(), made());
        let certificate = one.cert.pem();
        let key = one.signing_key.serialize_pem();
        assert_eq!(check(&certificate, &key, &certificate), Ok(()));
        assert_eq!(check("", &key, &certificate), Err(CERTIFICATE));
        assert_eq!(check(&key, &key, &certificate), Err(CERTIFICATE));
        assert_eq!(check(&certificate[..100], &key, &certificate), Err(CERTIFICATE));
        assert_eq!(check(&certificate, "", &certificate), Err(KEY));
        assert_eq!(check(&certificate, &certificate, &certificate), Err(KEY));
        assert_eq!(check(&certificate, &key, "none"), Err(CLIENT_CA));
        let other_key = other.signing_key.serialize_pem();
        assert_eq!(check(&certificate, &other_key, &certificate), Err(CERTIFICATE));
    }

    #[test]
    fn an_expired_certificate_is_no_good() {
        let key = rcgen::KeyPair::generate().unwrap();
        let valid_until = |year| {
            let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_after = rcgen::date_time_ymd(year, 1, 1);
            params.self_signed(&key).unwrap().pem()
        };
        let key_pem = key.serialize_pem();
        let files = |certificate: String| [certificate.into_bytes(), key_pem.clone().into_bytes()];
        config(&files(valid_until(2999))).unwrap();
        let (file, problem) = config(&files(valid_until(2020))).unwrap_err();
        assert_eq!(file, CERTIFICATE);
        assert!(problem.to_string().contains("expired on"), "{problem}");
        // One of those between it and the root has expired.
        config(&files(valid_until(2999) + &valid_until(2020))).unwrap_err();
    }
}
