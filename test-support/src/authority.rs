//! A certificate authority.

use std::fs;
use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;

/// A certificate authority, and a folder for what it issues.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    /// One that nobody knows yet, with an empty folder.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self {
            issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Its own certificate, in PEM form.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A new certificate for this name with its key, both in PEM form.
    pub fn issue(&self, name: &str) -> (String, String) {
        self.issue_until(name, 2999)
    }

    /// The same for one that expires when this year begins.
    pub fn issue_until(&self, name: &str, year: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a certificate with its key for a server, in place of those that were there.
    pub fn install(&self, (certificate, key): &(String, String)) {
        self.write("server.pem", certificate);
        self.write("server.key", key);
    }

    /// Installs a new certificate for `localhost`, and gives the arguments with which a server uses it.
    pub fn server_arguments(&self) -> [String; 4] {
        self.install(&self.issue("localhost"));
        let path = |name| self.path(name).to_str().unwrap().to_owned();
        [
            "--tls-cert".to_owned(),
            path("server.pem"),
            "--tls-key".to_owned(),
            path("server.key"),
        ]
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}
