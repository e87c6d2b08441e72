//! Reads READY and STATUS as the API server prints them: Tables, with nothing of the objects but their metadata.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;

use gc_core::{
    model::{Gap, ObjectId, ResourceId, Snapshot, Symbol},
    tree::{ObjectStatus, Statuses, status::Columns},
};

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    error::Failure,
    get_object::ask_each,
    json::ListMeta,
    path,
};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const WITH_METADATA: &str = "includeObject=Metadata";

/// The objects of one resource that are shown, and where they are.
struct Wanted {
    resource: ResourceId,
    /// Their only namespace; `None`: several, or cluster scope.
    namespace: Option<Symbol>,
    objects: Vec<ObjectId>,
}

impl Connection {
    /// Reads READY and STATUS of these objects into `statuses`: one list for each resource, of the namespace if all its
    /// objects are in one, and no more of its pages than needed.
    pub async fn fetch_statuses(&self, snapshot: &Snapshot, objects: &[ObjectId], statuses: &mut Statuses) {
        let answers = ask_each(wanted(snapshot, objects), async |wanted| {
            let rows = self.rows(snapshot, &wanted).await;
            (wanted, rows)
        });
        let mut answers = answers.await;
        answers.sort_by_key(|(wanted, _)| wanted.resource);
        for (wanted, rows) in answers {
            let uids = wanted.objects.iter().map(|id| snapshot.object(*id).uid);
            let (rows, failure) = rows;
            statuses.add(uids, rows);
            let resource = snapshot.resources.get(wanted.resource).full_name();
            let namespace = wanted.namespace.map(|namespace| snapshot.text(namespace).to_owned());
            statuses.gaps.retain(|gap| gap.resource != resource);
            statuses.gaps.extend(failure.map(|failure| Gap {
                resource,
                namespace,
                reason: failure.to_string().into(),
            }));
        }
    }

    /// The rows of the wanted objects by uid, and what kept the rest from being read.
    async fn rows(&self, snapshot: &Snapshot, wanted: &Wanted) -> (FxHashMap<Symbol, ObjectStatus>, Option<Failure>) {
        let mut missing: FxHashMap<&str, Symbol> = FxHashMap::default();
        for id in &wanted.objects {
            let uid = snapshot.object(*id).uid;
            missing.insert(snapshot.text(uid), uid);
        }
        let namespace = wanted.namespace.map(|namespace| snapshot.text(namespace));
        let url = path::of_resource(snapshot.resources.get(wanted.resource), namespace);
        // Rows are kept if the list is restarted or fails.
        let mut rows = FxHashMap::default();
        let read = |answer: &Answer, (): &mut ()| {
            let page = read_rows(answer, &mut missing, &mut rows)?;
            Ok(if missing.is_empty() { Page::default() } else { page })
        };
        let failure = self.get_pages(&url, WITH_METADATA, TABLE, read).await.err();
        (rows, failure)
    }
}

fn wanted(snapshot: &Snapshot, objects: &[ObjectId]) -> Vec<Wanted> {
    let mut by_resource: BTreeMap<ResourceId, Wanted> = BTreeMap::new();
    for id in objects {
        let object = snapshot.object(*id);
        let namespace = Some(object.namespace).filter(|namespace| !namespace.is_empty());
        let new = || Wanted { resource: object.resource, namespace, objects: Vec::new() };
        let wanted = by_resource.entry(object.resource).or_insert_with(new);
        wanted.namespace = wanted.namespace.filter(|known| Some(*known) == namespace);
        wanted.objects.push(*id);
    }
    by_resource.into_values().collect()
}

/// Takes the rows of objects that are missing.
fn read_rows(
    answer: &Answer,
    missing: &mut FxHashMap<&str, Symbol>,
    rows: &mut FxHashMap<Symbol, ObjectStatus>,
) -> Result<Page, Malformed> {
    // An API server without Tables answers with the list.
    let no_table = || Malformed::new("the server prints no table of it");
    let table: Value = serde_json::from_slice(&answer.body).map_err(|_| no_table())?;
    if table["kind"] != "Table" {
        return Err(no_table());
    }
    let list = |field: &str| table[field].as_array().map_or(&[][..], Vec::as_slice);
    let columns = list("columnDefinitions").iter().map(|column| column["name"].as_str().unwrap_or_default());
    let columns = Columns::of(columns);
    for row in list("rows") {
        if let Some(uid) = row["object"]["metadata"]["uid"].as_str().and_then(|uid| missing.remove(uid)) {
            rows.insert(uid, columns.read(row["cells"].as_array().map_or(&[], Vec::as_slice)));
        }
    }
    Ok(Option::<ListMeta>::deserialize(&table["metadata"]).map_err(|_| no_table())?.unwrap_or_default().into())
}
