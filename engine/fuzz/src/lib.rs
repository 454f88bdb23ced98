//! What the fuzz targets share: puzzles made of arbitrary bytes, and what a puzzle comes to.

mod puzzle;
#[path = "../../tests/common/stream.rs"]
pub mod stream;
#[path = "../../tests/common/symmetry.rs"]
mod symmetry;
mod truth;

pub use puzzle::Puzzle;
pub use symmetry::Symmetry;
pub use truth::Truth;
