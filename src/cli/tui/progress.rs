//! What a connection tells while the screen is open: nothing may be written beside it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
    mpsc::Sender,
};

use crate::{
    cli::report::Report,
    operations::OperationError,
    tui::{News, Scene},
};
use gc_cluster::cluster::{Exchange, Progress};
use gc_core::{
    model::{Identity, Resource},
    wording::thousands,
};

use super::screen;

/// Passes on what is told: to the ordinary screen if that is shown, and otherwise as news.
pub(super) struct OffScreen {
    ordinary: Option<Arc<dyn Progress>>,
    news: Mutex<Sender<Message>>,
    lists: AtomicUsize,
    done: AtomicUsize,
    objects: AtomicUsize,
}

impl OffScreen {
    pub(super) fn new(ordinary: Option<Arc<dyn Progress>>, news: Sender<Message>) -> Self {
        let (lists, done, objects) = Default::default();
        OffScreen { ordinary, news: Mutex::new(news), lists, done, objects }
    }

    fn ordinary(&self) -> Option<&dyn Progress> {
        self.ordinary.as_deref().filter(|_| !screen::is_open())
    }

    fn news(&self, news: News) {
        if let Ok(sender) = self.news.lock() {
            // Ignore errors: the screen may be closed.
            let _ = sender.send(Message::News(news));
        }
    }
}

impl Progress for OffScreen {
    fn started(&self, lists: usize) {
        if let Some(ordinary) = self.ordinary() {
            ordinary.started(lists);
        }
        self.lists.store(lists, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.objects.store(0, Ordering::Relaxed);
    }

    fn list_done(&self, resource: &Resource, objects: usize) {
        if let Some(ordinary) = self.ordinary() {
            return ordinary.list_done(resource, objects);
        }
        let (done, lists) = (self.done.fetch_add(1, Ordering::Relaxed) + 1, self.lists.load(Ordering::Relaxed));
        let objects = self.objects.fetch_add(objects, Ordering::Relaxed) + objects;
        let text = match done < lists {
            true => format!("Reading {done} of {lists} lists, {} objects", thousands(objects)),
            false => String::new(),
        };
        self.news(News::Doing(text));
    }

    fn exchanged(&self, exchange: &Exchange<'_>) {
        if let Some(ordinary) = self.ordinary() {
            ordinary.exchanged(exchange);
        }
    }

    fn warned(&self, text: &str) {
        match self.ordinary() {
            Some(ordinary) => ordinary.warned(text),
            None => self.news(News::Note(format!("The server warns: {text}"))),
        }
    }

    fn untested(&self, text: &str) {
        match self.ordinary() {
            Some(ordinary) => ordinary.untested(text),
            None => self.news(News::Note(text.to_owned())),
        }
    }
}

/// What the threads beside the screen say.
pub(super) enum Message {
    /// The source is read: the first scene, and the targets in it.
    Ready(Box<Scene>, Vec<Identity>),
    Failed(OperationError),
    News(News),
    /// A delete is over.
    Deleted(Box<Report>),
    /// A thread has panicked: what it said is on standard error.
    Broken,
}
