use thiserror::Error;

/// An id that is not a positive 64-bit whole number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("must be a whole number from 1 to {max}, as a string of digits", max = i64::MAX)]
pub struct IdError;

/// Reads an id of ours or of another service (`userId`, `meetingId`): digits only, from 1 on.
pub fn parse_id(text: &str) -> Result<i64, IdError> {
    let canonical = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if canonical { text.parse::<i64>().ok() } else { None };
    number.filter(|id| *id > 0).ok_or(IdError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_positive_whole_numbers_and_nothing_else() {
        assert_eq!(parse_id("9223372036854775807"), Ok(i64::MAX));
        for bad in ["", "0", "-1", "+1", "1.5", " 1", "9223372036854775808", "abc"] {
            assert_eq!(parse_id(bad), Err(IdError), "{bad:?}");
        }
    }
}
