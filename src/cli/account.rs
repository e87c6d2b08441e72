//! `kubectl gc watch`: tells what goes and why, while it happens.

use std::io;

use crate::{
    operations::{
        OperationError,
        account::{Ended, Observation, Until, Watched},
        signals::ended,
        usage,
    },
    render::{
        account::{AccountOptions, document, summary, text},
        output::Format,
        states::Style,
    },
};
use gc_core::{
    account::{Happening, Scope},
    model::{Resources, SnapshotBuilder},
};

use super::{
    args::{GlobalArgs, PrintArgs, WatchArgs},
    connection::time_of,
    output::apply,
    report::{self, Exit, Report, heading, print_data, say, terminal_width},
};

/// Tells what happens until it is interrupted, or as configured.
pub(super) fn run(global: &GlobalArgs, args: &WatchArgs) -> Result<Report, OperationError> {
    let has_targets = args.targets.any();
    if args.until_gone && !has_targets {
        return usage("--until-gone needs a TARGET, such as namespace/shop");
    }
    let until = Until { timeout: time_of("--timeout", &args.timeout)?, gone: args.until_gone };
    let observation = Observation::open(&global.cluster()?, &global.targets(&args.targets)?)?;
    let style = Style::new(report::is_coloured(global.color, &io::stdout()));
    let options = AccountOptions {
        namespaces: observation.namespace.is_none(),
        width: terminal_width(),
        style: &style,
        zone: jiff::tz::TimeZone::system(),
        server: observation.server(),
    };
    let is_text = global.printing.format().is_text();
    let mut heading = if is_text { first_line(&observation) } else { Vec::new() };
    let (mut open, mut started, mut failed) = (true, false, None);
    let mut tell = |happening: &Happening| {
        let mut out = std::mem::take(&mut heading);
        let told = match global.printing.output {
            Some(format @ Format::Template(template)) => {
                // Only the first line of columns has titles.
                let titles = PrintArgs { no_headers: global.printing.no_headers || started, ..global.printing };
                apply(format, template, &document(happening, &options), titles).unwrap_or_else(|error| {
                    failed.get_or_insert(error);
                    String::new()
                })
            }
            _ if is_text => text(happening, &options),
            _ => document(happening, &options),
        };
        started = true;
        out.extend(told.into_bytes());
        open = open && failed.is_none() && print_data(&out).is_ok();
        open
    };
    let runtime = &observation.cluster.runtime;
    let watched = runtime.block_on(async { observation.run(until, ended()?, &mut tell).await })?;
    if let Some(error) = failed {
        return Err(error);
    }
    // A closed pipe is no news.
    Ok(if open { report(&watched, args.until_gone) } else { Report::of("") })
}

fn first_line(observation: &Observation) -> Vec<u8> {
    let origin = observation.cluster.connection.origin();
    let snapshot = SnapshotBuilder::new(origin, Resources::default()).build();
    let namespace = match &observation.scope {
        Scope::Namespace(namespace) => Some(namespace.as_str()),
        Scope::Everything | Scope::Targets(_) => observation.namespace.as_deref(),
    };
    heading(&snapshot, namespace, &[], " Ctrl-C to stop.")
}

/// The summary, on standard error, and the exit code.
fn report(watched: &Watched, until_gone: bool) -> Report {
    for line in summary(&watched.summary, watched.took) {
        say(&line);
    }
    let mut report = Report::of("");
    if watched.ended == Ended::TimedOut {
        if until_gone {
            report.notes.push(format!("--timeout: {} of the TARGETs left.", watched.targets_left));
        }
        if until_gone || !watched.summary.loops.is_empty() {
            report.exit = Exit::BadNews;
        }
    }
    report
}
