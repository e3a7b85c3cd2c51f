//! Plans, schedules and estimates as JSON.

use pantile_geometry::{Distribution, IndexSet, Indices, Operator, Region, Segment};
use pantile_text::json::{self, Value};

use crate::cost::{Estimate, LinkClass};

use crate::plan::{Plan, Round, Step};
use crate::schedule::{Hop, Message, Schedule};
use crate::text::{self, INDEX_LIMIT};
use crate::{Error, Lifts, Transfer};

impl Plan {
    /// The plan as a JSON value; [`Plan::from_json`] reads it back without loss.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let step = |step: &Step| {
            let round = |round: &Round| Value::array(round.transfers.iter().map(Transfer::to_json));
            Value::object([
                ("source", Value::from(step.source.to_string())),
                ("target", Value::from(step.target.to_string())),
                ("operator", Value::from(step.operator.name())),
                ("faces_only", Value::from(step.faces_only)),
                ("rounds", Value::array(step.rounds.iter().map(round))),
            ])
        };
        Value::object([
            ("fingerprint", Value::from(self.fingerprint().to_string())),
            ("steps", Value::array(self.steps().iter().map(step))),
        ])
    }

    /// Reads a plan from JSON text.
    ///
    /// # Errors
    /// The text is not JSON or not a plan; with line, column and caret.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let reader = Reader { text };
        let value = json::parse(text)?;
        let steps = reader.array(&value, "steps")?.iter().map(|step| reader.step(step));
        Ok(Self::from_steps(steps.collect::<Result<_, _>>()?))
    }
}

impl Transfer {
    /// The transfer as a JSON value.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut members = vec![("from", Value::from(self.from)), ("to", Value::from(self.to))];
        for (name, lifts) in
            [("source_lifts", &self.source_lifts), ("target_lifts", &self.target_lifts)]
        {
            if !lifts.is_zero() {
                members.push((name, Value::array(lifts.as_slice().iter().map(|l| (*l).into()))));
            }
        }
        members.push(("size", Value::from(self.size())));
        members.push(("region", Value::array(self.region.axes().iter().map(set_json))));
        Value::object(members)
    }
}

/// `{"list": [..]}` or an array of `[start, length, step, count]`.
fn set_json(set: &IndexSet) -> Value {
    match set.indices() {
        Indices::List(list) => {
            Value::object([("list", Value::array(list.iter().map(|at| Value::from(*at))))])
        }
        Indices::Segments(segments) => {
            Value::array(segments.iter().map(|s| {
                Value::array([s.start(), s.length(), s.step(), s.count()].map(Value::from))
            }))
        }
    }
}

impl Schedule {
    /// The schedule as a JSON value.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let message = |message: &Message| {
            Value::object([
                ("peer", Value::from(message.peer)),
                ("size", Value::from(message.size())),
                ("parts", Value::array(message.parts.iter().map(Transfer::to_json))),
            ])
        };
        let hop = |hop: &Hop| {
            Value::object([
                ("step", Value::from(hop.step)),
                ("operator", Value::from(hop.operator.name())),
                ("sends", Value::array(hop.sends.iter().map(message))),
                ("receives", Value::array(hop.receives.iter().map(message))),
            ])
        };
        Value::object([
            ("rank", Value::from(self.rank)),
            ("sent", Value::from(self.sent())),
            ("received", Value::from(self.received())),
            ("legs", Value::array(self.hops.iter().map(hop))),
        ])
    }
}

impl Estimate {
    /// The estimate as a JSON value.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let big = |value: u128| Value::from(i128::try_from(value).unwrap_or(i128::MAX));
        let link = |(class, traffic): (LinkClass, &crate::Traffic)| {
            Value::object([
                ("link", Value::from(class.name())),
                ("bytes", big(traffic.bytes)),
                ("messages", big(traffic.messages)),
            ])
        };
        let links = LinkClass::ALL.into_iter().zip(&self.links).map(link);
        Value::object([
            ("moved_bytes", big(self.moved_bytes())),
            ("kept_bytes", big(self.kept_bytes)),
            ("messages", big(self.messages())),
            ("links", Value::array(links)),
            ("seconds", Value::float(self.seconds).unwrap_or_else(Value::null)),
            ("peak_bytes", big(self.peak_bytes)),
            ("busiest", Value::from(self.busiest)),
            ("sampled_ranks", self.sampled.map_or_else(Value::null, Value::from)),
        ])
    }
}

/// Reads values of a text, with faults at their places.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn member<'v>(&self, value: &'v Value, key: &str) -> Result<&'v Value, Error> {
        let found = value.get(key);
        found.ok_or_else(|| value.fault(self.text, format!("expected a member `{key}`")).into())
    }

    fn array<'v>(&self, value: &'v Value, key: &str) -> Result<&'v [Value], Error> {
        let member = self.member(value, key)?;
        self.list(member)
    }

    fn list<'v>(&self, value: &'v Value) -> Result<&'v [Value], Error> {
        let list = value.as_array();
        list.ok_or_else(|| value.fault(self.text, "expected an array").into())
    }

    fn number(&self, value: &Value) -> Result<usize, Error> {
        let number = value.as_usize().filter(|number| *number <= INDEX_LIMIT);
        number.ok_or_else(|| value.fault(self.text, "expected a number from 0 to 2^48").into())
    }

    fn distribution(&self, value: &Value) -> Result<Distribution, Error> {
        let text = value.as_str();
        let text = text.ok_or_else(|| value.fault(self.text, "expected a distribution"))?;
        let parsed = text.parse::<Distribution>();
        parsed.map_err(|error| value.fault(self.text, error.to_string()).into())
    }

    fn step(&self, value: &Value) -> Result<Step, Error> {
        let operator = self.member(value, "operator")?;
        let known = operator.as_str().and_then(Operator::from_name);
        let known = known.ok_or_else(|| operator.fault(self.text, "expected an operator"))?;
        let rounds = self.array(value, "rounds")?.iter().map(|round| {
            let transfers = self.list(round)?.iter().map(|transfer| self.transfer(transfer));
            Ok(Round { transfers: transfers.collect::<Result<_, Error>>()? })
        });
        Ok(Step {
            source: self.distribution(self.member(value, "source")?)?,
            target: self.distribution(self.member(value, "target")?)?,
            operator: known,
            rounds: rounds.collect::<Result<_, Error>>()?,
            faces_only: value.get("faces_only").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    fn transfer(&self, value: &Value) -> Result<Transfer, Error> {
        let lifts = |key: &str| -> Result<Lifts, Error> {
            let Some(list) = value.get(key) else { return Ok(Lifts::default()) };
            let turns = list.as_i64_array();
            let turns = turns.ok_or_else(|| list.fault(self.text, "expected whole numbers"))?;
            Ok(Lifts::new(turns))
        };
        let axes = self.array(value, "region")?.iter().map(|set| self.set(set));
        Ok(Transfer {
            from: self.number(self.member(value, "from")?)?,
            to: self.number(self.member(value, "to")?)?,
            source_lifts: lifts("source_lifts")?,
            target_lifts: lifts("target_lifts")?,
            region: Region::new(axes.collect::<Result<_, _>>()?),
        })
    }

    fn set(&self, value: &Value) -> Result<IndexSet, Error> {
        let fault = |message: &str| Error::from(value.fault(self.text, message));
        if value.get("list").is_some() {
            let list = self.array(value, "list")?.iter().map(|at| self.number(at));
            let list = list.collect::<Result<Vec<_>, _>>()?;
            if list.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(fault("expected an ascending list of indices"));
            }
            return Ok(IndexSet::from_list(list));
        }
        let mut segments: Vec<Segment> = Vec::new();
        for part in self.list(value)? {
            let part = self.list(part)?.iter().map(|number| self.number(number));
            let part = part.collect::<Result<Vec<_>, _>>()?;
            let [start, length, step, count] = part[..] else {
                return Err(fault("expected [start, length, step, count]"));
            };
            let segment = text::segment(start, length, step, count);
            segments.push(segment.ok_or_else(|| fault(text::BAD_RUNS))?);
        }
        Ok(IndexSet::from_segments(segments))
    }
}
