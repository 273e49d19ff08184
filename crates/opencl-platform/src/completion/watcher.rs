//! Threads that wait for the device on behalf of the program: one calls the functions of `clSetEventCallback`, which
//! may block; another gives back what commands have used, and runs commands that are the host's.
//!
//! Both look again and again at what they wait for: a thread for each would be too many, and a driver's own thread
//! must not call the driver.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Something to do when the device has come so far: returns whether there is nothing more to do.
type Task = Box<dyn FnMut() -> bool + Send>;

/// A thread with its tasks, started by the first.
pub(crate) struct Watcher {
    name: &'static str,
    tasks: OnceLock<Sender<Task>>,
}

/// Calls functions of the program.
pub(crate) static CALLBACKS: Watcher = Watcher { name: "rtcg OpenCL callbacks", tasks: OnceLock::new() };

/// Drops what commands have used, and runs commands of the host.
pub(crate) static HOST_COMMANDS: Watcher = Watcher { name: "rtcg OpenCL host commands", tasks: OnceLock::new() };

const SHORTEST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_micros(500);

impl Watcher {
    /// Runs a task until it says that there is nothing more to do; tasks that were given earlier are asked first.
    pub(crate) fn watch(&'static self, task: impl FnMut() -> bool + Send + 'static) {
        let tasks = self.tasks.get_or_init(|| {
            let (sender, receiver) = channel();
            let run = move || run(&receiver);
            std::thread::Builder::new().name(self.name.into()).spawn(run).expect("a thread can be started");
            sender
        });
        // The receiver lives as long as the process.
        let _ = tasks.send(Box::new(task));
    }
}

fn run(receiver: &Receiver<Task>) {
    let mut tasks = Vec::new();
    let mut pause = SHORTEST_PAUSE;
    loop {
        let received = if tasks.is_empty() {
            receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            receiver.recv_timeout(pause)
        };
        pause = match received {
            Ok(task) => {
                tasks.push(task);
                SHORTEST_PAUSE
            }
            Err(RecvTimeoutError::Timeout) => LONGEST_PAUSE.min(2 * pause),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        tasks.extend(receiver.try_iter());
        let before = tasks.len();
        tasks.retain_mut(|task| !task());
        if tasks.len() < before {
            pause = SHORTEST_PAUSE;
        }
    }
}
