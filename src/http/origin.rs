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

/// Whether the request is addressed to this very machine. A foreign name that was made to lead here is not.
pub fn is_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name =
        host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
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
    fn only_this_machine_is_loopback() {
        let loopback = |host: &'static str| {
            is_loopback(&HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]))
        };
        for own in ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]"] {
            assert!(loopback(own), "{own}");
        }
        for foreign in [
            "",
            "paydesk.example",
            "localhost.evil.example:80",
            "192.168.0.1:8080",
            "[::2]",
            "127.0.0.1.evil.example",
        ] {
            assert!(!loopback(foreign), "{foreign}");
        }
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
