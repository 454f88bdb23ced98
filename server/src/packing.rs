//! Packed messages. Each is packed by itself.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use http::HeaderMap;

use crate::error::Error;

/// The bytes that take as long to copy and look at as a message takes to pack or unpack, however short it is.
pub(crate) const OVERHEAD: usize = 4 << 10;

/// How messages may be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
}

impl Packing {
    /// The packing of requests with these headers.
    ///
    /// # Errors
    ///
    /// It is one that is not known here.
    pub fn of_requests(headers: &HeaderMap) -> Result<Self, Error> {
        match headers.get("grpc-encoding").map(|encoding| encoding.as_bytes()) {
            None | Some(b"identity") => Ok(Self::None),
            Some(b"gzip") => Ok(Self::Gzip),
            Some(_) => Err(Error::Encoding),
        }
    }

    /// The packing of the answers to requests with these headers, which are packed so.
    ///
    /// Most clients say that they take gzip, always. Packing each answer for them would cost more than all the solving, so
    /// only those are meant that pack their requests too.
    pub fn for_answers(self, headers: &HeaderMap) -> Self {
        let accepted = headers
            .get_all("grpc-accept-encoding")
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|encoding| encoding.trim() == "gzip");
        match accepted {
            true => self,
            false => Self::None,
        }
    }
}

/// Unpacks a message of at most `limit` bytes into `unpacked`.
pub(crate) fn unpack(packed: &[u8], limit: u32, unpacked: &mut Vec<u8>) -> Result<(), Error> {
    unpacked.clear();
    let most = u64::from(limit) + 1;
    let mut decoder = GzDecoder::new(packed);
    decoder
        .by_ref()
        .take(most)
        .read_to_end(unpacked)
        .map_err(|error| Error::malformed(&error.to_string()))?;
    if unpacked.len() as u64 == most {
        return Err(Error::MessageTooLarge { limit });
    }
    match decoder.get_ref().is_empty() {
        true => Ok(()),
        false => Err(Error::malformed("more bytes follow a packed message")),
    }
}

/// Packs a message, at the end of `packed`.
pub(crate) fn pack(message: &[u8], packed: &mut Vec<u8>) {
    // Packing takes longer than solving at every level, and least at this one.
    let mut encoder = GzEncoder::new(packed, Compression::fast());
    // Only a writer that fails makes this fail, and memory does not.
    let _ = encoder.write_all(message).and_then(|()| encoder.try_finish());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(entries: &[(&'static str, &'static str)]) -> HeaderMap {
        let entry = |&(name, value): &(&'static str, &'static str)| {
            let name = http::HeaderName::from_static(name);
            (name, http::HeaderValue::from_static(value))
        };
        entries.iter().map(entry).collect()
    }

    #[test]
    fn answers_are_packed_only_for_those_who_pack() {
        let accepts = ("grpc-accept-encoding", "identity, gzip");
        for (entries, requests, answers) in [
            (vec![accepts], Packing::None, Packing::None),
            (
                vec![("grpc-encoding", "identity"), accepts],
                Packing::None,
                Packing::None,
            ),
            (
                vec![("grpc-encoding", "gzip"), accepts],
                Packing::Gzip,
                Packing::Gzip,
            ),
            (vec![("grpc-encoding", "gzip")], Packing::Gzip, Packing::None),
        ] {
            let headers = headers(&entries);
            assert_eq!(Packing::of_requests(&headers), Ok(requests));
            assert_eq!(requests.for_answers(&headers), answers);
        }
        let zstd = headers(&[("grpc-encoding", "zstd")]);
        assert_eq!(Packing::of_requests(&zstd), Err(Error::Encoding));
    }

    #[test]
    fn the_limit_holds_for_what_is_unpacked() {
        let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
        let message = vec![7; 1_000];
        pack(&message, &mut packed);
        assert!(packed.len() < 100);
        assert_eq!(unpack(&packed, 1_000, &mut unpacked), Ok(()));
        assert_eq!(unpacked, message);
        let error = unpack(&packed, 999, &mut unpacked);
        assert_eq!(error, Err(Error::MessageTooLarge { limit: 999 }));
        packed.truncate(packed.len() - 1);
        assert!(matches!(
            unpack(&packed, 1_000, &mut unpacked),
            Err(Error::Malformed(_))
        ));
    }

    /// Else a message of several packed ones, which gzip allows, would lose all but the first.
    #[test]
    fn nothing_follows_a_packed_message() {
        let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
        pack(b"one", &mut packed);
        let mut two = packed.clone();
        pack(b"another", &mut two);
        let more = Err(Error::malformed("more bytes follow a packed message"));
        for longer in [
            two,
            [packed.as_slice(), b"junk"].concat(),
            [packed, vec![0]].concat(),
        ] {
            assert_eq!(unpack(&longer, 1_000, &mut unpacked), more);
        }
    }

    /// It may be a thousand times as much.
    #[test]
    fn what_is_past_the_limit_is_not_unpacked() {
        let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
        pack(&vec![7; 1 << 20], &mut packed);
        // Whoever unpacks it all finds that the end is missing.
        packed.truncate(packed.len() / 2);
        let error = unpack(&packed, 1_000, &mut unpacked);
        assert_eq!(error, Err(Error::MessageTooLarge { limit: 1_000 }));
    }
}
