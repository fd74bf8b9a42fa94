//! Reading a request's body: bounded in size and in time, whatever its framing.

use std::time::Duration;

use axum::{body::Body, http::StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

use crate::graphql::ApiError;

/// Bytes of a body.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// How long a body may take to arrive.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that are read and thrown away so that a caller who is still sending gets to read the refusal: closing
/// with unread data resets the connection.
const MAX_DISCARDED_BYTES: usize = 256 << 20;

/// A body that was not taken.
#[derive(Debug)]
pub struct Refused {
    pub(super) status: StatusCode,
    pub(super) error: ApiError,
}

/// Reads the whole body, or says why not.
pub async fn read(body: Body, timeout: Duration) -> Result<Bytes, Refused> {
    let read = tokio::time::timeout(timeout, collect(body)).await;
    read.unwrap_or_else(|_elapsed| {
        let error = ApiError::bad_request("The body took too long to arrive.");
        Err(Refused { status: StatusCode::REQUEST_TIMEOUT, error })
    })
}

async fn collect(body: Body) -> Result<Bytes, Refused> {
    let mut chunks = body.into_data_stream();
    let mut collected = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let Ok(chunk) = chunk else {
            let error = ApiError::bad_request("The body ended early.");
            return Err(Refused { status: StatusCode::BAD_REQUEST, error });
        };
        if collected.len().saturating_add(chunk.len()) > MAX_BODY_BYTES {
            drop((collected, chunk));
            discard(&mut chunks).await;
            let error = ApiError::bad_request(format!("The body is larger than {MAX_BODY_BYTES} bytes."));
            return Err(Refused { status: StatusCode::PAYLOAD_TOO_LARGE, error });
        }
        collected.extend_from_slice(&chunk);
    }
    Ok(collected.freeze())
}

async fn discard(chunks: &mut axum::body::BodyDataStream) {
    let mut discarded = 0_usize;
    while let Some(Ok(chunk)) = chunks.next().await {
        discarded = discarded.saturating_add(chunk.len());
        if discarded > MAX_DISCARDED_BYTES {
            return;
        }
    }
}
