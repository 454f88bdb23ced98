//! HTTP/2 as it stands on the wire, for clients that do what no library lets them.

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;

/// The payload of RST_STREAM that says CANCEL.
pub const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// The setting with which a client says how much of an answer it takes unasked.
const INITIAL_WINDOW_SIZE: [u8; 2] = [0, 4];

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const SOLVE: &str = "/sudoku.v1.SudokuService/Solve";
pub const SOLVE_MANY: &str = "/sudoku.v1.SudokuService/SolveMany";
pub const REFLECTION: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/// A frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    let mut frame = vec![a, b, c, kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// What a client begins with: the preface, and settings of its own.
pub fn beginning() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()
}

/// The acknowledgement of the server's settings, which every client sends.
pub fn acknowledgement() -> Vec<u8> {
    frame(SETTINGS, ACK, 0, &[])
}

/// The same for a client that takes so many bytes of each answer, and acknowledges the server's settings in advance.
pub fn beginning_with_window(bytes: u32) -> Vec<u8> {
    let window = [&INITIAL_WINDOW_SIZE[..], &bytes.to_be_bytes()].concat();
    [PREFACE, &frame(SETTINGS, 0, 0, &window), &acknowledgement()].concat()
}

/// The header block of a call, in HPACK without Huffman codes.
pub fn header_block(path: &str) -> Vec<u8> {
    let mut block = vec![0x83, 0x86, 0x04, path.len() as u8];
    block.extend(path.as_bytes());
    block.extend([0x01, 9]);
    block.extend(b"localhost");
    block.extend([0x0f, 0x10, 16]);
    block.extend(b"application/grpc");
    block.extend([0x00, 2]);
    block.extend(b"te");
    block.push(8);
    block.extend(b"trailers");
    block
}

/// The headers of a call.
pub fn call(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &header_block(path))
}

/// A message of gRPC: five bytes that tell its length, and it.
pub fn message(bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![0];
    message.extend((bytes.len() as u32).to_be_bytes());
    message.extend(bytes);
    message
}

/// A request with one puzzle, of `Solve` or `SolveMany`: both have puzzles in field 1.
pub fn request(puzzle: &str) -> Vec<u8> {
    let mut bytes = vec![0x0a, puzzle.len() as u8];
    bytes.extend(puzzle.as_bytes());
    message(&bytes)
}

/// A question of reflection: which services there are. The text is for nobody.
pub fn question(text: &str) -> Vec<u8> {
    let mut bytes = vec![0x3a, text.len() as u8];
    bytes.extend(text.as_bytes());
    message(&bytes)
}

/// Whether what a server has sent so far has the window that it gives to a connection: before, a client may send no more
/// than 64 KiB.
pub fn has_window(received: &[u8]) -> bool {
    let head = [0, 0, 4, WINDOW_UPDATE, 0, 0, 0, 0, 0];
    received.windows(head.len()).any(|bytes| bytes == head)
}
