"""Writes the vectors that the tests of the expansions read: one file per function.

Real functions (NAME.txt): lines `f64 x [y] result` and `f32 x [y] result`, each the bits of a
float, the result correctly rounded. Complex functions (complex_NAME.txt): lines `near` (results
correctly rounded part by part) and `edge` (special values as NumPy has them), `re im [re im] re
im`. types.txt: for each function and type, that of the result. Needs mpmath and numpy.
Usage: python3 generate.py
"""
import math
import struct
import mpmath
import numpy as np
from mpmath import mp, mpc, mpf

np.seterr(all="ignore")
RNG = np.random.default_rng(20240229)


def rounded(value, digits, least):
    """The nearest float of that many binary digits with no bit below 2^least, as a Python float."""
    if value == 0 or mpmath.isnan(value) or mpmath.isinf(value):
        return float(value)
    exponent = max(int(mpmath.frexp(value)[1]) - digits, least)
    with mp.workprec(mp.prec + 1200):
        scaled = value / mpf(2) ** exponent
        whole = int(mpmath.floor(scaled))
        rest = scaled - whole
        if rest > 0.5 or (rest == 0.5 and whole % 2):
            whole += 1
        try:
            return float(math.ldexp(whole, exponent))
        except OverflowError:
            return math.copysign(math.inf, whole)


def bits64(x):
    return f"{struct.unpack('<Q', struct.pack('<d', x))[0]:016x}"


def bits32(x):
    return f"{int(np.array([x], dtype=np.float32).view(np.uint32)[0]):08x}"


def spread(low, high, count, signed=True):
    """Magnitudes spread over powers of two."""
    x = np.exp2(RNG.uniform(low, high, count))
    return x * RNG.choice([-1.0, 1.0], count) if signed else x


def any_bits(count, positive=False):
    x = RNG.integers(0, 2 ** 63, 2 * count, dtype=np.uint64)
    if not positive:
        x |= RNG.integers(0, 2, 2 * count, dtype=np.uint64) << np.uint64(63)
    x = x.view(np.float64)
    return x[np.isfinite(x)][:count]


def around(points):
    out = []
    for p in points:
        out += [p, math.nextafter(p, math.inf), math.nextafter(p, -math.inf)]
    return np.array(out)


UNIFORM = RNG.uniform
TINY = np.array([5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-160, 1e-20])


def both(x):
    return np.concatenate([x, -np.array(x)])


def near_multiples():
    whole = np.concatenate([np.arange(1, 40), RNG.integers(40, 2 ** 40, 60)]).astype(float)
    return np.concatenate([around(whole * (math.pi / 2)), nearest_multiples(), carries()])


def carries():
    """Multiples of such floats whose product with the bits of 2 / pi carries into the upper word."""
    found = []
    mp.prec = 2400
    for exponent in range(60, 900, 120):
        x = mpf(2) ** exponent * 2 / mp.pi
        bits = int(mpmath.floor(mpmath.fmod(x, 4) * mpf(2) ** 190))
        before, last, rest = 0, 1, x - mpmath.floor(x)
        while last < 2 ** 35:
            inverse = 1 / rest
            whole = int(mpmath.floor(inverse))
            before, last, rest = last, whole * last + before, inverse - whole
        mask, step = 2 ** 64 - 1, 2 ** 53 // last
        for m in range(last * step, last * (step // 2), -last):
            low = m * (bits >> 64 & mask) & mask
            if m >= 2 ** 52 and low + (m * (bits & mask) >> 64) > mask:
                found.append(float(math.ldexp(m, exponent)))
                break
    return np.array(found)


def nearest_multiples():
    """Floats that come nearest to multiples of pi / 2 for their exponent, by continued fractions."""
    found = []
    mp.prec = 2400
    for exponent in list(range(-40, 970, 23)) + [797]:
        x = mpf(2) ** exponent * 2 / mp.pi
        before, last, rest = 0, 1, x - mpmath.floor(x)
        while True:
            inverse = 1 / rest
            whole = int(mpmath.floor(inverse))
            before, last, rest = last, whole * last + before, inverse - whole
            if last >= 2 ** 53:
                break
        while before < 2 ** 52:
            before *= 2
        found.append(float(math.ldexp(before, exponent)))
    return np.array(found)


ONE = {
    "exp": (mpmath.exp, lambda: [UNIFORM(-745.2, 709.8, 150), UNIFORM(-1, 1, 150), spread(-60, 3, 60), around([709.782712893384, -708.3964185322641, -745.1332191019411, 0.34657359, -0.34657359, 1.0]), both(TINY)]),
    "expm1": (mpmath.expm1, lambda: [UNIFORM(-40, 709.7, 120), UNIFORM(-1, 1, 150), spread(-60, 3, 120), around([60.0, -64.0, 0.34657359, 709.782712893384]), both(TINY)]),
    "log": (mpmath.log, lambda: [any_bits(120, True), UNIFORM(0.5, 2, 120), 1 + spread(-52, -1, 120), spread(-1074, -1020, 30, False), around([1.0, 0.70572, 1.41144, 2.0, 2.2250738585072014e-308]), TINY]),
    "log1p": (mpmath.log1p, lambda: [UNIFORM(-1, 1, 120), spread(-60, -1, 120), spread(0, 1023, 60, False), -1 + spread(-53, -1, 80, False), both(TINY)]),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), lambda: [any_bits(120, True), UNIFORM(0.5, 2, 120), 1 + spread(-52, -1, 120), 2.0 ** np.arange(-1074, 1024, 53), TINY]),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), lambda: [any_bits(120, True), UNIFORM(0.5, 2, 120), 1 + spread(-52, -1, 120), 10.0 ** np.arange(-20, 23), TINY]),
    "sin": (mpmath.sin, lambda: [UNIFORM(-10, 10, 120), spread(-40, 40, 120), spread(27, 1023, 120), near_multiples(), around([134217728.0]), both(TINY)]),
    "cos": (mpmath.cos, lambda: [UNIFORM(-10, 10, 120), spread(-40, 40, 120), spread(27, 1023, 120), near_multiples(), around([134217728.0]), both(TINY)]),
    "tan": (mpmath.tan, lambda: [UNIFORM(-10, 10, 120), spread(-40, 40, 120), spread(27, 1023, 120), near_multiples(), around([134217728.0]), both(TINY)]),
    "asin": (mpmath.asin, lambda: [UNIFORM(-1, 1, 200), spread(-60, 0, 100), both(1 - spread(-53, -1, 60, False)), around([0.5, -0.5])]),
    "acos": (mpmath.acos, lambda: [UNIFORM(-1, 1, 200), spread(-60, 0, 100), both(1 - spread(-53, -1, 60, False)), around([0.5, -0.5])]),
    "atan": (mpmath.atan, lambda: [UNIFORM(-4, 4, 150), spread(-60, 60, 150), any_bits(60), around([i / 16 for i in range(17)]), both(TINY)]),
    "sinh": (mpmath.sinh, lambda: [UNIFORM(-710.4, 710.4, 120), UNIFORM(-2, 2, 150), spread(-60, 3, 100), around([710.4758600739439, 0.34657359, 18.7, 19.0]), both(TINY)]),
    "cosh": (mpmath.cosh, lambda: [UNIFORM(-710.4, 710.4, 120), UNIFORM(-2, 2, 150), spread(-60, 3, 100), around([710.4758600739439, 0.34657359]), both(TINY)]),
    "tanh": (mpmath.tanh, lambda: [UNIFORM(-20, 20, 120), UNIFORM(-1, 1, 120), spread(-60, 4, 120), any_bits(20), both(TINY)]),
    "asinh": (mpmath.asinh, lambda: [UNIFORM(-4, 4, 120), spread(-60, 70, 120), spread(-5, 5, 100), any_bits(40), around([2.0 ** 60, 2.0 ** -30]), both(TINY)]),
    "acosh": (mpmath.acosh, lambda: [UNIFORM(1, 4, 120), 1 + spread(-52, 1, 120, False), spread(0, 1023, 100, False), around([2.0 ** 60])]),
    "atanh": (mpmath.atanh, lambda: [UNIFORM(-1, 1, 120), spread(-60, 0, 120), both(1 - spread(-53, -1, 60, False)), around([2.0 ** -30]), both(TINY)]),
    "erf": (mpmath.erf, lambda: [UNIFORM(-6, 6, 200), spread(-60, 3, 120), around([i / 16 for i in range(1, 96, 7)]), both(TINY[3:])]),
}


def logaddexp(x, y):
    return max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))


def pow_points():
    x = np.concatenate([spread(-1074, 1023, 120, False), spread(-3, 3, 100, False), 1 + spread(-40, -2, 100), UNIFORM(0, 100, 100)])
    scale = np.log(x)
    y = np.concatenate([UNIFORM(-745, 709, 120) / scale[:120], UNIFORM(-300, 300, 100), UNIFORM(-745, 709, 100) / scale[220:320], RNG.integers(-40, 40, 100).astype(float)])
    small = [(float(a), float(k)) for a in (2, 3, 5, 7, 10, 15) for k in (1, 2, 3, 5, 7, 10, 13)]
    negative = [(-2.5, 3.0), (-2.5, -4.0), (-1.0, 1e15), (-3.0, 7.0), (-1e-5, -9.0)]
    return list(zip(x.tolist(), y.tolist())) + small + negative


def plane(count, span):
    x = np.concatenate([spread(-1000, 1000, count), spread(-2, 2, count), UNIFORM(0, 1, count), spread(-1074, -1000, count)])
    y = x * np.concatenate([spread(-30, 30, count), spread(-3, 3, count), spread(-span, span, count), spread(-3, 30, count)])
    return [(a, b) for a, b in zip(x.tolist(), y.tolist()) if math.isfinite(b) and b != 0 and a != 0]


def sums():
    x = np.concatenate([UNIFORM(-50, 50, 160), UNIFORM(-800, 800, 100), spread(-20, 1000, 60)])
    y = x + np.concatenate([UNIFORM(-3, 3, 100), UNIFORM(-45, 45, 160), UNIFORM(-1, 1, 60)])
    return list(zip(x.tolist(), y.tolist()))


TWO = {
    "pow": (mpmath.power, pow_points),
    "hypot": (mpmath.hypot, lambda: plane(90, 2)),
    "atan2": (mpmath.atan2, lambda: plane(90, 8)),
    "logaddexp": (logaddexp, sums),
}


def value(function, arguments):
    mp.prec = 320
    if function in (mpmath.sin, mpmath.cos, mpmath.tan) and abs(arguments[0]) > 1e6:
        mp.prec = 1400
    result = function(*[mpf(a) for a in arguments])
    return result if isinstance(result, mpf) else None


def real_file(name, function, points):
    lines = []
    for arguments in points:
        result = value(function, arguments)
        if result is not None:
            result = rounded(result, 53, -1074)
            lines.append(" ".join(["f64"] + [bits64(a) for a in arguments] + [bits64(result)]))
    for arguments in points[::3]:
        short = [float(np.float32(a)) for a in arguments]
        if not all(math.isfinite(a) for a in short) or (0.0 in short and name != "exp"):
            continue
        result = value(function, short)
        if result is not None and not mpmath.isinf(result):
            result = rounded(result, 24, -149)
            if abs(result) >= 2.0 ** 128:
                result = math.copysign(math.inf, result)
            lines.append(" ".join(["f32"] + [bits32(a) for a in short] + [bits32(result)]))
    with open(f"{name}.txt", "w") as out:
        out.write("\n".join(lines) + "\n")


def base(b):
    return lambda z: mpmath.log(z) / mpmath.log(b)


COMPLEX = {
    "exp": (mpmath.exp, np.exp), "expm1": (lambda z: mpmath.exp(z) - 1, None), "log": (mpmath.log, np.log),
    "log1p": (lambda z: mpmath.log(1 + z), None), "log2": (base(2), np.log2), "log10": (base(10), np.log10),
    "sqrt": (mpmath.sqrt, np.sqrt), "sin": (mpmath.sin, np.sin), "cos": (mpmath.cos, np.cos),
    "tan": (mpmath.tan, np.tan), "sinh": (mpmath.sinh, np.sinh), "cosh": (mpmath.cosh, np.cosh),
    "tanh": (mpmath.tanh, np.tanh), "asin": (mpmath.asin, np.arcsin), "acos": (mpmath.acos, np.arccos),
    "atan": (mpmath.atan, np.arctan), "asinh": (mpmath.asinh, np.arcsinh), "acosh": (mpmath.acosh, np.arccosh),
    "atanh": (mpmath.atanh, np.arctanh), "reciprocal": (lambda z: 1 / z, None),
    "sign": (lambda z: z / abs(z), np.sign), "square": (lambda z: z * z, None),
    "divide": (lambda z, w: z / w, None), "pow": (mpmath.power, None), "multiply": (lambda z, w: z * w, None),
}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, math.inf, -math.inf, math.nan]


def complex_points(count):
    return np.concatenate([
        UNIFORM(-3, 3, count) + 1j * UNIFORM(-3, 3, count),
        spread(-30, 6, count) + 1j * spread(-30, 6, count),
        spread(-300, 300, count) + 1j * spread(-300, 300, count),
        np.exp(1j * UNIFORM(-4, 4, count)) * (1 + spread(-50, -5, count)),
        spread(-5, 9, count) + 1j * spread(-60, 3, count),
        spread(-1070, 1023, count) + 1j * spread(-1070, 1023, count),
        np.array([complex(x, y) for x in (1.0, -1.0, 1e305, 1e160, 3e-200) for y in (1e-160, -1e-200, 1e306, 2e155, 3e-310)]),
    ]).tolist()


def parts(z):
    return f"{bits64(z.real)} {bits64(z.imag)}"


def complex_file(name, function, numpy):
    lines = []
    points = [(z,) for z in complex_points(24)]
    if name in ("divide", "multiply"):
        # Without the widest ones, whose smaller part may be lost.
        points = list(zip(complex_points(24)[:120], RNG.permutation(complex_points(24)[:120]).tolist()))
    if name == "pow":
        points = [(z, complex(UNIFORM(-20, 20), UNIFORM(-20, 20))) for z in complex_points(24)]
        for z in (UNIFORM(1.1, 1.8, 40) * np.exp(1j * UNIFORM(-0.5, 0.5, 40))).tolist():
            points.append((z, complex(UNIFORM(600, 1000), UNIFORM(-5, 5))))
    for arguments in points:
        if name in ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh") and abs(arguments[0]) > 700:
            continue
        mp.prec = 1400
        w = mpc(function(*[mpc(z.real, z.imag) for z in arguments]))
        w = complex(rounded(w.real, 53, -1074), rounded(w.imag, 53, -1074))
        if math.isfinite(w.real) and math.isfinite(w.imag):
            lines.append(" ".join(["near"] + [parts(z) for z in arguments] + [parts(w)]))
    for x in EDGES if numpy else []:
        for y in EDGES:
            w = complex(numpy(np.array([complex(x, y)]))[0])
            lines.append(" ".join(["edge", bits64(x), bits64(y), parts(w)]))
    with open(f"complex_{name}.txt", "w") as out:
        out.write("\n".join(lines) + "\n")


TYPES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}
NAMES = {v: k for k, v in TYPES.items()}
UNARY = {"abs": "abs", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh", "ceil": "ceil", "cos": "cos", "cosh": "cosh", "exp": "exp", "expm1": "expm1", "floor": "floor", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10", "sign": "sign", "sin": "sin", "sinh": "sinh", "square": "square", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc", "negative": "negative", "positive": "positive", "logical_not": "logical_not", "bitwise_invert": "invert", "real": "real", "imag": "imag", "signbit": "signbit"}
BINARY = {"add": "add", "atan2": "arctan2", "bitwise_and": "bitwise_and", "bitwise_left_shift": "left_shift", "bitwise_or": "bitwise_or", "bitwise_right_shift": "right_shift", "bitwise_xor": "bitwise_xor", "equal": "equal", "floor_divide": "floor_divide", "greater": "greater", "greater_equal": "greater_equal", "less": "less", "less_equal": "less_equal", "logaddexp": "logaddexp", "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor", "maximum": "maximum", "minimum": "minimum", "remainder": "remainder", "multiply": "multiply", "not_equal": "not_equal", "pow": "power", "subtract": "subtract", "divide": "true_divide", "copysign": "copysign", "hypot": "hypot", "nextafter": "nextafter"}


def result_type(function, *types):
    try:
        result = getattr(np, function)(*[np.ones(1, dtype=TYPES[t]) for t in types])
    except TypeError:
        return "refused"
    name = str(result.dtype)
    return NAMES.get(name, name)


def types_file():
    with open("types.txt", "w") as out:
        for a in TYPES:
            for b in TYPES:
                both_types = np.promote_types(TYPES[a], TYPES[b])
                out.write(f"promote {a} {b} {NAMES[str(both_types)]}\n")
        for name, function in UNARY.items():
            for a in TYPES:
                out.write(f"{name} {a} {result_type(function, a)}\n")
        for name, function in BINARY.items():
            for a in TYPES:
                for b in TYPES:
                    out.write(f"{name} {a} {b} {result_type(function, a, b)}\n")


def main():
    for name, (function, points) in ONE.items():
        real_file(name, function, [(float(x),) for x in np.concatenate(points())])
    for name, (function, points) in TWO.items():
        real_file(name, function, points())
    for name, (function, numpy) in COMPLEX.items():
        complex_file(name, function, numpy)
    types_file()


main()
