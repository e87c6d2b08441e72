//! Reads which pods are bound to a Node: one request instead of one for every pod of the cluster.

use crate::model::{Fact, ObjectId, Snapshot, facts::NodeFacts, gaps::Gaps};

use super::{Connection, get_object::ask_each};

impl Connection {
    /// Requests the pods of the Nodes among these objects, and records them as the Nodes' facts. If that fails, they
    /// stay unknown and a gap is recorded.
    pub(super) async fn fetch_pods_of_nodes(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let (Some(nodes), Some(pods)) =
            (snapshot.resources.by_group_kind("", "Node"), snapshot.resources.by_group_kind("", "Pod"))
        else {
            return;
        };
        let is_wanted = |id: &&ObjectId| {
            snapshot.object(**id).resource == nodes
                && snapshot.facts.node(**id).is_none_or(|facts| facts.pods.is_none())
        };
        let wanted: Vec<(ObjectId, String)> = objects
            .iter()
            .filter(is_wanted)
            .map(|id| (*id, snapshot.text(snapshot.object(*id).name).to_owned()))
            .collect();
        let resources = &snapshot.resources;
        let answers = ask_each(wanted, async |(id, name)| {
            let fields = format!("spec.nodeName={name}");
            let uids = self.select(resources, pods, None, None, Some(&fields)).await;
            (id, name, uids)
        });
        let mut gaps = Gaps::default();
        for (id, name, uids) in answers.await {
            match uids {
                Ok(pods) => snapshot.learn(id, Fact::Node(NodeFacts { pods: Some(pods), kubelet: None })),
                Err(error) => gaps.add("pods".to_owned(), "", &format!("spec.nodeName={name}"), error.to_string()),
            }
        }
        gaps.record(snapshot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, refuse, serve},
        model::{Origin, RawObject, Resource, Resources, SnapshotBuilder},
    };

    fn resource(plural: &str, kind: &str, namespaced: bool) -> Resource {
        Resource {
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced,
            ..Resource::default()
        }
    }

    #[tokio::test]
    async fn a_node_is_asked_for_its_pods() {
        let connection = serve(|asked| match asked.url.as_str() {
            url if url.starts_with("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1") => {
                let item = r#"{"metadata":{"name":"a","namespace":"ns","uid":"u-a"}}"#;
                json(200, format!(r#"{{"kind":"PartialObjectMetadataList","metadata":{{}},"items":[{item}]}}"#))
            }
            url if url.starts_with("/api/v1/pods?fieldSelector=spec.nodeName%3Dn2") => refuse(403),
            other => panic!("{other}"),
        });
        let resources =
            Resources::new(vec![resource("nodes", "Node", false), resource("pods", "Pod", true)], Vec::new());
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources);
        let nodes = builder.snapshot().resources.by_group_kind("", "Node").unwrap();
        let mut add = |name: &'static str| {
            builder
                .add(nodes, &RawObject { name: name.into(), uid: format!("u-{name}").into(), ..RawObject::default() })
        };
        let ids = [add("n1"), add("n2")];
        let mut snapshot = builder.build();
        connection.await.fetch_facts(&mut snapshot, &ids).await;
        assert_eq!(snapshot.facts.node(ids[0]), Some(&NodeFacts { pods: Some(vec!["u-a".to_owned()]), kubelet: None }));
        assert_eq!(snapshot.facts.node(ids[1]), None);
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps.len(), 1);
        assert!(gaps[0].starts_with("pods (spec.nodeName=n2: "), "{gaps:?}");
    }
}
