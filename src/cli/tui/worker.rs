//! Reads and simulates beside the screen, so that each key is answered at once.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender},
    time::{Duration, Instant},
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    cli::{
        args::GlobalArgs,
        output::view_of,
        report::{Report, describe_error},
    },
    operations::{
        Discovered, LiveSession, Opening, OperationError, ReadScope, Session, SourceConfig, TargetConfig,
        approve::World,
        examine::{Examination, ExaminationScope, limit},
        predict::{PlanOptions, PlanResult, predict},
        signals::SystemClock,
        targets::TargetArgs,
    },
    render::{
        doctor::DoctorView,
        document::TemplateOptions,
        output::{Output, TextOptions, header},
        states::Style,
    },
    tui::{Effect, Finding, Line, News, Planned, Scene, find, lines},
};
use gc_core::{
    command_line::ShellCommand,
    doctor::Diagnosis,
    graph::{OwnerGraph, unconfirmed_owners},
    model::{Identity, ObjectId, ResourceId, Snapshot, Symbol},
    plan::{Gates, Incomplete},
    server::Propagation,
    simulate::{Assume, Request},
    tree::{Direction, Query, StatusOf, Tree, TypeFilter},
    wording::grouped,
};

use super::{Message, lines_of_report};

/// How often changes of a cluster are looked for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(300);
/// How long to wait after a read that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// What the worker needs.
pub(super) struct Worker {
    pub global: GlobalArgs,
    pub targets: TargetArgs,
    pub source: SourceConfig,
    pub wanted: TargetConfig,
    pub colours: bool,
    pub news: Sender<Message>,
}

/// The source while it is open.
enum Held {
    Dump(Box<Session>),
    /// And when it was read.
    Live(Box<LiveSession>, Instant),
    /// A read failed: when, and nothing is known until the next one succeeds.
    Lost(Instant),
}

impl Worker {
    pub(super) fn start(self, requests: Receiver<Effect>) {
        std::thread::spawn(move || {
            let news = self.news.clone();
            if catch_unwind(AssertUnwindSafe(|| self.run(&requests))).is_err() {
                let _ = news.send(Message::Broken);
            }
        });
    }

    fn tell(&self, message: Message) {
        // Ignore errors: the screen may be closed.
        let _ = self.news.send(message);
    }

    fn news(&self, news: News) {
        self.tell(Message::News(news));
    }

    fn run(mut self, requests: &Receiver<Effect>) {
        let mut held = match self.open() {
            Ok(held) => held,
            Err(error) => return self.tell(Message::Failed(error)),
        };
        // Later, targets may go.
        self.wanted.ignore_not_found = true;
        let Some(session) = held.session() else { return };
        let targets = session.targets.clone().unwrap_or_default();
        let scene = self.scene(session);
        let named = targets.iter().map(|target| Identity::of(&session.snapshot, *target)).collect();
        self.tell(Message::Ready(Box::new(scene), named));
        loop {
            match requests.recv_timeout(BETWEEN_LOOKS) {
                Ok(Effect::Read) => held = self.read_again(held),
                Ok(request) => {
                    // What is simulated or examined is the present state.
                    if matches!(request, Effect::Plan { .. } | Effect::Diagnose { .. }) {
                        held = self.brought_up(held);
                    }
                    self.answer(&mut held, request);
                }
                Err(RecvTimeoutError::Timeout) => held = self.look(held),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn open(&self) -> Result<Held, OperationError> {
        let scope = ReadScope::Diagnosis;
        Ok(match self.global.opening(&self.source, &self.wanted, scope)? {
            Opening::Cluster(discovered) => {
                let mut session = discovered.read(&self.wanted, scope)?;
                session.watch_or_list();
                Held::Live(Box::new(session), Instant::now())
            }
            dump @ Opening::Dump(_) => Held::Dump(dump.read(&self.wanted, scope)?),
        })
    }

    /// The forest in its present state. What only lists call absent is looked up first.
    fn scene(&self, session: &mut Session) -> Scene {
        let types = TypeFilter::default();
        let namespace = session.namespace_symbol();
        let graph = OwnerGraph::new(&session.snapshot);
        let tree = Tree::of(&session.snapshot, &graph, &query(session, namespace, &types));
        let unconfirmed = unconfirmed_owners(&session.snapshot, &graph, tree.objects(&graph));
        let (graph, tree) = if unconfirmed.is_empty() || !session.is_live() {
            (graph, tree)
        } else {
            session.look_up_some(unconfirmed);
            let graph = OwnerGraph::new(&session.snapshot);
            let tree = Tree::of(&session.snapshot, &graph, &query(session, namespace, &types));
            (graph, tree)
        };
        let mut scene = Scene::new(session.snapshot.clone(), graph, tree);
        scene.live = session.is_live();
        scene.header = header(&session.snapshot, session.namespace.as_deref(), &self.global.source.from);
        scene.kubectl = self.global.kubectl();
        scene.from.clone_from(&self.global.source.from);
        scene
    }

    /// Applies what watches have seen. Reads everything again if they have missed something, or if there may be new
    /// kinds.
    fn look(&self, held: Held) -> Held {
        match held {
            Held::Live(mut session, read) => {
                let kinds = kinds(&session.snapshot);
                let changed = session.catch_up();
                if session.lost().iter().any(|lost| lost.watched)
                    || (changed && kinds != self::kinds(&session.snapshot))
                {
                    // A watch that is lost again and again must not keep the server busy.
                    return match read.elapsed() >= AFTER_FAILURE {
                        true => self.read_again(Held::Live(session, read)),
                        false => Held::Live(session, read),
                    };
                }
                if changed {
                    self.news(News::Scene(Box::new(self.scene(&mut *session))));
                }
                Held::Live(session, read)
            }
            Held::Lost(when) if when.elapsed() >= AFTER_FAILURE => self.read_again(Held::Lost(when)),
            other => other,
        }
    }

    /// The same in its present state, without the facts that no watch keeps up to date, as before a delete. What
    /// watches have missed is read again.
    fn brought_up(&self, held: Held) -> Held {
        match held {
            Held::Live(mut session, read) => {
                let changed = session.catch_up();
                if !session.lost().is_empty() {
                    return self.read_again(Held::Live(session, read));
                }
                World::forget(&mut *session);
                if changed {
                    self.news(News::Scene(Box::new(self.scene(&mut *session))));
                }
                Held::Live(session, read)
            }
            Held::Lost(when) => self.read_again(Held::Lost(when)),
            dump @ Held::Dump(_) => dump,
        }
    }

    fn read_again(&self, held: Held) -> Held {
        let scope = ReadScope::Diagnosis;
        let discovered = match (held, &self.source) {
            (Held::Live(session, _), _) => Discovered::again(*session),
            (Held::Lost(_), SourceConfig::Cluster(cluster)) => Discovered::expecting(cluster, &self.wanted, scope),
            // A dump does not change.
            (other, _) => {
                self.news(News::Note("This is a dump: there is nothing new to read.".to_owned()));
                return other;
            }
        };
        match discovered.and_then(|discovered| discovered.read(&self.wanted, scope)) {
            Ok(mut session) => {
                session.watch_or_list();
                self.news(News::Doing(String::new()));
                self.news(News::Scene(Box::new(self.scene(&mut session))));
                Held::Live(Box::new(session), Instant::now())
            }
            Err(error) => {
                let text = format!("error: {}; what is shown is old; trying again", describe_error(&error));
                self.news(News::Doing(text));
                Held::Lost(Instant::now())
            }
        }
    }

    fn answer(&self, held: &mut Held, request: Effect) {
        let Some(session) = held.session() else {
            let why = "the cluster could not be read; this is tried again".to_owned();
            return match request {
                Effect::Plan { request, propagation, .. } => {
                    let text = lines(&format!("error: {why}"));
                    self.news(News::Planned(Planned { request, propagation, text, commands: Vec::new() }));
                }
                Effect::Diagnose { .. } => self.news(News::Diagnosed(Err(why))),
                _ => {}
            };
        };
        let news = match request {
            Effect::Plan { request, targets, propagation, width } => {
                News::Planned(self.plan(session, request, &targets, propagation, width))
            }
            Effect::Diagnose { width } => {
                let found = self.diagnose(session, width);
                // Objects were looked at again.
                if session.is_live() {
                    self.news(News::Scene(Box::new(self.scene(session))));
                }
                News::Diagnosed(Ok(found))
            }
            Effect::Statuses(objects) => News::Statuses(statuses(session, &objects)),
            Effect::Read | Effect::Copy(_) | Effect::Delete { .. } | Effect::Leave => return,
        };
        self.news(news);
    }

    fn plan(
        &self,
        session: &mut Session,
        request: u64,
        targets: &[Identity],
        propagation: Propagation,
        width: usize,
    ) -> Planned {
        let (text, commands) = match self.predicted(session, targets, propagation, width) {
            Ok((text, commands)) => (text, commands),
            Err(error) => (lines(&format!("error: {}", describe_error(&error))), Vec::new()),
        };
        Planned { request, propagation, text, commands }
    }

    fn predicted(
        &self,
        session: &mut Session,
        targets: &[Identity],
        propagation: Propagation,
        width: usize,
    ) -> Result<(Vec<Line>, Vec<String>), OperationError> {
        let found: Vec<ObjectId> = targets.iter().filter_map(|target| find(&session.snapshot, target)).collect();
        if found.is_empty() {
            return Ok((lines("Nothing would be deleted: no such object exists any more."), Vec::new()));
        }
        let options = PlanOptions::of(&session.snapshot.resources, &[], &Gates::default())?;
        let result = predict(session, &Request::delete(found, propagation), Assume::Known, &options)?;
        let PlanResult { plan, notes, .. } = &result;
        let snapshot = &session.snapshot;
        let namespace = session.namespace_of(&plan.request.targets);
        let graph = OwnerGraph::new(snapshot);
        let kubectl = self.global.kubectl();
        let view = view_of(snapshot, &graph, &result, namespace.as_deref(), &kubectl);
        let data = self.print(|options, out| view.write(options, out), width)?;
        let mut report = Report::of(data).with_gaps(&Incomplete::gaps_that_matter(snapshot, plan));
        report.notes.extend(notes.iter().cloned());
        let command = delete_command(snapshot, &plan.request.targets, kubectl.plugin("delete"), propagation);
        Ok((lines_of_report(&report), command.map(|command| command.to_string()).into_iter().collect()))
    }

    fn diagnose(&self, session: &mut Session, width: usize) -> Vec<Finding> {
        session.narrow_namespace();
        let asked = ExaminationScope { limit: limit(session), ..ExaminationScope::default() };
        let kubectl = self.global.connection.kubectl();
        let diagnosis = Examination::new(session, &SystemClock::start(), asked, kubectl, None).diagnosis(None);
        let snapshot = &session.snapshot;
        let again = self.global.same("doctor", &self.targets, false);
        let kubectl = self.global.held_to(session);
        let finding = |finding: &gc_core::doctor::Finding| {
            let one = Diagnosis { findings: vec![finding.clone()], ..Diagnosis::default() };
            let view = DoctorView {
                snapshot,
                diagnosis: &one,
                namespace: session.namespace.as_deref(),
                targets: None,
                probed: None,
                if_deleted: None,
                header: "",
                only: &[],
                again: &again,
                kubectl: &kubectl,
            };
            let text = self.print(|options, out| view.write_finding(finding, options, out), width);
            let commands = finding.remedies.iter().flat_map(|remedy| &remedy.commands);
            Finding {
                severity: finding.severity,
                title: view.title(finding),
                text: text.map_or_else(
                    |error| lines(&format!("error: {}", describe_error(&error))),
                    |text| lines(&String::from_utf8_lossy(&text)),
                ),
                commands: commands.filter(|command| command.is_runnable()).map(ToString::to_string).collect(),
                object: finding.objects.first().map(|object| Identity::of(snapshot, *object)),
            }
        };
        diagnosis.findings.iter().map(finding).collect()
    }

    /// What a view writes for a terminal of this width.
    fn print(
        &self,
        write: impl FnOnce(&TextOptions<'_>, &mut Vec<u8>) -> std::io::Result<()>,
        width: usize,
    ) -> Result<Vec<u8>, OperationError> {
        let style = Style::new(self.colours);
        let templates = TemplateOptions::default();
        let options = TextOptions { width: Some(width), fold: true, wide: false, now: None, templates, style: &style };
        let mut text = Vec::new();
        write(&options, &mut text).map_err(OperationError::Print)?;
        Ok(text)
    }
}

impl Held {
    fn session(&mut self) -> Option<&mut Session> {
        match self {
            Held::Dump(session) => Some(session),
            Held::Live(session, _) => Some(&mut **session),
            Held::Lost(_) => None,
        }
    }
}

fn query<'q>(session: &'q Session, namespace: Option<Symbol>, types: &'q TypeFilter) -> Query<'q> {
    let targets = session.targets.as_deref();
    Query { targets, namespace, direction: Direction::Dependents, depth: None, types, places: None }
}

/// What serves kinds: if it changes, there may be others.
fn kinds(snapshot: &Snapshot) -> FxHashSet<Symbol> {
    let definitions = [("apiextensions.k8s.io", "CustomResourceDefinition"), ("apiregistration.k8s.io", "APIService")];
    let of: Vec<ResourceId> =
        definitions.iter().filter_map(|(group, kind)| snapshot.resources.by_group_kind(group, kind)).collect();
    snapshot.objects().filter(|(_, object)| of.contains(&object.resource)).map(|(_, object)| object.uid).collect()
}

/// READY and STATUS by uid; `None` for what could not be read.
fn statuses(session: &Session, objects: &[Identity]) -> FxHashMap<String, Option<gc_core::tree::ObjectStatus>> {
    let snapshot = &session.snapshot;
    let found: Vec<ObjectId> = objects.iter().filter_map(|object| find(snapshot, object)).collect();
    let Some(statuses) = session.statuses(&found) else { return FxHashMap::default() };
    let status = |id: &ObjectId| {
        let uid = snapshot.object(*id).uid;
        let status = match statuses.of(uid)? {
            StatusOf::Known(status) => Some(status.clone()),
            StatusOf::Unread => None,
        };
        Some((snapshot.text(uid).to_owned(), status))
    };
    found.iter().filter_map(status).collect()
}

/// The delete as a command: one for each namespace. `None` for a name that no API server accepts.
fn delete_command(
    snapshot: &Snapshot,
    targets: &[ObjectId],
    delete: ShellCommand,
    propagation: Propagation,
) -> Option<ShellCommand> {
    let by_namespace = grouped(targets.iter().map(|target| snapshot.object(*target)).map(|it| (it.namespace, it)));
    let policy = propagation.flag_if_needed();
    let mut all: Option<ShellCommand> = None;
    for (namespace, objects) in by_namespace {
        let mut command = delete.clone();
        for object in objects {
            let resource = snapshot.resources.get(object.resource);
            command = command.object(&resource.plural, &resource.group, snapshot.text(object.name))?;
        }
        let command = command.in_namespace(snapshot.text(namespace))?.args(&policy);
        all = Some(match all {
            Some(before) => before.and(command),
            None => command,
        });
    }
    all.filter(ShellCommand::fits)
}
