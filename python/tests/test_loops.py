"""Loops of many time steps: planned once, in memory that does not grow."""

import os

import numpy as np
import pytest

import pantile as pt

STEPS, WARM, SIZE = 1000, 100, 48
RATE = 0.1
# What the allocators of threads may take at any time; an array lost in each step would be more.
SOME = 12 << 20


def resident():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def step(u):
    """One step of the heat equation, on arrays of either library."""
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] += RATE * (around - 4 * u[1:-1, 1:-1])


def start(make):
    u = make((SIZE, SIZE))
    u[16:32, 16:32] = 100.0
    return u


@pytest.fixture(scope="module")
def expected():
    """What NumPy makes of it."""
    u = start(np.zeros)
    for _ in range(STEPS):
        step(u)
    return u


@pytest.fixture(scope="module")
def ranks():
    """As many as the environment says."""
    pt.init()


def run(u, steps, every):
    """So many steps; computed after each `every` of them, or never."""
    for at in range(1, steps + 1):
        step(u)
        if every and at % every == 0:
            u.compute()


@pytest.mark.parametrize("every", [1, 10])
def test_a_loop_is_planned_once_and_its_memory_stays_flat(ranks, expected, every):
    u = start(lambda shape: pt.zeros(shape, dist=0)).compute()
    with pt.comm_stats() as warm:
        run(u, WARM, every)
    # The first turns find the array fresh, the others find the memory of the turns before.
    assert warm.planned <= 3
    before = resident()
    with pt.comm_stats() as stats:
        run(u, STEPS - WARM, every)
    grown = resident() - before
    assert stats.planned == 0
    assert grown < SOME, f"{grown} bytes more"
    np.testing.assert_array_equal(np.asarray(u), expected)


def test_a_loop_with_numbers_that_are_looked_at(ranks):
    """Sums on the way, and the names of the arrays given anew in every turn."""
    a, b = pt.ones((SIZE, SIZE), dist=0), pt.zeros((SIZE, SIZE), dist=0)
    seen = []

    def turns(count):
        nonlocal a, b
        for _ in range(count):
            a, b = b + 0.5 * a, a
            seen.append(float(a.sum()))

    turns(WARM)
    before = resident()
    with pt.comm_stats() as stats:
        turns(STEPS - WARM)
    assert stats.planned == 0
    assert resident() - before < SOME
    assert len(seen) == STEPS


def test_a_loop_that_nobody_looks_at(ranks, expected):
    """What is recorded runs by itself now and then: memory has a bound, and the result is the same."""
    u = start(lambda shape: pt.zeros(shape, dist=0)).compute()
    before = resident()
    with pt.comm_stats() as stats:
        run(u, STEPS, None)
        u.compute()
    # It runs where the record is full, which need not be the end of a step: a few programs.
    assert stats.planned <= 16
    assert resident() - before < 400 << 20
    np.testing.assert_array_equal(np.asarray(u), expected)


@pytest.mark.parametrize("every", [50, None])
def test_a_loop_that_keeps_an_element_of_every_step(ranks, every):
    """The elements are numbers: they keep no array of an earlier step alive."""
    u, plain = (np.ones((512, 512)), np.ones((512, 512)))
    u, probes, expected = pt.asarray(u, dist=0), [], []
    before = resident()
    for at in range(200):
        u[1:-1, 1:-1] = 0.5 * (u[:-2, 1:-1] + u[2:, 1:-1]) + at
        plain[1:-1, 1:-1] = 0.5 * (plain[:-2, 1:-1] + plain[2:, 1:-1]) + at
        probes.append(u[at % 512, 3])
        expected.append(plain[at % 512, 3])
        if every and at % every == 0:
            u.compute()
    u.compute()
    # A step's array has 2 MiB.
    assert resident() - before < 64 << 20
    assert [float(probe) for probe in probes] == expected
