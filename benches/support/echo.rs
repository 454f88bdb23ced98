//! A bare tonic server of the same messages: what the transport costs when nothing is solved.
//!
//! It decodes requests and encodes responses with the generated types, and gives every puzzle back as its own solution.

use std::net::SocketAddr;
use std::pin::Pin;

use sudoku_proto::v1::sudoku_service_server::{SudokuService, SudokuServiceServer};
use sudoku_proto::v1::{
    GetServerInfoRequest, GetServerInfoResponse, Outcome, SolveManyRequest, SolveManyResponse, SolveRequest,
    SolveResponse, SolveResult,
};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

struct Echo;

fn result(puzzle: String) -> SolveResult {
    SolveResult {
        outcome: Outcome::Unique.into(),
        solutions: vec![puzzle],
        solution_count: 1,
        ..SolveResult::default()
    }
}

#[tonic::async_trait]
impl SudokuService for Echo {
    type SolveManyStream = Pin<Box<dyn Stream<Item = Result<SolveManyResponse, Status>> + Send>>;

    async fn solve(&self, request: Request<SolveRequest>) -> Result<Response<SolveResponse>, Status> {
        let result = Some(result(request.into_inner().puzzle));
        Ok(Response::new(SolveResponse { result }))
    }

    async fn solve_many(
        &self,
        request: Request<Streaming<SolveManyRequest>>,
    ) -> Result<Response<Self::SolveManyStream>, Status> {
        let answers = request.into_inner().map(|message| {
            let results = message?.puzzles.into_iter().map(result).collect();
            Ok(SolveManyResponse { results })
        });
        Ok(Response::new(Box::pin(answers)))
    }

    async fn get_server_info(
        &self,
        _: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        Err(Status::unimplemented("an echo has none"))
    }
}

/// Serves on a free port until the process is killed. Prints the address, as `sudoku-server` does.
#[tokio::main]
pub async fn serve() {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
        .await
        .expect("a free port");
    println!("{}", listener.local_addr().expect("the listener is bound"));
    let connections = TcpListenerStream::new(listener).map(|connection| {
        let connection = connection?;
        connection.set_nodelay(true)?;
        Ok::<_, std::io::Error>(connection)
    });
    Server::builder()
        .add_service(SudokuServiceServer::new(Echo))
        .serve_with_incoming(connections)
        .await
        .expect("the echo runs until it is killed");
}
