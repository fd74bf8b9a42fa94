//! Text from outside, made safe to store: writing down a failure must not fail.

/// Cleans `text` for a `text` column and cuts it to at most `max_bytes` at a character boundary.
/// PostgreSQL stores no NUL; everything else is kept.
pub fn storable(text: &str, max_bytes: usize) -> String {
    let clean = text.replace('\0', "\u{FFFD}");
    let mut end = clean.len().min(max_bytes);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    clean.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_korean_text_between_characters() {
        assert_eq!(storable("결제실패", 7), "결제");
    }

    proptest! {
        #[test]
        fn is_never_longer_than_asked_and_holds_no_nul(text in any::<String>(), max in 0_usize..64) {
            let stored = storable(&text, max);
            prop_assert!(stored.len() <= max);
            prop_assert!(!stored.contains('\0'));
        }
    }
}
