//! `pantile check`: are descriptions, plans and distributions right?

use anyhow::Result;
use clap::Args;
use pantile_geometry::Distribution;
use pantile_plan::Plan;
use pantile_protocol::convert::{import, import_partitioned};
use pantile_protocol::json::Document;
use pantile_protocol::{Dim, Finding, Section, dnpy, normalise, npy, validate};
use pantile_text::json::{self, Value};

use crate::input::NamedText;
use crate::numbers::plural;
use crate::program;
use crate::report::Report;

#[derive(Args)]
#[command(after_help = "\
Read are, told apart by how they begin: programs (also if their name ends in `.dist`), protocol
descriptions in JSON (`__distarray__` of one rank or of all ranks, `__partitioned__`), headers of
`.npy` and `.dnpy` files, plans as text or JSON (as `pantile plan --text` and `--json` print them),
and distributions.

Real producers bend the protocol in ways that have only one meaning. Such a description is
accepted, with what was straightened; `--strict` refuses it.

Examples:
  pantile check examples/heat.dist
  pantile check description.json
  pantile plan \"8 on r=2: block(r)\" \"8 on r=2: whole\" --text | pantile check -")]
pub(crate) struct Arguments {
    /// Files to check; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Refuse what can only be read after it was straightened
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was found out about one input.
#[derive(Debug, Default)]
struct Verdict {
    /// What it is: a plan, a distribution, a description.
    what: &'static str,
    refused: bool,
    /// Everything that is wrong.
    findings: Vec<Fact>,
    /// What was assumed or straightened.
    notes: Vec<String>,
    /// What it means, if it is right.
    meaning: Option<String>,
}

/// One thing that is wrong: for people as a line, for programs in parts.
#[derive(Debug, Default)]
struct Fact {
    line: String,
    code: Option<String>,
    rank: Option<usize>,
    axis: Option<usize>,
    message: String,
}

impl Fact {
    fn plain(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { line: message.clone(), message, ..Self::default() }
    }

    fn of(finding: &Finding, text: Option<&str>) -> Self {
        let report = pantile_protocol::report(std::slice::from_ref(finding), text);
        Self {
            line: report.trim_end().to_owned(),
            code: Some(finding.code.to_string()),
            rank: finding.rank,
            axis: finding.axis,
            message: finding.message.clone(),
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let mut verdicts = Vec::new();
    for file in &arguments.files {
        let (name, verdict) = match NamedText::from_path(file) {
            Ok(input) => (input.name.clone(), judge(&input, arguments.strict)),
            // The name is said already.
            Err(error) => {
                let message = error.to_string();
                let why = message.strip_prefix(&format!("{file}: ")).unwrap_or(&message);
                (file.clone(), refuse("a file", why))
            }
        };
        verdicts.push((name, verdict));
    }
    let refused = verdicts.iter().any(|(_, verdict)| verdict.refused);
    let report = if arguments.json {
        Report::json(&Value::array(verdicts.iter().map(|(name, v)| v.to_json(name))))
    } else {
        Report::text(verdicts.iter().map(|(name, v)| v.to_text(name)).collect::<String>())
    };
    Ok(Report { refused, ..report })
}

fn refuse(what: &'static str, message: impl Into<String>) -> Verdict {
    Verdict { what, refused: true, findings: vec![Fact::plain(message)], ..Verdict::default() }
}

fn judge(input: &NamedText, strict: bool) -> Verdict {
    if input.bytes.starts_with(b"\x93") {
        return judge_header(&input.bytes, strict);
    }
    let text = match input.text() {
        Ok(text) => text,
        Err(error) => {
            let message = error.to_string();
            let why = message.strip_prefix(&format!("{}: ", input.name)).unwrap_or(&message);
            return refuse("a file", why);
        }
    };
    if program::is_program(&input.name, text) {
        return judge_program(text, &input.name);
    }
    if NamedText::is_json(text) {
        return judge_json(text, strict);
    }
    if text.trim().is_empty() {
        return refuse("a file", "is empty, expected JSON, a plan or a distribution");
    }
    if first_word(text) == "step" {
        return judge_plan(text.parse::<Plan>());
    }
    match text.parse::<Distribution>() {
        Ok(distribution) => Verdict {
            what: "a distribution",
            meaning: Some(distribution.to_string()),
            ..Verdict::default()
        },
        Err(error) => refuse("a distribution", error.to_string()),
    }
}

fn judge_program(text: &str, name: &str) -> Verdict {
    let what = "a program";
    match program::check(text, name) {
        Ok(program) => {
            Verdict { what, meaning: Some(program::summary(&program)), ..Verdict::default() }
        }
        Err(faults) => {
            let findings = faults.into_iter().map(Fact::plain).collect();
            Verdict { what, refused: true, findings, ..Verdict::default() }
        }
    }
}

/// The first word after white space and comments.
fn first_word(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("");
    line.split_whitespace().next().unwrap_or("")
}

fn judge_plan(parsed: Result<Plan, pantile_plan::Error>) -> Verdict {
    let what = "a plan";
    let plan = match parsed {
        Ok(plan) => plan,
        Err(error) => return refuse(what, error.to_string()),
    };
    if plan.steps().is_empty() {
        return refuse(what, "has no steps, expected at least one");
    }
    let faults = plan.check();
    let findings: Vec<Fact> = faults.iter().map(|fault| Fact::plain(fault.to_string())).collect();
    let meaning = format!(
        "{}, {} between ranks, fingerprint {}",
        plural(plan.steps().len() as u128, "step"),
        plural(plan.moved() as u128, "element"),
        plan.fingerprint()
    );
    let refused = !findings.is_empty();
    Verdict { what, refused, findings, meaning: Some(meaning), ..Verdict::default() }
}

fn judge_json(text: &str, strict: bool) -> Verdict {
    let value = match json::parse(text) {
        Ok(value) => value,
        Err(fault) => return refuse("JSON", fault.to_string()),
    };
    if value.get("steps").is_some() {
        return judge_plan(Plan::from_json(text));
    }
    match pantile_protocol::json::read(text) {
        Err(fault) => refuse("JSON", fault.to_string()),
        Ok(Document::Sections { sections, alone, notes }) => {
            let mut verdict = judge_sections(&sections, alone, Some(text), strict);
            verdict.notes.splice(0..0, notes.iter().map(ToString::to_string));
            verdict
        }
        Ok(Document::Partitioned { partitioned, findings, notes }) => {
            let findings: Vec<Fact> = findings.iter().map(|f| Fact::of(f, Some(text))).collect();
            let mut notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
            let meaning = partitioned.map(|p| import_partitioned(&p));
            let meaning = meaning
                .filter(|_| findings.is_empty())
                .and_then(|meaning| meaning.map_err(|error| notes.push(error.to_string())).ok());
            Verdict {
                what: "`__partitioned__`",
                refused: !findings.is_empty(),
                findings,
                notes,
                meaning: meaning.map(|distribution| distribution.normal().to_string()),
            }
        }
        Ok(_) => refuse("JSON", "is no description that is known here"),
    }
}

/// All ranks together, or one rank of an array whose other ranks are not seen.
fn judge_sections(sections: &[Section], alone: bool, text: Option<&str>, strict: bool) -> Verdict {
    let what = "`__distarray__`";
    let check = |sections: &[Section]| {
        if alone {
            sections.iter().flat_map(validate).collect()
        } else {
            pantile_protocol::check(sections)
        }
    };
    let dims: Vec<Dim> = sections.iter().flat_map(Section::dims).flatten().collect();
    let others = alone && dims.iter().any(|dim| dim.place().grid_size > 1);
    let facts = |findings: &[Finding]| findings.iter().map(|f| Fact::of(f, text)).collect();
    let found = check(sections);
    let straight = normalise(sections);
    let left = check(&straight.sections);
    let mut verdict = Verdict { what, findings: facts(&found), ..Verdict::default() };
    verdict.notes.extend(straight.notes.iter().map(ToString::to_string));
    verdict.refused = !left.is_empty() || (strict && !found.is_empty());
    if !left.is_empty() {
        return verdict;
    }
    if others {
        verdict
            .notes
            .push("one rank of several: how it fits the others was not checked".to_owned());
        return verdict;
    }
    match import(sections) {
        Ok(imported) => verdict.meaning = Some(imported.distribution.normal().to_string()),
        Err(error) => verdict.notes.push(error.to_string()),
    }
    verdict
}

fn judge_header(bytes: &[u8], strict: bool) -> Verdict {
    if bytes.starts_with(b"\x93NUMPY") {
        let what = "a .npy header";
        let (header, data) = match npy::Header::read(bytes) {
            Ok(read) => read,
            Err(error) => return refuse(what, error.to_string()),
        };
        let extents: Vec<String> = header.shape.iter().map(u64::to_string).collect();
        let shape = if extents.is_empty() { "1".to_owned() } else { extents.join("x") };
        let meaning = format!("{shape} elements of {}", header.dtype);
        let mut verdict = Verdict { what, meaning: Some(meaning), ..Verdict::default() };
        verdict.findings.extend(missing_data(header.data_bytes(), bytes.len() - data));
        verdict.refused = !verdict.findings.is_empty();
        return verdict;
    }
    match dnpy::read(bytes) {
        Ok(preamble) => {
            let sections = std::slice::from_ref(&preamble.section);
            let mut verdict = judge_sections(sections, true, None, strict);
            verdict.what = "a .dnpy header";
            let there = bytes.len() - preamble.data;
            verdict.findings.extend(missing_data(preamble.header.data_bytes(), there));
            verdict.refused |= !verdict.findings.is_empty();
            verdict
        }
        Err(error) => refuse("a .dnpy header", error.to_string()),
    }
}

/// Fewer bytes of data than the header promises.
fn missing_data(promised: Option<u64>, there: usize) -> Option<Fact> {
    let promised = promised?;
    ((there as u64) < promised).then(|| {
        Fact::plain(format!("the header promises {promised} bytes of data, {there} are there"))
    })
}

impl Verdict {
    fn word(&self) -> &'static str {
        match (self.refused, self.findings.is_empty()) {
            (true, _) => "refused",
            (false, true) => "valid",
            (false, false) => "accepted after repairs",
        }
    }

    fn to_text(&self, name: &str) -> String {
        let mut out = format!("{name}: {} ({})\n", self.word(), self.what);
        let prefix = if self.refused { "" } else { "as given: " };
        for fact in &self.findings {
            out.push_str(&indented(&format!("{prefix}{}", fact.line)));
        }
        for note in &self.notes {
            out.push_str(&indented(&format!("note: {note}")));
        }
        if let Some(meaning) = self.meaning.as_ref().filter(|_| !self.refused) {
            out.push_str(&indented(&format!("is {meaning}")));
        }
        out
    }

    fn to_json(&self, name: &str) -> Value {
        let fact = |fact: &Fact| {
            Value::object([
                ("code", fact.code.clone().into()),
                ("rank", fact.rank.into()),
                ("axis", fact.axis.into()),
                ("message", fact.message.clone().into()),
            ])
        };
        Value::object([
            ("file", name.into()),
            ("what", self.what.into()),
            ("verdict", self.word().into()),
            ("findings", Value::array(self.findings.iter().map(fact))),
            ("notes", Value::from(self.notes.clone())),
            ("meaning", self.meaning.clone().into()),
        ])
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
