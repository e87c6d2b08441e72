//! The workers: each takes an item, examines it by the rules, sends what they ask for, and records the result.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::StreamExt as _;

use gc_core::{
    collector::{Examination, Finish, Orphaning, Progress},
    graph::NodeId,
};

use super::{
    asking::WorkItem,
    event::{QueueName, SweepEvent},
    state::{Shared, State},
};

/// How many dependents of one owner are freed at once.
const FREED_AT_ONCE: usize = 16;

/// Works on items of one queue until the sweep ends; `number` differs from that of the other workers on it.
pub(super) async fn worker(shared: Arc<Shared>, queue: QueueName, number: usize) {
    while let Some((node, waited)) = next(&shared, queue).await {
        (shared.observer)(SweepEvent::Begun { queue, worker: number, waited });
        match queue {
            QueueName::ToDelete => examine(&shared, node).await,
            QueueName::ToOrphan => orphan(&shared, node).await,
        }
        (shared.observer)(SweepEvent::Done { queue, worker: number });
    }
}

/// Queues items again when they are due.
pub(super) async fn timer(shared: Arc<Shared>) {
    loop {
        let (due, stopped) = shared.change(|state| (state.next_due(), state.stopped));
        if stopped {
            return;
        }
        let until_due = async {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = until_due => {}
            () = shared.timer.notified() => {}
        }
    }
}

/// Waits for an item; none once the sweep ends.
async fn next(shared: &Shared, queue: QueueName) -> Option<(NodeId, Duration)> {
    loop {
        let mut woken = std::pin::pin!(shared.work(queue).notified());
        woken.as_mut().enable();
        {
            let mut state = shared.lock();
            if state.stopped {
                return None;
            }
            if state.working {
                let taken = state.take(queue);
                if taken.is_some() {
                    return taken;
                }
            }
        }
        woken.await;
    }
}

async fn examine(shared: &Shared, node: NodeId) {
    let begun = {
        let state = shared.lock();
        let leaves_alone = !state.live.may_write(node);
        WorkItem::new(&state, node)
            .filter(|_| !leaves_alone)
            .map(|worked| (worked, Examination::begin(&state.live, node)))
    };
    let Some((mut worked, (mut examination, mut progress))) = begun else {
        return shared.change(|state| state.live.to_delete.done(node));
    };
    let finish = loop {
        match progress {
            Progress::Finished(finish) => break finish,
            Progress::Ask(ask) => {
                let answer = shared.answer(&mut worked, &ask).await;
                progress = shared.change(|state| examination.answer(&mut state.live, answer));
            }
        }
    };
    let again = match finish {
        Finish::Forget => false,
        // If dependents refer to it by other coordinates, it is looked up there next, after a pause that doubles with
        // each failure (R3.18).
        Finish::Absent(coordinates) => shared.change(|state| {
            state.live.absent(node, coordinates);
            let again = state.live.to_retry.contains(&node);
            state.live.to_retry.retain(|other| *other != node);
            again
        }),
        Finish::RetrySoon | Finish::RetryAfterChange | Finish::Unknown => true,
    };
    finished(shared, QueueName::ToDelete, node, worked, again);
}

async fn orphan(shared: &Shared, node: NodeId) {
    let begun = {
        let state = shared.lock();
        let may = state.live.may_write(node);
        WorkItem::new(&state, node).filter(|_| may).map(|worked| (worked.read_anew(), begin_orphaning(&state, node)))
    };
    let Some((mut worked, mut orphaning)) = begun else {
        return shared.change(|state| state.live.to_orphan.done(node));
    };
    let (patch, reason) = orphaning.free(&shared.lock().live);
    let free = |dependent: NodeId| {
        let (patch, reason) = (&patch, &reason);
        async move { (dependent, shared.free(dependent, patch, reason).await) }
    };
    let mut freed = futures::stream::iter(orphaning.pending.clone()).map(free).buffer_unordered(FREED_AT_ONCE);
    while let Some((dependent, answer)) = freed.next().await {
        orphaning.freed(dependent, &answer);
    }
    drop(freed);
    let mut progress = orphaning.finish(&shared.lock().live);
    let finish = loop {
        match progress {
            Progress::Finished(finish) => break finish,
            Progress::Ask(ask) => {
                let answer = shared.answer(&mut worked, &ask).await;
                progress = orphaning.answer(&shared.lock().live, answer);
            }
        }
    };
    finished(shared, QueueName::ToOrphan, node, worked, finish != Finish::Forget);
}

/// Finishes an item, or schedules its next try.
fn finished(shared: &Shared, queue: QueueName, node: NodeId, mut worked: WorkItem, again: bool) {
    if let Some(why) = worked.trouble.take() {
        shared.failed(node, &worked, why, again);
    }
    shared.change(|state| {
        if again {
            state.backoff(queue).failed(node, Instant::now());
        } else {
            state.backoff(queue).forget(node);
            state.failing.remove(&node);
            state.moved = Some(Instant::now());
        }
        state.queue(queue).done(node);
    });
    if again {
        (shared.observer)(SweepEvent::Retried(queue));
    }
}

fn begin_orphaning(state: &State, node: NodeId) -> Orphaning {
    let mut orphaning = Orphaning::begin(&state.live, node);
    orphaning.limit_to(|dependent| state.live.may_write(dependent));
    orphaning
}
