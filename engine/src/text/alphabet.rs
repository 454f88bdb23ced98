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

/// The cells of 81 characters, `None` if one of them is none. In runs that each fit a register, and without a branch:
/// many lines of a plain file go through it.
pub(super) fn cells(characters: &[u8; 81]) -> Option<[u8; 81]> {
    let mut cells = [0; 81];
    let mut all_good = true;
    // The last run overlaps the one before it.
    for start in [0, 16, 32, 48, 64, 65] {
        let mut run = [0; 16];
        run.copy_from_slice(&characters[start..start + 16]);
        let (run, is_good) = cells_of_run(run);
        cells[start..start + 16].copy_from_slice(&run);
        all_good &= is_good;
    }
    all_good.then_some(cells)
}

#[inline(always)]
fn cells_of_run(characters: [u8; 16]) -> ([u8; 16], bool) {
    let mut cells = [0; 16];
    let mut bad = [false; 16];
    for i in 0..16 {
        let byte = characters[i];
        let digit = byte.wrapping_sub(b'0');
        let is_digit = digit <= 9;
        let is_blank = (byte == b'.') | (byte == b'*') | (byte == b'-') | (byte == b'_') | (byte == b'?');
        bad[i] = !(is_digit | is_blank);
        cells[i] = if is_digit { digit } else { 0 };
    }
    (cells, bad == [false; 16])
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
