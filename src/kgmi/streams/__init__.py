"""Rows from anywhere, in bounded pieces: files, folders, readers, lazy frames, iterators."""

from kgmi.streams.alphabets import Alphabets
from kgmi.streams.coding import Coded
from kgmi.streams.fragment import Fragment
from kgmi.streams.settled import Settled
from kgmi.streams.stream import Stream, stream

__all__ = ["Alphabets", "Coded", "Fragment", "Settled", "Stream", "stream"]
