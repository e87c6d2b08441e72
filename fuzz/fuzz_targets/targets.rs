#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubectl_gc::fuzzing::targets(bytes));
