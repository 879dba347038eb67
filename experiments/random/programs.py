#!/usr/bin/python3
"""Random Lift programs against NumPy.

    experiments/random/programs.py build/thresh build/leaves 2000 1

makes 2,000 programs from seed 1. Each is generated as a Lift text and, beside it, as Python functions that
compute the same with NumPy, one operation at a time; the two share nothing but the generator's choices:

    map(fun v1 -> max(v1, 2.0), tail(a))        lambda e: np.stack([max(v1, 2.0) for v1 in a(e)[1:]])

The result of `thresh lift run` on random inputs must be NumPy's. Then build/leaves runs 20 random
implementations of each program and compares them with the reference. What differs stays in the folder
build/random (OUT), the other programs are removed. Exit status 1 if anything differs.

The real type of a program is float, double or half. One of several outputs, tuples in inputs and outputs, arrays updated
in place, and indices by data are added to some programs.

Inputs are small whole numbers, so that nearly all results are exact and comparisons go one way. A *rough*
program has roots, exponentials and quotients, but no comparisons and no jumps.
"""
import os
import random
import re
import subprocess
import sys

import numpy as np

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16]
MOST_ELEMENTS = 400  # of an array
MOST_TEXT = 2500
MOST_ARRAYS = 20  # inputs and outputs
NUMPY = {"float": np.float32, "double": np.float64, "half": np.float16, "int": np.int32}
IMPLEMENTATIONS = 20


def wrap(x):
    """To 32 bits, as int does."""
    return (np.asarray(x, dtype=np.int64) + 2**31) % 2**32 - 2**31


def divide(a, b):
    if b == 0:
        return np.int64(0)
    q = abs(int(a)) // abs(int(b))
    return wrap(q if (a < 0) == (b < 0) else -q)


def remainder(a, b):
    if b == 0:
        return np.int64(a)
    r = abs(int(a)) % abs(int(b))
    return np.int64(-r if a < 0 else r)


def to_ints(x):
    return np.clip(np.trunc(x), -(2**31), 2**31 - 1).astype(np.int64)


def to_int(x):
    return np.int64(int(np.clip(np.trunc(x), -(2**31), 2**31 - 1)))


BINARY = {  # Lift text, NumPy; by type
    "float": [
        ("({} + {})", lambda a, b: a + b),
        ("({} - {})", lambda a, b: a - b),
        ("add({}, {})", lambda a, b: a + b),
        ("max({}, {})", np.maximum),
        ("min({}, {})", np.minimum),
    ],
    "int": [
        ("({} + {})", lambda a, b: wrap(a + b)),
        ("({} - {})", lambda a, b: wrap(a - b)),
        ("({} * {})", lambda a, b: wrap(a * b)),
        ("max({}, {})", max),
        ("min({}, {})", min),
        ("({} / {})", divide),
        ("({} % {})", remainder),
        ("bitand({}, {})", lambda a, b: wrap(int(a) & int(b))),
        ("bitxor({}, {})", lambda a, b: wrap(int(a) ^ int(b))),
    ],
}
UNARY = {
    "float": [
        ("(-{})", lambda a: -a),
        ("abs({})", abs),
        ("({} * 0.5)", lambda a: a * 0.5),
        ("fma({}, 2.0, 1.0)", lambda a: a * 2 + 1),
    ],
    "int": [("(-{})", lambda a: wrap(-a)), ("abs({})", lambda a: wrap(abs(a))), ("shl({}, 2)", lambda a: wrap(a * 4))],
}
ROUGH = [
    ("sqrt(abs({}))", lambda a: np.sqrt(abs(a))),
    ("exp(sin({}))", lambda a: np.exp(np.sin(a))),
    ("(1.0 / (2.0 + abs({})))", lambda a: 1 / (2 + abs(a))),
    ("tanh({})", np.tanh),
    ("log(1.0 + abs({}))", lambda a: np.log(1 + abs(a))),
]
JUMPS = [("floor({} * 0.5)", lambda a: np.floor(a * 0.5)), ("trunc({} / 4.0)", lambda a: np.trunc(a / 4)),
         ("sign({})", np.sign)]
COMPARISONS = [("<", lambda a, b: a < b), ("<=", lambda a, b: a <= b), ("==", lambda a, b: a == b),
               ("!=", lambda a, b: a != b), (">", lambda a, b: a > b), (">=", lambda a, b: a >= b)]
REDUCTIONS = {
    "float": [("reduce(add, 0.0, {})", lambda a: sum(a, np.float64(0))), ("sum({})", lambda a: sum(a, np.float64(0))),
              ("reduce(max, -1000.0, {})", lambda a: max([np.float64(-1000), *a])),
              ("reduce(min, 1000.0, {})", lambda a: min([np.float64(1000), *a])),
              ("reduce(max, lowest, {})", max), ("reduce(min, highest, {})", min)],
    "int": [("reduce(add, 0, {})", lambda a: wrap(sum(a, np.int64(0)))),
            ("reduce(max, -1000, {})", lambda a: max([np.int64(-1000), *a])),
            ("reduce(max, lowest, {})", max), ("reduce(min, highest, {})", min),
            ("reduce(bitxor, 5, {})", lambda a: wrap(np.bitwise_xor.reduce([np.int64(5), *a])))],
}


class Program:
    """A program under construction. An expression is a pair of its text and a function of the environment, a
    dictionary from names to values; a type is a pair of a scalar type and a shape."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.inputs = {}  # name -> type
        self.arrays = {}  # name of an array -> scalar type, shape, range
        self.declared = []  # lines of inputs that are no plain arrays
        self.extents = set()
        self.functions = []
        self.names = 0
        self.products = 2  # of floats that are left: products of products soon are not exact
        self.rough = self.rng.random() < 0.25
        # What is "float" below is written as this type; WORD for the type that it stands for.
        self.real = self.rng.choices(["float", "double", "half"], [5, 2, 2])[0]

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def choose(self, options):
        """One of (weight, function) pairs."""
        return self.rng.choices([f for _, f in options], [w for w, _ in options])[0]()

    # ---- leaves ----

    def variable(self, env, wanted):
        """What has the wanted type, preferably of the innermost function, or a new input."""
        inner = [n for n, t in env.items() if t == wanted][-2:]
        outer = [n for n, t in self.inputs.items() if t == wanted]
        if inner and self.rng.random() < 0.9:
            name = self.rng.choice(inner)
        elif outer and (self.rng.random() < 0.5 or len(self.inputs) >= 5):
            name = self.rng.choice(outer)
        elif not wanted[1] and env and self.rng.random() < 0.8:
            return self.from_others(env, wanted[0])
        elif wanted[1] and len(self.arrays) < 8 and self.rng.random() < 0.25:
            return self.rng.choice([self.tuple_input, self.converted_input])(wanted)
        else:
            name = self.name("x")
            self.inputs[name] = wanted
            self.declare(name, "", self.word(wanted[0]), wanted[1], {name: wanted[0]})
        return name, lambda e: e[name]

    # ---- inputs ----

    def word(self, t):
        return self.real if t == "float" else t

    def declare(self, name, prefix, element, shape, arrays, low=-3, high=3, stated=""):
        """An input; arrays: the scalar types of its arrays by their names."""
        self.extents.update(shape)
        dims = "[" * len(shape) + element + "".join(f"]N{n}" for n in reversed(shape))
        self.declared.append(f"input {name}: {prefix}{dims}{stated}")
        for array, t in arrays.items():
            self.arrays[array] = (self.word(t), shape, low, high)

    def mapped(self, f, text, shape):
        for _ in shape:
            f = f"map({f})"
        return f"{f[4:-1]}({text})" if not shape else f"map({f[4:-1]}, {text})"

    def tuple_input(self, wanted):
        """A component of an input of tuples, interleaved or not."""
        t, shape = wanted
        name, n = self.name("t"), self.rng.choice([2, 2, 3])
        i = self.rng.randrange(n)
        if self.rng.random() < 0.3:
            self.declare(name, "interleaved ", "(" + ", ".join([self.word(t)] * n) + ")", shape, {})
            self.arrays[name] = (self.word(t), (*shape, n), -3, 3)
            value = lambda e: e[name][..., i]
        else:
            types = [self.rng.choice(["float", "int"]) if k != i else t for k in range(n)]
            self.declare(name, "", "(" + ", ".join(map(self.word, types)) + ")", shape,
                         {f"{name}_{k}": types[k] for k in range(n)})
            value = lambda e: e[f"{name}_{i}"]
        if len(shape) == 1 and self.rng.random() < 0.5:
            return f"get({i}, unzip({name}))", value
        return self.mapped(f"get({i})", name, shape), value

    def converted_input(self, wanted):
        """An input of another real type, or of ints."""
        t, shape = wanted
        other = self.rng.choice(["FLOAT", "DOUBLE", "HALF"])
        name = self.name("x")
        self.declare(name, "", other, shape, {})
        self.arrays[name] = (other.lower(), shape, -3, 3)
        return self.mapped(t, name, shape), (lambda e: e[name]) if t == "float" else (lambda e: to_ints(e[name]))

    def index_input(self, n, shape):
        """Ints from 0 to n - 1, whose range the program states."""
        name = self.name("i")
        self.extents.add(n)
        self.declare(name, "", "int", shape, {name: "int"}, 0, n - 1, f" in 0..N{n}-1")
        return name, lambda e: e[name]

    def from_others(self, env, t):
        """A scalar made of a variable of another type."""
        name, (other, shape) = self.rng.choice(list(env.items())[-3:])
        if other != t and (t == "float" or not self.rough):
            convert = ("float({})", np.float64) if t == "float" else ("int({})", to_int)
        elif other != t:
            return self.literal(t)
        else:
            convert = ("{}", lambda a: a)
        value = name, lambda e: e[name]
        for n in shape:
            i = self.rng.randrange(n)
            value = self.apply((f"at({i}, {{}})", lambda a, i=i: a[i]), [value])
        return self.apply(convert, [value])

    def literal(self, scalar):
        n = self.rng.randint(0, 4)
        if scalar == "int":
            return f"int({n})", lambda e: np.int64(n)
        return (f"{n}.0" if self.real == "float" else f"({n}.0 : float)"), lambda e: np.float64(n)

    # ---- scalars ----

    def scalar(self, env, t, depth):
        if depth <= 0:
            return self.variable(env, (t, ()))
        options = [(6, lambda: self.binary(env, t, depth)), (2, lambda: self.unary(env, t, depth)),
                   (3, lambda: self.reduction(env, t, depth)), (1, lambda: self.element(env, (t, ()), depth)),
                   (1, lambda: self.let(env, (t, ()), depth)), (1, lambda: self.variable(env, (t, ()))),
                   (1, lambda: self.pair_reduction(env, t, depth))]
        if self.rng.random() < 0.5:
            options.append((1, lambda: self.call(env, t, depth)))
        if self.extents:
            options.append((0.5, lambda: self.size(env, t, depth)))
        if t == "float" and self.rough:
            options.append((3, lambda: self.apply(self.rng.choice(ROUGH), [self.scalar(env, t, depth - 1)])))
        if not self.rough:
            options.append((2, lambda: self.condition(env, t, depth)))
        if t == "int" and not self.rough:
            options.append((2, lambda: self.place(env, depth)))
        if t == "float" and not self.rough:
            options.append((1, lambda: self.apply(self.rng.choice(JUMPS), [self.scalar(env, t, depth - 1)])))
        if t == "float":
            options.append((1, lambda: self.apply(("float({})", lambda a: np.float64(a)),
                                                  [self.scalar(env, "int", depth - 1)])))
        elif not self.rough:
            options.append((1, lambda: self.apply(("int({})", to_int), [self.scalar(env, "float", depth - 1)])))
        if t == "float" and self.products > 0:
            options.append((2, lambda: self.product(env, depth)))
        return self.choose(options)

    @staticmethod
    def apply(operation, arguments):
        text, f = operation
        return text.format(*[a[0] for a in arguments]), lambda e: f(*[a[1](e) for a in arguments])

    def binary(self, env, t, depth):
        return self.apply(self.rng.choice(BINARY[t]), [self.scalar(env, t, depth - 1), self.scalar(env, t, depth - 1)])

    def unary(self, env, t, depth):
        return self.apply(self.rng.choice(UNARY[t]), [self.scalar(env, t, depth - 1)])

    def call(self, env, t, depth):
        """A function of the program with two arguments, the second a scalar or an array."""
        kinds = [(t, ()), (self.rng.choice(["float", "int"]), self.rng.choice([(), (self.rng.choice(LENGTHS[:6]),)]))]
        names, f = [self.name("a"), self.name("b")], self.name("f")
        arguments = [self.expression(env, k, depth - 2) for k in kinds]
        body, value = self.expression(dict(zip(names, kinds)), (t, ()), depth - 1)
        self.functions.append(f"fun {f}({names[0]}, {names[1]}) = {body}")
        return (f"{f}({arguments[0][0]}, {arguments[1][0]})",
                lambda e: value({**e, **{n: a[1](e) for n, a in zip(names, arguments)}}))

    def size(self, env, t, depth):
        """A size as a value."""
        n = self.rng.choice(sorted(self.extents))
        return self.apply((f"({{}} - N{n})", (lambda a: a - n) if t == "float" else (lambda a: wrap(a - n))),
                          [self.scalar(env, t, depth - 1)])

    def product(self, env, depth):
        self.products -= 1
        return self.apply(("({} * {})", lambda a, b: a * b),
                          [self.scalar(env, "float", depth - 1), self.scalar(env, "float", 0)])

    def condition(self, env, t, depth):
        kind = self.rng.choice(["float", "int"])
        (ta, a), (tb, b) = self.scalar(env, kind, depth - 1), self.scalar(env, kind, 0)
        (ty, y), (tn, n) = self.scalar(env, t, depth - 1), self.scalar(env, t, depth - 2)
        sign, f = self.rng.choice(COMPARISONS)
        holds, test = f"{ta} {sign} {tb}", lambda e: f(a(e), b(e))
        if self.rng.random() < 0.3:  # of two comparisons, or of the opposite one
            (tc, c), (other, g) = self.scalar(env, kind, 0), self.rng.choice(COMPARISONS)
            joined, both = self.rng.choice([("{} && {}", lambda x, y: x and y), ("{} || {}", lambda x, y: x or y),
                                            ("{} && !({})", lambda x, y: x and not y)])
            holds, test = (joined.format(holds, f"{tb} {other} {tc}"),
                           lambda e: both(f(a(e), b(e)), g(b(e), c(e))))
        if self.rng.random() < 0.2:  # of tuples
            u, w = self.name("u"), self.name("w")
            return (f"(let ({u}, {w}) = if {holds} then ({ty}, {tn}) else ({tn}, {ty}) in max({u}, {w} + {u}))",
                    lambda e: self.larger(t, *((y(e), n(e)) if test(e) else (n(e), y(e)))))
        return f"(if {holds} then {ty} else {tn})", lambda e: y(e) if test(e) else n(e)

    @staticmethod
    def larger(t, u, w):
        return np.maximum(u, w + u) if t == "float" else max(np.int64(u), wrap(w + u))

    def reduction(self, env, t, depth):
        n = self.rng.choice(LENGTHS)
        if self.rng.random() < 0.2 and t == "float":  # inside another one, from its accumulator
            m = self.rng.choice([2, 3, 4])
            text, a = self.array(env, (t, (m, n)), depth - 1)
            s, row = self.name("s"), self.name("r")
            return (f"reduce(fun {s} {row} -> reduce(add, {s}, {row}), 0.0, {text})",
                    lambda e: sum(a(e).flatten(), np.float64(0)))
        return self.apply(self.rng.choice(REDUCTIONS[t]), [self.array(env, (t, (n,)), depth - 1)])

    def pair_reduction(self, env, t, depth):
        if t != "float":
            return self.reduction(env, t, depth)
        text, a = self.array(env, (t, (self.rng.choice(LENGTHS),)), depth - 1)
        s, q, x = self.name("s"), self.name("q"), self.name("v")
        u, w = self.name("u"), self.name("w")
        return (f"(let ({u}, {w}) = reduce(fun (({s}, {q}), {x}) -> ({s} + {x}, min({q}, {x})), (0.0, 50.0), {text}) "
                f"in {u} - {w})", lambda e: sum(a(e), np.float64(0)) - min([np.float64(50), *a(e)]))

    def place(self, env, depth):
        """The index of the largest or smallest element, of equal ones the first."""
        n = self.rng.choice(LENGTHS)
        if self.rng.random() < 0.5:
            return self.selection(env, n, depth)
        operation = self.rng.choice([("argmax({})", np.argmax), ("argmin({})", np.argmin)])
        return self.apply(operation, [self.array(env, (self.rng.choice(["float", "int"]), (n,)), depth - 1)])

    def selection(self, env, n, depth):
        """The same written out: the first or the last of equal ones, with a number that comes with it."""
        kind = self.rng.choice(["float", "int"])
        sign, better = self.rng.choice([c for c in COMPARISONS if c[0] not in ("==", "!=")])
        start = self.rng.choice([-3, 1, 4])
        v, w, i, j, p = (self.name(x) for x in "vwijp")

        def select(a):
            best = (start, -1, 5)
            for k, x in enumerate(a):
                best = (x, k, k % 3) if better(x, best[0]) else best
            return np.int64(best[1] + 2 * best[2])
        return self.apply((f"(let ({v}, {i}, {p}) = reduce(fun (({v}, {i}, {p}), ({w}, {j})) -> if {w} {sign} {v} then "
                           f"({w}, {j}, {j} % 3) else ({v}, {i}, {p}), ({start}{'.0' if kind == 'float' else ''}, "
                           f"(-1 : int), (5 : int)), zip({{}}, iota({n}))) in {i} + 2 * {p})", select),
                          [self.array(env, (kind, (n,)), depth - 1)])

    # ---- what all types have ----

    def element(self, env, wanted, depth):
        n = self.rng.choice(LENGTHS[:8])
        t, shape = wanted
        text, a = self.array(env, (t, (n, *shape)), depth - 1)
        if self.rng.random() < 0.3:
            return f"head({text})", lambda e: a(e)[0]
        if self.rng.random() < 0.5 and not self.rough:  # the index is data
            index, value = self.scalar(env, "int", depth - 2)
            if self.rng.random() < 0.5:
                return (f"at(abs({index} % {n}), {text})",
                        lambda e: a(e)[abs(remainder(value(e), n))])
            return (f"at(max(0, min({n - 1}, {index})), {text})", lambda e: a(e)[np.clip(value(e), 0, n - 1)])
        i = self.rng.randrange(n)
        return f"at({i}, {text})", lambda e: a(e)[i]

    def let(self, env, wanted, depth):
        kind = self.rng.choice([wanted, ("float", ()), wanted])
        name = self.name("l")
        text, value = self.expression(env, kind, depth - 1)
        body, f = self.expression({**env, name: kind}, wanted, depth - 1)
        return f"(let {name} = {text} in {body})", lambda e: f({**e, name: value(e)})

    def expression(self, env, wanted, depth):
        return self.array(env, wanted, depth) if wanted[1] else self.scalar(env, wanted[0], depth)

    # ---- arrays ----

    def array(self, env, wanted, depth):
        t, shape = wanted
        if depth <= 0 or np.prod(shape) > MOST_ELEMENTS:
            return self.variable(env, wanted)
        n, rest = shape[0], shape[1:]
        options = [(6, lambda: self.map(env, wanted, depth)), (3, lambda: self.map_pairs(env, wanted, depth)),
                   (1, lambda: self.map_indices(env, wanted, depth)),
                   (1, lambda: self.part(env, wanted, depth, "reverse({})", n, lambda a: a[::-1])),
                   (1, lambda: self.part(env, wanted, depth, "tail({})", n + 1, lambda a: a[1:])),
                   (1, lambda: self.gather(env, wanted, depth)), (1, lambda: self.element(env, wanted, depth)),
                   (1, lambda: self.let(env, wanted, depth)), (1, lambda: self.variable(env, wanted)),
                   (1, lambda: self.iterate(env, wanted, depth))]
        if not rest:
            options.append((1, lambda: self.scan(env, wanted, depth)))
        if len(shape) <= 3:
            options.append((2, lambda: self.fold(env, wanted, depth)))
        if n > 1:
            options.append((1, lambda: self.concat(env, wanted, depth)))
        if n > 2:
            options.append((3, lambda: self.pad(env, wanted, depth)))
        if n <= 3:
            options.append((1, lambda: self.written_out(env, wanted, depth)))
        options.append((3, lambda: self.stencil(env, wanted, depth)))
        if len(shape) == 2:
            options.append((3, lambda: self.stencil_both(env, wanted, depth)))
        if rest and n % 2 == 0 and rest[0] % 2 == 0:
            options.append((0.5, lambda: self.part(env, wanted, depth, "untile(tile(2, 2, {}))", n, lambda a: a)))
        if rest and min(n, rest[0]) > 3:
            options.append((0.7, lambda: self.pad_both(env, wanted, depth)))
        if rest:
            m = rest[0]
            options += [(3, lambda: self.slide(env, wanted, depth)),
                        (2, lambda: self.reshape(env, wanted, depth, "transpose({})", (m, n, *rest[1:]),
                                                 lambda a: np.swapaxes(a, 0, 1))),
                        (1, lambda: self.reshape(env, wanted, depth, f"split({m}, {{}})", (n * m, *rest[1:]),
                                                 lambda a: a.reshape((n, m, *a.shape[1:]))))]
        for k in (2, 3, 4):
            if n % k == 0 and n > k:
                options += [(1, lambda k=k: self.reshape(env, wanted, depth, "join({})", (n // k, k, *rest),
                                                         lambda a: a.reshape((n, *a.shape[2:])))),
                            (0.5, lambda k=k: self.part(env, wanted, depth, f"stride({k}, {{}})", n,
                                                        lambda a, k=k: np.concatenate([a[i::k] for i in range(k)])))]
                break
        if t == "int" and not rest:
            options.append((1, lambda: (f"iota({n})", lambda e: np.arange(n))))
        return self.choose(options)

    def part(self, env, wanted, depth, text, n, f):
        return self.apply((text, f), [self.array(env, (wanted[0], (n, *wanted[1][1:])), depth - 1)])

    def reshape(self, env, wanted, depth, text, shape, f):
        return self.apply((text, f), [self.array(env, (wanted[0], shape), depth - 1)])

    def inner(self, wanted):
        """A type of elements that a function maps to the wanted one."""
        t, rest = wanted
        other = t if self.rng.random() < 0.8 else ("int" if t == "float" else "float")
        shape = rest if self.rng.random() < 0.6 else ((self.rng.choice(LENGTHS[1:8]),) if not rest else ())
        return other, shape

    def map(self, env, wanted, depth):
        t, (n, *rest) = wanted
        kind = self.inner((t, tuple(rest)))
        text, a = self.array(env, (kind[0], (n, *kind[1])), depth - 1)
        v = self.name("v")
        closed = self.rng.random() < 0.3
        body, f = self.expression({v: kind} if closed else {**env, v: kind}, (t, tuple(rest)), depth - 1)
        value = lambda e: np.stack([f({**e, v: x}) for x in a(e)])
        if closed:
            function = self.name("f")
            self.functions.append(f"fun {function}({v}) = {body}")
            return f"map({function}, {text})", value
        if self.rng.random() < 0.1:  # a function that takes a function
            function = self.name("h")
            self.functions.append(f"fun {function}(g, a) = map(g, a)")
            return f"{function}(fun {v} -> {body}, {text})", value
        return f"map(fun {v} -> {body}, {text})", value

    def map_pairs(self, env, wanted, depth):
        t, (n, *rest) = wanted
        kinds = self.inner((t, tuple(rest))), self.inner((t, tuple(rest)))
        (ta, a), (tb, b) = (self.array(env, (k[0], (n, *k[1])), depth - 1) for k in kinds)
        u, v = self.name("u"), self.name("v")
        if self.rng.random() < 0.25:  # of three
            w, kind = self.name("w"), self.inner((t, tuple(rest)))
            tc, c = self.array(env, (kind[0], (n, *kind[1])), depth - 2)
            body, f = self.expression({**env, u: kinds[0], v: kinds[1], w: kind}, (t, tuple(rest)), depth - 1)
            return (f"map(fun ({u}, {v}, {w}) -> {body}, zip({ta}, {tb}, {tc}))",
                    lambda e: np.stack([f({**e, u: x, v: y, w: z}) for x, y, z in zip(a(e), b(e), c(e))]))
        body, f = self.expression({**env, u: kinds[0], v: kinds[1]}, (t, tuple(rest)), depth - 1)
        return (f"map(fun ({u}, {v}) -> {body}, zip({ta}, {tb}))",
                lambda e: np.stack([f({**e, u: x, v: y}) for x, y in zip(a(e), b(e))]))

    def map_indices(self, env, wanted, depth):
        t, (n, *rest) = wanted
        i = self.name("i")
        body, f = self.expression({**env, i: ("int", ())}, (t, tuple(rest)), depth - 1)
        return f"map(fun {i} -> {body}, iota({n}))", lambda e: np.stack([f({**e, i: np.int64(x)}) for x in range(n)])

    def gather(self, env, wanted, depth):
        """Elements chosen by their index; the function `gather` keeps the length."""
        t, (n, *rest) = wanted
        i = self.name("i")
        if self.rng.random() < 0.25:
            length = self.rng.choice(LENGTHS)
            text, a = self.array(env, (t, (length, *rest)), depth - 1)
            index, at = self.index_input(length, (n,))
            return f"map(fun {i} -> at({i}, {text}), {index})", lambda e: np.stack([a(e)[x] for x in at(e)])
        if self.rng.random() < 0.3:
            factor, offset = self.rng.choice([(1, 0), (-1, n - 1), (0, n // 2)])
            return self.part(env, wanted, depth, f"gather(fun {i} -> {factor} * {i} + {offset}, {{}})", n,
                             lambda a: np.stack([a[factor * x + offset] for x in range(n)]))
        factor = self.rng.choice([1, 1, 2, 3, -1, -2, 0])
        offset = self.rng.randint(0, 2) - min(0, factor * (n - 1))
        length = max(offset, offset + factor * (n - 1)) + 1 + self.rng.randint(0, 1)
        text, a = self.array(env, (t, (length, *rest)), depth - 1)
        return (f"map(fun {i} -> at({offset} + {i} * {factor}, {text}), iota({n}))",
                lambda e: np.stack([a(e)[offset + factor * x] for x in range(n)]))

    def scan(self, env, wanted, depth):
        t, (n,) = wanted
        text, a = self.array(env, wanted, depth - 1)
        s, v = self.name("s"), self.name("v")
        filters = [(f"fun {s} {v} -> {s} * 0.5 + {v}", 1, lambda x, y: x * 0.5 + y)] if t == "float" else [
            (f"fun {s} {v} -> {s} * 3 - {v}", 1, lambda x, y: x * 3 - y)]
        name, zero, f = self.rng.choice([("add", 0, lambda x, y: x + y), ("max", -20, max), *filters])

        def scanned(e):
            total, out = (np.float64 if t == "float" else np.int64)(zero), []
            for x in a(e):
                total = f(total, x) if t == "float" else wrap(f(total, x))
                out.append(total)
            return np.stack(out)
        return f"scan({name}, {zero}{'.0' if t == 'float' else ''}, {text})", scanned

    # ---- accumulators that are arrays ----

    def fold(self, env, wanted, depth):
        options = [(3, lambda: self.fold_rows(env, wanted, depth)), (1, lambda: self.fold_tuples(env, wanted, depth))]
        if len(wanted[1]) == 1:
            options.append((1, lambda: self.histogram(env, wanted, depth)))
        else:
            options += [(1, lambda: self.running(env, wanted, depth)), (1, lambda: self.outer(env, wanted, depth))]
        return self.choose(options)

    def joiner(self, t):
        """Two values of type t: name, NumPy."""
        return self.rng.choice([("add", (lambda a, b: a + b) if t == "float" else (lambda a, b: wrap(a + b))),
                                ("max", np.maximum), ("min", np.minimum)])

    @staticmethod
    def each(f, shape, *arrays):
        """f of the elements of arrays of a shape."""
        k = "" if len(shape) == 1 else str(len(shape))
        return f"map{k}({f}, zip{k}({', '.join(arrays)}))"

    def fold_rows(self, env, wanted, depth):
        t, shape = wanted
        m = self.rng.choice([1, 2, 3, 4, 6])
        text, a = self.array(env, (t, (m, *shape)), depth - 1)
        first, z = self.array(env, wanted, depth - 2)
        s, row, (name, f) = self.name("s"), self.name("r"), self.joiner(t)

        def folded(e):
            total = z(e)
            for x in a(e):
                total = f(total, x)
            return total
        function = f"fun {s} {row} -> {self.each(name, shape, s, row)}"
        if m % 2 == 0 and self.rng.random() < 0.3:  # in two steps, the inner one from the accumulator
            u, part = self.name("u"), self.name("p")
            return f"reduce(fun {u} {part} -> reduce({function}, {u}, {part}), {first}, split({m // 2}, {text}))", folded
        return f"reduce({function}, {first}, {text})", folded

    def fold_tuples(self, env, wanted, depth):
        """Two arrays, or an array and the number of what it is made of."""
        t, shape = wanted
        text, a = self.array(env, (t, (self.rng.choice([1, 2, 3, 5]), *shape)), depth - 1)
        first, z = self.array(env, wanted, depth - 2)
        s, q, row, (name, f), (other, g) = self.name("s"), self.name("q"), self.name("r"), self.joiner(t), self.joiner(t)
        one = "1.0" if t == "float" else "1"
        zero = "0.0" if t == "float" else "0"
        counted = self.rng.random() < 0.5

        def folded(e):
            total, most = z(e), 0 if counted else z(e)
            for x in a(e):
                total = f(total, x)
                most = most + 1 if counted else g(most, x)
            return total - most if t == "float" else wrap(total - most)
        step = f"{q} + {one}" if counted else self.each(other, shape, q, row)
        u, w, x = self.name("u"), self.name("w"), self.name("x")
        end = (self.mapped(f"fun {x} -> {x} - {w}", u, shape) if counted and len(shape) == 1 else
               self.each(f"fun ({x}, {x}b) -> {x} - {x}b", shape, u, w) if not counted else
               f"map{len(shape)}(fun {x} -> {x} - {w}, {u})")
        return (f"(let ({u}, {w}) = reduce(fun (({s}, {q}), {row}) -> ({self.each(name, shape, s, row)}, {step}), "
                f"({first}, {zero if counted else first}), {text}) in {end})", folded)

    def histogram(self, env, wanted, depth):
        """Adds each number to the place that an index by data says."""
        t, (n,) = wanted
        m = self.rng.choice(LENGTHS)
        index, at = self.index_input(n, (m,))
        text, a = self.array(env, (t, (m,)), depth - 1)
        first, z = self.array(env, wanted, depth - 2)
        s, b, x, i, v = (self.name(c) for c in "sbxiv")

        def filled(e):
            total = np.array(z(e))
            for k, y in zip(at(e), a(e)):
                total[k] = total[k] + y if t == "float" else wrap(total[k] + y)
            return total
        return (f"reduce(fun {s} ({b}, {x}) -> map(fun ({i}, {v}) -> if {i} == {b} then {v} + {x} else {v}, "
                f"zip(iota({n}), {s})), {first}, zip({index}, {text}))", filled)

    def running(self, env, wanted, depth):
        """Row i is made of rows 0 to i."""
        t, (n, *rest) = wanted
        text, a = self.array(env, wanted, depth - 1)
        first, z = self.array(env, (t, tuple(rest)), depth - 2)
        s, row, (name, f) = self.name("s"), self.name("r"), self.joiner(t)

        def scanned(e):
            total, out = z(e), []
            for x in a(e):
                total = f(total, x)
                out.append(total)
            return np.stack(out)
        return f"scan(fun {s} {row} -> {self.each(name, rest, s, row)}, {first}, {text})", scanned

    def outer(self, env, wanted, depth):
        """A matrix that is made of columns and rows, as a product is."""
        t, (n, m, *rest) = wanted
        if rest:
            return self.fold_rows(env, wanted, depth)
        k = self.rng.choice([1, 2, 3, 4])
        (ta, a), (tb, b) = self.array(env, (t, (k, n)), depth - 1), self.array(env, (t, (k, m)), depth - 1)
        first, z = self.array(env, wanted, depth - 2)
        s, c, r, p, x, q, y = (self.name(letter) for letter in "scrpxqy")

        def made(e):
            total = z(e)
            for u, w in zip(a(e), b(e)):
                total = np.maximum(total, (u[:, None] + w[None, :]) if t == "float" else wrap(u[:, None] + w[None, :]))
            return total
        return (f"reduce(fun {s} ({c}, {r}) -> map(fun ({p}, {x}) -> map(fun ({q}, {y}) -> max({q}, {x} + {y}), "
                f"zip({p}, {r})), zip({s}, {c})), {first}, zip({ta}, {tb}))", made)

    def scatter(self, wanted, depth):
        """Element i goes to place (factor * i + offset) % n."""
        t, (n, *rest) = wanted
        text, a = self.array({}, wanted, depth)
        factor = self.rng.choice([k for k in range(1, n + 1) if np.gcd(k, n) == 1])
        offset, i = self.rng.randrange(n), self.name("i")
        places = [(factor * x + offset) % n for x in range(n)]

        def scattered(e):
            x = a(e)
            out = np.empty_like(x)
            out[places] = x
            return out
        return f"scatter(fun {i} -> ({factor} * {i} + {offset}) % {n}, {text})", scattered

    def concat(self, env, wanted, depth):
        t, (n, *rest) = wanted
        m = self.rng.randrange(1, n)
        (ta, a), (tb, b) = self.array(env, (t, (m, *rest)), depth - 1), self.array(env, (t, (n - m, *rest)), depth - 2)
        return f"concat({ta}, {tb})", lambda e: np.concatenate([a(e), b(e)])

    def pad(self, env, wanted, depth):
        t, (n, *rest) = wanted
        left = self.rng.randint(0, min(2, n - 2))
        right = self.rng.randint(0, min(2, n - 2 - left))
        text, a = self.array(env, (t, (n - left - right, *rest)), depth - 1)
        width = [(left, right)] + [(0, 0)] * len(rest)
        border, mode = self.rng.choice([("clamp", "edge"), ("mirror", "symmetric"), ("wrap", "wrap"), ("", "")])
        if not border or max(left, right) > n - left - right:
            v, number = self.literal(t)
            return f"padConstant({left}, {right}, {v}, {text})", lambda e: np.pad(
                a(e), width, mode="constant", constant_values=number(e))
        return f"pad({left}, {right}, {border}, {text})", lambda e: np.pad(a(e), width, mode=mode)

    def pad_both(self, env, wanted, depth):
        t, (n, m, *rest) = wanted
        text, a = self.array(env, (t, (n - 2, m - 2, *rest)), depth - 1)
        border, mode = self.rng.choice([("clamp", "edge"), ("mirror", "symmetric"), ("wrap", "wrap"), ("", "")])
        width = [(1, 1), (1, 1)] + [(0, 0)] * len(rest)
        if not border:
            v, number = self.literal(t)
            return f"padConstant2(1, 1, {v}, {text})", lambda e: np.pad(
                a(e), width, mode="constant", constant_values=number(e))
        return f"pad2(1, 1, {border}, {text})", lambda e: np.pad(a(e), width, mode=mode)

    def slide(self, env, wanted, depth):
        t, (n, k, *rest) = wanted
        step = self.rng.choice([1, 1, 1, 2, k])
        length = (n - 1) * step + k + self.rng.randint(0, step - 1)
        text, a = self.array(env, (t, (length, *rest)), depth - 1)
        return (f"slide({k}, {step}, {text})", lambda e: np.stack([a(e)[i * step:i * step + k] for i in range(n)]))

    def stencil(self, env, wanted, depth):
        """What is computed of elements at constant places of windows."""
        t, (n, *rest) = wanted
        k, step = self.rng.randint(2, 4), self.rng.choice([1, 1, 1, 2])
        length = (n - 1) * step + k
        make = self.pad if length > 2 and self.rng.random() < 0.7 else self.array
        text, a = make(env, (t, (length, *rest)), depth - 1)
        w, names = self.name("w"), [self.name("v") for _ in range(self.rng.randint(2, 3))]
        places = [self.rng.randrange(k) for _ in names]
        body, f = self.expression({**env, **{v: (t, tuple(rest)) for v in names}}, (t, tuple(rest)), depth - 1)
        for v, place in zip(names, places):
            body = f"(let {v} = at({place}, {w}) in {body})"
        return (f"map(fun {w} -> {body}, slide({k}, {step}, {text}))",
                lambda e: np.stack([f({**e, **{v: a(e)[i * step + p] for v, p in zip(names, places)}}) for i in range(n)]))

    def stencil_both(self, env, wanted, depth):
        """The same of windows of two dimensions."""
        t, (n, m) = wanted
        text, a = self.pad_both(env, (t, (n + 2, m + 2)), depth - 1)
        w, names = self.name("w"), [self.name("v") for _ in range(self.rng.randint(2, 4))]
        places = [(self.rng.randrange(3), self.rng.randrange(3)) for _ in names]
        body, f = self.expression({**env, **{v: (t, ()) for v in names}}, (t, ()), depth - 1)
        for v, (y, x) in zip(names, places):
            body = f"(let {v} = at({x}, at({y}, {w})) in {body})"

        def value(e):
            of = a(e)
            return np.array([[f({**e, **{v: of[i + y][j + x] for v, (y, x) in zip(names, places)}}) for j in range(m)]
                             for i in range(n)])
        return f"map2(fun {w} -> {body}, slide2(3, 1, {text}))", value

    def iterate(self, env, wanted, depth):
        t, (n, *rest) = wanted
        text, a = self.array(env, wanted, depth - 1)
        times, v = self.rng.choice([1, 2, 3]), self.name("v")
        if rest or self.rng.random() < 0.4:
            def turned(e):
                x = a(e)
                for _ in range(times):
                    x = np.concatenate([x[1:], x[:1]])
                return x
            if n < 2:
                return text, a
            return f"iterate({times}, fun {v} -> concat(tail({v}), [head({v})]), {text})", turned
        one = "1.0" if t == "float" else "1"
        w = self.name("w")
        return (f"iterate({times}, fun {v} -> map(fun {w} -> {w} + {one}, {v}), {text})",
                lambda e: a(e) + times if t == "float" else wrap(a(e) + times))

    def written_out(self, env, wanted, depth):
        t, (n, *rest) = wanted
        parts = [self.expression(env, (t, tuple(rest)), depth - 1 - (i > 0)) for i in range(n)]
        return "[" + ", ".join(p[0] for p in parts) + "]", lambda e: np.stack([p[1](e) for p in parts])

    # ---- the whole ----

    def outputs(self, shape, depth, env):
        """One to three outputs of the same dimensions: text after `output`, and arrays by name with their types."""
        n = self.rng.choice([1, 1, 1, 2, 3])
        made = []
        for k in range(n):
            name = "out" if n == 1 else f"o{k}"
            t = self.rng.choice(["float", "float", "int"])
            draw = self.rng.random()
            if shape and draw < 0.1:
                made.append(self.updated(name, t, shape, depth, env))
            elif shape and draw < 0.2:
                made.append(self.pairs(name, t, shape, depth, env))
            elif shape and draw < 0.25:
                other = self.rng.choice(["FLOAT", "DOUBLE", "HALF"])
                text, f = self.array(env, ("float", shape), depth - 1)
                made.append((f"{name} = {self.mapped(other, text, shape)}", {name: (other.lower(), shape, f)}))
            else:
                text, f = self.expression(env, (t, shape), depth)
                made.append((f"{name} = {text}", {name: (self.word(t), shape, f)}))
        return made

    def updated(self, name, t, shape, depth, env):
        """An input that is written over, and read at the element's own index."""
        name = "C" + name
        text, f = self.array(env, (t, shape), depth - 1)
        self.declare(name, "", self.word(t), shape, {name: t})
        c, v = self.name("c"), self.name("v")
        function, of = f"fun ({c}, {v}) -> {c} - {v}", f"{name}, {text}"
        if len(shape) == 1:
            whole = f"map({function}, zip({of}))"
        elif len(shape) == 2:
            whole = f"map2({function}, zip2({of}))"
        else:
            whole = f"map3({function}, zip3({of}))"
        minus = (lambda e: e[name] - f(e)) if t == "float" else (lambda e: wrap(e[name] - f(e)))
        return f"{name} = {whole}", {name: (self.word(t), shape, minus)}

    def pairs(self, name, t, shape, depth, env):
        """Tuples of two elements, as two arrays or interleaved."""
        interleaved = self.rng.random() < 0.4
        types = [t, t if interleaved else self.rng.choice(["float", "int"])]
        (ta, a), (tb, b) = (self.array(env, (x, shape), depth - 1) for x in types)
        zipped = f"{['', 'zip', 'zip2', 'zip3'][len(shape)]}({ta}, {tb})"
        if not interleaved:
            return f"{name} = {zipped}", {f"{name}_{k}": (self.word(types[k]), shape, f) for k, f in enumerate((a, b))}
        self.extents.update(shape)
        element = f"({self.word(t)}, {self.word(t)})"
        dims = "[" * len(shape) + element + "".join(f"]N{n}" for n in reversed(shape))
        return (f"{name}: interleaved {dims} = {zipped}",
                {name: (self.word(t), (*shape, 2), lambda e: np.stack([a(e), b(e)], axis=-1))})

    def make(self):
        """Text, sizes, outputs: array -> (scalar type, shape, function)."""
        rank = self.rng.choice([0, 1, 1, 1, 2, 2, 2, 3])
        shape = tuple(self.rng.choice(LENGTHS[:10] if rank < 3 else LENGTHS[:5]) for _ in range(rank))
        depth = self.rng.choice([2, 3, 4, 4, 5])
        env, lets = {}, []
        if shape and self.rng.random() < 0.1:
            t = self.rng.choice(["float", "int"])
            text, f = self.scatter((t, shape), depth)
            made = [(f"out = {text}", {"out": (self.word(t), shape, f)})]
        else:
            shared = None
            if self.rng.random() < 0.2:
                name, kind = self.name("l"), (self.rng.choice(["float", "int"]), self.rng.choice([(), shape]))
                text, shared = self.expression({}, kind, depth - 1)
                lets, env = [f"let {name} = {text}"], {name: kind}
            made = self.outputs(shape, depth, env)
            if shared:
                made = [(text, {a: (t, dims, lambda e, f=f: f({**e, name: shared(e)}))
                                for a, (t, dims, f) in of.items()}) for text, of in made]
        extents = sorted(self.extents)
        lines = [f"size {', '.join(f'N{n}' for n in extents)}"] if extents else []
        body = [*self.functions, *lets, *[f"output {text}" for text, _ in made]]
        body = [re.sub(r"\bfloat\b", self.real, line) for line in body]
        text = "\n".join(lines + self.declared + body) + "\n"
        text = re.sub(r"\b(FLOAT|DOUBLE|HALF)\b", lambda m: m[0].lower(), text)
        outputs = {name: of for _, arrays in made for name, of in arrays.items()}
        return text, ",".join(f"N{n}={n}" for n in extents), outputs

    def data(self):
        """Values of the arrays of the inputs, in the type that they have in a file."""
        numbers = np.random.default_rng(self.rng.randrange(2**32))
        return {name: numbers.integers(low, high + 1, size=dims).astype(NUMPY[t])
                for name, (t, dims, low, high) in self.arrays.items()}


def widened(inputs):
    return {name: x.astype(np.int64 if x.dtype == np.int32 else np.float64) for name, x in inputs.items()}


def lift_run(thresh, base, sizes, inputs, outputs):
    """The results of the interpreter by name; None and a message if it fails."""
    command = [thresh, "lift", "run", base + ".lift"]
    command += ["--size", sizes] if sizes else []
    for name in outputs:
        command += ["--output", f"{name}={base}.{name}.out.npy"]
    for name, value in inputs.items():
        file = f"{base}.{name}.npy"
        np.save(file, value)
        command += ["--input", f"{name}={file}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    return {name: np.load(f"{base}.{name}.out.npy") for name in outputs}, done.stderr


def agrees(got, wanted, t, shape):
    wanted = np.asarray(wanted)
    if got.shape != shape or got.dtype != NUMPY[t]:
        return False
    if t == "int":
        return np.array_equal(got.astype(np.int64), wanted)
    with np.errstate(over="ignore"):
        close = {"float": 1e-6, "double": 1e-11, "half": 1.5e-3}[t]  # of half, rounded twice
        return np.allclose(got.astype(np.float64), wanted.astype(np.float64).astype(NUMPY[t]).astype(np.float64),
                           rtol=close, atol=close * 1e-1, equal_nan=True)


def remove(out, base):
    for file in os.listdir(out):
        if file.split(".")[0] == base:
            os.remove(os.path.join(out, file))


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: experiments/random/programs.py THRESH LEAVES PROGRAMS [SEED]")
    thresh, leaves, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    out = os.environ.get("OUT", "build/random")
    os.makedirs(out, exist_ok=True)
    made, skipped, differ, refused, listed = 0, 0, [], {}, []
    number = 0
    while made < count:
        number += 1
        program = Program(f"{seed}.{number}")
        text, sizes, outputs = program.make()
        if not program.arrays or len(text) > MOST_TEXT or len(program.arrays) + len(outputs) > MOST_ARRAYS:
            skipped += 1
            continue
        base = os.path.join(out, f"p{seed}_{number}")
        with open(base + ".lift", "w") as file:
            file.write(text)
        inputs = program.data()
        wide = widened(inputs)
        wanted = {name: f(wide) for name, (_, _, f) in outputs.items()}
        got, message = lift_run(thresh, base, sizes, inputs, outputs)
        if got is None and "not supported yet" in message:
            reason = message.split("not supported yet: ")[1].split("\n")[0]
            refused[reason] = refused.get(reason, 0) + 1
            remove(out, os.path.basename(base))
            continue
        made += 1
        if got is None or not all(agrees(got[name], wanted[name], t, shape) for name, (t, shape, _) in outputs.items()):
            differ.append(base)
            print(f"{base}.lift: {message.strip() or 'another result'}", file=sys.stderr)
            continue
        listed.append(f"{base}.lift\t{sizes}\n")
    done = subprocess.run([leaves, str(IMPLEMENTATIONS), str(seed)], input="".join(listed), capture_output=True,
                          text=True)
    implementations = right = sequences = 0
    for line in done.stdout.splitlines():
        words = line.split("\t")
        if len(words) != 3:
            print(line, file=sys.stderr)
            continue
        base, verdict, rest = words[0][:-len(".lift")], words[1], words[2]
        if verdict == "ok":
            implementations += int(rest.split()[0])
            right += 1
            sequences += rest.endswith("kernels")
            remove(out, os.path.basename(base))
        elif verdict == "refused":
            reason = rest.split("error: ")[-1]
            refused[reason] = refused.get(reason, 0) + 1
            remove(out, os.path.basename(base))
        else:
            differ.append(base)
            print(line, file=sys.stderr)
    print(f"{made} programs ({skipped} without an input or too long are not counted): {len(differ)} differ")
    print(f"{right} lowered, {implementations} implementations of them run")
    print(f"{sequences} of them as several kernels, for their scans")
    for reason, n in sorted(refused.items(), key=lambda x: -x[1]):
        print(f"refused {n}: {reason}")
    sys.exit(1 if differ else 0)


main()
