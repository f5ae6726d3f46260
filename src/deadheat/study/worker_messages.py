"""Messages between our own processes: a length and a pickle, over a socket. Nothing of this is ever read from disk."""

from __future__ import annotations

import os
import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("<Q")
_BLOCK = 1 << 20


def pickled(value: object) -> bytes:
    """A value as it crosses a socket."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def send(channel: socket.socket, message: object, descriptors: Sequence[int] = ()) -> None:
    """Send a message, with open files if need be; raises an OSError if nobody is left to read it."""
    payload = pickled(message)
    framed = _LENGTH.pack(len(payload)) + payload
    sent = socket.send_fds(channel, [framed], descriptors) if descriptors else 0
    channel.sendall(memoryview(framed)[sent:])


def receive(channel: socket.socket, *, descriptors: int = 0) -> tuple[Any, list[int]]:
    """Wait for a message and the open files that came with it; raises EOFError at the end."""
    head = bytearray()
    opened: list[int] = []
    if descriptors:
        # Files come with the first byte of their message, and no read goes beyond a message.
        first, opened, _, _ = socket.recv_fds(channel, _LENGTH.size, descriptors)
        for each in opened:
            os.set_inheritable(each, False)
        if not first:
            raise EOFError
        head += first
    head += _exactly(channel, _LENGTH.size - len(head))
    (length,) = _LENGTH.unpack(head)
    return pickle.loads(_exactly(channel, length)), opened


def _exactly(channel: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view, at = memoryview(data), 0
    while at < length:
        count = channel.recv_into(view[at:])
        if not count:
            raise EOFError
        at += count
    return data


class Inbox:
    """The messages of one sender, taken as they come, without ever waiting for the rest of one."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.ended = False
        self._data = bytearray()

    @property
    def begun(self) -> bool:
        """Whether a part of a message is here."""
        return bool(self._data)

    def take(self) -> list[Any]:
        """All messages that are complete by now."""
        messages: list[Any] = []
        while not self.ended:
            try:
                block = self.channel.recv(_BLOCK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            except OSError:  # reset: the sender died with messages of ours unread
                block = b""
            self.ended = not block
            self._data += block
            messages += self._complete()
        return messages

    def _complete(self) -> list[Any]:
        messages, at = [], 0
        while len(self._data) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data, at)
            end = at + _LENGTH.size + length
            if len(self._data) < end:
                break
            with memoryview(self._data) as view, view[at + _LENGTH.size : end] as payload:
                messages.append(pickle.loads(payload))
            at = end
        del self._data[:at]
        return messages
