//! `kubectl gc plan`

use crate::{
    foretell::{Assume, Besides, Needs, Plan, Request, Stage, Summary, besides, explore, plan},
    graph::OwnerGraph,
    model::{ObjectId, Symbol},
    render::{
        self, document,
        plan::{BlastRadius, EffectCounts, PlanView, Radius},
        style::Style,
        tree::Options,
    },
    server::Propagation,
    tree::roots::roots,
};

use super::{
    args::{GlobalArgs, GraceArgs, PlanArgs, PlanFormat, PropagationArg},
    colour,
    error::CliError,
    exit::Exit,
    report::{Report, heading, terminal_width},
    session::{Reach, Session},
    tree::in_memory,
};

/// Without `--all`, so many roots are shown.
const WORST: usize = 20;
/// What a plan needs to know leads to more that it needs to know, but not for ever: each round reads another level of owners.
pub(super) const ROUNDS: usize = 32;

/// Foretells a delete, or without targets the delete of every root.
pub fn run(global: &GlobalArgs, args: &PlanArgs) -> Result<Report, CliError> {
    let grace = grace_period(&args.grace)?;
    let mut session = Session::open(global, &args.source, &args.targets, Reach::Everything)?;
    let propagation = args.propagation.policy().map_or(Propagation::Background, propagation_of);
    let assume = args.assume.assume();
    match session.targets.clone() {
        Some(targets) => {
            let request = Request { grace, ..Request::delete(targets, propagation) };
            let (plan, instead) = foretell(&mut session, &request, assume)?;
            let graph = OwnerGraph::new(&session.snapshot);
            let besides = session.count(besides(&Stage::new(&session.snapshot, &graph, assume), &plan));
            let told = Told { plan, instead, besides };
            tell(global, args, &session, &graph, &told)
        }
        None => radius(global, args, &mut session, propagation, assume),
    }
}

/// The plan and what the other policies would do, with everything read that they turn out to rest on.
fn foretell(session: &mut Session, request: &Request, assume: Assume) -> Result<(Plan, Vec<(Propagation, Summary)>), CliError> {
    let others = [Propagation::Background, Propagation::Foreground, Propagation::Orphan]
        .into_iter()
        .filter(|propagation| *propagation != request.propagation);
    for round in 0.. {
        let graph = OwnerGraph::new(&session.snapshot);
        let stage = Stage::new(&session.snapshot, &graph, assume);
        let main = explore(&stage, request);
        if let Some((object, why)) = main.refused.first() {
            return Err(CliError::Refused { object: session.snapshot.short_name(*object), why });
        }
        let mut needs = main.needs.clone();
        let instead = others.clone().map(|propagation| {
            let plan = plan(&stage, &Request { propagation, ..request.clone() });
            needs.add(&plan.needs);
            (propagation, plan.summary)
        });
        let instead: Vec<_> = instead.collect();
        if round == ROUNDS || !fetch(session, &needs) {
            return Ok((main, instead));
        }
    }
    unreachable!("the last round returns")
}

/// Reads what is needed. Says whether that made a difference.
pub(super) fn fetch(session: &mut Session, needs: &Needs) -> bool {
    if needs.is_empty() {
        return false;
    }
    let known =
        |session: &Session| (session.snapshot.facts.len(), session.snapshot.len(), session.snapshot.confirmed_absent().count());
    let before = known(session);
    session.fetch(needs) && known(session) != before
}

/// All that there is to tell.
struct Told {
    plan: Plan,
    instead: Vec<(Propagation, Summary)>,
    besides: Vec<Besides>,
}

fn tell(
    global: &GlobalArgs,
    args: &PlanArgs,
    session: &Session,
    graph: &OwnerGraph,
    Told { plan, instead, besides }: &Told,
) -> Result<Report, CliError> {
    let namespace = namespace_of(session, &plan.request.targets);
    let view = PlanView::new(&session.snapshot, graph, plan, instead, namespace.as_deref()).with_besides(besides);
    report(global, args, session, namespace.as_deref(), &view, plan.stuck())
}

/// What is told, in the form that was asked for.
fn report(
    global: &GlobalArgs,
    args: &PlanArgs,
    session: &Session,
    namespace: Option<&str>,
    told: &impl render::plan::Told,
    stuck: bool,
) -> Result<Report, CliError> {
    let style = Style::new(colour::wanted(global.color, &std::io::stdout()));
    let options = text_options(args.output, args.targets.all, &style);
    let out =
        in_form(args.output, told, &options, || heading(&session.snapshot, namespace, &args.source.from, " Nothing was changed."))?;
    let mut report = Report::of(out).with_gaps(&session.snapshot.gaps);
    if stuck {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}

/// A plan or a sweep in the form that was asked for; text begins with a heading.
pub(super) fn in_form(
    form: Option<PlanFormat>,
    told: &impl render::plan::Told,
    options: &Options<'_>,
    heading: impl FnOnce() -> Vec<u8>,
) -> Result<Vec<u8>, CliError> {
    Ok(match form {
        Some(PlanFormat::Json) => document::json(&told.document()).into_bytes(),
        Some(PlanFormat::Yaml) => document::yaml(&told.document()).into_bytes(),
        Some(PlanFormat::Name) => told.names().into_bytes(),
        None | Some(PlanFormat::Wide) => {
            let mut out = heading();
            told.write(options, &mut out).map_err(in_memory)?;
            out
        }
    })
}

/// Where the targets are, which in a dump may be known although nobody said it.
pub(super) fn namespace_of(session: &Session, targets: &[ObjectId]) -> Option<String> {
    let mut namespaces: Vec<Symbol> = targets.iter().map(|target| session.snapshot.object(*target).namespace).collect();
    namespaces.dedup();
    match namespaces.as_slice() {
        [namespace] if !namespace.is_empty() => Some(session.snapshot.text(*namespace).to_owned()),
        [_] => None,
        _ => session.namespace.clone(),
    }
}

/// How text is written: folded, unless it is to be wide or `all` of it is wanted.
pub(super) fn text_options(form: Option<PlanFormat>, all: bool, style: &Style) -> Options<'_> {
    let wide = form == Some(PlanFormat::Wide);
    Options { width: terminal_width(), fold: !wide && !all, wide, now: None, style }
}

/// What deleting each root in scope would do.
fn radius(
    global: &GlobalArgs,
    args: &PlanArgs,
    session: &mut Session,
    propagation: Propagation,
    assume: Assume,
) -> Result<Report, CliError> {
    let namespace = session.namespace_symbol();
    let mut round = 0;
    let rows = loop {
        let graph = OwnerGraph::new(&session.snapshot);
        let stage = Stage::new(&session.snapshot, &graph, assume);
        let mut needs = Needs::default();
        let mut rows: Vec<Radius> = Vec::new();
        for root in roots(&session.snapshot, &graph, namespace) {
            let (row, of_root) = radius_of(&stage, root.object, propagation);
            needs.look_ups.extend(of_root.look_ups);
            // Every pod is read for its own sake: Nodes need not be asked for theirs.
            needs
                .facts
                .extend(of_root.facts.into_iter().filter(|id| Some(session.snapshot.object(*id).resource) != stage.built_in.nodes));
            rows.extend(row);
        }
        round += 1;
        if round > ROUNDS || !fetch(session, &needs) {
            break rows;
        }
    };
    let snapshot = &session.snapshot;
    let most = (!args.targets.all).then_some(WORST);
    let stuck = rows.iter().any(|row| row.summary.stuck > 0);
    let radius = BlastRadius::new(snapshot, propagation, rows, session.namespace.as_deref(), most);
    report(global, args, session, session.namespace.as_deref(), &radius, stuck)
}

/// One root's row; none where the API server refuses the delete.
fn radius_of(stage: &Stage<'_>, object: ObjectId, propagation: Propagation) -> (Option<Radius>, Needs) {
    let plan = plan(stage, &Request::delete(vec![object], propagation));
    let effects = EffectCounts::of(&plan.effects);
    let row = plan.refused.is_empty().then(|| Radius { object, summary: plan.summary, certain: plan.certain(), effects });
    (row, plan.needs)
}

fn propagation_of(argument: PropagationArg) -> Propagation {
    match argument {
        PropagationArg::Background => Propagation::Background,
        PropagationArg::Foreground => Propagation::Foreground,
        PropagationArg::Orphan => Propagation::Orphan,
    }
}

/// What kubectl makes of its grace flags (R1.41).
fn grace_period(args: &GraceArgs) -> Result<Option<i64>, CliError> {
    if args.now && args.grace_period >= 0 {
        return Err(CliError::Grace("--now and --grace-period contradict each other: give one of them"));
    }
    if args.force && (args.grace_period > 0 || args.now) {
        return Err(CliError::Grace("--force means no grace: it can't go with --now or a --grace-period above 0"));
    }
    Ok(match (args.force, args.now, args.grace_period) {
        (true, ..) => Some(0),
        (_, true, _) => Some(1),
        // Without --force, kubectl turns 0 into 1.
        (_, _, 0) => Some(1),
        (_, _, seconds) if seconds > 0 => Some(seconds),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_flags_mean_what_they_mean_in_kubectl() {
        let grace = |grace_period, now, force| grace_period_of(grace_period, now, force).map_err(|_| ());
        fn grace_period_of(grace_period: i64, now: bool, force: bool) -> Result<Option<i64>, CliError> {
            super::grace_period(&GraceArgs { grace_period, now, force })
        }
        assert_eq!(grace(-1, false, false), Ok(None));
        assert_eq!(grace(0, false, false), Ok(Some(1)));
        assert_eq!(grace(7, false, false), Ok(Some(7)));
        assert_eq!(grace(-1, true, false), Ok(Some(1)));
        assert_eq!(grace(-1, false, true), Ok(Some(0)));
        assert_eq!(grace(0, false, true), Ok(Some(0)));
        assert_eq!(grace(7, false, true), Err(()));
        assert_eq!(grace(7, true, false), Err(()));
        assert_eq!(grace(-1, true, true), Err(()));
    }
}
