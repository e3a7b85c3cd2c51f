//! Random programs that the text can say: every operation, every type, every attribute.

use std::sync::Arc;

use pantile_ir::text::sort_envs;
use pantile_ir::{
    ArrayType, Attribute, Block, Dim, DistEnv, Element, Env, Function, LocalParts, Operation,
    Program, Spelling, Type, Value,
};
use pantile_lanes::DType;
use pantile_testkit::Rng;

/// A function while it is made.
pub(crate) struct Maker<'r> {
    pub(crate) rng: &'r mut Rng,
    pub(crate) function: Function,
    /// The values that can be used, by open block.
    pub(crate) visible: Vec<Vec<Value>>,
    names: usize,
}

pub(crate) fn program(rng: &mut Rng) -> Program {
    let mut program = Program::default();
    for number in 0..1 + rng.below(3) {
        let name =
            if rng.chance(1, 4) { format!("odd name {number}\"") } else { format!("f{number}") };
        let mut maker = Maker {
            rng,
            function: Function::new(&name),
            visible: vec![Vec::new(), Vec::new()],
            names: 0,
        };
        let count = 1 + maker.rng.below(12);
        let operations = maker.operations(count, 0);
        maker.function.body.operations.extend(operations);
        for _ in 0..maker.rng.below(3) {
            let ty = maker.ty();
            maker.function.results.push(ty);
        }
        if maker.rng.chance(1, 4) {
            maker.function.attributes = maker.entries();
        }
        program.functions.push(maker.function);
    }
    let types: Vec<Type> = program
        .functions
        .iter()
        .flat_map(|function| function.values.iter().map(|data| data.ty.clone()))
        .collect();
    for number in 0..rng.below(4) {
        if !types.is_empty() {
            program.aliases.push((format!("t{number}"), rng.pick(&types).clone()));
        }
    }
    program
}

impl Maker<'_> {
    pub(crate) fn operations(&mut self, count: usize, depth: usize) -> Vec<Operation> {
        (0..count).map(|_| self.operation(depth)).collect()
    }

    /// A block with these arguments; what is made inside is not seen outside.
    pub(crate) fn block(&mut self, arguments: &[Type], depth: usize) -> Block {
        self.visible.push(Vec::new());
        let arguments: Vec<Value> = arguments.iter().map(|ty| self.fresh(ty.clone())).collect();
        self.see(&arguments);
        let count = self.rng.below(4);
        let operations = self.operations(count, depth + 1);
        self.visible.pop();
        Block { arguments, operations }
    }

    pub(crate) fn see(&mut self, values: &[Value]) {
        self.visible.last_mut().unwrap().extend(values);
    }

    /// A new value, with or without a name of its own.
    pub(crate) fn fresh(&mut self, ty: Type) -> Value {
        let value = self.function.value(ty);
        if self.rng.chance(1, 2) {
            let name = self.name();
            self.function.values[value.index()].name = Some(name);
        }
        value
    }

    fn name(&mut self) -> Arc<str> {
        self.names += 1;
        let first = self.rng.pick(&["a", "x_", "T", "_", "v.", "$", "9z", "-", "a-"]);
        format!("{first}{}", self.names).into()
    }

    /// Results; sometimes they share a name.
    pub(crate) fn results(&mut self, types: Vec<Type>) -> Vec<Value> {
        let values: Vec<Value> = types.into_iter().map(|ty| self.fresh(ty)).collect();
        if values.len() > 1 && self.rng.chance(1, 2) {
            let name = self.name();
            let shared = self.rng.below(values.len()) + 1;
            for value in &values[..shared] {
                self.function.values[value.index()].name = Some(Arc::clone(&name));
            }
        }
        values
    }

    /// A value of this type that can be used here; an argument of the function if there is none.
    pub(crate) fn operand(&mut self, ty: &Type) -> Value {
        let seen: Vec<Value> = self.visible.iter().flatten().copied().collect();
        let fitting: Vec<Value> =
            seen.into_iter().filter(|value| self.function.ty(*value) == ty).collect();
        if !fitting.is_empty() && self.rng.chance(4, 5) {
            return *self.rng.pick(&fitting);
        }
        let value = self.fresh(ty.clone());
        self.function.body.arguments.push(value);
        self.visible[0].push(value);
        value
    }

    pub(crate) fn indices(&mut self, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.operand(&Type::Index)).collect()
    }

    pub(crate) fn some_operand(&mut self) -> Value {
        let ty = self.ty();
        self.operand(&ty)
    }

    pub(crate) fn element(&mut self) -> Element {
        let dtype = *self.rng.pick(&DType::ALL);
        let spelling = match dtype {
            DType::I8 | DType::I16 | DType::I32 if self.rng.chance(1, 3) => Spelling::Signed,
            DType::I64 => *self.rng.pick(&[Spelling::Plain, Spelling::Signed, Spelling::Index]),
            _ => Spelling::Plain,
        };
        Element { dtype, spelling }
    }

    pub(crate) fn scalar_type(&mut self) -> Type {
        match self.element() {
            Element { spelling: Spelling::Index, .. } => Type::Index,
            element => Type::Scalar(element),
        }
    }

    pub(crate) fn shape(&mut self) -> Vec<Dim> {
        let ndim = self.rng.below(4);
        (0..ndim).map(|_| self.dim()).collect()
    }

    fn dim(&mut self) -> Dim {
        if self.rng.chance(1, 4) { None } else { Some(self.rng.below(40)) }
    }

    pub(crate) fn array(&mut self) -> ArrayType {
        let mut shape = self.shape();
        if self.rng.chance(1, 20) {
            shape = vec![Some(1 << 48)];
        }
        self.array_of(shape)
    }

    pub(crate) fn array_of(&mut self, shape: Vec<Dim>) -> ArrayType {
        let ndim = shape.len();
        let layout = self.rng.chance(1, 8).then(|| self.string());
        let mut envs: Vec<Env> = (0..self.rng.below(3)).map(|_| self.env(ndim)).collect();
        sort_envs(&mut envs);
        ArrayType { shape, element: self.element(), layout, envs }
    }

    fn env(&mut self, ndim: usize) -> Env {
        match self.rng.below(5) {
            0 => Env::Placement(self.string().into()),
            1 => Env::Gpu(self.string()),
            2 => Env::Other(self.attribute(2)),
            _ => {
                let parts = *self.rng.pick(&[1, 3]);
                let local = (ndim > 0 && self.rng.chance(2, 3)).then(|| LocalParts {
                    offsets: (0..ndim)
                        .map(|_| (!self.rng.chance(1, 4)).then(|| self.rng.range(-3, 99)))
                        .collect(),
                    parts: (0..parts).map(|_| (0..ndim).map(|_| self.dim()).collect()).collect(),
                });
                Env::Dist(DistEnv { team: self.attribute(1), local })
            }
        }
    }

    pub(crate) fn ty(&mut self) -> Type {
        match self.rng.below(8) {
            0 => Type::Index,
            1 => Type::Handle,
            2 => self.scalar_type(),
            3 => Type::MemRef(self.shape(), self.element()),
            4 => Type::Tensor(self.shape(), self.element()),
            _ => Type::Array(self.array()),
        }
    }

    pub(crate) fn string(&mut self) -> String {
        let pieces =
            ["a", "x=2, y=*: block(x)", "\"", "\\", "\n", "\t", "\r", "\u{1}", "é", "}", "//", "0"];
        (0..self.rng.below(4)).map(|_| *self.rng.pick(&pieces)).collect()
    }

    pub(crate) fn float(&mut self) -> f64 {
        match self.rng.below(4) {
            0 => f64::from_bits(self.rng.bits()),
            1 => *self.rng.pick(&[0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 1e22]),
            2 => self.rng.range(-9, 9) as f64,
            _ => self.rng.range(-999, 999) as f64 / 64.0,
        }
    }

    pub(crate) fn entries(&mut self) -> Vec<(String, Attribute)> {
        let count = self.rng.below(3);
        let names = ["note", "other.name", "a \"b\"", "_x"];
        let start = self.rng.below(2);
        (start..start + count).map(|at| (names[at].to_owned(), self.attribute(2))).collect()
    }

    pub(crate) fn attribute(&mut self, depth: usize) -> Attribute {
        let sort = if depth == 0 { 6 } else { 9 };
        match self.rng.below(sort) {
            0 => Attribute::int(self.rng.range(i64::MIN, i64::MAX)),
            1 => {
                let ty = *self.rng.pick(&[DType::I32, DType::U64, DType::Bool]);
                let ty = if self.rng.chance(1, 3) { Type::Index } else { Type::scalar(ty) };
                Attribute::Int(i128::from(self.rng.below(2) as u64), Some(ty))
            }
            2 => Attribute::Float(self.float().to_bits(), None),
            3 => Attribute::Float(self.float().to_bits(), Some(Type::scalar(DType::F32))),
            4 => Attribute::String(self.string()),
            5 => match self.rng.below(4) {
                0 => Attribute::Bool(self.rng.chance(1, 2)),
                1 => Attribute::Symbol(self.string()),
                2 => Attribute::Opaque("#a.b<c = [1, \">\"], d -> (e)>".to_owned()),
                _ => Attribute::Opaque("#alias".to_owned()),
            },
            6 => {
                let count = self.rng.below(3);
                Attribute::List((0..count).map(|_| self.attribute(depth - 1)).collect())
            }
            7 => {
                let names = ["k", "l m"];
                let count = self.rng.below(3);
                let entry = |at: usize| (names[at].to_owned(), self.attribute(depth - 1));
                Attribute::Dict((0..count).map(entry).collect())
            }
            _ => match self.rng.below(3) {
                0 => Attribute::Unit,
                _ => Attribute::Type(Box::new(self.ty())),
            },
        }
    }
}
