//! Everything that went wrong: recorded in the transaction of the outcome, numbered when visible, fed live.

mod feed;
mod model;
mod numbering;
mod record;
mod store;

pub use feed::{FailureFeed, FeedItem};
pub use model::{Failure, FailureKind, NewFailure, Severity, SubjectType};
pub use record::{record, record_all};
pub use store::{FailureFilter, by_ids, for_subjects, is_told, per_minute};
