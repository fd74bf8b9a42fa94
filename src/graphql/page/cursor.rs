//! Cursors: opaque to callers, and bound to the list that they came from.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::DateTime;

use crate::{db::page::Keyset, graphql::error::ApiError};

/// The form of the text inside; another form gets another number, and old cursors are then told from new.
const VERSION: &str = "1";

/// The cursor of the row with `key` in `list`.
pub fn encode(list: &str, key: Keyset) -> String {
    URL_SAFE_NO_PAD.encode(format!("{VERSION}:{list}:{}:{}", key.at.timestamp_micros(), key.id))
}

/// Reads a cursor that was given as the argument `name` of `list`.
pub fn decode(list: &str, name: &'static str, cursor: &str) -> Result<Keyset, ApiError> {
    read(list, cursor)
        .ok_or_else(|| ApiError::bad_user_input([name], format!("{name} is not a cursor of this list.")))
}

fn read(list: &str, cursor: &str) -> Option<Keyset> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let mut parts = text.split(':');
    let (version, kind, at, id) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if version != VERSION || kind != list || parts.next().is_some() {
        return None;
    }
    Some(Keyset { at: DateTime::from_timestamp_micros(at.parse().ok()?)?, id: id.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reads_back_what_it_wrote(micros in -62_135_596_800_000_000_i64..253_402_300_800_000_000, id in any::<i64>()) {
            let key = Keyset { at: DateTime::from_timestamp_micros(micros).unwrap(), id };
            prop_assert_eq!(read("payments", &encode("payments", key)), Some(key));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _key = read("payments", &text);
            let _key = read("payments", &URL_SAFE_NO_PAD.encode(&text));
        }
    }

    #[test]
    fn a_cursor_of_another_list_or_version_is_refused() {
        let key = Keyset { at: DateTime::from_timestamp_micros(5).unwrap(), id: 5 };
        let refused =
            decode("refunds", "after", &encode("payments", key)).map_err(|error| error.field().to_vec());
        assert_eq!(refused, Err(vec!["after".to_owned()]));
        assert_eq!(read("payments", &URL_SAFE_NO_PAD.encode("2:payments:5:5")), None);
        assert_eq!(read("payments", &URL_SAFE_NO_PAD.encode("1:payments:5:5:5")), None);
    }
}
