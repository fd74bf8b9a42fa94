//! Takes the card out of a provider's text, should the provider quote it.

use crate::types::Card;

const REDACTED: &str = "[redacted]";

/// `text` without the card's number and identity number, however they are grouped with spaces or hyphens.
pub(super) fn scrub(text: &str, card: &Card) -> String {
    let fields = card.expose();
    let secrets: Vec<&str> = std::iter::once(fields.number).chain(fields.identity_number).collect();
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, from_digit) = rest.split_at(start);
        let (run, after) = from_digit.split_at(run_length(from_digit));
        let digits: String = run.chars().filter(char::is_ascii_digit).collect();
        clean.push_str(before);
        clean.push_str(if secrets.iter().any(|secret| digits.contains(secret)) { REDACTED } else { run });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

/// The length of the group of digits at the start of `text`, up to its last digit.
fn run_length(text: &str) -> usize {
    text.char_indices()
        .take_while(|(_, letter)| letter.is_ascii_digit() || matches!(letter, ' ' | '-'))
        .filter(|(_, letter)| letter.is_ascii_digit())
        .last()
        .map_or(0, |(last, _)| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_card_is_taken_out_and_the_rest_stays() {
        let card =
            Card::new("9410001234567890".into(), "30".into(), "12".into(), None, Some("900101".into()))
                .unwrap();
        let cases = [
            ("카드 9410-0012-3456-7890 거절", "카드 [redacted] 거절"),
            ("9410001234567890", "[redacted]"),
            ("born 900101, tried 3 times", "born [redacted], tried 3 times"),
            ("order PAY-2026-0001 of 11000", "order PAY-2026-0001 of 11000"),
            ("한도 초과", "한도 초과"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(scrub(text, &card), expected);
        }
    }
}
