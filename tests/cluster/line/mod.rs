//! A line that fails: what answers wrong, late or not at all between the program and the API server.

mod discovery;
mod ends;
mod going_on;
mod mixed_up;
mod scene;
mod seeded;
mod watches;
