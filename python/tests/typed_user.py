"""A program as a careful user writes it: `test_types.py` has it checked, strictly, and runs it.

Lines that end in an ignored error are mistakes that a checker has to find: it complains about an ignored
error that is none.
"""

from typing import Any, assert_type

import numpy as np

import pantile as pt


def creation() -> pt.Array:
    grid = pt.Mesh(x=1, y=1)
    a = pt.zeros((4, 3), dist=0)
    assert_type(a, pt.Array)
    assert_type(pt.ones(5, dtype=pt.int8, dist=None), pt.Array)
    assert_type(pt.full([2, 2], 1j, dist="bc"), pt.Array)
    assert_type(pt.empty_like(a, dtype="float32"), pt.Array)
    assert_type(pt.arange(0, 10, 2, dist="auto"), pt.Array)
    assert_type(pt.linspace(0.0, 1.0, 5, endpoint=False), pt.Array)
    assert_type(pt.eye(3, k=1), pt.Array)
    assert_type(pt.asarray([[1, 2], [3, 4]], dist=("x", None), mesh=grid), pt.Array)
    assert_type(pt.asarray(np.ones(3)), pt.Array)
    assert_type(pt.meshgrid(pt.arange(2), pt.arange(3), indexing="ij"), list[pt.Array])
    assert_type(pt.from_callback((4, 3), 0, lambda part: np.ones((4, 3))[part]), pt.Array)
    assert_type(pt.random.default_rng(1).normal(0.0, 1.0, (2, 3), dist=1), pt.Array)
    return a


def distributions(a: pt.Array) -> None:
    mesh = pt.Mesh((1, 1), axes=("x", "y"), team=None)
    tiles = pt.Distribution((4, 3), mesh, [pt.Block("x", halo=(1, 0)), pt.Cyclic("y", block=2)])
    assert_type(tiles, pt.Distribution)
    assert_type(tiles.owner((1, 1)), int | None)
    assert_type(tiles.mesh, pt.Mesh)
    labels = pt.Indexed("x", [[3, 1, 0, 2]], one_to_one=True)
    terms = pt.Distribution((4, 3), mesh, [labels, pt.Whole()], terms={"y": "sum"})
    assert_type(pt.Distribution.from_letters((4, 3), "bc", grid=(1, 1)), pt.Distribution)
    plan = pt.plan(terms, "4x3 on r=1: block(r), whole")
    assert_type(plan.matrix(halo=True).shape, tuple[Any, ...])
    assert_type(plan.transfers[0].elements, int)
    assert_type(plan.estimate().seconds, float)
    assert_type(plan.adjoint().messages + plan.bytes(8), int)
    assert_type(plan.draw(), pt.Picture)
    assert_type(a.with_halo(1, periodic=True), pt.Array)
    assert_type(pt.map_blocks(np.sqrt, a, dtype=pt.float64), pt.Array)
    assert_type(pt.map_overlap(lambda tile: tile, a, depth=1, boundary="reflect"), pt.Array)
    assert_type(pt.stencil(a, {(0, 1): 1.0}), pt.Array)


def elementwise(a: pt.Array) -> pt.Array:
    b = 2 * pt.sin(a) + pt.exp(-a) / 3 - a**2
    assert_type(b, pt.Array)
    assert_type(pt.maximum(a, 0.0), pt.Array)
    assert_type(pt.atan2(np.ones((4, 3)), a), pt.Array)
    assert_type(pt.where(a > 0, a, -1), pt.Array)
    assert_type(pt.clip(a, 0, None), pt.Array)
    assert_type(pt.astype(a, pt.float32, copy=False), pt.Array)
    assert_type(a == b, pt.Array)
    assert_type((a < b) & ~(a != b), pt.Array)
    assert_type(a + np.ones((4, 3)), pt.Array)
    assert_type(1 - a, pt.Array)
    assert_type(abs(-a), pt.Array)
    b += 1
    assert_type(b, pt.Array)
    return b


def reductions(a: pt.Array) -> float:
    assert_type(a.sum(axis=0, keepdims=True), pt.Array)
    assert_type(pt.mean(a, axis=(0, 1)), pt.Array)
    assert_type(pt.std(a, correction=1), pt.Array)
    assert_type(pt.argmax(a, axis=-1), pt.Array)
    assert_type(pt.all(a == a), pt.Array)
    assert_type(bool(pt.any(a > 0)), bool)
    assert_type(pt.compute(a, a + 1), tuple[pt.Array, ...])
    return float(a.max())


def slicing(a: pt.Array) -> None:
    assert_type(a[1:, 0], pt.Array)
    assert_type(a[..., None, ::-1], pt.Array)
    a[1:-1] = 0.25 * (a[:-2] + a[2:])
    a[a > 3] = 3.0
    for row in a:
        assert_type(row, pt.Array)
    assert_type(a.shape, tuple[int, ...])
    assert_type(a.ndim, int)
    assert_type(a.T, pt.Array)
    assert_type(pt.concat([a, a], axis=1), pt.Array)
    assert_type(pt.reshape(a, (-1,)), pt.Array)
    assert_type(pt.unstack(a), tuple[pt.Array, ...])


def places(a: pt.Array) -> None:
    home = a.dist
    assert_type(home, pt.Distribution)
    assert_type(home.mesh, pt.Mesh)
    assert_type(a.redistribute(1).redistribute(home), pt.Array)
    for section in a.sections:
        assert_type(section, pt.Section)
        assert_type(section.rank, int)
        section.data.sum()
        assert_type(section.__distarray__(), dict[str, Any])
        assert_type(pt.dap.validate(section), list[tuple[str, str]])
    assert_type(pt.from_dlpack(np.arange(3)), pt.Array)
    assert_type(pt.from_distarray(a.sections).exchange(), pt.Array)
    with pt.comm_stats() as stats, pt.no_comm():
        (a + 1).compute()
    assert_type(stats.bytes, int)
    assert_type(a.explain(), str)
    assert_type(pt.ranks(), int)
    assert_type(np.asarray(a).shape, tuple[Any, ...])


def rank() -> tuple[int, list[int]]:
    everyone = pt.world()
    assert_type(everyone, pt.Partition)
    grid = everyone.create_cartesian_topology_partition((1, everyone.size))
    assert_type(grid.shape, tuple[int, ...])
    row = pt.halos((3, 4), grid.shape, (1, 1))[grid.rank or 0]
    assert_type(row, pt.Halo)
    y = pt.HaloExchange(grid, row).forward(np.ones((3, 2)))
    y = pt.AllSumReduce(grid, axes_reduce=(1,)).adjoint(y)
    y = pt.Broadcast(grid, grid, preserve_batch=False).forward(y)
    y = pt.Repartition(grid, grid).forward(pt.AllGather(grid, axes_keep=[0]).forward(y))
    assert_type(y, np.ndarray[Any, Any])
    return int(y.size), everyone.members


def chunks(a: pt.Array) -> None:
    assert_type(pt.pipeline(lambda c: c + 1, a), pt.Array)
    least, total = pt.pipeline(lambda c: (pt.min(c), pt.sum(c)), a, combine=("min", "sum"), chunks=2)
    assert_type(least, pt.Array)
    assert_type(pt.pipeline(lambda c, d: c * d, a, total, split=(0, None)), pt.Array)


def programs() -> None:
    assert_type(pt.spmd(rank, ranks=2), list[tuple[int, list[int]]])


def mistakes(a: pt.Array) -> None:
    pt.sin()  # type: ignore[call-arg]
    pt.sin(a, a)  # type: ignore[call-arg]
    pt.add(x1=a, x2=a)  # type: ignore[call-arg]
    pt.sine(a)  # type: ignore[attr-defined]
    pt.zeros("three")  # type: ignore[arg-type]
    pt.zeros(3, where=0)  # type: ignore[call-arg]
    pt.sum(a, 0)  # type: ignore[call-arg]
    pt.sum(a, axis="rows")  # type: ignore[arg-type]
    a + "one"  # type: ignore[arg-type]
    a.shape = (3,)  # type: ignore[misc]


def main() -> None:
    a = creation()
    reductions(elementwise(a))
    slicing(pt.ones((4, 3), dist=0))
    places(a)
    programs()
    chunks(pt.ones(4))
    distributions(a)


if __name__ == "__main__":
    main()
