//! The contract of the Sudoku service, `sudoku.v1`: the generated messages, the client and server stubs, and the
//! encoded descriptor set.
//!
//! The contract itself, with the range and meaning of every field and every error reason, is
//! `proto/sudoku/v1/sudoku.proto`; its comments are repeated here on the generated types.
//!
//! [`v1`] is for every use. [`wire`] has the same service once more for programs that stream puzzles by the million.

#![forbid(unsafe_code)]

/// Package `sudoku.v1`.
pub mod v1 {
    tonic::include_proto!("sudoku.v1");

    /// The encoded `FileDescriptorSet` of the contract and all that it imports, for server reflection.
    pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sudoku_v1.binpb"));

    /// The domain of the `google.rpc.ErrorInfo` in every error of this service.
    pub const ERROR_DOMAIN: &str = "sudoku.v1";
}

pub mod wire;
