//! Events of a live cluster: lists, and objects seen in lists and watches.

use crate::{
    collector::{
        graph_view::GraphView,
        identity::{Identity, Known},
        observe::{DeletionState, observe_deletion, observe_first, observe_update_fully},
    },
    graph::NodeId,
    model::RawObject,
};

use super::{
    KindId, Live,
    nodes::{Finalizers, Node},
};

impl Live {
    /// Starts a list of a kind: objects not seen before it ends are gone.
    pub fn begin_list(&mut self, kind: KindId) {
        let kind = &mut self.kinds[kind.0 as usize];
        kind.lists += 1;
        kind.stopped = false;
    }

    /// Ends a complete list: objects that it didn't show are gone.
    pub fn end_list(&mut self, kind: KindId) {
        self.kinds[kind.0 as usize].synced = true;
        let lists = self.kinds[kind.0 as usize].lists;
        let missing = |node: &&Node| node.known == Known::Observed && node.kind == kind && node.list != lists;
        let missing: Vec<NodeId> =
            self.nodes.iter().filter(missing).map(|node| self.by_uid[&node.identity.uid]).collect();
        for node in missing {
            observe_deletion(self, node);
        }
    }

    /// Whether any list of a kind was complete.
    pub fn synced(&self, kind: KindId) -> bool {
        self.kinds[kind.0 as usize].synced
    }

    /// Records that a kind isn't watched any more. Its objects stay in the graph (R2.8).
    pub fn stopped(&mut self, kind: KindId) {
        let kind = &mut self.kinds[kind.0 as usize];
        (kind.synced, kind.stopped) = (false, true);
    }

    /// Records the current state of an object.
    pub fn see(&mut self, kind: KindId, raw: &RawObject<'_>) {
        if raw.uid.is_empty() {
            return;
        }
        let stored = self.stored(raw, 0);
        let stored_finalizers = stored.finalizers.clone();
        let seen = &self.kinds[kind.0 as usize];
        let (lists, api_version, name_of_kind) = (seen.lists, seen.api_version, seen.kind);
        let identity = Identity {
            api_version,
            kind: name_of_kind,
            namespace: self.strings.intern(&raw.namespace),
            name: self.strings.intern(&raw.name),
            uid: self.strings.intern(&raw.uid),
        };
        let id = self.node_of(identity.uid);
        let was = self.nodes[id.index()].was;
        let is = DeletionState::of(&stored);
        if self.known(id) == Known::Observed {
            observe_update_fully(self, id, was, stored);
        } else {
            self.nodes[id.index()].kind = kind;
            self.kinds[kind.0 as usize].objects += 1;
            observe_first(self, id, identity, &stored);
        }
        let node = &mut self.nodes[id.index()];
        node.was = is;
        node.version = raw.resource_version.parse().unwrap_or(0);
        node.finalizers = Finalizers::of(&stored_finalizers);
        // If several kinds show the same uid, the first one makes the node (R3.5) while it is watched. After that, the
        // object must be read under a served kind.
        if node.kind != kind && self.kinds[node.kind.0 as usize].stopped {
            self.kinds[node.kind.0 as usize].objects -= 1;
            self.kinds[kind.0 as usize].objects += 1;
            (node.kind, node.identity) = (kind, identity);
        }
        if node.kind == kind {
            node.list = lists;
        }
    }

    /// Records that an object is gone.
    pub fn gone(&mut self, uid: &str) {
        if let Some(id) = self.symbol(uid).and_then(|uid| self.by_uid(uid)) {
            observe_deletion(self, id);
        }
    }
}
