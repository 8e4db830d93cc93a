"""Tells all processes of a worker that it was asked to stop."""

import logging
import mmap
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from celery import bootsteps
from django.conf import settings
from django.db import connections
from django.db.models.functions import Now

# One byte that all processes of a worker share: set once it was told to stop.
ENDING = mmap.mmap(-1, 1)


def ending() -> bool:
    """True once the worker was told to stop: whoever works in slices ends after what is in hand."""
    return ENDING[0] == 1
