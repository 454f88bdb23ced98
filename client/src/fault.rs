//! Why a connection could not be made, as far as the transport's errors tell.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, InvalidMessage};

use crate::endpoints::Foreign;

/// What went wrong while a connection was made, where that is worth more than the error's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server's certificate was refused.
    Distrust,
    /// The server wants a certificate of the client, and got none.
    Uncertified,
    /// The server refused the client's certificate.
    Distrusted,
    /// The server refused the handshake of TLS. Older versions of TLS have no other word for a certificate that is missing.
    Refused,
    /// What answered does not speak TLS.
    NoTls,
    /// The other side hung up in the handshake of TLS.
    HungUp,
    /// What answered speaks TLS, and was not spoken to in TLS.
    Tls,
    /// What answered does not speak HTTP/2.
    NoHttp2,
    /// The other side hung up when it was not spoken to in TLS.
    Unanswered,
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
        if let Some(foreign) = error.downcast_ref::<Foreign>() {
            return Some(match foreign {
                Foreign::Tls => Self::Tls,
                Foreign::Other => Self::NoHttp2,
                Foreign::Nothing => Self::Unanswered,
            });
        }
        match error.downcast_ref::<rustls::Error>()? {
            rustls::Error::InvalidCertificate(_) => Some(Self::Distrust),
            rustls::Error::AlertReceived(alert) => Self::alerted(*alert),
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Some(Self::NoTls),
            _ => None,
        }
    }

    /// What the server says with an alert, where that is, or may be, of the client's certificate.
    fn alerted(alert: AlertDescription) -> Option<Self> {
        match alert {
            AlertDescription::CertificateRequired | AlertDescription::NoCertificate => Some(Self::Uncertified),
            AlertDescription::AccessDenied
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            // Its signature is not that of whom it says.
            | AlertDescription::DecryptError
            | AlertDescription::UnknownCA
            | AlertDescription::UnsupportedCertificate => Some(Self::Distrusted),
            AlertDescription::HandshakeFailure => Some(Self::Refused),
            _ => None,
        }
    }

    /// Whether another try would end in the same way.
    pub(crate) fn is_final(self) -> bool {
        !matches!(self, Self::HungUp | Self::Unanswered)
    }

    /// What may be the reason, where it is not said by the error itself.
    pub(crate) fn hint(self) -> Option<&'static str> {
        match self {
            Self::Distrust => None,
            Self::Uncertified => Some("it wants a certificate of the client, which shows none"),
            Self::Distrusted => Some("it refuses the client's certificate"),
            Self::Refused => Some("perhaps it wants a certificate of the client"),
            Self::NoTls | Self::HungUp => Some("perhaps it does not speak TLS, and is an http:// endpoint"),
            Self::Tls => Some("it speaks TLS, and is an https:// endpoint"),
            Self::NoHttp2 | Self::Unanswered => Some("perhaps it is an https:// endpoint"),
        }
    }
}

fn is_end(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
    )
}
