//! The credential that calls carry.

use std::fmt;

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::Error;

/// A bearer token, as calls carry it.
#[derive(Clone)]
pub(crate) struct Token(MetadataValue<Ascii>);

impl Token {
    /// # Errors
    ///
    /// [`Error::Config`] for what no header can carry.
    pub(crate) fn new(token: &str) -> Result<Self, Error> {
        let refused = "the token is empty, or has characters that no header may have";
        if token.is_empty() {
            return Err(Error::config(refused));
        }
        let mut value: MetadataValue<Ascii> = format!("Bearer {token}")
            .parse()
            .map_err(|_| Error::config(refused))?;
        // Kept out of logs and of the memory of header compression.
        value.set_sensitive(true);
        Ok(Self(value))
    }

    pub(crate) fn add_to(&self, headers: &mut MetadataMap) {
        headers.insert("authorization", self.0.clone());
    }
}

/// Without the token.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
