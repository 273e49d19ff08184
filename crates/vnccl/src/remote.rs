//! Ranks in other processes than rank 0: messages over a socket to its clique.
//!
//! Establishes: each side has a thread that always reads, so that writing never waits for good. A connection that ends
//! without [`Message::Leave`] is a process that died, of which all ranks hear.

use std::collections::HashMap;
use std::io::{Error, ErrorKind, Read, Result as IoResult, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use crate::call::{Call, Kind};
use crate::clique::{Clique, Data, Failure, Listener, Part, SplitPlace, SplitReply, SplitWish};
use crate::elements::Reduction;
use crate::unique_id::UniqueId;
use rtcg_cuda_sys::nccl::{ncclDataType_t, ncclResult_t};
use rtcg_vgpu_abi::IgnorePoison;

/// How often a listening thread looks whether it is still needed.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(2);

/// How long an answer about waiting is waited for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

#[cfg(target_os = "linux")]
mod address {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;

    /// A name in the system, of which no file remains.
    pub(super) fn of_name(name: &str) -> std::io::Result<SocketAddr> {
        SocketAddr::from_abstract_name(name)
    }
}

#[cfg(not(target_os = "linux"))]
mod address {
    use std::os::unix::net::SocketAddr;

    pub(super) fn of_name(name: &str) -> std::io::Result<SocketAddr> {
        SocketAddr::from_pathname(std::env::temp_dir().join(name))
    }
}

/// What the two sides say. A message is its kind and the length of what follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Message {
    /// id, number of ranks, rank, process
    Join,
    /// All ranks are there.
    Joined,
    /// token, call, data
    Arrive,
    /// token, data
    Done,
    /// colour, key, seed
    Split,
    /// whether there is a place; seed, rank, number of ranks
    SplitDone,
    /// code, text: the communicator is good for nothing any more
    Failed,
    Leave,
    /// What the rank waits for is asked
    Ask,
    /// and answered: text
    Awaited,
}

impl Message {
    const ALL: [Message; 10] = [
        Message::Join,
        Message::Joined,
        Message::Arrive,
        Message::Done,
        Message::Split,
        Message::SplitDone,
        Message::Failed,
        Message::Leave,
        Message::Ask,
        Message::Awaited,
    ];
}

/// Writes a message; `data` follows `head` without being copied.
fn write_message(stream: &Mutex<UnixStream>, message: Message, head: &[u8], data: &[u8]) -> IoResult<()> {
    let mut begin = vec![message as u8];
    begin.extend(((head.len() + data.len()) as u64).to_le_bytes());
    begin.extend(head);
    let mut stream = stream.lock().ignore_poison();
    stream.write_all(&begin)?;
    stream.write_all(data)
}

fn read_begin(stream: &mut UnixStream) -> IoResult<(Message, u64)> {
    let mut begin = [0; 9];
    stream.read_exact(&mut begin)?;
    let message = Message::ALL.get(usize::from(begin[0])).copied().ok_or(ErrorKind::InvalidData)?;
    Ok((message, u64::from_le_bytes(std::array::from_fn(|i| begin[i + 1]))))
}

fn read_bytes(stream: &mut UnixStream, n: u64) -> IoResult<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(n).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == n { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// Numbers of a message, in order.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> IoResult<u64> {
        let (word, rest) = self.0.split_first_chunk::<8>().ok_or(ErrorKind::InvalidData)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }
}

fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Token and call, as words.
const ARRIVAL_WORDS: usize = 7;

fn arrival_words(token: u64, call: &Call) -> Vec<u8> {
    let (reduction, scalar) = match call.reduction {
        Reduction::Sum => (0, 0),
        Reduction::Prod => (1, 0),
        Reduction::Max => (2, 0),
        Reduction::Min => (3, 0),
        Reduction::Average => (4, 0),
        Reduction::ScaledSum(bits) => (5, bits),
    };
    let (kind, dtype) = (call.kind as u64, call.dtype.0.into());
    words(&[token, kind, call.count, dtype, reduction, scalar, call.peer as u64])
}

fn arrival_from_words(bytes: &[u8]) -> IoResult<(u64, Call)> {
    let mut words = Words(bytes);
    let mut next = || words.next();
    let (token, kind, count, dtype, reduction, scalar, peer) =
        (next()?, next()?, next()?, next()?, next()?, next()?, next()?);
    let kind = *Kind::ALL.get(kind as usize).ok_or(ErrorKind::InvalidData)?;
    let reduction = match reduction {
        0 => Reduction::Sum,
        1 => Reduction::Prod,
        2 => Reduction::Max,
        3 => Reduction::Min,
        4 => Reduction::Average,
        _ => Reduction::ScaledSum(scalar),
    };
    Ok((token, Call { kind, count, dtype: ncclDataType_t(dtype as u32), reduction, peer: peer as usize }))
}

fn failure_bytes(failure: &Failure) -> Vec<u8> {
    let mut bytes = words(&[failure.code.0.into()]);
    bytes.extend(failure.text.as_bytes());
    bytes
}

fn failure_from_bytes(bytes: &[u8]) -> Failure {
    let code = Words(bytes).next().unwrap_or(3);
    Failure::new(ncclResult_t(code as u32), String::from_utf8_lossy(bytes.get(8..).unwrap_or_default()))
}

// -- beside rank 0 ------------------------------------------------------------------------------

/// Lets ranks of other processes join the clique, until all have.
pub(crate) fn listen(clique: &Arc<Clique>, id: UniqueId) -> IoResult<()> {
    let listener = UnixListener::bind_addr(&address::of_name(&id.name())?)?;
    listener.set_nonblocking(true)?;
    let clique = Arc::downgrade(clique);
    std::thread::Builder::new().name("rtcg-nccl".into()).spawn(move || accept_ranks(&listener, &clique, id))?;
    Ok(())
}

fn accept_ranks(listener: &UnixListener, clique: &Weak<Clique>, id: UniqueId) {
    while let Some(clique) = clique.upgrade() {
        // Looked at first: who has come by then hears how it ended.
        let is_open = matches!(clique.wait_until_joined(Instant::now()), Ok(false));
        match listener.accept() {
            Ok((stream, _)) => {
                let serve = move || {
                    let _ = serve_rank(stream, &clique, id);
                };
                let _ = std::thread::Builder::new().name("rtcg-nccl".into()).spawn(serve);
            }
            Err(_) if is_open => {
                drop(clique);
                std::thread::sleep(ACCEPT_INTERVAL);
            }
            Err(_) => break,
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = std::fs::remove_file(std::env::temp_dir().join(id.name()));
}

/// The way back to a rank of another process.
#[derive(Clone)]
struct Connection(Arc<Mutex<UnixStream>>);

impl Connection {
    /// Writes a message; a process that has gone is noticed where it is read from.
    fn send(&self, message: Message, head: &[u8], data: &[u8]) {
        let _ = write_message(&self.0, message, head, data);
    }
}

impl Listener for Connection {
    fn all_joined(&self) {
        self.send(Message::Joined, &[], &[]);
    }
    fn failed(&self, failure: &Failure) {
        self.send(Message::Failed, &failure_bytes(failure), &[]);
    }
}

/// A part that came as a message.
struct ReceivedPart {
    connection: Connection,
    token: u64,
    sent: Vec<u8>,
    n_received: u64,
    received: Vec<u8>,
}

impl Part for ReceivedPart {
    fn begin(&mut self) -> Result<Data, String> {
        self.received = vec![0; self.n_received as usize];
        Ok(Data { sent: self.sent.as_ptr(), received: self.received.as_mut_ptr() })
    }
    fn is_in_this_process(&self) -> bool {
        false
    }
    /// Of a failure the other side hears once for all.
    fn finish(self: Box<Self>, outcome: Result<(), Failure>) {
        if outcome.is_ok() {
            self.connection.send(Message::Done, &words(&[self.token]), &self.received);
        }
    }
}

fn serve_rank(mut stream: UnixStream, clique: &Arc<Clique>, id: UniqueId) -> IoResult<()> {
    let connection = Connection(Arc::new(Mutex::new(stream.try_clone()?)));
    let (message, n) = read_begin(&mut stream)?;
    if message != Message::Join || n != 152 {
        return Err(ErrorKind::InvalidData.into());
    }
    let join = read_bytes(&mut stream, n)?;
    if join[..128] != *id.bytes() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut numbers = Words(&join[128..]);
    let (n_ranks, rank, process) = (numbers.next()? as usize, numbers.next()? as usize, numbers.next()?);
    if rank >= clique.n_ranks {
        let text = format!("rank 0 says that there are {} ranks, rank {rank} says {n_ranks}", clique.n_ranks);
        let failure = Failure::new(ncclResult_t::ncclInvalidArgument, text);
        connection.failed(&clique.refuse(failure));
        return Ok(());
    }
    if let Err(failure) = clique.join(rank, n_ranks, Some(Box::new(connection.clone()))) {
        connection.failed(&failure);
        return Ok(());
    }
    let outcome = serve_messages(&mut stream, clique, rank, &connection);
    if outcome.is_err() {
        let text = format!("rank {rank} has died: its process {process} ended without leaving the communicator");
        clique.fail(Failure::new(ncclResult_t::ncclRemoteError, text));
    }
    outcome
}

/// Returns when the rank leaves; fails when its process ends.
fn serve_messages(stream: &mut UnixStream, clique: &Arc<Clique>, rank: usize, connection: &Connection) -> IoResult<()> {
    loop {
        let (message, n) = read_begin(stream)?;
        match message {
            Message::Arrive if n >= 8 * ARRIVAL_WORDS as u64 => {
                let (token, call) = arrival_from_words(&read_bytes(stream, 8 * ARRIVAL_WORDS as u64)?)?;
                let sent = read_bytes(stream, n - 8 * ARRIVAL_WORDS as u64)?;
                if sent.len() as u64 != call.sent_bytes(rank, clique.n_ranks) || call.peer >= clique.n_ranks {
                    return Err(ErrorKind::InvalidData.into());
                }
                let n_received = call.received_bytes(rank, clique.n_ranks);
                let connection = connection.clone();
                let part = ReceivedPart { connection, token, sent, n_received, received: Vec::new() };
                clique.arrive(rank, call, Box::new(part));
            }
            Message::Split if n == 32 => {
                let bytes = read_bytes(stream, n)?;
                let mut numbers = Words(&bytes);
                let wish = SplitWish { color: numbers.next()? as i32, key: numbers.next()? as i32 };
                let seed = std::array::from_fn(|i| bytes[16 + i]);
                let connection = connection.clone();
                clique.split(rank, wish, seed, Box::new(move |place| send_place(&connection, place)));
            }
            Message::Ask => connection.send(Message::Awaited, clique.awaited(rank).as_bytes(), &[]),
            Message::Failed => clique.fail(failure_from_bytes(&read_bytes(stream, n)?)),
            Message::Leave => {
                clique.leave(rank);
                return Ok(());
            }
            _ => return Err(ErrorKind::InvalidData.into()),
        }
    }
}

fn send_place(connection: &Connection, place: Result<Option<SplitPlace>, Failure>) {
    match place {
        // The other side hears of failures once for all.
        Err(_) => {}
        Ok(None) => connection.send(Message::SplitDone, &words(&[0; 5]), &[]),
        Ok(Some(place)) => {
            let mut bytes = words(&[1]);
            bytes.extend(place.seed);
            bytes.extend(words(&[place.rank as u64, place.n_ranks as u64]));
            connection.send(Message::SplitDone, &bytes, &[]);
        }
    }
}

// -- in the other processes ---------------------------------------------------------------------

#[derive(Default)]
struct RemoteState {
    joined: bool,
    left: bool,
    failure: Option<Failure>,
    parts: HashMap<u64, Box<dyn Part>>,
    split: Option<SplitReply>,
    awaited: Option<String>,
}

/// A rank's way to the clique in another process.
pub(crate) struct RemoteLink {
    rank: usize,
    n_ranks: usize,
    writer: Mutex<UnixStream>,
    state: Mutex<RemoteState>,
    changed: Condvar,
    next_token: AtomicU64,
}

impl std::fmt::Debug for RemoteLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteLink(rank {} of {})", self.rank, self.n_ranks)
    }
}

impl RemoteLink {
    /// Joins the clique of another process. An error may mean that it is not there yet.
    pub(crate) fn join(id: &UniqueId, rank: usize, n_ranks: usize) -> IoResult<Arc<Self>> {
        let mut stream = UnixStream::connect_addr(&address::of_name(&id.name())?)?;
        let mut join = id.bytes().to_vec();
        join.extend(words(&[n_ranks as u64, rank as u64, std::process::id().into()]));
        let writer = Mutex::new(stream.try_clone()?);
        write_message(&writer, Message::Join, &join, &[])?;
        let (state, changed) = (Mutex::default(), Condvar::new());
        let link = Arc::new(Self { rank, n_ranks, writer, state, changed, next_token: AtomicU64::new(0) });
        let reader = link.clone();
        let read = move || {
            let Err(error) = reader.read_messages(&mut stream) else { return };
            let why = if error.kind() == ErrorKind::UnexpectedEof { String::new() } else { format!(": {error}") };
            let text = format!("the process of rank 0, where ranks meet, has ended{why}");
            reader.note_failure(Failure::new(ncclResult_t::ncclRemoteError, text));
        };
        std::thread::Builder::new().name("rtcg-nccl".into()).spawn(read)?;
        Ok(link)
    }

    fn lock(&self) -> MutexGuard<'_, RemoteState> {
        self.state.lock().ignore_poison()
    }

    fn read_messages(&self, stream: &mut UnixStream) -> IoResult<()> {
        loop {
            let (message, n) = match read_begin(stream) {
                Err(_) if self.lock().left => return Ok(()),
                begin => begin?,
            };
            match message {
                Message::Joined => {
                    self.lock().joined = true;
                    self.changed.notify_all();
                }
                Message::Done if n >= 8 => {
                    let token = Words(&read_bytes(stream, 8)?).next()?;
                    let part = self.lock().parts.remove(&token);
                    receive_into(stream, part, n - 8)?;
                }
                Message::SplitDone if n == 40 => {
                    let bytes = read_bytes(stream, n)?;
                    let has_place = Words(&bytes).next()? != 0;
                    let seed = std::array::from_fn(|i| bytes[8 + i]);
                    let mut numbers = Words(&bytes[24..]);
                    let (rank, n_ranks) = (numbers.next()? as usize, numbers.next()? as usize);
                    let place = has_place.then_some(SplitPlace { seed, rank, n_ranks });
                    let reply = self.lock().split.take();
                    reply.into_iter().for_each(|reply| reply(Ok(place)));
                }
                Message::Awaited => {
                    let text = String::from_utf8_lossy(&read_bytes(stream, n)?).into_owned();
                    self.lock().awaited = Some(text);
                    self.changed.notify_all();
                }
                Message::Failed => self.note_failure(failure_from_bytes(&read_bytes(stream, n)?)),
                _ => return Err(Error::new(ErrorKind::InvalidData, "an unknown message")),
            }
        }
    }

    fn note_failure(&self, failure: Failure) {
        let mut state = self.lock();
        let failure = state.failure.get_or_insert(failure).clone();
        let (parts, split) = (std::mem::take(&mut state.parts), state.split.take());
        self.changed.notify_all();
        drop(state);
        parts.into_values().for_each(|part| part.finish(Err(failure.clone())));
        split.into_iter().for_each(|reply| reply(Err(failure.clone())));
    }

    /// Waits until all ranks are there. `false` when the time is over.
    pub(crate) fn wait_until_joined(&self, until: Instant) -> Result<bool, Failure> {
        let mut state = self.lock();
        while !state.joined {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let Some(left) = until.checked_duration_since(Instant::now()) else { return Ok(false) };
            state = self.changed.wait_timeout(state, left).ignore_poison().0;
        }
        Ok(true)
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }

    /// What the rank waits for, as the clique says; it is not waited for long.
    pub(crate) fn awaited(&self) -> String {
        self.send(Message::Ask, &[], &[]);
        let is_open = |state: &mut RemoteState| state.awaited.is_none() && state.failure.is_none();
        let answered = self.changed.wait_timeout_while(self.lock(), ANSWER_TIMEOUT, is_open);
        answered.ignore_poison().0.awaited.take().unwrap_or_else(|| "other ranks".to_owned())
    }

    /// Sends a part, which is finished when the answer is here.
    pub(crate) fn arrive(&self, call: Call, mut part: Box<dyn Part>) {
        let data = match part.begin() {
            Ok(data) => data,
            Err(why) => {
                let failure = Failure::new(ncclResult_t::ncclRemoteError, format!("rank {}: {why}", self.rank));
                self.fail(failure.clone());
                return part.finish(Err(failure));
            }
        };
        let n = call.sent_bytes(self.rank, self.n_ranks) as usize;
        // SAFETY: the part answers for its data, and lives until the answer comes or the communicator fails. A
        // transfer of nothing may have no address.
        let sent = if n == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data.sent, n) } };
        let token = self.next_token.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        if let Some(failure) = state.failure.clone() {
            drop(state);
            return part.finish(Err(failure));
        }
        state.parts.insert(token, part);
        drop(state);
        self.send(Message::Arrive, &arrival_words(token, &call), sent);
    }

    pub(crate) fn split(&self, wish: SplitWish, seed: [u8; 16], reply: SplitReply) {
        let mut state = self.lock();
        if let Some(failure) = state.failure.clone() {
            drop(state);
            return reply(Err(failure));
        }
        state.split = Some(reply);
        drop(state);
        let mut bytes = words(&[wish.color as u64, wish.key as u64]);
        bytes.extend(seed);
        self.send(Message::Split, &bytes, &[]);
    }

    /// Ends the communicator for all ranks.
    pub(crate) fn fail(&self, failure: Failure) {
        self.send(Message::Failed, &failure_bytes(&failure), &[]);
        self.note_failure(failure);
    }

    pub(crate) fn leave(&self) {
        self.lock().left = true;
        self.send(Message::Leave, &[], &[]);
    }

    /// The reading thread finds out why a message does not arrive.
    fn send(&self, message: Message, head: &[u8], data: &[u8]) {
        let _ = write_message(&self.writer, message, head, data);
    }
}

/// Reads an answer into the memory of its part, if that may still be written.
fn receive_into(stream: &mut UnixStream, part: Option<Box<dyn Part>>, n: u64) -> IoResult<()> {
    let Some(mut part) = part else { return read_bytes(stream, n).map(drop) };
    match part.begin() {
        Ok(data) if n > 0 => {
            // SAFETY: the part answers for its data, of which nobody else has a reference; its length is the call's.
            stream.read_exact(unsafe { std::slice::from_raw_parts_mut(data.received, n as usize) })?;
            part.finish(Ok(()));
        }
        Ok(_) => part.finish(Ok(())),
        Err(why) => {
            read_bytes(stream, n)?;
            part.finish(Err(Failure::new(ncclResult_t::ncclRemoteError, why)));
        }
    }
    Ok(())
}
