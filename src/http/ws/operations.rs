//! The operations that run on one socket.

use std::collections::HashMap;

use futures_util::{
    StreamExt,
    stream::{self, AbortHandle, BoxStream, SelectAll},
};

use crate::graphql::Event;

/// What an operation has come to.
#[derive(Debug)]
pub enum Outcome {
    /// A result or its failure.
    Event(Event),
    /// It has ended by itself.
    Ended,
}

/// Running operations by id. They are polled only when the socket can take their results, so a slow client
/// slows them down instead of filling memory.
#[derive(Default)]
pub struct Operations {
    running: HashMap<String, AbortHandle>,
    results: SelectAll<BoxStream<'static, (String, Outcome)>>,
}

impl Operations {
    pub fn len(&self) -> usize {
        self.running.len()
    }

    pub fn contains(&self, id: &str) -> bool {
        self.running.contains_key(id)
    }

    pub fn start(&mut self, id: String, events: BoxStream<'static, Event>) {
        let ended = stream::once(std::future::ready(Outcome::Ended));
        let outcomes = events.map(Outcome::Event).chain(ended);
        let (outcomes, handle) = stream::abortable(outcomes);
        self.running.insert(id.clone(), handle);
        self.results.push(outcomes.map(move |outcome| (id.clone(), outcome)).boxed());
    }

    /// Ends an operation; nothing of it comes any more.
    pub fn stop(&mut self, id: &str) {
        if let Some(handle) = self.running.remove(id) {
            handle.abort();
        }
    }

    /// The next outcome of any operation; waits for ever while there is none.
    pub async fn next(&mut self) -> (String, Outcome) {
        match self.results.next().await {
            Some(outcome) => outcome,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Event {
        Event::Next(text.to_owned())
    }

    #[tokio::test]
    async fn a_stopped_operation_yields_nothing_and_its_id_is_free() {
        let mut operations = Operations::default();
        operations.start("1".to_owned(), stream::repeat(event("old")).boxed());
        operations.next().await;
        operations.stop("1");
        assert!(!operations.contains("1"));
        operations.start("1".to_owned(), stream::iter([event("new")]).boxed());
        let (id, outcome) = operations.next().await;
        assert!(
            id == "1" && matches!(&outcome, Outcome::Event(Event::Next(text)) if text == "new"),
            "{outcome:?}"
        );
        assert!(matches!(operations.next().await.1, Outcome::Ended));
    }
}
