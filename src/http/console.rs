//! The console's files, which are inside the binary.

use axum::{
    Extension, Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use rust_embed::{Embed, EmbeddedFile};

use super::{answer, request_id::RequestId};

/// What `make build` has put there; nothing, where the server was built without Node.
#[derive(Embed)]
#[folder = "web/dist/"]
struct Dist;

const INDEX: &str = "index.html";
/// Scripts and styles of ours alone, no inline ones, no frames, and no string that turns into code or markup.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const WITHOUT_CONSOLE: &str = "This server was built without its console, which needs Node 20 or newer: install it and \
    build again with `make build`. The API is at /graphql.\n";

/// Serves the console wherever no other route does.
pub fn console() -> Router {
    Router::new().fallback(serve)
}

async fn serve(request_id: Extension<RequestId>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return answer::not_found(request_id).await;
    }
    let path = uri.path().trim_start_matches('/');
    // Not the page itself: it is for every path, below.
    let asset = file(path).filter(|_| path != INDEX);
    match asset {
        Some(asset) => answered(path, asset, &headers),
        None if path.is_empty() || (is_page(path) && accepts_html(&headers)) => match file(INDEX) {
            Some(index) => answered(INDEX, index, &headers),
            None => (StatusCode::NOT_FOUND, WITHOUT_CONSOLE).into_response(),
        },
        None => answer::not_found(request_id).await,
    }
}

fn file(path: &str) -> Option<EmbeddedFile> {
    Dist::get(&format!("console/{path}"))
}

/// A missing script must not be answered with the page: it would be run as one.
fn is_page(path: &str) -> bool {
    !path.starts_with("assets/")
}

fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|kind| kind.trim().starts_with("text/html"))
}

fn answered(path: &str, plain: EmbeddedFile, headers: &HeaderMap) -> Response {
    let tag =
        plain.metadata.sha256_hash().iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>();
    let (encoding, file) = encoded(path, plain, headers);
    let tag = format!("\"{tag}{}\"", encoding.map(|name| format!("-{name}")).unwrap_or_default());
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = if known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag)) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(file.data.into_owned()).into_response()
    };
    // Built names carry a hash of what they hold; everything else is asked for anew.
    let cached = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let own = response.headers_mut();
    own.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static(cached));
    own.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    own.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        own.insert(header::ETAG, tag);
    }
    if let Some(name) = encoding {
        own.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
    }
    response
}

/// The smallest form that the browser takes; the build puts them beside the file.
fn encoded(path: &str, plain: EmbeddedFile, headers: &HeaderMap) -> (Option<&'static str>, EmbeddedFile) {
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let takes = |name: &str| {
        accepted
            .split(',')
            .any(|one| one.split(';').next().is_some_and(|one| one.trim() == name) && !one.contains("q=0"))
    };
    let forms = [("br", "br"), ("gzip", "gz")].into_iter().filter(|(name, _)| takes(name));
    let found = forms.filter_map(|(name, ending)| Some((name, file(&format!("{path}.{ending}"))?))).next();
    found.map_or((None, plain), |(name, file)| (Some(name), file))
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
