//! Generates the messages and the client and server stubs from the contract, without a `protoc`.

use std::path::{Path, PathBuf};
use std::{env, error::Error, fs};

use prost::Message;
use prost_types::{FileDescriptorSet, MethodDescriptorProto, ServiceDescriptorProto};
use tonic_prost_build::manual;

const PACKAGE: &str = "sudoku.v1";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=proto/sudoku/v1/sudoku.proto");
    let descriptors = protox::compile(["sudoku/v1/sudoku.proto"], ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // `compile_fds` writes no descriptor set by itself, and reflection needs one.
    fs::write(out.join("sudoku_v1.binpb"), descriptors.encode_to_vec())?;
    wire_stubs(&descriptors, &out)?;
    // Without the transport the stubs stay generic over it, and the SDK comes without tonic's `server` feature.
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds(descriptors)?;
    Ok(())
}

/// Which stubs are generated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// Generates the stubs of `wire`: those of the contract once more. The client has other types where messages come in
/// streams. The server has no streams: it reads and writes their bodies itself, past what tonic does for each message.
fn wire_stubs(descriptors: &FileDescriptorSet, out: &Path) -> Result<(), Box<dyn Error>> {
    let contract = descriptors.file.iter().filter(|file| file.package() == PACKAGE);
    let services: Vec<_> = contract.flat_map(|file| &file.service).collect();
    for (folder, side) in [("wire_client", Side::Client), ("wire_server", Side::Server)] {
        let folder = out.join(folder);
        fs::create_dir_all(&folder)?;
        let services: Vec<_> = services
            .iter()
            .map(|service| wire_service(service, side))
            .collect();
        manual::Builder::new()
            .build_client(side == Side::Client)
            .build_server(side == Side::Server)
            .build_transport(false)
            .out_dir(folder)
            .compile(&services);
    }
    Ok(())
}

fn wire_service(service: &ServiceDescriptorProto, side: Side) -> manual::Service {
    let described = match side {
        Side::Client => "with the types of `wire` in streams",
        Side::Server => "but for its streams",
    };
    let builder = manual::Service::builder()
        .name(service.name())
        .package(PACKAGE)
        .comment(format!("`sudoku.v1.{}`, {described}.", service.name()));
    let methods = service.method.iter();
    methods
        .filter(|method| side == Side::Client || !method.client_streaming())
        .fold(builder, |builder, method| builder.method(wire_method(method)))
        .build()
}

fn wire_method(method: &MethodDescriptorProto) -> manual::Method {
    let builder = manual::Method::builder()
        .name(snake_case(method.name()))
        .route_name(method.name())
        .comment(format!("`{}` of the contract.", method.name()));
    match (method.client_streaming(), method.server_streaming()) {
        (true, true) => builder
            .input_type("crate::wire::PuzzleWriter")
            .output_type("crate::wire::Results")
            .codec_path("crate::wire::Codec")
            .client_streaming()
            .server_streaming(),
        (false, false) => builder
            .input_type(message_type(method.input_type()))
            .output_type(message_type(method.output_type()))
            .codec_path("tonic_prost::ProstCodec"),
        one_sided => panic!("{}, streaming {one_sided:?}, has no codec here", method.name()),
    }
    .build()
}

/// The generated type of a message of the contract.
fn message_type(name: &str) -> String {
    let name = name.rsplit('.').next().unwrap_or(name);
    format!("crate::v1::{name}")
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
