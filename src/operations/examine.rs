//! Makes a diagnosis: reads what it depends on, and on a live cluster reports only findings that every look confirms.

use std::{convert::Infallible, time::Duration};

use rustc_hash::FxHashSet;

use gc_core::{
    command_line::Kubectl,
    doctor::{
        Case, Code, Diagnosis, Evidence, Explained, Explanation, Finding, Limit, Probed, RecreatedDependent, diagnose,
        explain, foresee, in_progress,
    },
    graph::OwnerGraph,
    model::{Coordinate, ObjectId, OwnerEvent, Presence, Snapshot, Symbol, effects::Severity},
    progress::{self, Work},
    reclaim::{Removal, Settings, absence, forecast},
    simulate::{Assume, Needs, Projection, SimContext},
};

use super::{
    Session,
    session::{ROUNDS, complete},
    signals::Clock,
};

/// How long a problem must last before it is reported: a working collector and controllers resolve most within moments.
const LASTS: Duration = Duration::from_secs(5);
/// The same while the collector or a controller is working on other objects: this one may be next in its queue.
const LASTS_WHILE_BUSY: Duration = Duration::from_secs(20);
/// The pause between two looks.
const BETWEEN: Duration = Duration::from_millis(2500);

/// What is wrong with an object, from look to look: a finding's code and cause, and what distinguishes its cause for
/// this object.
type Problem = (Code, String, Symbol);

/// A problem, and the uid of the affected object.
type Suspicion = (Problem, Symbol);

/// Hears what the first look shows, before others follow.
pub type FirstLook<'f, T> = Option<&'f mut dyn FnMut(&Session, &T)>;

/// An object by its identity, to find it again in a changing snapshot: ids change, uids don't.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub coordinate: Coordinate,
    pub uid: Symbol,
}

impl Named {
    /// The identity of an object in a snapshot.
    pub fn of(snapshot: &Snapshot, id: ObjectId) -> Self {
        let object = snapshot.object(id);
        Named { coordinate: object.coordinate(), uid: object.uid }
    }

    /// `Kind/name`, whether it exists or not.
    pub fn short_name(&self, snapshot: &Snapshot) -> String {
        let Coordinate { resource, name, .. } = self.coordinate;
        format!("{}/{}", snapshot.resources.get(resource).kind, snapshot.text(name))
    }

    /// The object, if it exists. If several have its uid, the one with its name.
    pub fn find(&self, snapshot: &Snapshot) -> Option<ObjectId> {
        match snapshot.look_up(self.coordinate) {
            Presence::Present(id) if snapshot.object(id).uid == self.uid => Some(id),
            _ => snapshot.by_uid(self.uid),
        }
    }
}

/// An examination of a session's objects.
pub struct Examination<'s> {
    session: &'s mut Session,
    clock: &'s dyn Clock,
    events: Vec<OwnerEvent>,
    probed: Option<Probed>,
    kubectl: Kubectl,
    asked: ExaminationScope,
    fresh: FxHashSet<Symbol>,
    made: Vec<RecreatedDependent>,
    recovered: FxHashSet<usize>,
}

/// The scope of an examination: nothing else is read again or waited for.
#[derive(Clone, Debug, Default)]
pub struct ExaminationScope {
    pub limit: Limit,
    /// Report only these codes; empty: all.
    pub only: Vec<Code>,
    /// Who deleted what.
    pub evidence: Evidence,
}

impl<'s> Examination<'s> {
    /// `kubectl` is how to call kubectl in remedies, `probed` the result of a probe.
    pub fn new(
        session: &'s mut Session,
        clock: &'s dyn Clock,
        asked: ExaminationScope,
        kubectl: Kubectl,
        probed: Option<Probed>,
    ) -> Self {
        let events = session.owner_events();
        // In a dump, the origin is unknown.
        let kubectl = if session.is_live() { kubectl } else { Kubectl::default() };
        let (fresh, made, recovered) = Default::default();
        Examination { session, clock, events, probed, kubectl, asked, fresh, made, recovered }
    }

    /// Explains these objects, as far as they exist at the last look, with their findings. `at_once` hears what the
    /// first look shows, if others follow.
    pub fn explained(mut self, named: &[Named], at_once: FirstLook<'_, [Explanation]>) -> Explained {
        let ids =
            |snapshot: &Snapshot| -> Vec<ObjectId> { named.iter().filter_map(|named| named.find(snapshot)).collect() };
        let mut looked_at: FxHashSet<Symbol> = FxHashSet::default();
        let look = |this: &mut Self| {
            let objects = ids(&this.session.snapshot);
            Ok::<_, Infallible>(this.judge(true, |case| explain(case, &objects, &[])))
        };
        let Ok(_) = complete(ROUNDS, &mut self, look, |this, explained| {
            let spoken_of = explained.explanations.iter().flat_map(Explanation::spoken_of).collect();
            Ok(this.read(&explained.wanted) || this.recheck(spoken_of, &mut looked_at))
        });
        let explain_with = |this: &mut Self, diagnosis: &Diagnosis| {
            // The explanation itself says what a deletion waits for that goes on, but not what keeps its data.
            let goes_on = |finding: &Finding| finding.severity == Severity::Note && finding.remedies.is_empty();
            let told = |finding: &&Finding| finding.code != Code::DeletionInProgress || !goes_on(finding);
            let findings: Vec<Finding> = diagnosis.findings.iter().filter(told).cloned().collect();
            let objects = ids(&this.session.snapshot);
            let mut explained = this.judge(true, |case| explain(case, &objects, &findings));
            this.session.fetch_reclaim_facts(&objects);
            if let Some(now) = this.now() {
                foresee(&this.session.snapshot, &mut explained.explanations, now);
            }
            explained
        };
        // Before findings name objects: if an absence was wrong, objects may have other ids then.
        self.confirm_removals(&ids(&self.session.snapshot));
        let diagnosis = self.looked(|this, diagnosis| {
            if let Some(at_once) = at_once {
                let explained = explain_with(this, diagnosis);
                at_once(this.session, &explained.explanations);
            }
        });
        explain_with(&mut self, &diagnosis)
    }

    /// The time of the data in Unix seconds; `None` for files without any time.
    fn now(&self) -> Option<i64> {
        if self.session.is_live() { Some(self.clock.now()) } else { self.session.snapshot.time() }
    }

    /// Looks up what must be gone for the cluster to remove these objects by itself.
    fn confirm_removals(&mut self, objects: &[ObjectId]) {
        self.session.fetch_reclaim_facts(objects);
        let (true, Some(now)) = (self.session.is_live(), self.now()) else { return };
        let snapshot = &self.session.snapshot;
        let removals = forecast(snapshot, &Settings::default(), now).removals;
        let objects: FxHashSet<ObjectId> = objects.iter().copied().collect();
        let takes = |removal: &&Removal| {
            objects.contains(&removal.object) || removal.takes.iter().any(|taken| objects.contains(taken))
        };
        let theirs = removals.iter().filter(takes);
        let absences = theirs.filter_map(|removal| absence(snapshot, removal)).collect();
        self.session.confirm(&absences);
    }

    /// The findings. On a live cluster, looks again several times, and leaves out problems that pass. `at_once` hears
    /// what the first look shows, if others follow.
    pub fn diagnosis(&mut self, at_once: FirstLook<'_, Diagnosis>) -> Diagnosis {
        self.looked(|this, diagnosis| {
            if let Some(at_once) = at_once {
                at_once(this.session, diagnosis);
            }
        })
    }

    fn looked(&mut self, first: impl FnOnce(&mut Self, &Diagnosis)) -> Diagnosis {
        let diagnosis = self.look();
        if !self.session.is_live() || diagnosis.findings.is_empty() {
            return diagnosis;
        }
        first(self, &diagnosis);
        let begun = self.clock.elapsed();
        let suspected = suspicions(&self.session.snapshot, &diagnosis.findings);
        let others = in_the_way(&self.session.snapshot, &diagnosis.findings);
        let mut lasting = suspected.clone();
        loop {
            progress::during(Work::LookingAgain, || self.clock.sleep(BETWEEN));
            self.session.snapshot.facts.forget_what_passes();
            self.recovered = self.session.recovered_lists();
            let diagnosis = self.look();
            let now = suspicions(&self.session.snapshot, &diagnosis.findings);
            lasting.retain(|suspicion| now.contains(suspicion));
            let still = in_the_way(&self.session.snapshot, &diagnosis.findings);
            // If the collector is resolving some of a problem, the rest of it is no finding.
            let gone = suspected.iter().filter(|suspicion| !lasting.contains(*suspicion));
            let done = others.iter().filter(|other| !still.contains(*other));
            let passes = |(code, ..): &Problem| code.passes();
            let worked_on: FxHashSet<&Problem> =
                gone.chain(done).map(|(problem, _)| problem).filter(|problem| passes(problem)).collect();
            let busy = !worked_on.is_empty();
            lasting.retain(|(problem, _)| !worked_on.contains(problem));
            let may_pass = busy && lasting.iter().any(|(problem, _)| passes(problem));
            let waited = self.clock.elapsed().saturating_sub(begun);
            if lasting.is_empty() || waited >= if may_pass { LASTS_WHILE_BUSY } else { LASTS } {
                return self.only(diagnosis, &lasting);
            }
        }
    }

    /// The same findings, without the affected objects for which they didn't last.
    fn only(&mut self, diagnosis: Diagnosis, lasting: &FxHashSet<Suspicion>) -> Diagnosis {
        let snapshot = &self.session.snapshot;
        for finding in &diagnosis.findings {
            let passed = finding.objects.iter().filter(|id| !lasting.contains(&suspicion(snapshot, finding, **id)));
            self.fresh.extend(passed.map(|id| snapshot.object(*id).uid));
        }
        // An object may have one problem for long, and another only now.
        for (_, uid) in lasting {
            self.fresh.remove(uid);
        }
        let mut diagnosis = if self.fresh.is_empty() { diagnosis } else { self.diagnose() };
        let snapshot = &self.session.snapshot;
        for finding in &mut diagnosis.findings {
            let lasts: Vec<ObjectId> = finding
                .objects
                .iter()
                .copied()
                .filter(|id| lasting.contains(&suspicion(snapshot, finding, *id)))
                .collect();
            finding.objects = lasts;
        }
        diagnosis.findings.retain(|finding| {
            let lasts = || lasting.contains(&of_cluster(finding));
            finding.code != Code::DeletionInProgress && (!finding.objects.is_empty() || lasts())
        });
        // What an object waits for may change with every look. Nothing is well before it is gone.
        if self.asked.only.is_empty() || self.asked.only.contains(&Code::DeletionInProgress) {
            let going_on = self.judge(false, |case| in_progress(case, &diagnosis.findings));
            diagnosis.findings.extend(going_on);
        }
        diagnosis
    }

    /// One look: reads everything that findings depend on, and reads every object in them again, once.
    fn look(&mut self) -> Diagnosis {
        let mut looked_at: FxHashSet<Symbol> = FxHashSet::default();
        let look = |this: &mut Self| {
            let diagnosis = this.diagnose();
            let unknown = |made: &&RecreatedDependent| !this.made.contains(made);
            let made: Vec<RecreatedDependent> = diagnosis.made.iter().filter(unknown).cloned().collect();
            this.made.extend(made);
            Ok::<_, Infallible>(diagnosis)
        };
        let Ok(diagnosis) = complete(ROUNDS, self, look, |this, diagnosis| {
            let spoken_of = diagnosis.findings.iter().flat_map(Finding::named).collect();
            Ok(this.read(&diagnosis.wanted) || this.recheck(spoken_of, &mut looked_at))
        });
        diagnosis
    }

    fn diagnose(&self) -> Diagnosis {
        let mut diagnosis = self.judge(false, diagnose);
        let ExaminationScope { limit, only, .. } = &self.asked;
        let snapshot = &self.session.snapshot;
        diagnosis
            .findings
            .retain(|finding| (only.is_empty() || only.contains(&finding.code)) && limit.takes(snapshot, finding));
        diagnosis
    }

    /// Runs `work` on what has been read so far. `all_refusals`: where the API server refuses the collector's writes,
    /// too. Findings say by themselves what it refuses, explanations what comes of that.
    fn judge<T>(&self, all_refusals: bool, work: impl FnOnce(&Case<'_>) -> T) -> T {
        progress::during(Work::Simulating, || {
            let snapshot = &self.session.snapshot;
            let graph = OwnerGraph::new(snapshot);
            let live = self.session.is_live();
            let now = self.now();
            let stage = SimContext::new(snapshot, &graph, Assume::Known).at(now).patiently();
            let stage = if all_refusals { stage.with_refused_writes() } else { stage.with_refused_content() };
            let projection = Projection::of(&stage);
            let fresh: FxHashSet<ObjectId> = self.fresh.iter().filter_map(|uid| snapshot.by_uid(*uid)).collect();
            let Examination {
                asked: ExaminationScope { limit, evidence, .. },
                made,
                events,
                probed,
                kubectl,
                recovered,
                ..
            } = self;
            let (stage, projection, fresh, probed) = (&stage, &projection, &fresh, *probed);
            work(&Case {
                stage,
                projection,
                now,
                live,
                fresh,
                limit,
                made,
                kubectl,
                events,
                probed,
                recovered,
                evidence,
            })
        })
    }

    /// Reads what is wanted. Returns whether that made a difference.
    fn read(&mut self, wanted: &Needs) -> bool {
        // If an absence was wrong, objects may have other ids now.
        self.session.confirm(&wanted.all_absences()) || self.session.fetch(wanted)
    }

    /// Reads objects again that were not yet read again in this look. Returns whether any had changed.
    fn recheck(&mut self, mut objects: Vec<ObjectId>, looked_at: &mut FxHashSet<Symbol>) -> bool {
        let snapshot = &self.session.snapshot;
        objects.sort_unstable();
        objects.dedup();
        objects.retain(|id| looked_at.insert(snapshot.object(*id).uid));
        !objects.is_empty() && self.session.recheck(&objects)
    }
}

/// The objects to report on, by their uids, which never change; of a Namespace, what is in it, too.
pub fn limit(session: &mut Session) -> Limit {
    let namespace = session.namespace_symbol();
    match (&session.targets, namespace) {
        (Some(targets), _) => Limit::objects(&session.snapshot, targets.iter().copied()),
        (None, Some(namespace)) => Limit::namespace(namespace),
        (None, None) => Limit::Everything,
    }
}

/// The related objects of findings, each with code and cause. The collector works on many one by one: an owner may wait
/// for long.
fn in_the_way(snapshot: &Snapshot, findings: &[Finding]) -> FxHashSet<Suspicion> {
    let of = |finding: &Finding| -> Vec<Suspicion> {
        finding.related.iter().map(|id| suspicion(snapshot, finding, *id)).collect()
    };
    findings.iter().flat_map(of).collect()
}

/// Identifies an object of a finding.
fn suspicion(snapshot: &Snapshot, finding: &Finding, id: ObjectId) -> Suspicion {
    ((finding.code, finding.cause.clone(), finding.part_of(id)), snapshot.object(id).uid)
}

/// Identifies a finding without objects.
fn of_cluster(finding: &Finding) -> Suspicion {
    ((finding.code, finding.cause.clone(), Symbol::EMPTY), Symbol::EMPTY)
}

fn suspicions(snapshot: &Snapshot, findings: &[Finding]) -> FxHashSet<Suspicion> {
    let mut suspicions = FxHashSet::default();
    for finding in findings {
        if finding.objects.is_empty() {
            suspicions.insert(of_cluster(finding));
        }
        suspicions.extend(finding.objects.iter().map(|id| suspicion(snapshot, finding, *id)));
    }
    suspicions
}
