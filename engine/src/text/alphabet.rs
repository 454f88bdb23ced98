//! Which characters are cells, and which only part them.

/// The value of a cell's character: the digit, 0 for one of the blanks `.`, `0`, `*`, `-`, `_` and `?`.
pub(super) fn value(character: char) -> Option<u8> {
    match character {
        '0'..='9' => Some(character as u8 - b'0'),
        '.' | '*' | '-' | '_' | '?' => Some(0),
        _ => None,
    }
}

pub(super) fn is_cell(character: char) -> bool {
    value(character).is_some()
}

/// The cells of 81 characters, `None` if one of them is none. Without a branch, so that it compiles to vector
/// instructions: every line of a plain file goes through it.
pub(super) fn cells(characters: &[u8; 81]) -> Option<[u8; 81]> {
    let mut cells = [0; 81];
    let mut all_good = true;
    for (cell, &byte) in cells.iter_mut().zip(characters) {
        let digit = byte.wrapping_sub(b'0');
        let is_digit = digit <= 9;
        let is_blank = (byte == b'.') | (byte == b'*') | (byte == b'-') | (byte == b'_') | (byte == b'?');
        all_good &= is_digit | is_blank;
        *cell = if is_digit { digit } else { 0 };
    }
    all_good.then_some(cells)
}

/// What is not seen at the ends of a line: white space, and the byte-order mark, which two joined files have inside.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

/// What parts the fields of a line file or a csv file.
pub(super) fn parts_fields(character: char) -> bool {
    character.is_whitespace() || matches!(character, ',' | ';' | ':' | '|' | '"' | '\'')
}

/// What may stand between the cells of one row: also borders, brackets, and `/` between rows on one line.
pub(super) fn parts_cells(character: char) -> bool {
    parts_fields(character)
        || is_upright(character)
        || is_box_drawing(character)
        || matches!(character, '/' | '[' | ']' | '{' | '}' | '(' | ')')
}

/// An upright border.
pub(super) fn is_upright(character: char) -> bool {
    matches!(
        character,
        '|' | '!' | '¦' | '│' | '┃' | '║' | '┆' | '┇' | '┊' | '┋' | '╎' | '╏'
    )
}

/// A border of any direction from Unicode's box drawings.
pub(super) fn is_box_drawing(character: char) -> bool {
    matches!(character, '\u{2500}'..='\u{257f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_characters_agree() {
        for byte in 0..=u8::MAX {
            let expected = value(char::from(byte)).map(|value| [value; 81]);
            assert_eq!(cells(&[byte; 81]), expected, "{byte:#x}");
        }
        for place in 0..81 {
            let mut line = [b'7'; 81];
            line[place] = b'a';
            assert_eq!(cells(&line), None, "{place}");
        }
    }
}
