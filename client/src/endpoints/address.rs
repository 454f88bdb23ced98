//! What the text of an endpoint means.

use std::net::{IpAddr, SocketAddr};

use tonic::codegen::http::Uri;

use crate::Error;

/// Where a server is, or several of them behind one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A server whose address is known.
    Fixed { uri: String },
    /// A name that stands for any number of addresses, which may change.
    Named { uri: Uri, host: String, port: u16 },
}

impl Address {
    /// Whether nobody can listen in: it is encrypted, or does not leave the machine.
    pub(crate) fn is_private(&self) -> bool {
        match self {
            Self::Fixed { uri } if uri.starts_with("unix:") => true,
            Self::Fixed { uri } => uri.parse().is_ok_and(|uri: Uri| {
                let address = uri.host().map(unbracketed).unwrap_or_default().parse();
                is_encrypted(&uri) || address.is_ok_and(|address: IpAddr| address.is_loopback())
            }),
            Self::Named { uri, host, .. } => is_encrypted(uri) || host == "localhost",
        }
    }

    /// Whether it is reached through TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        match self {
            Self::Fixed { uri } => uri.parse().is_ok_and(|uri: Uri| is_encrypted(&uri)),
            Self::Named { uri, .. } => is_encrypted(uri),
        }
    }

    /// Reads an endpoint such as `http://127.0.0.1:50051`, `unix:/run/sudoku.sock` or, without a scheme, `sudoku:50051`.
    ///
    /// # Errors
    ///
    /// [`Error::Endpoint`], also where the text asks for what the transport would leave aside without a word.
    pub(crate) fn parse(endpoint: &str) -> Result<Self, Error> {
        if let Some(path) = endpoint.strip_prefix("unix:") {
            return unix(endpoint, path);
        }
        let text = match endpoint.contains("://") {
            true => endpoint.to_owned(),
            false => format!("http://{endpoint}"),
        };
        let uri: Uri = text
            .parse()
            .map_err(|source| Error::endpoint(endpoint, format!("invalid URI: {source}")))?;
        if let Some(reason) = unsupported(&uri) {
            return Err(Error::endpoint(endpoint, reason));
        }
        let host = uri.host().unwrap_or_default();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        // The URI has a port that is no number, and would be taken as one without.
        if uri.port_u16().is_none() && authority.len() > host.len() {
            return Err(Error::endpoint(endpoint, "the port is no number from 0 to 65535"));
        }
        let host = unbracketed(host);
        if host.is_empty() {
            return Err(Error::endpoint(endpoint, "it names no host"));
        }
        if host.parse::<IpAddr>().is_ok() {
            return Ok(Self::Fixed { uri: uri.to_string() });
        }
        Ok(Self::Named {
            host: host.to_owned(),
            port: uri
                .port_u16()
                .unwrap_or(if is_encrypted(&uri) { 443 } else { 80 }),
            uri,
        })
    }
}

/// The URI by which a server that is one of several behind a name is reached.
pub(super) fn at(socket: SocketAddr, name: &Uri) -> String {
    let scheme = if is_encrypted(name) { "https" } else { "http" };
    format!("{scheme}://{socket}")
}

/// Whether the server at `uri` is reached through TLS.
pub(super) fn is_encrypted(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

/// A host without the brackets of an IPv6 address.
pub(crate) fn unbracketed(host: &str) -> &str {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    inner.unwrap_or(host)
}

#[cfg(unix)]
fn unix(endpoint: &str, path: &str) -> Result<Address, Error> {
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() {
        return Err(Error::endpoint(endpoint, "it names no socket"));
    }
    Ok(Address::Fixed {
        uri: format!("unix:{path}"),
    })
}

#[cfg(not(unix))]
fn unix(endpoint: &str, _: &str) -> Result<Address, Error> {
    Err(Error::endpoint(
        endpoint,
        "Unix sockets are not supported on this system",
    ))
}

/// What in the URI would be left aside.
fn unsupported(uri: &Uri) -> Option<&'static str> {
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Some("only http, https and unix are supported");
    }
    if uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'))
    {
        return Some("a user name or password is not supported");
    }
    if uri.path_and_query().is_some_and(|path| path != "/") {
        return Some("a path is not supported");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(uri: &str) -> Address {
        Address::Fixed { uri: uri.to_owned() }
    }

    #[test]
    fn numbers_and_sockets_are_one_server_and_names_are_any_number() {
        assert_eq!(
            Address::parse("127.0.0.1:1").unwrap(),
            fixed("http://127.0.0.1:1/")
        );
        assert_eq!(
            Address::parse("http://[::1]:1").unwrap(),
            fixed("http://[::1]:1/")
        );
        for (endpoint, expected) in [
            ("sudoku:7", ("sudoku", 7)),
            ("http://sudoku.example", ("sudoku.example", 80)),
        ] {
            let Address::Named { host, port, .. } = Address::parse(endpoint).unwrap() else {
                panic!("{endpoint} is a name")
            };
            assert_eq!((host.as_str(), port), expected);
        }
    }

    #[test]
    fn a_port_that_is_none_is_not_left_aside() {
        for endpoint in [
            "127.0.0.1:99999",
            "http://sudoku:",
            "http://[::1]:x",
            "https://sudoku:65536",
        ] {
            assert!(Address::parse(endpoint).is_err(), "{endpoint}");
        }
    }

    #[test]
    fn nobody_listens_in_on_what_is_encrypted_or_stays_here() {
        let private = |endpoint| Address::parse(endpoint).unwrap().is_private();
        for endpoint in [
            "https://10.0.0.1:1",
            "https://sudoku",
            "127.0.0.1:1",
            "[::1]:1",
            "localhost:1",
        ] {
            assert!(private(endpoint), "{endpoint}");
        }
        for endpoint in ["10.0.0.1:1", "http://sudoku", "[fe80::1]:1"] {
            assert!(!private(endpoint), "{endpoint}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn sockets_are_named_with_two_slashes_or_none() {
        assert_eq!(
            Address::parse("unix:/run/sudoku.sock").unwrap(),
            fixed("unix:/run/sudoku.sock")
        );
        assert_eq!(
            Address::parse("unix:///run/sudoku.sock").unwrap(),
            fixed("unix:/run/sudoku.sock")
        );
        assert!(Address::parse("unix:").is_err());
    }
}
