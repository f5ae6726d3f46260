"""What workers do in the tests; they import it by name, so nothing heavy is imported here."""

# ruff: noqa: T201 (what they print is what is tested)

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deadheat.errors import InputError


def behave(task: tuple[Any, ...]) -> Any:
    """Call one of the functions below by its name."""
    name, *arguments = task
    function: Callable[..., Any] = globals()[name]
    return function(*arguments)


def square(number: int) -> int:
    return number * number


def raises(message: str) -> None:
    print("before the error", flush=True)
    raise ValueError(message)


def raises_something_that_cannot_be_told() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    raise Mute


def leaves(code: int) -> None:
    print("about to leave", end="")
    os._exit(code)


def asks_to_leave(code: int) -> None:
    sys.exit(code)


def dies_of(number: int) -> None:
    print(f"signal {number} comes")
    os.kill(os.getpid(), number)
    time.sleep(60)


def reads_address_zero() -> None:
    ctypes.string_at(0)


def never_ends() -> None:
    print("an endless task")
    while True:
        pass


def ignores_requests(pid_file: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(pid_file).write_text(str(os.getpid()))
    time.sleep(60)


def sleeps(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def waits_for_others(folder: str, count: int) -> None:
    """Return when as many tasks as this run at the same time."""
    Path(folder, str(os.getpid())).touch()
    until = time.monotonic() + 60
    while len(os.listdir(folder)) < count:
        if time.monotonic() > until:
            raise RuntimeError("the others do not come")
        time.sleep(0.01)


def sleeps_known_by(pid_file: str, seconds: float) -> None:
    Path(pid_file).write_text(str(os.getpid()))
    time.sleep(seconds)


def forks_a_sleeper(pid_file: str, session: str, then: str) -> int:
    pid = os.fork()
    if not pid:
        if session == "own session":
            os.setsid()
        time.sleep(60)
        os._exit(0)
    Path(pid_file).write_text(str(pid))
    if then == "wait":
        time.sleep(60)
    return pid


def starts_a_daemon(pid_file: str) -> None:
    """A process in a session of its own whose parent ends at once."""
    script = f"import os, time; os.fork() and os._exit(0); os.setsid(); open({pid_file!r}, 'w').write(str(os.getpid()))"
    subprocess.run([sys.executable, "-c", f"{script}; time.sleep(60)"], check=True)
    while not Path(pid_file).exists() or not Path(pid_file).read_text():
        time.sleep(0.01)


def leaves_a_thread() -> int:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return os.getpid()


def pid() -> int:
    return os.getpid()


def prints_everywhere(word: str) -> None:
    print(f"{word} by print")
    print(f"{word} to stderr", file=sys.stderr)
    os.write(1, f"{word} to descriptor 1\n".encode())
    ctypes.CDLL(None).printf(f"{word} by printf\n".encode())
    subprocess.run(["sh", "-c", f"echo {word} by a child"], check=True)


def spoils_the_streams() -> None:
    os.close(1)
    sys.stdout = sys.stderr = None


def prints_much(size: int) -> None:
    os.write(1, b"first " + b"x" * size + b" last")


def prints_for_ever() -> None:
    while True:
        os.write(1, b"y" * 65535 + b"\n")


def fills_a_folder(then: str, *arguments: Any) -> str:
    """Leaves a file in a folder for temporary files; where it is."""
    folder = tempfile.mkdtemp()
    Path(folder, "model").write_bytes(bytes(1000))
    globals()[then](*arguments)
    return folder


def many_bytes(size: int) -> bytes:
    return bytes(range(256)) * (size // 256)


def length(data: bytes) -> int:
    return len(data)


def unpicklable() -> object:
    return lambda: None


class FallsApart:
    """It can be pickled and not unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


def falls_apart() -> FallsApart:
    return FallsApart()


def burns(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def lets_a_child_burn(seconds: float) -> None:
    subprocess.run([sys.executable, "-c", f"import time\nwhile time.process_time() < {seconds}: pass"], check=True)


def does_not_look_after_a_child_that_burns() -> None:
    burning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    time.sleep(60)
    burning.wait()


def holds(megabytes: int) -> int:
    return len(bytearray(b"x" * (megabytes * 1_000_000)))


def lets_a_child_hold(megabytes: int) -> None:
    subprocess.run([sys.executable, "-c", f"b'x' * ({megabytes} * 1_000_000)"], check=True)


def threads_of_libraries() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if "THREADS" in name}


def order_of_a_set() -> list[str]:
    return list({f"word {number}" for number in range(20)})


class Loader:
    """What `prepare` loads, `work` finds."""

    def __init__(self, *, threaded: bool = False) -> None:
        self.loaded_by = 0
        self.threaded = threaded

    def load(self) -> None:
        if self.threaded:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        self.loaded_by = os.getpid()

    def work(self, task: float) -> tuple[int, int]:
        time.sleep(task)
        return self.loaded_by, os.getpid()


def prepare_badly() -> None:
    print("half prepared", flush=True)
    raise OSError("no such corpus")


def prepare_with_wrong_input() -> None:
    raise InputError("a.conllu:3: no head; expected a number")


def prepare_by_dying() -> None:
    print("dying while loading", flush=True)
    os._exit(7)


def prepare_by_dying_apart() -> None:
    """Threads keep the template from sharing; the workers, which load by themselves, die."""
    if os.getpid() == os.getsid(0) and os.getppid() != int(os.environ["STUDY"]):
        os._exit(7)
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
