//! Programs as text: reading with all faults, printing without loss.
//!
//! [`parse`] reads a program and lists every fault it can find with its place; a program and its
//! parts are printed by their `Display`. What is printed reads back to the same program, places
//! aside, and prints again to the same text.
//!
//! ```
//! use pantile_ir::text::parse;
//! let text = "func.func @double(%x: f64) -> f64 {
//!   %y = arith.addf %x, %x : f64
//!   return %y : f64
//! }
//! ";
//! let program = parse(text, "double.dist").unwrap();
//! assert_eq!(program.to_string(), text);
//! ```
//!
//! # Around the operations
//!
//! ```text
//! program  = [ "module" [ "@" name ] "{" ] { alias | function } [ "}" ]
//! alias    = "!" name "=" type                        (printed wherever the type is equal)
//!          | "#" name "=" attribute                   (printed as what it stands for)
//! function = "func.func" [ visibility ] "@" name "(" [ args ] ")" [ "->" results ]
//!            [ "attributes" dict ] region             (printed as attribute `sym_visibility`)
//! args     = "%" name ":" type { "," ... }            results = type | "(" [ types ] ")"
//! region   = "{" [ "^" name [ "(" args ")" ] ":" ] { operation } "}"
//! operation = [ names "=" ] ( own form | quoted form )
//! names    = "%" name [ ":" count ] { "," ... }       (uses of a group: `%name#0`, `%name#1`)
//! quoted   = '"' name '"' "(" [ values ] ")" [ "<" dict ">" ] [ "(" region { "," region } ")" ]
//!            [ dict ] ":" "(" [ types ] ")" "->" results
//! dict     = "{" [ name [ "=" attribute ] { "," ... } ] "}"
//! ```
//!
//! `//` starts a comment. A value whose name is a number has none: it is numbered afresh when
//! printed. A name is seen from its definition to the end of the region. Every operation has the
//! quoted form as well; it is printed where the own form cannot say what there is. An end of a
//! block that hands nothing on may be left out in loops and regions.
//!
//! # Types and attributes
//!
//! ```text
//! type     = "index" | element | "!distruntime.asynchandle" | "!" alias | "memref<" shape ">"
//!          | "tensor<" shape ">" | "!ndarray.ndarray<" shape [ ":" string ] { "," env } ">"
//! shape    = { ( length | "?" ) "x" } element
//! element  = "i1" | "i8".."i64" | "si8".."si64" | "ui8".."ui64" | "f32" | "f64" | "index"
//!          | "complex<f32>" | "complex<f64>"
//! env      = "#dist.dist_env<" dist ">" | "#pantile.dist<" string ">"
//!          | "#region.gpu_env<device = " string ">" | attribute
//! dist     = "team" "=" attribute [ "loffs" "=" offset { "," offset }
//!            "lparts" "=" part { "," part } ]         (one part, or left, owned and right)
//! attribute = number [ ":" type ] | "true" | "false" | "unit" | string | "@" name | list | dict
//!          | type | "array<" type ":" numbers ">" | "#" anything
//! ```
//!
//! A number without a type is an `i64` or an `f64`. NaN, the infinities and -0.0 are written as
//! bits, `0x7FF8000000000000 : f64`; other floats with the fewest digits that read back the same.
//!
//! # Operations
//!
//! `T` is an array type, `{...}` stands for any further attributes, which are carried along.
//! Clauses (`toffs %a tsizes %b`) may come in any order and are printed in this one. `op` is a
//! number of the dialect (`{op = 21 : i32}`) or a name (`{op = "multiply"}`); short names (`mul`)
//! are read, too.
//!
//! | operation | example |
//! |---|---|
//! | `return` | `return %a, %b : T, f64` (also `func.return`) |
//! | `scf.for` | `%r = scf.for %i = %lb to %ub step %s iter_args(%a = %x) -> (T) { scf.yield %y : T }` |
//! | `scf.while` | `%r = scf.while (%a = %x) : (T) -> (T) { scf.condition(%c) %a : T } do { ^bb0(%b: T): scf.yield %y : T }` |
//! | `region.env_region` | `%r = region.env_region {...} #region.gpu_env<device = "g"> %a : T -> T { region.env_region_yield %b : T }` |
//! | `arith.constant` | `%c = arith.constant 5 : index`, `1.5e-3 : f64`, `true`; `complex.constant [1.0, 2.0] : complex<f64>` |
//! | `arith.addi` ... | `%c = arith.addi %a, %b : index`; also `subi muli divsi ceildivsi floordivsi remsi minsi maxsi andi ori xori divui ceildivui remui minui maxui shli shrsi shrui addf subf mulf divf`, and `arith.negf %a : f64` |
//! | `arith.cmpi` | `%c = arith.cmpi slt, %a, %b : index` (`eq ne slt sle sgt sge ult ule ugt uge`); `arith.cmpf` has `oeq une olt ole ogt oge` |
//! | `arith.select` | `%c = arith.select %t, %a, %b : f64` |
//! | `arith.convert` | `%c = arith.convert %a : i1 to f64`; `index_cast sitofp fptosi extf truncf extsi trunci` where they fit, of an `i1` `extui uitofp index_castui` |
//! | `ndarray.create` | `%a = ndarray.create %n, %m value %v : (index, index, f64) -> T`; lengths and value may be left out |
//! | `ndarray.linspace` | `%a = ndarray.linspace %start %stop %n false : (f64, f64, index) -> T` |
//! | `ndarray.arange` | `%a = ndarray.arange %start, %step : (f64, f64) -> T` |
//! | `ndarray.eye` | `%a = ndarray.eye {k = 1} : () -> T` |
//! | `ndarray.random` | `%a = ndarray.random %seed {kind = "normal", stream = 0} : (i64) -> T` |
//! | `ndarray.index` | `%a = ndarray.index {axis = 0} : () -> T` |
//! | `ndarray.subview` | `%b = ndarray.subview %a[0, %o] [3, %n] [1, 2] : T to T`; `ndarray.extract_slice` alike |
//! | `ndarray.insert_slice` | `ndarray.insert_slice %v into %a[0] [3] [1] : T into T` |
//! | `ndarray.immutable_insert_slice` | `%b = ndarray.immutable_insert_slice %v into %a[0] [3] [1] : T into T` |
//! | `ndarray.reshape` | `%b = ndarray.reshape %a %n, %m {copy = true} : T -> T` |
//! | `ndarray.permute_dims` | `%b = ndarray.permute_dims %a [1, 0] : T -> T` |
//! | `ndarray.broadcast` | `%b = ndarray.broadcast %a : T -> T` |
//! | `ndarray.cast` | `%b = ndarray.cast %a : T to T` |
//! | `ndarray.cast_elemtype` | `%b = ndarray.cast_elemtype %a {copy = false} : T to T` |
//! | `ndarray.copy` | `%b = ndarray.copy %a : T -> T`; `ndarray.delete %a : T` |
//! | `ndarray.dim` | `%n = ndarray.dim %a %axis : T -> index` |
//! | `ndarray.load` | `%x = ndarray.load %a[%i, %j] : T` |
//! | `ndarray.from_memref` | `%a = ndarray.from_memref %m : memref<4xf32> -> T`; `ndarray.to_tensor %a : T -> tensor<4xf32>` |
//! | `ndarray.ewuny` | `%b = ndarray.ewuny %a {op = "sqrt"} : T -> T` |
//! | `ndarray.ewbin` | `%c = ndarray.ewbin %a, %x {op = 21 : i32} : (T, f64) -> T` |
//! | `ndarray.where` | `%d = ndarray.where %c, %x, %y : (T, T, f64) -> T` |
//! | `ndarray.clip` | `%b = ndarray.clip %a, %low, %high : (T, f64, f64) -> T` |
//! | `ndarray.matmul` | `%c = ndarray.matmul %a, %b : (T, T) -> T` |
//! | `ndarray.reduction` | `%r = ndarray.reduction %a {op = 4 : i32} : T -> T` (all axes) |
//! | `ndarray.reduce` | `%r = ndarray.reduce %a {op = "var", axes = [0], keepdims = true, correction = 1.0} : T -> T` |
//! | `ndarray.stencil` | `%b = ndarray.stencil %a {points = [[0, 1], [1, 0]], weights = [0.5, 0.5], boundary = "periodic"} : T -> T` |
//! | `ndarray.map_blocks` | `%c = ndarray.map_blocks @f %a, %b {block = [64, 64]} : (T, T) -> T` |
//! | `ndarray.redistribute` | `%b = ndarray.redistribute %a : T -> T`; `ndarray.replicate` alike |
//! | `ndarray.halo` | `%b = ndarray.halo %a {low = [1, 1], high = [1, 1]} : T -> T` |
//! | `dist.init_dist_array` | `%a = dist.init_dist_array l_offset %o parts %l, %p, %r : index, T, T, T to T` |
//! | `dist.local_offsets_of` | `%o:2 = "dist.local_offsets_of"(%a) : (T) -> (index, index)` |
//! | `dist.parts_of` | `%p:3 = "dist.parts_of"(%a) : (T) -> (T, T, T)` |
//! | `dist.default_partition` | `%o, %s = "dist.default_partition"(%size, %member, %n) : (index, index, index) -> (index, index)` |
//! | `dist.local_target_of_slice` | `%o, %s = dist.local_target_of_slice %a[%o0] [%s0] [%t0] : T to index, index` |
//! | `dist.local_bounding_box` | `%o, %s = dist.local_bounding_box false[%vo] [%vs] [%vt] [%to] [%ts] bboffs %bo bb_sizes %bs : index, index` |
//! | `dist.local_core` | `%o, %s = dist.local_core %a toffs %to tsizes %ts soffs %so ssizes %ss sstrides %st coffs %co csizes %cs : T to index, index` |
//! | `dist.repartition` | `%b = dist.repartition %a loffs %o lsizes %s : T, index, index to T` |
//! | `dist.subview` | `%b = dist.subview %a[0] [%n] [1] toffs %to tsizes %ts : T to T` |
//! | `dist.ewbin` | `%c = "dist.ewbin"(%a, %b, %co, %cs, %to) <{op = 0 : i32}> : (T, T, index, index, index) -> T`; `dist.ewuny` alike |
//! | `distruntime.team_size` | `%n = "distruntime.team_size"() <{team = 22 : i64}> : () -> index`; `team_member` alike |
//! | `distruntime.allreduce` | `"distruntime.allreduce"(%m) <{op = 4 : i32, team = 22 : i64}> : (memref<4xf64>) -> ()` |
//! | `distruntime.get_halo` | `%h:3 = "distruntime.get_halo"(%a, %g, %o, %bo, %bs) <{team = 22 : i64, key = -1 : i64}> : (T, index, index, index, index) -> (!distruntime.asynchandle, T, T)` |
//! | `distruntime.copy_reshape` | `%h, %b = distruntime.copy_reshape %a g_shape %g l_offs %o to n_g_shape %n n_offs %p n_shape %s {team = 22 : i64} : (T, index, ...) -> (!distruntime.asynchandle, T)` |
//! | `distruntime.copy_permute` | `%h, %b = distruntime.copy_permute %a g_shape %g, %g l_offs %o, %o to n_offs %p, %p n_shape %s, %s axes [1, 0] {team = 22 : i64} : (T, index, ...) -> (!distruntime.asynchandle, T)` |
//! | `distruntime.wait` | `"distruntime.wait"(%h) : (!distruntime.asynchandle) -> ()` |

mod attributes;
mod build;
mod canonical;
mod constants;
mod forms;
mod names;
mod operations;
mod parse;
mod print;
mod reader;
mod scope;
mod structure;
mod types;

pub use canonical::canonical;
pub use pantile_text::Fault;
pub use parse::{parse, parse_type};
pub use print::types::sort_envs;
pub use print::{print_function, print_type};
