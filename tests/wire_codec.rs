//! The codec of `SolveMany` against `prost`: the same bytes out, the same messages in, the same bytes refused.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, StreamBody};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;
use prost_types::Duration;
use sudoku_proto::v1::{
    Conflict, Outcome, PuzzleError, SolveManyRequest, SolveManyResponse, SolveOptions, SolveResult, Unit,
};
use sudoku_proto::wire::{Codec, Decode, Encode, Found, PuzzleWriter, Puzzles, ResultWriter, Results};
use tokio_stream::StreamExt;
use tonic::Status;
use tonic::codec::{Codec as _, EncodeBody, Streaming};

// What a message that was received says, in the types of prost.

fn request(received: &Puzzles<'_>) -> SolveManyRequest {
    let puzzles: Vec<String> = received.iter().map(str::to_owned).collect();
    assert_eq!(received.len(), puzzles.len());
    assert_eq!(received.is_empty(), puzzles.is_empty());
    assert_eq!(received.lines().len(), puzzles.len());
    assert!(received.lines().eq(puzzles.iter().map(String::as_bytes)));
    SolveManyRequest {
        puzzles,
        options: received.options().cloned(),
    }
}

fn response(received: &Results) -> SolveManyResponse {
    assert!(received.get(received.len()).is_none());
    assert_eq!(received.is_empty(), received.get(0).is_none());
    let results = (0..received.len()).map(|index| result(received.get(index).expect("an index in range")));
    SolveManyResponse {
        results: results.collect(),
    }
}

fn result(found: Found<'_>) -> SolveResult {
    match found {
        Found::Other(result) => result.clone(),
        Found::Plain {
            outcome,
            solution_count,
            solutions,
        } => {
            let count = solutions.len();
            let solutions: Vec<String> = solutions
                .map(|solution| String::from_utf8(solution.to_vec()).expect("ASCII"))
                .collect();
            assert_eq!(solutions.len(), count);
            SolveResult {
                outcome,
                solutions,
                solution_count,
                ..SolveResult::default()
            }
        }
    }
}

/// Reads bytes as both messages, with both codecs. Returns how many of the two are one.
fn agree(bytes: &[u8]) -> Result<usize, TestCaseError> {
    let (puzzles, expected) = (Puzzles::read(bytes), SolveManyRequest::decode(bytes));
    prop_assert_eq!(
        puzzles.ok().as_ref().map(request),
        expected.as_ref().ok().cloned()
    );
    Ok(usize::from(expected.is_ok()) + usize::from(agree_on_results(|| bytes)?))
}

/// Reads bytes as a response, with both codecs. Returns whether they are one.
fn agree_on_results<B: Buf>(frame: impl Fn() -> B) -> Result<bool, TestCaseError> {
    let (results, found) = (Results::decode(frame()), SolveManyResponse::decode(frame()));
    prop_assert_eq!(results.ok().as_ref().map(response), found.as_ref().ok().cloned());
    Ok(found.is_ok())
}

// Messages.

fn line() -> impl Strategy<Value = String> {
    "[.0-9]{81}"
}

/// Puzzles and solutions, and what else a string may be: too short, too long, 81 characters or 81 bytes that are not
/// ASCII.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![8 => line(), 1 => "\\PC{0,100}", 1 => "\\PC{81}", 1 => "é{20}.{41}", 1 => "é"]
}

fn options() -> impl Strategy<Value = SolveOptions> {
    let time = any::<(i64, i32)>().prop_map(|(seconds, nanos)| Duration { seconds, nanos });
    (any::<u32>(), proptest::option::of(time), any::<bool>()).prop_map(
        |(solution_limit, time_limit, omit_solutions)| SolveOptions {
            solution_limit,
            time_limit,
            omit_solutions,
        },
    )
}

fn any_request() -> impl Strategy<Value = SolveManyRequest> {
    (vec(text(), 0..12), proptest::option::of(options()))
        .prop_map(|(puzzles, options)| SolveManyRequest { puzzles, options })
}

fn conflict() -> impl Strategy<Value = Conflict> {
    let unit = any::<(i32, u32)>().prop_map(|(kind, index)| Unit { kind, index });
    (any::<u32>(), proptest::option::of(unit), vec(any::<u32>(), 0..10))
        .prop_map(|(digit, unit, cells)| Conflict { digit, unit, cells })
}

fn invalid() -> impl Strategy<Value = PuzzleError> {
    (".{0,30}", any::<u32>(), any::<Option<u32>>()).prop_map(|(message, length, position)| PuzzleError {
        message,
        length,
        position,
    })
}

/// Small numbers, those about where they take another byte, and all others.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..4_u32, 126..130_u32, any::<u32>()]
}

fn plain_result() -> impl Strategy<Value = SolveResult> {
    let solutions = prop_oneof![vec(line(), 0..4), vec(text(), 0..4)];
    (0..130_i32, solutions, number()).prop_map(|(outcome, solutions, solution_count)| SolveResult {
        outcome,
        solutions,
        solution_count,
        ..SolveResult::default()
    })
}

fn any_result() -> impl Strategy<Value = SolveResult> {
    let other = (
        any::<i32>(),
        vec(conflict(), 0..3),
        proptest::option::of(invalid()),
    );
    prop_oneof![
        4 => plain_result(),
        1 => (plain_result(), other).prop_map(|(result, (outcome, conflicts, invalid))| SolveResult {
            outcome,
            conflicts,
            invalid,
            ..result
        }),
    ]
}

fn any_response() -> impl Strategy<Value = SolveManyResponse> {
    vec(any_result(), 0..12).prop_map(|results| SolveManyResponse { results })
}

/// Either message, encoded.
fn message() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any_request().prop_map(|message| message.encode_to_vec()),
        any_response().prop_map(|message| message.encode_to_vec()),
    ]
}

// Fields as no encoder writes them: of any number and wire type, repeated, out of order, nested, in longer forms.

/// An integer in its shortest form, or with up to three bytes more than that.
fn integer(value: u64, longer: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    prost::encoding::encode_varint(value, &mut bytes);
    for _ in 0..longer.min(10 - bytes.len()) {
        *bytes.last_mut().expect("a byte at least") |= 0x80;
        bytes.push(0);
    }
    bytes
}

fn any_integer() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![0..300_u64, any::<u64>()];
    (value, prop_oneof![9 => Just(0), 1 => 1..4_usize]).prop_map(|(value, longer)| integer(value, longer))
}

fn tag(number: u32, wire_type: u64, longer: usize) -> Vec<u8> {
    integer(u64::from(number) << 3 | wire_type, longer)
}

fn delimited(number: u32, body: &[u8], longer: usize) -> Vec<u8> {
    let mut field = tag(number, 2, longer / 2);
    field.extend(integer(body.len() as u64, longer));
    field.extend(body);
    field
}

fn group(number: u32, body: &[u8]) -> Vec<u8> {
    [&tag(number, 3, 0), body, &tag(number, 4, 0)].concat()
}

/// The numbers that the contract has, 0 which none may have, and others.
fn field_number() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 1..6_u32, 1 => 0..1_u32, 1 => 6..20_u32, 1 => Just((1 << 29) - 1)]
}

fn leaf() -> impl Strategy<Value = Vec<u8>> {
    let contents = prop_oneof![
        4 => text().prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 81),
        1 => vec(any::<u8>(), 0..12),
        1 => vec(any_integer(), 0..6).prop_map(|integers| integers.concat()),
    ];
    prop_oneof![
        2 => (field_number(), any_integer()).prop_map(|(number, value)| [tag(number, 0, 0), value].concat()),
        1 => (field_number(), any::<[u8; 8]>())
            .prop_map(|(number, value)| [&tag(number, 1, 0), value.as_slice()].concat()),
        1 => (field_number(), any::<[u8; 4]>())
            .prop_map(|(number, value)| [&tag(number, 5, 0), value.as_slice()].concat()),
        4 => (field_number(), contents, prop_oneof![9 => Just(0), 1 => 1..4_usize])
            .prop_map(|(number, contents, longer)| delimited(number, &contents, longer)),
    ]
}

fn fields() -> impl Strategy<Value = Vec<u8>> {
    let nested = leaf().prop_recursive(4, 40, 6, |inner| {
        let body = vec(inner, 0..6).prop_map(|fields| fields.concat());
        prop_oneof![
            3 => (field_number(), body.clone()).prop_map(|(number, body)| delimited(number, &body, 0)),
            1 => (field_number(), body).prop_map(|(number, body)| group(number, &body)),
        ]
    });
    vec(nested, 0..8).prop_map(|fields| fields.concat())
}

/// Bytes that are nearly a message.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4);
    (prop_oneof![message(), fields()], vec(change, 1..5)).prop_map(|(mut bytes, changes)| {
        for (place, value, kind) in changes {
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = value,
                1 => bytes.insert(place, value),
                2 => drop(bytes.remove(place)),
                _ => bytes.truncate(place),
            }
        }
        bytes
    })
}

/// Cuts bytes into pieces at `cuts`.
fn pieces(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<Bytes> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|ends| Bytes::copy_from_slice(&bytes[ends[0]..ends[1]]))
        .collect()
}

/// Pieces of a message that lie apart in memory.
struct Scattered(VecDeque<Bytes>);

impl Buf for Scattered {
    fn remaining(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.0
            .iter()
            .find(|piece| !piece.is_empty())
            .map_or(&[], |piece| piece)
    }

    fn advance(&mut self, mut count: usize) {
        while count > 0 {
            let piece = self.0.front_mut().expect("not past the end");
            let here = count.min(piece.len());
            piece.advance(here);
            count -= here;
            if piece.is_empty() {
                self.0.pop_front();
            }
        }
    }
}

fn encoded(message: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    assert_eq!(message.encoded_len(), bytes.len());
    bytes
}

fn as_line(text: &str) -> [u8; 81] {
    text.as_bytes().try_into().expect("81 characters")
}

proptest! {
    #[test]
    fn requests_are_written_as_prost_does(
        puzzles in vec(line(), 0..12),
        options in proptest::option::of(options()),
    ) {
        let mut writer = PuzzleWriter::with_capacity(puzzles.len() / 2);
        for (index, puzzle) in puzzles.iter().enumerate() {
            prop_assert_eq!(writer.len(), index);
            writer.push(&as_line(puzzle));
        }
        prop_assert_eq!(writer.is_empty(), puzzles.is_empty());
        writer.set_options(options);
        prop_assert_eq!(encoded(&writer), SolveManyRequest { puzzles, options }.encode_to_vec());
    }

    #[test]
    fn responses_are_written_as_prost_does(
        results in vec(prop_oneof![
            (0..7_i32, vec(line(), 0..4), number()).prop_map(|(outcome, solutions, solution_count)| SolveResult {
                outcome,
                solutions,
                solution_count,
                ..SolveResult::default()
            }),
            any_result(),
        ], 0..12),
        before in vec(any::<u8>(), 0..10),
    ) {
        // What a buffer holds before stays as it is.
        let mut bytes = before.clone();
        let mut writer = ResultWriter::new(&mut bytes);
        writer.reserve(results.len() / 2);
        for result in &results {
            let plain = SolveResult { conflicts: Vec::new(), invalid: None, ..result.clone() } == *result;
            match Outcome::try_from(result.outcome) {
                Ok(outcome) if plain && result.solutions.iter().all(|text| text.len() == 81) => {
                    let solutions: Vec<[u8; 81]> = result.solutions.iter().map(|text| as_line(text)).collect();
                    writer.push(outcome, result.solution_count, solutions);
                }
                _ => writer.push_any(result.clone()),
            }
        }
        let message = SolveManyResponse { results }.encode_to_vec();
        prop_assert_eq!(bytes, [before, message].concat());
    }

    #[test]
    fn messages_are_read_as_prost_does(bytes in message()) {
        prop_assert!(agree(&bytes)? >= 1);
    }

    #[test]
    fn any_fields_are_read_as_prost_does(bytes in fields()) {
        agree(&bytes)?;
    }

    #[test]
    fn the_fields_of_a_result_are_read_as_prost_does(results in vec((fields(), 0..2_usize), 0..4)) {
        let fields: Vec<u8> = results.iter().flat_map(|(body, longer)| delimited(1, body, *longer)).collect();
        agree(&fields)?;
    }

    #[test]
    fn messages_in_a_row_are_read_as_one(first in message(), second in fields(), third in message()) {
        agree(&[first, second, third].concat())?;
    }

    #[test]
    fn damaged_messages_are_read_as_prost_does(bytes in damaged()) {
        agree(&bytes)?;
    }

    #[test]
    fn any_bytes_are_read_as_prost_does(bytes in vec(any::<u8>(), 0..300)) {
        agree(&bytes)?;
    }

    #[test]
    fn responses_in_pieces_are_read_as_prost_does(
        bytes in prop_oneof![message(), fields(), damaged()],
        cuts in vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let pieces = pieces(&bytes, &cuts);
        agree_on_results(|| Scattered(pieces.iter().cloned().collect()))?;
    }
}

#[test]
fn groups_are_followed_as_deep_as_prost_follows_them() {
    let mut accepted = 0;
    for depth in 90..110 {
        let groups = (0..depth).fold(Vec::new(), |body, _| group(9, &body));
        let in_result = delimited(1, &groups, 0);
        let in_conflict = delimited(1, &delimited(4, &groups, 0), 0);
        let in_options = delimited(2, &delimited(2, &groups, 0), 0);
        for bytes in [groups, in_result, in_conflict, in_options] {
            accepted += agree(&bytes).unwrap();
        }
    }
    assert!(accepted > 0, "none of these depths is allowed");
}

#[test]
fn options_add_up_and_the_last_value_wins() {
    let options = |solution_limit, seconds, nanos| SolveManyRequest {
        puzzles: vec![".".repeat(81)],
        options: Some(SolveOptions {
            solution_limit,
            time_limit: Some(Duration { seconds, nanos }),
            omit_solutions: false,
        }),
    };
    let bytes = [options(7, 3, 0), options(0, 0, 5), options(9, 0, 0)].map(|message| message.encode_to_vec());
    let bytes = bytes.concat();
    let received = Puzzles::read(&bytes).unwrap();
    assert_eq!(received.len(), 3);
    assert_eq!(received.options(), options(9, 3, 5).options.as_ref());
}

#[test]
fn cells_are_read_packed_and_one_by_one() {
    let packed = delimited(3, &[1, 2, 3], 0);
    let apart = [[0x18, 4], [0x18, 5]].concat();
    let bytes = delimited(1, &delimited(4, &[packed, apart].concat(), 0), 0);
    let received = Results::decode(bytes.as_slice()).unwrap();
    assert_eq!(response(&received).results[0].conflicts[0].cells, [1, 2, 3, 4, 5]);
}

#[test]
fn a_line_that_is_not_utf8_fails_its_message() {
    for line in [[0xff; 81], [b'.'; 81]] {
        let bytes = [delimited(1, &[b'.'; 81], 0), delimited(1, &line, 0)].concat();
        assert_eq!(Puzzles::read(&bytes).is_ok(), line.is_ascii());
    }
}

/// The frames of gRPC with these messages, as tonic makes them.
async fn through_tonic<T: Encode>(messages: Vec<T>) -> Bytes {
    let source = tokio_stream::iter(messages.into_iter().map(Ok));
    let body = EncodeBody::new_client(Codec::<T, Results>::default().encoder(), source, None, None);
    body.collect().await.unwrap().to_bytes()
}

/// The responses in the frames of gRPC, which come in `pieces`, as tonic reads them.
async fn from_tonic(pieces: Vec<Bytes>) -> Vec<Result<Results, Status>> {
    let frames = pieces
        .into_iter()
        .map(|piece| Ok::<_, Status>(http_body::Frame::data(piece)));
    let body = StreamBody::new(tokio_stream::iter(frames));
    let decoder = Codec::<PuzzleWriter, Results>::default().decoder();
    Streaming::new_request(decoder, body, None, None).collect().await
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

/// A message with what stands before it in gRPC.
fn framed(message: &[u8]) -> Vec<u8> {
    [&[0], (message.len() as u32).to_be_bytes().as_slice(), message].concat()
}

proptest! {
    #[test]
    fn messages_pass_through_the_frames_of_grpc(
        counts in vec(0..300_u32, 1..4),
        cuts in vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let line = |number| format!("{number:.>81}");
        let messages: Vec<Vec<String>> = counts.iter().map(|&count| (0..count).map(line).collect()).collect();
        let requests: Vec<PuzzleWriter> = messages.iter().map(|lines| {
            let mut writer = PuzzleWriter::default();
            lines.iter().for_each(|line| writer.push(&as_line(line)));
            writer
        }).collect();
        let expected: Vec<u8> = requests.iter().flat_map(|request| framed(&encoded(request))).collect();
        prop_assert_eq!(run(through_tonic(requests)), expected);

        let responses = messages.iter().map(|lines| {
            let mut message = Vec::new();
            let mut writer = ResultWriter::new(&mut message);
            lines.iter().for_each(|line| writer.push(Outcome::Unique, 1, [as_line(line)]));
            framed(&message)
        });
        let responses: Vec<u8> = responses.flatten().collect();
        let received = run(from_tonic(pieces(&responses, &cuts)));
        let received = received.iter().map(|message| response(message.as_ref().unwrap()).results);
        let solutions = received.map(|results| results.into_iter().flat_map(|result| result.solutions).collect::<Vec<_>>());
        prop_assert_eq!(solutions.collect::<Vec<_>>(), messages);
    }
}

#[test]
fn what_is_no_message_is_an_internal_error() {
    let frame = Bytes::from_static(&[0, 0, 0, 0, 2, 0x0a, 0x05]);
    let received = run(from_tonic(vec![frame]));
    let error = received[0].as_ref().unwrap_err();
    assert_eq!(error.code(), tonic::Code::Internal);
}
