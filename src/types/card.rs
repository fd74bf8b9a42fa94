use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

/// A payment card as the payer typed it.
///
/// It cannot be displayed or serialised, its `Debug` says nothing, and its fields are zeroised on drop.
/// Only a gateway client reads them, through [`Card::expose`].
#[derive(Clone)]
pub struct Card {
    number: SecretString,
    expiration_year: SecretString,
    expiration_month: SecretString,
    password: Option<SecretString>,
    identity_number: Option<SecretString>,
}

/// The card's fields, borrowed for the one moment a gateway request is built.
pub struct CardFields<'a> {
    /// Digits only.
    pub number: &'a str,
    /// Two digits.
    pub expiration_year: &'a str,
    /// Two digits, 01 to 12.
    pub expiration_month: &'a str,
    /// The first two digits of the PIN, where the contract asks for them.
    pub password: Option<&'a str>,
    /// Birth date (6 digits) or business number (10 digits), where the contract asks for it.
    pub identity_number: Option<&'a str>,
}

/// What is wrong with a card, by field; never the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct CardError {
    /// The input field at fault, as the API names it.
    pub field: &'static str,
    /// What it must be.
    pub message: &'static str,
}

impl Card {
    /// Checks the fields' form and wraps them. The values are never part of the error.
    pub fn new(
        number: String,
        expiration_year: String,
        expiration_month: String,
        password: Option<String>,
        identity_number: Option<String>,
    ) -> Result<Self, CardError> {
        let card = Self {
            number: SecretString::from(number),
            expiration_year: SecretString::from(expiration_year),
            expiration_month: SecretString::from(expiration_month),
            password: password.map(SecretString::from),
            identity_number: identity_number.map(SecretString::from),
        };
        card.check()?;
        Ok(card)
    }

    /// Reads a card from a setting: `number:YY:MM:password:identity`, where the last two may be empty.
    pub fn from_setting(text: &str) -> Result<Self, CardError> {
        let parts: Vec<&str> = text.trim().split(':').collect();
        let [number, year, month, password, identity] = parts.as_slice() else {
            return Err(CardError { field: "card", message: "it must be number:YY:MM:password:identity" });
        };
        let owned = |part: &&str| (*part).to_owned();
        let optional = |part: &&str| Some(owned(part)).filter(|part| !part.is_empty());
        Self::new(owned(number), owned(year), owned(month), optional(password), optional(identity))
    }

    fn check(&self) -> Result<(), CardError> {
        let fields = self.expose();
        let rules: [(bool, &'static str, &'static str); 5] = [
            (digits(fields.number, 12..=20), "number", "the card number must be 12 to 20 digits"),
            (
                digits(fields.expiration_year, 2..=2),
                "expirationYear",
                "the expiration year must be two digits, such as 30",
            ),
            (
                digits(fields.expiration_month, 2..=2) && ("01"..="12").contains(&fields.expiration_month),
                "expirationMonth",
                "the expiration month must be two digits from 01 to 12",
            ),
            (
                fields.password.is_none_or(|password| digits(password, 2..=2)),
                "password",
                "the card password must be the first two digits of the PIN",
            ),
            (
                fields.identity_number.is_none_or(|number| digits(number, 6..=6) || digits(number, 10..=10)),
                "identityNumber",
                "the identity number must be a birth date (6 digits) or a business number (10 digits)",
            ),
        ];
        match rules.into_iter().find(|(holds, ..)| !holds) {
            None => Ok(()),
            Some((_, field, message)) => Err(CardError { field, message }),
        }
    }

    /// Lends the fields to a gateway client, for building its request and nothing else.
    pub fn expose(&self) -> CardFields<'_> {
        CardFields {
            number: self.number.expose_secret(),
            expiration_year: self.expiration_year.expose_secret(),
            expiration_month: self.expiration_month.expose_secret(),
            password: self.password.as_ref().map(ExposeSecret::expose_secret),
            identity_number: self.identity_number.as_ref().map(ExposeSecret::expose_secret),
        }
    }

    /// The number's last four digits, which tell one card from another when a request is repeated.
    pub fn last_four(&self) -> &str {
        let number = self.number.expose_secret();
        number.get(number.len().saturating_sub(4)..).unwrap_or_default()
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Card(redacted)")
    }
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(number: &str, year: &str, month: &str, identity: &str) -> Result<Card, CardError> {
        Card::new(number.into(), year.into(), month.into(), None, Some(identity.into()))
    }

    #[test]
    fn debug_says_nothing_of_the_card() {
        let card = card("9410001234567890", "30", "12", "900101").unwrap();
        assert_eq!(format!("{card:?}"), "Card(redacted)");
        assert_eq!(card.last_four(), "7890");
    }

    #[test]
    fn a_setting_holds_the_fields_in_order() {
        let card = Card::from_setting("4330000000000001:30:12:00:900101").unwrap();
        let fields = card.expose();
        assert_eq!((fields.expiration_year, fields.expiration_month), ("30", "12"));
        assert_eq!((fields.password, fields.identity_number), (Some("00"), Some("900101")));
        assert!(Card::from_setting("4330000000000001:30:12::900101").unwrap().expose().password.is_none());
        assert_eq!(Card::from_setting("4330000000000001:30:12").unwrap_err().field, "card");
    }

    #[test]
    fn each_bad_field_is_named_and_its_value_is_not() {
        let cases = [
            (card("9410-0012", "30", "12", "900101"), "number"),
            (card("9410001234567890", "2030", "12", "900101"), "expirationYear"),
            (card("9410001234567890", "30", "13", "900101"), "expirationMonth"),
            (card("9410001234567890", "30", "12", "9001"), "identityNumber"),
        ];
        for (result, field) in cases {
            let error = result.unwrap_err();
            assert_eq!(error.field, field);
            assert!(!error.to_string().contains("9410-0012"));
        }
    }
}
