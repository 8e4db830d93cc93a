"""Lower bounds of squared distances on a card, for units that hold large feature sets against each other.

The bounds are those of `evaluation/metrics/feature_sets/points.py` and as wrong as theirs at most, so results are the
same to the last digit. Only pairs under a limit leave the card.
"""

from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics.feature_sets.points import NO_HITS, Device, Hits, LowerBounds, PointSet, Singles

if TYPE_CHECKING:
    import torch


def choose_device(name: str) -> Device:
    """A device for `manifold_metrics` and its like: *cuda*, *cuda:1* or *cpu*, as torch names it."""

    def bounds(first: PointSet, second: PointSet) -> LowerBounds:
        return CardBounds(first, second, name)

    return bounds


class CardBounds:
    """Both sets of points on a card, in float32 without the shorter formats that cards have for products."""

    def __init__(self, first: PointSet, second: PointSet, name: str) -> None:
        self.name = name
        self.rows, self.row_lengths = self._move(first)
        self.columns, self.column_lengths = (self.rows, self.row_lengths) if second is first else self._move(second)

    def block(self, rows: slice, columns: slice) -> Singles:
        found: Singles = self._block(rows, columns).cpu().numpy()
        return found

    def below(
        self, rows: slice, columns: slice, row_limits: Singles | None, column_limits: Singles | None
    ) -> tuple[Hits, Hits]:
        import torch

        found = self._block(rows, columns)

        def hits(limits: Singles | None, across: bool) -> Hits:
            if limits is None:
                return NO_HITS
            moved = torch.from_numpy(np.ascontiguousarray(limits)).to(self.name)
            row, column = torch.nonzero(found < (moved if across else moved[:, None]), as_tuple=True)
            lower: Singles = found[row, column].cpu().numpy()
            return Hits(row.cpu().numpy() + rows.start, column.cpu().numpy() + columns.start, lower)

        return hits(row_limits, False), hits(column_limits, True)

    def _block(self, rows: slice, columns: slice) -> "torch.Tensor":
        import torch

        exact = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            found = torch.matmul(self.rows[rows], self.columns[columns].T)
        finally:
            torch.set_float32_matmul_precision(exact)
        return found.mul_(-2).add_(self.row_lengths[rows, None]).add_(self.column_lengths[columns])

    def _move(self, points: PointSet) -> "tuple[torch.Tensor, torch.Tensor]":
        import torch

        moved = torch.empty((len(points), points.width), dtype=torch.float32, device=self.name)
        lengths = torch.empty(len(points), dtype=torch.float32, device=self.name)
        for part in points.parts():
            moved[part] = torch.from_numpy(points.centred(part))
            lengths[part] = torch.from_numpy(points.lengths(part))
        return moved, lengths
