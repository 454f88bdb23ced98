//! Bearer tokens: who may call, without a certificate.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::watched::{FileError, Problem, Watched};

/// The tokens that the server takes. Clones share them.
#[derive(Debug, Clone)]
pub struct Tokens(Arc<Watched<Vec<Token>>>);

/// What is known of a token: not itself.
#[derive(Debug)]
struct Token {
    name: String,
    digest: [u8; 32],
}

impl Tokens {
    /// Reads a file with a line for each token: a name, and the SHA-256 digest of the token in 64 hexadecimal digits. Empty
    /// lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, holds no token, or has a line of another kind.
    pub fn load(file: PathBuf) -> Result<Self, FileError> {
        let parse = |files: &[Vec<u8>]| parse(&files[0]).map_err(|problem| (0, problem));
        Ok(Self(Arc::new(Watched::load(vec![file], parse)?)))
    }

    /// Reads the file again if it has changed, and says in the log what came of it. If it is no good, the old tokens stay.
    pub fn refresh(&self) {
        match self.0.refresh() {
            Ok(true) => tracing::info!(
                count = self.0.current().len(),
                "the tokens that are taken have changed"
            ),
            Ok(false) => {}
            Err(error) => tracing::error!(%error, "the new tokens are no good; the old ones are kept"),
        }
    }

    /// Whether a request has one of the tokens. It takes the same time whichever it has, or nearly has.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(token) = bearer(headers) else {
            return false;
        };
        let digest: [u8; 32] = Sha256::digest(token).into();
        let tokens = self.0.current();
        let mut found = Choice::from(0);
        for token in tokens.iter() {
            found |= token.digest.ct_eq(&digest);
        }
        found.into()
    }
}

/// The token of a request's only `authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
    let token = token.trim_ascii();
    // An empty one has a digest too, which may stand in the file by mistake.
    (scheme.eq_ignore_ascii_case(b"Bearer ") && !token.is_empty()).then_some(token)
}

fn parse(file: &[u8]) -> Result<Vec<Token>, Problem> {
    let text = str::from_utf8(file).map_err(Problem::content)?;
    let mut tokens = Vec::new();
    let mut names = HashSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        // The line itself is not shown: somebody may have put the token there.
        let problem = |what: &str| Problem::content(format!("line {number}: {what}"));
        let token = token(line).ok_or_else(|| problem("not a name and 64 hexadecimal digits"))?;
        if !names.insert(token.name.clone()) {
            return Err(problem("a name that was there before"));
        }
        tokens.push(token);
    }
    match tokens.is_empty() {
        true => Err(Problem::content("no token, so nobody could call")),
        false => Ok(tokens),
    }
}

fn token(line: &str) -> Option<Token> {
    let mut words = line.split_whitespace();
    let (name, digits) = (words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let mut digest = [0; 32];
    hex::decode_to_slice(digits, &mut digest).ok()?;
    Some(Token {
        name: name.to_owned(),
        digest,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn digest(token: &str) -> String {
        hex::encode(Sha256::digest(token))
    }

    #[test]
    fn a_file_of_tokens() {
        let text = format!(
            "# who may call\n\nbatch {}\n  web\t{}  \n",
            digest("a"),
            digest("b").to_uppercase()
        );
        let tokens = parse(text.as_bytes()).unwrap();
        let names: Vec<_> = tokens.iter().map(|token| token.name.as_str()).collect();
        assert_eq!(names, ["batch", "web"]);
    }

    #[test]
    fn no_token_is_not_the_empty_one() {
        for (value, expected) in [
            ("Bearer t", Some("t")),
            ("bearer  t ", Some("t")),
            ("Bearer ", None),
            ("Bearer   ", None),
            ("Basic t", None),
        ] {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
            assert_eq!(bearer(&headers), expected.map(str::as_bytes), "{value:?}");
        }
    }

    #[test]
    fn a_wrong_line_is_told_by_its_number_alone() {
        let good = digest("a");
        for (text, number) in [
            ("secret\n".to_owned(), "line 1"),
            (format!("a {good}\nb secret\n"), "line 2"),
            (format!("a {good} secret\n"), "line 1"),
            (format!("a {}secret\n", &good[6..]), "line 1"),
            (format!("a {good}\n\na {good}\n"), "line 3"),
            (String::new(), "no token"),
            ("# secret".to_owned(), "no token"),
        ] {
            let problem = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(problem.contains(number), "{text:?}: {problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }

    #[test]
    fn who_is_let_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        fs::write(
            &path,
            format!("one {}\ntwo {}\n", digest("first"), digest("second")),
        )
        .unwrap();
        let tokens = Tokens::load(path.clone()).unwrap();
        let admitted = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            tokens.admit(&headers)
        };
        assert!(admitted(&["Bearer first"]) && admitted(&["bearer second"]));
        for wrong in [
            "",
            "first",
            "Bearer",
            "Bearer ",
            "Bearer firs",
            "Bearer First",
            "Basic first",
            "Bearerfirst",
        ] {
            assert!(!admitted(&[wrong]), "{wrong}");
        }
        assert!(!admitted(&[]));
        assert!(!admitted(&["Bearer first", "Bearer second"]));

        fs::write(&path, format!("two {}\n", digest("second"))).unwrap();
        tokens.refresh();
        assert!(!admitted(&["Bearer first"]) && admitted(&["Bearer second"]));
    }
}
