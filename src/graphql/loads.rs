//! The loads of one operation, carried out in the operation's own task.
//!
//! A load takes its keys when it is polled. In a task of its own it may do so while the resolvers of a page are still
//! asking, and a page then costs another statement whenever the machine is busy. Here it waits until they all have.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::{
    Stream, StreamExt,
    future::BoxFuture,
    stream::{BoxStream, FuturesUnordered},
    task::AtomicWaker,
};

type Load = BoxFuture<'static, ()>;

/// Where loaders put what they want carried out.
#[derive(Clone, Default)]
pub(super) struct Loads(Arc<Wanted>);

#[derive(Default)]
struct Wanted {
    loads: Mutex<Vec<Load>>,
    answers: AtomicU64,
}

impl Loads {
    /// Carries it out with the operation; dropped with the operation too, and it must bear that.
    pub(super) fn spawn(&self, load: Load) {
        self.0.loads.lock().unwrap_or_else(PoisonError::into_inner).push(load);
    }

    fn take(&self) -> Vec<Load> {
        std::mem::take(&mut self.0.loads.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers that the operation has given: a subscription gives many.
    pub(super) fn answers(&self) -> u64 {
        self.0.answers.load(Ordering::SeqCst)
    }

    pub(super) fn answered(&self) {
        self.0.answers.fetch_add(1, Ordering::SeqCst);
    }
}

/// What an operation yields, with the loads that it waits for.
pub(super) struct WithLoads<T> {
    responses: BoxStream<'static, T>,
    resolvers: Arc<Resolvers>,
    loads: Loads,
    running: FuturesUnordered<Load>,
}

/// Tells whether a resolver wants to go on at once.
#[derive(Default)]
struct Resolvers {
    woken: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Resolvers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        self.task.wake();
    }
}

impl<T> WithLoads<T> {
    /// Runs the operation whose loaders spawn into `loads`.
    pub(super) fn new(responses: BoxStream<'static, T>, loads: Loads) -> Self {
        Self { responses, resolvers: Arc::default(), loads, running: FuturesUnordered::new() }
    }

    fn resolve(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.resolvers.task.register(cx.waker());
        self.resolvers.woken.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.resolvers));
        self.responses.poll_next_unpin(&mut Context::from_waker(&waker))
    }

    /// Goes on with what was asked for. Whether a load ended: its resolvers may go on then.
    fn load(&mut self, cx: &mut Context<'_>) -> bool {
        self.running.extend(self.loads.take());
        let mut ended = false;
        while let Poll::Ready(Some(())) = self.running.poll_next_unpin(cx) {
            ended = true;
        }
        ended
    }
}

impl<T> Stream for WithLoads<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            if let Poll::Ready(response) = self.resolve(cx) {
                self.loads.answered();
                return Poll::Ready(response);
            }
            // Many resolvers are polled in several goes. Those that have not been will ask as well.
            if self.resolvers.woken.load(Ordering::SeqCst) || !self.load(cx) {
                return Poll::Pending;
            }
        }
    }
}
