//! Generates the messages and the client and server stubs from the contract, without a `protoc`.

use std::path::PathBuf;
use std::{env, error::Error, fs};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/sudoku/v1/sudoku.proto");
    let descriptors = protox::compile(["sudoku/v1/sudoku.proto"], ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // `compile_fds` writes no descriptor set by itself, and reflection needs one.
    fs::write(out.join("sudoku_v1.binpb"), descriptors.encode_to_vec())?;
    // Without the transport the stubs stay generic over it, and the SDK comes without tonic's `server` feature.
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds(descriptors)?;
    Ok(())
}
