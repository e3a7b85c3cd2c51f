"""Partitions: teams of ranks, with a Cartesian shape or without."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np

from . import _core

Ints = SupportsIndex | Iterable[SupportsIndex]


def integers(values: Any, what: str) -> list[int]:
    """One integer or several, of Python's or NumPy's, as a list."""
    try:
        if isinstance(values, np.ndarray):
            values = values.reshape(-1) if values.ndim == 0 else values
        if hasattr(values, "__index__") and not isinstance(values, np.ndarray):
            return [operator.index(values)]
        return [operator.index(one) for one in values]
    except TypeError:
        raise TypeError(f"got {what} {values!r}, expected whole numbers") from None


def counts(values: Any, what: str) -> list[int]:
    """Integers that are not negative."""
    found = integers(values, what)
    if any(one < 0 for one in found):
        raise ValueError(f"got {what} {found}, expected none below 0")
    return found


def _truths(keep: Any) -> list[bool]:
    """A truth value for each axis; 0 and 1 will do."""
    values = list(keep) if isinstance(keep, Iterable) and not isinstance(keep, (str, bytes)) else [None]
    if not all(isinstance(one, (bool, np.bool_, int, np.integer)) and one in (0, 1) for one in values):
        raise TypeError(f"got {keep!r}, expected a truth value for each axis, if it is kept")
    return [bool(one) for one in values]


class Partition:
    """A team of ranks, seen from one rank, which may be in it (*active*) or not.

    `world()` is the partition of all ranks; the others are made of it. Making one sends no message,
    and every rank may make it, in it or not. `Partition()` is the null partition, without a team.

    Two partitions are equal if they come from the same world and have the same members in the same
    order and the same shape. Null partitions are equal to nothing.

    >>> import pantile as pt
    >>> def grid():
    ...     return pt.world().create_cartesian_topology_partition((2, 3)).index
    >>> pt.spmd(grid, ranks=6)
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    """

    __slots__ = ("_team",)
    _team: _core.Team

    def __init__(self) -> None:
        self._team = _core.Team.null()

    @classmethod
    def _of(cls, team: _core.Team) -> Partition:
        made = cls.__new__(cls)
        made._team = team
        return made

    # ---- what it is

    @property
    def active(self) -> bool:
        """True if this rank is a member."""
        return self._team.rank is not None

    @property
    def rank(self) -> int | None:
        """This rank's place in the team; `None` outside."""
        return self._team.rank

    @property
    def size(self) -> int:
        """Number of members; -1 outside."""
        size = self._team.size
        return -1 if size is None else size

    @property
    def shape(self) -> tuple[int, ...]:
        """The Cartesian shape; `(size,)` without one. Outside only a Cartesian shape is known: else
        it is `(-1,)`.
        """
        shape = self._team.shape
        return (-1,) if shape is None else tuple(shape)

    @property
    def dim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def index(self) -> tuple[int, ...] | int | None:
        """This rank's coordinates; its rank without a Cartesian shape; `None` outside."""
        if not self._team.is_cartesian:
            return self._team.rank
        index = self._team.index
        return None if index is None else tuple(index)

    @property
    def members(self) -> list[int]:
        """The members as ranks of the root team, in order. Known to every rank."""
        return self._team.members

    def __eq__(self, other: object) -> bool:
        return self._team.same(other._team) if isinstance(other, Partition) else NotImplemented

    def __hash__(self) -> int:
        return hash((tuple(self._team.members), tuple(self._team.full_shape)))

    def __repr__(self) -> str:
        if self._team.is_null:
            return "Partition()"
        shape = "x".join(map(str, self._team.full_shape))
        shape = f", shape {shape}" if self._team.is_cartesian else ""
        place = "inactive" if self.rank is None else f"rank {self.rank}"
        return f"Partition({self.members}{shape}, {place})"

    def __reduce__(self) -> Any:
        raise TypeError("a partition belongs to its rank and cannot be sent elsewhere")

    # ---- others made of it

    def create_partition_inclusive(self, ranks: Ints) -> Partition:
        """The members with these ranks *of this partition*, in the order given.

        >>> import pantile as pt
        >>> pt.spmd(lambda: pt.world().create_partition_inclusive([2, 0]).rank, ranks=3)
        [1, None, 0]
        """
        return self._of(self._team.inclusive(counts(ranks, "ranks")))

    def create_partition_union(self, other: Partition) -> Partition:
        """The members of this partition in their order, then those of the other that are new."""
        return self._of(self._team.union(team_of(other)))

    def create_cartesian_topology_partition(self, shape: Ints) -> Partition:
        """The same members as a grid, row-major."""
        return self._of(self._team.cartesian(counts(shape, "shape")))

    def create_cartesian_subtopology_partition(self, keep: Iterable[Any]) -> Partition:
        """The members that share this rank's coordinates on the axes that are not kept, with the
        kept extents as shape; the null partition outside.

        >>> import pantile as pt
        >>> def rows():
        ...     grid = pt.world().create_cartesian_topology_partition((2, 2))
        ...     return grid.create_cartesian_subtopology_partition([False, True]).members
        >>> pt.spmd(rows, ranks=4)
        [[0, 1], [0, 1], [2, 3], [2, 3]]
        """
        if self._team.is_null:
            return Partition()
        return self._of(self._team.subtopology(_truths(keep)))

    def create_allreduction_partition(self, axes: Ints) -> Partition:
        """The members with which this rank sums over these axes, as a grid of as many axes as this
        one; the null partition outside.
        """
        if self._team.is_null:
            return Partition()
        return self._of(self._team.allreduction(integers(axes, "axes")))

    def create_broadcast_partition_to(
        self, P_dest: Partition, transpose_src: bool = False, transpose_dest: bool = False
    ) -> tuple[Partition, Partition]:
        """The group in which this rank sends copies, as its first member, and the one in which it
        receives them: `(P_send, P_recv)`. Null where it does not. The flags reverse a shape before
        the two are compared.
        """
        flags = bool(transpose_src), bool(transpose_dest)
        send, receive = self._team.broadcast_to(team_of(P_dest), *flags)
        return self._of(send), self._of(receive)

    def create_reduction_partition_to(
        self, P_dest: Partition, transpose_src: bool = False, transpose_dest: bool = False
    ) -> tuple[Partition, Partition]:
        """The group in which this rank sends terms, and the one in which it receives their sum, as
        its first member: `(P_send, P_recv)`. Null where it does not.
        """
        flags = bool(transpose_src), bool(transpose_dest)
        send, receive = self._team.reduction_to(team_of(P_dest), *flags)
        return self._of(send), self._of(receive)

    # ---- places of members

    def cartesian_index(self, rank: SupportsIndex) -> tuple[int, ...]:
        """The coordinates of a member. An error on ranks outside."""
        return tuple(self._team.cartesian_index(counts(rank, "rank")[0]))

    def neighbor_ranks(self, rank: SupportsIndex) -> list[tuple[int | None, int | None]]:
        """The neighbours of a member along each axis, left and right; `None` beyond an edge. An
        error on ranks outside.

        >>> import pantile as pt
        >>> def mine():
        ...     line = pt.world().create_cartesian_topology_partition([3])
        ...     return line.neighbor_ranks(line.rank)
        >>> pt.spmd(mine, ranks=3)
        [[(None, 1)], [(0, 2)], [(1, None)]]
        """
        return self._team.neighbor_ranks(counts(rank, "rank")[0])

    # ---- plain data

    def broadcast_data(
        self, data: Any = None, root: SupportsIndex = 0, P_data: Partition | None = None
    ) -> np.ndarray[Any, Any] | None:
        """The data of the member `root`, on every member, with at least one axis; `None` outside.

        Only the root's data is looked at. With `P_data`, a part of this partition, `root` is a rank
        of that. Collective.

        >>> import pantile as pt
        >>> def told():
        ...     everyone = pt.world()
        ...     return everyone.broadcast_data([1.5, 2.5] if everyone.rank == 1 else None, root=1)
        >>> pt.spmd(told, ranks=2)
        [array([1.5, 2.5]), array([1.5, 2.5])]
        """
        holders = self if P_data is None else P_data
        ranks = team_of(holders).members
        place = integers(root, "root")[0]
        mine = self.members
        if not 0 <= place < len(ranks) or ranks[place] not in mine:
            known = f"one below {len(ranks)}" if P_data is None else "a member of P_data and this"
            raise ValueError(f"got root {place}, expected {known}")
        if not self.active:
            return None
        giver = mine.index(ranks[place])
        record = _record(data) if giver == self.rank else b""
        records = self._team.gather("broadcast_data", f"{ranks[place]}", record)
        return _opened(records[giver], mine[giver], "broadcast_data")

    def allgather_data(self, data: Any) -> np.ndarray[Any, Any] | None:
        """Data of every member, equal in type and shape: row r is that of rank r, of at least one
        axis; `None` outside. Collective.
        """
        if not self.active:
            return None
        records = self._team.gather("allgather_data", "", _record(data))
        rows = [
            _opened(record, rank, "allgather_data") for record, rank in zip(records, self.members)
        ]
        for rank, row in zip(self.members, rows):
            if (row.shape, row.dtype) != (rows[0].shape, rows[0].dtype):
                raise ValueError(
                    f"allgather_data: rank {self.members[0]} has {rows[0].shape} of {rows[0].dtype}, "
                    f"but rank {rank} has {row.shape} of {row.dtype}, expected equal ones"
                )
        return np.stack(rows)


def team_of(partition: Any) -> _core.Team:
    """The team of what should be a partition."""
    if not isinstance(partition, Partition):
        raise TypeError(f"got {type(partition).__name__}, expected a Partition")
    return partition._team


def _record(data: Any) -> bytes:
    """Data as it travels, or why it cannot."""
    if data is None:
        return pickle.dumps("got None, expected data")
    try:
        array = np.atleast_1d(np.asarray(data))
    except Exception as error:
        return pickle.dumps(f"got data that is no array: {error}")
    if array.dtype.hasobject:
        return pickle.dumps(f"got data of type {array.dtype}, expected numbers")
    return pickle.dumps(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")))


def _opened(record: bytes, rank: int, name: str) -> np.ndarray[Any, Any]:
    """Data that has travelled; what its giver could not send is an error on every member."""
    found = pickle.loads(record)
    if isinstance(found, str):
        raise TypeError(f"{name}: rank {rank} {found}")
    assert isinstance(found, np.ndarray)
    return found
