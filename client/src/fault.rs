//! Why a connection could not be made, as far as the transport's errors tell.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, InvalidMessage};

/// What went wrong while a connection was made, where that is worth more than the error's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Here or there a certificate was refused.
    Distrust,
    /// What answered does not speak TLS.
    NoTls,
    /// The other side hung up in the handshake of TLS.
    HungUp,
    /// What answered does not speak HTTP/2. An alert of TLS reads as a frame that is far too large.
    NoHttp2,
}

impl Fault {
    /// Looks for it in an error and its causes.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut connecting = false;
        let mut cause = Some(error);
        while let Some(error) = cause {
            connecting |= error.is::<tonic::ConnectError>();
            if let Some(fault) = Self::known(error, connecting) {
                return Some(fault);
            }
            cause = error.source();
        }
        None
    }

    fn known(error: &(dyn Error + 'static), connecting: bool) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            // The cause of such an error is not what it holds but the cause of that.
            let inner = error.get_ref().and_then(|inner| Self::known(inner, connecting));
            return inner.or((connecting && is_end(error.kind())).then_some(Self::HungUp));
        }
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return (error.reason() == Some(h2::Reason::FRAME_SIZE_ERROR)).then_some(Self::NoHttp2);
        }
        match error.downcast_ref::<rustls::Error>()? {
            rustls::Error::InvalidCertificate(_) => Some(Self::Distrust),
            rustls::Error::AlertReceived(alert) => is_of_certificate(*alert).then_some(Self::Distrust),
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Some(Self::NoTls),
            _ => None,
        }
    }

    /// Whether another try would end in the same way.
    pub(crate) fn is_final(self) -> bool {
        self != Self::HungUp
    }

    /// What may be the reason, where it is not said by the error itself.
    pub(crate) fn hint(self) -> Option<&'static str> {
        match self {
            Self::Distrust => None,
            Self::NoTls | Self::HungUp => Some("perhaps it does not speak TLS, and is an http:// endpoint"),
            Self::NoHttp2 => Some("perhaps it speaks TLS, and is an https:// endpoint"),
        }
    }
}

fn is_end(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
    )
}

/// Whether the server says with it that it does not take the client's certificate, or wants one.
fn is_of_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::AccessDenied
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::NoCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::UnsupportedCertificate
    )
}
