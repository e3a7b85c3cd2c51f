//! What the fuzzer asks of texts, movements, programs, protocols, headers, frames and messages.
//!
//! Each function takes any input and must neither panic nor hang; what it accepts must keep its
//! promises (printing and parsing, schedules and plans, adjoints). The programs in `fuzz_targets`
//! hand them the fuzzer's inputs; the tests here replay the seeds, whole and damaged, without one.

use pantile_cluster::wire::{ClientReply, ClientRequest, RequestKind, WorkerOrder, WorkerReport};
use pantile_comm_net::control_message::ControlMessage;
use pantile_comm_net::frame::{BODY_MAX, FramePrefix};
use pantile_comm_net::handshake::{decode_answer, decode_ranks, encode_ranks};
use pantile_comm_net::{FrameError, Handshake};
use pantile_geometry::Distribution;
use pantile_geometry::halo::{AxisHalo, Blocks, Chain, LayerAxis, Window};
use pantile_ir::text::{canonical, parse};
use pantile_ir::verify::verify;
use pantile_lower::CompileUnit;
use pantile_plan::{Plan, Schedule, Totals, Transfer};
use pantile_protocol::{Section, check, convert, dnpy, literal, normalise, npy};
use pantile_text::json;
use prost::Message;

/// Any text is a distribution or a fault; a distribution survives printing, and its questions
/// are answered without a panic.
pub fn distribution_text(text: &str) {
    let Ok(made) = text.parse::<Distribution>() else { return };
    let printed = made.to_string();
    let again: Distribution = printed.parse().expect("what is printed parses");
    assert_eq!(again, made, "{printed}");
    assert_eq!(again.to_string(), printed);
    assert_eq!(made.normal(), made);
    let _ = made.dual();
    if made.size() > 512 || made.mesh().size() > 64 {
        for rank in [0, 1, made.mesh().rank_at(made.mesh().size() - 1), usize::MAX] {
            let _ = made.local_shape(rank);
        }
        return;
    }
    for rank in made.mesh().ranks() {
        let shape = made.local_shape(rank).expect("in the team");
        for (lifts, region) in made.held(rank) {
            if region.size() > 4096 {
                continue;
            }
            let slab = made.slab(rank, &lifts, &region).expect("held lies in room");
            assert_eq!(slab.offsets(&shape).len(), region.size());
        }
    }
    let first = vec![0; made.ndim()];
    if made.size() > 0 {
        let holders = made.holders(&first);
        assert_eq!(made.owner(&first).is_some(), !holders.is_empty());
        let _ = made.written();
        for axis in 0..made.ndim() {
            let last = i64::try_from(made.shape()[axis] - 1).expect("small");
            let turned = made.slice(axis, last, -1, made.shape()[axis]);
            let _ = turned.map(|turned| turned.holders(&first));
            let _ = made.select(axis, 0);
        }
    }
}

/// Two distributions, a line each: the movement between them is right or refused, on every rank.
pub fn movement(text: &str) {
    let Some((one, other)) = text.split_once('\n') else { return };
    let (Ok(source), Ok(target)) = (one.parse::<Distribution>(), other.parse::<Distribution>())
    else {
        return;
    };
    if [&source, &target].iter().any(|side| side.size() > 256 || side.mesh().size() > 16) {
        // A rank that sends to millions has a long list to write; that is not what is sought here.
        if source.mesh().size().max(target.mesh().size()) <= 1 << 14 {
            for rank in [0, 7] {
                let _ = Schedule::between(&source, &target, rank);
            }
        }
        return;
    }
    match Plan::between(&source, &target) {
        Ok(plan) => {
            assert!(plan.check().is_empty(), "{plan}\n{:?}", plan.check());
            let transfers: Vec<Transfer> = plan.transfers().cloned().collect();
            assert_eq!(Totals::between(&source, &target), Ok(Totals::of(&transfers)));
            for rank in source.mesh().ranks().chain(target.mesh().ranks()) {
                let alone = Schedule::between(&source, &target, rank).expect("as the plan");
                assert_eq!(alone, plan.for_rank(rank));
            }
            if let (Ok(from), Ok(to)) = (target.dual(), source.dual()) {
                let adjoint = plan.adjoint().expect("both have duals");
                assert_eq!(adjoint, Plan::between(&from, &to).expect("the adjoint"));
            }
            let _ = plan.within(64, 8).expect("elements of 8 bytes fit");
        }
        Err(error) => {
            assert_eq!(Schedule::between(&source, &target, 0), Err(error));
        }
    }
}

/// Any text is a plan or a fault; a plan survives printing and checking.
pub fn plan_text(text: &str) {
    let Ok(plan) = text.parse::<Plan>() else { return };
    let printed = plan.to_string();
    assert_eq!(printed.parse::<Plan>().expect("what is printed parses"), plan);
    let json = plan.to_json().to_string();
    assert_eq!(Plan::from_json(&json).expect("what is written reads"), plan);
    let small = |plan: &Plan| {
        plan.steps().iter().all(|step| {
            step.source.size() <= 4096
                && step.source.mesh().size() <= 64
                && step.target.mesh().size() <= 64
        })
    };
    if small(&plan) {
        let _ = plan.check();
    }
}

/// Any text is JSON or a fault, a plan or a fault; both survive writing.
pub fn plan_json(text: &str) {
    let Ok(value) = json::parse(text) else { return };
    assert_eq!(json::parse(&value.to_string()).expect("what is written reads"), value);
    assert_eq!(json::parse(&value.to_indented()).expect("what is written reads"), value);
    let Ok(plan) = Plan::from_json(text) else { return };
    assert_eq!(Plan::from_json(&plan.to_json().to_string()).expect("a plan"), plan);
}

/// Any text is a program or faults with places inside of it; a program survives printing, and the
/// verifier has an answer.
pub fn program_text(text: &str) {
    let program = match parse(text, "fuzz") {
        Ok(program) => program,
        Err(faults) => {
            let lines: Vec<&str> = text.split('\n').collect();
            for fault in &faults {
                let line = lines[fault.line() - 1];
                assert!(fault.column() <= line.chars().count() + 1, "{fault}");
            }
            assert!(!faults.is_empty());
            return;
        }
    };
    let printed = program.to_string();
    let again = parse(&printed, "fuzz").expect("what is printed parses");
    assert_eq!(canonical(&again), canonical(&program), "{printed}");
    assert_eq!(again.to_string(), printed);
    assert_eq!(verify(&again).is_ok(), verify(&program).is_ok(), "{printed}");
}

/// What other libraries might say: verdicts, never a panic; what is accepted converts back.
pub fn protocol_json(text: &str) {
    let Ok(document) = pantile_protocol::json::read(text) else { return };
    let _ = document.findings();
    let Some(sections) = document.sections() else { return };
    let sections: &[Section] = sections;
    let findings = check(sections);
    let _ = normalise(sections);
    if let Ok(imported) = convert::import(sections) {
        let _ = imported.distribution.to_string();
        if findings.is_empty() && imported.distribution.mesh().size() <= 64 {
            let _ = convert::export(&imported.distribution, &imported.extras);
        }
    }
}

/// Headers of array files: read or refused; what was read is written back and read again.
pub fn headers(bytes: &[u8]) {
    if let Ok((header, _)) = npy::Header::read(bytes) {
        let written = header.write().expect("a header that was read");
        let (again, _) = npy::Header::read(&written).expect("what is written reads");
        assert_eq!(again, header);
    }
    let _ = dnpy::read(bytes);
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(value) = literal::parse(text)
    {
        // Buffers have no spelling as a literal: writing may refuse.
        if let Ok(written) = literal::write(&value) {
            assert_eq!(literal::parse(&written).expect("what is written reads"), value);
        }
    }
}

/// Numbers from bytes: halo tables of any layer, and slice arithmetic, never panic.
pub fn layer_halo(numbers: [u8; 12]) {
    let [size, ranks, kernel, stride, padding, dilation, k2, s2, p2, d2, mode, big] =
        numbers.map(usize::from);
    let size = if big > 250 { usize::MAX >> (big % 16) } else { size };
    let Ok(input) = Blocks::balanced(size, ranks % 33) else { return };
    let Ok(window) = Window::new(kernel % 9, stride % 6, padding % 6, dilation % 4) else { return };
    let halo = if mode % 2 == 0 {
        AxisHalo::new(&window, &input)
    } else {
        AxisHalo::with_boundary_padding(&window, &input)
    };
    if let Ok(halo) = halo {
        for worker in 0..halo.workers() {
            let row = halo.worker(worker).expect("a worker");
            let senders = halo.senders(worker);
            let _ = (row, senders);
        }
        let _ = halo.wide_halos();
    }
    let Ok(second) = Window::new(k2 % 9, s2 % 6, p2 % 6, d2 % 4) else { return };
    let layers: [&dyn LayerAxis; 2] = [&window, &second];
    let _ = Chain::new(&layers, &input);
}

/// What comes over a connection: handshakes, answers, and one frame of a world after the other. All
/// of it is read or refused; what was read is written back as it came.
pub fn frames(bytes: &[u8]) {
    if let Ok((handshake, length)) = Handshake::decode(bytes) {
        let written = handshake.encode();
        // The payload is not read yet; its length is the last number before it.
        assert_eq!(written[..60], bytes[..60]);
        assert!(length <= usize::from(u16::MAX));
    }
    let _ = decode_answer(bytes);
    if let Some((from, to, size)) = decode_ranks(bytes) {
        assert_eq!(encode_ranks(from, to, size), bytes);
    }
    let mut rest = bytes;
    while let Ok(Some(prefix)) = FramePrefix::decode(rest, BODY_MAX) {
        let first = prefix.encode().len();
        assert_eq!(prefix.encode(), rest[..first]);
        let Some(header) = rest.get(first..first + prefix.header) else { return };
        match ControlMessage::decode(&prefix, header) {
            Ok(message) => assert_frame(&message, &prefix),
            Err(error) => assert!(matches!(error, FrameError::Meaning { .. })),
        }
        rest = rest.get(first + prefix.header + prefix.body..).unwrap_or_default();
    }
}

/// What a control message means survives writing and reading.
fn assert_frame(message: &ControlMessage, prefix: &FramePrefix) {
    let written = message.encode(prefix.body);
    let again = FramePrefix::decode(&written, BODY_MAX).expect("a frame").expect("all of it");
    let header = &written[written.len() - again.header..];
    assert_eq!(ControlMessage::decode(&again, header).as_ref(), Ok(message));
}

/// What comes over the control plane of a cluster: bytes are a message or not; a message survives
/// writing, and a program in it is judged as a worker judges it.
pub fn control(bytes: &[u8]) {
    fn again<M: Message + Default + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> Option<M> {
        let read = M::decode(bytes).ok()?;
        let written = read.encode_to_vec();
        assert!(M::decode(&written[..]).as_ref() == Ok(&read), "{read:?}");
        Some(read)
    }
    again::<ClientReply>(bytes);
    again::<WorkerOrder>(bytes);
    again::<WorkerReport>(bytes);
    if let Some(ClientRequest { kind: Some(RequestKind::Program(program)) }) =
        again::<ClientRequest>(bytes)
    {
        recipe(&program.text);
    }
}

/// Any text is a program for ranks or a fault; a program survives printing, and is lowered or
/// refused in good time.
pub fn recipe(text: &str) {
    let Ok(made) = text.parse::<CompileUnit>() else { return };
    let printed = made.to_string();
    let again: CompileUnit = printed.parse().expect("what is printed parses");
    assert_eq!(again.to_string(), printed);
    // A worker has compared the number of ranks by now.
    if made.ranks() <= 64 {
        let one = made.compile().map(|executable| executable.to_string());
        let other = again.compile().map(|executable| executable.to_string());
        assert_eq!(one.is_ok(), other.is_ok(), "{printed}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every seed of a target, then damaged copies of it: bytes changed, dropped, doubled.
    fn replay(name: &str, run: impl Fn(&[u8])) {
        let folder = format!("{}/seeds/{name}", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .expect("the seeds are there")
            .map(|entry| entry.expect("a file").path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "no seeds in {folder}");
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut below = move |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % n.max(1) as u64).expect("small")
        };
        for file in files {
            let seed = std::fs::read(&file).expect("readable");
            run(&seed);
            for _ in 0..300 {
                let mut bytes = seed.clone();
                for _ in 0..1 + below(3) {
                    let at = below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
                    match below(4) {
                        _ if bytes.is_empty() => break,
                        0 => drop(bytes.remove(at)),
                        1 => bytes.insert(at, b" 019:,-[]{}()=*&/xr"[below(19)]),
                        2 => bytes[at] = u8::try_from(below(256)).expect("a byte"),
                        _ => bytes.truncate(at),
                    }
                }
                run(&bytes);
            }
        }
    }

    fn replay_text(name: &str, run: impl Fn(&str)) {
        replay(name, |bytes| run(&String::from_utf8_lossy(bytes)));
    }

    #[test]
    fn distributions() {
        replay_text("distribution_text", distribution_text);
    }

    #[test]
    fn movements() {
        replay_text("movement", movement);
    }

    #[test]
    fn plans() {
        replay_text("plan_text", plan_text);
        replay_text("plan_json", plan_json);
    }

    #[test]
    fn programs() {
        replay_text("program_text", program_text);
    }

    #[test]
    fn protocols() {
        replay_text("protocol_json", protocol_json);
    }

    #[test]
    fn files() {
        replay("headers", headers);
    }

    #[test]
    fn connections() {
        replay("frames", frames);
    }

    #[test]
    fn messages() {
        replay("control", control);
        replay_text("recipe", recipe);
        // Whole seeds are programs that can be lowered: damage has something to damage.
        for name in ["given", "move", "nested", "star", "transpose", "standardise", "cg"] {
            let path = format!("{}/seeds/recipe/{name}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).expect("a seed");
            let made: CompileUnit = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
            made.compile().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn layers() {
        for at in 0..=255_u8 {
            layer_halo([10, 4, 2, 2, at % 3, 1, 3, 1, 1, 1, at, at].map(|n: u8| n));
            layer_halo([at, at, at, at, at, at, 3, at, 1, at, 0, at]);
        }
    }
}
