//! Random programs of assignments between slices of two distributed arrays.

use std::fmt::Write as _;

use pantile_testkit::Rng;

/// A program, and the shape of its first two arguments.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) shape: Vec<usize>,
}

struct Writer<'r> {
    rng: &'r mut Rng,
    shape: Vec<usize>,
    text: String,
    next: usize,
    /// Views that were made: name, sizes.
    views: Vec<(String, Vec<usize>)>,
}

pub(crate) fn random(rng: &mut Rng, loops: bool) -> Case {
    let mut shape = vec![1 + rng.below(12)];
    if rng.chance(1, 2) {
        shape.push(1 + rng.below(4));
    }
    let ty = array(&shape);
    let mut writer = Writer { rng, shape, text: String::new(), next: 0, views: Vec::new() };
    for _ in 0..1 + writer.rng.below(3) {
        if loops && writer.rng.chance(1, 2) {
            writer.repeated();
        } else {
            writer.statement();
        }
    }
    let mut results = vec![("%a".to_owned(), ty.clone()), ("%b".to_owned(), ty.clone())];
    match writer.rng.below(6) {
        0 | 1 => {
            let (name, sizes) = writer.expression_of_any_size();
            results.push((name, array(&sizes)));
        }
        2 => {
            let (axes, keepdims) = (*writer.rng.pick(&[None, Some(0)]), writer.rng.chance(1, 2));
            let axes = axes.filter(|_| writer.shape.len() == 2 || keepdims);
            let (name, sizes) = writer.reduction(axes, keepdims);
            results.push((name, array(&sizes)));
        }
        _ => {}
    }
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    let types: Vec<&str> = results.iter().map(|(_, ty)| ty.as_str()).collect();
    let (names, types) = (names.join(", "), types.join(", "));
    let text = format!(
        "func.func @main(%a: {ty}, %b: {ty}, %k: i64) -> ({types}) {{\n{}  return {names} : {types}\n}}\n",
        writer.text
    );
    Case { text, shape: writer.shape.clone() }
}

fn array(shape: &[usize]) -> String {
    let dims: Vec<String> = shape.iter().map(|length| format!("{length}x")).collect();
    format!("!ndarray.ndarray<{}i64, #dist.dist_env<team = 22 : i64>>", dims.concat())
}

impl Writer<'_> {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn sizes(&mut self) -> Vec<usize> {
        let shape = self.shape.clone();
        let size = |length: &usize| match self.rng.below(8) {
            0 => self.rng.below(2).min(*length),
            _ => 1 + self.rng.below(*length),
        };
        shape.iter().map(size).collect()
    }

    /// Offsets and strides for a slice of these sizes.
    fn slice(&mut self, sizes: &[usize]) -> String {
        let (mut offsets, mut strides) = (Vec::new(), Vec::new());
        for (axis, size) in sizes.iter().enumerate() {
            let length = self.shape[axis];
            let mut stride = 1 + self.rng.below(3);
            while *size > 0 && (size - 1) * stride >= length {
                stride -= 1;
            }
            let room = length - if *size == 0 { 0 } else { (size - 1) * stride + 1 };
            offsets.push(self.rng.below(room + 1).to_string());
            strides.push(stride.to_string());
        }
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        format!("[{}] [{}] [{}]", offsets.join(", "), sizes.join(", "), strides.join(", "))
    }

    fn view(&mut self, sizes: &[usize]) -> String {
        let known: Vec<String> = self
            .views
            .iter()
            .filter(|(_, own)| own == sizes)
            .map(|(name, _)| name.clone())
            .collect();
        if !known.is_empty() && self.rng.chance(1, 2) {
            return self.rng.pick(&known).clone();
        }
        if sizes == self.shape && self.rng.chance(1, 2) {
            return (*self.rng.pick(&["%a", "%b"])).to_owned();
        }
        let (name, base) = (self.name(), *self.rng.pick(&["%a", "%b"]));
        let (slice, from, to) = (self.slice(sizes), array(&self.shape), array(sizes));
        let _ = writeln!(self.text, "  {name} = ndarray.subview {base}{slice} : {from} to {to}");
        self.views.push((name.clone(), sizes.to_vec()));
        name
    }

    fn expression(&mut self, sizes: &[usize], depth: usize) -> String {
        let ty = array(sizes);
        match self.rng.below(if depth == 0 { 1 } else { 11 }) {
            0 => self.view(sizes),
            1 => {
                let (of, name) = (self.expression(sizes, depth - 1), self.name());
                let _ = writeln!(
                    self.text,
                    "  {name} = ndarray.ewuny {of} {{op = \"negative\"}} : {ty} -> {ty}"
                );
                name
            }
            7 => self.with_a_number(sizes, depth),
            8 | 9 if sizes.len() == 2 => self.repeated_along(sizes, depth),
            10 if sizes.len() == 2 => self.open_columns(sizes),
            6 => {
                // One element for all others.
                let unit = vec![1; sizes.len()];
                let (of, one) = (self.expression(sizes, depth - 1), self.view(&unit));
                let (name, other) = (self.name(), array(&unit));
                let _ = writeln!(
                    self.text,
                    "  {name} = ndarray.ewbin {of}, {one} {{op = \"add\"}} : ({ty}, {other}) -> {ty}"
                );
                name
            }
            2 => {
                let (of, name) = (self.expression(sizes, depth - 1), self.name());
                let _ = writeln!(
                    self.text,
                    "  {name} = ndarray.ewbin {of}, %k {{op = \"multiply\"}} : ({ty}, i64) -> {ty}"
                );
                name
            }
            _ => {
                let one = self.expression(sizes, depth - 1);
                let other = if self.rng.chance(1, 8) {
                    one.clone()
                } else {
                    self.expression(sizes, depth - 1)
                };
                let (name, op) = (self.name(), *self.rng.pick(&["add", "subtract", "multiply"]));
                let _ = writeln!(
                    self.text,
                    "  {name} = ndarray.ewbin {one}, {other} {{op = \"{op}\"}} : ({ty}, {ty}) -> {ty}"
                );
                name
            }
        }
    }

    /// A reduction: its name, of an array of some size.
    fn reduction(&mut self, axes: Option<usize>, keepdims: bool) -> (String, Vec<usize>) {
        let mut sizes = self.sizes();
        sizes.iter_mut().for_each(|size| *size = (*size).max(1));
        let (of, name) = (self.expression(&sizes, 1), self.name());
        let op = *self.rng.pick(&["sum", "prod", "max", "min"]);
        let from = array(&sizes);
        let left: Vec<usize> = match axes {
            None => Vec::new(),
            Some(axis) if keepdims => {
                (0..sizes.len()).map(|at| if at == axis { 1 } else { sizes[at] }).collect()
            }
            Some(axis) => (0..sizes.len()).filter(|at| *at != axis).map(|at| sizes[at]).collect(),
        };
        let to = array(&left);
        let _ = match axes {
            None => writeln!(
                self.text,
                "  {name} = ndarray.reduction {of} {{op = \"{op}\"}} : {from} -> {to}"
            ),
            Some(axis) => writeln!(
                self.text,
                "  {name} = ndarray.reduce {of} {{op = \"{op}\", axes = [{axis}], keepdims = {keepdims}}} : {from} -> {to}"
            ),
        };
        (name, left)
    }

    /// A number below `count` that is not known before the program runs.
    fn open_number(&mut self, count: usize) -> String {
        let [number, length, name] = [self.name(), self.name(), self.name()];
        let _ = writeln!(self.text, "  {number} = arith.index_cast %k : i64 to index");
        let _ = writeln!(self.text, "  {length} = arith.constant {count} : index");
        let _ = writeln!(self.text, "  {name} = arith.remsi {number}, {length} : index");
        name
    }

    /// A reduction of everything, or one element, for all elements.
    fn with_a_number(&mut self, sizes: &[usize], depth: usize) -> String {
        let (of, ty) = (self.expression(sizes, depth - 1), array(sizes));
        let (number, other) = if self.rng.chance(1, 2) {
            (self.reduction(None, false).0, array(&[]))
        } else {
            let shape = self.shape.clone();
            let mut at = Vec::new();
            for length in &shape {
                if self.rng.chance(1, 2) {
                    at.push(self.open_number(*length));
                } else {
                    let (name, index) = (self.name(), self.rng.below(*length));
                    let _ = writeln!(self.text, "  {name} = arith.constant {index} : index");
                    at.push(name);
                }
            }
            let (name, base) = (self.name(), *self.rng.pick(&["%a", "%b"]));
            let from = array(&shape);
            let _ =
                writeln!(self.text, "  {name} = ndarray.load {base}[{}] : {from}", at.join(", "));
            (name, "i64".to_owned())
        };
        let name = self.name();
        let _ = writeln!(
            self.text,
            "  {name} = ndarray.ewbin {of}, {number} {{op = \"add\"}} : ({ty}, {other}) -> {ty}"
        );
        name
    }

    /// A row for all rows, or a column for all columns.
    fn repeated_along(&mut self, sizes: &[usize], depth: usize) -> String {
        let axis = self.rng.below(2);
        let of = self.expression(sizes, depth - 1);
        let keepdims = axis == 1 || self.rng.chance(1, 2);
        let (mut one, mut shape) = self.reduction(Some(axis), keepdims);
        let kept = 1 - axis;
        if shape[kept.min(shape.len() - 1)] != sizes[kept] {
            shape = sizes.to_vec();
            shape[axis] = 1;
            one = self.view(&shape);
        }
        let (name, ty, other) = (self.name(), array(sizes), array(&shape));
        let (x, y, types) = match self.rng.chance(1, 2) {
            true => (&of, &one, format!("{ty}, {other}")),
            false => (&one, &of, format!("{other}, {ty}")),
        };
        let _ = writeln!(
            self.text,
            "  {name} = ndarray.ewbin {x}, {y} {{op = \"subtract\"}} : ({types}) -> {ty}"
        );
        name
    }

    /// A view from some column on that is not known.
    fn open_columns(&mut self, sizes: &[usize]) -> String {
        let first = self.open_number(self.shape[1] - sizes[1] + 1);
        let row = self.rng.below(self.shape[0] - sizes[0] + 1);
        let (name, base) = (self.name(), *self.rng.pick(&["%a", "%b"]));
        let (from, to) = (array(&self.shape), array(sizes));
        let _ = writeln!(
            self.text,
            "  {name} = ndarray.subview {base}[{row}, {first}] [{}, {}] [1, 1] : {from} to {to}",
            sizes[0], sizes[1]
        );
        self.views.push((name.clone(), sizes.to_vec()));
        name
    }

    fn expression_of_any_size(&mut self) -> (String, Vec<usize>) {
        let sizes = self.sizes();
        (self.expression(&sizes, 2), sizes)
    }

    /// Two turns of a loop; what is made inside is not seen outside.
    fn repeated(&mut self) {
        let (views, names) = (self.views.clone(), [self.name(), self.name(), self.name()]);
        let [first, last, step] = names;
        for (name, number) in [(&first, 0), (&last, 2), (&step, 1)] {
            let _ = writeln!(self.text, "  {name} = arith.constant {number} : index");
        }
        let _ = writeln!(self.text, "  scf.for %i = {first} to {last} step {step} {{");
        for _ in 0..1 + self.rng.below(2) {
            self.statement();
        }
        let _ = writeln!(self.text, "  scf.yield\n  }}");
        self.views = views;
    }

    fn statement(&mut self) {
        let sizes = self.sizes();
        let source =
            if self.rng.chance(1, 10) { "%k".to_owned() } else { self.expression(&sizes, 3) };
        let from = if source == "%k" { "i64".to_owned() } else { array(&sizes) };
        let target = *self.rng.pick(&["%a", "%b"]);
        let slice = if sizes.len() == 2 && self.rng.chance(1, 4) {
            let first = self.open_number(self.shape[1] - sizes[1] + 1);
            let row = self.rng.below(self.shape[0] - sizes[0] + 1);
            format!("[{row}, {first}] [{}, {}] [1, 1]", sizes[0], sizes[1])
        } else {
            self.slice(&sizes)
        };
        let to = array(&self.shape);
        let _ = writeln!(
            self.text,
            "  ndarray.insert_slice {source} into {target}{slice} : {from} into {to}"
        );
    }
}
