"""Which arithmetic of the processor numpy uses: other instructions add in another order, and last digits differ.

A bundle says with which its tables were computed, and its script asks for the same. Imports nothing of the project:
the script reads this file before anything else is there.
"""

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

# Kernels that only processors with these instructions can run; others run on any processor of the last ten years.
NEED = {"SKYLAKEX": "AVX512F", "COOPERLAKE": "AVX512F", "SAPPHIRERAPIDS": "AVX512F", "HASWELL": "AVX2", "ZEN": "AVX2"}


def describe_arithmetic() -> dict[str, Any]:
    """`blas`: kernel of the matrix products, `threads` of it, `instructions`: optional ones that numpy itself uses."""
    library = _blas()
    return {
        "blas": _called(library, "get_corename", ctypes.c_char_p).decode() if library else "",
        "threads": int(_called(library, "get_num_threads", ctypes.c_int)) if library else 0,
        "instructions": [name for name in _optional() if _features().get(name)],
    }


def build_arithmetic_environment(wanted: Mapping[str, Any]) -> dict[str, str]:
    """Variables under which a new process computes as `wanted` says; empty where this one does."""
    present = describe_arithmetic()
    more = [name for name in present["instructions"] if name not in wanted["instructions"]]
    set_to = {"NPY_DISABLE_CPU_FEATURES": " ".join(more)} if more else {}
    if wanted["blas"] and wanted["blas"] != present["blas"] and _can_run(wanted["blas"]):
        set_to["OPENBLAS_CORETYPE"] = wanted["blas"]
    if wanted["threads"] and wanted["threads"] != present["threads"]:
        set_to["OPENBLAS_NUM_THREADS"] = str(wanted["threads"])
    return set_to


def _can_run(kernel: str) -> bool:
    return kernel.upper() in NEED and bool(_features().get(NEED[kernel.upper()]))


def _blas() -> Any:
    """The library that comes with numpy, or None where it is built otherwise."""
    found = sorted((Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*"))
    return ctypes.CDLL(str(found[0])) if found else None


def _called(library: Any, name: str, kind: Any) -> Any:
    function = getattr(library, f"scipy_openblas_{name}64_")
    function.restype = kind
    return function()


def _features() -> Mapping[str, bool]:
    return dict(np._core._multiarray_umath.__cpu_features__)  # type: ignore[attr-defined]


def _optional() -> list[str]:
    return list(np._core._multiarray_umath.__cpu_dispatch__)  # type: ignore[attr-defined]
