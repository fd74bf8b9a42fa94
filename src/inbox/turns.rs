use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError, Weak},
};

use tokio::sync::OwnedMutexGuard;

use super::InboxKey;

/// One at a time for each message: one that is delivered again while it is still being carried out waits for the end
/// instead of using up a try. Across processes the inbox row and the rows that it names do that.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<InboxKey, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    pub(super) async fn take(&self, key: InboxKey) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_key, turn| turn.strong_count() > 0);
            let known = turns.get(&key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = std::sync::Arc::default();
                turns.insert(key, std::sync::Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn the_second_of_the_same_waits_and_another_does_not() {
        let turns = Turns::default();
        let key = |number| InboxKey { event_id: Uuid::from_u128(number), consumer: "q" };
        let first = turns.take(key(1)).await;
        drop(turns.take(key(2)).await);
        let soon = Duration::from_millis(20);
        assert!(tokio::time::timeout(soon, turns.take(key(1))).await.is_err());
        drop(first);
        assert!(tokio::time::timeout(soon, turns.take(key(1))).await.is_ok());
    }
}
