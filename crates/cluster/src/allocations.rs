//! How often a piece of work asks for memory, for tests: unlike a time, that is the same on every machine.

use alloc_tracker::{Allocator, Session};

#[global_allocator]
static ALLOCATOR: Allocator<std::alloc::System> = Allocator::system();

/// What this thread asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocated {
    pub times: u64,
    /// The bytes of all requests together, whether they were given back or not.
    pub bytes: u64,
}

/// Does something, and says what this thread allocated for it. Other threads don't count.
pub(crate) fn allocated<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    let session = Session::new().no_stdout().no_file();
    let operation = session.operation("work");
    let span = operation.measure_thread().no_peak().iterations(1);
    let done = work();
    drop(span);
    let report = session.to_report();
    let (_, total) = report.operations().next().expect("one operation");
    (done, Allocated { times: total.total_allocations_count(), bytes: total.total_bytes_allocated() })
}

/// What each of many things costs once `first` of them were there, on average: what is allocated once for all, and
/// tables that grow, count only as far as they grow.
pub(crate) fn allocated_for_each(first: usize, all: usize, work: impl Fn(usize)) -> (f64, f64) {
    let (few, many) = (allocated(|| work(first)).1, allocated(|| work(all)).1);
    let each = |few: u64, many: u64| (many as f64 - few as f64) / (all - first) as f64;
    (each(few.times, many.times), each(few.bytes, many.bytes))
}

#[test]
fn what_is_allocated_is_counted() {
    let (text, cost) = allocated(|| String::from_utf8(vec![b'a'; 1000]));
    assert_eq!((text.map(|text| text.len()), cost.times, cost.bytes), (Ok(1000), 1, 1000));
    let (each, bytes) = allocated_for_each(10, 30, |boxes| {
        let _ = (0..boxes).map(|number| Box::new(number as u64)).collect::<Vec<_>>();
    });
    assert_eq!((each, bytes), (1.0, 16.0), "a box of eight bytes, and eight for its place");
}
