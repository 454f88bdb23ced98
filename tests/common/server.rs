//! A server that a test can end as it likes.

use std::net::SocketAddr;

use sudoku_client::{ClientBuilder, SudokuClient};
use sudoku_server::{Drained, Service, Settings, serve};
use tokio::net::TcpListener;
use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::until;

/// A real server on a port of its own, in a runtime of its own, so that it can be killed as a process is.
pub struct Server {
    pub address: SocketAddr,
    pub service: Service,
    shutdown: Option<oneshot::Sender<()>>,
    drained: Option<JoinHandle<Drained>>,
    runtime: Option<Runtime>,
}

impl Server {
    pub async fn start(settings: Settings) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), settings).await
    }

    pub async fn start_at(address: SocketAddr, settings: Settings) -> Self {
        // The port of a server that was killed may take a moment to be free.
        let mut listener = None;
        until("the port is free", || {
            listener = std::net::TcpListener::bind(address).ok();
            listener.is_some()
        })
        .await;
        let listener = listener.unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let service = Service::new(settings).unwrap();
        let (shutdown, asked) = oneshot::channel::<()>();
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let drained = runtime.spawn({
            let service = service.clone();
            async move {
                let listener = TcpListener::from_std(listener).unwrap();
                serve(listener, service, async { drop(asked.await) }).await
            }
        });
        Self {
            address,
            service,
            shutdown: Some(shutdown),
            drained: Some(drained),
            runtime: Some(runtime),
        }
    }

    pub async fn client(&self) -> SudokuClient {
        self.builder().connect().await.unwrap()
    }

    pub fn builder(&self) -> ClientBuilder {
        SudokuClient::builder().endpoint(self.address.to_string())
    }

    pub fn shut_down(&mut self) -> JoinHandle<Drained> {
        self.shutdown.take().unwrap().send(()).unwrap();
        self.drained.take().unwrap()
    }

    /// Ends it in the middle of whatever it does: all of its sockets close at once.
    pub fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
