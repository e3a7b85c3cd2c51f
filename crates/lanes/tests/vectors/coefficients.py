"""Derives the constants of the expansions and writes src/expand/constants.rs.

Polynomials interpolate at the Chebyshev points of their interval in 60 digits, which is within a
small factor of the best; the error of each, after rounding its coefficients, is printed.
Needs mpmath. Usage: python3 coefficients.py > ../../src/expand/constants.rs
"""
import struct
import sys
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, log, exp, erf, atan, asin, sin, sqrt, taylor, factorial, floor, sinh, cosh

mp.prec = 400


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", float(x)))[0]


def exact(x):
    return mpf(float(x))


def word(b):
    s = f"{b:016x}"
    return "0x" + "_".join(s[i:i + 4] for i in range(0, 16, 4))


def number(x):
    return f"f64::from_bits({word(bits(x))})"


def fit(f, low, high, degree):
    """Coefficients, lowest first, of the polynomial that meets f at Chebyshev points."""
    n = degree + 1
    points = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    a = matrix(n, n)
    for i, x in enumerate(points):
        for j in range(n):
            a[i, j] = x ** j
    return list(lu_solve(a, matrix([f(x) for x in points])))


def error(f, coefficients, low, high, weight):
    worst = mpf(0)
    for i in range(2001):
        x = low + (high - low) * (mpf(i) + mpf("0.5")) / 2001
        p = sum(exact(c) * x ** j for j, c in enumerate(coefficients))
        worst = max(worst, abs((p - f(x)) * weight(x)))
    return float(log(worst, 2))


def array(name, doc, values):
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: [f64; {len(values)}] = [")
    for v in values:
        print(f"    {number(v)},")
    print("];")


def scalar(name, doc, value):
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: f64 = {number(value)};")


def rows(words, indent):
    for i in range(0, len(words), 4):
        print(indent + ", ".join(word(w) for w in words[i:i + 4]) + ",")


def table(name, doc, words):
    print(f"\n/// {doc}")
    print("#[rustfmt::skip]")
    print(f"pub(super) static {name}: Table = Table {{")
    print(f'    name: "{name.lower()}",')
    print("    words: &[")
    rows(words, "        ")
    print("    ],")
    print("};")


def poly(name, doc, f, low, high, degree, weight):
    low, high = mpf(low), mpf(high)
    c = fit(f, low, high, degree)
    print(f"{name}: 2^{error(f, c, low, high, weight):.1f}", file=sys.stderr)
    array(name, doc, c)


def pair(name, doc, value):
    hi = exact(value)
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: (f64, f64) = (")
    print(f"    {number(hi)},")
    print(f"    {number(value - hi)},")
    print(");")


def main():
    print("//! Constants of the expansions, derived by `tests/vectors/coefficients.py`.")
    print("\n#![allow(")
    print("    clippy::approx_constant,")
    print('    reason = "tables hold every bit of their numbers, whatever they come near to"')
    print(")]")
    print("\nuse crate::Table;")
    ln2 = log(mpf(2))
    half = ln2 / 2
    # exp
    e2 = lambda r: (exp(r) - 1 - r) / r ** 2 if abs(r) > 1e-30 else mpf("0.5")
    lim = half * mpf("1.0001")
    poly("EXP", "(exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2.", e2, -lim, lim, 10,
         lambda r: r ** 2 / exp(r))
    scalar("LOG2_E", "1 / ln(2).", 1 / ln2)
    hi = floor(ln2 * 2 ** 42 + mpf("0.5")) / mpf(2) ** 42
    scalar("LN2_HIGH", "ln(2) to 42 binary places: times an exponent it is exact.", hi)
    scalar("LN2_LOW", "What `LN2_HIGH` leaves of ln(2).", ln2 - hi)
    z0, z1 = mpf(10) ** -30, lim ** 2
    poly("SINH", "(sinh(r) - r) / r^3 in r^2 for |r| <= ln(2) / 2.",
         lambda z: (sinh(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, z0, z1, 5, lambda z: z)
    poly("COSH", "(cosh(r) - 1) / r^2 in r^2 for |r| <= ln(2) / 2.",
         lambda z: (cosh(sqrt(z)) - 1) / z, z0, z1, 6, lambda z: z)
    # log
    pair("LOG10_E", "1 / ln(10).", 1 / log(mpf(10)))
    pair("LOG2_E_PAIR", "1 / ln(2).", 1 / ln2)
    pair("LN2_PAIR", "ln(2).", ln2)
    off = struct.unpack("<d", struct.pack("<Q", 0x3FE6955500000000))[0]
    words, worst = [], mpf(0)
    for i in range(128):
        low = struct.unpack("<d", struct.pack("<Q", 0x3FE6955500000000 + (i << 45)))[0]
        high = struct.unpack("<d", struct.pack("<Q", 0x3FE6955500000000 + ((i + 1) << 45)))[0]
        low, high = mpf(low), mpf(high)
        center = (low + high) / 2
        places = 8 if low >= 1 else 7
        inverse = floor(1 / center * 2 ** places + mpf("0.5")) / mpf(2) ** places
        if low < 1 < high:
            inverse = mpf(1)
        logc = -log(inverse)
        logc_high = floor(logc * 2 ** 42 + mpf("0.5")) / mpf(2) ** 42
        far = max(abs(low * inverse - 1), abs(high * inverse - 1))
        worst = max(worst, far)
        if logc_high != 0 and abs(logc_high) < far:
            print(f"LOG table: {i} {float(logc_high)} below {float(far)}", file=sys.stderr)
        words += [bits(inverse), bits(logc_high), bits(logc - logc_high)]
    print(f"LOG table: |r| <= {float(worst)}", file=sys.stderr)
    table("LOG_INVERSE", "Short inverses c of the middles of 128 intervals of [0.706, 1.412).", words[0::3])
    table("LOG_HIGH", "-ln(c) to 42 binary places.", words[1::3])
    table("LOG_LOW", "What `LOG_HIGH` leaves of -ln(c).", words[2::3])
    w = worst * mpf("1.001")
    poly("LOG", "(ln(1 + r) - r + r^2 / 2) / r^3 for |r| <= 0.0058.",
         lambda r: (log(1 + r) - r + r ** 2 / 2) / r ** 3 if abs(r) > 1e-30 else mpf(1) / 3, -w, w, 6,
         lambda r: r ** 2)
    poly("LOG_SHORT", "(ln(1 + r) - r) / r^2 for |r| <= 0.0058.",
         lambda r: (log(1 + r) - r) / r ** 2 if abs(r) > 1e-30 else -mpf(1) / 2, -w, w, 5,
         lambda r: r)
    # sin, cos
    p2 = pi / 2
    scalar("TWO_OVER_PI", "2 / pi.", 2 / pi)
    a = exact(p2)
    b = exact(p2 - a)
    c = exact(p2 - a - b)
    array("HALF_PI", "pi / 2 in three parts.", [a, b, c])
    q = (pi / 4 * mpf("1.0001")) ** 2
    poly("SIN", "(sin(r) - r) / r^3 in r^2 for |r| <= pi / 4.",
         lambda z: (sin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, z0, q, 6, lambda z: z)
    poly("COS", "(cos(r) - 1 + r^2 / 2) / r^4 in r^2 for |r| <= pi / 4.",
         lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, z0, q, 6, lambda z: z ** 2)
    mp.prec = 1600
    digits = int(floor(2 / pi * mpf(2) ** (64 * 20)))
    words = [(digits >> (64 * (19 - i))) & (2 ** 64 - 1) for i in range(20)]
    mp.prec = 400
    table("TWO_OVER_PI_BITS", "The first 1280 bits of 2 / pi after the binary point.", [0] + words)
    # arcs
    poly("ASIN", "(asin(s) - s) / s^3 in s^2 for s <= 1/2.",
         lambda z: (asin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, z0, mpf("0.25001"), 13, lambda z: z)
    h = mpf("0.0626")
    poly("ATAN", "(atan(t) - t) / t^3 in t^2 for |t| <= 1/16.",
         lambda z: (atan(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, mpf(10) ** -20, h ** 2, 5, lambda z: z)
    values = [atan(mpf(i) / 8) for i in range(9)]
    table("ATAN_HIGH", "atan(i / 8).", [bits(v) for v in values])
    table("ATAN_LOW", "What `ATAN_HIGH` leaves of atan(i / 8).", [bits(v - exact(v)) for v in values])
    # erf
    count, degree = 48, 11
    columns = [[] for _ in range(degree + 3)]
    worst = mpf(0)
    for i in range(count):
        center = mpf(i) / 8
        c = fit(lambda h: erf(center + h), -mpf("0.0626"), mpf("0.0626"), degree)
        if i == 0:
            c = [mpf(0)] + [x for x in fit(lambda h: erf(h) / h, -mpf("0.0626"), mpf("0.0626"), degree - 1)]
            c = [x if j % 2 else mpf(0) for j, x in enumerate(c)]
        for h in [mpf(j) / 160 * mpf("0.0625") * 10 for j in range(-16, 17)]:
            if center + h != 0:
                v = sum(x * h ** j for j, x in enumerate(c))
                worst = max(worst, abs(v / erf(center + h) - 1))
        hi0, hi1 = exact(c[0]), exact(c[1])
        for column, x in zip(columns, [hi0, c[0] - hi0, hi1, c[1] - hi1] + c[2:]):
            column.append(bits(x))
    print(f"ERF: 2^{float(log(worst, 2)):.1f}", file=sys.stderr)
    print(f"\n/// Coefficients of erf around i / 8: the first two in two parts each.")
    print("#[rustfmt::skip]")
    print(f"pub(super) static ERF: [Table; {len(columns)}] = [")
    for j, column in enumerate(columns):
        print("    Table {")
        print(f'        name: "erf_{j}",')
        print("        words: &[")
        rows(column, "            ")
        print("        ],")
        print("    },")
    print("];")


main()
