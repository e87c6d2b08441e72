//! Lists the objects that the collector works on: metadata only, except for the few kinds that are needed whole. Reads
//! many lists at once, each in pages, straight into the snapshot.

use futures::StreamExt as _;
use http::StatusCode;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use serde_json::Value;

use gc_core::model::{
    API_SERVICE, Gap, GapReason, ListRecord, ObjectId, RawObject, Resource, ResourceId, Resources, Snapshot,
    SnapshotBuilder, facts::read_facts,
};

use super::{
    Connection, ReadEvent, Scope,
    answer::{Answer, Malformed, Page},
    early::{EarlyLists, Get},
    error::{ConnectError, Failure},
    json,
    pages::Pages,
    path,
    protobuf::ListReader,
    request::{JSON, METADATA_LIST},
};

/// The number of parallel lists. Most lists are empty and cost one round trip, so using the available bandwidth takes
/// several at once. The server's fair queueing gives one user about this many seats at a time.
const LISTS_AT_ONCE: usize = 12;

/// One list to read.
struct Job {
    id: ResourceId,
    resource: Resource,
    namespace: Option<String>,
    /// Whether to read whole objects, for their facts.
    whole: bool,
}

impl Job {
    fn path(&self) -> String {
        path::of_resource(&self.resource, self.namespace.as_deref())
    }

    fn form(&self) -> &'static str {
        if self.whole { JSON } else { METADATA_LIST }
    }

    fn first_page(&self) -> Get {
        Pages::first(&self.path(), self.form())
    }
}

/// What to list of what is served.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub scope: Scope,
    /// The resources of which to read whole objects, for their facts ([`read_whole`](gc_core::model::facts::read_whole)
    /// says for which kinds that is cheap).
    pub whole: Vec<ResourceId>,
    /// Resources to list even if the collector ignores them (R2.2, R2.3), each in its namespace or (`None`) in all:
    /// what isn't listed can't be called absent.
    pub targets: Vec<(ResourceId, Option<String>)>,
    /// The namespaces to list instead if a cluster-wide list is forbidden; empty for the connection's
    /// ([`Connection::with_fallback_namespace`]).
    pub instead: Vec<String>,
}

impl Wanted {
    /// Each deletable resource once, and the targets.
    fn jobs(&self, resources: &Resources) -> Vec<Job> {
        let job = |(id, resource): (ResourceId, &Resource)| {
            let namespace = match &self.scope {
                Scope::Namespace(namespace) if resource.namespaced => Some(namespace.clone()),
                _ => None,
            };
            Job { id, resource: resource.clone(), namespace, whole: self.whole.contains(&id) }
        };
        let mut jobs: Vec<Job> = resources.deletable().map(job).collect();
        for (id, namespace) in &self.targets {
            let id = resources.picked(*id);
            let (resource, namespace) = (resources.get(id), namespace.clone());
            let is_new = resources.not_watched(id).is_some() && jobs.iter().all(|job| job.id != id);
            if is_new && resource.has_verb("list") {
                let namespace = namespace.filter(|_| resource.namespaced);
                jobs.push(Job { id, resource: resource.clone(), namespace, whole: false });
            }
        }
        jobs
    }
}

/// The result of one list: its record, and why it failed, if it did.
struct Done {
    record: ListRecord,
    failure: Option<Failure>,
}

/// The state that all lists write to. Only one list decodes at a time; they wait for the server in parallel.
struct Shared {
    builder: SnapshotBuilder,
    /// Objects that the first attempt at a list found and the second did not.
    vanished: FxHashSet<ObjectId>,
}

/// Writes the pages of one list into the snapshot.
struct IntoSnapshot<'s> {
    shared: &'s Mutex<Shared>,
    job: &'s Job,
    objects: usize,
    /// The objects that earlier attempts found and this one has not found yet.
    before: Option<FxHashSet<ObjectId>>,
}

impl IntoSnapshot<'_> {
    /// Reads all pages, or the whole at once. Returns the list's resourceVersion.
    async fn read(&mut self, connection: &Connection, mut pages: Pages<'_>) -> Result<String, Failure> {
        loop {
            match pages.get(connection).await? {
                Some(answer) => {
                    let page = self.page(&answer)?;
                    let whole = pages.whole(&page).filter(|_| answer.is_protobuf() && !self.job.whole);
                    if let Some(url) = whole {
                        self.restart();
                        if let Ok(version) = self.whole(connection, &url).await {
                            return Ok(version);
                        }
                        // A line that is too slow for it, or a server that is too busy: pages are smaller.
                        self.restart();
                        pages.begin_anew();
                        continue;
                    }
                    if let Some(version) = pages.after(page)? {
                        return Ok(version);
                    }
                }
                None => self.restart(),
            }
        }
    }

    async fn whole(&mut self, connection: &Connection, url: &str) -> Result<String, Failure> {
        let mut reader = ListReader::default();
        let take = |piece: &[u8]| self.add(|take| reader.feed(piece, &mut |object| take(object, None)));
        connection.get_in_pieces(url, take).await?;
        match reader.end()? {
            Page { resource_version, next: None, .. } if !resource_version.is_empty() => Ok(resource_version),
            _ => Err(Failure::Malformed("not the whole list".to_owned())),
        }
    }

    fn page(&mut self, answer: &Answer) -> Result<Page, Malformed> {
        let whole = self.job.whole;
        self.add(|take| match whole {
            true => json::read_whole_list(&answer.body, &mut |object, whole| take(object, Some(whole))),
            false => answer.read_list(|object| take(object, None)),
        })
    }

    /// Adds the objects that `read` passes on, with the whole object where its facts are wanted.
    fn add<T>(
        &mut self,
        read: impl FnOnce(&mut dyn FnMut(&RawObject<'_>, Option<&Value>)) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        let mut shared = self.shared.lock();
        let mut nameless = None;
        let resource = &self.job.resource;
        let read = read(&mut |object, whole| {
            if object.uid.is_empty() || object.name.is_empty() {
                nameless.get_or_insert_with(|| describe_nameless(object));
                return;
            }
            self.objects += 1;
            let id = shared.builder.add(self.job.id, object);
            if let Some(fact) = whole.and_then(|whole| read_facts(&resource.group, &resource.kind, whole)) {
                shared.builder.snapshot().learn(id, fact);
            }
            if let Some(before) = &mut self.before {
                before.remove(&id);
            }
        })?;
        if let Some(reason) = nameless {
            let namespace = self.job.namespace.clone();
            shared.builder.gap(Gap { resource: self.job.resource.full_name(), namespace, reason: reason.into() });
        }
        Ok(read)
    }

    fn restart(&mut self) {
        self.objects = 0;
        let before: FxHashSet<ObjectId> = {
            let mut shared = self.shared.lock();
            let snapshot = shared.builder.snapshot();
            snapshot.objects().filter(|(_, object)| object.resource == self.job.id).map(|(id, _)| id).collect()
        };
        self.before = Some(before);
    }
}

/// Describes an object without uid or name: no owner reference can point to it, or no delete can name it.
fn describe_nameless(object: &RawObject<'_>) -> String {
    let missing = if object.uid.is_empty() { "uid" } else { "name" };
    match (&*object.namespace, &*object.name, &*object.uid) {
        (_, "", uid) => format!("an object without {missing} ({uid:?}) was skipped"),
        ("", name, _) => format!("{name} has no {missing} and was skipped"),
        (namespace, name, _) => format!("{namespace}/{name} has no {missing} and was skipped"),
    }
}

impl Connection {
    /// Begins to list what is wanted of these resources, which may not be what the server serves now: see
    /// [`EarlyLists`]. APIServices are listed after discovery, which is compared with them: in an older list, one that
    /// discovery lacks would be missing, too. Needs a tokio runtime.
    pub fn begin_lists(&self, resources: &Resources, wanted: &Wanted) -> EarlyLists {
        let jobs = wanted.jobs(resources);
        let may_be_older = |job: &&Job| (job.resource.group.as_str(), job.resource.kind.as_str()) != API_SERVICE;
        self.send_early(jobs.iter().filter(may_be_older).map(Job::first_page).collect(), LISTS_AT_ONCE)
    }

    /// Lists the resources in scope: each deletable resource once, metadata only, but for those that are wanted whole.
    /// Objects get their ids in order of arrival; they are sorted at the end. Takes lists that were begun early.
    ///
    /// If a list fails, a gap is recorded. If a cluster-wide list is forbidden, one namespace is listed instead
    /// ([`Wanted::instead`]), and a gap is recorded for the rest. The error in the result says that every list was
    /// refused: the reader may be able to get single objects.
    ///
    /// # Errors
    /// The server can't be used.
    pub async fn read(
        &self,
        resources: Resources,
        wanted: &Wanted,
        early: &EarlyLists,
    ) -> Result<(Snapshot, Option<ConnectError>), ConnectError> {
        let jobs = wanted.jobs(&resources);
        early.keep(&jobs.iter().map(Job::first_page).collect());
        self.tell(ReadEvent::Started(jobs.len()));
        let builder = SnapshotBuilder::new(self.origin(), resources);
        let shared = Mutex::new(Shared { builder, vanished: FxHashSet::default() });
        let mut lists = futures::stream::iter(jobs)
            .map(async |job| self.read_list(job, &wanted.instead, &shared, early).await)
            .buffer_unordered(LISTS_AT_ONCE);
        let mut failures = Vec::new();
        let mut read = 0;
        while let Some(done) = lists.next().await {
            let mut shared = shared.lock();
            for Done { record, failure } in done {
                match failure {
                    Some(failure) => failures.push((record.resource, record.namespace.clone(), failure)),
                    None => read += 1,
                }
                shared.builder.list(record);
            }
        }
        drop(lists);
        if read == 0
            && let Some(errors) =
                failures.iter().map(|(.., failure)| self.connect_error(failure)).collect::<Option<Vec<_>>>()
            && let Some(error) = errors.into_iter().next()
        {
            return Err(error);
        }
        // Gaps alone would be useless.
        let lists = failures.len();
        let first = failures.into_iter().min_by_key(|(resource, ..)| *resource).filter(|_| read == 0);
        let nothing = first.map(|(resource, namespace, failure)| {
            let resource = shared.lock().builder.snapshot().resources.get(resource).full_name();
            let list = Gap { resource, namespace, reason: reason_of(&failure) };
            ConnectError::NothingRead { endpoint: Box::new(self.endpoint().clone()), lists, first: list.to_string() }
        });
        let Shared { mut builder, vanished } = shared.into_inner();
        if !vanished.is_empty() {
            builder = without(&builder.build(), &vanished);
        }
        builder.sort();
        Ok((builder.build(), nothing))
    }

    /// Reads one list; if it is forbidden cluster-wide, reads these namespaces instead.
    async fn read_list(&self, job: Job, instead: &[String], shared: &Mutex<Shared>, early: &EarlyLists) -> Vec<Done> {
        let (mut whole, mut objects) = self.read_into(&job, shared, early).await;
        let forbidden = whole.failure.as_ref().and_then(Failure::status) == Some(StatusCode::FORBIDDEN);
        let mut done = Vec::new();
        if forbidden && job.resource.namespaced && job.namespace.is_none() {
            let one = self.fallback_namespace.as_deref().unwrap_or(self.default_namespace());
            let one = [one.to_owned()];
            let namespaces = if instead.is_empty() { &one } else { instead };
            for namespace in namespaces {
                let (id, resource, whole) = (job.id, job.resource.clone(), job.whole);
                let job = Job { id, resource, namespace: Some(namespace.clone()), whole };
                let (part, found) = self.read_into(&job, shared, early).await;
                if part.failure.is_none() {
                    objects += found;
                    done.push(part);
                }
            }
            let read: Vec<&str> = done.iter().filter_map(|part| part.record.namespace.as_deref()).collect();
            // If no namespace can be read, either, one gap for the whole resource is enough.
            if !read.is_empty() {
                let which = if read.len() == 1 { "namespace" } else { "namespaces" };
                whole.record.failure = Some(format!("forbidden outside of {which} {}", read.join(", ")).into());
            }
        }
        done.push(whole);
        self.tell(ReadEvent::Listed(objects));
        done
    }

    async fn read_into(&self, job: &Job, shared: &Mutex<Shared>, early: &EarlyLists) -> (Done, usize) {
        let mut taker = IntoSnapshot { shared, job, objects: 0, before: None };
        let path = job.path();
        let read = taker.read(self, Pages::of(&path, "", job.form()).early(early)).await;
        if read.is_ok()
            && let Some(before) = taker.before.take()
        {
            taker.shared.lock().vanished.extend(before);
        }
        let objects = taker.objects;
        let (resource_version, failure) = match read {
            Ok(version) => (version, None),
            Err(failure) => (String::new(), Some(failure)),
        };
        let record = ListRecord {
            resource: job.id,
            namespace: job.namespace.clone(),
            resource_version,
            failure: failure.as_ref().map(reason_of),
        };
        (Done { record, failure }, objects)
    }

    /// Whether a list that failed still fails. It is no failure that the resource is no longer served, if discovery
    /// says so, too: its CRD may have been deleted after discovery and before the list.
    pub async fn still_fails(&self, snapshot: &Snapshot, list: &ListRecord) -> bool {
        let resource = snapshot.resources.get(list.resource);
        let url = path::of_resource(resource, list.namespace.as_deref());
        let read = |answer: &Answer, (): &mut ()| answer.read_list(|_| ());
        match self.get_pages(&url, "", METADATA_LIST, read).await {
            Ok(_) => false,
            Err(failure) if failure.is_missing_api() => !self.is_no_longer_named(resource).await,
            Err(_) => true,
        }
    }

    /// Whether discovery works for this API and doesn't name the resource.
    async fn is_no_longer_named(&self, resource: &Resource) -> bool {
        let Ok((resources, gaps)) = self.discover().await else { return false };
        gaps.iter().all(|gap| gap.resource != resource.api_version())
            && !resources.iter().any(|(_, other)| other.has_path_of(resource))
    }
}

fn reason_of(failure: &Failure) -> GapReason {
    failure.to_string().into()
}

/// Copies a snapshot without some objects. The simple way is good enough: it is needed only if a list had to be
/// restarted and objects were deleted meanwhile.
fn without(snapshot: &Snapshot, vanished: &FxHashSet<ObjectId>) -> SnapshotBuilder {
    let mut builder = SnapshotBuilder::new(snapshot.origin.clone(), snapshot.resources.clone());
    for (old, object) in snapshot.objects().filter(|(id, _)| !vanished.contains(id)) {
        let id = builder.add(object.resource, &snapshot.raw(old));
        if let Some(fact) = snapshot.facts.get(old) {
            builder.snapshot().learn(id, fact.clone());
        }
    }
    for list in snapshot.lists.iter().filter(|list| list.failure.is_none()) {
        builder.list(list.clone());
    }
    for gap in &snapshot.gaps {
        builder.gap(gap.clone());
    }
    for list in snapshot.lists.iter().filter(|list| list.failure.is_some()) {
        builder.list(list.clone());
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::{RecordedRequest, Say, bytes, json, refuse, serve, varint};
    use gc_core::model::Object;

    fn resource(plural: &str, kind: &str, namespaced: bool) -> Resource {
        Resource { namespaced, ..Resource::named("", "v1", plural, kind).with_verbs(&["delete", "list", "watch"]) }
    }

    fn resources() -> Resources {
        Resources::new(vec![resource("pods", "Pod", true), resource("nodes", "Node", false)], Vec::new())
    }

    fn list(names: &[&str], next: &str) -> Say {
        let items: Vec<String> = names
            .iter()
            .map(|name| format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"uid-{name}"}}}}"#))
            .collect();
        let items = items.join(",");
        let body =
            format!(r#"{{"kind":"XList","metadata":{{"resourceVersion":"7","continue":"{next}"}},"items":[{items}]}}"#);
        json(200, body)
    }

    async fn read(
        scope: Scope,
        answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
    ) -> Result<Snapshot, ConnectError> {
        let (connection, wanted) = (serve(answer).await, Wanted { scope, ..Wanted::default() });
        let connection = connection.with_fallback_namespace("shop");
        match connection.read(resources(), &wanted, &EarlyLists::default()).await? {
            (_, Some(nothing)) => Err(nothing),
            (snapshot, None) => Ok(snapshot),
        }
    }

    fn names(snapshot: &Snapshot) -> Vec<String> {
        let mut names: Vec<String> = snapshot.objects().map(|(id, _)| snapshot.short_name(id)).collect();
        names.sort();
        names
    }

    fn gaps(snapshot: &Snapshot) -> Vec<String> {
        snapshot.gaps.iter().map(ToString::to_string).collect()
    }

    #[tokio::test]
    async fn lists_are_read_page_by_page() {
        let snapshot = read(Scope::Everything, |asked| match asked.url.as_str() {
            "/api/v1/pods?limit=500" => list(&["a", "b"], "t/1"),
            "/api/v1/pods?limit=2000&continue=t%2F1" => list(&["c"], ""),
            "/api/v1/nodes?limit=500" => list(&[], ""),
            other => panic!("{other}"),
        });
        let snapshot = snapshot.await.unwrap();
        assert_eq!(names(&snapshot), ["Pod/a", "Pod/b", "Pod/c"]);
        assert!(snapshot.complete() && snapshot.lists.iter().all(|list| list.resource_version == "7"));
        assert!(snapshot.covers(ResourceId(0), None) && snapshot.covers(ResourceId(1), None));
    }

    /// A list in protobuf. With `more`, it is a first page, which so many objects follow.
    fn long(names: &[&str], more: Option<u64>) -> Say {
        let item = |name: &&str| {
            let metadata =
                [bytes(1, name.as_bytes()), bytes(3, b"shop"), bytes(5, format!("uid-{name}").as_bytes())].concat();
            bytes(2, &bytes(1, &metadata))
        };
        let next = more.map(|more| [bytes(3, b"t"), varint(4, more)].concat()).unwrap_or_default();
        let raw = [bytes(1, &[bytes(2, b"7"), next].concat()), names.iter().flat_map(item).collect()].concat();
        let body = [&b"k8s\0"[..], &bytes(1, &bytes(2, b"PodList")), &bytes(2, &raw)].concat();
        Say { content_type: "application/vnd.kubernetes.protobuf", ..json(200, body) }
    }

    const WHOLE_LIST: &str = "/api/v1/pods?resourceVersion=7&resourceVersionMatch=NotOlderThan";

    /// The pods, and what was asked for after the first page of them, which says that so many follow.
    async fn read_long(more: u64, whole: impl Fn() -> Say + Send + Sync + 'static) -> (Vec<String>, Vec<String>) {
        let asked: std::sync::Arc<Mutex<Vec<String>>> = std::sync::Arc::default();
        let log = asked.clone();
        let snapshot = read(Scope::Everything, move |asked| {
            if asked.url.contains("nodes") {
                return list(&[], "");
            }
            log.lock().push(asked.url.trim_start_matches("/api/v1/pods?").to_owned());
            match asked.url.as_str() {
                "/api/v1/pods?limit=500" => long(&["a", "b"], Some(more)),
                "/api/v1/pods?limit=2000&continue=t" => long(&["c"], None),
                WHOLE_LIST => whole(),
                other => panic!("{other}"),
            }
        });
        let snapshot = snapshot.await.unwrap();
        assert!(snapshot.complete() && snapshot.lists.iter().all(|list| list.resource_version == "7"));
        let asked = asked.lock().split_off(1);
        (names(&snapshot), asked)
    }

    #[tokio::test]
    async fn a_long_list_is_read_at_once() {
        let at_once = &WHOLE_LIST["/api/v1/pods?".len()..];
        // What went after the first page is gone.
        let (pods, asked) = read_long(2001, || long(&["a", "c", "d"], None)).await;
        assert_eq!((pods, asked), (owned(&["Pod/a", "Pod/c", "Pod/d"]), owned(&[at_once])));
        for more in [2000, 100_001] {
            let (pods, asked) = read_long(more, || panic!("read at once")).await;
            assert_eq!((pods, asked), (owned(&["Pod/a", "Pod/b", "Pod/c"]), owned(&["limit=2000&continue=t"])));
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[tokio::test]
    async fn what_can_t_be_read_at_once_is_read_in_pages() {
        let cut = || {
            let whole = long(&["x", "y"], None);
            Say { body: whole.body[..whole.body.len() - 10].to_vec(), ..whole }
        };
        let failures: [fn() -> Say; 6] = [
            || refuse(504),
            || Say { status: 0, ..refuse(500) },
            || list(&["x"], ""),
            || long(&["x"], Some(1)),
            || json(200, "garbage"),
            cut,
        ];
        for whole in failures {
            let (pods, asked) = read_long(5000, whole).await;
            assert_eq!(pods, ["Pod/a", "Pod/b", "Pod/c"]);
            assert_eq!(asked[1..], ["limit=500", "limit=2000&continue=t"]);
        }
    }

    /// Reads webhook configurations (whole) and Leases (metadata only).
    async fn read_webhooks(answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static) -> Snapshot {
        let of_group = |group: &str, resource: Resource| Resource { group: group.to_owned(), ..resource };
        let kinds = [
            of_group("coordination.k8s.io", resource("leases", "Lease", true)),
            of_group("admissionregistration.k8s.io", resource("webhooks", "ValidatingWebhookConfiguration", false)),
        ];
        let resources = Resources::new(kinds.to_vec(), Vec::new());
        let webhooks =
            resources.by_group_kind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration").unwrap();
        let wanted = Wanted { whole: vec![webhooks], ..Wanted::default() };
        serve(answer).await.read(resources, &wanted, &EarlyLists::default()).await.unwrap().0
    }

    fn webhooks(names: &[&str], next: &str) -> Say {
        let item = |name: &&str| {
            format!(
                r#"{{"metadata":{{"name":"{name}","uid":"uid-{name}","labels":{{"a":"b"}}}},"webhooks":[{{"name":"of-{name}"}}]}}"#
            )
        };
        let items = names.iter().map(item).collect::<Vec<_>>().join(",");
        json(
            200,
            format!(r#"{{"kind":"XList","metadata":{{"resourceVersion":"7","continue":"{next}"}},"items":[{items}]}}"#),
        )
    }

    /// The first webhook of each configuration.
    fn hooks(snapshot: &Snapshot) -> Vec<String> {
        let hook = |(id, object): (ObjectId, &Object)| {
            let facts = snapshot.facts.webhooks(id)?;
            Some(format!("{}: {}", snapshot.text(object.name), facts.webhooks[0].name))
        };
        snapshot.objects().filter_map(hook).collect()
    }

    #[tokio::test]
    async fn what_is_wanted_whole_is_read_once_with_its_facts() {
        const WEBHOOKS: &str = "/apis/admissionregistration.k8s.io/v1/webhooks";
        let snapshot = read_webhooks(|asked| {
            assert_eq!(asked.before, 0, "{} was asked for twice", asked.url);
            match (asked.url.strip_prefix(WEBHOOKS), asked.accept.as_str()) {
                (Some("?limit=500"), JSON) => webhooks(&["c", "a"], "next"),
                (Some("?limit=2000&continue=next"), JSON) => webhooks(&["b"], ""),
                (None, METADATA_LIST) => list(&["lease"], ""),
                _ => panic!("{} as {}", asked.url, asked.accept),
            }
        });
        let snapshot = snapshot.await;
        assert_eq!(names(&snapshot).len(), 4);
        assert_eq!(
            hooks(&snapshot),
            ["a: of-a", "b: of-b", "c: of-c"],
            "facts have followed their objects when these were sorted"
        );
        assert_eq!(snapshot.facts.len(), 3, "nothing is known of the Lease");
        assert!(snapshot.complete() && snapshot.lists.iter().all(|list| list.resource_version == "7"));
        let (_, first) = snapshot.objects().find(|(id, _)| snapshot.facts.get(*id).is_some()).unwrap();
        assert_eq!(first.labels.len(), 1);
    }

    #[tokio::test]
    async fn a_list_read_whole_that_is_begun_anew_keeps_its_facts() {
        let snapshot = read_webhooks(|asked| match asked.url.split_once("webhooks").map(|(_, query)| query) {
            Some("?limit=500") => webhooks(&["a", "b"], "old"),
            Some("?limit=2000&continue=old") => refuse(410),
            Some(_) => webhooks(&["c", "b"], ""),
            None => list(&["lease"], ""),
        });
        assert_eq!(hooks(&snapshot.await), ["b: of-b", "c: of-c"]);
    }

    #[tokio::test]
    async fn a_list_that_cannot_be_read_whole_is_a_gap_like_any_other() {
        let snapshot =
            read_webhooks(|asked| if asked.url.contains("webhooks") { refuse(403) } else { list(&["lease"], "") })
                .await;
        assert_eq!(gaps(&snapshot), ["webhooks.admissionregistration.k8s.io (forbidden)"]);
        let snapshot = read_webhooks(|asked| match asked.url.contains("webhooks") {
            true => json(200, "garbage"),
            false => list(&["lease"], ""),
        });
        let describe = gaps(&snapshot.await);
        assert!(
            describe.len() == 1
                && describe[0].starts_with("webhooks.admissionregistration.k8s.io (unreadable answer: "),
            "{describe:?}"
        );
    }

    #[tokio::test]
    async fn a_namespace_is_read_with_what_is_in_no_namespace() {
        let snapshot = read(Scope::Namespace("shop".into()), |asked| match asked.url.as_str() {
            "/api/v1/namespaces/shop/pods?limit=500" => list(&["a"], ""),
            "/api/v1/nodes?limit=500" => list(&["n"], ""),
            other => panic!("{other}"),
        });
        let snapshot = snapshot.await.unwrap();
        assert_eq!(names(&snapshot), ["Node/n", "Pod/a"]);
        assert!(!snapshot.covers(ResourceId(0), None) && snapshot.covers(ResourceId(1), None));
    }

    #[tokio::test]
    async fn a_list_that_expires_is_begun_anew_and_what_went_meanwhile_is_gone() {
        let snapshot = read(Scope::Everything, |asked| match asked.url.as_str() {
            "/api/v1/pods?limit=500" => list(&["a", "b"], "old"),
            "/api/v1/pods?limit=2000&continue=old" => refuse(410),
            "/api/v1/pods?" => list(&["b", "c"], ""),
            _ => list(&["n"], ""),
        });
        let snapshot = snapshot.await.unwrap();
        assert_eq!(names(&snapshot), ["Node/n", "Pod/b", "Pod/c"]);
        assert!(snapshot.complete() && snapshot.covers(ResourceId(0), None));
    }

    #[tokio::test]
    async fn a_list_without_end_is_not_followed() {
        let snapshot = read(Scope::Everything, |asked| match asked.url.contains("pods") {
            true => list(&["a"], "same"),
            false => list(&[], ""),
        });
        assert_eq!(gaps(&snapshot.await.unwrap()), ["pods (unreadable answer: the list does not advance)"]);
    }

    #[tokio::test]
    async fn what_is_forbidden_everywhere_is_read_in_one_namespace() {
        let snapshot = read(Scope::Everything, |asked| match asked.url.as_str() {
            "/api/v1/namespaces/shop/pods?limit=500" => list(&["a"], ""),
            _ => refuse(403),
        });
        let snapshot = snapshot.await.unwrap();
        assert_eq!(names(&snapshot), ["Pod/a"]);
        assert_eq!(gaps(&snapshot), ["nodes (forbidden)", "pods (forbidden outside of namespace shop)"]);
        let shop = snapshot.strings.find("shop");
        assert!(snapshot.covers(ResourceId(0), shop) && !snapshot.covers(ResourceId(0), None));

        let nothing = read(Scope::Everything, |_| refuse(403)).await.unwrap_err();
        assert!(
            matches!(nothing, ConnectError::NothingRead { lists: 2, ref first, .. } if first == "pods (forbidden)"),
            "{nothing}"
        );
    }

    #[tokio::test]
    async fn one_failing_list_is_a_gap() {
        for (status, reason) in [
            (404, "no longer served (404 Not Found)"),
            (405, "405 Method Not Allowed: no"),
            (501, "501 Not Implemented: no"),
        ] {
            let snapshot = read(Scope::Everything, move |asked| match asked.url.contains("pods") {
                true => refuse(status),
                false => list(&["n"], ""),
            });
            assert_eq!(gaps(&snapshot.await.unwrap()), [format!("pods ({reason})")]);
        }
        let snapshot = read(Scope::Everything, |asked| match asked.url.contains("pods") {
            true => Say {
                status: 200,
                content_type: "application/vnd.kubernetes.protobuf",
                headers: "",
                body: b"k8s\0\x12\x7f".to_vec(),
                open: false,
            },
            false => list(&["n"], ""),
        });
        let snapshot = snapshot.await.unwrap();
        assert_eq!(gaps(&snapshot), ["pods (unreadable answer: a field is longer than the message it is in)"]);
        assert!(!snapshot.covers(ResourceId(0), None));
    }

    #[tokio::test]
    async fn objects_without_a_name_are_named_as_a_gap() {
        let snapshot = read(Scope::Everything, |asked| match asked.url.contains("pods") {
            true => json(
                200,
                r#"{"kind":"XList","items":[{"metadata":{"name":"a","namespace":"shop"}},{"metadata":{"name":"b","uid":"u"}}]}"#,
            ),
            false => list(&[], ""),
        });
        let snapshot = snapshot.await.unwrap();
        assert_eq!(gaps(&snapshot), ["pods (shop/a has no uid and was skipped)"]);
        assert_eq!(names(&snapshot), ["Pod/b"]);
    }

    #[tokio::test]
    async fn what_may_pass_is_waited_for() {
        let snapshot = read(Scope::Everything, |asked| match (asked.url.contains("pods"), asked.before) {
            (true, 0) => Say { headers: "retry-after: 0\r\n", ..refuse(429) },
            (true, 1) => Say { status: 0, ..refuse(503) },
            (true, _) => list(&["a"], ""),
            (false, 0) => refuse(503),
            (false, _) => list(&["n"], ""),
        });
        let snapshot = snapshot.await.unwrap();
        assert_eq!(names(&snapshot), ["Node/n", "Pod/a"]);
        assert!(snapshot.complete());
    }

    #[tokio::test]
    async fn a_server_without_protobuf_and_metadata_is_asked_for_json() {
        let snapshot = read(Scope::Everything, |asked| match asked.accept.as_str() {
            "application/json" => list(&["x"], ""),
            _ => refuse(406),
        });
        assert_eq!(names(&snapshot.await.unwrap()), ["Node/x", "Pod/x"]);
    }

    #[tokio::test]
    async fn credentials_that_expired_are_an_error_only_if_nothing_was_read() {
        let nothing = read(Scope::Everything, |_| refuse(401)).await;
        assert!(matches!(nothing, Err(ConnectError::Unauthorized { .. })));
        let gone = read(Scope::Everything, |_| Say { status: 0, ..refuse(500) }).await;
        assert!(matches!(gone, Err(ConnectError::Unreachable { .. })));
        let some =
            read(Scope::Everything, |asked| if asked.url.contains("pods") { refuse(401) } else { list(&[], "") }).await;
        assert_eq!(gaps(&some.unwrap()), ["pods (not authenticated)"]);
    }

    type Answers = fn() -> Say;

    const EMPTY: &str = r#"{"kind":"List","metadata":{"resourceVersion":"1"},"items":[]}"#;

    fn shops() -> Resource {
        Resource { namespaced: false, ..Resource::named("acme.io", "v1", "shops", "Shop") }
    }

    /// Discovery that names one group, with these resources or without an answer.
    fn discovery(resources: &[&str], freshness: &str) -> Say {
        let of = |name: &&str| format!(r#"{{"resource":"{name}","responseKind":{{"kind":"K"}},"verbs":["list"]}}"#);
        let resources: Vec<String> = resources.iter().map(of).collect();
        json(
            200,
            format!(
                r#"{{"kind":"APIGroupDiscoveryList","items":[{{"metadata":{{"name":"acme.io"}},"versions":
                [{{"version":"v1","freshness":"{freshness}","resources":[{}]}}]}}]}}"#,
                resources.join(",")
            ),
        )
    }

    async fn still_fails(list: Answers, discovered: Answers) -> bool {
        let connection = serve(move |asked: &RecordedRequest| match asked.url.as_str() {
            "/apis" | "/api" => discovered(),
            _ => list(),
        })
        .await;
        let resources = Resources::new(vec![shops()], Vec::new());
        let resource = resources.by_group_kind("acme.io", "Shop").unwrap();
        let snapshot = SnapshotBuilder::new(connection.origin(), resources).build();
        let record = ListRecord::complete(resource);
        connection.still_fails(&snapshot, &record).await
    }

    #[tokio::test]
    async fn a_list_fails_until_it_answers_or_is_gone_from_discovery() {
        let cases: [(Answers, Answers, bool); 6] = [
            (|| json(200, EMPTY), || refuse(503), false),
            (|| refuse(500), || discovery(&["other"], "Current"), true),
            (|| json(200, "<html>"), || discovery(&["other"], "Current"), true),
            (|| refuse(404), || discovery(&["other"], "Current"), false),
            (|| refuse(404), || discovery(&["other", "shops"], "Current"), true),
            (|| refuse(404), || discovery(&["other"], "Stale"), true),
        ];
        for (row, (list, discovered, expected)) in cases.into_iter().enumerate() {
            assert_eq!(still_fails(list, discovered).await, expected, "row {row}");
        }
        assert!(still_fails(|| refuse(404), || refuse(503)).await);
    }
}
