//! The loop with a scripted cluster and user.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use gc_core::model::well_known;

use super::*;

type Log = Rc<RefCell<Vec<String>>>;

/// A plan is a word; a gate forbids `gate…`.
struct Fake {
    log: Log,
    /// One plan per round; the last one stays. `None`: the targets are gone.
    plans: VecDeque<Option<&'static str>>,
    check: Result<(), &'static str>,
    /// Whether the archive lacks something, per round; after that, no.
    lacks: VecDeque<bool>,
    world: Option<FakeWorld>,
    concerned: bool,
}

#[derive(Default)]
struct FakeWorld {
    log: Log,
    forgets: bool,
    /// Whether something has changed, per look; after that, no.
    changes: VecDeque<bool>,
    missed: Vec<(LostWatch, String)>,
}

impl World for FakeWorld {
    fn forget(&mut self) -> bool {
        std::mem::take(&mut self.forgets)
    }

    fn catch_up(&mut self) -> bool {
        self.log.borrow_mut().push("look".to_owned());
        self.changes.pop_front().unwrap_or_default()
    }

    fn missed(&self) -> Vec<(LostWatch, String)> {
        self.missed.clone()
    }

    fn recheck_all(&mut self, _: ResourceId) -> bool {
        self.log.borrow_mut().push("recheck".to_owned());
        true
    }
}

impl Proposal for Fake {
    type Plan = &'static str;
    type Fingerprint = &'static str;

    fn plan(&mut self, _: &mut Vec<String>) -> Result<Option<&'static str>, OperationError> {
        Ok(if self.plans.len() > 1 { self.plans.pop_front().flatten() } else { self.plans[0] })
    }

    fn fingerprint(&self, plan: &&'static str) -> &'static str {
        plan
    }

    fn is_settled(&self, plan: &&'static str) -> bool {
        plan.starts_with("gate")
    }

    fn check(&mut self, _: &&'static str, _: &mut Vec<String>) -> Result<(), OperationError> {
        self.check.map_err(|why| OperationError::Usage(why.to_owned()))
    }

    fn begin_archive(&mut self, _: &&'static str, now: &jiff::Zoned) -> Result<Vec<String>, OperationError> {
        Ok(vec![format!("archived at {}", now.timestamp())])
    }

    fn complete_archive(&mut self, plan: &&'static str) -> Result<bool, OperationError> {
        let lacks = self.lacks.pop_front().unwrap_or_default();
        if lacks {
            self.log.borrow_mut().push(format!("archive {plan}"));
        }
        Ok(lacks)
    }

    fn world(&mut self) -> Option<&mut dyn World> {
        self.world.as_mut().map(|world| world as &mut dyn World)
    }

    fn concerns(&self, _: ResourceId) -> bool {
        self.concerned
    }
}

/// Shows, asks, and answers as scripted; without answers, there is no terminal.
struct User {
    log: Log,
    answers: Option<VecDeque<&'static str>>,
}

impl View<Fake> for User {
    fn show(&mut self, _: &Fake, plan: &&'static str, before: Option<&&'static str>) -> Result<(), OperationError> {
        self.log.borrow_mut().push(format!("show {plan}{}", if before.is_some() { " again" } else { "" }));
        Ok(())
    }

    fn question(&self, _: &Fake, plan: &&'static str) -> Question {
        Question { prompt: (*plan).to_owned(), archive: Some("a"), ..Question::default() }
    }
}

impl Terminal for User {
    fn can_ask(&self) -> bool {
        self.answers.is_some()
    }

    fn ask(&mut self, _: &str, prompt: &str) -> String {
        self.log.borrow_mut().push(format!("ask {prompt}"));
        // When the script has no more answers, the input has ended.
        self.answers.as_mut().and_then(VecDeque::pop_front).unwrap_or_default().to_owned()
    }

    fn say(&mut self, line: &str) {
        self.log.borrow_mut().push(format!("say {line}"));
    }

    fn now(&self) -> jiff::Zoned {
        jiff::Timestamp::from_second(60).unwrap().to_zoned(jiff::tz::TimeZone::UTC)
    }
}

/// A scripted run.
struct Trial {
    fake: Fake,
    answers: Option<Vec<&'static str>>,
    policy: Policy,
    notes: Vec<String>,
}

fn trial(plans: &[&'static str]) -> Trial {
    let log = Log::default();
    let fake = Fake {
        log: log.clone(),
        plans: plans.iter().copied().map(Some).collect(),
        check: Ok(()),
        lacks: VecDeque::new(),
        world: Some(FakeWorld { log, ..FakeWorld::default() }),
        concerned: true,
    };
    let policy = Policy { yes: false, missed: OnMissed::Refuse { unless: None } };
    Trial { fake, answers: Some(Vec::new()), policy, notes: Vec::new() }
}

impl Trial {
    fn answers(mut self, answers: &[&'static str]) -> Self {
        self.answers = Some(answers.to_vec());
        self
    }

    fn yes(mut self) -> Self {
        (self.policy.yes, self.answers) = (true, None);
        self
    }

    fn changes(mut self, changes: &[bool]) -> Self {
        self.world().changes = changes.iter().copied().collect();
        self
    }

    fn world(&mut self) -> &mut FakeWorld {
        self.fake.world.as_mut().unwrap()
    }

    fn missing(mut self, policy: OnMissed) -> Self {
        let resource = well_known::served().find_type("pods").unwrap();
        let lost = LostWatch { resource, namespace: None, reason: "410 Gone".to_owned(), watched: true };
        self.world().missed = vec![(lost, "pods".to_owned())];
        self.policy.missed = policy;
        self
    }

    /// All steps in order, and the result.
    fn run(&mut self) -> (String, Result<Approval<&'static str>, String>) {
        let log = self.fake.log.clone();
        let answers = self.answers.clone().map(VecDeque::from);
        let (mut view, mut terminal) = (User { log: log.clone(), answers: None }, User { log: log.clone(), answers });
        let ended = approve(&mut self.fake, &mut view, &mut terminal, self.policy, &mut self.notes);
        let happened = log.borrow().join(", ");
        (happened, ended.map_err(|error| error.to_string()))
    }
}

fn happened(what: &str, ended: Approval<&'static str>) -> (String, Result<Approval<&'static str>, String>) {
    (what.to_owned(), Ok(ended))
}

#[test]
fn a_yes_is_followed_by_a_look_at_what_has_happened_meanwhile() {
    let mut trial = trial(&["A"]).answers(&["y"]);
    assert_eq!(trial.run(), happened("show A, ask A, look", Approval::Approved("A")));
}

#[test]
fn anything_else_is_a_no_and_nothing_is_done() {
    for answers in [&[""] as &[&str], &["n"], &["yy"], &[]] {
        let answers: Vec<&'static str> = answers.iter().map(|answer| &*answer.to_string().leak()).collect();
        let mut trial = trial(&["A"]).answers(&answers);
        trial.fake.lacks = VecDeque::from([true]);
        assert_eq!(trial.run(), happened("show A, ask A", Approval::Declined(None)), "{answers:?}");
    }
}

#[test]
fn without_a_terminal_only_the_flag_is_a_yes() {
    let mut asked = trial(&["A"]);
    asked.answers = None;
    let why = "nothing was changed: there is no terminal for the question; use --yes to skip the question";
    assert_eq!(asked.run(), ("show A".to_owned(), Err(why.to_owned())));
    assert_eq!(trial(&["A"]).yes().run(), happened("show A, look", Approval::Approved("A")));
}

#[test]
fn another_plan_is_shown_and_asked_about_again() {
    let mut changed = trial(&["A", "B"]).answers(&["y", "y"]).changes(&[true]);
    assert_eq!(changed.run(), happened("show A, ask A, look, show B again, ask B, look", Approval::Approved("B")));
    let mut refused = trial(&["A", "B"]).answers(&["y", "n"]).changes(&[true]);
    assert_eq!(refused.run(), happened("show A, ask A, look, show B again, ask B", Approval::Declined(None)));
    // The flag approves every plan.
    let mut flag = trial(&["A", "B"]).yes().changes(&[true]);
    assert_eq!(flag.run(), happened("show A, look, show B again", Approval::Approved("B")));
    let mut gone = trial(&["A", "B"]).answers(&["y"]).changes(&[true]);
    gone.fake.plans = VecDeque::from([Some("A"), None]);
    assert_eq!(gone.run(), happened("show A, ask A, look", Approval::Gone { shown: true }));
}

#[test]
fn the_same_plan_is_not_asked_about_again() {
    let mut same = trial(&["A"]).answers(&["y"]).changes(&[true]);
    assert_eq!(same.run(), happened("show A, ask A, look", Approval::Approved("A")));
    // Dropped facts are read again before anything is archived.
    let mut forgotten = trial(&["A"]).answers(&["y"]);
    forgotten.world().forgets = true;
    forgotten.fake.lacks = VecDeque::from([true]);
    assert_eq!(forgotten.run(), happened("show A, ask A, look, archive A, look", Approval::Approved("A")));
}

#[test]
fn a_plan_that_never_stops_changing_is_given_up() {
    let plans: Vec<&'static str> = (0..ROUNDS + 1).map(|round| &*format!("P{round}").leak()).collect();
    let mut restless = trial(&plans).answers(&[&"y"; ROUNDS + 1].map(|yes| *yes)).changes(&[true; ROUNDS + 1]);
    let (happened, ended) = restless.run();
    let why = "nothing was changed: the plan changed 20 times while it was shown; try again";
    assert_eq!(ended, Err(why.to_owned()));
    assert_eq!(happened.matches("ask ").count(), ROUNDS);
}

#[test]
fn whoever_archives_first_is_asked_again() {
    let mut first = trial(&["A"]).answers(&["a", "y"]);
    assert_eq!(
        first.run(),
        happened("show A, ask A, say archived at 1970-01-01T00:01:00Z, ask A, look", Approval::Approved("A"))
    );
    let mut no = trial(&["A"]).answers(&["a", "n"]);
    assert_eq!(no.run().1, Ok(Approval::Declined(None)));
}

#[test]
fn an_archive_takes_time_too() {
    let mut archived = trial(&["A"]).yes().changes(&[true, false]);
    archived.fake.lacks = VecDeque::from([true, true]);
    assert_eq!(archived.run(), happened("show A, archive A, look, archive A, look", Approval::Approved("A")));
}

#[test]
fn a_gate_is_shown_and_nobody_is_asked() {
    assert_eq!(trial(&["gate"]).yes().run(), happened("show gate", Approval::Settled("gate")));
    assert_eq!(trial(&["gate"]).answers(&["y"]).run(), happened("show gate", Approval::Settled("gate")));
}

#[test]
fn what_cannot_be_done_is_not_asked_about() {
    let mut forbidden = trial(&["A"]).answers(&["y"]);
    forbidden.fake.check = Err("you may not");
    assert_eq!(forbidden.run(), ("show A".to_owned(), Err("you may not".to_owned())));
}

/// No plan contains a dependent that was created while a watch was lost: it would be deleted with its owner.
#[test]
fn missed_events_stop_it_unless_that_is_allowed() {
    let why = "nothing was changed: new pods may have been missed since they were listed (410 Gone); try again";
    let mut sweep = trial(&["A"]).yes().missing(OnMissed::Refuse { unless: None });
    assert_eq!(sweep.run(), ("show A, look".to_owned(), Err(why.to_owned())));
    let mut delete = trial(&["A"]).yes().missing(OnMissed::Refuse { unless: Some("--allow-incomplete") });
    assert_eq!(delete.run().1, Err(format!("{why}, or use --allow-incomplete")));
    // A missed event is dealt with once, at the second look.
    let mut allowed = trial(&["A", "A", "B"]).answers(&["y", "y"]).missing(OnMissed::Recheck).changes(&[false, true]);
    allowed.fake.lacks = VecDeque::from([false, true]);
    assert_eq!(
        allowed.run(),
        happened("show A, ask A, look, recheck, archive A, look, show B again, ask B, look", Approval::Approved("B"))
    );
    assert_eq!(allowed.notes, ["new pods may have been missed since they were listed (410 Gone)."]);
}

#[test]
fn missed_events_of_what_the_plan_cannot_depend_on_don_t_matter() {
    let mut unconcerned = trial(&["A"]).yes().missing(OnMissed::Refuse { unless: None });
    unconcerned.fake.concerned = false;
    assert_eq!(unconcerned.run(), happened("show A, look", Approval::Approved("A")));
}

#[test]
fn nothing_is_looked_at_where_carrying_it_out_reads_everything_again() {
    let mut restore = trial(&["A"]).answers(&["y"]);
    restore.fake.world = None;
    assert_eq!(restore.run(), happened("show A, ask A", Approval::Approved("A")));
}

mod questions {
    use super::super::*;

    fn question(word: Option<&str>, archive: Option<&'static str>) -> Question {
        Question { word: word.map(str::to_owned), archive, ..Question::default() }
    }

    #[test]
    fn only_what_was_asked_for_is_a_yes() {
        let plain = question(None, Some("a"));
        for yes in ["y", "Y", "yes", " YES "] {
            assert_eq!(plain.judge(yes), Answer::Yes, "{yes:?}");
        }
        for no in ["", "n", "no", "yy", "j", "A", "yes please"] {
            assert_eq!(plain.judge(no), Answer::No, "{no:?}");
        }
        assert_eq!(plain.judge("a"), Answer::Archive);
        assert_eq!(question(None, None).judge("a"), Answer::No, "it was archived already");
    }

    #[test]
    fn a_name_has_to_be_typed_as_it_is() {
        let named = question(Some("shop"), Some("a"));
        assert_eq!(named.judge("shop"), Answer::Yes);
        for no in ["", "y", "yes", "Shop", "sho", "shop shop"] {
            assert_eq!(named.judge(no), Answer::No, "{no:?}");
        }
        let awkward = question(Some("a"), Some("A"));
        assert_eq!((awkward.judge("a"), awkward.judge("A")), (Answer::Yes, Answer::Archive));
    }
}
