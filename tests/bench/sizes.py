"""How much is measured: everything, what fits into two minutes, or just so much that a test sees it run."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Cell:
    """Deliveries with so many processes and threads of each, at so many seconds that a call of the CRM takes."""

    processes: int
    threads: int
    latency: float

    @property
    def at_once(self) -> int:
        return self.processes * self.threads


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of one run of the bench; times are in seconds.

    `brief`: of the door only a null view and a form.
    `clients` are connections at once.  `paced_for`: how long deliveries come at an even pace.  `stored`: numbers of
    events in the databases whose growth is measured.  `waves`: how many deliveries each thread of a worker gets.
    `flows`: deliveries a second that arrive while workers of `flow_cell` work.
    """

    brief: bool = False
    rounds: int = 5
    seconds: float = 2.0
    clients: tuple[int, ...] = (8, 32)
    paced_for: float = 30.0
    stored: tuple[int, ...] = (1_000, 1_000_000)
    repeats: int = 200
    held_back: int = 3_000
    cells: tuple[Cell, ...] = (
        Cell(2, 8, 0.05),
        Cell(2, 8, 0.2),
        Cell(2, 8, 1.0),
        Cell(2, 32, 0.05),
        Cell(2, 64, 0.2),
        Cell(4, 64, 0.2),
        Cell(2, 64, 1.0),
    )
    waves: int = 4
    flows: tuple[float, ...] = (20.0, 100.0)
    flow_cell: Cell = Cell(2, 64, 0.1)
    starts: int = 5


FULL = Sizes()
QUICK = replace(
    FULL,
    rounds=2,
    seconds=1.0,
    paced_for=5.0,
    stored=(1_000, 30_000),
    repeats=50,
    held_back=300,
    cells=(Cell(2, 8, 0.05), Cell(2, 8, 0.2)),
    waves=3,
    flows=(10.0,),
    flow_cell=Cell(2, 16, 0.05),
    starts=2,
)
TINY = replace(
    QUICK,
    brief=True,
    rounds=1,
    seconds=0.2,
    clients=(2,),
    paced_for=0.2,
    stored=(10, 100),
    repeats=3,
    held_back=5,
    cells=(Cell(1, 2, 0.01),),
    waves=2,
    flow_cell=Cell(1, 2, 0.01),
    starts=1,
)
