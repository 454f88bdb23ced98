//! Where connections come from: TCP addresses and Unix sockets.

use std::fmt;
use std::io;
use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};

use crate::cork::{self, Cork};

#[cfg(unix)]
use self::unix::UnixSocket;

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP address and port; port 0 picks a free one.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

const UNIX: &str = "unix:";

impl Address {
    /// Whether other machines may reach it.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Tcp(address) if !address.ip().is_loopback())
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Reads `127.0.0.1:50051`, `[::1]:50051` or `unix:/path`.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.strip_prefix(UNIX) {
            Some("") => Err(AddressError::NoPath),
            Some(path) => Ok(Self::Unix(path.into())),
            None => Ok(Self::Tcp(text.parse()?)),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

/// Why a text is no [`Address`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Nothing follows `unix:`.
    #[error("a path must follow unix:")]
    NoPath,
    /// It is no TCP address.
    #[error("neither an IP address with a port, as 127.0.0.1:50051, nor unix:/path")]
    Tcp(#[from] AddrParseError),
}

/// A socket that takes connections.
#[derive(Debug)]
pub struct Listener(Socket);

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixSocket),
}

/// A connection's bytes, as they come from the socket or out of TLS.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Transport for T {}

/// A connection as it was accepted.
pub(crate) struct Accepted {
    pub stream: Box<dyn Transport>,
    /// Has to be driven for the stream to send what is written, where there is one.
    pub cork: Option<Cork>,
    /// Whether it came over TCP, and is to be encrypted where anything is.
    pub tcp: bool,
    /// Who it is, for the log.
    pub peer: String,
}

impl Listener {
    /// Listens on an address. A Unix socket gets these permissions (as of `chmod`) before anybody can connect to it. One
    /// that a server left behind is replaced; one that a server listens on, or a file of another kind, is an error.
    ///
    /// # Errors
    ///
    /// The address is taken, cannot be had, or is of a kind that this system lacks.
    pub async fn bind(address: &Address, mode: u32) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => Ok(listen(*address)?.into()),
            #[cfg(unix)]
            Address::Unix(path) => Ok(Self(Socket::Unix(UnixSocket::bind(path, mode)?))),
            #[cfg(not(unix))]
            Address::Unix(_) => {
                let _ = mode;
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }

    /// The address that it listens on, with the port that was picked.
    ///
    /// # Errors
    ///
    /// The operating system does not tell.
    pub fn address(&self) -> io::Result<Address> {
        match &self.0 {
            Socket::Tcp(listener) => listener.local_addr().map(Address::Tcp),
            #[cfg(unix)]
            Socket::Unix(socket) => Ok(Address::Unix(socket.path().to_owned())),
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        match &self.0 {
            Socket::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "cannot set TCP_NODELAY");
                }
                let (stream, cork) = cork::cork(stream);
                Ok(Accepted {
                    stream: Box::new(stream),
                    cork: Some(cork),
                    tcp: true,
                    peer: peer.to_string(),
                })
            }
            #[cfg(unix)]
            Socket::Unix(socket) => Ok(Accepted {
                stream: Box::new(socket.accept().await?),
                cork: None,
                tcp: false,
                peer: UNIX.to_owned(),
            }),
        }
    }
}

/// How many connections may wait to be accepted: as many as all clients of a server that was restarted.
const BACKLOG: u32 = 1_024;

/// Listens as [`TcpListener::bind`] does, which lets only 128 wait. The system drops those beyond that without a word.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Elsewhere it means that two may listen on the same address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self(Socket::Tcp(listener))
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
    use std::os::unix::net::UnixStream as StdUnixStream;
    use std::path::{Path, PathBuf};

    use socket2::{Domain, SockAddr, Socket, Type};
    use tokio::net::{UnixListener, UnixStream};

    /// A Unix socket, whose file goes with it.
    #[derive(Debug)]
    pub struct UnixSocket {
        listener: UnixListener,
        path: PathBuf,
        /// Device and inode of the file, to know it again.
        file: (u64, u64),
    }

    impl UnixSocket {
        pub fn bind(path: &Path, mode: u32) -> io::Result<Self> {
            remove_stale(path)?;
            let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
            socket.bind(&SockAddr::unix(path)?)?;
            fs::set_permissions(path, Permissions::from_mode(mode))?;
            // Nobody can connect before this.
            socket.listen(super::BACKLOG as i32)?;
            Ok(Self {
                listener: UnixListener::from_std(socket.into())?,
                path: path.to_owned(),
                file: identity(&fs::symlink_metadata(path)?),
            })
        }

        pub fn path(&self) -> &Path {
            &self.path
        }

        pub async fn accept(&self) -> io::Result<UnixStream> {
            Ok(self.listener.accept().await?.0)
        }
    }

    impl Drop for UnixSocket {
        fn drop(&mut self) {
            // Another server may have put its own in the place of one that somebody removed.
            let file = fs::symlink_metadata(&self.path);
            if file.is_ok_and(|file| identity(&file) == self.file) {
                let _ = fs::remove_file(&self.path);
            }
        }
    }

    fn identity(file: &Metadata) -> (u64, u64) {
        (file.dev(), file.ino())
    }

    /// Removes a socket that a server left behind, which nobody listens on.
    fn remove_stale(path: &Path) -> io::Result<()> {
        let kind = match fs::symlink_metadata(path) {
            Ok(file) => file.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if !kind.is_socket() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "there is a file of this name that is no socket",
            ));
        }
        match StdUnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
            Err(error) => Err(error),
            Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn addresses_read_as_they_are_written() {
        for text in [
            "127.0.0.1:50051",
            "[::1]:0",
            "0.0.0.0:1",
            "unix:/run/a b.sock",
            "unix:here",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_thousand_clients_may_connect_at_once() {
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        if most.trim().parse::<u32>().unwrap() < BACKLOG {
            eprintln!("skipped: the system lets no more than {most} wait");
            return;
        }
        let listener = Listener::bind(&Address::Tcp("127.0.0.1:0".parse().unwrap()), 0).await;
        let Address::Tcp(address) = listener.as_ref().unwrap().address().unwrap() else {
            panic!("another address");
        };
        // Nobody accepts them meanwhile.
        let connect = || std::net::TcpStream::connect_timeout(&address, Duration::from_secs(30));
        let waiting: Result<Vec<_>, _> = (0..500).map(|_| connect()).collect();
        assert_eq!(waiting.unwrap().len(), 500);
    }

    #[test]
    fn what_is_no_address() {
        for text in ["", "unix:", "nowhere", "127.0.0.1", "localhost:1", "1:2:3"] {
            text.parse::<Address>().unwrap_err();
        }
    }

    #[test]
    fn only_loopback_and_unix_sockets_are_out_of_reach() {
        let remote = |text: &str| text.parse::<Address>().unwrap().is_remote();
        assert!(remote("0.0.0.0:1") && remote("[::]:1") && remote("192.0.2.1:1"));
        assert!(!remote("127.0.0.9:1") && !remote("[::1]:1") && !remote("unix:/s"));
    }
}
