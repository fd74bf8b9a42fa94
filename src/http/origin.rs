//! Whether a request comes from a page of ours.

use axum::http::{HeaderMap, header};

/// No `Origin` means no browser. One that names our own host is ours; `null` and every other one is foreign.
pub fn is_foreign(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return false };
    let own = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let own_origin = || {
        let (scheme, authority) = origin.to_str().ok()?.split_once("://")?;
        let default_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return None,
        };
        let without_port =
            |authority: &str| authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
        Some(without_port(authority) == without_port(own?))
    };
    own_origin() != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn foreign(origin: &'static str, host: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        headers.insert(header::HOST, HeaderValue::from_static(host));
        is_foreign(&headers)
    }

    #[test]
    fn only_our_own_host_is_ours() {
        assert!(!foreign("http://localhost:8080", "localhost:8080"));
        assert!(!foreign("https://Paydesk.example", "paydesk.example:443"));
        assert!(!foreign("https://paydesk.example:443", "paydesk.example"));
        for (origin, host) in [
            ("https://evil.example", "paydesk.example"),
            ("https://paydesk.example.evil.example", "paydesk.example"),
            ("https://evilpaydesk.example", "paydesk.example"),
            ("http://localhost:3000", "localhost:8080"),
            ("null", "paydesk.example"),
            ("file://paydesk.example", "paydesk.example"),
            ("", "paydesk.example"),
        ] {
            assert!(foreign(origin, host), "{origin}");
        }
        assert!(!is_foreign(&HeaderMap::new()));
    }
}
