//! Clients without the contract can ask for it, in both versions of the reflection protocol.

mod support;

use sudoku_server::Settings;
use support::{Server, soon};

/// Asks for the services, and for the file of ours.
macro_rules! asks {
    ($version:ident) => {{
        use tonic_reflection::pb::$version::ServerReflectionRequest;
        use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
        use tonic_reflection::pb::$version::server_reflection_request::MessageRequest;
        use tonic_reflection::pb::$version::server_reflection_response::MessageResponse;

        let server = Server::start(Settings::default()).await;
        let mut client = ServerReflectionClient::new(server.channel().await);
        let requests = [
            MessageRequest::ListServices(String::new()),
            MessageRequest::FileContainingSymbol("sudoku.v1.SudokuService".into()),
        ]
        .map(|request| ServerReflectionRequest {
            host: String::new(),
            message_request: Some(request),
        });
        let mut answers = client
            .server_reflection_info(tokio_stream::iter(requests))
            .await
            .unwrap()
            .into_inner();

        let answer = soon(answers.message()).await.unwrap().unwrap();
        let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
            panic!("{answer:?}");
        };
        let names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
        assert!(names.contains(&"sudoku.v1.SudokuService".to_owned()), "{names:?}");

        let answer = soon(answers.message()).await.unwrap().unwrap();
        let Some(MessageResponse::FileDescriptorResponse(file)) = answer.message_response else {
            panic!("{answer:?}");
        };
        let bytes = &file.file_descriptor_proto[0];
        let descriptor = <prost_types::FileDescriptorProto as prost::Message>::decode(&bytes[..]).unwrap();
        assert_eq!(descriptor.package(), "sudoku.v1");
        assert_eq!(descriptor.service[0].method.len(), 3);
    }};
}

#[tokio::test]
async fn version_1() {
    asks!(v1);
}

#[tokio::test]
async fn version_1_alpha() {
    asks!(v1alpha);
}
