//! The query's raw text: how long, how deeply nested, how many tokens.
//!
//! It reads strings, block strings and comments exactly as async-graphql's grammar does (graphql.pest). Where
//! the two could disagree the text is refused: an unterminated block string, which the grammar would read
//! again as an empty string and go on, and brackets that do not match.

use super::{MAX_NESTING, MAX_QUERY_BYTES, MAX_TOKENS};
use crate::graphql::error::ApiError;

/// Refuses a text that is not safe to parse.
pub fn check(query: &str) -> Result<(), ApiError> {
    if query.len() > MAX_QUERY_BYTES {
        return Err(ApiError::too_complex(format!("The query is longer than {MAX_QUERY_BYTES} bytes.")));
    }
    Scanner { rest: query.as_bytes(), open: Vec::with_capacity(MAX_NESTING), tokens: 0 }.scan()
}

struct Scanner<'a> {
    rest: &'a [u8],
    /// The closing brackets that are still to come.
    open: Vec<u8>,
    tokens: usize,
}

impl Scanner<'_> {
    fn scan(mut self) -> Result<(), ApiError> {
        while let Some(&byte) = self.rest.first() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b',' => self.skip(1),
                b'#' => self.comment(),
                b'"' => self.string()?,
                b'(' => self.open(b')')?,
                b'[' => self.open(b']')?,
                b'{' => self.open(b'}')?,
                b')' | b']' | b'}' => self.close(byte)?,
                b'.' if self.rest.starts_with(b"...") => self.token(3)?,
                _ => self.word()?,
            }
        }
        if self.open.is_empty() { Ok(()) } else { Err(unbalanced()) }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn token(&mut self, bytes: usize) -> Result<(), ApiError> {
        self.tokens += 1;
        if self.tokens > MAX_TOKENS {
            return Err(ApiError::too_complex(format!("The query has more than {MAX_TOKENS} tokens.")));
        }
        self.skip(bytes);
        Ok(())
    }

    fn open(&mut self, closing: u8) -> Result<(), ApiError> {
        if self.open.len() >= MAX_NESTING {
            return Err(ApiError::too_complex(format!(
                "The query nests deeper than {MAX_NESTING} brackets."
            )));
        }
        self.open.push(closing);
        self.token(1)
    }

    fn close(&mut self, closing: u8) -> Result<(), ApiError> {
        if self.open.pop() != Some(closing) {
            return Err(unbalanced());
        }
        self.token(1)
    }

    /// A name, a number, or a single mark; what is none of them is the parser's to refuse.
    fn word(&mut self) -> Result<(), ApiError> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = self.rest.iter().position(|byte| !is_word(byte)).unwrap_or(self.rest.len());
        self.token(length.max(1))
    }

    fn comment(&mut self) {
        let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        self.skip(end.unwrap_or(self.rest.len()));
    }

    fn string(&mut self) -> Result<(), ApiError> {
        let length =
            if self.rest.starts_with(b"\"\"\"") { block_string(self.rest) } else { plain_string(self.rest) };
        self.token(length.ok_or_else(|| ApiError::bad_request("The query has a string without an end."))?)
    }
}

/// The length of the block string that `text` begins with.
fn block_string(text: &[u8]) -> Option<usize> {
    let mut at = 3;
    loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        if rest.starts_with(b"\"\"\"") {
            return Some(at + 3);
        }
        at += if rest.starts_with(b"\\\"\"\"") { 4 } else { 1 };
    }
}

/// The length of the string that `text` begins with; a string ends on its line.
fn plain_string(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' | b'\r' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn unbalanced() -> ApiError {
    ApiError::bad_request("The query's brackets do not match.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::error::Code;
    use proptest::prelude::*;

    fn code(query: &str) -> Option<Code> {
        check(query).err().map(|error| error.code())
    }

    #[test]
    fn nested_lists_objects_and_selections_are_refused_before_parsing() {
        for (open, close) in [("[", "]"), ("{a:", "}"), ("{a", "}"), ("[{a:[", "]}]")] {
            let query = format!("{{a(x:{}1{})}}", open.repeat(3_000), close.repeat(3_000));
            assert_eq!(code(&query), Some(Code::QueryTooComplex), "{open}");
        }
        let list_type = format!("query($v:{}Int{}){{a}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(code(&list_type), Some(Code::QueryTooComplex));
    }

    #[test]
    fn unclosed_brackets_do_not_reach_the_parser() {
        assert_eq!(code(&format!("{{a(x:{}", "[".repeat(60))), Some(Code::BadUserInput));
        assert_eq!(code("{a(x:[1})}"), Some(Code::BadUserInput));
    }

    #[test]
    fn strings_and_comments_neither_hide_nor_add_nesting() {
        let brackets = "[".repeat(200);
        let hidden = format!("{}1{}", brackets, "]".repeat(200));
        for harmless in [
            format!("{{a(x:\"{brackets}\")}}"),
            format!("{{a(x:\"\\\"{brackets}\")}}"),
            format!("{{a(x:\"\"\"{brackets}\n\\\"\"\" \" {brackets}\"\"\")}}"),
            format!("{{a #{brackets}\n}}"),
        ] {
            assert_eq!(code(&harmless), None, "{harmless}");
        }
        for trick in [
            // The quote in the comment opens nothing.
            format!("{{a # \"\n(x:{hidden})}}"),
            format!("{{a # \"\r(x:{hidden})}}"),
            // An empty string, then brackets.
            format!("{{a(x:[\"\"{hidden}\"\"])}}"),
            // An empty block string, then brackets.
            format!("{{a(x:[\"\"\"\"\"\"{hidden}])}}"),
            // An escaped backslash ends before the quote.
            format!("{{a(x:[\"\\\\\"{hidden}\"\"])}}"),
            // The number sign stands in a string.
            format!("{{a(x:[\"#\"{hidden}])}}"),
        ] {
            assert_eq!(code(&trick), Some(Code::QueryTooComplex), "{trick}");
        }
    }

    #[test]
    fn an_unterminated_block_string_is_refused_since_the_grammar_reads_it_twice() {
        assert_eq!(code("{a(x:[\"\"\"[[[[)}"), Some(Code::BadUserInput));
        assert_eq!(code("{a(x:\"abc\n\")}"), Some(Code::BadUserInput));
    }

    #[test]
    fn length_and_tokens_are_bounded() {
        assert_eq!(code(&" ".repeat(MAX_QUERY_BYTES + 1)), Some(Code::QueryTooComplex));
        assert_eq!(code(&"@a ".repeat(10_000)), Some(Code::QueryTooComplex));
        assert_eq!(
            code("query A($a: [Int!] = [1]) { a(x: $a, y: -1.5e3) @include(if: true) { ...f } }"),
            None
        );
    }

    proptest! {
        #[test]
        fn what_passes_never_overflows_the_parser(parts in prop::collection::vec(
            prop::sample::select(vec!["{", "}", "[", "]", "(", ")", "\"", "\"\"\"", "\\", "#", "\n", "a", ":", "1", "$", " ", "...", "on "]),
            0..400,
        )) {
            let text = format!("{{a(x:{})}}", parts.concat());
            if check(&text).is_ok() {
                let _parsed = async_graphql::parser::parse_query(&text);
            }
        }
    }
}
